/** Text mode with extensions, at a real terminal: what is shown, what is asked, and what the model may ask. */
import { describe, expect, it } from "vitest"
import { startModelStub } from "../kit/ModelStub.ts"
import { anthropic } from "../kit/Providers.ts"
import { heardBy, installPuppet } from "../kit/Puppet.ts"
import { checkRecords } from "@nimlet/protocol"
import { makeWorkspace, records, startNimlet, type Workspace } from "../kit/Workspace.ts"

const plain = { TERM: "xterm", NO_COLOR: "1" }
const script = async (space: Workspace, steps: ReadonlyArray<object>) => ["--script", await space.file("script.json", JSON.stringify({ steps }))]
const tool = (name: string, more: object = {}) => ({ name, description: `${name}.`, input_schema: { type: "object" }, ...more })

/** Runs at a terminal; each answer is typed when its prompt is on the screen. */
const atTerminal = async (space: Workspace, args: ReadonlyArray<string>, answers: ReadonlyArray<string> = [], env: Record<string, string> = plain) => {
  const run = startNimlet({ args, cwd: space.work, home: space.home, tty: true, holdStdin: true, env })
  for (const [index, answer] of answers.entries()) {
    await run.until((screen) => screen.split("\n> ").length > index + 1)
    run.child.stdin!.write(`${answer}\n`)
  }
  return run.ended
}
const linesOf = (stdout: string) => stdout.split("\r\n")

describe("what an extension shows at a terminal", () => {
  // E-253 E-254 E-256 E-257 X-084
  it("is its status and the lines of its widget; empty ones take them away, so that the same is said when it comes back", async () => {
    await using space = await makeWorkspace()
    const status = (text: string) => ({ type: "update", status: { key: "job", text } })
    const widget = (...lines: ReadonlyArray<string>) => ({ type: "update", widget: { key: "agents", lines, placement: "" } })
    await installPuppet(space, "shows", {
      register: { commands: [{ name: "show" }] },
      replies: {
        show: [status("busy"), status("busy"), status(""), status("busy"), widget("one", "two"), widget("one", "two"), widget(), widget("one", "two"), { message: "shown" }]
      }
    })
    const run = await atTerminal(space, ["/show"])
    expect(linesOf(run.stdout).filter((line) => line.startsWith("[shows:"))).toEqual([
      "[shows:job] busy", "[shows:job] busy", "[shows:agents] one", "[shows:agents] two", "[shows:agents] one", "[shows:agents] two"
    ])
  })

  // E-259 E-260 E-261 E-262 X-086
  it("is a notification, in the style of its level: errors and warnings have one, the rest is plain", async () => {
    await using space = await makeWorkspace()
    const say = (level: string) => ({ type: "update", notification: { level, message: `a word of ${level}` } })
    await installPuppet(space, "says", { register: { commands: [{ name: "say" }] }, replies: { say: [...["error", "warning", "info", "whisper"].map(say), { message: "said" }] } })
    const run = await atTerminal(space, ["/say"], [], { TERM: "xterm" })
    expect(linesOf(run.stdout).filter((line) => line.includes("a word of"))).toEqual([
      "\u001b[31merror: a word of error\u001b[0m", "\u001b[33mwarning: a word of warning\u001b[0m", "a word of info", "a word of whisper"
    ])
  })
})

describe("an extension's tool at a terminal", () => {
  const called = (...names: ReadonlyArray<string>) => [{ tools: names.map((name, n) => ({ name, args: { n } })) }, { text: "called" }]
  const asked = (stdout: string) => [...stdout.matchAll(/Allow (\w+):/g)].map(([, name]) => name)

  // E-272 E-273 X-091
  it("is asked for the first time, and what is answered for the session holds for the tool, whatever its arguments", async () => {
    await using space = await makeWorkspace()
    await installPuppet(space, "two", { register: { tools: [tool("first", { capabilities: ["read"] }), tool("second")] } })
    const run = await atTerminal(space, [...(await script(space, called("first", "first", "second", "first"))), "go"], ["s", "n"])
    expect(asked(run.stdout)).toEqual(["first", "second"])
    const calls = heardBy(space).filter(({ line }) => line.type === "tool").map(({ line }) => [line.name, line.arguments.n])
    expect(calls).toEqual([["first", 0], ["first", 1], ["first", 3]])
    expect(run.stdout).toContain("approval_denied: denied by the user")
  })

  // X-092 X-093
  it("runs without a question in the other family when it only reads or only talks to the user, and no other does", async () => {
    await using space = await makeWorkspace()
    const capabilities = { reads: ["read"], asks: ["user"], both: ["read", "user"], writes: ["read", "write"], none: [] }
    const tools = Object.entries(capabilities).map(([name, capabilities]) => tool(name, { capabilities }))
    await installPuppet(space, "other", { root: "~/.niminal/extensions", register: { tools } })
    const run = await atTerminal(space, [...(await script(space, called(...Object.keys(capabilities)))), "go"], ["n", "n"])
    expect(asked(run.stdout)).toEqual(["writes", "none"])
    expect(heardBy(space).filter(({ line }) => line.type === "tool").map(({ line }) => line.name).toSorted()).toEqual(["asks", "both", "reads"])
  })
})

