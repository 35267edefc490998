import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, FileSystem, Layer, Option, PlatformError } from "effect"
import { ChildProcess } from "effect/process"
import { lockSession, type NewEntry, type Owner, Sessions } from "../src/index.ts"

const say: NewEntry = { type: "user", role: "user", content: [{ type: "text", text: "x" }] }
const living = new Set([1, 2])
const sessionsOf = (folder: string, pid: number) =>
  Effect.provide(Sessions, Layer.provide(Sessions.layer(folder, { pid, isAlive: (other) => living.has(other) }), NodeServices.layer))

const inFolder = <A, E>(body: (folder: string) => Effect.Effect<A, E, NodeServices.NodeServices>) =>
  Effect.gen(function*() {
    return yield* body(yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped())
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

/** This very process, so that it is found in the process table; others of its number are as alive as `alive` says. */
const here = (alive = true): Owner => ({ pid: process.pid, isAlive: () => alive })

describe("a session", () => {
  it.effect("has one writer: another living process is refused, told who has it and since when, until the first has left", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const [first, second] = [yield* sessionsOf(folder, 1), yield* sessionsOf(folder, 2)]
        const id = yield* Effect.scoped(Effect.gen(function*() {
          const session = yield* first.create({ workspace: "/w", persist: true })
          yield* session.append(say)
          const error = yield* Effect.flip(Effect.scoped(second.open(session.id)))
          assert.deepStrictEqual(error._tag === "SessionLocked" ? [error.pid, error.since] : error._tag, [1, "1970-01-01T00:00:00.000Z"])
          assert.strictEqual(
            error.message,
            `${folder}/${session.id}.jsonl is in use by process 1 since 1970-01-01T00:00:00.000Z`
          )
          // Whoever only reads is not refused, and can go on from there in a session of its own.
          assert.strictEqual((yield* second.read(session.id)).entries.length, 1)
          const forked = yield* second.copy(session.id)
          assert.strictEqual((yield* (yield* Effect.scoped(second.open(forked.id))).entries).length, 1)
          return session.id
        }))
        yield* Effect.scoped(second.open(id))
        yield* Effect.scoped(first.open(id))
      })
    ))

  it.effect("is taken over from a process that is gone, and from a lock that says nothing", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const sessions = yield* sessionsOf(folder, 1)
        const session = yield* Effect.scoped(Effect.tap(sessions.create({ workspace: "/w", persist: true }), (open) => open.append(say)))
        const file = Option.getOrThrow(session.path)
        for (const left of [`{"pid":99}`, ""]) {
          yield* fs.writeFileString(`${file}.lock`, left)
          yield* Effect.scoped(sessions.open(session.id))
          assert.deepStrictEqual(yield* fs.readDirectory(folder), [`${session.id}.jsonl`])
        }
      })
    ))

  /** The file system with a word of its own for whoever writes, while `refused` is a code. */
  const refusing = (fs: FileSystem.FileSystem, code: () => string | undefined): FileSystem.FileSystem => {
    const guard = <A, R>(write: Effect.Effect<A, PlatformError.PlatformError, R>) => Effect.suspend(() => {
      const cause = code()
      return cause === undefined ? write : Effect.fail(PlatformError.systemError({
        _tag: "Unknown", module: "FileSystem", method: "open", cause: Object.assign(new Error(`${cause}: refused`), { code: cause })
      }))
    })
    return FileSystem.make({
      ...fs,
      writeFile: (path, data, options) => guard(fs.writeFile(path, data, options)),
      open: (path, options) => options?.flag === undefined || options.flag === "r" ? fs.open(path, options) : guard(fs.open(path, options))
    })
  }

  it.effect("is opened and read where nothing can be written, keeps what is said there, and has it on the disk and a lock once it can", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        let code: string | undefined
        const layer = Layer.provide(Sessions.layer(folder, { pid: 1, isAlive: () => true }), Layer.merge(
          NodeServices.layer,
          Layer.effect(FileSystem.FileSystem, Effect.map(FileSystem.FileSystem, (fs) => refusing(fs, () => code))).pipe(Layer.provide(NodeServices.layer))
        ))
        const sessions = yield* Effect.provide(Sessions, layer)
        const { id } = yield* Effect.scoped(Effect.tap(sessions.create({ workspace: "/w", persist: true }), (open) => open.append(say)))
        for (const readOnly of ["EROFS", "EACCES", "EPERM"]) {
          code = readOnly
          const session = yield* sessions.open(id)
          const before = (yield* session.entries).length
          const refused = yield* Effect.flip(session.append(say))
          assert.include(refused.message, `${id}.jsonl: ${readOnly}`)
          assert.strictEqual((yield* session.entries).length, before + 1)
          code = undefined
          yield* session.append(say)
          assert.strictEqual((yield* sessions.read(id)).entries.length, before + 2)
          assert.strictEqual((yield* Effect.flip(Effect.scoped(sessions.open(id))))._tag, "SessionLocked")
          yield* session.close
        }
        code = "ENOSPC"
        assert.strictEqual((yield* Effect.flip(Effect.scoped(sessions.open(id))))._tag, "SessionUnwritable")
      }).pipe(Effect.scoped)
    ))

  it.effect("is made again, with all that was said and its lock, when its file alone is deleted while it is open", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const sessions = yield* sessionsOf(folder, 1)
        const made = yield* sessions.create({ workspace: "/w", persist: true })
        yield* made.append(say)
        yield* made.close
        for (const session of [yield* sessions.open(made.id), yield* sessions.create({ workspace: "/w", persist: true })]) {
          yield* session.append(say)
          const before = (yield* session.entries).length
          yield* fs.remove(Option.getOrThrow(session.path))
          yield* session.append(say)
          assert.strictEqual((yield* sessions.read(session.id)).entries.length, before + 1)
          assert.strictEqual((yield* Effect.flip(Effect.scoped(sessions.open(session.id))))._tag, "SessionLocked")
          yield* session.close
          assert.isFalse(yield* fs.exists(`${Option.getOrThrow(session.path)}.lock`))
        }
      }).pipe(Effect.scoped)
    ))

  it.effect("of a later format is not written into, says so, and can be copied", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const sessions = yield* sessionsOf(folder, 1)
        const session = yield* Effect.scoped(Effect.tap(sessions.create({ workspace: "/w", persist: true }), (open) => open.append(say)))
        const file = Option.getOrThrow(session.path)
        const text = (yield* fs.readFileString(file)).replace('"version":1', '"version":2')
        yield* fs.writeFileString(file, text)
        const error = yield* Effect.flip(Effect.scoped(sessions.open(session.id)))
        assert.include(error.message, `${file}: it is of format 2`)
        assert.strictEqual(yield* fs.readFileString(file), text)
        assert.strictEqual((yield* (yield* Effect.scoped(Effect.flatMap(sessions.copy(session.id), ({ id }) => sessions.open(id)))).entries).length, 1)
      })
    ))
})

