import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { execFileSync } from "node:child_process"
import { globTool, grepTool, lsTool } from "../src/index.ts"
import { gather, makeRecords } from "../src/Gather.ts"
import { splitPattern } from "../src/GlobTool.ts"
import { makeLocalSearch } from "../src/Operations/LocalSearch.ts"
import type { Folder } from "./Rig.ts"
import { call, fakeOperations, inWorkspace } from "./Rig.ts"

const grep = (args: { [key: string]: unknown }) => call(grepTool, args)
const glob = (args: { [key: string]: unknown }) => call(globTool, args)
const ls = (args: { [key: string]: unknown }) => call(lsTool, args)

/** A project with ignored, hidden and nested files; no git repository. */
const project = Effect.fnUntraced(function*(w: Folder) {
  yield* w.put(".gitignore", "node_modules\ngen/*\n*.log\n")
  yield* w.put("top.ts", "const needle = 1\n")
  yield* w.put("src/a.ts", "one\nNeedle two\nneedle three\n")
  yield* w.put("src/deep/b.md", "needle\n")
  yield* w.put("src/node_modules/x/i.ts", "needle\n")
  yield* w.put("gen/a.ts", "needle\n")
  yield* w.put("x.log", "needle\n")
  yield* w.put(".hidden/c.ts", "needle\n")
})

/** A result without what it says of ignored files. */
const withoutNote = (text: string): string => text.replace(/\n\[Ignored files match[^\n]*\]$/, "")

const inProject = <A, E, R>(body: (w: Folder) => Effect.Effect<A, E, R>) => inWorkspace((w) => Effect.andThen(project(w), body(w)))

