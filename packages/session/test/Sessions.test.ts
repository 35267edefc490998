import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, FileSystem, Layer, Option, Path } from "effect"
import { TestClock } from "effect/testing"
import { forkPoint, type NewEntry, Sessions, titleOf } from "../src/index.ts"

const say = (text: string): NewEntry => ({ type: "user", role: "user", content: [{ type: "text", text }] })

const inFolder = <A, E>(body: (folder: string) => Effect.Effect<A, E, Sessions | FileSystem.FileSystem | Path.Path>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = (yield* Path.Path).join(yield* fs.makeTempDirectoryScoped(), "sessions")
    return yield* body(folder).pipe(Effect.provide(Sessions.layer(folder)))
  }).pipe(Effect.scoped, Effect.provide(Layer.mergeAll(NodeServices.layer, TestClock.layer())))

describe("Sessions", () => {
  // E-250
  it.effect("puts nothing on disk before the first entry, then a header with the workspace", () =>
    inFolder((folder) =>
      Effect.scoped(Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const session = yield* (yield* Sessions).create({ workspace: "/w", persist: true })
        assert.isFalse(yield* fs.exists(folder))
        yield* session.append(say("hello"))
        const lines = (yield* fs.readFileString(Option.getOrThrow(session.path))).trimEnd().split("\n").map((line) => JSON.parse(line))
        assert.strictEqual(lines[0].type, "session")
        assert.strictEqual(lines[0].workspace, "/w")
        assert.strictEqual(lines[1].content[0].text, "hello")
        assert.match(lines[1].at, /^\d{4}-\d\d-\d\dT/)
        assert.isString(lines[1].entry_id)
      }))
    ))

  it.effect("opens what was written, and appends after a torn last line without joining it", () =>
    inFolder(() =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const sessions = yield* Sessions
        const first = yield* Effect.scoped(Effect.gen(function*() {
          const session = yield* sessions.create({ workspace: "/w", persist: true })
          yield* session.append(say("one"))
          return session
        }))
        yield* fs.writeFileString(Option.getOrThrow(first.path), `{"type":"user","ro`, { flag: "a" })
        const again = yield* Effect.scoped(Effect.gen(function*() {
          const session = yield* sessions.open(first.id)
          yield* session.append(say("two"))
          return session
        }))
        assert.deepStrictEqual(again.damaged.map((damage) => damage.line), [3])
        const reread = yield* Effect.scoped(Effect.flatMap(sessions.open(first.id), (session) => session.entries))
        assert.deepStrictEqual(reread.map((entry) => "content" in entry ? entry.content : entry), [
          [{ type: "text", text: "one" }],
          [{ type: "text", text: "two" }]
        ])
      })
    ))

  it.effect("finds the latest session of the asked workspace only", () =>
    inFolder(() =>
      Effect.gen(function*() {
        const sessions = yield* Sessions
        const started = (workspace: string) =>
          Effect.scoped(Effect.gen(function*() {
            yield* TestClock.adjust("1 second")
            const session = yield* sessions.create({ workspace, persist: true })
            yield* session.append(say("x"))
            return session.id
          }))
        yield* started("/a")
        const newer = yield* started("/a")
        yield* started("/b")
        assert.deepStrictEqual((yield* sessions.latest("/a")).id, Option.some(newer))
        assert.deepStrictEqual((yield* sessions.latest("/c")).id, Option.none())
      })
    ))

  it.effect("names those that lost their header and so their folder, and has them again once they are gone on with", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const sessions = yield* Sessions
        const id = yield* Effect.scoped(Effect.gen(function*() {
          const session = yield* sessions.create({ workspace: "/a", persist: true })
          yield* session.append(say("x"))
          return session.id
        }))
        const file = `${folder}/${id}.jsonl`
        for (const left of ["", `garbage\n${(yield* fs.readFileString(file)).split("\n")[1]}\n`]) {
          yield* fs.writeFileString(file, left)
          assert.deepStrictEqual(yield* sessions.latest("/a"), { id: Option.none(), unheaded: [id] })
          assert.deepStrictEqual(yield* sessions.list({ workspace: "/a" }), [])
          assert.deepStrictEqual((yield* sessions.list({ workspace: "/a", unheaded: true })).map((one) => one.id), [id])
          yield* Effect.scoped(Effect.flatMap(sessions.open(id, "/a"), (session) => session.append(say("y"))))
          assert.deepStrictEqual(yield* sessions.latest("/a"), { id: Option.some(id), unheaded: [] })
          assert.deepStrictEqual((yield* sessions.list({ workspace: "/a" })).map((one) => one.id), [id])
        }
      })
    ))

  it.effect("passes over what is no regular file, and does not open it", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        yield* fs.makeDirectory(`${folder}/1.jsonl`, { recursive: true })
        const sessions = yield* Sessions
        assert.deepStrictEqual((yield* sessions.latest("/w")).id, Option.none())
        assert.strictEqual((yield* Effect.flip(Effect.scoped(sessions.open("1"))))._tag, "SessionUnreadable")
      })
    ))

  it.effect("refuses an id that leaves the folder", () =>
    inFolder(() =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Effect.scoped((yield* Sessions).open("../other")))
        assert.strictEqual(error._tag, "SessionNotFound")
      })
    ))

  it.effect("keeps an unsaved session in memory, with the same entries", () =>
    inFolder((folder) =>
      Effect.scoped(Effect.gen(function*() {
        const session = yield* (yield* Sessions).create({ workspace: "/w", persist: false })
        yield* session.append(say("x"))
        assert.strictEqual((yield* session.entries).length, 1)
        assert.isFalse(yield* (yield* FileSystem.FileSystem).exists(folder))
      }))
    ))

  it.effect("closes one session by itself: its lock is free, and nothing can be appended", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = (yield* Path.Path).join(yield* fs.makeTempDirectoryScoped(), "sessions")
      yield* Effect.gen(function*() {
        const sessions = yield* Sessions
        const session = yield* sessions.create({ workspace: "/w", persist: true })
        yield* session.append(say("one"))
        assert.strictEqual((yield* Effect.flip(sessions.open(session.id)))._tag, "SessionLocked")
        yield* session.close
        assert.strictEqual((yield* Effect.flip(session.append(say("two"))))._tag, "SessionUnwritable")
        const again = yield* sessions.open(session.id)
        assert.strictEqual((yield* again.entries).length, 1)
      }).pipe(Effect.provide(Sessions.layer(folder, { pid: process.pid, isAlive: () => true })))
    }).pipe(Effect.scoped, Effect.provide(Layer.mergeAll(NodeServices.layer, TestClock.layer()))))

  it.effect("forks: a file of its own at once, with a parent and the entries before a message as they were", () =>
    inFolder(() =>
      Effect.scoped(Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const sessions = yield* Sessions
        const source = yield* sessions.create({ workspace: "/w", persist: true })
        for (const text of ["one", "two", "three"]) yield* source.append(say(text))
        const point = Option.getOrThrow(forkPoint(yield* source.entries, 3))
        assert.deepStrictEqual(point, { count: 2, text: "three" })
        const forked = yield* sessions.fork(source, point.count)
        const linesOf = (file: Option.Option<string>) => Effect.map(fs.readFileString(Option.getOrThrow(file)), (text) => text.trimEnd().split("\n"))
        const [header, ...lines] = yield* linesOf(forked.path)
        assert.deepInclude(JSON.parse(header ?? ""), { id: forked.id, parent: source.id, workspace: "/w" })
        assert.deepStrictEqual(lines, (yield* linesOf(source.path)).slice(1, 3))
        yield* forked.append(say("other"))
        assert.strictEqual((yield* source.entries).length, 3)
        assert.strictEqual((yield* linesOf(forked.path)).length, 4)
        assert.isTrue(Option.isNone(forkPoint(yield* source.entries, 4)))
      }))
    ))

  it.effect("finds the latest session but for one", () =>
    inFolder(() =>
      Effect.scoped(Effect.gen(function*() {
        const sessions = yield* Sessions
        const session = yield* sessions.create({ workspace: "/w", persist: true })
        yield* session.append(say("x"))
        assert.deepStrictEqual((yield* sessions.latest("/w", session.id)).id, Option.none())
        assert.deepStrictEqual((yield* sessions.latest("/w", "other")).id, Option.some(session.id))
      }))
    ))

  it("is called by the title given last", () => {
    assert.strictEqual(titleOf([say("x")]), "")
    assert.strictEqual(titleOf([{ type: "name", name: "a" }, { type: "name", name: "b" }, say("x")]), "b")
  })
})