describe("lockSession", () => {
  it.effect("takes the lock of a process whose number another has now, where the platform tells", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const file = `${folder}/a.lock`
        const tells = yield* fs.exists(`/proc/${process.pid}/stat`)
        yield* fs.writeFileString(file, JSON.stringify({ pid: process.pid, started: "1" }))
        const taken = yield* Effect.exit(Effect.scoped(lockSession(`${folder}/a`, here())))
        assert.strictEqual(taken._tag, tells ? "Success" : "Failure")
        yield* fs.writeFileString(file, JSON.stringify({ pid: process.pid }))
        assert.strictEqual((yield* Effect.flip(Effect.scoped(lockSession(`${folder}/a`, here()))))._tag, "SessionLocked")
      })
    ))

  it.effect("lets one of many have the lock of a dead process, whatever the order of their steps", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        for (let round = 0; round < 50; round++) {
          const path = `${folder}/${round}`
          yield* fs.writeFileString(`${path}.lock`, `{"pid":99}`)
          // Someone may have died while taking it over.
          if (round % 2 === 1) yield* fs.writeFileString(`${path}.lock.lock`, `{"pid":98}`)
          yield* Effect.scoped(Effect.gen(function*() {
            const tries = yield* Effect.forEach(Array.from({ length: 8 }, (_, at) => at + 1), (pid) =>
              Effect.exit(lockSession(path, { pid, isAlive: (other) => other <= 8 })), { concurrency: "unbounded" })
            assert.strictEqual(tries.filter((exit) => exit._tag === "Success").length, 1, `round ${round}`)
          }))
          assert.deepStrictEqual((yield* fs.readDirectory(folder)).filter((name) => name.startsWith(`${round}.`)), [])
        }
      })
    ), 30_000)

  it.effect("is refused to one who saw the dead lock before another took it over", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const file = `${folder}/a.lock`
        yield* fs.writeFileString(file, `{"pid":99}`)
        const seen = yield* Deferred.make<void>()
        const taken = yield* Deferred.make<void>()
        let reads = 0
        const slow: FileSystem.FileSystem = {
          ...fs,
          readFileString: (path, encoding) =>
            path === file && reads++ === 0
              ? fs.readFileString(path, encoding).pipe(Effect.tap(Deferred.succeed(seen, undefined)), Effect.tap(Deferred.await(taken)))
              : fs.readFileString(path, encoding)
        }
        const owner = (pid: number): Owner => ({ pid, isAlive: (other) => other <= 2 })
        const late = yield* lockSession(`${folder}/a`, owner(2)).pipe(Effect.scoped, Effect.provideService(FileSystem.FileSystem, slow), Effect.flip, Effect.forkChild)
        yield* Deferred.await(seen)
        yield* lockSession(`${folder}/a`, owner(1))
        yield* Deferred.succeed(taken, undefined)
        const error = yield* Fiber.join(late)
        assert.deepStrictEqual(error._tag === "SessionLocked" ? error.pid : error._tag, 1)
      }).pipe(Effect.scoped)
    ))

  it.effect("leaves alone a lock that another has by now", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        yield* Effect.scoped(Effect.andThen(lockSession(`${folder}/a`, here()), fs.writeFileString(`${folder}/a.lock`, `{"pid":1}`)))
        assert.strictEqual(yield* fs.readFileString(`${folder}/a.lock`), `{"pid":1}`)
      })
    ))

  it.effect("says what is in the way when it cannot be made", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Effect.scoped(lockSession(`${folder}/none/a`, here())))
        assert.strictEqual(error._tag, "SessionUnwritable")
        assert.include(error.message, "ENOENT")
      })
    ))

  it.live("is given up by a process that is killed, and had by one of several processes", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const start = (times: string) =>
          Effect.scoped(ChildProcess.make(process.execPath, [`${import.meta.dirname}/lock-process.mjs`, `${folder}/a`, times]).pipe(
            Effect.flatMap((child) => child.exitCode)
          ))
        // It locks and is gone by SIGKILL, its own.
        yield* Effect.exit(start("die"))
        assert.isTrue(yield* fs.exists(`${folder}/a.lock`))
        const codes = yield* Effect.forEach(["40", "40", "40"], start, { concurrency: "unbounded" })
        assert.deepStrictEqual(codes.map(Number), [0, 0, 0])
        // Each process added a line for every time that it had the lock, and looked whether it was alone.
        const lines = (yield* fs.readFileString(`${folder}/a`)).trimEnd().split("\n")
        assert.deepStrictEqual(lines.filter((line) => line !== "alone"), [])
        assert.isAtLeast(lines.length, 3)
      })
    ), 60_000)
})
