import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { editTool, type FileChange, fileState, Operations, restoreFile, versionOf, writeTool } from "../src/index.ts"
import { inWorkspace } from "./Rig.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

describe("a tool that changes a file", () => {
  it.effect("tells what the file held and what it will hold, before it does it, and nothing when it refuses", () =>
    inWorkspace(({ put, text }) =>
      Effect.gen(function*() {
        const changes: Array<FileChange & { readonly seen: string }> = []
        yield* put("sub/a.txt", "one\n")
        const context = (path: string) => ({
          output: () => Effect.void,
          changing: (change: FileChange) => Effect.map(Effect.orElseSucceed(text(path), () => "nothing"), (seen) => void changes.push({ ...change, seen }))
        })
        yield* editTool.run({ path: "sub/a.txt", old_text: "one", new_text: "two" }, context("sub/a.txt"))
        yield* editTool.run({ path: "sub/a.txt", old_text: "one", new_text: "two" }, context("sub/a.txt"))
        yield* writeTool.run({ path: "sub/a.txt", content: "three" }, context("sub/a.txt"))
        yield* writeTool.run({ path: "sub/a.txt", content: "three", overwrite: true }, context("sub/a.txt"))
        yield* writeTool.run({ path: "b.txt", content: "new" }, context("b.txt"))
        assert.deepStrictEqual(changes, [
          { path: "sub/a.txt", before: bytes("one\n"), after: versionOf(bytes("two\n")), seen: "one\n" },
          { path: "sub/a.txt", before: bytes("two\n"), after: versionOf(bytes("three")), seen: "two\n" },
          { path: "b.txt", before: "missing", after: versionOf(bytes("new")), seen: "nothing" }
        ])
      })
    ))

  it.effect("says so when it replaces what it cannot read as a whole", () =>
    inWorkspace(({ put }) =>
      Effect.gen(function*() {
        const before: Array<FileChange["before"]> = []
        yield* put("big.txt", new Uint8Array(10_500_000))
        yield* writeTool.run({ path: "big.txt", content: "small", overwrite: true }, { output: () => Effect.void, changing: (change) => Effect.sync(() => void before.push(change.before)) })
        assert.deepStrictEqual(before, ["unknown"])
      })
    ))
})

describe("restoring a file", () => {
  it.effect("replaces, takes away and makes anew what is as expected, and leaves its permission bits", () =>
    inWorkspace(({ at, fs, mode, put, text }) =>
      Effect.gen(function*() {
        const { files } = yield* Operations
        yield* put("a.sh", "now")
        yield* fs.chmod(at("a.sh"), 0o750)
        yield* restoreFile(files, "a.sh", versionOf(bytes("now")), bytes("before"))
        assert.deepStrictEqual([yield* text("a.sh"), yield* mode("a.sh")], ["before", 0o750])
        yield* restoreFile(files, "a.sh", versionOf(bytes("before")), null)
        assert.deepStrictEqual(yield* fileState(files, "a.sh"), { version: null, bytes: null })
        yield* restoreFile(files, "a.sh", null, bytes("again"))
        assert.deepStrictEqual(yield* fileState(files, "a.sh"), { version: versionOf(bytes("again")), bytes: bytes("again") })
      })
    ))

  it.effect("does nothing to a file that is not as expected, to a folder, and to what lies outside", () =>
    inWorkspace(({ put, text }) =>
      Effect.gen(function*() {
        const { files } = yield* Operations
        yield* put("a.txt", "mine")
        yield* put("folder/b.txt", "mine")
        for (const [path, expected] of [["a.txt", versionOf(bytes("other"))], ["a.txt", null], ["none.txt", "0000000000000000"], ["folder", null], ["../out.txt", null]] as const) {
          for (const target of [bytes("theirs"), null]) yield* Effect.flip(restoreFile(files, path, expected, target))
        }
        assert.deepStrictEqual([yield* text("a.txt"), yield* text("folder/b.txt")], ["mine", "mine"])
      })
    ))
})
