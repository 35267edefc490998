import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Stream } from "effect"
import { maxLogBytes, writeLog } from "../src/Transport/LogFile.ts"

const bytes = (text: string) => new TextEncoder().encode(text)
const temp = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

describe("writeLog", () => {
  it.effect("appends, and sets a file over the limit aside", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* temp
      yield* writeLog(folder, "a#2", Stream.make(bytes("one\n")))
      yield* writeLog(folder, "a#2", Stream.make(bytes("two\n")))
      assert.strictEqual(yield* fs.readFileString(`${folder}/a#2.log`), "one\ntwo\n")
      yield* fs.writeFileString(`${folder}/a#2.log`, "x".repeat(maxLogBytes + 1))
      yield* writeLog(folder, "a#2", Stream.make(bytes("three\n")))
      assert.strictEqual(yield* fs.readFileString(`${folder}/a#2.log`), "three\n")
      assert.strictEqual((yield* fs.readFileString(`${folder}/a#2.log.1`)).length, maxLogBytes + 1)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("makes no file when nothing is said, and no path out of a name", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* temp
      yield* writeLog(`${folder}/logs`, "quiet", Stream.empty)
      assert.isFalse(yield* fs.exists(`${folder}/logs`))
      yield* writeLog(`${folder}/logs`, "../../evil", Stream.make(bytes("x")))
      assert.deepStrictEqual(yield* fs.readDirectory(`${folder}/logs`), [".._.._evil.log"])
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("names a file as people write names, and has one for a name of any length", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* temp
      for (const name of ["größe-日本", "a b", "é".repeat(400), `${"é".repeat(400)}2`]) yield* writeLog(folder, name, Stream.make(bytes("x")))
      const names = (yield* fs.readDirectory(folder)).sort()
      assert.includeMembers(names, ["größe-日本.log", "a_b.log"])
      assert.strictEqual(names.length, 4)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("drains everything when it cannot write", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* temp
      yield* fs.writeFileString(`${folder}/file`, "")
      let drained = 0
      const noise = Stream.tap(Stream.make(bytes("a"), bytes("b"), bytes("c")), () => Effect.sync(() => drained++))
      yield* writeLog(`${folder}/file/logs`, "a", noise)
      assert.strictEqual(drained, 3)
    }).pipe(Effect.provide(NodeServices.layer)))
})
