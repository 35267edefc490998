import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, Option, PlatformError, Schema } from "effect"
import { type NewEntry, Sessions, type SessionText } from "../src/index.ts"

const say = (text: string): NewEntry => ({ type: "user", role: "user", content: [{ type: "text", text }] })
const textsOf = (session: SessionText) =>
  session.entries.map((entry) => entry.type === "user" && "content" in entry && entry.content[0]?.type === "text" ? entry.content[0].text : entry.type)

/** What a write does while the disk is full: how much of the bytes gets through, and whether the rest can be cut off again. */
interface Fault {
  readonly share: number
  readonly truncates: boolean
}
interface Disk {
  fault: Fault | undefined
  opens: boolean
  syncs: number
}

const refusal = (code: string) =>
  PlatformError.systemError({
    _tag: "Unknown",
    module: "FileSystem",
    method: "writeAll",
    cause: new Error(code === "ENOSPC" ? "ENOSPC: no space left on device, write" : `${code}: no`)
  })

/** The files of this machine on a disk that fails as `disk` says. */
const failing = (disk: Disk) =>
  Layer.effect(FileSystem.FileSystem, Effect.map(FileSystem.FileSystem, (fs) => ({
    ...fs,
    open: (path: string, options?: { readonly flag?: FileSystem.OpenFlag | undefined; readonly mode?: number | undefined }) => {
      if (options?.flag?.startsWith("a") !== true) return fs.open(path, options)
      if (!disk.opens) return Effect.fail(refusal("EACCES"))
      return Effect.map(fs.open(path, options), (file): FileSystem.File => Object.create(file, {
        sync: {
          get: () => {
            disk.syncs++
            return disk.fault === undefined ? file.sync : Effect.fail(refusal("EIO"))
          }
        },
        truncate: { value: (length?: number) => disk.fault?.truncates === false ? Effect.fail(refusal("EIO")) : file.truncate(length) },
        writeAll: {
          value: (bytes: Uint8Array) =>
            disk.fault === undefined
              ? file.writeAll(bytes)
              : Effect.andThen(file.writeAll(bytes.subarray(0, Math.round(bytes.length * disk.fault.share))), Effect.fail(refusal("ENOSPC")))
        }
      }) as FileSystem.File)
    }
  }))).pipe(Layer.provideMerge(NodeServices.layer))

const onDisk = <A, E>(body: (disk: Disk, folder: string) => Effect.Effect<A, E, Sessions | NodeServices.NodeServices>) => {
  const disk: Disk = { fault: undefined, opens: true, syncs: 0 }
  return Effect.gen(function*() {
    const folder = `${yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()}/sessions`
    return yield* body(disk, folder).pipe(Effect.provide(Sessions.layer(folder, { pid: 1, isAlive: () => true })))
  }).pipe(Effect.scoped, Effect.provide(failing(disk)))
}

