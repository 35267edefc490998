/** Tools of extensions in whole runs: what of their results reaches the model, when they do not answer, and what runs side by side. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { startModelStub } from "../kit/ModelStub.ts"
import { anthropic, responses } from "../kit/Providers.ts"
import { heardBy, installPuppet } from "../kit/Puppet.ts"
import { checkRecords } from "@nimlet/protocol"
import { lastingSurvivors, makeWorkspace, records } from "../kit/Workspace.ts"

const tool = (name: string, more: object = {}) => ({ name, description: `${name}.`, input_schema: { type: "object" }, ...more })
const resultsOf = (stdout: string) => records(stdout).filter((record) => record["type"] === "tool_result")
/** One pixel. */
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

describe("the result of an extension's tool", () => {
  // X-024 X-025 X-097
  it.each([anthropic, responses])("reaches the model with all its text parts in order, and its images ($name)", async (provider) => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ tools: [{ name: "look" }] }, { text: "I see." }])
    const text = (text: string) => ({ type: "text", text })
    await installPuppet(space, "eyes", {
      register: { tools: [tool("look")] },
      replies: { look: [{ content: [text("first part"), text("second part"), { type: "image", mimeType: "image/png", data: png }] }] }
    })
    const run = await space.nimlet(["--mode", "json", ...provider.args, "look"], { env: provider.env(stub.url) })
    expect(run.code).toBe(0)
    expect(resultsOf(run.stdout)).toMatchObject([{ output: "first part\nsecond part", is_error: false }])
    expect(stub.requests.map(({ problem, status }) => problem ?? status)).toEqual([200, 200])
    const sent = JSON.stringify(stub.requests[1]!.body)
    expect(sent).toMatch(/first part.*second part/)
    expect(sent).toContain(png)
  })

  // E-298
  it("is a failed call that names the extension and its limit when it does not answer, and the turn goes on", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ tools: [{ name: "sleep" }] }, { text: "Then without." }])
    await installPuppet(space, "mute", { manifest: { response_timeout_seconds: 1 }, register: { tools: [tool("sleep")] }, replies: { sleep: [] } })
    const run = await space.nimlet(["--mode", "json", ...anthropic.args, "go"], { env: anthropic.env(stub.url) })
    expect(run.code).toBe(0)
    expect(resultsOf(run.stdout)).toMatchObject([{ output: "extension response timed out: 'mute' gave no answer within 1 s", is_error: true }])
    expect(JSON.stringify(stub.requests[1]!.body)).toContain("extension response timed out")
    expect(records(run.stdout).findLast((record) => record["type"] === "message")).toMatchObject({ content: "Then without." })
    const lines = heardBy(space).map(({ line }) => line)
    expect(lines.find(({ type }) => type === "cancel").id).toBe(lines.find(({ type }) => type === "tool").id)
  })
})

describe("tools that only read", () => {
  /** Answers no call before it has heard of all of them: run one after the other, it would wait for ever. */
  const meeting = `#!/usr/bin/env node
import { createInterface } from "node:readline"
const send = (message) => console.log(JSON.stringify(message))
const tool = (name, capabilities) => ({ name, description: name + ".", input_schema: { type: "object" }, capabilities })
send({ type: "register", commands: [], tools: [tool("meet", ["read"]), tool("greet", ["read", "user"])], events: ["tool_call", "tool_result"] })
const waiting = []
for await (const line of createInterface({ input: process.stdin })) {
  const { type, id, name, event, payload } = JSON.parse(line)
  if (type === "event" && event === "tool_call") send({ type: "response", id, entry: { asked: payload.tool } })
  else if (type === "event") send({ type: "response", id, output: payload.output + " (seen)" })
  if (type !== "tool") continue
  waiting.push(id)
  if (waiting.length === 3) for (const each of waiting) send({ type: "response", id: each, content: "all are here" })
}
`

  // E-175
  it("run side by side when the model wants several in one step, extensions' among them, each with its own hooks", async () => {
    await using space = await makeWorkspace()
    await space.file("a.txt", "alpha\n")
    await space.extension("meeting", { manifest: { name: "meeting", command: ["./x.mjs"], response_timeout_seconds: 5 }, files: { "x.mjs": meeting } })
    const tools = [
      { name: "meet", args: {} }, { name: "read", args: { path: "a.txt" } }, { name: "grep", args: { pattern: "alpha" } }, { name: "greet", args: {} },
      { name: "glob", args: { pattern: "*" } }, { name: "meet", args: {} }
    ]
    await space.file("script.json", JSON.stringify({ steps: [{ tools }, { text: "done" }] }))
    const run = await space.nimlet(["--mode", "json", "--script", "script.json", "go"])
    expect(run.code).toBe(0)
    expect(checkRecords(records(run.stdout))).toEqual([])
    const outputs = resultsOf(run.stdout).map((record) => String(record["output"]))
    expect(outputs.filter((output) => output === "all are here (seen)")).toHaveLength(3)
    expect(outputs.filter((output) => output.endsWith(" (seen)"))).toHaveLength(tools.length)
    const id = records(run.stdout)[0]!["session_id"] as string
    const asked = readFileSync(join(space.home, ".nimlet/sessions", `${id}.jsonl`), "utf8").split("\n").filter((line) => line.includes(`"asked"`)).map((line) => JSON.parse(line).data.asked)
    expect(asked.toSorted()).toEqual(tools.map(({ name }) => name).toSorted())
  })
})

