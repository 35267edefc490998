/** What is left of a run that ends in disorder, or that a guest does not let end. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { checkRecords } from "@nimlet/protocol"
import { lastingSurvivors, makeWorkspace, records, startNimlet, survivors, type Workspace } from "../kit/Workspace.ts"

/** An extension that ends with its input, as every example does, and hears of `events`. */
const reader = (events: ReadonlyArray<string> = []) => `#!/usr/bin/env node
import { createInterface } from "node:readline"
const send = (message) => console.log(JSON.stringify(message))
send({ type: "register", commands: [], events: ${JSON.stringify(events)} })
for await (const line of createInterface({ input: process.stdin })) {
  const { id, type } = JSON.parse(line)
  if (type === "event") send({ type: "response", id })
}
`
/** One that registers and then hears of nothing any more: not of shutdown, the end of input, nor SIGTERM. */
const deaf = `#!/usr/bin/env node
process.on("SIGTERM", () => {})
console.log(JSON.stringify({ type: "register", commands: [] }))
setInterval(() => {}, 1000)
`
const install = (space: Workspace, name: string, program: string, manifest: object = {}) =>
  space.extension(name, { manifest: { name, command: ["./x.mjs"], ...manifest }, files: { "x.mjs": program } })
const running = (space: Workspace, word: string) => survivors(space.root).filter(({ command }) => command.includes(word))
const until = async (holds: () => boolean) => {
  while (!holds()) await setTimeout(20)
}

describe("a run that is killed", () => {
  it("takes its extensions with it within 2 s, though a tool of it still works", async () => {
    await using space = await makeWorkspace()
    await install(space, "one", reader(["tool_call"]))
    await install(space, "two", reader())
    await space.file("script.json", JSON.stringify({ steps: [{ tools: [{ name: "bash", args: { command: "echo $$ > shell; exec sleep 600" } }] }] }))
    const run = startNimlet({ args: ["--mode", "json", "--script", "script.json", "go"], cwd: space.work, home: space.home })
    await until(() => existsSync(join(space.work, "shell")) && readFileSync(join(space.work, "shell"), "utf8") !== "")
    expect(running(space, "x.mjs")).toHaveLength(2)
    run.signal("SIGKILL")
    const end = performance.now() + 2_000
    await until(() => running(space, "x.mjs").length === 0 || performance.now() > end)
    expect(running(space, "x.mjs")).toEqual([])
    process.kill(Number(readFileSync(join(space.work, "shell"), "utf8")), "SIGKILL")
  })
})