describe("a question of the model", () => {
  const question = { name: "ask_user", args: { question: "Which environment?", options: ["staging", "production"] } }

  // E-172
  it("is answered at the terminal, and extensions hear of no call", async () => {
    await using space = await makeWorkspace()
    await space.file("a.txt", "alpha\n")
    await installPuppet(space, "hears", { register: { events: ["tool_call", "tool_result"] }, replies: { tool_call: [{ allow: false }] } })
    await using stub = await startModelStub([{ tools: [question, { name: "read", args: { path: "a.txt" } }] }, { text: "Done." }])
    const run = await atTerminal(space, [...anthropic.args, "deploy"], ["2"], { ...plain, ...anthropic.env(stub.url) })
    expect(run.code).toBe(0)
    expect(run.stdout).toContain("ask_user asks: Which environment?")
    expect(JSON.stringify(stub.requests[1]!.body)).toContain("production\"")
    const heard = heardBy(space).filter(({ line }) => line.type === "event").map(({ line }) => [line.event, line.payload.tool])
    expect(heard).toEqual([["tool_call", "read"]])
  })

  it("can be dismissed, and is unavailable where nobody can be asked: the model reads which", async () => {
    await using space = await makeWorkspace()
    const steps = [{ tools: [question] }, { text: "As you like." }]
    expect((await atTerminal(space, [...(await script(space, steps)), "go"], [""])).stdout).toContain("The user dismissed the question.")
    const run = await space.nimlet(["--mode", "json", ...(await script(space, steps)), "go"])
    expect(run.code).toBe(0)
    expect(records(run.stdout).find((record) => record["type"] === "tool_result")).toMatchObject({ is_error: true, output: "User questions are unavailable in this interface." })
  })
})

describe("an answer that an extension changed before it was saved", () => {
  const makeSpace = async () => {
    const space = await makeWorkspace()
    await installPuppet(space, "editor", { register: { events: ["message_end"] }, replies: { message_end: [{ text: "All ***." }] } })
    return { space, args: [...(await script(space, [{ text: "All secret." }])), "go"] }
  }

  //
  it("is the answer in print mode, and the message in JSON mode", async () => {
    const { args, space } = await makeSpace()
    await using _ = space
    expect((await space.nimlet(["-p", ...args])).stdout).toBe("All ***.\n")
    const all = records((await space.nimlet(["--mode", "json", ...args])).stdout)
    expect(checkRecords(all, { rewritten: true })).toEqual([])
    expect(all.filter((record) => record["type"] === "message" && record["role"] === "assistant")).toMatchObject([{ content: "All ***.", final: true }])
  })

  it("is said after what was streamed at a terminal", async () => {
    const { args, space } = await makeSpace()
    await using _ = space
    expect(linesOf((await atTerminal(space, args)).stdout).filter((line) => line !== "")).toEqual(["All secret.", "An extension changed this answer to:", "All ***."])
  })
})

describe("at a terminal an extension", () => {
  it("is told that it runs in text mode and that the person can be asked", async () => {
    await using space = await makeWorkspace()
    await installPuppet(space, "hears", {})
    await atTerminal(space, [...(await script(space, [{ text: "hi" }])), "go"])
    expect(heardBy(space)[0]!.line).toMatchObject({ type: "initialize", mode: "text", ui: true })
  })
})
