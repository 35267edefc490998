import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { startModelStub } from "../kit/ModelStub.ts"
import { anthropic } from "../kit/Providers.ts"
import { checkRecords } from "@nimlet/protocol"
import { lastingSurvivors, makeWorkspace, records, startNimlet, type Workspace } from "../kit/Workspace.ts"

const events = [
  "session_start", "input", "before_agent_start", "turn_start", "context", "before_provider_request", "before_provider_headers", "after_provider_response",
  "message_end", "tool_call", "tool_result", "turn_end", "agent_settled", "session_before_compact", "session_compact", "session_compact_failed",
  "session_settings_changed", "session_before_switch", "session_shutdown", "session_end"
]

/** An extension that subscribed to everything, writes down what it hears, and answers late. Its answers stand in a file beside it. */
const witness = `#!/usr/bin/env node
import { appendFileSync, readFileSync } from "node:fs"
import { createInterface } from "node:readline"
const { late, answers, tools, commands } = JSON.parse(readFileSync(new URL("witness.json", import.meta.url), "utf8"))
const send = (message) => console.log(JSON.stringify(message))
const heard = (what) => appendFileSync("heard.jsonl", JSON.stringify({ pid: process.pid, ...what }) + "\\n")
send({ type: "register", commands: Object.keys(commands).map((name) => ({ name })), tools, events: ${JSON.stringify(events)} })
for await (const line of createInterface({ input: process.stdin })) {
  const { type, id, event, payload, name, mode, ui, arguments: args } = JSON.parse(line)
  if (type === "initialize") heard({ event: type, payload: { mode, ui } })
  if (type === "cancel" || type === "tool") heard({ event: type, payload: { id, name } })
  const tell = (message) => send({ type: "update", notification: { level: "warning", message } })
  if (type === "tool") tell("asked for a tool")
  if (type === "command") send({ type: "response", id, ...commands[name] })
  if (type !== "event") continue
  heard({ event, payload })
  const answer = answers[event]
  if (answer?.silent) {
    tell("silent at " + event)
    continue
  }
  const rewritten = (answer?.replace ?? []).reduce((text, [from, to]) => text.replaceAll(from, to), payload.output ?? "")
  setTimeout(() => send({ type: "response", id, ...answer, ...(answer?.replace ? { output: rewritten } : {}) }), late)
}
`

interface Witness {
  readonly late?: number
  /** Event to reply; \`replace\` is pairs for the output of a result, \`silent\` gives none. */
  readonly answers?: object
  readonly tools?: ReadonlyArray<object>
  readonly commands?: object
  readonly timeout?: number
}
const install = (space: Workspace, name: string, { answers = {}, commands = {}, late = 0, timeout = 30, tools = [] }: Witness = {}) =>
  space.extension(name, {
    manifest: { name, command: ["./witness.mjs"], response_timeout_seconds: timeout },
    files: { "witness.mjs": witness, "witness.json": JSON.stringify({ late, answers, tools, commands }) }
  })

const heardIn = (space: Workspace): ReadonlyArray<any> =>
  existsSync(join(space.work, "heard.jsonl")) ? readFileSync(join(space.work, "heard.jsonl"), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line)) : []
const namesIn = (space: Workspace) => heardIn(space).map(({ event }) => event).filter((event) => event !== "initialize")
const request = ["before_provider_request", "before_provider_headers", "after_provider_response"]
const sessionLines = (space: Workspace): ReadonlyArray<any> => {
  const folder = join(space.home, ".nimlet/sessions")
  const name = readdirSync(folder).find((file) => file.endsWith(".jsonl"))!
  return readFileSync(join(folder, name), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line))
}
const withScript = async (space: Workspace, steps: ReadonlyArray<object>) => ["--mode", "json", "--script", await space.file("script.json", JSON.stringify({ steps }))]