describe("a disk that refuses", () => {
  const Plan = Schema.Array(Schema.Literals(["well", "nothing", "some", "nearly", "all", "stuck", "stuck nearly"]))
  const faults: Record<typeof Plan.Type[number], Fault | undefined> = {
    well: undefined,
    nothing: { share: 0, truncates: true },
    some: { share: 0.3, truncates: true },
    nearly: { share: 0.99, truncates: true },
    all: { share: 1, truncates: true },
    stuck: { share: 0.5, truncates: false },
    "stuck nearly": { share: 0.99, truncates: false }
  }

  it.effect.prop("loses no entry, writes none twice and keeps the order, at whatever write it fails and however far that came", [Plan], ([plan]) =>
    onDisk((disk) =>
      Effect.gen(function*() {
        const sessions = yield* Sessions
        const said = plan.map((_, at) => `entry ${at} ☃`)
        const id = yield* Effect.scoped(Effect.gen(function*() {
          const session = yield* sessions.create({ workspace: "/w", persist: true })
          yield* Effect.forEach(said, (text, at) => {
            disk.fault = faults[plan[at] ?? "well"]
            return Effect.exit(session.append(say(text)))
          })
          assert.strictEqual((yield* session.entries).length, said.length)
          disk.fault = undefined
          yield* session.sync
          assert.strictEqual(yield* session.unsaved, 0)
          return session.id
        }))
        if (plan.length === 0) return
        const read = yield* sessions.read(id)
        assert.deepStrictEqual(textsOf(read), said)
        assert.isTrue(Option.isSome(read.header) || read.damaged.length > 0)
        // Where half a line could not be cut off again, it stands alone.
        assert.isAtMost(read.damaged.length, plan.filter((step) => step.startsWith("stuck")).length)
      })
    ), 60_000)

  it.effect("makes a file again that is deleted while its session is open, with all that was said, and tells when it cannot", () =>
    onDisk((_, folder) =>
      Effect.scoped(Effect.gen(function*() {
        const sessions = yield* Sessions
        const fs = yield* FileSystem.FileSystem
        const id = yield* Effect.scoped(Effect.gen(function*() {
          const session = yield* sessions.create({ workspace: "/w", persist: true })
          yield* session.append(say("one"))
          yield* fs.remove(folder, { recursive: true })
          yield* session.append(say("two"))
          assert.deepStrictEqual(textsOf(yield* sessions.read(session.id)), ["one", "two"])
          yield* fs.remove(folder, { recursive: true })
          yield* session.sync
          assert.deepStrictEqual(textsOf(yield* sessions.read(session.id)), ["one", "two"])
          return session.id
        }))
        const again = yield* sessions.open(id)
        yield* again.append(say("three"))
        yield* fs.remove(folder, { recursive: true })
        yield* fs.writeFileString(folder, "in the way")
        assert.strictEqual((yield* Effect.flip(again.append(say("four")))).unsaved, 4)
        yield* fs.remove(folder)
        yield* again.append(say("five"))
        const read = yield* sessions.read(id)
        assert.deepStrictEqual(textsOf(read), ["one", "two", "three", "four", "five"])
        assert.strictEqual(Option.getOrThrow(read.header).workspace, "/w")
      }))
    ))

  it.effect("is told at once with the file and the system's word, and the entry goes with the next one", () =>
    onDisk((disk, folder) =>
      Effect.scoped(Effect.gen(function*() {
        const sessions = yield* Sessions
        const session = yield* sessions.create({ workspace: "/w", persist: true })
        yield* session.append(say("one"))
        disk.fault = { share: 0.5, truncates: true }
        const error = yield* Effect.flip(session.append(say("two")))
        assert.deepStrictEqual([error._tag, error.path, error.cause, error.unsaved], [
          "SessionUnwritable",
          `${folder}/${session.id}.jsonl`,
          "ENOSPC: no space left on device, write",
          1
        ])
        assert.strictEqual((yield* Effect.flip(session.append(say("three")))).unsaved, 2)
        assert.strictEqual(yield* session.unsaved, 2)
        const meanwhile = yield* sessions.read(session.id)
        assert.deepStrictEqual([textsOf(meanwhile), meanwhile.torn, meanwhile.damaged], [["one"], false, []])
        disk.fault = undefined
        yield* session.append(say("four"))
        assert.deepStrictEqual(textsOf(yield* sessions.read(session.id)), ["one", "two", "three", "four"])
      }))
    ))

  it.effect("is nothing that a session which is gone on with has from before", () =>
    onDisk((disk) =>
      Effect.gen(function*() {
        const sessions = yield* Sessions
        const id = yield* Effect.scoped(Effect.gen(function*() {
          const session = yield* sessions.create({ workspace: "/w", persist: true })
          assert.strictEqual(yield* session.unsaved, 0)
          yield* session.append(say("one"))
          return session.id
        }))
        yield* Effect.scoped(Effect.gen(function*() {
          const session = yield* sessions.open(id)
          assert.strictEqual(yield* session.unsaved, 0)
          disk.fault = { share: 0, truncates: true }
          yield* Effect.ignore(session.append(say("two")))
          assert.strictEqual(yield* session.unsaved, 1)
          disk.fault = undefined
          yield* session.sync
          assert.strictEqual(yield* session.unsaved, 0)
        }))
      })
    ))

  it.effect("is tried again at the end of the session", () =>
    onDisk((disk) =>
      Effect.gen(function*() {
        const sessions = yield* Sessions
        const id = yield* Effect.scoped(Effect.gen(function*() {
          const session = yield* sessions.create({ workspace: "/w", persist: true })
          disk.opens = false
          const error = yield* Effect.flip(session.append(say("one")))
          assert.strictEqual(error.cause, "EACCES: no")
          assert.strictEqual(error.unsaved, 1)
          disk.opens = true
          return session.id
        }))
        assert.deepStrictEqual(textsOf(yield* sessions.read(id)), ["one"])
      })
    ))

  it.effect("is told of by sync too", () =>
    onDisk((disk) =>
      Effect.scoped(Effect.gen(function*() {
        const session = yield* (yield* Sessions).create({ workspace: "/w", persist: true })
        yield* session.append(say("one"))
        disk.fault = { share: 0, truncates: true }
        assert.strictEqual((yield* Effect.flip(session.sync)).cause, "EIO: no")
        disk.fault = undefined
        yield* session.sync
      }))
    ))

  it.effect("brings entries to the disk with sync and at the end, and does not do it twice", () =>
    onDisk((disk) =>
      Effect.gen(function*() {
        yield* Effect.scoped(Effect.gen(function*() {
          const session = yield* (yield* Sessions).create({ workspace: "/w", persist: true })
          yield* session.append(say("one"))
          assert.strictEqual(disk.syncs, 0)
          yield* session.sync
          yield* session.sync
          assert.strictEqual(disk.syncs, 1)
          yield* session.append(say("two"))
        }))
        assert.strictEqual(disk.syncs, 2)
      })
    ))

  it.effect("begins to take entries without being waited for; the next sync tells what went wrong", () =>
    onDisk((disk) =>
      Effect.scoped(Effect.gen(function*() {
        const session = yield* (yield* Sessions).create({ workspace: "/w", persist: true })
        yield* session.append(say("one"))
        disk.fault = { share: 0, truncates: true }
        yield* session.startSync
        while (disk.syncs === 0) yield* Effect.yieldNow
        disk.fault = undefined
        assert.strictEqual((yield* Effect.flip(session.sync)).cause, "EIO: no")
        assert.strictEqual(disk.syncs, 2)
        yield* session.sync
        assert.strictEqual(disk.syncs, 2)
        yield* session.append(say("two"))
        yield* session.startSync
        yield* session.append(say("three"))
        yield* session.sync
        yield* session.sync
        assert.strictEqual(disk.syncs, 4)
      }))
    ))

  it.effect("does not lose a line that somebody else wrote", () =>
    onDisk((disk) =>
      Effect.scoped(Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const sessions = yield* Sessions
        const session = yield* sessions.create({ workspace: "/w", persist: true })
        yield* session.append(say("one"))
        yield* fs.writeFileString(Option.getOrThrow(session.path), `${JSON.stringify(say("a stranger ".repeat(100)))}\n`, { flag: "a" })
        disk.fault = { share: 0.5, truncates: true }
        yield* Effect.flip(session.append(say("two")))
        disk.fault = undefined
        yield* session.append(say("three"))
        assert.deepStrictEqual(textsOf(yield* sessions.read(session.id)).map((text) => text.slice(0, 10)), ["one", "a stranger", "two", "three"])
      }))
    ))
})

describe("append", () => {
  it.effect("leaves out what cannot be said in JSON, and says so", () =>
    onDisk(() =>
      Effect.scoped(Effect.gen(function*() {
        const session = yield* (yield* Sessions).create({ workspace: "/w", persist: true })
        const ring: Record<string, unknown> = {}
        ring["ring"] = ring
        assert.include((yield* Effect.flip(session.append({ type: "extension", extension: "x", data: ring }))).cause, "circular")
        assert.strictEqual((yield* Effect.flip(session.append({ type: "extension", extension: "x", data: 1n }))).unsaved, 0)
        assert.deepStrictEqual(yield* session.entries, [])
      }))
    ))

  it.effect("does not write into a file that is closed, whose number may be another's", () =>
    onDisk(() =>
      Effect.gen(function*() {
        const session = yield* Effect.scoped(Effect.tap((yield* Sessions).create({ workspace: "/w", persist: true }), (open) => open.append(say("one"))))
        assert.strictEqual((yield* Effect.flip(session.append(say("late")))).cause, "the session is closed")
      })
    ))
})
