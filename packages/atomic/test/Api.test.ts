import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, FileSystem } from "effect"
import { editTool, layerLocal } from "@nimlet/tools"
import { type Json, place, screen, startAll, until, workers } from "./kit.ts"

const run = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.scoped(effect).pipe(Effect.provide(workers()))
const module = (body: string, head = "") => `${head}\nexport default (pi) => { ${body} }`
/** A command that tells what an expression gives. */
const say = (name: string, expression: string) =>
  `pi.registerCommand(${JSON.stringify(name)}, { handler: async (args, ctx) => { const value = await (${expression}); ctx.ui.notify(JSON.stringify(value) ?? "undefined") } });`
const bash = { tool: "bash", arguments: { command: "x" } }

describe("tools", () => {
  // A-115 A-116 A-117 A-118 A-119
  it.live.each([["missing", ""], ["null", "parameters: null,"], ["an array", "parameters: [],"], ["a primitive", "parameters: 'x',"]])(
    "parameters that are %s are refused when they are registered",
    ([, parameters]) =>
      run(Effect.gen(function*() {
        const { report } = yield* startAll({ files: { "a.mjs": module(`pi.registerTool({ name: "t", description: "d", ${parameters} execute: async () => ({}) })`) } })
        assert.match(report.warnings[0]!, /the parameters of t must be a schema object/)
      }))
  )

  // A-120 A-121 A-137 A-138 A-139 A-128 A-248
  it.live("what a tool throws is an error for the model, what it returns never is; a cancelled call sees it", () =>
    run(Effect.gen(function*() {
      const front = screen()
      const schema = { anyOf: [{ type: "object", properties: {} }, { type: "object", required: ["x"] }], title: "kept" }
      const { extensions } = yield* startAll({
        screen: front,
        files: {
          "a.mjs": module(`
            let shared = 0
            const tool = (name, execute) => pi.registerTool({ name, label: name, description: name, parameters: ${JSON.stringify(schema)}, execute })
            tool("throws", async () => { shared++; throw new Error("Invalid input: 3") })
            tool("returns", async () => ({ content: [{ type: "text", text: "fine " + shared }], isError: true, is_error: true }))
            tool("waits", (id, params, signal) => new Promise((done) => signal.addEventListener("abort", () => { seen = signal.aborted; done({ content: [] }) })))
            let seen = false
            ${say("seen", "seen")}
          `)
        }
      })
      assert.deepStrictEqual((yield* extensions.tools)[0]?.inputSchema, schema)
      assert.deepStrictEqual(yield* extensions.callTool("throws", {}), { content: [{ type: "text", text: "Invalid input: 3" }], isError: true })
      assert.deepStrictEqual(yield* extensions.callTool("returns", {}), { content: [{ type: "text", text: "fine 1" }], isError: false })
      const call = yield* Effect.forkChild(extensions.callTool("waits", {}))
      yield* until(extensions.figures, ([one]) => one!.requests.open === 1)
      yield* Fiber.interrupt(call)
      yield* extensions.runCommand("seen", "")
      assert.deepStrictEqual(front.notices(), ["true"])
    })))

  //
  it.live("details may be an object, empty, undefined or absent", () =>
    run(Effect.gen(function*() {
      const { extensions } = yield* startAll({
        files: {
          "a.mjs": module(`
            const tool = (name, result) => pi.registerTool({ name, label: name, description: name, parameters: {}, execute: async () => ({ content: [], ...result }) })
            tool("full", { details: { n: 1, left: undefined } }); tool("empty", { details: {} }); tool("undef", { details: undefined }); tool("absent", {})
          `)
        }
      })
      const details = yield* Effect.forEach(["full", "empty", "undef", "absent"], (name) => Effect.map(extensions.callTool(name, {}), (reply) => reply.details))
      assert.deepStrictEqual(details, [{ n: 1 }, {}, undefined, undefined])
    })))

  //
  it.live("progress is told piece by piece: what a later state adds to the one before", () =>
    run(Effect.gen(function*() {
      const { extensions } = yield* startAll({
        files: {
          "a.mjs": module(`pi.registerTool({ name: "t", label: "t", description: "t", parameters: {}, execute: async (id, params, signal, onUpdate) => {
            for (const text of ["one\\n", "one\\ntwo", "three"]) onUpdate({ content: [{ type: "text", text }], details: { last: text } })
            return { content: [] }
          } })`)
        }
      })
      const told: Array<unknown> = []
      yield* extensions.callTool("t", {}, (text, details) => Effect.sync(() => void told.push([text, details])))
      assert.deepStrictEqual(told, [["one\n", { last: "one\n" }], ["two", { last: "one\ntwo" }], ["\nthree", { last: "three" }]])
    })))

  // A-135 A-136 A-199
  it.live("names that no tool of ours has are plain registrations; what could draw them is optional", () =>
    run(Effect.gen(function*() {
      const names = ["powershell", "find", "search", "ask_user_question", "todo"]
      const { extensions, report } = yield* startAll({
        files: {
          "a.mjs": module(`for (const name of ${JSON.stringify(names)}) pi.registerTool({
            name, label: name, description: name, parameters: {}, execute: async () => ({ content: [] }),
            ...(name === "todo" ? { renderCall() {}, renderResult() {}, renderShell: "self" } : {})
          })`)
        }
      })
      assert.deepStrictEqual([(yield* extensions.tools).map(({ name }) => name), report.warnings], [names, []])
    })))

  // A-263 A-264 A-265 A-267 A-280
  it.live("colours and components of its renderers are there to be used", () =>
    run(Effect.gen(function*() {
      const front = screen()
      const { extensions } = yield* startAll({
        screen: front,
        files: {
          "a.ts": module(
            `${say("theme", "['accent', 'toolTitle', 'muted', 'dim', 'warning', 'error', 'success'].every((color) => ctx.ui.theme.fg(color, 'x').includes('x')) && ctx.ui.theme.bold('x').includes('x')")}
             const text = new Text("", 0, 0)
             ${say("text", "(text.setText('one\\ntwo'), text.render(20).map((line) => line.trim()))")}
             ${say("empty", "new Container().render(20)")}`,
            "import { Container, Text } from '@earendil-works/pi-tui'"
          )
        }
      })
      for (const name of ["theme", "text", "empty"]) yield* extensions.runCommand(name, "")
      assert.deepStrictEqual(front.notices(), ["true", "[\"one\",\"two\"]", "[]"])
    })))

  // A-127 A-181 A-184 A-186
  it.live("prepareArguments changes what the model sent before it is validated; without it nothing is asked", () =>
    run(Effect.gen(function*() {
      const { extensions } = yield* startAll({
        files: {
          "a.ts": module(`
            const tool = { label: "l", description: "d", parameters: { type: "object" }, execute: async () => ({ content: [] }) }
            pi.registerTool({ ...tool, name: "deploy_plan", prepareArguments(args) { return typeof args.env === "string" ? { environment: args.env } : args } })
            pi.registerTool({ ...tool, name: "plain" })
          `)
        }
      })
      assert.deepStrictEqual(yield* extensions.prepare("deploy_plan", { env: "prod" }), { environment: "prod" })
      assert.deepStrictEqual(yield* extensions.prepare("deploy_plan", { environment: "x" }), { environment: "x" })
      assert.deepStrictEqual(yield* extensions.prepare("plain", { env: "prod" }), { env: "prod" })
      assert.strictEqual((yield* extensions.figures)[0]!.requests.answered, 2)
    })))

  // A-155 A-157 A-166 A-172 A-173 A-174
  it.live("constrainedSampling keeps its exact own-key state, in inspection and on the wire", () =>
    run(Effect.gen(function*() {
      const front = screen()
      const { extensions } = yield* startAll({
        screen: front,
        session: { read: (key) => key === "tools" ? ["none", "undef", "no", "json"].map((name) => ({ name })) : undefined },
        files: {
          "a.mjs": module(`
            const tool = (name, more) => pi.registerTool({ name, description: "d", parameters: {}, execute: async () => ({}), ...more })
            tool("none", {}); tool("undef", { constrainedSampling: undefined }); tool("no", { constrainedSampling: false, maxResultSizeChars: Infinity })
            tool("json", { constrainedSampling: { type: "json_schema", strict: "require" } })
            ${say("look", "pi.getAllTools().map((tool) => [Object.hasOwn(tool, 'constrainedSampling'), String(tool.constrainedSampling?.strict ?? tool.constrainedSampling)])")}
          `)
        }
      })
      yield* extensions.runCommand("look", "")
      assert.deepStrictEqual(JSON.parse(String(front.notices()[0])), [[false, "undefined"], [true, "undefined"], [true, "false"], [true, "require"]])
      assert.deepStrictEqual((yield* extensions.tools).map(({ extras }) => extras), [
        {},
        { constrained_sampling: { state: "undefined" } },
        { constrained_sampling: { state: "set", value: false }, max_result_chars: "unlimited" },
        { constrained_sampling: { state: "set", value: { type: "json_schema", strict: "require" } } }
      ])
    })))

  // A-097 A-099 A-143 A-145 A-146 A-147 A-148 A-149 A-144 A-140
  it.live("createStructuredOutputTool takes the answer, keeps it, writes it and ends the run", () =>
    run(Effect.gen(function*() {
      const front = screen()
      const fs = yield* FileSystem.FileSystem
      const { extensions, folder } = yield* startAll({
        screen: front,
        files: {
          "a.ts": module(
            `pi.registerTool(createStructuredOutputTool({ schema, capture, output: { outputPath: import.meta.dirname + "/../out.json" } })); ${say("got", "capture")}`,
            `import { createStructuredOutputCapture, createStructuredOutputTool } from "@bastani/atomic"
             const schema = { type: "object", properties: { n: { type: "number" } } }
             const capture = createStructuredOutputCapture()`
          )
        }
      })
      const [tool] = yield* extensions.tools
      assert.deepInclude(tool, { name: "structured_output", inputSchema: { type: "object", properties: { n: { type: "number" } } } })
      assert.deepInclude(tool?.extras, { structured_output: true, max_result_chars: "unlimited" })
      assert.isString(tool?.extras?.prompt_snippet)
      assert.include(tool?.extras?.prompt_guidelines?.[0], "structured_output")
      const reply = yield* extensions.callTool("structured_output", { n: 1 })
      assert.deepInclude(reply, { terminate: true, details: { n: 1 } })
      assert.deepStrictEqual(reply.content, [{ type: "text", text: "{\n  \"n\": 1\n}" }])
      yield* extensions.runCommand("got", "")
      assert.deepInclude(JSON.parse(String(front.notices()[0])), { value: { n: 1 } })
      assert.strictEqual(yield* fs.readFileString(`${folder}/out.json`), "{\n  \"n\": 1\n}\n")
    })))

  // A-234 A-235 A-236 A-237 A-238 A-239 A-240 A-241 A-242 A-243
  it.live("the helpers for bounded output", () =>
    run(Effect.gen(function*() {
      const front = screen()
      const { extensions } = yield* startAll({
        screen: front,
        files: {
          "a.mjs": module(
            say("t", `[A.truncateHead("a\\nb\\nc\\n", { maxLines: 2 }), A.truncateTail("a\\nb\\nc\\n", { maxLines: 2 }), A.truncateHead("long line", { maxBytes: 4 }),
              A.truncateTail("a\\nélong", { maxBytes: 5 }), A.truncateLine("abcdef", 3), [A.formatSize(10), A.formatSize(51200), A.formatSize(1572864)], A.DEFAULT_MAX_BYTES, A.DEFAULT_MAX_LINES]`),
            "import * as A from '@bastani/atomic'"
          )
        }
      })
      yield* extensions.runCommand("t", "")
      const [head, tail, none, cut, line, sizes, bytes, lines] = JSON.parse(String(front.notices()[0]))
      assert.deepInclude(head, { content: "a\nb", truncated: true, truncatedBy: "lines", outputLines: 2, totalLines: 3, outputBytes: 3, totalBytes: 6 })
      assert.deepInclude(tail, { content: "b\nc", truncated: true })
      assert.deepInclude(none, { content: "", firstLineExceedsLimit: true, truncatedBy: "bytes" })
      assert.deepInclude(cut, { content: "long", lastLinePartial: true })
      assert.deepStrictEqual(line, { text: "abc... [truncated]", wasTruncated: true })
      assert.deepStrictEqual([sizes, bytes, lines], [["10B", "50.0KB", "1.5MB"], 51_200, 2_000])
    })))
})