describe("a run with an extension that does not let go", () => {
  // E-301
  it("ends in time, with its own exit code, and nothing is left", async () => {
    await using space = await makeWorkspace()
    await install(space, "deaf", deaf)
    await install(space, "reader", reader())
    const run = await space.nimlet(["--mode", "json", "--provider", "offline", "list the files"])
    expect(run.code).toBe(0)
    expect(records(run.stdout).at(-1)!["type"]).toBe("session_end")
    expect(run.durationMs).toBeLessThan(7_000)
    expect(await lastingSurvivors(space.root)).toEqual([])
  })

  // E-087
  it("does not wait on the way out for one that failed to start", async () => {
    await using space = await makeWorkspace()
    await install(space, "silent", deaf.replace("commands", "nothing"))
    const started = performance.now()
    const run = await space.nimlet(["--mode", "json", "--provider", "offline", "list the files"])
    expect(run.code).toBe(0)
    expect(performance.now() - started).toBeLessThan(3_000)
    expect(await lastingSurvivors(space.root)).toEqual([])
  })

  it("is stopped in order within 5 s though that one answers nothing either, and no call is left without a result", async () => {
    await using space = await makeWorkspace()
    const events = ["turn_end", "agent_settled", "session_shutdown", "session_end"]
    await install(space, "rude", deaf.replace("commands: []", `commands: [], events: ${JSON.stringify(events)}`))
    await install(space, "reader", reader(events))
    await space.file("script.json", JSON.stringify({ steps: [{ tools: [{ name: "bash", args: { command: "echo go; exec sleep 600" } }] }] }))
    const run = startNimlet({ args: ["--mode", "json", "--script", "script.json", "go"], cwd: space.work, home: space.home })
    await run.until((stdout) => stdout.includes("tool_output_delta"))
    const started = performance.now()
    run.signal("SIGTERM")
    const { code, stdout } = await run.ended
    expect(code).toBe(143)
    expect(performance.now() - started).toBeLessThan(5_500)
    expect(checkRecords(records(stdout))).toEqual([])
    expect(records(stdout).find((record) => record["type"] === "tool_result")).toMatchObject({ is_error: true, output: expect.stringMatching(/interrupted/i) })
    expect(await lastingSurvivors(space.root)).toEqual([])
  })

  it("closes RPC mode in order at a signal, and tells no success, though nothing was under way", async () => {
    await using space = await makeWorkspace()
    const run = startNimlet({ args: ["--mode", "rpc", "--provider", "offline"], cwd: space.work, home: space.home, holdStdin: true })
    run.child.stdin?.write(`{"id":"1","type":"prompt","message":"list the files"}\n`)
    await run.until((stdout) => stdout.includes("run_end"))
    run.signal("SIGTERM")
    const { code, stdout } = await run.ended
    expect(code).toBe(143)
    expect(checkRecords(records(stdout), { mode: "rpc" })).toEqual([])
    expect(records(stdout).slice(-2)).toMatchObject([{ type: "diagnostic", level: "error", message: "Interrupted" }, { type: "session_end", success: false }])
  })

  it("ends at once at a second signal, 20 ms behind the first, with everything that was started: also what left its group or belongs to a thread", async () => {
    await using space = await makeWorkspace()
    await install(space, "rude", deaf.replace("commands: []", `commands: [], events: ["agent_settled", "session_shutdown"]`))
    await space.file("~/.atomic/agent/extensions/spawns.ts", `
      import { spawn } from "node:child_process"
      export default () => { spawn("sleep", ["603"], { stdio: "ignore" }) }
    `)
    const command = "setsid sleep 600 & (setsid sh -c 'trap : TERM; sleep 601; sleep 602' &); echo begun; exec sleep 604"
    await space.file("script.json", JSON.stringify({ steps: [{ tools: [{ name: "bash", args: { command } }] }] }))
    const run = startNimlet({ args: ["--mode", "json", "--script", "script.json", "go"], cwd: space.work, home: space.home })
    await run.until((stdout) => stdout.includes("tool_output_delta"))
    await until(() => ["600", "601", "603", "604"].every((seconds) => running(space, `sleep ${seconds}`).length > 0))
    run.signal("SIGTERM")
    await setTimeout(20)
    const second = performance.now()
    run.signal("SIGTERM")
    const { code, stdout } = await run.ended
    expect(performance.now() - second).toBeLessThan(1_000)
    expect(code).toBe(143)
    expect(records(stdout).at(-1)).toMatchObject({ type: "session_end", success: false })
    // Not after a while: what is killed is gone when the process is.
    expect(await lastingSurvivors(space.root, 200)).toEqual([])
  })

  for (const mode of ["json", "rpc"]) {
    it(`closes the stream of ${mode} mode though a second signal ends it at once`, async () => {
      await using space = await makeWorkspace()
      await install(space, "rude", deaf.replace("commands: []", `commands: [], events: ["agent_settled", "session_shutdown"]`))
      await space.file("script.json", JSON.stringify({ steps: [{ tools: [{ name: "bash", args: { command: "exec sleep 600" } }] }] }))
      const spoken = mode === "rpc"
      const run = startNimlet({ args: ["--mode", mode, "--script", "script.json", ...(spoken ? [] : ["go"])], cwd: space.work, home: space.home, holdStdin: spoken })
      run.child.stdin?.write(`{"id":"1","type":"prompt","message":"go"}\n`)
      await run.until((stdout) => stdout.includes("tool_call"))
      run.signal("SIGTERM")
      await run.until((stdout) => stdout.includes("tool_result"))
      run.signal("SIGTERM")
      const { code, stdout } = await run.ended
      expect(code).toBe(143)
      expect(records(stdout).at(-1)).toMatchObject({ type: "session_end", success: false })
      expect(await lastingSurvivors(space.root)).toEqual([])
    })
  }
})
