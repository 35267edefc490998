/** Machine modes among real pipes: what they read, who reads them, and how they end. */
import { checkRecords } from "@nimlet/protocol"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { startModelStub } from "../kit/ModelStub.ts"
import { anthropic } from "../kit/Providers.ts"
import { sessionProblems } from "../kit/SavedSessions.ts"
import { lastingSurvivors, makeWorkspace, type RunOptions, type RunResult, records, startNimlet, type Workspace } from "../kit/Workspace.ts"

const bin = process.env["NIMLET_BIN"] ?? join(import.meta.dirname, "../../apps/cli/dist/nimlet.mjs")
/** Runs a line of shell in which `nimlet` is the program; stdin and its end are the shell's. */
const shell = (space: Workspace, line: string, options: Partial<RunOptions> = {}): Promise<RunResult> =>
  space.nimlet(["-c", `nimlet() { "${process.execPath}" "${bin}" "$@"; }\n${line}`], { bin: "/bin/sh", ...options })
const script = (space: Workspace, ...steps: ReadonlyArray<object>) => space.file("script.json", JSON.stringify({ steps }))
const promptOf = (stdout: string) => records(stdout).find(({ type }) => type === "run_start")?.["prompt"]
const read = (space: Workspace, name: string) => readFileSync(join(space.work, name), "utf8").trim()

describe("standard input", () => {
  it.each([
    ["/dev/null", "nimlet --mode json --provider offline hi </dev/null", "hi"],
    ["closed", "nimlet --mode json --provider offline hi <&-", "hi"],
    ["empty", ": | nimlet --mode json --provider offline hi", "hi"],
    ["a file", "echo from a file > f; nimlet --mode json --provider offline hi <f", "from a file\n\nhi"],
    ["late", "(sleep 0.3; echo data) | nimlet --mode json --provider offline hi", "data\n\nhi"],
    ["slow once it has begun", "(echo a; sleep 0.5; echo b) | nimlet --mode json --provider offline --stdin-wait 0.3 hi", "a\nb\n\nhi"]
  ])("may be %s", async (_, line, prompt) => {
    await using space = await makeWorkspace()
    const run = await shell(space, line)
    expect([run.code, promptOf(run.stdout)]).toEqual([0, prompt])
  })

  it("may have 5 MB", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ text: "Long." }])
    const text = "0123456789abcdef".repeat(327_680)
    const run = await space.nimlet(["--mode", "json", ...anthropic.args, "hi"], { stdin: text, env: anthropic.env(stub.url) })
    expect([run.code, promptOf(run.stdout)]).toEqual([0, `${text}\n\nhi`])
  })

  it("may be UTF-8 with a mark, UTF-16 with one, and no text at all, which is told", async () => {
    await using space = await makeWorkspace()
    const nimlet = (stdin: Uint8Array) => space.nimlet(["--mode", "json", "--provider", "offline"], { stdin })
    expect(promptOf((await nimlet(Buffer.from("\uFEFFgrüße"))).stdout)).toBe("grüße")
    expect(promptOf((await nimlet(Buffer.from("\uFEFFgrüße", "utf16le"))).stdout)).toBe("grüße")
    const latin = await nimlet(Buffer.from("grüße", "latin1"))
    expect(promptOf(latin.stdout)).toBe("gr\uFFFD\uFFFDe")
    expect(records(latin.stdout).find(({ type }) => type === "diagnostic")).toMatchObject({ level: "warning", message: expect.stringContaining("UTF-8") })
  })
})

