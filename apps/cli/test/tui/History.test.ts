import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { makeHistory } from "../../src/tui/History.ts"

const inFolder = <A, E>(use: (file: string) => Effect.Effect<A, E, FileSystem.FileSystem | import("effect").Path.Path>) =>
  Effect.gen(function*() {
    const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
    return yield* use(`${folder}/.nimlet/history`)
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

describe("the history of prompts", () => {
  it.effect("goes over sessions, the oldest first; commands and whole files are not remembered", () =>
    inFolder((file) =>
      Effect.gen(function*() {
        const history = yield* makeHistory(file)
        assert.deepStrictEqual(yield* history.read, [])
        for (const text of ["one", "two\nlines", "/help", "  ", "x".repeat(10_001), "!ls"]) yield* history.add(text)
        assert.deepStrictEqual(yield* (yield* makeHistory(file)).read, ["one", "two\nlines", "!ls"])
        const { mode } = yield* (yield* FileSystem.FileSystem).stat(file)
        assert.strictEqual(mode & 0o077, 0)
      })))

  it.effect("keeps the latest five hundred and reads on behind a damaged line", () =>
    inFolder((file) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const history = yield* makeHistory(file)
        yield* history.add("first")
        yield* fs.writeFileString(file, `${Array.from({ length: 800 }, (_, n) => n === 799 ? "no json" : JSON.stringify(`p${n}`)).join("\n")}\n`)
        const read = yield* history.read
        assert.deepStrictEqual([read[0], read.at(-1), read.length], ["p300", "p798", 499])
        assert.strictEqual((yield* fs.readFileString(file)).split("\n").length, 501)
      })))

  it.effect("is silent where it cannot be kept", () =>
    inFolder((file) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        yield* fs.makeDirectory(file, { recursive: true })
        const history = yield* makeHistory(file)
        yield* history.add("one")
        assert.deepStrictEqual(yield* history.read, [])
      })))
})
