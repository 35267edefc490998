/** The README's example is the program beside it, and does what it says. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { readFileSync } from "node:fs"
import { edit } from "../examples/editor.ts"
import { Sessions } from "../src/index.ts"

const fileText = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")

describe("the README's example", () => {
  it("is what the README shows", () => assert.include(fileText("../README.md"), fileText("../examples/editor.ts").trim()))

  it.live("writes, follows, reads, copies, names and exports with the library and nothing else", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const { page, ...told } = yield* Effect.provide(edit(folder), Sessions.layer(`${folder}/sessions`))
      assert.deepStrictEqual(told, { followed: ["hello", "and more"], entries: 2, damaged: 0, unsaid: "and more" })
      assert.include(yield* fs.readFileString(page), "Back at the beginning")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
})
