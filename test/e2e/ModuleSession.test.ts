/** What a TypeScript extension is told of a run and does with its session, in the real program. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { checkRecords } from "@nimlet/protocol"
import { makeWorkspace, records } from "../kit/Workspace.ts"

const json = ["--mode", "json", "--script", "script.json"]
const steps = (...all: ReadonlyArray<object>) => JSON.stringify({ steps: all })
const readLines = (file: string): ReadonlyArray<any> => existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line)) : []

/** Writes down what its handlers are given. */
const writing = (body: string) => `import { appendFileSync } from "node:fs"
import type { ExtensionAPI } from "@bastani/atomic"
export default async (pi: ExtensionAPI) => {
  const note = (...what: Array<unknown>) => appendFileSync("heard.jsonl", JSON.stringify(what) + "\\n")
  ${body}
}
`

const events = ["session_start", "resources_discover", "input", "before_agent_start", "agent_start", "turn_start", "context", "message_start", "message_update", "message_end", "tool_call",
  "tool_execution_start", "tool_execution_update", "tool_execution_end", "tool_result", "turn_end", "agent_end", "agent_settled", "session_info_changed", "session_shutdown"]

describe("a TypeScript extension in a session", () => {
  // A-005 A-006 A-028 A-029 A-068
  it("hears of a run from its start to its end, with what seed 004 gives each event", async () => {
    await using space = await makeWorkspace()
    await space.file("~/.pi/agent/extensions/a.ts", writing(`
      await new Promise((done) => setTimeout(done, 20))
      note("ready")
      for (const name of ${JSON.stringify(events)}) pi.on(name as "session_start", (event) => { note(name, event) })`))
    await space.file("script.json", steps({ deltas: ["I ", "look."], tool: "bash", args: { command: "echo hi" } }, { text: "Done." }))
    const run = await space.nimlet([...json, "go"])
    expect(checkRecords(records(run.stdout))).toEqual([])
    expect(run.code).toBe(0)
    const heard = readLines(join(space.work, "heard.jsonl"))
    const names = heard.map(([name]) => name).filter((name) => name !== "message_update" && name !== "tool_execution_update")
    expect(names).toEqual([
      "ready", "session_start", "resources_discover", "input",
      "message_start", "message_end", "before_agent_start", "agent_start",
      "turn_start", "context", "message_start", "message_end", "tool_execution_start", "tool_call", "tool_result", "tool_execution_end", "message_start", "message_end", "turn_end",
      "turn_start", "context", "message_start", "message_end", "turn_end",
      "agent_end", "agent_settled", "session_shutdown"
    ])
    const of = (name: string) => heard.filter(([each]) => each === name).map(([, event]) => event)
    expect(of("session_start")).toEqual([expect.objectContaining({ type: "session_start", reason: "startup" })])
    expect(of("turn_end").map(({ message, toolResults, turnIndex }) => [turnIndex, message.role, toolResults.length])).toEqual([[0, "assistant", 1], [1, "assistant", 0]])
    expect(of("tool_call")[0]).toMatchObject({ toolName: "bash", input: { command: "echo hi" }, toolCallId: of("tool_result")[0].toolCallId })
    expect(of("tool_result")[0]).toMatchObject({ isError: false, details: { exit_code: 0 } })
    expect(of("context").map(({ messages }) => messages.map(({ role }: { role: string }) => role))).toEqual([["user"], ["user", "assistant", "toolResult"]])
    expect(of("agent_end")[0].messages.map(({ role }: { role: string }) => role)).toEqual(["user", "assistant", "toolResult", "assistant"])
    const grown = of("message_update").filter(({ assistantMessageEvent }) => assistantMessageEvent.type === "text_delta")
    expect(grown.map(({ assistantMessageEvent }) => assistantMessageEvent.delta).join("")).toBe("I look.Done.")
    expect(grown.at(-1).message.content).toEqual([{ type: "text", text: "Done." }])
  })

  // A-014 A-055 A-057 A-058 A-064
  it("reads and writes its session: entries, labels, title, tools, models, flags; all of it is there after a restart", async () => {
    await using space = await makeWorkspace()
    await space.file("~/.pi/agent/extensions/a.ts", writing(`
      pi.registerFlag("deep", { type: "string" })
      pi.registerFlag("wide", { type: "boolean" })
      pi.registerTool({ name: "my_tool", label: "Mine", description: "Keeps state.", parameters: { type: "object", properties: {} },
        execute: async () => ({ content: [{ type: "text", text: "kept" }], details: { items: ["x"] } }) })
      pi.registerCommand("mark", { handler: async (args, ctx) => {
        pi.appendEntry("mine", { n: 1 })
        pi.setSessionName("  Marked \\n well ")
        pi.setLabel(ctx.sessionManager.getLeafId()!, "here")
        pi.setThinkingLevel("high")
        note(pi.getFlag("deep"), pi.getFlag("wide"), args)
      } })
      pi.registerCommand("tell", { handler: async (_args, ctx) => {
        const branch = ctx.sessionManager.getBranch()
        note(branch.filter((entry) => entry.message?.toolName === "my_tool").map((entry) => entry.message.details), branch.map((entry) => [entry.type, entry.customType ?? entry.message?.role]), pi.getSessionName(), ctx.sessionManager.getLabel(branch[3].id), ctx.model?.id, ctx.mode, ctx.isIdle(),
          pi.getActiveTools().includes("read"), pi.getCommands().map((one) => one.name), ctx.modelRegistry.find("offline", "offline")?.id, ctx.getContextUsage()?.tokens > 0, ctx.getSystemPrompt().includes("Available tools"))
      } })`))
    await space.file("script.json", steps({ tool: "my_tool", args: {} }, { text: "Hello." }))
    const first = await space.nimlet([...json, "hi"])
    expect(first.code).toBe(0)
    const id = records(first.stdout)[0]!["session_id"] as string
    const marked = await space.nimlet(["--mode", "json", "--provider", "offline", "--session", id, "--deep", "value", "--wide", "/mark this"])
    expect(marked.stderr).toBe("")
    expect(marked.code).toBe(0)
    const told = await space.nimlet(["--mode", "json", "--provider", "offline", "--session", id, "/tell"])
    expect(told.code).toBe(0)
    const [flags, state] = readLines(join(space.work, "heard.jsonl"))
    expect(flags).toEqual(["value", true, "this"])
    expect(state).toEqual([
      [{ items: ["x"] }],
      expect.arrayContaining([["message", "user"], ["message", "assistant"], ["custom", "mine"], ["label", null], ["session_info", null]]),
      "Marked well", "here", "offline", "json", true, true, ["mark", "tell"], "offline", true, true
    ])
  })

  //
  it("a flag that nobody has, or one without its value, is wrong usage", async () => {
    await using space = await makeWorkspace()
    await space.file("~/.pi/agent/extensions/a.ts", writing("pi.registerFlag('deep', { type: 'string' })"))
    const unknown = await space.nimlet(["--mode", "json", "--provider", "offline", "--nope", "hi"])
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("Unknown option: --nope")])
    const bare = await space.nimlet(["--mode", "json", "--provider", "offline", "--deep"], { stdin: "hi" })
    expect([bare.code, bare.stderr]).toEqual([2, expect.stringContaining("--deep needs a value")])
    const none = await space.nimlet(["--no-extensions", "--deep", "x", "hi"])
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("Unknown option: --deep")])
  })

  //
  it("has its flag's value in RPC mode, too, where words beside it are no prompt", async () => {
    await using space = await makeWorkspace()
    await space.file("~/.pi/agent/extensions/a.ts", writing(`
      pi.registerFlag("deep", { type: "string" })
      pi.registerFlag("wide", { type: "boolean" })
      pi.on("session_start", () => { note(pi.getFlag("deep"), pi.getFlag("wide")) })`))
    const right = await space.nimlet(["--mode", "rpc", "--provider", "offline", "--deep", "value", "--wide"], { stdin: "" })
    expect([right.code, right.stderr, readLines(join(space.work, "heard.jsonl"))]).toEqual([0, "", [["value", true]]])
    for (const args of [["words"], ["--wide", "words"], ["--deep", "value", "words"]]) {
      const wrong = await space.nimlet(["--mode", "rpc", "--provider", "offline", ...args], { stdin: "" })
      expect([args, wrong.code, wrong.stderr]).toEqual([args, 2, expect.stringContaining("takes prompts as commands on standard input")])
    }
  })

  it("changes the session from a command, which says its last words in the new one; and reloads", async () => {
    await using space = await makeWorkspace()
    await space.file("~/.pi/agent/extensions/a.ts", writing(`
      pi.on("session_start", ({ reason }, ctx) => { note("start", reason, ctx.sessionManager.getEntries().map((entry) => entry.customType ?? entry.type)) })
      pi.on("session_shutdown", ({ reason }) => { note("shutdown", reason) })
      pi.registerCommand("go", { handler: async (_args, ctx) => {
        const { cancelled } = await ctx.newSession({ setup: async (sm) => { sm.appendCustomEntry("planted", 1) }, withSession: async (next) => { next.sendUserMessage("in the new one") } })
        note("went", !cancelled)
      } })
      pi.registerCommand("again", { handler: async (_args, ctx) => { await ctx.reload(); note("asked") } })
      pi.registerCommand("back", { handler: async (_args, ctx) => {
        const first = ctx.sessionManager.getEntries().find((entry) => entry.type === "message")
        note("walked", await ctx.navigateTree(first.id))
      } })
      pi.on("session_before_tree", () => ({ cancel: true }))`))
    await space.file("script.json", steps({ text: "Hello." }))
    const run = await space.nimlet([...json, "/go"])
    const all = records(run.stdout)
    expect(checkRecords(all)).toEqual([])
    expect(run.code).toBe(0)
    const [from, to] = [...new Set(all.map(({ session_id }) => session_id).filter((id) => id !== undefined))]
    expect(to).not.toBe(from)
    expect(all.find(({ role, type }) => type === "message" && role === "assistant")).toMatchObject({ content: "Hello.", session_id: to })
    const file = join(space.work, "heard.jsonl")
    expect(readLines(file)).toEqual([
      ["start", "startup", []], ["went", true], ["shutdown", "new"], ["start", "new", ["planted"]], ["shutdown", "quit"]
    ])
    await space.nimlet(["--mode", "json", "--provider", "offline", "/again"])
    expect(readLines(file).slice(5).filter(([what]) => what !== "asked")).toEqual([["start", "startup", []], ["shutdown", "reload"], ["start", "reload", []], ["shutdown", "quit"]])
    const walked = await space.nimlet(["--mode", "json", "--provider", "offline", "--session", String(to), "/back"])
    expect(walked.code).toBe(0)
    expect(readLines(file)).toContainEqual(["walked", { cancelled: true }])
  })

  it("does what was asked by itself, says something to the model, and changes what a request holds", async () => {
    await using space = await makeWorkspace()
    await space.file("~/.pi/agent/extensions/a.ts", writing(`
      pi.on("input", ({ text }) => text === "ping" ? { action: "handled" } : { action: "continue" })
      pi.on("before_agent_start", () => ({ message: { customType: "note", content: "mind this", display: false, details: { n: 1 } } }))
      pi.on("context", ({ messages }) => ({ messages: [...messages, { role: "user", content: [{ type: "text", text: "and that" }], timestamp: 0 }] }))
      pi.on("before_provider_request", ({ payload }) => { note(payload) })
      pi.registerCommand("ask", { handler: async () => { pi.sendUserMessage("say it") } })`))
    const handled = await space.nimlet(["--mode", "json", "--provider", "offline", "ping"])
    expect(handled.code).toBe(0)
    expect(records(handled.stdout).map(({ type }) => type)).not.toContain("step_start")
    await space.file("script.json", steps({ text: "Hello." }))
    const run = await space.nimlet([...json, "/ask"])
    expect(run.code).toBe(0)
    expect(checkRecords(records(run.stdout))).toEqual([])
    expect(records(run.stdout).filter(({ role, type }) => type === "message" && role === "assistant").map(({ content }) => content)).toEqual(["Hello."])
    const id = records(run.stdout)[0]!["session_id"] as string
    const saved = readLines(join(space.home, ".nimlet/sessions", `${id}.jsonl`))
    expect(saved.find(({ type }) => type === "custom_message")).toMatchObject({ custom_type: "note", display: false, details: { n: 1 } })
  })
})