describe("a failure", () => {
  it.each([
    ["a refused connection", []],
    ["a stream that is cut", [{ deltas: ["half ", "an "], cutAfter: 2, times: 9 }]],
    ["a server that fails for ever", [{ status: 500, retryAfter: 0, times: 9 }]]
  ])("by %s is no success, in any mode", async (name, steps) => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub(steps)
    const url = name === "a refused connection" ? "http://127.0.0.1:9" : stub.url
    const json = await space.nimlet(["--mode", "json", ...anthropic.args, "hi"], { env: anthropic.env(url), limitMs: 60_000 })
    const all = records(json.stdout)
    expect(json.code).toBe(1)
    expect(checkRecords(all)).toEqual([])
    expect(all.at(-1)!["success"]).toBe(false)
    expect(all.filter(({ type }) => type === "error")).toHaveLength(1)
    if (steps.length > 0) stub.setScenario(steps)
    const print = await space.nimlet(["-p", ...anthropic.args, "hi"], { env: anthropic.env(url), limitMs: 60_000 })
    expect([print.code, print.stdout]).toEqual([1, ""])
    expect(print.stderr).toContain("error: ")
  }, 120_000)

  it("of usage is exit 2, with nothing on stdout", async () => {
    await using space = await makeWorkspace()
    for (const args of [["--mode", "json", "--no-such", "hi"], ["--mode", "xml", "hi"], ["--mode", "json", "--provider", "offline"]]) {
      const run = await space.nimlet(args)
      expect([run.code, run.stdout]).toEqual([2, ""])
    }
  })
})

describe("a reader", () => {
  const chatty = [{ tool: "bash", args: { command: "seq 1 20000; echo $$ > done" } }, { text: "All printed." }]

  it("who goes after the first line changes nothing: the run comes to its end, in silence", async () => {
    await using space = await makeWorkspace()
    await script(space, ...chatty)
    for (let round = 0; round < 3; round++) {
      const run = await shell(space, "(nimlet --mode json --script script.json go; echo $? >code) | head -1")
      expect(records(run.stdout)).toMatchObject([{ type: "session_start" }])
      expect(run.stderr).toBe("")
      await expect.poll(() => read(space, "code")).toBe("0")
      expect(read(space, "done")).not.toBe("")
    }
    expect(sessionProblems(space.home)).toEqual([])
    expect(await lastingSurvivors(space.root)).toEqual([])
  }, 60_000)

  it.each([
    ["a full disk on stdout", ">/dev/full", ""],
    ["a full disk on stderr", "2>/dev/full", "session_start"],
    ["a closed stdout", ">&-", ""],
    ["a closed stderr", "2>&-", "session_start"],
    ["both closed", ">&- 2>&-", ""]
  ])("that is %s changes no result", async (_, redirection, first) => {
    await using space = await makeWorkspace()
    await script(space, ...chatty)
    const good = await shell(space, `nimlet --mode json --script script.json go ${redirection}`)
    expect(good.code).toBe(0)
    expect(good.stdout.includes("session_start")).toBe(first !== "")
    expect(read(space, "done")).not.toBe("")
    const bad = await shell(space, `nimlet --mode json --provider anthropic --model m go ${redirection}`, { env: { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "http://127.0.0.1:9" }, limitMs: 60_000 })
    expect(bad.code).toBe(1)
  }, 90_000)

  it("who is slow gets every record, whole and in order, to the last", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ deltas: { count: 20_000, chunk: "piece {i} and some more words that fill a pipe " } }])
    const args = ["--mode", "json", ...anthropic.args, "go"].join(" ")
    const run = await shell(space, `nimlet ${args} | (sleep 1.5; cat)`, { env: anthropic.env(stub.url) })
    const all = records(run.stdout)
    expect(checkRecords(all)).toEqual([])
    expect(run.stdout.length).toBeGreaterThan(1_000_000)
  }, 60_000)

  it("who is slow gets also what fits behind a full pipe", async () => {
    await using space = await makeWorkspace()
    const nimlet = "nimlet --mode json --script script.json go"
    await space.file("a.txt", "a line\n".repeat(20))
    const steps = (repeat: number) => script(space, { tool: "read", args: { path: "a.txt" }, repeat }, { text: "Done." })
    const lengthOf = async (repeat: number) => {
      await steps(repeat)
      return (await shell(space, nimlet)).stdout.length
    }
    const one = await lengthOf(1)
    const step = await lengthOf(2) - one
    // Records far smaller than the pipe, which holds 64 KiB; Node takes 16 more without a word.
    await steps(1 + Math.round((73 * 1024 - one) / step))
    const run = await shell(space, `${nimlet} | (sleep 1.5; cat)`)
    expect(run.stdout.length).toBeGreaterThan(66 * 1024)
    expect(run.stdout.length).toBeLessThan(80 * 1024)
    expect(records(run.stdout).at(-1)).toMatchObject({ type: "session_end", success: true })
  })
})

