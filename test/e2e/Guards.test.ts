/** Guards of tool calls in whole runs: what they refuse or change, and what a closed one does that cannot decide. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { startModelStub } from "../kit/ModelStub.ts"
import { anthropic } from "../kit/Providers.ts"
import { checkRecords } from "@nimlet/protocol"
import { lastingSurvivors, makeWorkspace, records, type Workspace } from "../kit/Workspace.ts"

/** A guard of tool calls: `decide` is the body of what it does with a request, `first` what it does before it registers. */
const guard = (decide: string, first = "") => `#!/usr/bin/env node
import { existsSync, writeFileSync } from "node:fs"
import { createInterface } from "node:readline"
const send = (message) => console.log(JSON.stringify(message))
const answer = (id, fields = {}) => send({ type: "response", id, ...fields })
${first}
send({ type: "register", commands: [], events: ["tool_call"] })
for await (const line of createInterface({ input: process.stdin })) {
  const { id, payload, type } = JSON.parse(line)
  if (type !== "event") continue
  ${decide}
}
`
const install = (space: Workspace, name: string, program: string, manifest: object = {}) =>
  space.extension(name, { manifest: { name, command: ["./x.mjs"], ...manifest }, files: { "x.mjs": program } })
const bash = (command: string) => ({ name: "bash", args: { command } })
const resultsOf = (stdout: string) => records(stdout).filter((record) => record["type"] === "tool_result")
const warningsOf = (stdout: string) =>
  records(stdout).filter((record) => record["type"] === "diagnostic" && record["level"] === "warning").map((record) => String(record["message"]))

interface Fault {
  readonly fault: string
  /** How many calls the model makes until it is as the fault says. */
  readonly calls: number
  /** Why the last one is blocked, and what people are warned of. */
  readonly why: string
  readonly warning: string
  readonly program: string
  readonly manifest?: object
}

const off = "extension 'guard' is not running: "
const faults: ReadonlyArray<Fault> = [
  { fault: "times out", calls: 1, why: "extension response timed out", warning: "extension 'guard': extension response timed out", program: guard("") },
  { fault: "exits", calls: 1, why: "extension 'guard' exited before responding", warning: "extension 'guard' exited with code 0 unexpectedly", program: guard("process.exit(0)") },
  { fault: "answers nonsense", calls: 1, why: "invalid allow", warning: "ignored an invalid allow in its reply to tool_call", program: guard(`answer(id, { allow: "no" })`) },
  {
    fault: "is restarting",
    calls: 2,
    why: off,
    warning: "extension 'guard' exited with code 3 unexpectedly",
    program: guard("writeFileSync('crashed', ''); process.exit(3)", "if (existsSync('crashed')) await new Promise((done) => setTimeout(done, 60_000))")
  },
  { fault: "is quarantined", calls: 8, why: off, warning: "too often and stays off until it is restarted", program: guard("process.exit(3)") },
  { fault: "has a manifest that is no good", calls: 1, why: off, warning: "response_timeout_seconds must be a positive integer or null", program: guard(""), manifest: { response_timeout_seconds: "1" } },
  { fault: "cannot start", calls: 1, why: off, warning: "extension 'guard' failed to start: cannot find", program: "", manifest: { command: ["./missing"] } },
  {
    fault: "does not register as it must",
    calls: 1,
    why: off,
    warning: "extension 'guard' failed to start: register events must be an array",
    program: guard("").replace(`["tool_call"]`, `"all"`)
  }
]