describe("in JSON mode an extension", () => {
  // E-005 X-043 X-045 X-048 X-049
  it("hears every event of a run in order, though it answers each one late, and of the end before the program leaves", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ text: "I look.", tools: [{ name: "read", args: { path: "a.txt" } }] }, { status: 529, times: 1, text: "Done." }])
    await space.file("a.txt", "alpha\n")
    await install(space, "witness", { late: 200, answers: { before_provider_request: {}, before_provider_headers: { headers: { "x-trace": "t" } } } })
    const run = await space.nimlet(["--mode", "json", ...anthropic.args, "read it"], { env: anthropic.env(stub.url) })
    expect(run.code).toBe(0)
    expect(checkRecords(records(run.stdout))).toEqual([])
    expect(namesIn(space)).toEqual([
      "session_start", "input", "before_agent_start", "turn_start",
      "context", ...request, "message_end", "tool_call", "tool_result",
      "context", ...request, ...request, "message_end",
      "turn_end", "agent_settled", "session_shutdown", "session_end"
    ])
    expect(stub.requests.map(({ headers }) => headers["x-trace"])).toEqual(["t", "t", "t"])
    expect(heardIn(space)[0]).toMatchObject({ event: "initialize", payload: { mode: "json", ui: false } })
    expect(await lastingSurvivors(space.root)).toEqual([])
  })

  // E-163 E-166 X-047 X-078
  it("can leave the session for a new one, and each session has a frame of its own in the records", async () => {
    await using space = await makeWorkspace()
    await install(space, "witness", { commands: { fresh: { message: "starting over", session: { action: "new" }, prompt: "hello" } } })
    const run = await space.nimlet([...(await withScript(space, [{ text: "Welcome." }])), "/fresh"])
    expect(run.code).toBe(0)
    const all = records(run.stdout)
    const types = all.map((record) => String(record["type"])).filter((type) => !type.endsWith("_delta"))
    expect(types).toEqual([
      "session_start", "message", "run_start", "message", "run_end", "session_end",
      "session_start", "message", "run_start", "step_start", "message", "step_end", "run_end", "session_end"
    ])
    const at = types.lastIndexOf("session_start")
    const first = all.slice(0, at)
    const second = all.slice(at)
    expect(checkRecords(first)).toEqual([])
    expect(checkRecords(second)).toEqual([])
    expect(second[0]!["session_id"]).not.toBe(first[0]!["session_id"])
    expect(namesIn(space).filter((name) => name.startsWith("session"))).toEqual([
      "session_start", "session_before_switch", "session_shutdown", "session_end", "session_start", "session_shutdown", "session_end"
    ])
    expect(new Set(heardIn(space).map(({ pid }) => pid)).size).toBe(2)
  })

  // X-039 X-069
  it("that blocks the input ends the run with its reason, and nothing is saved", async () => {
    await using space = await makeWorkspace()
    await install(space, "guard", { answers: { input: { allow: false, reason: "not on a Friday" } } })
    const run = await space.nimlet([...(await withScript(space, [{ text: "never" }])), "deploy"])
    expect(run.code).toBe(1)
    const all = records(run.stdout)
    expect(checkRecords(all)).toEqual([])
    expect(all.find((record) => record["type"] === "error")).toMatchObject({ message: "not on a Friday" })
    expect(existsSync(join(space.home, ".nimlet/sessions"))).toBe(false)
  })

  it.each([
    ["while the model streams", [{ deltas: ["first ", "second"], hang: 4 }], "message_delta", {}],
    ["while a tool runs", [{ tools: [{ name: "bash", args: { command: "echo go; exec sleep 60" } }] }], "tool_output_delta", {}],
    ["while a hook is waited for", [{ text: "never" }], "silent at turn_start", { turn_start: { silent: true } }]
  ] as const)("hears once that the turn was interrupted, after the tools have stopped (%s)", async (_, scenario, sign, answers) => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub(scenario)
    await install(space, "witness", { answers })
    const running = startNimlet({ args: ["--mode", "json", ...anthropic.args, "go"], cwd: space.work, home: space.home, env: anthropic.env(stub.url) })
    await running.until((stdout) => stdout.includes(sign))
    running.signal("SIGINT")
    const run = await running.ended
    expect(run.code).toBe(130)
    const names = namesIn(space)
    expect(names.slice(-4)).toEqual(["turn_end", "agent_settled", "session_shutdown", "session_end"])
    const ends = heardIn(space).filter(({ event }) => event === "turn_end")
    expect(ends).toHaveLength(1)
    expect(ends[0].payload.interrupted).toBe(true)
    if ("turn_start" in answers) expect(names).toContain("cancel")
    expect(await lastingSurvivors(space.root)).toEqual([])
  })

  it("is told by cancel that its tool was interrupted, and the session has the call's result", async () => {
    await using space = await makeWorkspace()
    await install(space, "slow", { tools: [{ name: "sleeper", description: "Sleeps.", input_schema: { type: "object" } }] })
    const running = startNimlet({ args: [...(await withScript(space, [{ tool: "sleeper", args: {} }])), "go"], cwd: space.work, home: space.home })
    await running.until((stdout) => stdout.includes("asked for a tool"))
    const asked = heardIn(space).find(({ event }) => event === "tool").payload.id
    running.signal("SIGINT")
    const run = await running.ended
    expect(run.code).toBe(130)
    expect(run.durationMs).toBeLessThan(10_000)
    expect(heardIn(space).find(({ event }) => event === "cancel").payload.id).toBe(asked)
    expect(sessionLines(space).find(({ type }) => type === "tool_result")).toMatchObject({ is_error: true, output: expect.stringContaining("Interrupted") })
  })

  // E-173 E-174
  it("hears of each call and each result once, whatever runs together, but not of what does not exist", async () => {
    await using space = await makeWorkspace()
    await space.file("a.txt", "alpha\n")
    await install(space, "witness", { tools: [{ name: "echo", description: "Says.", input_schema: { type: "object" } }], answers: { tool_call: {} }, timeout: 1 })
    const tools = [
      { name: "read", args: { path: "a.txt" } }, { name: "grep", args: { pattern: "alpha" } }, { name: "glob", args: { pattern: "*" } }, { name: "ls", args: {} },
      { name: "bash", args: { command: "true" } }, { name: "write", args: { path: "b.txt", content: "b\n" } },
      { name: "edit", args: { path: "b.txt", old_text: "b", new_text: "c" } }, { name: "git", args: { operation: "status" } },
      { name: "echo", args: {} }, { name: "nobody", args: {} }
    ]
    const run = await space.nimlet([...(await withScript(space, [{ tools }, { text: "all done" }])), "go"])
    expect(run.code).toBe(0)
    const of = (event: string) => heardIn(space).filter((heard) => heard.event === event).map(({ payload }) => payload.tool).toSorted()
    const known = tools.map(({ name }) => name).filter((name) => name !== "nobody").toSorted()
    expect(of("tool_call")).toEqual(known)
    expect(of("tool_result")).toEqual(known)
    expect(records(run.stdout).filter((record) => record["type"] === "tool_result")).toHaveLength(tools.length)
  })

  // E-189 E-192
  it("changes a result in turn with another, and session, record and next request agree", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ tools: [{ name: "bash", args: { command: "echo secret" } }] }, { text: "Done." }])
    await install(space, "a", { answers: { tool_call: { arguments: { command: "echo my secret" } }, tool_result: { replace: [["secret", "***"]] } } })
    await install(space, "b", { answers: { tool_result: { replace: [["***", "*** [checked]"]] } } })
    const run = await space.nimlet(["--mode", "json", ...anthropic.args, "go"], { env: anthropic.env(stub.url) })
    expect(run.code).toBe(0)
    const record = records(run.stdout).find((each) => each["type"] === "tool_result")!
    expect(record["output"]).toContain("my *** [checked]")
    const stored = sessionLines(space).find(({ type }) => type === "tool_result")
    expect(stored).toMatchObject({ output: record["output"], changed_by: ["a"] })
    expect(JSON.stringify(stub.requests[1]!.body)).toContain("my *** [checked]")
    expect(JSON.stringify(stub.requests[1]!.body)).not.toContain("my secret")
    const results = heardIn(space).filter(({ event }) => event === "tool_result")
    expect(results[1].payload).toMatchObject({ arguments: { command: "echo my secret" }, original_arguments: { command: "echo secret" } })
  })
})

