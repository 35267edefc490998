/** A disk that refuses at one point, with one word: what is told, what stands in the file, and what is there afterwards. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, PlatformError } from "effect"
import { type NewEntry, Sessions, type SessionText } from "../src/index.ts"

const codes = { ENOSPC: "no space left on device", EIO: "i/o error", EACCES: "permission denied" } as const
type Code = keyof typeof codes
/** Where it refuses: when the folder is made, the lock is taken, the file is opened, a line is written, half of one, that is cut off again, looked at, or brought to the disk. */
const points = ["makeDirectory", "lock", "open", "write", "half", "truncate", "stat", "sync"] as const
type Point = typeof points[number]
interface Disk {
  fails: { readonly point: Point; readonly code: Code } | undefined
}

const say = (text: string): NewEntry => ({ type: "user", role: "user", content: [{ type: "text", text }] })
const textsOf = (session: SessionText) =>
  session.entries.map((entry) => entry.type === "user" && "content" in entry && entry.content[0]?.type === "text" ? entry.content[0].text : entry.type)

/** The files of this machine on such a disk. */
const failing = (disk: Disk) =>
  Layer.effect(FileSystem.FileSystem, Effect.map(FileSystem.FileSystem, (fs) => {
    const refusing = <A, E, R>(at: ReadonlyArray<Point>, otherwise: Effect.Effect<A, E, R>) =>
      Effect.suspend((): Effect.Effect<A, E | PlatformError.PlatformError, R> => {
        const { fails } = disk
        return fails === undefined || !at.includes(fails.point) ? otherwise : Effect.fail(PlatformError.systemError({
          _tag: "Unknown", module: "FileSystem", method: fails.point, cause: new Error(`${fails.code}: ${codes[fails.code]}, ${fails.point}`)
        }))
      })
    const file = (opened: FileSystem.File): FileSystem.File =>
      Object.create(opened, {
        sync: { get: () => refusing(["sync"], opened.sync) },
        stat: { get: () => refusing(["stat"], opened.stat) },
        truncate: { value: (length?: number) => refusing(["truncate"], opened.truncate(length)) },
        writeAll: {
          value: (bytes: Uint8Array) =>
            disk.fails?.point === "half" || disk.fails?.point === "truncate" || disk.fails?.point === "stat"
              ? Effect.andThen(opened.writeAll(bytes.subarray(0, bytes.length >> 1)), refusing(["half", "truncate", "stat"], Effect.void))
              : refusing(["write"], opened.writeAll(bytes))
        }
      }) as FileSystem.File
    return {
      ...fs,
      makeDirectory: (path, options) => refusing(["makeDirectory"], fs.makeDirectory(path, options)),
      writeFileString: (path, data, options) => path.includes(".lock") ? refusing(["lock"], fs.writeFileString(path, data, options)) : fs.writeFileString(path, data, options),
      open: (path, options) => options?.flag?.startsWith("a") === true ? refusing(["open"], Effect.map(fs.open(path, options), file)) : fs.open(path, options)
    } satisfies FileSystem.FileSystem
  })).pipe(Layer.provideMerge(NodeServices.layer))

const onDisk = <A, E>(body: (disk: Disk) => Effect.Effect<A, E, Sessions | FileSystem.FileSystem>) => {
  const disk: Disk = { fails: undefined }
  return Effect.gen(function*() {
    const folder = `${yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()}/sessions`
    return yield* Effect.provide(body(disk), Sessions.layer(folder, { pid: process.pid, isAlive: () => true }))
  }).pipe(Effect.scoped, Effect.provide(failing(disk)))
}

const cases = points.flatMap((point) => (Object.keys(codes) as Array<Code>).map((code) => [point, code] as const))

describe("a disk that refuses", () => {
  it.effect.each(cases)("at %s with %s is told with that word, leaves no half line, and has everything once it takes it", ([point, code]) =>
    onDisk((disk) =>
      Effect.gen(function*() {
        const sessions = yield* Sessions
        const id = yield* Effect.scoped(Effect.gen(function*() {
          const session = yield* sessions.create({ workspace: "/w", persist: true })
          // What happens once happens to the first entry; the rest also in the middle.
          const once = point === "makeDirectory" || point === "lock" || point === "open"
          if (!once) yield* session.append(say("one ☃"))
          disk.fails = { point, code }
          const error = yield* Effect.flip(Effect.andThen(session.append(say("two ☃")), session.sync))
          assert.strictEqual(error._tag, "SessionUnwritable")
          assert.include(error.message, code)
          assert.include(error.message, session.id)
          assert.strictEqual(yield* session.unsaved, point === "sync" ? 0 : 1)
          assert.lengthOf(yield* session.entries, once ? 1 : 2)
          if (!once) {
            const meanwhile = yield* sessions.read(session.id)
            // Where half a line could not be taken back, it is there, and the next begins on a line of its own.
            assert.strictEqual(meanwhile.torn, point === "truncate" || point === "stat", point)
          }
          disk.fails = undefined
          yield* session.append(say("three ☃"))
          assert.strictEqual(yield* session.unsaved, 0)
          return session.id
        }))
        const read = yield* sessions.read(id)
        const all = ["one ☃", "two ☃", "three ☃"].slice(["makeDirectory", "lock", "open"].includes(point) ? 1 : 0)
        assert.deepStrictEqual(textsOf(read), all)
        assert.isAtMost(read.damaged.length, point === "truncate" || point === "stat" ? 1 : 0)
        // Nobody holds it any more.
        yield* Effect.scoped(sessions.open(id))
      })
    ))
})