describe("guards", () => {
  it.live("one that throws blocks the call, its own later handlers are skipped; on_failure turns it", () =>
    run(Effect.gen(function*() {
      const guard = "let later = 0; pi.on('tool_call', async () => { throw new Error('broken') }); pi.on('tool_call', () => { later++ }); " + say("later", "later")
      const front = screen()
      const closed = yield* startAll({ screen: front, files: { "guard.mjs": module(guard) } })
      const blocked = yield* closed.hooks.run("tool_call", bash)
      assert.deepInclude(blocked, { _tag: "Blocked", blockedBy: ["guard"] })
      assert.match(blocked._tag === "Blocked" ? blocked.reason : "", /extension 'guard' guards this call and could not decide: .*Error: broken/)
      yield* closed.extensions.runCommand("later", "")
      assert.deepStrictEqual(front.notices(), ["0"])
      const open = yield* startAll({ files: { "guard/package.json": JSON.stringify({ pi: { extensions: ["./g.mjs"], on_failure: "open" } }), "guard/g.mjs": module(guard) } })
      assert.deepInclude(yield* open.watched(open.hooks.run("tool_call", bash)), { _tag: "Continue" })
      assert.match(open.diagnostics[0]!.message, /extension 'guard' threw Error: broken/)
    })))

  it.live("elsewhere a handler that throws is told of and the others go on", () =>
    run(Effect.gen(function*() {
      const { diagnostics, hooks } = yield* startAll({
        files: { "a.mjs": module("pi.on('tool_result', () => { throw new Error('first') }); pi.on('tool_result', () => ({ content: [{ type: 'text', text: 'second' }] }))") }
      })
      const { payload } = yield* hooks.run("tool_result", { ...bash, output: "o", is_error: false })
      assert.strictEqual(payload.output, "second")
      assert.deepStrictEqual(diagnostics.map(({ message }) => message), ["extension 'a': tool_result: Error: first"])
    })))

  //
  it.live("one that never decides ends at its budget, but not while it asks a person", () =>
    run(Effect.gen(function*() {
      const pack = (name: string, body: string) => ({
        [`${name}/package.json`]: JSON.stringify({ pi: { extensions: ["./g.mjs"], response_timeout_seconds: 2 } }),
        [`${name}/g.mjs`]: module(body)
      })
      const stuck = yield* startAll({ files: pack("stuck", "pi.on('tool_call', () => new Promise(() => {}))") })
      const blocked = yield* stuck.hooks.run("tool_call", bash)
      assert.match(blocked._tag === "Blocked" ? blocked.reason : "", /timed out/)
      const asking = yield* startAll({
        screen: screen(() => undefined),
        files: pack("asks", "pi.on('tool_call', async (event, ctx) => { const ok = await ctx.ui.confirm('Sure?', 'x', { timeout: 2500 }); return { block: true, reason: 'answered ' + ok } })")
      })
      assert.deepInclude(yield* asking.hooks.run("tool_call", bash), { reason: "answered false" })
    })))

  // A-197 A-200
  it.live("a tool may take a built-in's name, which is told", () =>
    run(Effect.gen(function*() {
      const { extensions, report } = yield* startAll({
        files: { "a.mjs": module("pi.registerTool({ name: 'read', description: 'mine', parameters: {}, execute: async () => ({ content: 'mine' }) })") }
      })
      assert.deepStrictEqual((yield* extensions.tools).map(({ name }) => name), ["read"])
      assert.deepStrictEqual(report.warnings, ["extension tool 'read' replaces the built-in tool of that name"])
    })))
})

