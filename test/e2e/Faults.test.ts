/** Extensions with the faults that people report, in a run of the real program: each costs its warning and no more. */
import { describe, expect, it } from "vitest"
import { checkRecords } from "@nimlet/protocol"
import { lastingSurvivors, makeWorkspace, records, type Workspace } from "../kit/Workspace.ts"

const shared = `#!/usr/bin/env node
import { closeSync, writeSync } from "node:fs"
import { createInterface } from "node:readline"
const put = (text) => writeSync(1, text)
const send = (message) => put(JSON.stringify(message) + "\\n")
const events = (...names) => send({ type: "register", commands: [], events: names })
const lines = async function* () {
  for await (const line of createInterface({ input: process.stdin })) yield JSON.parse(line)
}
`
const programs = {
  /** Ends with its first event. */
  quitter: `events("tool_call")
for await (const { type } of lines()) if (type === "event") process.exit(0)
`,
  /** Closes its input and stays. */
  shy: `events("tool_call")
process.stdin.destroy()
closeSync(0)
setInterval(() => {}, 1000)
`,
  /** Closes its input with its first event and stays. */
  coy: `events("tool_call")
setInterval(() => {}, 1000)
for await (const { type } of lines()) if (type === "event") {
  process.stdin.destroy()
  closeSync(0)
  break
}
`,
  /** Says what is no protocol, wherever it can. */
  chatty: `put("starting up...\\n")
events("tool_call", "tool_result")
for await (const { event, id, type } of lines()) {
  if (type !== "event") continue
  put("[debug] " + event + "\\n{\\"type\\":\\"resp\\n\\n\\r\\n")
  send({ type: "response", id: "no-such-id", allow: false })
  send({ type: "response", id: Number(id), allow: false })
  send({ type: "response", id })
  send({ type: "response", id, allow: false })
}
`,
  /** Begins to listen late, and answers a byte at a time. */
  late: `await new Promise((done) => setTimeout(done, 1000))
send({ type: "register", commands: [], tools: [{ name: "late", description: "Answers.", input_schema: { type: "object" } }] })
for await (const { id, type } of lines()) {
  if (type !== "tool") continue
  for (const byte of Buffer.from(JSON.stringify({ type: "response", id, content: "你好, 😀" }) + "\\r\\n")) {
    writeSync(1, Uint8Array.of(byte))
    await new Promise((done) => setTimeout(done, 2))
  }
}
`
}
const install = (space: Workspace, name: keyof typeof programs, more: object = {}) =>
  space.extension(name, { manifest: { name, command: ["./x.mjs"], ...more }, files: { "x.mjs": shared + programs[name] } })
const bash = (command: string) => ({ name: "bash", args: { command } })
const diagnosticsOf = (stdout: string) =>
  records(stdout).filter((record) => record["type"] === "diagnostic" && record["level"] === "warning").map((record) => String(record["message"]))

describe("a run with faulty extensions", () => {
  it("goes on without those that end, or close their input, while they are asked, and tells each once", async () => {
    await using space = await makeWorkspace()
    await space.extension("true", { manifest: { name: "true", command: ["true"] }, files: {} })
    await install(space, "quitter", { restart: false })
    await install(space, "shy", { restart: false })
    await install(space, "coy", { restart: false })
    await space.file("script.json", JSON.stringify({ steps: [...[1, 2, 3].map((n) => ({ tools: [bash(`echo ${n}`)] })), { text: "done" }] }))
    const run = await space.nimlet(["--mode", "json", "--script", "script.json", "go"])
    expect(run.code).toBe(0)
    const all = records(run.stdout)
    expect(checkRecords(all)).toEqual([])
    expect(all.filter((record) => record["type"] === "tool_result").map((record) => [record["is_error"], /\d/.exec(String(record["output"]))?.[0]])).toHaveLength(3)
    expect(all.filter((record) => record["type"] === "tool_result").every((record) => record["is_error"] === false)).toBe(true)
    expect(all.reduce((sum, record) => sum + (record["type"] === "tool_result" ? Number(record["duration_ms"]) : 0), 0)).toBeLessThan(1_000)
    const warnings = diagnosticsOf(run.stdout)
    for (const name of ["true", "quitter", "shy", "coy"]) expect(warnings.filter((message) => message.includes(`'${name}'`))).toHaveLength(1)
    expect(await lastingSurvivors(space.root)).toEqual([])
  })

  it("reads the true replies between log lines, wrong ids and repeated answers, and warns once", async () => {
    await using space = await makeWorkspace()
    await install(space, "chatty")
    await space.file("script.json", JSON.stringify({ steps: [{ tools: [bash("echo 1")] }, { tools: [bash("echo 2")] }, { text: "done" }] }))
    const run = await space.nimlet(["--mode", "json", "--script", "script.json", "go"])
    const results = records(run.stdout).filter((record) => record["type"] === "tool_result")
    expect(results.map((record) => record["is_error"])).toEqual([false, false])
    const warnings = diagnosticsOf(run.stdout)
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatch(/'chatty'.*starting up\.\.\..*standard error/)
  })

  it("waits for one that listens late, and puts its answer together byte by byte", async () => {
    await using space = await makeWorkspace()
    await install(space, "late")
    await space.file("script.json", JSON.stringify({ steps: [{ tools: [{ name: "late", args: {} }] }, { text: "done" }] }))
    const run = await space.nimlet(["--mode", "json", "--script", "script.json", "go"])
    expect(records(run.stdout).find((record) => record["type"] === "tool_result")).toMatchObject({ output: "你好, 😀", is_error: false })
    expect(diagnosticsOf(run.stdout)).toEqual([])
  })
})
