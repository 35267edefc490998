/** A real run of each kind, held against the published schema and the order of records; and recorded streams, replayed. */
import { checkRecords } from "@nimlet/protocol"
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import { startModelStub } from "../kit/ModelStub.ts"
import { anthropic } from "../kit/Providers.ts"
import { startRpc, strangers } from "../kit/RpcDriver.ts"
import { sessionFiles, sessionProblems } from "../kit/SavedSessions.ts"
import { makeWorkspace, records, type RunResult, startNimlet, type Workspace } from "../kit/Workspace.ts"

const root = join(import.meta.dirname, "../..")
const read = (path: string) => ({ name: "read", args: { path } })

/** An extension that answers events as told, and calls of its tools with `result`. */
const answering = (answers: object, tools: ReadonlyArray<object> = [], result: object = {}) => ({
  manifest: { name: "answers", command: ["./answers.mjs"] },
  files: {
    "answers.mjs": `#!/usr/bin/env node
import { createInterface } from "node:readline"
const answers = ${JSON.stringify(answers)}
console.log(JSON.stringify({ type: "register", commands: [], tools: ${JSON.stringify(tools)}, events: Object.keys(answers) }))
for await (const line of createInterface({ input: process.stdin })) {
  const { event, id, type } = JSON.parse(line)
  if (type === "event") console.log(JSON.stringify({ type: "response", id, ...answers[event] }))
  if (type === "tool") console.log(JSON.stringify({ type: "response", id, ...${JSON.stringify(result)} }))
}
`
  }
})

interface Kind {
  readonly steps: ReadonlyArray<object>
  readonly prompt?: string
  readonly before?: (space: Workspace) => Promise<unknown>
  /** Interrupted when this is in stdout. */
  readonly interruptAt?: string
  readonly code: number
  /** Something that must have been in the stream for it to be of this kind. */
  readonly holds: (stream: ReadonlyArray<Record<string, any>>) => boolean
}
const has = (type: string, holds: (record: Record<string, any>) => boolean = () => true) => (stream: ReadonlyArray<Record<string, any>>) =>
  stream.some((record) => record["type"] === type && holds(record))
const small = { context_window: 30_000, reserve_tokens: 10_000, keep_recent_tokens: 1_000 }
const long = "a line of a long file, again and again\n".repeat(2_500)

const kinds: { readonly [name: string]: Kind } = {
  "text": { steps: [{ text: "Just words." }], code: 0, holds: has("message_delta") },
  "thinking": { steps: [{ thinking: "let me see", text: "Seen." }], code: 0, holds: has("thinking_delta") },
  "text of bytes apart": { steps: [{ text: "grüße, 世界 🎉", split: "everyByte" }], code: 0, holds: has("message", ({ content }) => content === "grüße, 世界 🎉") },
  "parallel calls": { steps: [{ text: "I look.", tools: [read("a.txt"), read("b.txt"), read("nothing.txt")] }, { text: "Seen." }], code: 0, holds: has("tool_result", ({ is_error }) => is_error) },
  "calls nobody can run": { steps: [{ tools: [{ name: "fly", args: {} }, { name: "read", args: { path: 7 } }] }, { text: "No." }], code: 0, holds: has("tool_result", ({ output }) => output.startsWith("Unknown tool")) },
  "a denied call": {
    steps: [{ tools: [read("a.txt")] }, { text: "Not allowed." }],
    before: (space) => space.extension("answers", answering({ tool_call: { allow: false, reason: "not today" } })),
    code: 0,
    holds: has("tool_result", ({ output }) => output === "approval_denied: not today")
  },
  "a refused prompt": {
    steps: [],
    before: (space) => space.extension("answers", answering({ input: { allow: false, reason: "not such words" } })),
    code: 1,
    holds: has("error", ({ step }) => step === -1)
  },
  "a failure at the first request": { steps: [{ status: 401 }], code: 1, holds: has("error", ({ step }) => step === 0) },
  "a failure after a call": { steps: [{ tools: [read("a.txt")] }, { status: 400 }], code: 1, holds: has("error", ({ step }) => step === 1) },
  "an answer without words": { steps: [{ text: "" }], code: 1, holds: has("error") },
  "a second attempt": { steps: [{ status: 429, retryAfter: 0, times: 1, text: "At last." }], code: 0, holds: has("diagnostic") },
  "an interrupted answer": { steps: [{ deltas: ["half "], hang: 4 }], interruptAt: "half ", code: 130, holds: has("error", ({ message }) => message === "Interrupted") },
  "an interrupted call": { steps: [{ tools: [{ name: "bash", args: { command: "echo begun; sleep 60" } }, read("a.txt")] }], interruptAt: "tool_output_delta", code: 130, holds: has("tool_result", ({ is_error }) => is_error) },
  "a stream that breaks off": { steps: [{ tools: [read("a.txt")] }, { deltas: ["half ", "an "], cutAfter: 2, times: 9 }], code: 1, holds: has("error", ({ step }) => step > 1) },
  "an answer that the output limit cut": { steps: [{ text: "One, ", finish: "length" }, { text: "two." }], code: 0, holds: has("message", ({ content, final }) => final && content === "two.") },
  "a filtered answer": { steps: [{ text: "", finish: "filter" }], code: 1, holds: has("error") },
  "a turn that its tools end": {
    steps: [{ text: "I deploy.", tools: [{ name: "deploy", args: {} }] }],
    before: (space) => space.extension("deploys", answering({}, [{ name: "deploy", description: "d", input_schema: { type: "object" } }], { content: "deployed", terminate: true })),
    code: 0,
    holds: has("tool_result", ({ terminate }) => terminate)
  },
  "words of an extension within a turn": {
    steps: [{ tools: [read("a.txt")] }, { text: "Heard." }, { text: "Again." }],
    before: (space) => space.extension("says", answering({ tool_result: { user_message: { content: "by the way", deliver_as: "follow_up" } } })),
    code: 0,
    holds: has("message", ({ content, role }) => role === "user" && content === "by the way")
  },
  "compaction": {
    steps: [{ tools: [read("long.txt")] }, { tools: [read("long.txt")] }, { text: "a summary" }, { text: "Read." }],
    before: async (space) => {
      await space.file("long.txt", long)
      await space.file("~/.nimlet/config.json", JSON.stringify({ agent: small }))
    },
    code: 0,
    holds: has("diagnostic", ({ message }) => message.includes("compacted"))
  },
  "a command": { steps: [], prompt: "/help", code: 0, holds: has("message", ({ role }) => role === "assistant") },
  "no such command": { steps: [], prompt: "/nonsense", code: 1, holds: has("error") },
  "a command that changes the session": { steps: [], prompt: "/new", code: 0, holds: (stream) => stream.filter(({ type }) => type === "session_start").length === 2 }
}

