import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { createServer } from "node:net"
import { readTool, versionOf } from "../src/index.ts"
import { pictures } from "../../../test/kit/Pictures.ts"
import { call, fakeOperations, inWorkspace } from "./Rig.ts"

const read = (args: { path: string; start_line?: number; end_line?: number }) => call(readTool, args)
const { png } = pictures

describe("read", () => {
  it.effect("gives path, version, lines and numbered text", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("src/a.ts", "one\r\n\ttwo\nlast")
      const result = yield* read({ path: "@src/a.ts" })
      const version = versionOf(new TextEncoder().encode("one\r\n\ttwo\nlast"))
      assert.strictEqual(result.text, `path: src/a.ts\nversion: ${version}\nlines: 1-3 of 3\n\n1 | one\n2 | \ttwo\n3 | last`)
      assert.isFalse(result.isError)
    })))

  it.effect("gives the range asked for, numbers right-aligned, and stops at the end of the file", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("n", Array.from({ length: 12 }, (_, i) => `l${i + 1}`).join("\n") + "\n")
      assert.include((yield* read({ path: "n", start_line: 9, end_line: 10 })).text, "lines: 9-10 of 12\n\n 9 | l9\n10 | l10")
      assert.include((yield* read({ path: "n", start_line: 12, end_line: 99 })).text, "lines: 12-12 of 12\n\n12 | l12")
      const past = yield* read({ path: "n", start_line: 13 })
      assert.isTrue(past.isError)
      assert.include(past.text, "past the end: n has 12 lines")
      assert.isTrue((yield* read({ path: "n", start_line: 5, end_line: 4 })).isError)
    })))

  it.effect("names the next line when it is cut by lines or by bytes, and reading on gives the rest", () =>
    inWorkspace((w) => Effect.gen(function*() {
      const lines = Array.from({ length: 5000 }, (_, i) => `line ${i + 1} ${"ü".repeat(i % 40)}`)
      yield* w.put("long", lines.join("\n"))
      const seen: Array<string> = []
      let next: string | undefined = "1"
      while (next !== undefined) {
        const text: string = (yield* read({ path: "long", start_line: Number(next) })).text
        assert.isAtMost(Buffer.byteLength(text), 51_200)
        assert.isAtMost(text.split("\n").length, 2000)
        seen.push(...text.split("\n").filter((line) => / \| /.test(line)).map((line) => line.slice(line.indexOf(" | ") + 3)))
        next = /start_line=(\d+)/.exec(text)?.[1]
      }
      assert.deepStrictEqual(seen, lines)
    })))

  it.effect("shows the beginning of a single long line and says how long it is", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("min.js", `${"é".repeat(200_000)}\nend`)
      const { text } = yield* read({ path: "min.js" })
      assert.isAtMost(Buffer.byteLength(text), 51_200)
      assert.include(text, "line 1 has 400000 bytes")
      assert.include(text, "start_line=2")
      assert.notInclude(text, "\ufffd")
      assert.include((yield* read({ path: "min.js", start_line: 2 })).text, "2 | end")
    })))

  it.effect("reads a range of a file that is too large to be read whole", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("big", "0123456789abcde\n".repeat(800_000))
      const { text } = yield* read({ path: "big", start_line: 700_000, end_line: 700_001 })
      assert.include(text, "version: none")
      assert.include(text, "lines: 700000-700001 of more\n\n700000 | 0123456789abcde\n700001 | ")
    })))

  it.effect("stops reading a huge file once it has its lines", () =>
    Effect.gen(function*() {
      let chunks = 0
      const info = { kind: "file", size: 2 ** 40, mode: 0o644 } as const
      const file = { real: "/w/huge", shown: "huge", exists: true }
      const result = yield* read({ path: "huge", end_line: 3 }).pipe(Effect.provide(fakeOperations(() => Effect.never, {
        locate: () => Effect.succeed(file),
        scan: (_, step) => Effect.sync(() => {
          do chunks++
          while (step(new TextEncoder().encode("line\n"), info) && chunks < 1000)
          return info
        })
      })))
      assert.include(result.text, "lines: 1-3 of more")
      assert.strictEqual(chunks, 3)
    }))

  it.effect("of a large file's endless line it reads no more than it can show", () =>
    Effect.gen(function*() {
      let chunks = 0
      const info = { kind: "file", size: 2 ** 40, mode: 0o644 } as const
      const file = { real: "/w/huge", shown: "huge", exists: true }
      const result = yield* read({ path: "huge" }).pipe(Effect.provide(fakeOperations(() => Effect.never, {
        locate: () => Effect.succeed(file),
        scan: (_, step) => Effect.sync(() => {
          do chunks++
          while (step(new TextEncoder().encode("x".repeat(65_536)), info) && chunks < 1000)
          return info
        })
      })))
      assert.include(result.text, "line 1 has at least 65536 bytes")
      assert.strictEqual(chunks, 1)
    }))

  it.effect("reads UTF-16 by its mark and says so, lines cut where they end and not at any byte 10", () =>
    inWorkspace((w) => Effect.gen(function*() {
      const text = "caf\u010a\r\n\u0a0d😀\nlast"
      const little = Buffer.from(`\ufeff${text}`, "utf16le")
      yield* w.put("le", little)
      yield* w.put("be", Buffer.from(little).swap16())
      for (const [path, name] of [["le", "UTF-16LE"], ["be", "UTF-16BE"]] as const) {
        assert.include((yield* read({ path })).text, `encoding: ${name}\nlines: 1-3 of 3\n\n1 | caf\u010a\n2 | \u0a0d😀\n3 | last`)
      }
    })))

  it.effect("shows a file that is not UTF-8 as Latin-1, says so, and stays within its limit", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("old", Buffer.from("ümlaut\ncafé\n", "latin1"))
      assert.match((yield* read({ path: "old" })).text, /\nencoding: shown as Latin-1[^\n]*\nlines: 1-2 of 2\n\n1 \| ümlaut\n2 \| café$/)
      yield* w.put("much", Buffer.from("é".repeat(100).concat("\n").repeat(2000), "latin1"))
      const { text } = yield* read({ path: "much" })
      assert.isAtMost(Buffer.byteLength(text), 51_200)
      assert.include(text, "next: start_line=")
    })))

  it.effect("a byte order mark is no part of the first line, and is one of any other", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("f", "\ufeffone\n\ufefftwo")
      assert.match((yield* read({ path: "f" })).text, /\n1 \| one\n2 \| \ufefftwo$/)
    })))

  it.effect("says that a file is empty", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("e", "")
      const result = yield* read({ path: "e" })
      assert.isFalse(result.isError)
      assert.include(result.text, "The file is empty.")
    })))

  it.effect("gives an image by its bytes, whatever its name", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("picture.txt", png)
      const result = yield* read({ path: "picture.txt" })
      assert.deepStrictEqual(result.content[1], { type: "image", mimeType: "image/png", data: Buffer.from(png).toString("base64") })
      yield* w.put("large.png", new Uint8Array(5 * 1024 * 1024 + 1).fill(1).map((byte, i) => png[i] ?? byte))
      const large = yield* read({ path: "large.png" })
      assert.isTrue(large.isError)
      assert.include(large.text, "at most 5 MB")
    })))

  it.effect("recognises JPEG, GIF and WEBP", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("j", pictures.jpeg)
      yield* w.put("g", pictures.gif)
      yield* w.put("w", pictures.webp)
      for (const [name, type] of [["j", "image/jpeg"], ["g", "image/gif"], ["w", "image/webp"]] as const) {
        assert.include((yield* read({ path: name })).text, `<${type}>`)
      }
    })))

  it.effect("refuses a broken image, which no model would take", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("junk.png", Buffer.concat([png.subarray(0, 8), Buffer.alloc(500, 7)]))
      yield* w.put("cut.jpg", pictures.jpeg.subarray(0, 30))
      for (const path of ["junk.png", "cut.jpg"]) {
        const { content, isError, text } = yield* read({ path })
        assert.isTrue(isError, path)
        assert.lengthOf(content, 1)
        assert.include(text, "is no whole image: it ")
      }
    })))

  it.live("refuses what is no regular file without opening it", () =>
    inWorkspace((w) => Effect.gen(function*() {
      execFileSync("mkfifo", [w.at("pipe")])
      yield* w.put("folder/x", "")
      const server = createServer().listen(w.at("socket"))
      yield* Effect.addFinalizer(() => Effect.sync(() => { server.close() }))
      yield* Effect.callback<void>((resume) => { server.once("listening", () => resume(Effect.void)) })
      assert.include((yield* read({ path: "socket" })).text, "not a regular file")
      for (const path of ["pipe", "folder"]) assert.isTrue((yield* read({ path })).isError, path)
      assert.include((yield* read({ path: "pipe" })).text, "not a regular file")
      assert.include((yield* read({ path: "missing/file" })).text, "no such file")
    })))

  it.effect("refuses a binary file and says how large it is", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("b", Uint8Array.of(1, 2, 0, 3))
      const result = yield* read({ path: "b" })
      assert.isTrue(result.isError)
      assert.include(result.text, "binary file of 4 bytes")
      // Neither UTF-8 nor text in Latin-1.
      yield* w.put("c", Uint8Array.of(1, 2, 0xe9, 3))
      assert.include((yield* read({ path: "c" })).text, "binary file of 4 bytes")
    })))
})
