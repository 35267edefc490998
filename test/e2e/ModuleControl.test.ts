/** What a TypeScript extension does with its session and the program: each call of pi and ctx that steers, in the real program. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { checkRecords } from "@nimlet/protocol"
import { startModelStub } from "../kit/ModelStub.ts"
import { anthropic } from "../kit/Providers.ts"
import { startRpc } from "../kit/RpcDriver.ts"
import { makeWorkspace, records, type Workspace } from "../kit/Workspace.ts"

/** An extension that writes down what it hears. */
const noting = (space: Workspace, body: string) =>
  space.file("~/.pi/agent/extensions/a.ts", `import { appendFileSync } from "node:fs"
import type { ExtensionAPI } from "@bastani/atomic"
export default (pi: ExtensionAPI) => {
  const note = (...what: Array<unknown>) => appendFileSync("heard.jsonl", JSON.stringify(what) + "\\n")
  ${body}
}
`)
const heard = (space: Workspace): ReadonlyArray<any> => {
  const file = join(space.work, "heard.jsonl")
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line)) : []
}
const json = ["--mode", "json", "--provider", "offline"]
const idsIn = (stdout: string) => [...new Set(records(stdout).map(({ session_id }) => session_id).filter((id) => id !== undefined))]
/** What a session file holds of the conversation. */
const talk = (space: Workspace, id: unknown): ReadonlyArray<string> =>
  readFileSync(join(space.home, ".nimlet/sessions", `${id}.jsonl`), "utf8").trim().split("\n").map((line) => JSON.parse(line)).flatMap(({ content, role }: any) =>
    role === undefined ? [] : [`${role}: ${content.map(({ text }: any) => text).join("")}`])

