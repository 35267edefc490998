import { describe, expect, it } from "vitest"
import { startModelStub } from "../kit/ModelStub.ts"
import { anthropic } from "../kit/Providers.ts"
import { checkRecords } from "../kit/RecordOrder.ts"
import { makeWorkspace, records, startNimlet } from "../kit/Workspace.ts"

const types = (all: ReadonlyArray<{ readonly type?: unknown }>) => all.map((record) => String(record.type)).filter((type) => !type.endsWith("_delta"))

describe("nimlet --mode json", () => {
  it("puts piped text before the prompt and writes every record of the run in order", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ thinking: "a diff", tools: [{ name: "read", args: { path: "a.txt" } }] }, { text: "Looks right." }])
    await space.file("a.txt", "alpha\n")
    const run = await space.nimlet(["--mode", "json", ...anthropic.args, "review this"], { stdin: "+added line\n", env: anthropic.env(stub.url) })
    expect(run.stderr).toBe("")
    expect(run.code).toBe(0)
    const all = records(run.stdout)
    expect(checkRecords(all)).toEqual([])
    expect(types(all)).toEqual([
      "session_start", "message", "run_start",
      "step_start", "tool_call", "tool_result", "step_end",
      "step_start", "message", "step_end", "run_end", "session_end"
    ])
    expect(all.every((record) => record["version"] === 1)).toBe(true)
    expect(all.find((record) => record["type"] === "run_start")!["prompt"]).toBe("+added line\n\nreview this")
    expect(all.filter((record) => record["type"] === "message_delta").map((record) => record["delta"]).join("")).toBe("Looks right.")
    expect(all.filter((record) => record["type"] === "thinking_delta").map((record) => record["delta"]).join("")).toBe("a diff")
    expect(all.find((record) => record["type"] === "tool_result")!["output"]).toContain("alpha")
    expect(all.find((record) => record["type"] === "step_end")!["usage"]).toMatchObject({ input_tokens: 100, output_tokens: 20 })
    expect(all.at(-1)).toMatchObject({ type: "session_end", success: true })
  })

  it("closes run and session after a refused key, with an error record and exit code 1", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ status: 401 }])
    const run = await space.nimlet(["--mode", "json", ...anthropic.args, "hello"], { env: anthropic.env(stub.url) })
    expect(run.code).toBe(1)
    const all = records(run.stdout)
    expect(checkRecords(all)).toEqual([])
    expect(types(all)).toEqual(["session_start", "message", "run_start", "step_start", "step_end", "error", "run_end", "session_end"])
    expect(all.at(-1)!["success"]).toBe(false)
    expect(run.stdout + run.stderr).not.toContain("test-key")
    expect(stub.requests).toHaveLength(1)
  })

  it("does not start without a key unless the offline model is named, and says what to do", async () => {
    await using space = await makeWorkspace()
    const bare = await space.nimlet(["--mode", "json", "hello"])
    expect([bare.code, bare.stdout]).toEqual([1, ""])
    expect(bare.stderr).toContain("ANTHROPIC_API_KEY")
    const named = await space.nimlet(["--mode", "json", "--provider", "anthropic", "hello"])
    expect([named.code, named.stdout]).toEqual([1, ""])
    expect(named.stderr).toContain("ANTHROPIC_API_KEY")
    const offline = await space.nimlet(["--mode", "json", "--provider", "offline", "list the files"])
    expect(offline.code).toBe(0)
    expect(checkRecords(records(offline.stdout))).toEqual([])
  })

  it("streams a delta before the answer is whole", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ deltas: ["first ", "second"], hang: 4 }])
    const running = startNimlet({ args: ["--mode", "json", ...anthropic.args, "go"], cwd: space.work, home: space.home, env: anthropic.env(stub.url) })
    await running.until((stdout) => stdout.includes("first "))
    running.signal("SIGINT")
    const run = await running.ended
    expect(run.code).toBe(130)
    const all = records(run.stdout)
    expect(types(all).slice(-2)).toEqual(["run_end", "session_end"])
    expect(all.at(-1)!["success"]).toBe(false)
    expect((await stub.ended(1)).aborted).toBe(true)
  })

  it("keeps a tool's output apart, stores details in the session, and tells a long output live", async () => {
    await using space = await makeWorkspace()
    await space.file("script.json", JSON.stringify({ steps: [{ tool: "bash", args: { command: "printf one; printf two >&2; exit 3" } }, { text: "failed" }] }))
    const run = await space.nimlet(["--mode", "json", "--script", "script.json", "go"])
    expect(run.code).toBe(0)
    const all = records(run.stdout)
    expect(checkRecords(all)).toEqual([])
    const result = all.find((record) => record["type"] === "tool_result")!
    expect(result["is_error"]).toBe(true)
    expect(result["output"]).toContain("exit_code: 3")
    expect(all.filter((record) => record["type"] === "tool_output_delta").map((record) => record["delta"]).join("")).toMatch(/onetwo|twoone/)
  })

  it("goes on without a pipe that stays silent beside a prompt, and says so", async () => {
    await using space = await makeWorkspace()
    const run = await space.nimlet(["--mode", "json", "--provider", "offline", "--stdin-wait", "0.2", "list the files"], { holdStdin: true })
    expect(run.code).toBe(0)
    expect(records(run.stdout).find((record) => record["type"] === "diagnostic")!["message"]).toContain("standard input")
  })

  it("refuses a tool name nobody offers with exit code 2, after a whole stream", async () => {
    await using space = await makeWorkspace()
    const run = await space.nimlet(["--mode", "json", "--provider", "offline", "--tools", "read,telepathy", "hello"])
    expect(run.code).toBe(2)
    expect(run.stderr).toContain("telepathy")
    expect(types(records(run.stdout))).toEqual(["session_start", "session_end"])
  })
})