describe("what pi and ctx offer", () => {
  // A-007 A-008 A-009 A-010 A-013 A-014
  it.live("questions, notices, status, widgets, flags, shortcuts", () =>
    run(Effect.gen(function*() {
      const front = screen((kind) => kind === "confirm" ? true : kind === "select" ? "b" : "typed")
      const { extensions } = yield* startAll({
        screen: front,
        session: { read: (key) => key === "flags" ? { deep: "given" } : undefined },
        files: {
          "a.mjs": module(`
            pi.registerFlag("deep", { type: "string" }); pi.registerFlag("wide", { type: "boolean", default: true })
            pi.registerShortcut("ctrl+x", { description: "does it", handler: (ctx) => ctx.ui.notify("pressed") })
            pi.registerCommand("c", { handler: async (args, ctx) => {
              const answers = [await ctx.ui.confirm("T", "m"), await ctx.ui.select("S", ["a", "b"]), await ctx.ui.input("I"), await ctx.ui.editor("E", "pre"), pi.getFlag("deep"), pi.getFlag("wide"), pi.getFlag("other")]
              ctx.ui.notify(JSON.stringify(answers), "info")
              ctx.ui.setStatus("k", ctx.ui.theme.fg("accent", "blue") + " plain"); ctx.ui.setWidget("w", ["one", "two"]); ctx.ui.setStatus("k", undefined)
            } })
          `)
        }
      })
      yield* extensions.runCommand("c", "")
      const extras = (yield* extensions.figures)[0]!.registration!.extras!
      assert.deepStrictEqual(extras.flags.map(({ name, type }) => [name, type]), [["deep", "string"], ["wide", "boolean"]])
      assert.deepInclude(extras.shortcuts[0], { key: "ctrl+x", description: "does it" })
      yield* extensions.invoke("a", extras.shortcuts[0]!.handle, [])
      assert.deepStrictEqual(front.asked, ["confirm: T\nm", "select: S", "input: I", "editor: E"])
      assert.deepStrictEqual(front.shown, [
        ["notify", "info", JSON.stringify([true, "b", "typed", "typed", "given", true, null])],
        ["status", "a:k", "blue plain"],
        ["widget", "a:w", ["one", "two"]],
        ["status", "a:k", ""],
        ["notify", "info", "pressed"]
      ])
    })))

  it.live("without a person questions are answered at once, as cancelled", () =>
    run(Effect.gen(function*() {
      const front = screen()
      const { extensions } = yield* startAll({
        screen: front,
        files: { "a.mjs": module(say("c", "Promise.all([ctx.hasUI, ctx.ui.confirm('a', 'b'), ctx.ui.select('a', ['b']), ctx.ui.input('a'), ctx.ui.editor('a'), ctx.ui.custom(() => {})])")) }
      })
      yield* extensions.runCommand("c", "")
      assert.deepStrictEqual(front.notices(), ["[false,false,null,null,null,null]"])
    })))

  //
  it.live("pi.exec runs by the host: output, code, time limit, a program that is not there, and cancel", () =>
    run(Effect.gen(function*() {
      const front = screen()
      const { extensions } = yield* startAll({
        screen: front,
        files: {
          "a.mjs": module(`${say("ok", "pi.exec('sh', ['-c', 'echo out; echo err >&2; exit 3'])")} ${say("slow", "pi.exec('sleep', ['60'], { timeout: 100 })")} ${say("none", "pi.exec('no-such-program', [])")}
            ${say("abort", "pi.exec('sleep', ['60'], { signal: AbortSignal.timeout(50) }).then((r) => r.killed)")}
            ${say("many", "Promise.all(Array.from({ length: 40 }, (_, n) => pi.exec('echo', [n]))).then((all) => all.map((r) => r.stdout.trim()).join())")}`)
        }
      })
      for (const name of ["ok", "slow", "none", "abort", "many"]) yield* extensions.runCommand(name, "")
      const [ok, slow, none, abort, many] = front.notices().map((text) => JSON.parse(String(text)))
      assert.deepStrictEqual(ok, { stdout: "out\n", stderr: "err\n", code: 3, killed: false, truncated: false })
      assert.deepInclude(slow, { code: 143, killed: true })
      assert.deepInclude(none, { code: 1, killed: false })
      assert.isTrue(abort)
      assert.strictEqual(many, Array.from({ length: 40 }, (_, n) => n).join())
    })))

  it.live("pi.events reaches listeners here and in other extensions; what cannot be said elsewhere is an error", () =>
    run(Effect.gen(function*() {
      const front = screen()
      const { extensions } = yield* startAll({
        screen: front,
        files: {
          "a.mjs": module(`pi.events.on("ch", (data) => { here = data }); let here; pi.registerCommand("emit", { handler: async (_, ctx) => { pi.events.emit("ch", { n: 1 }); ctx.ui.notify("here " + here.n) } })
            ${say("bad", "(() => { try { pi.events.emit('ch', { f() {} }) } catch (error) { return error.name } })()")}`),
          "b.mjs": module("let ctx; pi.on('session_start', (_, c) => { ctx = c }); pi.events.on('ch', (data) => ctx.ui.notify('there ' + data.n))")
        }
      })
      yield* (yield* startedSession)
      yield* extensions.runCommand("emit", "")
      yield* extensions.runCommand("bad", "")
      yield* until(Effect.sync(() => front.notices().length), (count) => count >= 3)
      assert.sameMembers([...front.notices()], ["here 1", "there 1", "\"DataCloneError\""])
    })))

  // A-106 A-107 A-110 A-111 A-112 A-113
  it.live("withFileMutationQueue: two extensions, one file under two names, one at a time", () =>
    run(Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const tool = (name: string) => module(
        `pi.registerTool({ name: "${name}", description: "d", parameters: {}, execute: async (id, { path }) => ({ content: String(await withFileMutationQueue(path, async () => {
          const before = Number(await readFile(path, "utf8").catch(() => "0")); await new Promise((done) => setTimeout(done, 5)); await writeFile(path, String(before + 1)); return "done"
        })) }) })`,
        "import { withFileMutationQueue } from '@bastani/atomic'; import { readFile, writeFile } from 'node:fs/promises'"
      )
      const { extensions, folder } = yield* startAll({ files: { "a.mjs": tool("one"), "b.mjs": tool("two") } })
      yield* fs.writeFileString(`${folder}/count`, "0")
      yield* fs.symlink(`${folder}/count`, `${folder}/alias`)
      const calls = Array.from({ length: 20 }, (_, n) => extensions.callTool(n % 2 === 0 ? "one" : "two", { path: `${folder}/${n % 3 === 0 ? "alias" : "count"}` }))
      const replies = yield* Effect.all(calls, { concurrency: "unbounded" })
      assert.deepStrictEqual(replies[0]?.content, [{ type: "text", text: "done" }])
      assert.strictEqual(yield* fs.readFileString(`${folder}/count`), "20")
    })))

  // A-107 A-108
  it.live("withFileMutationQueue shares its queue with the built-in edit: no change of either is lost", () =>
    run(Effect.gen(function*() {
      const { extensions, folder } = yield* startAll({
        files: {
          "a.mjs": module(
            `pi.registerTool({ name: "slow", description: "d", parameters: {}, execute: async (id, { path }) => ({ content: String(await withFileMutationQueue(path, async () => {
              const before = await readFile(path, "utf8")
              await writeFile(path + ".begun", "")
              while (!existsSync(path + ".go")) await new Promise((done) => setTimeout(done, 5))
              await writeFile(path, before + "three\\n")
              return "done"
            })) }) })`,
            "import { withFileMutationQueue } from '@bastani/atomic'; import { existsSync } from 'node:fs'; import { readFile, writeFile } from 'node:fs/promises'"
          )
        }
      })
      const fs = yield* FileSystem.FileSystem
      const file = `${folder}/list`
      yield* fs.writeFileString(file, "one\ntwo\n")
      const slow = yield* Effect.forkChild(extensions.callTool("slow", { path: file }))
      yield* until(fs.exists(`${file}.begun`), (begun) => begun)
      const edit = yield* editTool.run({ path: "list", old_text: "two", new_text: "2" }, { output: () => Effect.void }).pipe(
        Effect.provide(layerLocal({ workspace: folder })),
        Effect.forkChild
      )
      yield* Effect.yieldNow
      assert.strictEqual(yield* fs.readFileString(file), "one\ntwo\n")
      yield* fs.writeFileString(`${file}.go`, "")
      yield* Fiber.join(slow)
      assert.isFalse((yield* Fiber.join(edit)).isError)
      assert.strictEqual(yield* fs.readFileString(file), "one\n2\nthree\n")
    })))

  // A-057 A-058 A-064 A-068 A-114
  it.live("reads the session, and what it has just said is there at once", () =>
    run(Effect.gen(function*() {
      const front = screen()
      const state: Json = { entries: [{ type: "message", id: "1", message: { role: "user" } }], session: { id: "s1" }, active_tools: ["a"], tools: [{ name: "a" }, { name: "b" }] }
      const called: Array<unknown> = []
      const { extensions } = yield* startAll({
        screen: front,
        session: { read: (key) => state[key], call: (_, method, params) => Effect.sync(() => (called.push([method, params]), {})) },
        files: {
          "a.mjs": module(`
            ${say("entries", "ctx.sessionManager.getBranch().map((entry) => entry.customType ?? entry.id)")}
            ${say("add", "(pi.appendEntry('mine', { n: 1 }), ctx.sessionManager.getEntries().map((entry) => entry.customType ?? entry.id))")}
            ${say("tools", "(pi.setActiveTools(['b', 'nope']), pi.getActiveTools())")}
            ${say("name", "(pi.setSessionName('T'), [pi.getSessionName(), ctx.cwd.length > 0, ctx.sessionManager.getSessionId(), ctx.sessionManager.getLeafId()])")}
          `)
        }
      })
      yield* extensions.runCommand("entries", "")
      yield* extensions.runCommand("add", "")
      state["entries"] = [...(state["entries"] as Array<unknown>), { type: "custom", id: "2", customType: "mine", data: { n: 1 } }]
      yield* extensions.runCommand("entries", "")
      yield* extensions.runCommand("tools", "")
      yield* extensions.runCommand("name", "")
      assert.deepStrictEqual(front.notices(), ["[\"1\"]", "[\"1\",\"mine\"]", "[\"1\",\"mine\"]", "[\"b\"]", "[\"T\",true,\"s1\",\"2\"]"])
      yield* until(Effect.sync(() => called.length), (count) => count === 3)
      assert.deepStrictEqual(called, [["entry.append", { custom_type: "mine", data: { n: 1 } }], ["tools.set_active", { names: ["b"] }], ["session.set_name", { name: "T" }]])
    })))

  it.live("reads what an answer of the host has brought, as soon as it has the answer", () =>
    run(Effect.gen(function*() {
      const front = screen()
      const state: Json = { idle: false, model: { id: "one" } }
      const call = (_: string, method: string) => Effect.sync(() => {
        if (method === "session.wait_idle") state["idle"] = true
        else state["model"] = { id: "two" }
        return { ok: true }
      })
      const { extensions } = yield* startAll({
        screen: front,
        session: { read: (key) => state[key], call },
        files: {
          "a.mjs": module(`pi.registerCommand("c", { handler: async (_args, ctx) => {
            const seen = [ctx.isIdle(), ctx.model.id]
            await ctx.waitForIdle()
            seen.push(ctx.isIdle())
            await pi.setModel({ provider: "p", id: "two" })
            ctx.ui.notify(JSON.stringify([...seen, ctx.model.id]))
          } })`)
        }
      })
      yield* extensions.runCommand("c", "")
      assert.deepStrictEqual(front.notices(), [JSON.stringify([false, "one", true, "two"])])
    })))

  // A-071 A-072 A-077 A-078 A-082 A-085 A-089
  it.live("sessionScopedExtensionState: one object a key and scope", () =>
    run(Effect.gen(function*() {
      const front = screen()
      const { extensions } = yield* startAll({
        screen: front,
        files: {
          "a.mjs": module(
            `const make = () => ({ n: 0 }); const one = state(pi.events, "x:v1", make)
             ${say("s", "[one === state(pi.events, 'x:v1', () => { throw 1 }), one === state(pi.events, 'x:v2', make), one === state({}, 'x:v1', make)]")}`,
            "import { sessionScopedExtensionState as state } from '@earendil-works/pi-coding-agent'"
          )
        }
      })
      yield* extensions.runCommand("s", "")
      assert.deepStrictEqual(front.notices(), ["[true,false,false]"])
    })))

  it.live("two extensions that ask for one session-scoped key get one each, which is told", () =>
    run(Effect.gen(function*() {
      const front = screen()
      const one = (command: string) => module(`const held = state(pi.events, "shared:v1", () => ({ by: "${command}" })); ${say(command, "held.by")}`, "import { sessionScopedExtensionState as state } from '@bastani/atomic'")
      const { diagnostics, extensions } = yield* startAll({ screen: front, files: { "a.mjs": one("a"), "b.mjs": one("b") } })
      yield* extensions.runCommand("a", "")
      yield* extensions.runCommand("b", "")
      assert.deepStrictEqual(front.notices(), ["\"a\"", "\"b\""])
      assert.deepStrictEqual(diagnostics.map(({ message }) => message.replace(/'[ab]'/g, "'x'")), [
        "extension 'x': the session-scoped object 'shared:v1' is not shared with extension 'x', which has one of that key too"
      ])
    })))
})

/** Fires the start of the session at whoever runs. */
const startedSession = Effect.gen(function*() {
  const { Hooks } = yield* Effect.promise(() => import("@nimlet/extension"))
  const hooks = yield* Hooks
  return hooks.run("session_start", { ...place, provider: "p", model: "m", thinking: "" })
})
