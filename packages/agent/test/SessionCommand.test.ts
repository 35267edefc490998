import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Option } from "effect"
import { noExtensions, says, withAgent } from "./Rig.ts"

const rig = { replies: () => says("ok"), persist: true, agent: { extensions: () => Effect.succeed(noExtensions) } } as const

describe("/session", () => {
  it.effect("tells of the open one, finds others by words, names them, deletes them and brings them back", () =>
    withAgent(rig, ({ agent, prompt, session }) =>
      Effect.gen(function*() {
        const say = (words: string) => Effect.map(prompt(words), ({ success, text }) => success ? text : undefined)
        yield* prompt("build a tower")
        yield* prompt("/new")
        const { id } = yield* agent.session
        yield* prompt("count the stars")
        assert.match((yield* say("/session")) ?? "", new RegExp(`^Session ${id}\\nfile: .*${id}\\.jsonl\\nstarted: .*\\nmessages of yours: 1, entries: 2$`))
        assert.strictEqual(yield* say("/session list"), `* ${id}  count the stars\n  ${session.id}  build a tower`)
        assert.strictEqual(yield* say("/session list TOWER build"), `  ${session.id}  build a tower`)
        assert.strictEqual(yield* say("/session list moon"), "No session of this folder has 'moon'.")
        assert.include(yield* say(`/session rename ${session.id} Tower of light`), "Tower of light")
        assert.strictEqual(yield* say("/session list light"), `  ${session.id}  Tower of light`)
        assert.include(yield* say(`/session rename ${id} Stars`), "Stars")
        assert.strictEqual(yield* say("/name"), "Stars")
        assert.include(yield* say(`/session delete ${session.id}`), "/session restore")
        assert.strictEqual(yield* say("/session list"), `* ${id}  Stars`)
        assert.include(yield* say(`/session restore ${session.id}`), "/resume")
        assert.include(yield* say("/session list"), "Tower of light")
      })))

  it.effect("says what a session is in which nobody has spoken yet", () =>
    withAgent(rig, ({ agent, prompt, session }) =>
      Effect.gen(function*() {
        yield* prompt("build a tower")
        yield* prompt("/fork 1")
        const { id } = yield* agent.session
        assert.include((yield* prompt("/session list")).text.split("\n"), `* ${id}  (nothing said yet, fork of ${session.id})`)
      })))

  it.effect("lists those that lost their header too, since no folder has them", () =>
    withAgent(rig, ({ agent, prompt, session }) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        yield* prompt("build a tower")
        yield* prompt("/new")
        yield* prompt("count the stars")
        const file = Option.getOrThrow(session.path)
        const [header = "", ...entries] = (yield* fs.readFileString(file)).split("\n")
        for (const left of [entries, [header.slice(0, 20), ...entries]]) {
          yield* fs.writeFileString(file, left.join("\n"))
          const { text } = yield* prompt("/session list TOWER")
          assert.match(text, new RegExp(`^  ${session.id}  build a tower .*header`))
        }
        yield* prompt(`/resume ${session.id}`)
        assert.strictEqual((yield* agent.session).id, session.id)
      }).pipe(Effect.provide(NodeServices.layer))))

  it.effect("does not delete the open one, and says what is wrong", () =>
    withAgent(rig, ({ events, prompt, session }) =>
      Effect.gen(function*() {
        yield* prompt("hello")
        const cases = [
          [`/session delete ${session.id}`, "cannot be deleted"], ["/session delete nobody", "no session 'nobody'"], ["/session restore nobody", "no session 'nobody'"],
          ["/session rename nobody Title", "no session 'nobody'"], ["/session rename", "Usage"], ["/session delete", "Usage"], ["/session restore a b", "Usage"], ["/session dance", "Usage"]
        ] as const
        for (const [words, why] of cases) {
          assert.isFalse((yield* prompt(words)).success, words)
          assert.include(events.flatMap((event) => event.type === "error" ? [event.message] : []).at(-1), why)
        }
      })))
})
