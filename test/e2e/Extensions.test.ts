import { cpSync, existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { checkRecords } from "@nimlet/protocol"
import { lastingSurvivors, makeWorkspace, records, type Workspace } from "../kit/Workspace.ts"

const fixtures = join(import.meta.dirname, "../fixtures/extensions")
const install = (space: Workspace, name: string, root = join(space.home, ".nimlet/extensions")) =>
  cpSync(join(fixtures, name), join(root, name), { recursive: true })
const json = ["--mode", "json", "--provider", "offline"]

/** A guard in JavaScript: refuses commands that hold a word, counts refusals in a widget. */
const guard = `#!/usr/bin/env node
import { createInterface } from "node:readline"
const send = (message) => console.log(JSON.stringify(message))
send({ type: "register", commands: [], events: ["tool_call", "tool_result", "turn_end"] })
let refused = 0
for await (const line of createInterface({ input: process.stdin })) {
  const { type, id, event, payload } = JSON.parse(line)
  if (type !== "event") continue
  const command = String(payload.arguments?.command ?? "")
  if (event === "tool_call" && command.includes("curl")) {
    refused++
    send({ type: "response", id, allow: false, reason: "no network, refusal " + refused, widget: { key: "refused", lines: [refused + " refused"] } })
  } else if (event === "tool_call" && command.includes("old")) {
    send({ type: "response", id, arguments: { command: command.replace("old", "new") } })
  } else if (event === "tool_result") {
    send({ type: "response", id, output: payload.output.replaceAll("secret", "*****") })
  } else send({ type: "response", id })
}
`

/** Names an extension of this protocol cannot give a tool. */
const reserved = ["ask_user", "bash", "edit", "git", "glob", "grep", "ls", "read", "read_skill", "skill", "write"]

/** An extension that writes down every line it hears, offers a tool (and in vain the reserved ones) and a command, and keeps an entry at the start of a turn. */
const witness = `#!/usr/bin/env node
import { appendFileSync } from "node:fs"
import { createInterface } from "node:readline"
const send = (message) => console.log(JSON.stringify(message))
const tool = (name) => ({ name, description: name + ".", input_schema: { type: "object" } })
send({
  type: "register",
  commands: [{ name: "Echo" }],
  tools: ${JSON.stringify(["echo", ...reserved])}.map(tool),
  events: ["tool_call", "tool_result", "turn_start", "turn_end", "session_start", "session_end"]
})
for await (const line of createInterface({ input: process.stdin })) {
  appendFileSync("heard.jsonl", line + "\\n")
  const { type, id, event, payload, arguments: args } = JSON.parse(line)
  if (type === "tool") send({ type: "response", id, content: "said back" })
  if (type === "command") send({ type: "response", id, message: "[" + args + "]" })
  if (type !== "event") continue
  if (event === "turn_start") send({ type: "response", id, entry: { kept: "a turn" } })
  else if (payload.arguments?.command === "echo old" && event === "tool_call") send({ type: "response", id, arguments: { command: "echo new" } })
  else send({ type: "response", id })
}
`

/** An extension with one tool, of that name. */
const answers = (name: string) => `#!/usr/bin/env node
import { createInterface } from "node:readline"
const send = (message) => console.log(JSON.stringify(message))
send({ type: "register", commands: [], tools: [{ name: "${name}", description: "Answers.", input_schema: { type: "object" } }] })
for await (const line of createInterface({ input: process.stdin })) {
  const { type, id } = JSON.parse(line)
  if (type === "tool") send({ type: "response", id, content: "${name} answers" })
}
`

describe("an extension", () => {
  // E-002 E-004 E-055 E-074 E-078 E-088 E-097 E-102 E-292 E-294 X-001
  it("gives the model a tool and the person a command", async () => {
    await using space = await makeWorkspace()
    install(space, "todos")
    await space.file("a.js", "// TODO tidy up\n")
    const tool = await space.nimlet(["call list_todos {}"])
    expect(tool.stdout).toContain("a.js:1 // TODO tidy up")
    const command = await space.nimlet([...json, "/TODOS"])
    const all = records(command.stdout)
    expect(checkRecords(all)).toEqual([])
    expect(all.find((record) => record["type"] === "message" && record["role"] === "assistant")).toMatchObject({ content: "a.js:1 // TODO tidy up", final: true })
    expect(await lastingSurvivors(space.root)).toEqual([])
  })

  // E-079 E-088 E-089 E-090 E-091 E-092 E-101 E-106 E-107 E-108 E-114 E-157 E-158 E-159 E-160 E-162 E-167 E-174 E-182
  // E-183 E-184 E-188 E-189 E-190 E-191 E-195 E-198 E-199 E-201 E-203 E-204 E-271 E-300 E-303 X-020 X-029 X-030 X-033
  // X-034 X-098 J-052
  it("hears of a run from its first line to shutdown, each event with its fields", async () => {
    await using space = await makeWorkspace()
    await space.extension("witness", { manifest: { name: "witness", command: ["./witness.mjs"] }, files: { "witness.mjs": witness } })
    const tools = [{ name: "echo", args: "" }, { name: "bash", args: { command: "echo old" } }]
    await space.file("script.json", JSON.stringify({ steps: [{ tools }, { text: "done" }] }))
    const run = await space.nimlet(["--mode", "json", "--script", "script.json", "go"])
    const all = records(run.stdout)
    const session_id = all[0]!["session_id"] as string
    const session = { session_id, workspace: space.work }
    const heard = readFileSync(join(space.work, "heard.jsonl"), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line) as Record<string, unknown>)
    const event = (name: string, payload: object) => ({ type: "event", id: expect.any(String), event: name, payload })
    const ran = { tool: "bash", arguments: { command: "echo new" }, tool_call_id: "script_1_2", details: expect.objectContaining({ exit_code: 0 }) }
    expect(heard).toEqual([
      expect.objectContaining({ type: "initialize", version: 1, ...session }),
      event("session_start", { ...session, provider: "scripted", model: "script", thinking: "", reason: "startup" }),
      event("turn_start", session),
      event("tool_call", { tool: "echo", arguments: {}, tool_call_id: "script_1_1" }),
      { type: "tool", id: expect.any(String), name: "echo", arguments: {}, tool_call_id: "script_1_1" },
      event("tool_result", { tool: "echo", arguments: {}, output: "said back", is_error: false, tool_call_id: "script_1_1" }),
      event("tool_call", { tool: "bash", arguments: { command: "echo old" }, tool_call_id: "script_1_2" }),
      event("tool_result", { ...ran, original_arguments: { command: "echo old" }, output: expect.stringContaining("new"), is_error: false }),
      event("turn_end", session),
      event("session_end", session),
      { type: "shutdown" }
    ])
    expect(all.find((record) => record["type"] === "tool_call" && record["tool_name"] === "bash")!["input"]).toEqual({ command: "echo old" })
    expect(all.find((record) => record["type"] === "tool_result")).toMatchObject({ output: "said back", is_error: false })
    const warnings = all.filter((record) => record["type"] === "diagnostic")
    expect(warnings.map((record) => record["message"])).toEqual(reserved.map((name) => `extension tool '${name}' collides with a built-in tool`))
    expect(readFileSync(join(space.home, ".nimlet/sessions", `${session_id}.jsonl`), "utf8")).toContain(`"extension":"witness","data":{"kept":"a turn"}`)
    expect((await space.nimlet(["/echo"])).stdout).toContain("[]")
  })

  // E-001 E-123 E-157 E-185 E-186 X-001 X-026
  it("blocks a call, which then never runs, and the model reads why", async () => {
    await using space = await makeWorkspace()
    await space.extension("guard", { manifest: { name: "guard", command: ["./guard.mjs"] }, files: { "guard.mjs": guard } })
    const bash = (command: string) => ({ name: "bash", args: { command } })
    await space.file("script.json", JSON.stringify({ steps: [{ tools: [bash("curl x; touch ran"), bash("curl y")] }, { text: "I may not." }] }))
    const run = await space.nimlet(["--mode", "json", "--script", "script.json", "go"])
    expect(records(run.stdout).filter((record) => record["type"] === "tool_result")).toMatchObject([
      { output: "approval_denied: no network, refusal 1", is_error: true },
      { output: "approval_denied: no network, refusal 2", is_error: true }
    ])
    expect(existsSync(join(space.work, "ran"))).toBe(false)
  })

  // E-125 E-126 E-158 E-187 E-192 X-027 X-028
  it("changes arguments before a call and the result after it, and the session has what happened", async () => {
    await using space = await makeWorkspace()
    await space.extension("guard", { manifest: { name: "guard", command: ["./guard.mjs"] }, files: { "guard.mjs": guard } })
    const run = await space.nimlet([...json, "run `echo old secret`"])
    const result = records(run.stdout).find((record) => record["type"] === "tool_result")!
    expect(result["output"]).toContain("new *****")
    const id = records(run.stdout)[0]!["session_id"] as string
    expect(readFileSync(join(space.home, ".nimlet/sessions", `${id}.jsonl`), "utf8")).not.toContain("new secret")
  })

  // E-004 E-255 X-085
  it("shows its status and widget where a person looks", async () => {
    await using space = await makeWorkspace()
    install(space, "todos")
    await space.file("a.js", "// FIXME soon\n")
    const run = await space.nimlet(["list the files"], { tty: true, env: { TERM: "xterm", NO_COLOR: "1" } })
    expect(run.stdout).toContain("[todos:open] 1 open")
  })

  // E-264 X-087
  it("stores what it wants to keep under its name", async () => {
    await using space = await makeWorkspace()
    await space.extension("keeper", {
      manifest: { name: "keeper", command: ["./keeper.mjs"] },
      files: {
        "keeper.mjs": `#!/usr/bin/env node
import { createInterface } from "node:readline"
console.log(JSON.stringify({ type: "register", commands: [], events: ["turn_end"] }))
let kept = []
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line)
  if (message.type === "initialize") kept = message.entries
  if (message.type === "event") console.log(JSON.stringify({ type: "response", id: message.id, entry: { turns: kept.length + 1 } }))
}
`
      }
    })
    const first = await space.nimlet([...json, "list the files"])
    await space.nimlet([...json, "--resume", "list the files"])
    const id = records(first.stdout)[0]!["session_id"] as string
    const kept = readFileSync(join(space.home, ".nimlet/sessions", `${id}.jsonl`), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter((entry) => entry["type"] === "extension")
    expect(kept.map(({ data, extension }) => [extension, data])).toEqual([["keeper", { turns: 1 }], ["keeper", { turns: 2 }]])
  })

  // E-008 E-009 E-010 E-011 E-012 E-017 E-025 E-033 X-002 X-003 X-004 X-005 X-006 X-009 J-012
  it("of a project runs only with --approve", async () => {
    await using space = await makeWorkspace()
    const roots = { "~/.agents": "one", "~/.nimlet": "two", "~/.niminal": "three", ".agents": "four", ".nimlet": "five", ".niminal": "six", ".agent": "seven" }
    for (const [root, name] of Object.entries(roots)) {
      // A program named without a slash, and its script from the workspace, for one of them.
      const command = name === "five" ? ["node", ".nimlet/extensions/five/x.mjs"] : ["./x.mjs"]
      await space.extension(name, { root: `${root}/extensions`, manifest: { name, command, response_timeout_seconds: 20 }, files: { "x.mjs": answers(name) } })
    }
    const all = Object.values(roots)
    await space.file("script.json", JSON.stringify({ steps: [{ tools: all.map((name) => ({ name, args: {} })) }, { text: "asked all" }] }))
    const answering = async (...flags: ReadonlyArray<string>) => {
      const run = await space.nimlet(["--mode", "json", "--script", "script.json", ...flags, "go"])
      const outputs = records(run.stdout).flatMap((record) => record["type"] === "tool_result" ? [String(record["output"])] : [])
      return { run, names: all.filter((name) => outputs.includes(`${name} answers`)) }
    }
    const untrusted = await answering()
    expect(untrusted.run.stderr.split("\n").filter((line) => line.includes("--approve"))).toHaveLength(1)
    expect(untrusted.run.stdout).not.toContain("--approve")
    expect(untrusted.names).toEqual(["one", "two", "three"])
    const trusted = await answering("--approve")
    expect(trusted.run.stderr).not.toContain("--approve")
    expect(trusted.names).toEqual(["one", "two", "three", "four", "five", "six"])
  })

  //
  it("is started by -e even with --no-extensions, and then alone", async () => {
    await using space = await makeWorkspace()
    install(space, "todos")
    expect((await space.nimlet(["--no-extensions", "call list_todos {}"])).stdout).not.toContain("Nothing was put off")
    expect((await space.nimlet(["--no-extensions", "-e", join(fixtures, "todos"), "call list_todos {}"])).stdout).toContain("Nothing was put off")
  })
})

describe("an extension that is broken", () => {
  // E-040 E-276 X-099
  it.each([["quits", "quits"], ["mute", "timed out"], ["broken", "missing name"]])("(%s) costs one warning and nothing else", async (name, word) => {
    await using space = await makeWorkspace()
    install(space, name)
    install(space, "todos")
    const run = await space.nimlet(["call list_todos {}"])
    expect(run.code).toBe(0)
    expect(run.stdout).toContain("Nothing was put off")
    const warnings = run.stderr.split("\n").filter((line) => line.startsWith("warning:"))
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain(word)
    const machine = await space.nimlet([...json, "list the files"])
    const told = records(machine.stdout).filter((record) => record["type"] === "diagnostic" && record["level"] === "warning")
    // One whose manifest is no good has no name to go by.
    expect(told.map((record) => record["extension"])).toEqual([name === "broken" ? undefined : name])
    expect(await lastingSurvivors(space.root)).toEqual([])
  })
})