describe("another session", () => {
  it("begins before or at an entry (fork), and another file is gone on with (switchSession); withSession runs in the new one", async () => {
    await using space = await makeWorkspace()
    await noting(space, `
      const to = async (change, ctx) => note(await change, ctx.sessionManager.getSessionId())
      const users = (ctx) => ctx.sessionManager.getEntries().filter((entry) => entry.message?.role === "user")
      pi.on("session_start", ({ previousSessionFile, reason }) => note("start", reason, previousSessionFile?.split("/").at(-1) ?? null))
      pi.registerCommand("before", { handler: (_args, ctx) => to(ctx.fork(users(ctx)[1].id), ctx) })
      pi.registerCommand("at", { handler: (_args, ctx) => to(ctx.fork(users(ctx)[1].id, { position: "at", withSession: async (next) => { await next.sendMessage({ customType: "n", content: "hello there", display: true }) } }), ctx) })
      pi.registerCommand("switch", { handler: (args, ctx) => to(ctx.switchSession(args), ctx) })`)
    await space.file("script.json", JSON.stringify({ steps: [{ text: "One." }, { text: "Two." }] }))
    const first = await space.nimlet(["--mode", "json", "--script", "script.json", "first"])
    const [id] = idsIn(first.stdout)
    await space.nimlet(["--mode", "json", "--script", "script.json", "--session", String(id), "second"])
    const go = async (prompt: string) => {
      const run = await space.nimlet([...json, "--session", String(id), prompt])
      expect([run.code, checkRecords(records(run.stdout))]).toEqual([0, []])
      const ids = idsIn(run.stdout)
      expect(ids).toHaveLength(2)
      return ids[1]
    }
    const before = await go("/before")
    expect(talk(space, before)).toEqual(["user: first", "assistant: One."])
    const at = await go("/at")
    expect(talk(space, at)).toEqual(["user: first", "assistant: One.", "user: second"])
    expect(readFileSync(join(space.home, ".nimlet/sessions", `${at}.jsonl`), "utf8")).toContain("hello there")
    expect(await go(`/switch ${join(space.home, ".nimlet/sessions", `${before}.jsonl`)}`)).toBe(before)
    expect(talk(space, id)).toEqual(["user: first", "assistant: One.", "user: second", "assistant: One."])
    const starts = heard(space).filter(([what]) => what === "start").map(([, reason, from]) => [reason, from])
    expect(starts.slice(-6)).toEqual([["resume", null], ["fork", `${id}.jsonl`], ["resume", null], ["fork", `${id}.jsonl`], ["resume", null], ["resume", `${id}.jsonl`]])
    expect(heard(space).filter(([what]) => what !== "start")).toEqual(Array(3).fill([{ cancelled: false }, id]))
  })

  it("that is not there is refused aloud, and the session goes on", async () => {
    await using space = await makeWorkspace()
    await noting(space, `
      const to = (change) => change.then((done) => note(done), (error) => note(error instanceof Error, error.message))
      pi.registerCommand("switch", { handler: (_args, ctx) => to(ctx.switchSession("/nowhere/missing.jsonl")) })
      pi.registerCommand("branch", { handler: (_args, ctx) => to(ctx.fork("missing")) })
      pi.registerCommand("tree", { handler: (_args, ctx) => to(ctx.navigateTree("missing")) })`)
    for (const command of ["/switch", "/branch", "/tree"]) {
      const run = await space.nimlet([...json, command])
      expect([run.code, checkRecords(records(run.stdout)), idsIn(run.stdout).length]).toEqual([0, [], 1])
    }
    expect(heard(space)).toEqual(Array(3).fill([true, expect.stringContaining("missing")]))
  })

  // A-056
  it("has the state that its line of history has: details of results are read again after a fork", async () => {
    await using space = await makeWorkspace()
    await noting(space, `
      let count = 0
      pi.on("session_start", ({ reason }, ctx) => {
        const results = ctx.sessionManager.getBranch().filter((entry) => entry.message?.toolName === "count")
        count = results.at(-1)?.message.details.count ?? 0
        note(reason, count)
      })
      pi.registerTool({ name: "count", label: "Count", description: "Counts.", parameters: { type: "object", properties: {} },
        execute: async () => ({ content: [{ type: "text", text: String(++count) }], details: { count } }) })`)
    await space.file("script.json", JSON.stringify({ steps: [{ tool: "count", args: {} }, { text: "One." }, { tool: "count", args: {} }, { text: "Two." }, { tool: "count", args: {} }, { text: "Three." }] }))
    const rpc = startRpc(space, ["--script", "script.json"])
    for (const message of ["first", "second"]) await rpc.turn(rpc.send("prompt", { message }))
    await rpc.ask("fork", { message: 2 })
    await rpc.turn(rpc.send("prompt", { message: "another second" }))
    expect(heard(space)).toEqual([["startup", 0], ["fork", 1]])
    expect(rpc.all().filter(({ type }) => type === "tool_result").map(({ output }) => output)).toEqual(["1", "2", "2"])
    await rpc.end()
  })

  it("goes back to an entry (navigateTree), which its handlers hear of before and after", async () => {
    await using space = await makeWorkspace()
    await noting(space, `
      pi.on("session_before_tree", ({ preparation }) => { note("before", typeof preparation.targetId) })
      pi.on("session_tree", ({ newLeafId, oldLeafId }) => { note("after", newLeafId !== oldLeafId) })
      pi.registerCommand("back", { handler: async (_args, ctx) => { note(await ctx.navigateTree(ctx.sessionManager.getEntries().find((entry) => entry.message?.role === "assistant").id)) } })`)
    const first = await space.nimlet([...json, "hello"])
    const [id] = idsIn(first.stdout)
    await space.nimlet([...json, "--session", String(id), "list the files"])
    const run = await space.nimlet([...json, "--session", String(id), "/back"])
    expect([run.code, checkRecords(records(run.stdout))]).toEqual([0, []])
    const there = idsIn(run.stdout)[1]
    expect(talk(space, there).map((line) => line.split(":")[0])).toEqual(["user", "assistant"])
    expect(heard(space)).toEqual(expect.arrayContaining([["before", "string"], ["after", true], [{ cancelled: false }]]))
  })
})