const play = async (space: Workspace, { before, interruptAt, prompt = "go", steps }: Kind): Promise<RunResult> => {
  await using stub = await startModelStub(steps as never)
  await space.file("a.txt", "alpha\n")
  await space.file("b.txt", "beta\n")
  await before?.(space)
  const running = startNimlet({ args: ["--mode", "json", ...anthropic.args, prompt], cwd: space.work, home: space.home, env: anthropic.env(stub.url) })
  if (interruptAt !== undefined) {
    await running.until((stdout) => stdout.includes(interruptAt))
    running.signal("SIGINT")
  }
  return await running.ended
}

describe("the stream of", () => {
  it.each(Object.entries(kinds))("%s is as published and in order, and so is its session", async (_, kind) => {
    await using space = await makeWorkspace()
    const run = await play(space, kind)
    const stream = records(run.stdout)
    expect(run.code).toBe(kind.code)
    expect(kind.holds(stream)).toBe(true)
    expect(checkRecords(stream)).toEqual([])
    expect(strangers(stream)).toEqual([])
    expect(stream.at(-1)!["success"]).toBe(kind.code === 0)
    expect(sessionProblems(space.home)).toEqual([])
  }, 40_000)
})

describe("nimlet replay", () => {
  it("finds nothing in a whole stream and its session; otherwise it says what is wrong and in which line", async () => {
    await using space = await makeWorkspace()
    const run = await space.nimlet(["--mode", "json", "--provider", "offline", "list the files"])
    await space.file("whole.jsonl", run.stdout)
    const whole = await space.nimlet(["replay", "whole.jsonl"])
    expect([whole.code, whole.stdout]).toEqual([0, `${records(run.stdout).length} records of JSON mode: nothing is wrong\n`])
    expect((await space.nimlet(["replay", sessionFiles(space.home)[0]!])).stdout).toContain("lines of a session: nothing is wrong")
    const lines = run.stdout.trimEnd().split("\n")
    const end = lines.findIndex((line) => line.includes(`"run_end"`))
    await space.file("cut.jsonl", `${lines.toSpliced(end, 1, "{oops").join("\n")}`)
    const cut = await space.nimlet(["replay", "cut.jsonl"])
    expect(cut.code).toBe(1)
    expect(cut.stdout).toContain(`cut.jsonl:${end + 1}: this is no JSON`)
    expect(cut.stdout).toContain(`cut.jsonl:${lines.length}: session_end within a run`)
    expect(cut.stdout).toContain(`cut.jsonl:${lines.length}: the last line has no end`)
    await space.file("session.jsonl", `{"type":"session","workspace":"/w"}\n{"type":"tool_result","id":"1","output":"","is_error":false}\n`)
    expect((await space.nimlet(["replay", "session.jsonl"])).stdout).toBe(`session.jsonl:2: a result of "1", which nobody called\n2 lines of a session: 1 problem\n`)
    await space.file("empty.jsonl", "")
    expect((await space.nimlet(["replay", "empty.jsonl"])).code).toBe(1)
    const missing = await space.nimlet(["replay", "missing.jsonl"])
    expect([missing.code, missing.stdout]).toEqual([1, ""])
    expect(missing.stderr).toContain("missing.jsonl")
  })

  it("knows a stream of RPC mode, and follows its queue", async () => {
    await using space = await makeWorkspace()
    await space.file("script.json", JSON.stringify({ steps: [{ tool: "bash", args: { command: "while [ ! -e go ]; do sleep 0.02; done" } }, { text: "One." }, { text: "Two." }] }))
    const rpc = startRpc(space, ["--script", "script.json"])
    const first = rpc.send("prompt", { message: "go" })
    await rpc.until(({ type }) => type === "tool_call")
    await rpc.ask("follow_up", { message: "then this" })
    await space.file("go", "")
    await rpc.turn(first)
    const { stdout } = await rpc.end()
    const lines = stdout.trimEnd().split("\n")
    await space.file("rpc.jsonl", stdout)
    expect((await space.nimlet(["replay", "rpc.jsonl"])).stdout).toBe(`${lines.length} records of RPC mode: nothing is wrong\n`)
    const taken = lines.findIndex((line) => line.includes(`"dequeue"`))
    await space.file("lost.jsonl", `${lines.toSpliced(taken, 1).join("\n")}\n`)
    expect((await space.nimlet(["replay", "lost.jsonl"])).stdout).toContain(`lost.jsonl:${lines.length - 1}: session_end while something waits in the queue`)
  })

  it("says that a session ends within a call", async () => {
    await using space = await makeWorkspace()
    await space.file("script.json", JSON.stringify({ steps: [{ tool: "bash", args: { command: "echo begun; exec sleep 60" } }] }))
    const running = startNimlet({ args: ["--mode", "json", "--script", "script.json", "go"], cwd: space.work, home: space.home })
    await running.until((stdout) => stdout.includes("tool_output_delta"))
    running.signal("SIGKILL")
    await running.ended
    const [session = ""] = sessionFiles(space.home)
    const replayed = await space.nimlet(["replay", session])
    expect([replayed.code, replayed.stdout]).toEqual([1, expect.stringContaining(": the session ends before the result of script_1")])
  })

  it("needs exactly one file; other words are a prompt", async () => {
    await using space = await makeWorkspace()
    expect((await space.nimlet(["replay", "--help"])).stdout).toContain("FILE")
    for (const mode of [["-p"], ["--mode", "json"]]) {
      expect((await space.nimlet([...mode, "--provider", "offline", "replay", "the", "video"])).stderr).toBe("")
      const meant = await space.nimlet([...mode, "--provider", "offline", "replay", "a.jsonl", "b.jsonl"])
      expect([meant.code, meant.stderr]).toEqual([0, "nimlet: these words go to the model as a prompt; for the command see `nimlet replay --help`\n"])
      expect((await space.nimlet([...mode, "--provider", "offline", "replay", "one", "two"])).stderr).toBe("")
    }
    await Promise.all(["one", "two"].map((name) => space.file(name, "")))
    expect((await space.nimlet(["-p", "--provider", "offline", "replay", "one", "two"])).stderr).toContain("nimlet replay --help")
    expect((await space.nimlet(["-p", "--provider", "offline", "sessions", "delete"], { stdin: "some text" })).stderr).toBe("")
    expect((await space.nimlet(["sessions", "--help"])).stdout).toContain("restore")
  })
})

