import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, expectTypeOf } from "vitest"
import { pictures } from "../../../test/kit/Pictures.ts"
import {
  type BashOperations, type BashToolDetails, type ConstrainedSamplingConfig, createBashTool, createEditTool, createFindTool, createGrepTool, createLocalBashOperations, createLsTool,
  createReadTool, createStructuredOutputTool, createWriteTool, type EditOperations, type FindOperations, type FindToolDetails, type GrepOperations, type GrepToolDetails,
  type LsOperations, type LsToolDetails, type ReadOperations, type ReadToolDetails, type WriteOperations
} from "../src/worker/modules/atomic.ts"
import { globMatcher } from "../src/worker/tools/Glob.ts"
import { startAll, workers } from "./kit.ts"

const folder = realpathSync(mkdtempSync(join(tmpdir(), "created-tools-")))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const put = (name: string, text: string | Uint8Array) => writeFileSync(join(folder, name), text)
const text = (result: { readonly content: ReadonlyArray<unknown> }): string => (result.content[0] as { readonly text: string }).text
const failure = (promise: Promise<unknown>): Promise<string> => promise.then(() => "did not fail", (error: Error) => error.message)

describe("tools that are made on this machine", () => {
  // A-130 A-217 A-218 A-221
  it("read, write, edit, list and run, called directly", async () => {
    const [bash, edit, ls, read, write] = [createBashTool(folder), createEditTool(folder), createLsTool(folder), createReadTool(folder), createWriteTool(folder)]
    assert.include(text(await write.execute("1", { path: "@sub/a.txt", content: "one\ntwo\n" })), "8 bytes")
    assert.strictEqual(text(await read.execute("2", { path: "sub/a.txt" })), "one\ntwo\n")
    assert.strictEqual(text(await read.execute("3", { path: "@sub/a.txt", offset: 2, limit: 1 })), "two")
    const edited = await edit.execute("4", { path: "sub/a.txt", edits: [{ oldText: "two", newText: "2" }] })
    assert.deepStrictEqual([edited.details, readFileSync(join(folder, "sub/a.txt"), "utf8")], [{ diff: "-two\n+2" }, "one\n2\n"])
    assert.match(await failure(edit.execute("5", { path: "sub/a.txt", edits: [{ oldText: "nowhere", newText: "x" }] })), /Could not find/)
    assert.include(text(await ls.execute("6", {})), "sub/")
    assert.strictEqual(text(await bash.execute("7", { command: "echo out; echo err >&2" })).split("\n").sort().join(), ",err,out")
    assert.match(await failure(bash.execute("8", { command: "echo no; exit 3" })), /no\n\n\nCommand exited with code 3/)
    assert.match(await failure(bash.execute("9", { command: "sleep 60", timeout: 0.1 })), /timeout/)
    assert.match(await failure(bash.execute("10", { command: "sleep 60" }, AbortSignal.timeout(50))), /aborted/)
  })

  it("bound what they say, name the file with all of it, and give pictures as images", async () => {
    put("long.txt", Array.from({ length: 3_000 }, (_, n) => `line ${n + 1}`).join("\n"))
    put("one.png", pictures.png)
    put("half.png", pictures.png.subarray(0, 60))
    const long = await createReadTool(folder).execute("1", { path: "long.txt" })
    assert.match(text(long), /line 2000\n\n\[Lines 1-2000 of 3000; go on with offset=2001\]$/)
    expectTypeOf<ReadToolDetails["truncation"]>().not.toBeNever()
    assert.deepInclude((long.details as ReadToolDetails).truncation, { truncated: true, outputLines: 2_000 })
    assert.deepStrictEqual((await createReadTool(folder).execute("2", { path: "one.png" })).content, [{ type: "image", data: pictures.png.toString("base64"), mimeType: "image/png" }])
    await expect(createReadTool(folder).execute("2", { path: "half.png" })).rejects.toThrow(/half\.png begins like image\/png but is no whole image: it ends too early/)
    const ran = await createBashTool(folder).execute("3", { command: "seq 1 200000" })
    const { fullOutputPath } = ran.details as BashToolDetails
    assert.include(text(ran), `200000\n\n[The end of the output; all of it is in ${fullOutputPath}]`)
    assert.strictEqual(readFileSync(fullOutputPath!, "utf8").split("\n").length, 200_001)
  })
})