describe("a question in JSON mode", () => {
  it("is cancelled at once, whatever kind it is", async () => {
    await using space = await makeWorkspace()
    await space.extension("asks", {
      manifest: { name: "asks", command: ["./asks.mjs"] },
      files: {
        "asks.mjs": `#!/usr/bin/env node
import { createInterface } from "node:readline"
const send = (message) => console.log(JSON.stringify(message))
send({ type: "register", commands: [], tools: [{ name: "wonder", description: "w", input_schema: { type: "object" } }] })
const kinds = [{ method: "question", prompt: "?", options: ["a"] }, { method: "question", prompt: "?", options: [] }, { method: "hologram", prompt: "?" }]
const heard = []
let call
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line)
  if (message.type === "tool") {
    call = message.id
    kinds.forEach((kind, index) => send({ type: "ui_request", id: "q" + index, parent_id: call, ...kind }))
  }
  if (message.type === "ui_response") heard.push(message.cancelled)
  if (message.type === "ui_response" && heard.length === kinds.length) send({ type: "response", id: call, content: heard.join() })
}
`
      }
    })
    await script(space, { tool: "wonder", args: {} }, { text: "ok" })
    const run = await space.nimlet(["--mode", "json", "--script", "script.json", "go"])
    expect(records(run.stdout).find(({ type }) => type === "tool_result")).toMatchObject({ output: "true,true,true", is_error: false })
    expect(records(run.stdout).find(({ type }) => type === "tool_result")!["duration_ms"]).toBeLessThan(1000)
  })
})

/** An extension that waits before it registers (or for ever), and leaves a file when its session has ended. */
const lingering = (wait: number) => ({
  manifest: { name: "lingers", command: ["./lingers.mjs"] },
  files: {
    "lingers.mjs": `#!/usr/bin/env node
import { spawn } from "node:child_process"
import { writeFileSync } from "node:fs"
import { createInterface } from "node:readline"
import { createServer } from "node:net"
const send = (message) => console.log(JSON.stringify(message))
createServer().listen(0)
spawn("sleep", ["60"], { stdio: "inherit" })
writeFileSync("starting", "")
setTimeout(() => send({ type: "register", commands: [], events: ["session_start", "session_end"] }), ${wait})
for await (const line of createInterface({ input: process.stdin })) {
  const { event, id, type } = JSON.parse(line)
  if (type === "event") send({ type: "response", id })
  if (event === "session_end") writeFileSync("ended", "")
}
`
  }
})

