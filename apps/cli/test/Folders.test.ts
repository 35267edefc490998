import * as NodePath from "@effect/platform-node/NodePath"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, Path } from "effect"
import { layerFiles } from "../src/Folders.ts"

const files = Layer.provideMerge(layerFiles, NodePath.layer)

describe("folders made with their parents", () => {
  it.effect("are there afterwards, also when some or all were there before", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const root = yield* fs.makeTempDirectoryScoped()
      const deep = path.join(root, "a", "b", "c")
      yield* fs.makeDirectory(deep, { recursive: true })
      yield* fs.makeDirectory(deep, { recursive: true })
      yield* Effect.all(["x", "y", "z"].map((name) => fs.makeDirectory(path.join(root, "p", "q", name), { recursive: true })), { concurrency: "unbounded" })
      assert.deepStrictEqual(yield* fs.readDirectory(path.join(root, "p", "q")), ["x", "y", "z"])
      assert.strictEqual((yield* fs.stat(deep)).type, "Directory")
    }).pipe(Effect.scoped, Effect.provide(files)))

  it.effect("fail where a file stands in the way", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const root = yield* fs.makeTempDirectoryScoped()
      yield* fs.writeFileString(`${root}/file`, "")
      const below = yield* Effect.flip(fs.makeDirectory(`${root}/file/below`, { recursive: true }))
      const same = yield* Effect.flip(fs.makeDirectory(`${root}/file`, { recursive: true }))
      assert.deepStrictEqual([below._tag, same.reason._tag], ["PlatformError", "AlreadyExists"])
    }).pipe(Effect.scoped, Effect.provide(files)))

  it.live("fail, and do not try for ever, where the system says that nothing can be made", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const error = yield* Effect.flip(fs.makeDirectory("/proc/self/a/b", { recursive: true }))
      assert.strictEqual(error._tag, "PlatformError")
    }).pipe(Effect.timeout("5 seconds"), Effect.provide(files)))
})