describe("what an extension logs", () => {
  // E-306
  it("is in its file when it goes to standard error, and costs a warning on standard output; neither is on ours", async () => {
    await using space = await makeWorkspace()
    const program = `#!/usr/bin/env node
import { createInterface } from "node:readline"
const send = (message) => console.log(JSON.stringify(message))
console.error("log: starting")
send({ type: "register", commands: [], events: ["turn_start"] })
for await (const line of createInterface({ input: process.stdin })) {
  const { type, id } = JSON.parse(line)
  if (type !== "event") continue
  console.error("log: a turn")
  console.log("log: the wrong place")
  send({ type: "response", id })
}
`
    await space.extension("logs", { manifest: { name: "logs", command: ["./x.mjs"] }, files: { "x.mjs": program } })
    const run = await space.nimlet(["-p", "--provider", "offline", "list the files"])
    expect(run.code).toBe(0)
    expect(run.stdout).not.toContain("log:")
    expect(run.stderr.split("\n").filter((line) => line.includes("log:"))).toEqual([
      "warning: extension 'logs' wrote a line that is not a JSON object: log: the wrong place (standard output is for protocol lines only; logs belong on standard error)"
    ])
    expect(readFileSync(join(space.home, ".nimlet/logs/logs.log"), "utf8")).toBe("log: starting\nlog: a turn\n")
  })
})

describe("an extension that fails in every event", () => {
  const events = [
    "session_start", "input", "before_agent_start", "turn_start", "context", "before_provider_request", "before_provider_headers", "after_provider_response",
    "message_end", "tool_call", "tool_result", "turn_end", "agent_settled", "session_shutdown", "session_end"
  ]
  /** Each with the events it hears of: a mute one takes its second every time. */
  const ways = [
    ["by ending", events, "process.exit(3)"],
    ["by answers of the wrong types", events, `send({ type: "response", id, allow: 1, reason: 2, text: {}, arguments: [], output: 3, is_error: "x", system: "s", messages: {}, payload: [], headers: 1, system_prompt: 7, message: "m", compaction: "c", status: 1, widget: 2, notification: 3, user_message: 4 })`],
    ["by no answer", ["session_start", "turn_start", "tool_call", "message_end", "session_end"], ""]
  ] as const
  it.each(ways)("costs its own part and nothing else (%s)", async (_, names, way) => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ tools: [{ name: "bash", args: { command: "echo fine" } }] }, { text: "still here" }])
    const program = `#!/usr/bin/env node
import { createInterface } from "node:readline"
const send = (message) => console.log(JSON.stringify(message))
send({ type: "register", commands: [], events: ${JSON.stringify(names)} })
for await (const line of createInterface({ input: process.stdin })) {
  const { id, type } = JSON.parse(line)
  if (type !== "event") continue
  ${way}
}
`
    await space.extension("fragile", { manifest: { name: "fragile", command: ["./x.mjs"], response_timeout_seconds: 1 }, files: { "x.mjs": program } })
    await installPuppet(space, "sound", { register: { events } })
    const run = await space.nimlet(["--mode", "json", ...anthropic.args, "go"], { env: anthropic.env(stub.url) })
    expect(run.code).toBe(0)
    const all = records(run.stdout)
    expect(checkRecords(all)).toEqual([])
    expect(resultsOf(run.stdout)).toMatchObject([{ is_error: false, output: expect.stringContaining("fine") }])
    expect(all.findLast((record) => record["type"] === "message")).toMatchObject({ content: "still here", final: true })
    const heard = heardBy(space).filter(({ line }) => line.type === "event").map(({ line }) => line.event)
    expect(new Set(heard)).toEqual(new Set(events))
    expect(all.filter((record) => record["type"] === "diagnostic" && record["extension"] === "fragile").length).toBeGreaterThan(0)
    expect(await lastingSurvivors(space.root)).toEqual([])
  })
})