describe.each(faults)("a closed guard that $fault", ({ calls: count, manifest = {}, program, warning, why }) => {
  const closed = { on_failure: "block", response_timeout_seconds: 1, ...manifest }
  const reason = `approval_denied: extension 'guard' guards this call and could not decide: ${why}`
  const steps = [...Array.from({ length: count }, (_, n) => ({ tools: [bash(`touch ran${n}`)] })), { text: "I may not." }]
  const ran = (space: Workspace) => Array.from({ length: count }, (_, n) => n).filter((n) => existsSync(join(space.work, `ran${n}`)))

  // E-280
  it("lets nothing run, and model and program read why", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub(steps)
    await install(space, "guard", program, closed)
    const run = await space.nimlet(["--mode", "json", ...anthropic.args, "go"], { env: anthropic.env(stub.url) })
    expect(run.code).toBe(0)
    expect(checkRecords(records(run.stdout))).toEqual([])
    expect(ran(space)).toEqual([])
    expect(resultsOf(run.stdout).map((record) => record["is_error"])).toEqual(Array.from({ length: count }, () => true))
    const told = resultsOf(run.stdout).at(-1)!["output"]
    expect(told).toContain(reason)
    // Whoever reads that a guard is down reads what puts it up.
    if (why === off) expect(told).toMatch(/\/extensions restart guard starts it again$|and has not registered again yet$|mend it, then \/reload$/)
    expect(JSON.stringify(stub.requests.at(-1)!.body)).toContain(reason)
    expect(warningsOf(run.stdout).filter((message) => message.includes(warning))).toHaveLength(1)
    expect(await lastingSurvivors(space.root)).toEqual([])
  })

  // E-280
  it("lets nothing run at a terminal, where the person reads why and is not asked", async () => {
    await using space = await makeWorkspace()
    await install(space, "guard", program, closed)
    await space.file("script.json", JSON.stringify({ steps }))
    const run = await space.nimlet(["--script", "script.json", "go"], { tty: true, env: { TERM: "xterm", NO_COLOR: "1" } })
    expect(run.code).toBe(0)
    expect(ran(space)).toEqual([])
    expect(run.stdout).toContain(reason)
    expect(run.stdout).toContain(warning)
    expect(run.stdout).not.toContain("Allow bash")
  })
})

describe("two guards of one call", () => {
  it("are both asked when the first refuses, and their reasons stand together", async () => {
    await using space = await makeWorkspace()
    await install(space, "one", guard(`answer(id, { allow: false, reason: "a", arguments: { command: "touch ran" } })`))
    await install(space, "two", guard(`answer(id, { allow: false, reason: "b" })`))
    await space.file("script.json", JSON.stringify({ steps: [{ tools: [bash("touch ran")] }, { text: "no" }] }))
    const run = await space.nimlet(["--mode", "json", "--script", "script.json", "go"])
    expect(resultsOf(run.stdout)).toMatchObject([{ output: "approval_denied: a; b", is_error: true }])
    expect(existsSync(join(space.work, "ran"))).toBe(false)
  })

  it.each([["one", "two"], ["two", "one"]] as const)("keep what one of them changed when the other has nothing to say (%s changes)", async (changer, silent) => {
    await using space = await makeWorkspace()
    await install(space, changer, guard(`answer(id, { arguments: { command: "echo ONE" } })`))
    await install(space, silent, guard(`answer(id)`))
    await space.file("script.json", JSON.stringify({ steps: [{ tools: [bash("echo ORIGINAL")] }, { text: "ok" }] }))
    const run = await space.nimlet(["--mode", "json", "--script", "script.json", "go"])
    const output = String(resultsOf(run.stdout)[0]!["output"])
    expect(output).toContain("ONE")
    expect(output).not.toContain("ORIGINAL")
  })
})

describe("arguments that a guard leaves", () => {
  it.each([
    [`{ path: 42 }`, "Invalid arguments for read, changed by guard:\npath: "],
    [`{}`, "Invalid arguments for read, changed by guard:\n"],
    [`JSON.parse('{"path":"a.txt","__proto__":{"path":"b.txt"}}')`, "Invalid arguments for read, changed by guard:\n"],
    [`[]`, "alpha"],
    [`null`, "alpha"],
    [`"x"`, "alpha"]
  ])("are checked again: %s", async (left, expected) => {
    await using space = await makeWorkspace()
    await space.file("a.txt", "alpha\n")
    await install(space, "guard", guard(`answer(id, { arguments: ${left} })`))
    await space.file("script.json", JSON.stringify({ steps: [{ tools: [{ name: "read", args: { path: "a.txt" } }] }, { text: "ok" }] }))
    const run = await space.nimlet(["--mode", "json", "--script", "script.json", "go"])
    expect(run.code).toBe(0)
    const [result] = resultsOf(run.stdout)
    expect(result!["output"]).toContain(expected)
    // What is no object is no change, and is told.
    expect([result!["is_error"], warningsOf(run.stdout).length]).toEqual(expected === "alpha" ? [false, 1] : [true, 0])
  })
})
