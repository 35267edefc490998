import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { saveSetting } from "../src/SettingsFile.ts"

const inFolder = <A, E>(body: (folder: string, fs: FileSystem.FileSystem) => Effect.Effect<A, E, NodeServices.NodeServices>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    return yield* body(yield* fs.makeTempDirectoryScoped(), fs)
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

describe("a setting that is saved", () => {
  it.effect("changes its key and nothing else, in a file that need not be there, and leaves no other file", () =>
    inFolder((folder, fs) =>
      Effect.gen(function*() {
        const file = `${folder}/new/config.json`
        yield* saveSetting(file, ["agent", "steering_mode"], "all")
        yield* fs.writeFileString(file, `{"theirs":{"x":[1,2]},"agent":{"steering_mode":"all","max_tokens":5}}`)
        yield* saveSetting(file, ["agent", "steering_mode"], "one-at-a-time")
        assert.deepStrictEqual(JSON.parse(yield* fs.readFileString(file)), { theirs: { x: [1, 2] }, agent: { steering_mode: "one-at-a-time", max_tokens: 5 } })
        assert.deepStrictEqual(yield* fs.readDirectory(`${folder}/new`), ["config.json"])
      })))

  it.effect("never writes over a file that is no JSON object, and says which", () =>
    inFolder((folder, fs) =>
      Effect.forEach([`{"agent": {`, "[]", "null", ""], (broken) =>
        Effect.gen(function*() {
          const file = `${folder}/config.json`
          yield* fs.writeFileString(file, broken)
          const error = yield* Effect.flip(saveSetting(file, ["theme"], "dark"))
          assert.include(error.message, file)
          assert.strictEqual(yield* fs.readFileString(file), broken)
        }))))

  it.effect("goes to where a link leads, which stays one; many at once leave a whole file", () =>
    inFolder((folder, fs) =>
      Effect.gen(function*() {
        const [real, link] = [`${folder}/real.json`, `${folder}/config.json`]
        yield* fs.writeFileString(real, "{}")
        yield* fs.symlink(real, link)
        yield* Effect.forEach(["a", "b", "c", "d", "e", "f"], (name) => saveSetting(link, [name], true), { concurrency: "unbounded" })
        assert.strictEqual(yield* fs.readLink(link), real)
        assert.isObject(JSON.parse(yield* fs.readFileString(real)))
        assert.deepStrictEqual((yield* fs.readDirectory(folder)).toSorted(), ["config.json", "real.json"])
      })))
})