describe("tools that are made over operations", () => {
  // A-219 A-225
  it("read only files where folders cannot be read, and ask for access first", async () => {
    const asked: Array<string> = []
    const operations: ReadOperations = {
      access: async (path) => void asked.push(`access ${path}`),
      readFile: async (path) => {
        asked.push(`read ${path}`)
        return Buffer.from("from afar")
      }
    }
    assert.strictEqual(text(await createReadTool("/remote", { operations }).execute("1", { path: "a/b" })), "from afar")
    assert.deepStrictEqual(asked, ["access /remote/a/b", "read /remote/a/b"])
  })

  //
  it("list folders where they can, and nothing of this machine", async () => {
    const operations: ReadOperations = {
      access: async () => undefined,
      readFile: async () => "never",
      stat: async () => ({ isDirectory: () => true }),
      listDir: async () => ["b", "a"]
    }
    assert.strictEqual(text(await createReadTool(folder, { operations }).execute("1", { path: "." })), "a\nb")
  })

  // A-230 A-231
  it("run what a spawn hook makes of a command", async () => {
    const ran: Array<unknown> = []
    const operations: BashOperations = {
      exec: async (command, cwd, { env, onData }) => {
        ran.push([command, cwd, env?.["CI"], env?.["PATH"] === process.env["PATH"]])
        onData(Buffer.from("done"))
        return { exitCode: 0 }
      }
    }
    const bash = createBashTool("/here", {
      operations,
      spawnHook: ({ command, cwd, env }: { command: string; cwd: string; env: object }) => ({ command: `source ~/.profile\n${command}`, cwd: `/mnt${cwd}`, env: { ...env, CI: "1" } })
    })
    const updates: Array<string> = []
    assert.strictEqual(text(await bash.execute("1", { command: "make" }, undefined, (partial) => updates.push(text(partial)))), "done")
    assert.deepStrictEqual([ran, updates], [[["source ~/.profile\nmake", "/mnt/here", "1", true]], ["done"]])
  })

  //
  it("have this machine's shell as operations of their own: output, code, and whole groups ended", async () => {
    const { exec } = createLocalBashOperations()
    const chunks: Array<string> = []
    assert.deepStrictEqual(await exec("echo a; exit 4", folder, { onData: (data) => chunks.push(String(Buffer.from(data))) }), { exitCode: 4 })
    assert.strictEqual(chunks.join(""), "a\n")
    const stop = new AbortController()
    const marker = join(folder, "late")
    const running = failure(exec(`(sleep 1; touch ${marker}) & echo on; wait`, folder, { onData: () => stop.abort(), signal: stop.signal }))
    assert.strictEqual(await running, "aborted")
    assert.isFalse(existsSync(marker))
  })

  it("find where they say, and give what surrounds a match from there", async () => {
    const asked: Array<unknown> = []
    const operations: FindOperations = {
      exists: async (path) => path === "/far",
      glob: async (pattern, cwd, { limit }) => {
        asked.push([pattern, cwd, limit])
        return ["/far/a.ts", "b/c.ts", "/far/d.ts"]
      }
    }
    const find = createFindTool("/far", { operations })
    assert.strictEqual(text(await find.execute("1", { pattern: "*.ts" })), "a.ts\nb/c.ts\nd.ts")
    const few = await find.execute("2", { pattern: "*.ts", limit: 2 })
    assert.deepStrictEqual([text(few), few.details], ["a.ts\nb/c.ts\n\n[the first 2 files; narrow the pattern or raise limit]", { resultLimitReached: 2 }])
    assert.deepStrictEqual(asked, [["*.ts", "/far", 1_001], ["*.ts", "/far", 3]])
    assert.match(await failure(find.execute("3", { pattern: "*", path: "/near" })), /There is no \/near/)
    assert.match(await failure(createGrepTool("/far", { operations: { isDirectory: () => Promise.reject(new Error("gone")) } }).execute("4", { pattern: "x" })), /There is no \/far/)
  })
})