describe("grep", () => {
  it.live("gives path:line:text sorted by path, hidden files too, ignored ones and .git not", () =>
    inProject((w) => Effect.gen(function*() {
      const grep = (args: { pattern: string }) => Effect.map(call(grepTool, args), ({ text }) => ({ text: withoutNote(text) }))
      const expected = [".hidden/c.ts:1:needle", "src/a.ts:3:needle three", "src/deep/b.md:1:needle", "top.ts:1:const needle = 1"]
      assert.deepStrictEqual((yield* grep({ pattern: "needle" })).text.split("\n"), expected)
      yield* w.put(".git/config.ts", "needle\n")
      assert.deepStrictEqual((yield* grep({ pattern: "needle" })).text.split("\n"), expected)
    })))

  it.live("narrows by a glob for names, for paths, and against names, and never into ignored files", () =>
    inProject(() => Effect.gen(function*() {
      const files = (args: object) => Effect.map(grep({ pattern: "needle", ...args }), ({ text }) => withoutNote(text).split("\n").map((line) => line.split(":")[0]))
      assert.deepStrictEqual(yield* files({ glob: "*.{ts,log}" }), [".hidden/c.ts", "src/a.ts", "top.ts"])
      assert.deepStrictEqual(yield* files({ glob: "src/**" }), ["src/a.ts", "src/deep/b.md"])
      assert.deepStrictEqual(yield* files({ glob: "!*.ts" }), ["src/deep/b.md"])
      assert.deepStrictEqual(yield* files({ path: "src/deep" }), ["src/deep/b.md"])
    })))

  it.live("searches an ignored file that is named as path, and ignored ones on request", () =>
    inProject((w) => Effect.gen(function*() {
      assert.strictEqual((yield* grep({ pattern: "needle", path: "gen/a.ts" })).text, "gen/a.ts:1:needle")
      yield* w.put(".git/config.ts", "needle\n")
      const all = (yield* grep({ pattern: "needle", include_ignored: true })).text.split("\n").map((line) => line.split(":")[0])
      assert.deepStrictEqual(all, [".hidden/c.ts", "gen/a.ts", "src/a.ts", "src/deep/b.md", "src/node_modules/x/i.ts", "top.ts", "x.log"])
    })))

  it.live("finding little or nothing, it says whether ignored files match; finding more or asked for all, it does not look", () =>
    inProject((w) => Effect.gen(function*() {
      const none = yield* grep({ pattern: "needle", path: "gen" })
      assert.isFalse(none.isError)
      assert.strictEqual(none.text, "No matches. Ignored files match, e.g. gen/a.ts; include_ignored shows them.")
      assert.strictEqual((yield* grep({ pattern: "needle", glob: "**/*.log" })).text, "No matches. Ignored files match, e.g. x.log; include_ignored shows them.")
      assert.strictEqual((yield* grep({ pattern: "not to be found" })).text, "No matches.")
      assert.strictEqual((yield* grep({ pattern: "needle", path: "src" })).text, "src/a.ts:3:needle three\nsrc/deep/b.md:1:needle\n[Ignored files match, e.g. src/node_modules/x/i.ts; include_ignored shows them.]")
      assert.strictEqual((yield* grep({ pattern: "needle three" })).text, "src/a.ts:3:needle three")
      yield* w.put("many", "needle\n".repeat(5))
      assert.notInclude((yield* grep({ pattern: "needle" })).text, "Ignored")
      assert.notInclude((yield* grep({ pattern: "none", include_ignored: true })).text, "gnored")
    })))

  it.live("does not wait for a pipe that is named, and skips one in a folder", () =>
    inWorkspace((w) => Effect.gen(function*() {
      execFileSync("mkfifo", [w.at("pipe")])
      yield* w.put("f", "hit\n")
      assert.include((yield* grep({ pattern: "hit", path: "pipe" })).text, "neither a file nor a folder")
      assert.strictEqual((yield* grep({ pattern: "hit" })).text, "f:1:hit")
    })))

  it.live("names a pipe that stands in the place of an ignore file, instead of waiting for its writer", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("sub/f", "hit\n")
      execFileSync("mkfifo", [w.at("sub/.ignore")])
      assert.match((yield* grep({ pattern: "hit" })).text, /sub\/\.ignore is a pipe.*include_ignored/)
      assert.include((yield* grep({ pattern: "hit", include_ignored: true })).text, "sub/f:1:hit")
    })), 30_000)

  it.live("finds in UTF-16, and in text that is no UTF-8", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("a", Buffer.from("\ufeffhit wide\n", "utf16le"))
      yield* w.put("b", Buffer.from("hit caf\xe9\n", "latin1"))
      assert.strictEqual((yield* grep({ pattern: "hit" })).text, "a:1:hit wide\nb:1:hit caf\ufffd")
    })))

  it.effect("looks into ignored files for half a second at most", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.forkChild(grep({ pattern: "x" }), { startImmediately: true })
      yield* TestClock.adjust("499 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(fiber)).text, "No matches. There was no time to look into ignored files; include_ignored does.")
    }).pipe(Effect.provide(fakeOperations(
      ({ args }) => args.includes("--no-ignore") ? Effect.never : Effect.succeed({ code: 1, background: false, left: [] }),
      {
        locate: () => Effect.succeed({ real: "/w", shown: ".", exists: true }),
        info: () => Effect.succeed({ kind: "directory", size: 0, mode: 0o755 })
      }
    ))))

  it.live("ignores case on request, knows look-behind, and takes a pattern that begins with a dash", () =>
    inProject((w) => Effect.gen(function*() {
      assert.strictEqual((yield* grep({ pattern: "NEEDLE T", case_insensitive: true, glob: "a.ts" })).text.split("\n").length, 2)
      assert.strictEqual((yield* grep({ pattern: "(?<=const )needle" })).text, "top.ts:1:const needle = 1")
      yield* w.put("dash", "--files\n")
      assert.strictEqual((yield* grep({ pattern: "--files" })).text, "dash:1:--files")
    })))

  it.live("stops at max_matches and says that there are more", () =>
    inProject((w) => Effect.gen(function*() {
      yield* w.put("many", "hit\n".repeat(100_000))
      const few = (yield* grep({ pattern: "hit", max_matches: 3 })).text.split("\n")
      assert.deepStrictEqual(few.slice(0, 3), ["many:1:hit", "many:2:hit", "many:3:hit"])
      assert.match(few[3] ?? "", /^\[cut:/)
      assert.strictEqual((yield* grep({ pattern: "hit" })).text.split("\n").length, 81)
      assert.strictEqual((yield* grep({ pattern: "hit", max_matches: 9999 })).text.split("\n").length, 201)
    })))

  it.live("shortens long lines, skips binary files and stays within 50 KB", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("long", `hit ${"x".repeat(2_000_000)}\n`)
      yield* w.put("binary", Uint8Array.of(0, 104, 105, 116, 10, 0))
      const { text } = yield* grep({ pattern: "hit" })
      assert.match(text, /^long:1:hit x+/)
      assert.isBelow(text.length, 700)
      yield* w.put("wide", `hit ${"y".repeat(450)}\n`.repeat(200))
      assert.isAtMost(Buffer.byteLength((yield* grep({ pattern: "hit", max_matches: 200 })).text), 51_200)
    })))

  it.live("a pattern that is no regular expression is an error result with ripgrep's reason", () =>
    inProject(() => Effect.gen(function*() {
      const result = yield* grep({ pattern: "(" })
      assert.isTrue(result.isError)
      assert.include(result.text, "(")
      assert.isTrue((yield* grep({ pattern: "x", path: "missing" })).isError)
    })))

  it.live("an ignore file without an end costs no more memory than there is for it, and what to do is said", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("deep/er/a.txt", "needle")
      yield* w.link("/dev/zero", "deep/er/.gitignore")
      for (const result of [yield* grep({ pattern: "needle" }), yield* glob({ pattern: "**/*.txt" })]) {
        assert.isTrue(result.isError)
        assert.match(result.text, /more than 1 GB of memory.*\.gitignore.*include_ignored/)
      }
      assert.strictEqual((yield* grep({ pattern: "needle", include_ignored: true })).text, "deep/er/a.txt:1:needle")
    })), 30_000)

  it.effect("takes rg from the PATH when the package has none, and says how to get it when there is neither", () =>
    Effect.gen(function*() {
      const tried: Array<string> = []
      const search = (onPath: boolean) =>
        makeLocalSearch({
          run: ({ args, command }) => {
            const program = args.find((argument) => argument.endsWith("rg")) ?? command
            tried.push(program)
            return Effect.succeed({ code: program === "rg" && onPath ? 0 : 127, background: false, left: [] })
          }
        }, Effect.succeed("/gone/rg"))
      const request = { args: [], onOutput: () => Effect.void }
      const found = search(true)
      yield* found.ripgrep(request)
      yield* found.ripgrep(request)
      assert.deepStrictEqual(tried, ["/gone/rg", "rg", "rg"])
      const error = yield* Effect.flip(search(false).ripgrep(request))
      assert.include(error.message, "Install it")
    }))
})

