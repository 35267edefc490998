import { describe, expect, it } from "vitest"
import { startModelStub } from "../kit/ModelStub.ts"
import { anthropic } from "../kit/Providers.ts"
import { checkRecords } from "@nimlet/protocol"
import { makeWorkspace, records, startNimlet } from "../kit/Workspace.ts"

const types = (all: ReadonlyArray<{ readonly type?: unknown }>) => all.map((record) => String(record.type)).filter((type) => !type.endsWith("_delta"))

describe("nimlet --mode json", () => {
  // J-001 J-002 J-003 J-004 J-005 J-007 J-008 J-009 J-013 J-019 J-020 J-021 J-024 J-025 J-026 J-027 J-028 J-029 J-030
  // J-031 J-032 J-033 J-035 J-042 J-043 J-045 J-046 J-083 J-084 J-085 J-088 J-089 J-090 J-091
  it("puts piped text before the prompt and writes every record of the run in order", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ thinking: "a diff", tools: [{ name: "read", args: { path: "a.txt" } }] }, { text: "Looks right." }])
    await space.file("a.txt", "alpha\n")
    const run = await space.nimlet(["--mode", "json", ...anthropic.args, "--tools", "read,grep", "review this"], { stdin: "+added line\n", env: anthropic.env(stub.url) })
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
    expect(stub.requests[0]!.body).toMatchObject({ model: "claude-sonnet-4-6", tools: [{ name: "read" }, { name: "grep" }] })
    expect(stub.requests[0]!.path).toBe("/v1/messages")
  })

  // J-010 J-035 J-036 J-037 J-038 J-039 J-040 J-041 J-047 J-049 J-050 J-051 J-052 J-054 J-055 J-056 J-057 J-058 J-060
  // J-061 J-063 J-064 J-065 J-066 J-067 J-068 J-069
  it("gives each record its members", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ thinking: "hm", text: "I look.", tools: [{ name: "bash", args: { command: "echo one" } }] }, { text: "Done." }])
    const run = await space.nimlet(["--mode", "json", ...anthropic.args, "go"], { env: anthropic.env(stub.url) })
    const all = records(run.stdout)
    const session = { version: 1, session_id: expect.any(String) }
    const turn = { ...session, turn_id: expect.any(String) }
    const whole = { ...turn, run_id: expect.any(String) }
    const step = { ...whole, step: 0 }
    const call = { ...step, tool_id: expect.any(String), tool_name: "bash" }
    const model = "claude-sonnet-4-6"
    const first = (type: string) => all.find((record) => record["type"] === type)
    expect(first("session_start")).toMatchObject(session)
    expect(first("run_start")).toMatchObject({ ...whole, prompt: "go" })
    expect(first("step_start")).toMatchObject({ ...step, model })
    expect(first("message_delta")).toMatchObject({ ...step, delta: expect.any(String), model })
    expect(first("thinking_delta")).toMatchObject({ ...step, delta: expect.any(String) })
    expect(first("tool_call")).toMatchObject({ ...call, input: { command: "echo one" } })
    expect(first("tool_output_delta")).toMatchObject({ ...call, delta: expect.any(String) })
    expect(first("tool_result")).toMatchObject({ ...call, output: expect.stringContaining("one"), is_error: false })
    expect(first("step_end")).toMatchObject({ ...step, model })
    expect(first("run_end")).toMatchObject({ ...whole, model })
    expect(first("session_end")).toMatchObject({ ...session, success: true })
    const messages = all.filter((record) => record["type"] === "message")
    expect(messages).toMatchObject([
      { ...turn, role: "user", content: "go" },
      { ...turn, role: "assistant", content: "I look.", model, final: false },
      { ...turn, role: "assistant", content: "Done.", model, final: true }
    ])
    expect(messages[0]).not.toHaveProperty("final")
    expect(messages.filter((record) => "run_id" in record)).toEqual([])
  })

  // J-006 J-073
  it("takes piped text for the prompt when there is no other, and no commands from it", async () => {
    await using space = await makeWorkspace()
    const run = await space.nimlet(["--mode", "json", "--provider", "offline"], { stdin: `{"type":"abort"}` })
    expect(run.code).toBe(0)
    expect(records(run.stdout).find((record) => record["type"] === "run_start")!["prompt"]).toBe(`{"type":"abort"}`)
  })

  // J-014 J-029 J-042 J-059 J-072 J-089
  it("closes run and session after a refused key, with an error record and exit code 1", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ status: 401 }])
    const run = await space.nimlet(["--mode", "json", ...anthropic.args, "hello"], { env: anthropic.env(stub.url) })
    expect(run.code).toBe(1)
    const all = records(run.stdout)
    expect(checkRecords(all)).toEqual([])
    expect(types(all)).toEqual(["session_start", "message", "run_start", "step_start", "step_end", "error", "run_end", "session_end"])
    expect(all.find((record) => record["type"] === "error")).toMatchObject({ step: 0, message: expect.stringMatching(/./) })
    expect(all.at(-1)!["success"]).toBe(false)
    expect(run.stdout + run.stderr).not.toContain("test-key")
    expect(stub.requests).toHaveLength(1)
  })

  // J-011
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

  // J-014 J-030 J-089
  it.each([["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const)("streams a delta before the answer is whole, and ends in order on %s", async (signal, code) => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ deltas: ["first ", "second"], hang: 4 }])
    const running = startNimlet({ args: ["--mode", "json", ...anthropic.args, "go"], cwd: space.work, home: space.home, env: anthropic.env(stub.url) })
    await running.until((stdout) => stdout.includes("first "))
    running.signal(signal)
    const run = await running.ended
    expect(run.code).toBe(code)
    const all = records(run.stdout)
    expect(types(all).slice(-2)).toEqual(["run_end", "session_end"])
    expect(all.at(-1)!["success"]).toBe(false)
    expect((await stub.ended(1)).aborted).toBe(true)
  })

  // J-022 J-023 J-054 J-057 J-074 J-086 J-087
  it("keeps a tool's output apart, stores details in the session, and tells a long output live", async () => {
    await using space = await makeWorkspace()
    await space.file("script.json", JSON.stringify({ steps: [{ tool: "bash", args: { command: "printf one; while [ ! -e go ]; do sleep 0.02; done; printf two >&2; exit 3" } }, { text: "failed" }] }))
    const running = startNimlet({ args: ["--mode", "json", "--script", "script.json", "go"], cwd: space.work, home: space.home })
    await running.until((stdout) => stdout.includes("tool_output_delta"))
    await space.file("go", "")
    const run = await running.ended
    expect(run.code).toBe(0)
    const all = records(run.stdout)
    expect(checkRecords(all)).toEqual([])
    const result = all.find((record) => record["type"] === "tool_result")!
    expect(result["is_error"]).toBe(true)
    expect(result["output"]).toContain("exit_code: 3")
    expect(all.filter((record) => record["type"] === "tool_output_delta").map((record) => record["delta"]).join("")).toBe("onetwo")
  })

  // J-070
  it("goes on without a pipe that stays silent beside a prompt, and says so", async () => {
    await using space = await makeWorkspace()
    const run = await space.nimlet(["--mode", "json", "--provider", "offline", "--stdin-wait", "0.2", "list the files"], { holdStdin: true })
    expect(run.code).toBe(0)
    expect(records(run.stdout).find((record) => record["type"] === "diagnostic")).toMatchObject({ level: "warning", message: expect.stringContaining("standard input") })
  })

  // J-015
  it("refuses a tool name nobody offers with exit code 2, after a whole stream", async () => {
    await using space = await makeWorkspace()
    const run = await space.nimlet(["--mode", "json", "--provider", "offline", "--tools", "read,telepathy", "hello"])
    expect(run.code).toBe(2)
    expect(run.stderr).toContain("telepathy")
    expect(types(records(run.stdout))).toEqual(["session_start", "diagnostic", "session_end"])
  })
})