/** An extension that puts another program and another manifest in its place when it is told to, and asks for a reload. */
const changing = (version: string) => `#!/usr/bin/env node
import { appendFileSync, readFileSync, writeFileSync } from "node:fs"
import { createInterface } from "node:readline"
const send = (message) => console.log(JSON.stringify(message))
const heard = (event, payload) => appendFileSync("heard.jsonl", JSON.stringify({ pid: process.pid, event, payload: { version: "${version}", ...payload } }) + "\\n")
send({ type: "register", commands: [{ name: "upgrade" }], events: ["session_start", "session_shutdown", "session_end", "turn_start"] })
for await (const line of createInterface({ input: process.stdin })) {
  const { type, id, event, payload } = JSON.parse(line)
  if (type === "shutdown") heard("shutdown")
  if (type === "command") {
    const here = (name) => new URL(name, import.meta.url)
    writeFileSync(here("other.mjs"), readFileSync(here("first.mjs"), "utf8").replaceAll("one", "two"), { mode: 0o755 })
    writeFileSync(here("extension.json"), JSON.stringify({ name: "changing", command: ["./other.mjs"] }))
    send({ type: "response", id, message: "upgraded", reload: true, prompt: "go on" })
  }
  if (type !== "event") continue
  heard(event, payload)
  send({ type: "response", id })
}
`