describe("a signal", () => {
  const start = (space: Workspace, args: ReadonlyArray<string>, options: Partial<RunOptions> = {}) =>
    startNimlet({ args: ["--mode", "json", ...args], cwd: space.work, home: space.home, ...options })

  it.each([["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const)("%s in a call ends all in order: call, turn, extensions, session", async (signal, code) => {
    await using space = await makeWorkspace()
    await space.extension("lingers", lingering(0))
    await script(space, { tool: "bash", args: { command: "echo begun; sleep 60" } }, { text: "never" })
    const running = start(space, ["--script", "script.json", "go"])
    await running.until((stdout) => stdout.includes("tool_output_delta"))
    const at = performance.now()
    running.signal(signal)
    const run = await running.ended
    expect(run.code).toBe(code)
    expect(performance.now() - at).toBeLessThan(5500)
    const all = records(run.stdout)
    expect(checkRecords(all)).toEqual([])
    expect(all.at(-1)).toMatchObject({ type: "session_end", success: false })
    expect(all.filter(({ type }) => type === "tool_result")).toHaveLength(1)
    expect(readdirSync(space.work)).toContain("ended")
    expect(await lastingSurvivors(space.root)).toEqual([])
    expect(sessionProblems(space.home)).toEqual([])
  })

  it("while extensions start leaves records that are right, too", async () => {
    await using space = await makeWorkspace()
    await space.extension("lingers", lingering(20_000))
    const running = start(space, ["--provider", "offline", "go"])
    await running.until((stdout) => stdout.includes("session_start"))
    await expect.poll(() => readdirSync(space.work), { timeout: 10_000 }).toContain("starting")
    running.signal("SIGTERM")
    const run = await running.ended
    expect(run.code).toBe(143)
    expect(checkRecords(records(run.stdout))).toEqual([])
    expect(records(run.stdout).map(({ type }) => type)).toEqual(["session_start", "diagnostic", "session_end"])
    expect(await lastingSurvivors(space.root)).toEqual([])
  })

  it("at any moment of the start leaves right records, or none", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ text: "fine", repeat: "always" }])
    for (let wait = 20; wait <= 240; wait += 44) {
      const running = start(space, [...anthropic.args, "go"], { env: anthropic.env(stub.url) })
      await setTimeout(wait)
      running.signal("SIGINT")
      const run = await running.ended
      expect(run.stderr).toBe("")
      if (run.code === 0 || run.stdout === "") continue
      expect(run.code).toBe(130)
      expect(checkRecords(records(run.stdout))).toEqual([])
    }
  }, 60_000)

  it("that comes a second time ends at once, and takes commands and extensions along", async () => {
    await using space = await makeWorkspace()
    await space.extension("lingers", { ...lingering(0), manifest: { name: "lingers", command: ["./stubborn.sh"] }, files: { "stubborn.sh": `#!/bin/sh\ntrap '' TERM\necho '{"type":"register","commands":[]}'\nwhile :; do sleep 1; done\n` } })
    await script(space, { tool: "bash", args: { command: "trap '' TERM; echo begun; while :; do sleep 1; done" } }, { text: "never" })
    const running = start(space, ["--script", "script.json", "go"])
    await running.until((stdout) => stdout.includes("tool_output_delta"))
    running.signal("SIGTERM")
    await setTimeout(50)
    const at = performance.now()
    running.signal("SIGTERM")
    expect((await running.ended).code).toBe(143)
    expect(performance.now() - at).toBeLessThan(1000)
    expect(await lastingSurvivors(space.root)).toEqual([])
  })

  it("ends a run whose reader takes nothing any more", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ deltas: { count: 20_000, chunk: "piece {i} " } }, { hang: true }])
    const running = start(space, [...anthropic.args, "go"], { env: anthropic.env(stub.url) })
    await running.until((stdout) => stdout.includes("message_delta"))
    running.child.stdout!.pause()
    await stub.ended(1)
    const exited = new Promise<number | null>((done) => running.child.once("exit", done))
    const at = performance.now()
    running.signal("SIGTERM")
    expect(await exited).toBe(143)
    expect(performance.now() - at).toBeLessThan(5500)
    running.child.stdout!.resume()
    await running.ended
  })
})

