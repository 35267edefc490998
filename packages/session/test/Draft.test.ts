/** What a killed process has left of an answer. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Option } from "effect"
import type { AssistantEntry } from "@nimlet/protocol"
import { type NewEntry, type Session, Sessions } from "../src/index.ts"

const say = (text: string): NewEntry => ({ type: "user", role: "user", content: [{ type: "text", text }] })
const answer = (text: string): NewEntry => ({ type: "assistant", role: "assistant", content: [{ type: "text", text }] })
const who = { provider: "p", model: "m", requested_model: "m" }

/** A session that a process leaves as a killed one does: file and draft stay as they are. */
const killed = (before: (session: Session) => Effect.Effect<unknown, unknown>, after: (reopened: Effect.Effect<Session, unknown, never>, draft: string) => Effect.Effect<void, unknown, FileSystem.FileSystem>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    yield* Effect.gen(function*() {
      const sessions = yield* Sessions
      // Its scope is left open: nothing of its end is run.
      const session = yield* sessions.create({ workspace: "/w", persist: true })
      yield* before(session)
      yield* after(Effect.scoped(sessions.open(session.id)), `${folder}/${session.id}.jsonl.draft`)
    }).pipe(Effect.provide(Sessions.layer(folder)))
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

describe("a draft", () => {
  it.effect("that a killed process left is the session's last entry, cut, and is gone then", () =>
    killed(
      Effect.fnUntraced(function*(session) {
        yield* session.append(say("go"))
        const draft = session.draft(who)
        yield* draft.add([{ kind: "thinking", text: "hm" }, { kind: "text", text: "half \u2028" }])
        yield* draft.add([{ kind: "text", text: "an ansẅer" }])
      }),
      Effect.fnUntraced(function*(open, draft) {
        const fs = yield* FileSystem.FileSystem
        yield* fs.writeFileString(draft, `{"kind":"text","text":"tor`, { flag: "a" })
        const entries = yield* Effect.flatMap(open, (session) => session.entries)
        assert.deepInclude(entries.at(-1), {
          type: "assistant", ...who, cut: true, content: [{ type: "thinking", thinking: "hm", signature: "" }, { type: "text", text: "half \u2028an ansẅer" }]
        } satisfies Partial<AssistantEntry>)
        assert.isFalse(yield* fs.exists(draft))
        assert.strictEqual((yield* Effect.flatMap(open, (session) => session.entries)).length, 2)
      })
    ))

  it.effect("is nothing once the answer is saved, even where its file was left", () =>
    killed(
      Effect.fnUntraced(function*(session) {
        yield* session.append(say("go"))
        yield* session.draft(who).add([{ kind: "text", text: "half" }])
        yield* session.append(answer("all of it"))
      }),
      Effect.fnUntraced(function*(open, draft) {
        const fs = yield* FileSystem.FileSystem
        assert.isFalse(yield* fs.exists(draft))
        yield* fs.writeFileString(draft, `{"type":"draft","after":""}\n{"kind":"text","text":"half"}\n`)
        assert.strictEqual((yield* Effect.flatMap(open, (session) => session.entries)).length, 2)
        assert.isFalse(yield* fs.exists(draft))
      })
    ))

  it.effect("of a new attempt takes the place of the one before; one with nothing to read leaves nothing", () =>
    killed(
      Effect.fnUntraced(function*(session) {
        yield* session.append(answer("earlier"))
        yield* session.draft(who).add([{ kind: "text", text: "first attempt" }])
        yield* session.draft(who).add([{ kind: "thinking", text: "second" }, { kind: "text", text: " \n" }])
      }),
      Effect.fnUntraced(function*(open, draft) {
        assert.strictEqual((yield* Effect.flatMap(open, (session) => session.entries)).length, 1)
        assert.isFalse(yield* (yield* FileSystem.FileSystem).exists(draft))
      })
    ))

  it.effect("is not left behind by a session that ends, nor by one that is deleted", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const drafts = Effect.map(fs.readDirectory(folder), (names) => names.filter((name) => name.endsWith(".draft")))
      yield* Effect.gen(function*() {
        const sessions = yield* Sessions
        const id = yield* Effect.scoped(Effect.gen(function*() {
          const session = yield* sessions.create({ workspace: "/w", persist: true })
          yield* session.append(say("go"))
          yield* session.draft(who).add([{ kind: "text", text: "half" }])
          assert.lengthOf(yield* drafts, 1)
          return session.id
        }))
        assert.lengthOf(yield* drafts, 0)
        yield* fs.writeFileString(`${folder}/${id}.jsonl.draft`, "x")
        yield* sessions.delete(id)
        assert.lengthOf(yield* drafts, 0)
      }).pipe(Effect.provide(Sessions.layer(folder)))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  it.effect("costs nothing but itself where the disk refuses, and there is none of a session in memory", () =>
    Effect.gen(function*() {
      const folder = `${yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()}/none`
      yield* Effect.gen(function*() {
        for (const persist of [true, false]) {
          const session = yield* (yield* Sessions).create({ workspace: "/w", persist })
          yield* session.draft(who).add([{ kind: "text", text: "half" }])
          assert.isTrue(Option.isSome(session.path) === persist)
        }
      }).pipe(Effect.provide(Sessions.layer(folder)))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
})
