import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, FileSystem, Layer, Option, Path, PlatformError, Stream } from "effect"
import { TestClock } from "effect/testing"
import { pageOf } from "../src/ExportPage.ts"
import { defaultPageName, type NewEntry, Sessions, SessionUnwritable, writePage } from "../src/index.ts"

const say = (text: string): NewEntry => ({ type: "user", role: "user", content: [{ type: "text", text }] })

const inFolder = <A, E>(body: (folder: string) => Effect.Effect<A, E, Sessions | FileSystem.FileSystem | Path.Path>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    return yield* body(folder).pipe(Effect.provide(Sessions.layer((yield* Path.Path).join(folder, "sessions"))))
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

/** A session on disk with these texts in it; its id and file. */
const written = Effect.fnUntraced(function*(texts: ReadonlyArray<string>) {
  const session = yield* (yield* Sessions).create({ workspace: "/w", persist: true })
  for (const text of texts) yield* session.append(say(text))
  return { id: session.id, file: Option.getOrThrow(session.path) }
}, Effect.scoped)

describe("the page of a session", () => {
  it.effect("is the same read piece by piece from its file, over bytes and damaged lines, as made of its entries", () =>
    inFolder(() =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const sessions = yield* Sessions
        // Longer than what is read at once, with characters of several bytes all along.
        const { file, id } = yield* written(["First\nwords", ...Array.from({ length: 40 }, (_, n) => `${n} ${"漢🙂".repeat(10_000)}`)])
        yield* fs.writeFileString(file, `not json\n{"type":"user","ro`, { flag: "a" })
        const page = (yield* Stream.runCollect(sessions.page(id))).join("")
        const { entries, header } = yield* sessions.read(id)
        const { at, workspace } = Option.getOrThrow(header)
        assert.strictEqual(page, pageOf({ id, title: "First", workspace, ...(at === undefined ? {} : { at }) }, entries, 2))
      })
    ))

  it.effect("has the title that was given last, and of an open session what is not on the disk", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const sessions = yield* Sessions
        const { id } = yield* written(["hello"])
        yield* sessions.name(id, "The title")
        assert.include((yield* Stream.runCollect(sessions.page(id))).join(""), "<h1>The title</h1>")
        yield* Effect.scoped(Effect.gen(function*() {
          const session = yield* sessions.create({ workspace: folder, persist: false })
          yield* session.append(say("kept in memory"))
          const file = yield* sessions.export(session, { folder })
          assert.strictEqual(file, (yield* Path.Path).join(folder, defaultPageName(session.id)))
          assert.include(yield* fs.readFileString(file), "<h1>kept in memory</h1>")
        }))
      })
    ))

  it.effect("of an open one is the page of its file, also of a fork that was begun later than its entries", () =>
    inFolder((folder) =>
      Effect.scoped(Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const sessions = yield* Sessions
        const session = yield* sessions.create({ workspace: folder, persist: true })
        yield* TestClock.adjust("1 minute")
        yield* session.append(say("hello"))
        yield* TestClock.adjust("1 minute")
        for (const open of [session, yield* sessions.fork(session, 1), yield* sessions.open((yield* sessions.copy(session.id)).id)]) {
          const file = yield* sessions.export(open, { folder })
          assert.strictEqual(yield* fs.readFileString(file), (yield* Stream.runCollect(sessions.page(open.id))).join(""))
        }
      }))
    ))

  it.effect("takes the place of an earlier page, and of nothing else", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const sessions = yield* Sessions
        const { id } = yield* written(["hello"])
        const file = yield* sessions.export(id, { folder, file: "page.html" })
        const before = yield* fs.readFileString(file)
        assert.strictEqual(yield* sessions.export(id, { folder, file: "page.html" }), file)
        assert.strictEqual(yield* fs.readFileString(file), before)
        if (process.platform !== "win32") assert.strictEqual((yield* fs.stat(file)).mode & 0o777, 0o600)
        yield* fs.writeFileString(file, "my own words")
        for (const taken of ["page.html", "."]) {
          assert.strictEqual((yield* Effect.flip(sessions.export(id, { folder, file: taken })))._tag, "ExportRefused")
        }
        assert.strictEqual(yield* fs.readFileString(file), "my own words")
        assert.strictEqual((yield* Effect.flip(sessions.export(id, { folder, file: "no/such/folder.html" })))._tag, "SessionUnwritable")
        assert.strictEqual((yield* Effect.flip(sessions.export("nowhere", { folder })))._tag, "SessionNotFound")
      })
    ))

  it.effect("leaves nothing behind, and an earlier page alone, when the disk refuses or the file is no session", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const sessions = yield* Sessions
        const path = yield* Path.Path
        const { file: sessionFile, id } = yield* written(["hello"])
        const file = yield* sessions.export(id, { folder })
        const before = yield* fs.readFileString(file)
        const full = PlatformError.systemError({ _tag: "Unknown", module: "FileSystem", method: "write", cause: new Error("ENOSPC: no space left on device, write") })
        const refusing: FileSystem.FileSystem = {
          ...fs,
          open: (at, options) => Effect.map(fs.open(at, options), (opened): FileSystem.File => Object.assign(Object.create(opened), { writeAll: () => Effect.fail(full) }))
        }
        const failure = yield* Effect.flip(writePage(file, Stream.make("<html>")).pipe(Effect.provide(Layer.succeed(FileSystem.FileSystem, refusing))))
        assert.deepStrictEqual([failure instanceof SessionUnwritable, failure.message], [true, `cannot write ${file}: ENOSPC: no space left on device, write`])
        yield* fs.writeFileString(sessionFile, "these are\nnot the lines\nof a session\n")
        assert.strictEqual((yield* Effect.flip(sessions.export(id, { folder })))._tag, "SessionUnreadable")
        assert.deepStrictEqual((yield* fs.readDirectory(folder)).toSorted(), [path.basename(file), "sessions"].toSorted())
        assert.strictEqual(yield* fs.readFileString(file), before)
      })
    ))
})