describe("flags", () => {
  // J-016
  it("mean the same in JSON mode as in print mode", async () => {
    await using space = await makeWorkspace()
    const script = await space.file("script.json", JSON.stringify({ steps: [{ tool: "read", args: { path: "a.txt" } }, { text: "Read." }] }))
    await space.file("a.txt", "alpha\n")
    await space.extension("answers", answering({ tool_call: { allow: false, reason: "by the extension" } }))
    const flags = ["--script", script, "--tools", "read", "--no-session", "--no-extensions", "--stdin-wait", "1"]
    const print = await space.nimlet(["-p", ...flags, "go"])
    const json = await space.nimlet(["--mode", "json", ...flags, "go"])
    expect([print.code, print.stdout]).toEqual([0, "Read.\n"])
    expect(json.code).toBe(0)
    expect(records(json.stdout).find(({ final, type }) => type === "message" && final)!["content"]).toBe("Read.")
    expect(records(json.stdout).find(({ type }) => type === "tool_result")!["output"]).toContain("alpha")
    for (const mode of [["-p"], ["--mode", "json"]]) expect((await space.nimlet([...mode, "--no-session", "--resume", "go"])).code).toBe(2)
  })
})

describe("the examples of the SDK's README", () => {
  const bin = process.env["NIMLET_BIN"] ?? join(root, "apps/cli/dist/nimlet.mjs")
  it.each([["drive.ts", ["calls read", "alpha"]], ["drive-effect.ts", ["hello", "answered by offline"]]] as const)("%s runs as it stands", async (name, said) => {
    await using space = await makeWorkspace()
    await space.file("package.json", `{ "name": "alpha" }\n`)
    const { stderr, stdout } = await promisify(execFile)(process.execPath, [join(root, "packages/sdk/examples", name)], {
      cwd: space.work,
      env: { PATH: process.env["PATH"]!, HOME: space.home, NIMLET_BIN: bin },
      timeout: 20_000
    })
    expect(stderr).toBe("")
    for (const words of said) expect(stdout).toContain(words)
  })
})
