import { cpSync, existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { checkRecords } from "../kit/RecordOrder.ts"
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
    send({ type: "response", id, allow: false, reason: "no network", widget: { key: "refused", lines: [refused + " refused"] } })
  } else if (event === "tool_call" && command.includes("old")) {
    send({ type: "response", id, arguments: { command: command.replace("old", "new") } })
  } else if (event === "tool_result") {
    send({ type: "response", id, output: payload.output.replaceAll("secret", "*****") })
  } else send({ type: "response", id })
}
`

describe("an extension", () => {
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

  it("blocks a call, which then never runs, and the model reads why", async () => {
    await using space = await makeWorkspace()
    await space.extension("guard", { manifest: { name: "guard", command: ["./guard.mjs"] }, files: { "guard.mjs": guard } })
    const run = await space.nimlet([...json, "run `curl x; touch ran`"])
    expect(records(run.stdout).find((record) => record["type"] === "tool_result")).toMatchObject({ output: "approval_denied: no network", is_error: true })
    expect(existsSync(join(space.work, "ran"))).toBe(false)
  })

  it("changes arguments before a call and the result after it, and the session has what happened", async () => {
    await using space = await makeWorkspace()
    await space.extension("guard", { manifest: { name: "guard", command: ["./guard.mjs"] }, files: { "guard.mjs": guard } })
    const run = await space.nimlet([...json, "run `echo old secret`"])
    const result = records(run.stdout).find((record) => record["type"] === "tool_result")!
    expect(result["output"]).toContain("new *****")
    const id = records(run.stdout)[0]!["session_id"] as string
    expect(readFileSync(join(space.home, ".nimlet/sessions", `${id}.jsonl`), "utf8")).not.toContain("new secret")
  })

  it("shows its status and widget where a person looks", async () => {
    await using space = await makeWorkspace()
    install(space, "todos")
    await space.file("a.js", "// FIXME soon\n")
    const run = await space.nimlet(["list the files"], { tty: true, env: { TERM: "xterm", NO_COLOR: "1" } })
    expect(run.stdout).toContain("[todos:open] 1 open")
  })

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

  it("of a project runs only with --approve", async () => {
    await using space = await makeWorkspace()
    install(space, "todos", join(space.work, ".nimlet/extensions"))
    const untrusted = await space.nimlet(["call list_todos {}"])
    expect(untrusted.stderr).toContain("--approve")
    expect(untrusted.stdout).not.toContain("Nothing was put off")
    expect((await space.nimlet(["--approve", "call list_todos {}"])).stdout).toContain("Nothing was put off")
  })

  it("is started by -e even with --no-extensions, and then alone", async () => {
    await using space = await makeWorkspace()
    install(space, "todos")
    expect((await space.nimlet(["--no-extensions", "call list_todos {}"])).stdout).not.toContain("Nothing was put off")
    expect((await space.nimlet(["--no-extensions", "-e", join(fixtures, "todos"), "call list_todos {}"])).stdout).toContain("Nothing was put off")
  })
})

describe("an extension that is broken", () => {
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
    expect(records(machine.stdout).filter((record) => record["type"] === "diagnostic" && record["level"] === "warning")).toHaveLength(1)
    expect(await lastingSurvivors(space.root)).toEqual([])
  })
})
