/** When extensions are started anew in a run: each has a process of its own per session and start, and is told which session it is. */
import { describe, expect, it } from "vitest"
import { heardBy, installPuppet } from "../kit/Puppet.ts"
import { lastingSurvivors, makeWorkspace, records, type Workspace } from "../kit/Workspace.ts"

const script = async (space: Workspace) => ["--mode", "json", "--script", await space.file("script.json", JSON.stringify({ steps: [{ text: "hello" }] }))]
const sessionsOf = (stdout: string): ReadonlyArray<string> => records(stdout).flatMap((record) => record["type"] === "session_start" ? [String(record["session_id"])] : [])

describe("an extension is started anew, with a fresh initialize", () => {
  // E-061 E-062 E-063 E-065 X-022
  it.each([
    ["/reload", () => "/reload", "the same"],
    ["/new", () => "/new", "another"],
    ["/resume", (earlier: string) => `/resume ${earlier}`, "the earlier"],
    ["/fork", () => "/fork 1", "another"]
  ] as const)("by %s", async (_, command, which) => {
    await using space = await makeWorkspace()
    const args = await script(space)
    const [earlier] = sessionsOf((await space.nimlet([...args, "one"])).stdout)
    const [present] = sessionsOf((await space.nimlet([...args, "two"])).stdout)
    await installPuppet(space, "hears", { register: { events: ["session_start", "session_end", "session_shutdown"] } })
    const run = await space.nimlet([...args, "--session", present!, command(earlier!)])
    expect(run.code).toBe(0)
    const initialized = heardBy(space).filter(({ line }) => line.type === "initialize")
    expect(initialized).toHaveLength(2)
    expect(new Set(initialized.map(({ pid }) => pid)).size).toBe(2)
    const [first, second] = initialized.map(({ line }) => line)
    expect(first).toMatchObject({ version: 1, workspace: space.work, session_id: present })
    const entered = sessionsOf(run.stdout).at(-1)
    expect(second).toMatchObject({ version: 1, workspace: space.work, session_id: entered })
    expect(entered === present).toBe(which === "the same")
    expect(entered === earlier).toBe(which === "the earlier")
    // The first one was told to go before the second one came.
    const firstLines = heardBy(space).filter(({ pid }) => pid === initialized[0]!.pid).map(({ line }) => line.type)
    expect(firstLines.at(-1)).toBe("shutdown")
    expect(await lastingSurvivors(space.root)).toEqual([])
  })

  //
  it.each(["/new", "/fork 1"])("not when an extension keeps the session from being left: %s", async (command) => {
    await using space = await makeWorkspace()
    const args = await script(space)
    const [present] = sessionsOf((await space.nimlet([...args, "one"])).stdout)
    await installPuppet(space, "keeps", { register: { events: ["session_before_switch"] }, replies: { session_before_switch: [{ allow: false, reason: "finish first" }] } })
    const run = await space.nimlet([...args, "--session", present!, command])
    expect(run.code).toBe(1)
    expect(records(run.stdout).find((record) => record["type"] === "error")).toMatchObject({ message: "finish first" })
    expect(sessionsOf(run.stdout)).toEqual([present])
    expect(heardBy(space).filter(({ line }) => line.type === "initialize")).toHaveLength(1)
  })

  it("after a crash, and in a later run, with what it has stored in the session", async () => {
    await using space = await makeWorkspace()
    await space.extension("counter", {
      manifest: { name: "counter", command: ["./counter.mjs"] },
      files: {
        "counter.mjs": `#!/usr/bin/env node
import { createInterface } from "node:readline"
const send = (message) => console.log(JSON.stringify(message))
send({ type: "register", commands: [], tools: [{ name: "count", description: "Counts", input_schema: { type: "object" } }], events: ["tool_call", "turn_start"] })
let entries = []
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line)
  if (message.type === "initialize") entries = message.entries
  else if (message.type === "tool") send({ type: "response", id: message.id, content: "counted " + JSON.stringify(entries) })
  else if (message.payload?.tool === "ls") process.exit(7)
  else if (message.type === "event") send({ type: "response", id: message.id, ...(message.event === "turn_start" ? { entry: entries.length + 1 } : {}) })
}
`
      }
    })
    const steps = [{ tool: "ls", args: {} }, { tool: "count", args: {} }, { text: "done" }]
    const args = ["--mode", "json", "--script", await space.file("steps.json", JSON.stringify({ steps })), "--yolo"]
    const counted = (stdout: string) => records(stdout).flatMap((record) => record["tool_name"] === "count" && record["type"] === "tool_result" ? [record["output"]] : [])
    const first = await space.nimlet([...args, "go"])
    expect([first.code, counted(first.stdout)]).toEqual([0, ["counted [1]"]])
    const second = await space.nimlet([...args, "--resume", "go"])
    expect([second.code, counted(second.stdout)]).toEqual([0, ["counted [1,2]"]])
  })
})
