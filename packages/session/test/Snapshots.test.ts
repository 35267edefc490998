import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, FileSystem, Layer, Option, Path, PlatformError } from "effect"
import { makeSnapshots } from "../src/index.ts"

const bytes = (size: number) => new Uint8Array(size).fill(7)
const inFolder = <A, E>(body: (folder: string) => Effect.Effect<A, E, FileSystem.FileSystem | Path.Path>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    return yield* body((yield* Path.Path).join(yield* fs.makeTempDirectoryScoped(), "snapshots"))
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

describe("snapshots", () => {
  it.effect("give back what they keep, for each session up to its share, also counted anew by a later process", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const first = yield* makeSnapshots(folder, 100)
        const kept = Option.getOrThrow(yield* first.keep("s1", bytes(60)))
        assert.deepStrictEqual(yield* first.load(kept), Option.some(bytes(60)))
        assert.deepStrictEqual(yield* first.keep("s1", bytes(41)), Option.none())
        assert.isTrue(Option.isSome(yield* first.keep("s2", bytes(100))))
        const second = yield* makeSnapshots(folder, 100)
        assert.deepStrictEqual(yield* second.keep("s1", bytes(41)), Option.none())
        assert.isTrue(Option.isSome(yield* second.keep("s1", bytes(40))))
        assert.deepStrictEqual(yield* second.load(kept), Option.some(bytes(60)))
      })
    ))

  it.effect("are not to be had by a reference that is a path to something else", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const snapshots = yield* makeSnapshots(folder)
        yield* snapshots.keep("s1", bytes(1))
        yield* fs.writeFileString(`${folder}/../0123abcd`, "secret")
        for (const reference of ["../0123abcd", "s1/../../0123abcd", "/etc/passwd", "s1/note", "", "s1/", "s1/ffffffff"]) {
          assert.deepStrictEqual(yield* snapshots.load(reference), Option.none(), reference)
        }
      })
    ))

  it.effect("have one note a session, which can be taken away", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const snapshots = yield* makeSnapshots(folder)
        assert.strictEqual(yield* snapshots.noted("s1"), "")
        for (const text of ["one", "two"]) assert.isTrue(yield* snapshots.note("s1", text))
        assert.deepStrictEqual([yield* snapshots.noted("s1"), yield* snapshots.noted("s2")], ["two", ""])
        assert.isTrue(yield* snapshots.note("s1", ""))
        assert.strictEqual(yield* snapshots.noted("s1"), "")
      })
    ))

  it.effect("say that they keep nothing where the disk refuses", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const full = PlatformError.systemError({ _tag: "Unknown", module: "FileSystem", method: "writeFile" })
        const refusing: FileSystem.FileSystem = { ...fs, writeFile: () => Effect.fail(full) }
        const snapshots = yield* makeSnapshots(folder).pipe(Effect.provide(Layer.succeed(FileSystem.FileSystem, refusing)))
        assert.deepStrictEqual([yield* snapshots.keep("s1", bytes(1)), yield* snapshots.note("s1", "x")], [Option.none(), false])
      })
    ))
})
