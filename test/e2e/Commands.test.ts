/** Shell commands of the model in whole runs: what they read, what they leave running, how much of them is kept. */
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { startRpc } from "../kit/RpcDriver.ts"
import { lastingSurvivors, makeWorkspace, records, startNimlet, type Workspace } from "../kit/Workspace.ts"

const script = (space: Workspace, ...commands: ReadonlyArray<string>) =>
  space.file("script.json", JSON.stringify({ steps: [...commands.map((command) => ({ tool: "bash", args: { command } })), { text: "done" }] }))
const outputsOf = (stdout: string) => records(stdout).filter((record) => record["type"] === "tool_result").map((record) => String(record["output"]))
describe("a command of the model", () => {
  it("that leaves something running answers at once and names it, and nothing of it outlives the session", async () => {
    await using space = await makeWorkspace()
    await script(space, "sleep 600 & echo done", "nohup sleep 601 >/dev/null 2>&1 & echo done", "setsid sh -c 'touch up; sleep 602' & until [ -e up ]; do sleep 0.01; done; echo done", "(while :; do echo tick; sleep 1; done) & echo done")
    const run = await space.nimlet(["--mode", "json", "--script", "script.json", "go"])
    const outputs = outputsOf(run.stdout)
    expect(outputs).toHaveLength(4)
    const pids = outputs.map((output) => Number(/still running in the background, until the session ends: (\d+) /.exec(output)?.[1]))
    expect(outputs[2]).toMatch(/sleep 602.* \(in a process group of its own\)/)
    expect(pids.filter((pid) => !Number.isInteger(pid))).toEqual([])
    expect(await lastingSurvivors(space.root)).toEqual([])
  })

  it("that reads finds nothing, also where a program drives us by standard input", async () => {
    await using space = await makeWorkspace()
    await script(space, "cat; read line; echo \"read:$line:\"; grep -c x", "cat -")
    const rpc = startRpc(space, ["--script", "script.json", "--no-session"])
    const turn = rpc.send("prompt", { message: "go" })
    const stats = rpc.send("get_state")
    await rpc.turn(turn)
    const { stdout } = await rpc.end()
    expect(outputsOf(stdout)[0]).toContain("stdout:\nread::\n0\n")
    expect(records(stdout).some((record) => record["type"] === "response" && record["id"] === stats)).toBe(true)
  })

  it("that prints without end costs little memory, and the stream of records stays right", async () => {
    await using space = await makeWorkspace()
    await script(space, "echo begun", "yes | head -c 200M", "until [ -e measured ]; do sleep 0.01; done")
    const run = startNimlet({ args: ["--mode", "json", "--script", "script.json", "go"], cwd: space.work, home: space.home })
    const status = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${run.child.pid}/status`, "utf8"))?.[1])
    await run.until((stdout) => stdout.includes("tool_result"))
    const before = status("VmRSS")
    await run.until((stdout) => stdout.split("tool_result").length > 2)
    expect(status("VmHWM") - before).toBeLessThan(100_000)
    await space.file("measured", "")
    const { code, stdout } = await run.ended
    expect(code).toBe(0)
    expect(outputsOf(stdout)[1]).toMatch(/the first 67108864 of 209715200 bytes are in /)
  })
})
