import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, Option } from "effect"
import { type NewEntry, Sessions } from "../src/index.ts"

const say: NewEntry = { type: "user", role: "user", content: [{ type: "text", text: "x" }] }
const living = new Set([1, 2])
const sessionsOf = (folder: string, pid: number) =>
  Effect.provide(Sessions, Layer.provide(Sessions.layer(folder, { pid, isAlive: (other) => living.has(other) }), NodeServices.layer))

describe("a session", () => {
  it.effect("has one writer: another living process is refused, by name, until the first has left", () =>
    Effect.gen(function*() {
      const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
      const [first, second] = [yield* sessionsOf(folder, 1), yield* sessionsOf(folder, 2)]
      const id = yield* Effect.scoped(Effect.gen(function*() {
        const session = yield* first.create({ workspace: "/w", persist: true })
        yield* session.append(say)
        const error = yield* Effect.flip(Effect.scoped(second.open(session.id)))
        assert.strictEqual(error._tag === "SessionLocked" ? error.pid : error._tag, 1)
        return session.id
      }))
      yield* Effect.scoped(second.open(id))
      yield* Effect.scoped(first.open(id))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  it.effect("is taken over from a process that is gone, and from a lock that says nothing", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const sessions = yield* sessionsOf(folder, 1)
      const file = yield* Effect.scoped(Effect.gen(function*() {
        const session = yield* sessions.create({ workspace: "/w", persist: true })
        yield* session.append(say)
        return Option.getOrThrow(session.path)
      }))
      const id = file.slice(folder.length + 1, -".jsonl".length)
      for (const left of [`{"pid":99}`, ""]) {
        yield* fs.writeFileString(`${file}.lock`, left)
        yield* Effect.scoped(sessions.open(id))
        assert.isFalse(yield* fs.exists(`${file}.lock`))
      }
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
})