describe("glob", () => {
  it.live("matches one folder with *, any depth with **, and never lists ignored files", () =>
    inProject(() => Effect.gen(function*() {
      const files = (args: object) => Effect.map(glob(args as { [key: string]: unknown }), ({ text }) => withoutNote(text).split("\n"))
      assert.deepStrictEqual(yield* files({ pattern: "*.ts" }), ["top.ts"])
      assert.deepStrictEqual(yield* files({ pattern: "**/*.ts" }), [".hidden/c.ts", "src/a.ts", "top.ts"])
      assert.deepStrictEqual(yield* files({ pattern: "src/**" }), ["src/a.ts", "src/deep/b.md"])
      assert.deepStrictEqual(yield* files({ pattern: "src/?.{ts,js}" }), ["src/a.ts"])
      assert.deepStrictEqual(yield* files({ pattern: "**/*.md", path: "src" }), ["src/deep/b.md"])
      assert.deepStrictEqual(yield* files({ pattern: "gen/a.ts" }), ["gen/a.ts"])
    })))

  it.effect("names what is wrong with a pattern that can match nothing", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("a.ts", "")
      for (const [pattern, fault] of [["", "empty"], ["{a,b.ts", "{ without }"], ["src/*.{ts", "{ without }"]] as const) {
        const { isError, text } = yield* glob({ pattern })
        assert.isTrue(isError, pattern)
        assert.include(text, fault)
      }
      for (const pattern of ["[{]*", "\\{*", "*.{ts,js}"]) assert.isFalse((yield* glob({ pattern, include_ignored: true })).isError, pattern)
    })))

  it.live("says what ignore rules hide, and lists it on request", () =>
    inProject(() => Effect.gen(function*() {
      assert.strictEqual((yield* glob({ pattern: "gen/*" })).text, "No files. Ignored files match, e.g. gen/a.ts; include_ignored shows them.")
      assert.strictEqual((yield* glob({ pattern: "**/*.log" })).text, "No files. Ignored files match, e.g. x.log; include_ignored shows them.")
      assert.strictEqual((yield* glob({ pattern: "**/*.md" })).text, "src/deep/b.md")
      assert.strictEqual((yield* glob({ pattern: "**/*.ts", include_ignored: true })).text, ".hidden/c.ts\ngen/a.ts\nsrc/a.ts\nsrc/node_modules/x/i.ts\ntop.ts")
    })))

  it.live("says No files, refuses outside, and stops at 200", () =>
    inProject((w) => Effect.gen(function*() {
      assert.match((yield* glob({ pattern: "none/**" })).text, /^No files\./)
      assert.match((yield* glob({ pattern: "**/*.none" })).text, /^No files\./)
      assert.isTrue((yield* glob({ pattern: "/etc/*" })).isError)
      assert.isTrue((yield* glob({ pattern: "../*" })).isError)
      yield* Effect.forEach(Array.from({ length: 201 }, (_, i) => i), (i) => w.put(`many/${i}`, ""))
      const lines = (yield* glob({ pattern: "many/*" })).text.split("\n")
      assert.strictEqual(lines.length, 201)
      assert.match(lines[200] ?? "", /^\[cut:/)
    })))

  it("a pattern is split before its first wildcard", () => {
    assert.deepStrictEqual(splitPattern("a/b/*.ts"), { folder: "a/b", rest: "*.ts" })
    assert.deepStrictEqual(splitPattern("**"), { folder: "", rest: "**" })
    assert.deepStrictEqual(splitPattern("/*"), { folder: "/", rest: "*" })
    assert.deepStrictEqual(splitPattern("a/b"), { folder: "a/b", rest: "" })
  })
})