describe("a reload", () => {
  // E-115 X-022 X-023 X-046
  it.each([
    ["~/.nimlet", [["one", "session_start"], ["one", "session_shutdown"], ["one", "shutdown"], ["two", "turn_start"]]],
    ["~/.niminal", [["one", "session_start"], ["one", "session_shutdown"], ["one", "session_end"], ["one", "shutdown"], ["two", "session_start"], ["two", "turn_start"]]]
  ] as const)("starts what the manifest names now, in the same session, as its family takes it (%s)", async (root, expected) => {
    await using space = await makeWorkspace()
    await space.extension("changing", {
      root: `${root}/extensions`,
      manifest: { name: "changing", command: ["./first.mjs"] },
      files: { "first.mjs": changing("one") }
    })
    const run = await space.nimlet([...(await withScript(space, [{ text: "here" }])), "/upgrade"])
    expect(run.code).toBe(0)
    expect(checkRecords(records(run.stdout))).toEqual([])
    const heard = heardIn(space)
    expect(heard.slice(0, expected.length).map(({ event, payload }) => [payload.version, event])).toEqual(expected)
    expect(heard.find(({ event }) => event === "session_shutdown").payload.reason).toBe("reload")
    expect(heard.at(-3).payload.reason).toBe("quit")
    expect(new Set(heard.map(({ pid }) => pid)).size).toBe(2)
    expect(await lastingSurvivors(space.root)).toEqual([])
  })
})

describe("outside JSON mode an extension", () => {
  it.each([["print", { tty: false, ui: false }], ["text", { tty: true, ui: true }]] as const)("hears the same (%s), and whether a person can be asked", async (mode, { tty, ui }) => {
    await using space = await makeWorkspace()
    await install(space, "witness")
    const run = await space.nimlet([...(mode === "print" ? ["-p"] : []), "--provider", "offline", "list the files"], { tty, env: { TERM: "xterm", NO_COLOR: "1" } })
    expect(run.code).toBe(0)
    expect(heardIn(space)[0]).toMatchObject({ event: "initialize", payload: { mode, ui } })
    expect(namesIn(space).filter((name) => !request.includes(name))).toEqual([
      "session_start", "input", "before_agent_start", "turn_start", "context", "message_end", "tool_call", "tool_result", "context", "message_end",
      "turn_end", "agent_settled", "session_shutdown", "session_end"
    ])
  })
})

describe("three extensions that never answer session_start", () => {
  it("hold the first prompt up for the limit of one, and are named meanwhile", async () => {
    await using space = await makeWorkspace()
    const names = ["a", "b", "c"]
    for (const name of names) await install(space, name, { answers: { session_start: { silent: true } }, timeout: 3 })
    const run = await space.nimlet(["--provider", "offline", "list the files"], { tty: true, env: { TERM: "xterm", NO_COLOR: "1" } })
    expect(run.code).toBe(0)
    expect(run.durationMs).toBeLessThan(6_000)
    for (const name of names) {
      expect(run.stdout).toContain(`waiting for extension '${name}' (session_start)`)
      expect(run.stdout).toContain(`warning: extension '${name}': extension response timed out`)
    }
  })
})

describe("an extension that fails in any event", () => {
  it("costs its own part and nothing else", async () => {
    await using space = await makeWorkspace()
    await space.extension("fragile", {
      manifest: { name: "fragile", command: ["./fragile.mjs"], response_timeout_seconds: 2, restart: false },
      files: {
        "fragile.mjs": `#!/usr/bin/env node
import { createInterface } from "node:readline"
console.log(JSON.stringify({ type: "register", commands: [], events: ["turn_start"] }))
for await (const line of createInterface({ input: process.stdin })) if (JSON.parse(line).event === "turn_start") process.exit(3)
`
      }
    })
    await install(space, "witness")
    const run = await space.nimlet([...(await withScript(space, [{ text: "still here" }])), "go"])
    expect(run.code).toBe(0)
    const all = records(run.stdout)
    expect(all.findLast((record) => record["type"] === "message")).toMatchObject({ content: "still here" })
    expect(all.filter((record) => record["type"] === "diagnostic" && String(record["message"]).includes("fragile")).length).toBeGreaterThan(0)
    expect(namesIn(space).slice(-2)).toEqual(["session_shutdown", "session_end"])
  })
})
