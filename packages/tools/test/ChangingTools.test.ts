import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { editTool, versionOf, writeTool } from "../src/index.ts"
import { call, inWorkspace } from "./Rig.ts"

const edit = (args: { [key: string]: unknown }) => call(editTool, args)
const write = (args: { path: string; content: string; overwrite?: boolean }) => call(writeTool, args)

describe("edit", () => {
  it.effect("replaces a text, tells version and lines, and shows the diff to people only", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("a.ts", "one\ntwo\nthree\n")
      const result = yield* edit({ path: "a.ts", old_text: "two", new_text: "2\n2b" })
      const after = "one\n2\n2b\nthree\n"
      assert.strictEqual(yield* w.text("a.ts"), after)
      assert.strictEqual(result.text, `OK — a.ts\nversion: ${versionOf(new TextEncoder().encode(after))}\nreplacements: 1, lines 2-3`)
      assert.strictEqual(result.details?.["diff"], "--- a/a.ts\n+++ b/a.ts\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2b\n three\n")
    })))

  it.effect("keeps byte order mark, CRLF, a missing last newline and mode bits", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("run.sh", "\ufeffa\r\nb\r\nc")
      yield* w.fs.chmod(w.at("run.sh"), 0o755)
      yield* edit({ path: "run.sh", old_text: "a\nb", new_text: "a\nx\nb" })
      assert.strictEqual(yield* w.text("run.sh"), "\ufeffa\r\nx\r\nb\r\nc")
      assert.strictEqual(yield* w.mode("run.sh"), 0o755)
    })))

  it.effect("writes through a link inside the workspace, which stays a link", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("real", "a")
      yield* w.link("real", "alias")
      yield* edit({ path: "alias", old_text: "a", new_text: "b" })
      assert.strictEqual(yield* w.text("real"), "b")
      assert.strictEqual(yield* w.fs.readLink(w.at("alias")), "real")
    })))

  it.effect("changes nothing when one of several replacements fails", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("f", "alpha\nbeta\nbeta\n")
      const result = yield* edit({ path: "f", replacements: [{ old_text: "alpha", new_text: "A" }, { old_text: "beta", new_text: "B" }] })
      assert.isTrue(result.isError)
      assert.include(result.text, "EDIT_FAILED: old_text of replacement 2 of 2 occurs 2 times in f, on lines 2, 3;")
      assert.strictEqual(yield* w.text("f"), "alpha\nbeta\nbeta\n")
      assert.deepStrictEqual(yield* w.names("."), ["f"])
    })))

  it.effect("shows similar lines and the version when the text is not there", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("f", "const total = price * count\n")
      const { text } = yield* edit({ path: "f", old_text: "const total = price * counts", new_text: "x" })
      assert.include(text, "EDIT_FAILED: old_text does not occur in f; similar lines:\n1 | const total = price * count\n")
      assert.include(text, `version: ${versionOf(new TextEncoder().encode("const total = price * count\n"))}`)
    })))

  it.effect("refuses another version, a binary, a missing file and a call without texts", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("f", "a")
      yield* w.put("latin", Uint8Array.of(0x61, 0xe9, 0x62))
      for (const args of [
        { path: "f", old_text: "a", new_text: "b", expected_version: "0000000000000000" },
        { path: "latin", old_text: "a", new_text: "b" },
        { path: "none", old_text: "a", new_text: "b" },
        { path: "f" }
      ]) {
        const result = yield* edit(args)
        assert.isTrue(result.isError)
        assert.match(result.text, /^EDIT_FAILED: /)
      }
      assert.strictEqual(yield* w.text("f"), "a")
    })))

  it.effect("loses no change when many edits of one file come at once under different names", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("f", Array.from({ length: 20 }, (_, i) => `<${i}>`).join("\n"))
      const results = yield* Effect.forEach(Array.from({ length: 20 }, (_, i) => i), (i) =>
        edit({ path: ["f", "./f", w.at("f")][i % 3], old_text: `<${i}>`, new_text: `done ${i}` }), { concurrency: "unbounded" })
      assert.isTrue(results.every(({ isError }) => !isError))
      assert.strictEqual(yield* w.text("f"), Array.from({ length: 20 }, (_, i) => `done ${i}`).join("\n"))
    })))
})

describe("write", () => {
  it.effect("makes folders and a new file, and shows it as a diff", () =>
    inWorkspace((w) => Effect.gen(function*() {
      const result = yield* write({ path: "x/y/new.txt", content: "a\n" })
      assert.include(result.text, "OK — x/y/new.txt\ncreated, 2 bytes\nversion: ")
      assert.strictEqual(result.details?.["diff"], "--- /dev/null\n+++ b/x/y/new.txt\n@@ -0,0 +1 @@\n+a\n")
      assert.strictEqual(yield* w.text("x/y/new.txt"), "a\n")
      assert.deepStrictEqual(yield* w.names("x/y"), ["new.txt"])
    })))

  it.effect("replaces an existing file only when told to, and keeps its mode bits", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("f", "old\n")
      yield* w.fs.chmod(w.at("f"), 0o750)
      const refused = yield* write({ path: "f", content: "new\n" })
      assert.isTrue(refused.isError)
      assert.strictEqual(yield* w.text("f"), "old\n")
      const done = yield* write({ path: "f", content: "new\n", overwrite: true })
      assert.include(done.text, "replaced, 4 bytes")
      assert.include(String(done.details?.["diff"]), "-old\n+new\n")
      assert.strictEqual(yield* w.mode("f"), 0o750)
    })))

  it.effect("of two that make the same new file at once, one is refused", () =>
    inWorkspace((w) => Effect.gen(function*() {
      const results = yield* Effect.all([write({ path: "f", content: "1" }), write({ path: "./f", content: "2" })], { concurrency: "unbounded" })
      assert.deepStrictEqual(results.map(({ isError }) => isError), [false, true])
      assert.strictEqual(yield* w.text("f"), "1")
    })))

  it.effect("refuses a folder, and a place below a file, leaving nothing behind", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("d/f", "x")
      assert.isTrue((yield* write({ path: "d", content: "x", overwrite: true })).isError)
      assert.isTrue((yield* write({ path: "d/f/g", content: "x" })).isError)
      assert.deepStrictEqual(yield* w.names("d"), ["f"])
      assert.deepStrictEqual(yield* w.names("."), ["d"])
    })))
})