describe("ls", () => {
  it.effect("lists sorted, folders and links to folders with a slash, hidden entries too", () =>
    inProject((w) => Effect.gen(function*() {
      yield* w.link("src", "alias")
      yield* w.link("nowhere", "broken")
      assert.deepStrictEqual((yield* ls({})).text.split("\n"), [".gitignore", ".hidden/", "alias/", "broken", "gen/", "src/", "top.ts", "x.log"])
      assert.strictEqual((yield* ls({ path: "@src/deep" })).text, "b.md")
    })))

  it.effect("says when a folder is empty, refuses a file, and stops at 500", () =>
    inWorkspace((w) => Effect.gen(function*() {
      assert.include((yield* ls({})).text, "is empty")
      yield* w.put("f", "")
      assert.isTrue((yield* ls({ path: "f" })).isError)
      assert.isTrue((yield* ls({ path: "none" })).isError)
      yield* Effect.forEach(Array.from({ length: 501 }, (_, i) => i), (i) => w.put(`many/${i}`, ""))
      const lines = (yield* ls({ path: "many" })).text.trimEnd().split("\n")
      assert.strictEqual(lines.length, 501)
      assert.include(lines[500] ?? "", "501 entries")
    })))
})

describe("gathering a program's output", () => {
  it.effect("stops the program as soon as there is enough", () =>
    Effect.gen(function*() {
      let stopped = false
      const { exit, stderr } = yield* gather("endless", (onOutput) =>
        onOutput("stderr", Uint8Array.of(104, 105, 10)).pipe(
          Effect.andThen(onOutput("stdout", Uint8Array.of(1))),
          Effect.andThen(Effect.never),
          Effect.onInterrupt(() => Effect.sync(() => { stopped = true }))
        ), () => false)
      assert.isTrue(stopped)
      assert.isUndefined(exit)
      assert.strictEqual(stderr, "hi")
    }))

  it.effect.prop("records are the same however the bytes are cut", [
    Schema.Array(Schema.Literals(["a", "", "你好", "😀x"])),
    Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 })))
  ], ([texts, sizes]) =>
    Effect.sync(() => {
      const bytes = new TextEncoder().encode(texts.map((text) => `${text}\n`).join(""))
      const seen: Array<string> = []
      const records = makeRecords(10, (record) => { seen.push(record); return true })
      for (let at = 0, turn = 0; at < bytes.length; turn++) {
        const end = at + (sizes[turn % Math.max(1, sizes.length)] ?? 3)
        records.push(bytes.subarray(at, end))
        at = end
      }
      assert.deepStrictEqual(seen, [...texts])
    }))
})