describe("patterns for paths", () => {
  it.each([
    ["*.ts", ["a.ts", "x/b.ts"], ["a.tsx", "ts"]],
    ["src/**/*.json", ["src/a.json", "src/x/y/b.json"], ["a.json", "src.json", "lib/src/a.json"]],
    ["**/test?.[mc]js", ["test1.mjs", "a/test2.cjs"], ["test10.mjs", "a/test.mjs"]],
    ["{a,b{1,2}}.md", ["a.md", "b2.md"], ["b.md", "ab1.md"]],
    ["./docs/**", ["docs/a", "docs/a/b"], ["doc", "x/docs/a"]],
    ["[!x](1)+{.txt", ["a(1)+.txt"], ["x(1)+.txt", "a1.txt"]],
    ["a,b", ["a,b"], ["a"]]
  ])("%s", (pattern, meant, others) => {
    const matches = globMatcher(pattern)
    assert.deepStrictEqual([...meant, ...others].filter(matches), meant)
  })
})

describe("in an extension", () => {
  it.live("they search: lines with what surrounds them, names, limits, and nothing that is ignored", () =>
    Effect.scoped(Effect.gen(function*() {
      const { extensions, folder: workspace } = yield* startAll({
        files: {
          "search.ts": `
            import { createFindTool, createGrepTool } from "@bastani/atomic"
            export default (pi) => {
              pi.registerTool(createGrepTool(process.cwd()))
              pi.registerTool(createFindTool(process.cwd()))
            }`
        }
      })
      mkdirSync(join(workspace, "src/deep"), { recursive: true })
      for (const [name, content] of Object.entries({
        ".gitignore": "skipped.ts\n", "src/a.ts": "one\ntwo (x)\nthree\n", "src/deep/b.ts": `TWO ${"y".repeat(600)}\n`, "skipped.ts": "two\n", "src/c.md": "two\n"
      })) writeFileSync(join(workspace, name), content)
      const call = (name: string, args: object) => Effect.map(extensions.callTool(name, { path: workspace, ...args }), (result) => [text(result), result.details, result.isError] as const)
      assert.deepStrictEqual(yield* call("grep", { pattern: "two", glob: "*.ts" }), ["src/a.ts:2: two (x)", {}, false])
      assert.deepStrictEqual(yield* call("grep", { pattern: "(x)", literal: true, context: 1 }), ["src/a.ts-1- one\nsrc/a.ts:2: two (x)\nsrc/a.ts-3- three", {}, false])
      const [many, details] = yield* call("grep", { pattern: "two", ignoreCase: true, limit: 2 })
      assert.match(many, /^src\/a\.ts:2: two \(x\)\nsrc\/c\.md:1: two\n\n\[the first 2 matches/)
      assert.deepStrictEqual(details, { matchLimitReached: 2 })
      assert.deepStrictEqual((yield* call("grep", { pattern: "TWO y" }))[1], { linesTruncated: true })
      assert.strictEqual((yield* call("grep", { pattern: "nothing like it" }))[0], "No matches found")
      assert.match((yield* call("grep", { pattern: "(" }))[0], /regex parse error/)
      assert.deepStrictEqual(yield* call("find", { pattern: "*.ts" }), ["extensions/search.ts\nsrc/a.ts\nsrc/deep/b.ts", {}, false])
      assert.deepStrictEqual((yield* call("find", { pattern: "src/*.{ts,md}" }))[0], "src/a.ts\nsrc/c.md")
      assert.strictEqual((yield* call("find", { pattern: "*.zig" }))[0], "No files found matching pattern")
    })).pipe(Effect.provide(workers())))

  // A-220 A-222
  it.live("they are spread into a tool of its own, which chooses their operations by a flag when it is called", () =>
    Effect.scoped(Effect.gen(function*() {
      const flags: Record<string, unknown> = {}
      const { extensions, folder: workspace } = yield* startAll({
        session: { read: (key) => key === "flags" ? { ...flags } : undefined },
        files: {
          "ssh.ts": `
            import { type BashOperations, createBashTool, createReadTool, type ReadOperations } from "@bastani/atomic"
            export default (pi) => {
              pi.registerFlag("ssh", { type: "string", description: "a machine" })
              const here = createReadTool(process.cwd())
              const there = (host: string): ReadOperations => ({ access: async () => {}, readFile: async (path) => Buffer.from(host + ":" + path) })
              pi.registerTool({
                ...here,
                async execute(id, params, signal, onUpdate) {
                  const host = pi.getFlag("ssh")
                  return (host ? createReadTool("/srv", { operations: there(host) }) : here).execute(id, params, signal, onUpdate)
                }
              })
              const shell: BashOperations = { exec: async (command, cwd, { onData }) => { onData(Buffer.from("ran " + command + " in " + cwd)); return { exitCode: 0 } } }
              pi.registerTool(createBashTool("/srv", { operations: shell }))
            }`
        }
      })
      writeFileSync(join(workspace, "near.txt"), "near")
      const read = (path: string) => Effect.map(extensions.callTool("read", { path }), text)
      assert.strictEqual(yield* read(join(workspace, "near.txt")), "near")
      flags["ssh"] = "far"
      assert.strictEqual(yield* read("a.txt"), "far:/srv/a.txt")
      assert.strictEqual(yield* Effect.map(extensions.callTool("bash", { command: "ls" }), text), "ran ls in /srv")
      const tools = yield* extensions.tools
      assert.deepStrictEqual(tools.map(({ extras, name }) => [name, extras?.constrained_sampling?.value]), [
        ["read", { type: "json_schema", strict: "prefer" }], ["bash", { type: "json_schema", strict: "prefer" }]
      ])
    })).pipe(Effect.provide(workers())))
})

describe("the types of tools", () => {
  // A-158 A-159 A-212 A-213 A-214 A-215 A-216 A-227
  it("are there by their names", () => {
    expectTypeOf<{ readonly type: "json_schema"; readonly strict: "prefer" }>().toExtend<ConstrainedSamplingConfig>()
    expectTypeOf<{ readonly type: "grammar"; readonly variants: { readonly openai_regex: string } }>().toExtend<ConstrainedSamplingConfig>()
    expectTypeOf<{ readonly type: "json_schema"; readonly strict: "always" }>().not.toExtend<ConstrainedSamplingConfig>()
    expectTypeOf<BashToolDetails>().toHaveProperty("fullOutputPath")
    for (const details of [{} as ReadToolDetails, {} as GrepToolDetails, {} as FindToolDetails, {} as LsToolDetails]) assert.isUndefined(details.truncation)
    expectTypeOf<ReadOperations>().toHaveProperty("readFile")
    expectTypeOf<WriteOperations>().toHaveProperty("mkdir")
    expectTypeOf<EditOperations>().toHaveProperty("writeFile")
    expectTypeOf<LsOperations>().toHaveProperty("readdir")
    expectTypeOf<GrepOperations>().toHaveProperty("isDirectory")
    expectTypeOf<FindOperations>().toHaveProperty("glob")
    assert.strictEqual(createStructuredOutputTool({ schema: {} })["name"], "structured_output")
  })
})