describe("the run", () => {
  it("is waited for by a command beside it (waitForIdle), and broken off (abort)", async () => {
    await using space = await makeWorkspace()
    await noting(space, `
      pi.registerCommand("wait", { handler: async (_args, ctx) => { note("before", ctx.isIdle()); await ctx.waitForIdle(); note("after", ctx.isIdle()) } })
      pi.registerCommand("stop", { handler: async (_args, ctx) => { ctx.abort(); await ctx.waitForIdle(); note("stopped", ctx.isIdle()) } })`)
    await space.file("script.json", JSON.stringify({ steps: [{ tool: "bash", args: { command: "touch begun; sleep 30" } }] }))
    const rpc = startRpc(space, ["--script", "script.json"])
    const id = rpc.send("prompt", { message: "go" })
    await rpc.until(({ type }) => type === "tool_call")
    const waiting = rpc.ask("command", { name: "wait", arguments: "" })
    const stopping = rpc.ask("command", { name: "stop", arguments: "" })
    expect(await rpc.turn(id)).toMatchObject({ success: false })
    expect([await waiting, await stopping]).toMatchObject([{ ok: true }, { ok: true }])
    expect(heard(space)).toEqual(expect.arrayContaining([["before", false], ["after", true], ["stopped", true]]))
    // Nothing runs: there is nothing to break off, and the command itself is not.
    await rpc.turn(rpc.send("prompt", { message: "/stop" }))
    expect(heard(space).slice(3)).toEqual([["stopped", true]])
    const { code, stdout } = await rpc.end()
    expect([code, checkRecords(records(stdout), { mode: "rpc" })]).toEqual([0, []])
  })

  it("is the program's last, when it is to end (shutdown)", async () => {
    await using space = await makeWorkspace()
    await noting(space, `
      pi.on("tool_execution_start", (_event, ctx) => ctx.shutdown())
      pi.on("session_shutdown", ({ reason }) => note(reason))`)
    await space.file("script.json", JSON.stringify({ steps: [{ tool: "bash", args: { command: "echo hi" } }, { text: "Done." }] }))
    const rpc = startRpc(space, ["--script", "script.json"])
    rpc.send("prompt", { message: "go" })
    const { code, stdout } = await rpc.running.ended
    expect(code).toBe(0)
    expect(checkRecords(records(stdout), { mode: "rpc" })).toEqual([])
    expect(records(stdout).some(({ content, type }) => type === "message" && content === "Done.")).toBe(true)
    expect(heard(space)).toEqual([["quit"]])
  })
})

describe("commands", () => {
  it("of one name are all there, numbered, each with its own work", async () => {
    await using space = await makeWorkspace()
    for (const name of ["a", "b"]) {
      await space.file(`~/.pi/agent/extensions/${name}.ts`, `import { appendFileSync } from "node:fs"
export default (pi) => pi.registerCommand("both", { handler: (args) => appendFileSync("heard.jsonl", JSON.stringify(["${name}", args, pi.getCommands().filter(({ source }) => source === "extension").map(({ name }) => name)]) + "\\n") })`)
    }
    for (const command of ["/both:1 x", "/both:2 y"]) expect((await space.nimlet([...json, command])).code).toBe(0)
    expect(heard(space)).toEqual([["a", "x", ["both:1", "both:2"]], ["b", "y", ["both:1", "both:2"]]])
    expect((await space.nimlet([...json, "/both"])).code).toBe(1)
  })
})