describe("a sub-agent", () => {
  it("is a nimlet that an extension starts by NIMLET_BIN, and whose records it reads", async () => {
    await using space = await makeWorkspace()
    await space.extension("delegates", {
      manifest: { name: "delegates", command: ["./delegates.mjs"] },
      files: {
        "delegates.mjs": `#!/usr/bin/env node
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
const send = (message) => console.log(JSON.stringify(message))
send({ type: "register", commands: [], tools: [{ name: "delegate", description: "d", input_schema: { type: "object" } }] })
for await (const line of createInterface({ input: process.stdin })) {
  const { arguments: args, id, type } = JSON.parse(line)
  if (type !== "tool") continue
  const child = spawn(process.execPath, [process.env.NIMLET_BIN, "--mode", "json", "--no-session", "--tools", "read,grep", "--provider", "offline"], { stdio: ["pipe", "pipe", "inherit"] })
  child.stdin.end(args.task)
  let text = ""
  for await (const record of createInterface({ input: child.stdout })) {
    const { content, role, type } = JSON.parse(record)
    if (type === "message" && role === "assistant") text = content
  }
  send({ type: "response", id, content: "the sub-agent says: " + text })
}
`
      }
    })
    await script(space, { tool: "delegate", args: { task: "what can you do?" } }, { text: "Delegated." })
    const run = await space.nimlet(["--mode", "json", "--script", "script.json", "go"])
    expect(run.code).toBe(0)
    expect(records(run.stdout).find(({ type }) => type === "tool_result")).toMatchObject({ is_error: false, output: expect.stringMatching(/the sub-agent says: ./) })
    expect(await lastingSurvivors(space.root)).toEqual([])
  })

  it.each(["on its standard input", "on its command line"])("takes every flag that those who start one give it, and its task %s", async (where) => {
    await using stub = await startModelStub([
      { tools: [{ name: "delegate", args: {} }] },
      { tools: [{ name: "read", args: { path: "a.txt" } }, { name: "bash", args: { command: "touch done" } }] },
      { text: "It says hello." },
      { text: "Delegated." }
    ])
    await using space = await makeWorkspace()
    await space.file("a.txt", "hello")
    await space.file(".nimlet/skills/greet/SKILL.md", "---\nname: greet\ndescription: greets\n---\nGreet.\n")
    const typed = where === "on its command line"
    await space.extension("delegates", {
      // Keys are withheld unless they are named.
      manifest: { name: "delegates", command: ["./delegates.mjs"], env: ["ANTHROPIC_API_KEY"] },
      files: {
        "delegates.mjs": `#!/usr/bin/env node
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
const send = (message) => console.log(JSON.stringify(message))
send({ type: "register", commands: [], tools: [{ name: "delegate", description: "d", input_schema: { type: "object" } }] })
for await (const line of createInterface({ input: process.stdin })) {
  const { id, type } = JSON.parse(line)
  if (type !== "tool") continue
  const flags = ["--mode", "json", "--no-session", "--tools", "read,grep,skill", "--append-system-prompt", "You are a scout.", "--provider", process.env.NIMINAL_PROVIDER, "--model", "claude-opus-4-6", "--thinking", "low", "--max-steps", "30", "--approve"]
  const child = spawn(process.execPath, [process.env.NIMINAL_BIN, ...flags${typed ? ', "look at a.txt"' : ""}], { stdio: [${typed ? '"ignore"' : '"pipe"'}, "pipe", "pipe"] })
  ${typed ? "" : 'child.stdin.end("look at a.txt")'}
  let said = ""
  child.stderr.on("data", (data) => (said += data))
  const seen = []
  for await (const record of createInterface({ input: child.stdout })) {
    const { content, role, tool_name, type } = JSON.parse(record)
    if (type === "tool_call") send({ type: "tool_update", id, content: tool_name })
    if (type === "message" && role === "assistant") seen.push(content)
    if (type === "session_end") seen.push(type)
  }
  send({ type: "response", id, content: JSON.stringify({ seen, said }) })
}
`
      }
    })
    const run = await space.nimlet(["--mode", "json", ...anthropic.args, "--approve", "go"], { env: anthropic.env(stub.url) })
    expect(run.code).toBe(0)
    expect(checkRecords(records(run.stdout))).toEqual([])
    const told = records(run.stdout).find(({ type }) => type === "tool_result")
    expect(told).toMatchObject({ is_error: false })
    expect(JSON.parse(told?.["output"])).toEqual({ seen: ["It says hello.", "session_end"], said: "" })
    const [, first, second] = stub.requests.map(({ body }) => body as Record<string, any>)
    expect(first!["model"]).toBe("claude-opus-4-6")
    expect(JSON.stringify(first!["system"])).toMatch(/You are a scout\./)
    expect(JSON.stringify(first!["messages"])).toContain("look at a.txt")
    expect(first!["thinking"] ?? first!["output_config"]).toBeDefined()
    expect(first!["tools"].map(({ name }: { readonly name: string }) => name).toSorted()).toEqual(["grep", "read", "read_skill"])
    expect(JSON.stringify(second!["messages"].at(-1))).toContain("Unknown tool")
    expect(readdirSync(join(space.home, ".nimlet/sessions")).filter((name) => name.endsWith(".jsonl"))).toHaveLength(1)
    expect(await lastingSurvivors(space.root)).toEqual([])
  })
})
