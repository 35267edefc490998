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

  it.effect("says which replacement took the text of a later one, how often it had been there and where", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("f", "head\r\nalpha\r\nbeta\r\nalpha\r\n")
      const overlap = yield* edit({ path: "f", replacements: [{ old_text: "head", new_text: "HEAD" }, { old_text: "alpha\nbeta", new_text: "A\nB" }, { old_text: "beta\nalpha", new_text: "x" }] })
      assert.include(overlap.text, "EDIT_FAILED: old_text of replacement 3 of 3 overlaps replacement 2 of 3, which changed it: before, it occurred once in f, on line 3.")
      const all = yield* edit({ path: "f", replace_all: true, replacements: [{ old_text: "alpha", new_text: "A" }, { old_text: "alpha", new_text: "B" }] })
      assert.include(all.text, "overlaps replacement 1 of 2, which changed it: before, it occurred 2 times in f, on lines 2, 4.")
      assert.include((yield* edit({ path: "f", replacements: [{ old_text: "head", new_text: "H" }, { old_text: "gamma", new_text: "x" }] })).text, "old_text of replacement 2 of 2 does not occur in f")
      assert.strictEqual(yield* w.text("f"), "head\r\nalpha\r\nbeta\r\nalpha\r\n")
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
      yield* w.put("binary", Uint8Array.of(0x61, 0, 0x62))
      for (const args of [
        { path: "f", old_text: "a", new_text: "b", expected_version: "0000000000000000" },
        { path: "binary", old_text: "a", new_text: "b" },
        { path: "none", old_text: "a", new_text: "b" },
        { path: "f" },
        { path: "f", new_text: "b" }
      ]) {
        const result = yield* edit(args)
        assert.isTrue(result.isError)
        assert.match(result.text, /^EDIT_FAILED: /)
      }
      assert.strictEqual(yield* w.text("f"), "a")
    })))

  it.effect("takes a text out only when it is told so", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("f", "one two")
      for (const args of [{ old_text: "one" }, { replacements: [{ old_text: "one" }] }, { old_text: "one", new_text: "1", replacements: [{ old_text: "two" }] }, { old_text: "one", replacements: [{ old_text: "two", new_text: "2" }] }]) {
        const { isError, text } = yield* edit({ path: "f", ...args })
        assert.isTrue(isError)
        assert.match(text, /^EDIT_FAILED: .*new_text.*""/)
      }
      assert.strictEqual(yield* w.text("f"), "one two")
      yield* edit({ path: "f", old_text: "one ", new_text: "" })
      assert.strictEqual(yield* w.text("f"), "two")
    })))

  it.effect("changes text in UTF-16 and Latin-1 and leaves every other byte as it is", () =>
    inWorkspace((w) => Effect.gen(function*() {
      const little = (text: string) => Buffer.from(text, "utf16le")
      yield* w.put("wide", little("\ufeffone\r\ntwo \ud83d\r\n"))
      yield* edit({ path: "wide", old_text: "one\n", new_text: "你\n😀\n" })
      assert.deepStrictEqual(yield* w.bytes("wide"), little("\ufeff你\r\n😀\r\ntwo \ud83d\r\n"))
      yield* w.put("old", Buffer.from("café\n\xff\xfe\nend", "latin1"))
      yield* edit({ path: "old", old_text: "café", new_text: "thé" })
      assert.deepStrictEqual(yield* w.bytes("old"), Buffer.from("thé\n\xff\xfe\nend", "latin1"))
      const result = yield* edit({ path: "old", old_text: "end", new_text: "你" })
      assert.match(result.text, /^EDIT_FAILED: new_text has the character "你", which Latin-1, the encoding of the file, cannot hold/)
    })))

  it.effect("half a surrogate pair is neither found in a character nor written", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("f", "a😀b")
      for (const args of [{ old_text: "\ud83d", new_text: "x" }, { old_text: "a", new_text: "\ude00" }]) {
        assert.include((yield* edit({ path: "f", ...args })).text, "EDIT_FAILED")
      }
      assert.isTrue((yield* write({ path: "f", content: "\ud83d", overwrite: true })).isError)
      assert.strictEqual(yield* w.text("f"), "a😀b")
    })))

  it.effect("replaces every occurrence on request, counts them and names the first places", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("f", "x = x\r\n".repeat(30_000))
      const { text } = yield* edit({ path: "f", old_text: "x", new_text: "$&", replace_all: true })
      assert.strictEqual(yield* w.text("f"), "$& = $&\r\n".repeat(30_000))
      assert.match(text, /replacements: 60000, lines 1, 2, 3, .*, 20 and 29980 more places$/)
      assert.include((yield* edit({ path: "f", old_text: "x", new_text: "y", replace_all: true })).text, "does not occur")
    })))

  it.effect("a long diff is bounded and says so, a huge file's is left out", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("f", "line\n".repeat(20_000))
      const { details } = yield* edit({ path: "f", old_text: "line", new_text: "changed", replace_all: true })
      assert.isAtMost(Buffer.byteLength(String(details?.["diff"])), 51_200)
      assert.isTrue(details?.["diff_truncated"])
      yield* w.put("g", "end" + "line\n".repeat(300_000))
      assert.deepStrictEqual((yield* edit({ path: "g", old_text: "end", new_text: "END" })).details, { path: "g", diff_truncated: true })
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

  it.effect("does not advise to overwrite what is no file", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("folder/x", "")
      const { isError, text } = yield* write({ path: "folder", content: "1" })
      assert.isTrue(isError)
      assert.strictEqual(text, "folder is a folder; give the path of a file in it")
    })))

  it.effect("of two that make the same new file at once, one is refused", () =>
    inWorkspace((w) => Effect.gen(function*() {
      const results = yield* Effect.all([write({ path: "f", content: "1" }), write({ path: "./f", content: "2" })], { concurrency: "unbounded" })
      // Which of them is first is the file system's to say: both look for the place before one holds it.
      const made = results.findIndex(({ isError }) => !isError)
      assert.deepStrictEqual(results.map(({ isError }) => isError), [made !== 0, made !== 1])
      assert.strictEqual(yield* w.text("f"), String(made + 1))
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