describe("the conversation", () => {
  it("is made shorter with the extension's words (compact), which says how it went", async () => {
    await using stub = await startModelStub([{ text: "An answer. ".repeat(400) }, { text: "Another. ".repeat(400) }, { text: "In short." }])
    await using space = await makeWorkspace()
    await noting(space, `
      pi.registerCommand("short", { handler: (_args, ctx) => new Promise<void>((done) => {
        ctx.compact({ customInstructions: "mind the names", onComplete: (result) => { note("complete", result); done() }, onError: (error) => { note("error", error.message); done() } })
      }) })`)
    await space.file("~/.nimlet/config.json", JSON.stringify({ agent: { keep_recent_tokens: 10 } }))
    const rpc = startRpc(space, anthropic.args, { env: anthropic.env(stub.url) })
    await rpc.turn(rpc.send("prompt", { message: "/short" }))
    for (const message of ["one", "two"]) await rpc.turn(rpc.send("prompt", { message }))
    await rpc.turn(rpc.send("prompt", { message: "/short" }))
    expect(heard(space)).toHaveLength(2)
    expect(heard(space)[1]).toEqual(["complete", expect.objectContaining({ did_compact: true })])
    expect(JSON.stringify(stub.requests.at(-1)!.body)).toContain("mind the names")
    await rpc.end()
  })

  it("has another model and name when the extension says so (setModel, setSessionName), which handlers hear of", async () => {
    await using stub = await startModelStub([{ text: "Hello." }])
    await using space = await makeWorkspace()
    await noting(space, `
      pi.on("model_select", ({ model, previousModel }) => { note("model", model.id, previousModel?.id) })
      pi.on("session_info_changed", ({ name }) => { note("name", name) })
      pi.registerCommand("change", { handler: async (_args, ctx) => {
        pi.setSessionName("All about it")
        note("set", await pi.setModel(ctx.modelRegistry.find("anthropic", "claude-opus-4-6")), await pi.setModel({ provider: "nobody", id: "none" }), ctx.model.id)
      } })`)
    const rpc = startRpc(space, anthropic.args, { env: anthropic.env(stub.url) })
    await rpc.turn(rpc.send("prompt", { message: "/change" }))
    await rpc.turn(rpc.send("prompt", { message: "hi" }))
    expect(stub.requests[0]!.body).toMatchObject({ model: "claude-opus-4-6" })
    expect(heard(space)).toEqual(expect.arrayContaining([["name", "All about it"], ["model", "claude-opus-4-6", "claude-sonnet-4-6"], ["set", true, false, "claude-opus-4-6"]]))
    await rpc.end()
  })
})

describe("resources_discover", () => {
  it("brings skills and templates from folders of the extension's own; a theme is told of", async () => {
    await using stub = await startModelStub([{ text: "ok" }, { text: "ok" }])
    await using space = await makeWorkspace()
    const own = "~/.pi/agent/extensions/pack"
    await space.file(`${own}/index.ts`, `import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
export default (pi) => {
  const here = dirname(fileURLToPath(import.meta.url))
  pi.on("resources_discover", () => ({ skillPaths: [join(here, "skills")], promptPaths: [join(here, "mark.md")], themePaths: [join(here, "neon.json")] }))
}`)
    await space.file(`${own}/skills/knots/SKILL.md`, "---\nname: knots\ndescription: Ties knots\n---\nOver and under.\n")
    await space.file(`${own}/mark.md`, "---\ndescription: marks\n---\nMark $1 well.\n")
    await space.file(`${own}/neon.json`, "{}")
    const run = await space.nimlet(["--mode", "json", ...anthropic.args, "/mark this"], { env: anthropic.env(stub.url) })
    expect(run.code).toBe(0)
    const { messages, system } = stub.requests[0]!.body as any
    expect(JSON.stringify(system)).toContain("Ties knots")
    expect(JSON.stringify(messages)).toContain("Mark this well.")
    expect(run.stdout).toContain(`the theme ${join(space.home, own.slice(2), "neon.json")} of an extension is not used`)
    const knots = await space.nimlet(["--mode", "json", ...anthropic.args, "/skill:knots bowline"], { env: anthropic.env(stub.url) })
    expect(knots.code).toBe(0)
    expect(JSON.stringify((stub.requests[1]!.body as any).messages)).toMatch(/Over and under\..*bowline/)
    expect(readdirSync(join(space.home, ".nimlet/sessions"))).not.toEqual([])
  })
})
