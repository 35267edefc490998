import { checkRecords } from "@nimlet/protocol"
import { appendFileSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { startModelStub } from "../kit/ModelStub.ts"
import { anthropic } from "../kit/Providers.ts"
import { type RpcDriver, startRpc, strangers } from "../kit/RpcDriver.ts"
import { lastingSurvivors, makeWorkspace, records } from "../kit/Workspace.ts"

const offline = ["--provider", "offline", "--no-session"]
const ofType = (rpc: RpcDriver, type: string) => rpc.all().filter((record) => record["type"] === type)
/** Nothing is out of order, and every record is as published. */
const expectRight = (stdout: string) => {
  const all = records(stdout)
  expect(checkRecords(all, { mode: "rpc" })).toEqual([])
  expect(strangers(all, "rpc")).toEqual([])
}
/** A command that runs until the file `go` is there. */
const slow = "while [ ! -e go ]; do sleep 0.02; done; echo went"

/** Asks each kind of question when its command is run, and says what came back. */
const asker = `#!/usr/bin/env node
import { createInterface } from "node:readline"
const send = (message) => console.log(JSON.stringify(message))
send({
  type: "register",
  commands: [{ name: "ask" }, { name: "show" }, { name: "say" }],
  tools: [{ name: "danger", description: "d", input_schema: { type: "object" } }],
  events: ["session_start"]
})
let asking
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line)
  if (message.type === "event") send({ type: "response", id: message.id })
  if (message.type === "tool") send({ type: "response", id: message.id, content: "did it" })
  if (message.type === "ui_response") send({ type: "response", id: asking, message: JSON.stringify(message) })
  if (message.type !== "command") continue
  if (message.name === "ask") {
    asking = message.id
    send({ type: "ui_request", id: "q1", parent_id: message.id, method: "question", prompt: "Which?", options: ["red", "blue"] })
  }
  if (message.name === "show") {
    send({
      type: "response", id: message.id, message: "shown",
      status: { key: "s", text: "working" },
      widget: { key: "w", title: "W", content: [{ type: "text", text: "hi" }], actions: [{ id: "go", label: "Go" }] },
      notification: { level: "info", message: "for a person" }
    })
  }
  if (message.name === "say") send({ type: "response", id: message.id, message: "first", prompt: "list the files" })
}
`
const withAsker = { manifest: { name: "asker", command: ["./asker.mjs"] }, files: { "asker.mjs": asker } }

describe("nimlet --mode rpc", () => {
  it("answers a prompt at once, tells its turn, and ends it with the id of the prompt; twice", async () => {
    await using space = await makeWorkspace()
    await space.file("a.txt", "alpha\n")
    const rpc = startRpc(space, offline)
    const first = rpc.send("prompt", { message: "read a.txt" })
    expect(await rpc.turn(first)).toMatchObject({ success: true, request_id: first })
    const second = rpc.send("prompt", { message: "read nothing.txt" })
    await rpc.turn(second)
    const { code, stdout } = await rpc.end()
    expect(code).toBe(0)
    expectRight(stdout)
    const types = records(stdout).map(({ id, type }) => type === "response" ? `reply ${id}` : type)
    expect(types.indexOf(`reply ${first}`)).toBeLessThan(types.indexOf("run_start"))
    expect(types.filter((type) => type === "run_end")).toHaveLength(2)
    expect(types.at(-1)).toBe("session_end")
  })

  it("says of every line that is no command what is wrong with it, under its id, and goes on", async () => {
    await using space = await makeWorkspace()
    const rpc = startRpc(space, offline)
    rpc.raw("{oops\n\r\n[1]\n{\"id\":7,\"type\":\"get_state\"}\n")
    expect(await rpc.ask("bogus")).toMatchObject({ ok: false, error: "Unknown RPC command: bogus" })
    expect(await rpc.ask("prompt", { message: "  " })).toMatchObject({ ok: false, error: "prompt requires message." })
    expect(await rpc.ask("steer", { message: "x" })).toMatchObject({ ok: false, error: "Agent is idle; use prompt." })
    expect(await rpc.ask("set_steering_mode", { mode: "some" })).toMatchObject({ ok: false, error: "mode must be all or one-at-a-time." })
    expect(await rpc.ask("set_mode", { mode: "dance" })).toMatchObject({ ok: false, error: expect.stringContaining("dance") })
    expect(await rpc.ask("approve", { request_id: "none", decision: "once" })).toMatchObject({ ok: false, error: expect.stringContaining("none") })
    expect(await rpc.ask("command", { name: "no such" })).toMatchObject({ ok: false })
    expect(await rpc.ask("get_state")).toMatchObject({ ok: true, busy: false, queued: 0, steering_mode: "one-at-a-time", mode: "act", provider: "offline" })
    expect(rpc.all().filter((record) => record["id"] === "").map(({ error }) => error)).toEqual([
      expect.stringMatching(/^Invalid JSON: /), "Command must be a JSON object.", "Command requires string id and type fields."
    ])
    // A last line without its end counts, too.
    rpc.raw(`{"id":"last","type":"get_state"}`)
    const { code, stdout } = await rpc.end()
    expect(code).toBe(0)
    expect(records(stdout).at(-2)).toMatchObject({ type: "response", id: "last", ok: true })
    expectRight(stdout)
  })

  it("takes no second request of an id while the first is open, and takes the id again afterwards", async () => {
    await using space = await makeWorkspace()
    await space.file("script.json", JSON.stringify({ steps: [{ tool: "bash", args: { command: "sleep 300" } }, { text: "done" }] }))
    const rpc = startRpc(space, ["--script", "script.json"])
    const replies = () => rpc.all().filter((record) => record["type"] === "response" && record["id"] === "p")
    const say = async (type: string, body: object, count: number) => {
      rpc.raw(`${JSON.stringify({ id: "p", type, ...body })}\n`)
      await rpc.running.until(() => replies().length === count)
      return replies().at(-1)!
    }
    expect(await say("prompt", { message: "go" }, 1)).toMatchObject({ ok: true, state: "started" })
    expect(await say("get_state", {}, 2)).toMatchObject({ ok: false, error: expect.stringContaining("'p' is in use") })
    expect(await rpc.ask("interrupt")).toMatchObject({ ok: true })
    await rpc.turn("p")
    expect(await say("get_state", {}, 3)).toMatchObject({ ok: true })
    expect(await say("get_state", {}, 4)).toMatchObject({ ok: true })
    expectRight((await rpc.end()).stdout)
  })

  it("ends every prompt it has taken, also one that is interrupted in the same breath", async () => {
    await using space = await makeWorkspace()
    await space.file("script.json", JSON.stringify({ steps: [{ text: "late", delay_ms: 60_000, repeat: 20 }] }))
    const rpc = startRpc(space, ["--script", "script.json"])
    for (let round = 0; round < 5; round++) {
      const [one, two] = [`one ${round}`, `two ${round}`]
      const line = (id: string, type: string) => `${JSON.stringify({ id, type, message: "hi" })}\n`
      rpc.raw([line(one, "prompt"), line(`a ${round}`, "interrupt"), line(two, "prompt"), line(`b ${round}`, "interrupt")].join(""))
      for (const id of [one, two]) expect(await rpc.turn(id)).toMatchObject({ success: false, error: "Interrupted" })
    }
    expectRight((await rpc.end()).stdout)
  })

  it("answers what waits behind a change of the session when it is told to end, and names a session only when it has begun", async () => {
    await using space = await makeWorkspace()
    const asks = Array.from({ length: 6 }, (_, n) => ({ id: `${n}`, type: n % 2 === 0 ? "stats" : "get_state" }))
    for (const last of ["shutdown", "end of input"]) {
      const rpc = startRpc(space, ["--provider", "offline"])
      const lines = [{ id: "p", type: "prompt", message: "hi" }, { id: "i", type: "interrupt" }, { id: "n", type: "new" }, { id: "f", type: "new" }, ...asks, ...(last === "shutdown" ? [{ id: "end", type: last }] : [])]
      rpc.raw(lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
      const { code, stdout } = last === "shutdown" ? await rpc.running.ended : await rpc.end()
      expect(code).toBe(0)
      expectRight(stdout)
      const replies = records(stdout).filter(({ type }) => type === "response").map(({ id }) => id)
      expect(replies.toSorted()).toEqual(lines.map(({ id }) => id).toSorted())
    }
  })

  it("answers also what stands right behind the command that ends it", async () => {
    await using space = await makeWorkspace()
    const rpc = startRpc(space, offline)
    rpc.raw(`{"id":"end","type":"shutdown"}\n${[1, 2, 3].map((n) => `{"id":"late ${n}","type":"get_state"}\n`).join("")}`)
    const { code, stdout } = await rpc.running.ended
    expect(code).toBe(0)
    expectRight(stdout)
    expect(records(stdout).filter(({ type }) => type === "response")).toMatchObject([
      { id: "end", ok: true, state: "stopped" }, ...[1, 2, 3].map((n) => ({ id: `late ${n}`, ok: false, error: "RPC is shutting down." }))
    ])
  })

  // J-034 J-075 J-076 J-077 J-078 J-079 J-080 J-081 J-082
  it("queues what is said within a turn, delivers it there, and tells each step of it", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ tools: [{ name: "bash", args: { command: slow } }] }, { text: "Steered." }, { text: "Followed." }])
    const rpc = startRpc(space, anthropic.args, { env: anthropic.env(stub.url) })
    const [prompt, steered] = ["go", "mind the tests"]
    // In one piece: words that come right behind a prompt belong to its turn.
    rpc.raw(`{"id":"go","type":"prompt","message":"go"}\n{"id":"mind the tests","type":"steer","message":"mind the tests"}\n`)
    await rpc.until((record) => record["type"] === "tool_call")
    expect(await rpc.ask("prompt", { message: "and then" })).toMatchObject({ ok: false, error: "prompt requires streamingBehavior: steer or followUp while busy." })
    expect(await rpc.ask("new")).toMatchObject({ ok: false, error: expect.stringContaining("busy") })
    const followed = rpc.send("prompt", { message: "and then", streamingBehavior: "followUp" })
    await rpc.until((record) => record["id"] === followed)
    expect(await rpc.ask("get_state")).toMatchObject({ busy: true, queued: 1, steering: 0, follow_up: 1 })
    await space.file("go", "")
    expect(await rpc.turn(prompt)).toMatchObject({ success: true, request_id: prompt, request_ids: [steered, followed] })
    const { stdout } = await rpc.end()
    expectRight(stdout)
    const session_id = expect.any(String)
    const queue = records(stdout).filter(({ type }) => type === "queue").map(({ type: _, version: _v, ...rest }) => rest)
    expect(queue).toEqual([
      { session_id, action: "enqueue", content: "mind the tests", request_id: steered, mode: "steer", depth: 1 },
      { session_id, action: "dequeue", request_id: steered, mode: "steer", depth: 0 },
      { session_id, action: "enqueue", content: "and then", request_id: followed, mode: "follow_up", depth: 1 },
      { session_id, action: "dequeue", request_id: followed, mode: "follow_up", depth: 0 }
    ])
    const said = records(stdout).filter(({ role, type }) => type === "message" && role === "user").map(({ content }) => content)
    expect(said).toEqual(["go", "mind the tests", "and then"])
    expect(records(stdout).filter(({ type }) => type === "run_start")).toHaveLength(1)
  })

  it("gives back what was queued, before the reply; and saves how it is taken", async () => {
    await using space = await makeWorkspace()
    await space.file("~/.nimlet/config.json", JSON.stringify({ agent: { max_tokens: 99 }, mine: true }))
    await using stub = await startModelStub([{ deltas: ["well "], hang: 4 }])
    const rpc = startRpc(space, anthropic.args, { env: anthropic.env(stub.url) })
    rpc.send("prompt", { message: "go" })
    await rpc.until((record) => record["type"] === "message_delta")
    await rpc.ask("steer", { message: "one" })
    await rpc.ask("follow_up", { message: "two" })
    expect(await rpc.ask("clear_queue")).toMatchObject({ ok: true, steering: ["one"], follow_up: ["two"] })
    const types = rpc.all().map(({ action, type }) => action ?? type)
    expect(types.at(-2)).toBe("clear")
    expect(ofType(rpc, "queue").at(-1)).not.toHaveProperty("content")
    expect(await rpc.ask("set_follow_up_mode", { mode: "all" })).toMatchObject({ ok: true })
    expect(await rpc.ask("get_state")).toMatchObject({ queued: 0, follow_up_mode: "all", steering_mode: "one-at-a-time" })
    expect(JSON.parse(readFileSync(join(space.home, ".nimlet/config.json"), "utf8"))).toEqual({ agent: { max_tokens: 99, follow_up_mode: "all" }, mine: true })
    expectRight((await rpc.end()).stdout)
  })

  it("frees an interrupted turn at once, and begins the next with what was queued", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ tools: [{ name: "bash", args: { command: "sleep 30" } }] }, { text: "Next." }, { text: "Queued." }])
    const rpc = startRpc(space, anthropic.args, { env: anthropic.env(stub.url) })
    expect(await rpc.ask("interrupt")).toMatchObject({ ok: true, state: "idle" })
    const first = rpc.send("prompt", { message: "go" })
    await rpc.until((record) => record["type"] === "tool_call")
    expect(await rpc.ask("interrupt")).toMatchObject({ ok: true, state: "interrupting" })
    const second = rpc.send("prompt", { message: "next" })
    expect(await rpc.turn(first)).toMatchObject({ success: false, error: "Interrupted" })
    expect(await rpc.turn(second)).toMatchObject({ success: true })
    expect(ofType(rpc, "tool_result")).toMatchObject([{ is_error: true, output: expect.stringMatching(/interrupted/i) }])
    stub.setScenario([{ deltas: ["well "], hang: 4 }, { text: "Left over." }])
    const third = rpc.send("prompt", { message: "again" })
    await rpc.until((record) => record["delta"] === "well ")
    const left = rpc.send("follow_up", { message: "afterwards" })
    await rpc.until((record) => record["id"] === left)
    await rpc.ask("interrupt")
    expect(await rpc.turn(third)).toMatchObject({ success: false })
    expect(await rpc.turn(left)).toMatchObject({ success: true })
    const { code, stdout } = await rpc.end()
    expect(code).toBe(0)
    expectRight(stdout)
    // An interrupt is no failure of the session.
    expect(records(stdout).at(-1)).toMatchObject({ type: "session_end", success: true })
    expect(await lastingSurvivors(space.root)).toEqual([])
  })

  it("begins a turn with the oldest text that an interrupted turn has left, before anything else can come; the rest is said within it", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([
      { deltas: ["well "], hang: 4 }, { tools: [{ name: "bash", args: { command: slow } }] }, { text: "Steered." }, { text: "Followed." }, { deltas: ["again "], hang: 4 }
    ])
    const rpc = startRpc(space, anthropic.args, { env: anthropic.env(stub.url) })
    const first = rpc.send("prompt", { message: "go" })
    await rpc.until((record) => record["type"] === "message_delta")
    const [follow, steer] = [rpc.send("follow_up", { message: "then this" }), rpc.send("steer", { message: "mind that" })]
    await rpc.until((record) => record["id"] === steer)
    rpc.raw(`{"id":"stop","type":"interrupt"}\n{"id":"p","type":"prompt","message":"no room"}\n{"id":"n","type":"new"}\n{"id":"s","type":"get_state"}\n`)
    const reply = (id: string) => rpc.until((record) => record["type"] === "response" && record["id"] === id)
    expect(await reply("stop")).toMatchObject({ state: "interrupting" })
    expect(await reply("p")).toMatchObject({ ok: false, error: expect.stringContaining("streamingBehavior") })
    expect(await reply("n")).toMatchObject({ ok: false, error: expect.stringContaining("busy with a turn") })
    expect(await reply("s")).toMatchObject({ busy: true, queued: 1 })
    await space.file("go", "")
    expect(await rpc.turn(first)).toMatchObject({ success: false, error: "Interrupted" })
    expect(await rpc.turn(steer)).toMatchObject({ success: true, request_ids: [follow] })
    expect(ofType(rpc, "run_start").map(({ prompt }) => prompt)).toEqual(["go", "mind that"])
    // What waits when we are told to end is taken back, and told.
    rpc.send("prompt", { message: "again" })
    await rpc.until((record) => record["delta"] === "again ")
    await rpc.ask("follow_up", { message: "never said" })
    const { stdout } = await rpc.end()
    expectRight(stdout)
    expect(records(stdout).filter(({ type }) => type === "queue").at(-1)).toMatchObject({ action: "clear", depth: 0 })
  })

  it("ends what an interrupted turn has left by further interrupts, each with its own end", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ tools: [{ name: "bash", args: { command: "trap '' TERM; echo begun; while :; do sleep 1; done" } }] }, { text: "Well." }])
    const rpc = startRpc(space, anthropic.args, { env: anthropic.env(stub.url) })
    rpc.send("prompt", { message: "go" })
    await rpc.until((record) => record["type"] === "tool_output_delta")
    const left = ["one", "two"].map((message) => rpc.send("follow_up", { message }))
    await rpc.until((record) => record["id"] === left[1])
    rpc.raw(`{"id":"i1","type":"interrupt"}\n{"id":"i2","type":"interrupt"}\n{"id":"i3","type":"interrupt"}\n{"id":"p","type":"prompt","message":"now"}\n`)
    for (const id of left) expect(await rpc.turn(id)).toMatchObject({ success: false, error: "Interrupted" })
    expect(await rpc.turn("p")).toMatchObject({ success: true })
    expectRight((await rpc.end()).stdout)
  })

  it("leaves one result a call and a usable session wherever a turn is interrupted", async () => {
    await using space = await makeWorkspace()
    await space.file("a.txt", "alpha\n")
    const step = {
      thinking: "hm",
      text: "I look at it.",
      tools: [{ name: "read", args: { path: "a.txt" } }, { name: "grep", args: { pattern: "alpha" } }, { name: "bash", args: { command: "echo one; sleep 0.05; echo two" } }]
    }
    await using stub = await startModelStub([{ ...step, repeat: "always" }])
    const rpc = startRpc(space, anthropic.args, { env: anthropic.env(stub.url), limitMs: 60_000 })
    for (let point = 1; point <= 30; point++) {
      const before = rpc.all().length
      const id = rpc.send("prompt", { message: `turn ${point}` })
      await rpc.running.until(() => rpc.all().length >= before + point)
      await rpc.ask("interrupt")
      expect(await rpc.turn(id)).toMatchObject({ success: false, error: "Interrupted" })
    }
    stub.setScenario([{ text: "All well." }])
    expect(await rpc.turn(rpc.send("prompt", { message: "done?" }))).toMatchObject({ success: true })
    const { stdout } = await rpc.end()
    expectRight(stdout)
    const calls = records(stdout).filter(({ type }) => type === "tool_call").map(({ tool_id }) => tool_id)
    expect(records(stdout).filter(({ type }) => type === "tool_result").map(({ tool_id }) => tool_id).toSorted()).toEqual(calls.toSorted())
  }, 90_000)

  it("tells a turn that failed, with why, and goes on", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ status: 401 }, { text: "Better." }])
    const rpc = startRpc(space, anthropic.args, { env: anthropic.env(stub.url) })
    const failed = await rpc.turn(rpc.send("prompt", { message: "go" }))
    expect(failed).toMatchObject({ success: false, error: ofType(rpc, "error")[0]!["message"] })
    expect(await rpc.turn(rpc.send("prompt", { message: "go" }))).toMatchObject({ success: true })
    const { code, stdout } = await rpc.end()
    expectRight(stdout)
    expect([code, records(stdout).at(-1)!["success"]]).toEqual([0, false])
  })

  it("changes the session, and tells of each what it is", async () => {
    await using space = await makeWorkspace()
    await space.file("a.txt", "alpha\n")
    const rpc = startRpc(space, ["--provider", "offline"])
    const { session_id: first } = await rpc.ask("initialize")
    await rpc.turn(rpc.send("prompt", { message: "read a.txt" }))
    expect(await rpc.ask("stats")).toMatchObject({ ok: true, session_id: first, user_messages: 1, tool_results: 1 })
    // Nobody has to wait for `new` before speaking in the new session.
    const made = rpc.send("new")
    const spoken = rpc.send("prompt", { message: "list the files" })
    const { session_id: second } = await rpc.until((record) => record["id"] === made)
    expect(second).not.toBe(first)
    expect(await rpc.turn(spoken)).toMatchObject({ session_id: second, success: true })
    expect(await rpc.ask("resume", { session: "nonsense" })).toMatchObject({ ok: false, error: expect.stringContaining("nonsense") })
    expect(await rpc.ask("resume", { session: first })).toMatchObject({ ok: true, session_id: first })
    expect(await rpc.ask("fork", { message: 9 })).toMatchObject({ ok: false, error: expect.stringContaining("9") })
    expect(await rpc.ask("fork", { message: 1 })).toMatchObject({ ok: true, text: "read a.txt" })
    expect(await rpc.ask("compact")).toMatchObject({ ok: true, did_compact: false })
    expect(await rpc.ask("set_mode", { mode: "plan" })).toMatchObject({ ok: true, mode: "plan" })
    expect(await rpc.ask("get_state")).toMatchObject({ mode: "plan" })
    expect(await rpc.ask("set_mode", { mode: "act" })).toMatchObject({ ok: true })
    const { sessions } = await rpc.ask("list_sessions", { query: "files" })
    expect(sessions).toMatchObject([{ session_id: second, first_text: "list the files" }])
    expect(await rpc.ask("reload")).toMatchObject({ ok: true })
    expect(await rpc.ask("set_model", { provider: "nobody", model: "x" })).toMatchObject({ ok: false, error: expect.stringContaining("nobody") })
    expect(await rpc.ask("set_model", { provider: "ollama", model: "small" })).toMatchObject({ ok: true, provider: "ollama", model: "small" })
    expect(await rpc.ask("get_state")).toMatchObject({ provider: "ollama", model: "small" })
    const { stdout } = await rpc.end()
    expectRight(stdout)
    expect(records(stdout).filter(({ type }) => type === "session_start")).toHaveLength(4)
  })

  it("says which lines it leaves out of a damaged session that it goes over to", async () => {
    await using space = await makeWorkspace()
    const rpc = startRpc(space, ["--provider", "offline"])
    const { session_id: first } = await rpc.ask("initialize")
    await rpc.turn(rpc.send("prompt", { message: "list the files" }))
    await rpc.ask("new")
    const file = join(space.home, ".nimlet/sessions", `${String(first)}.jsonl`)
    appendFileSync(file, `not json\n{"type":"us`)
    const lines = readFileSync(file, "utf8").split("\n").length
    expect(await rpc.ask("resume", { session: first })).toMatchObject({ ok: true, session_id: first })
    const told = await rpc.until((record) => record["type"] === "diagnostic" && String(record["message"]).startsWith(`${file}:${lines}: `))
    expect(told).toMatchObject({ level: "warning" })
    expect(ofType(rpc, "diagnostic").filter(({ message }) => String(message).startsWith(file))).toHaveLength(2)
    const { stdout } = await rpc.end()
    expectRight(stdout)
  })

  it("loads the project's own extensions when its client trusts it, and leaves them out again", async () => {
    await using space = await makeWorkspace()
    await space.extension("asker", { ...withAsker, root: ".nimlet/extensions" })
    const rpc = startRpc(space, offline)
    expect((await rpc.ask("extensions"))["extensions"]).toEqual([])
    expect(await rpc.ask("trust", { on: true })).toMatchObject({ ok: true, trusted: true, files: expect.arrayContaining([expect.stringContaining("asker")]) })
    expect((await rpc.ask("extensions"))["extensions"]).toMatchObject([{ key: "asker", project: true, state: "running" }])
    expect(await rpc.ask("trust", { on: false })).toMatchObject({ ok: true, trusted: false })
    expect((await rpc.ask("extensions"))["extensions"]).toEqual([])
    expectRight((await rpc.end()).stdout)
  })

  // J-053
  it("has a client with a screen approve calls, answer questions, and shows it what extensions show", async () => {
    await using space = await makeWorkspace()
    await space.extension("asker", withAsker)
    await using stub = await startModelStub([{ tools: [{ name: "danger", args: { deep: true } }] }, { tools: [{ name: "danger", args: {} }] }, { text: "Done." }])
    const rpc = startRpc(space, anthropic.args, { env: anthropic.env(stub.url) })
    expect(await rpc.ask("initialize", { ui: true })).toMatchObject({ ok: true, ui: true, session_id: expect.any(String) })
    const prompt = rpc.send("prompt", { message: "go" })
    const asked = await rpc.until((record) => record["type"] === "approval_required")
    const call = ofType(rpc, "tool_call")[0]!
    expect(asked).toMatchObject({
      session_id: call["session_id"], turn_id: call["turn_id"], run_id: call["run_id"], step: 0, tool_id: call["tool_id"], tool_name: "danger",
      input: { deep: true }, arguments: { deep: true }, can_remember: true, request_id: expect.any(String)
    })
    expect(await rpc.ask("answer", { request_id: asked["request_id"], answer: "yes" })).toMatchObject({ ok: false, error: expect.stringContaining("approve") })
    expect(await rpc.ask("approve", { request_id: asked["request_id"], decision: "deny", reason: "too deep" })).toMatchObject({ ok: true })
    const again = await rpc.until((record) => record["type"] === "approval_required" && record["step"] === 1)
    await rpc.ask("approve", { request_id: again["request_id"], decision: "once" })
    await rpc.turn(prompt)
    expect(ofType(rpc, "tool_result")).toMatchObject([{ is_error: true, output: "approval_denied: too deep" }, { is_error: false, output: "did it" }])

    const asking = rpc.send("command", { name: "ask" })
    const question = await rpc.until((record) => record["type"] === "ui_request")
    expect(question).toMatchObject({ method: "question", asker: "asker", prompt: "Which?", options: ["red", "blue"] })
    expect(await rpc.ask("answer", { request_id: question["request_id"], answer: "green" })).toMatchObject({ ok: false, error: expect.stringContaining("red, blue") })
    expect(await rpc.ask("answer", { request_id: question["request_id"], answer: "blue" })).toMatchObject({ ok: true })
    await rpc.turn(asking)
    expect(ofType(rpc, "message").at(-1)!["content"]).toContain(`"answer":"blue"`)

    await rpc.turn(rpc.send("command", { name: "show" }))
    expect(ofType(rpc, "status")).toMatchObject([{ key: "asker:s", segments: [{ text: "working" }] }])
    expect(ofType(rpc, "widget").at(-1)).toMatchObject({ key: "asker:w", widget: { title: "W", actions: [{ id: "go" }] } })
    expect(ofType(rpc, "notice").at(-1)).toMatchObject({ level: "info", message: expect.stringContaining("for a person") })
    expect(await rpc.ask("ui_action", { key: "asker:w", action: "go" })).toMatchObject({ ok: true })
    expect(await rpc.ask("ui_action", { key: "asker:w", action: "stay" })).toMatchObject({ ok: false })
    expect((await rpc.ask("extensions"))["extensions"]).toMatchObject([{ key: "asker", family: "nimlet", state: "running", tools: ["danger"], commands: ["ask", "show", "say"] }])

    // A question that its asker gives up is taken back.
    const last = rpc.send("command", { name: "ask" })
    const open = await rpc.until((record) => record["type"] === "ui_request" && record["request_id"] !== question["request_id"])
    await rpc.ask("interrupt")
    await rpc.until((record) => record["type"] === "ui_request" && record["method"] === "withdraw" && record["request_id"] === open["request_id"])
    expect(await rpc.turn(last)).toMatchObject({ success: false })
    const { stdout } = await rpc.end()
    expectRight(stdout)
  })

  it("asks nobody without a screen, and shows nothing", async () => {
    await using space = await makeWorkspace()
    await space.extension("asker", withAsker)
    await using stub = await startModelStub([{ tools: [{ name: "danger", args: {} }] }, { text: "Done." }])
    const rpc = startRpc(space, anthropic.args, { env: anthropic.env(stub.url) })
    await rpc.turn(rpc.send("prompt", { message: "go" }))
    await rpc.turn(rpc.send("command", { name: "ask" }))
    await rpc.turn(rpc.send("command", { name: "show" }))
    const { stdout } = await rpc.end()
    expectRight(stdout)
    const all = records(stdout)
    expect(all.find(({ type }) => type === "tool_result")).toMatchObject({ output: "did it", is_error: false })
    expect(all.find(({ content, type }) => type === "message" && String(content).includes("cancelled"))!["content"]).toContain(`"cancelled":true`)
    expect(all.filter(({ type }) => ["approval_required", "ui_request", "status", "widget", "notice"].includes(type))).toEqual([])
  })

  it("ends a turn that was interrupted before it began, too", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ tools: [{ name: "bash", args: { command: "trap '' TERM; echo begun; while :; do sleep 1; done" } }] }, { text: "Well." }, { text: "Steered." }])
    const rpc = startRpc(space, anthropic.args, { env: anthropic.env(stub.url) })
    rpc.send("prompt", { message: "go" })
    await rpc.until((record) => record["type"] === "tool_output_delta")
    // The first turn takes a moment to end; the next wait for that.
    const line = (id: string, type: string, message = "") => JSON.stringify({ id, type, ...(message === "" ? {} : { message }) })
    rpc.raw([line("i1", "interrupt"), line("p", "prompt", "never begun"), line("i2", "interrupt"), line("q", "prompt", "begun"), line("s", "steer", "this too"), ""].join("\n"))
    expect(await rpc.turn("p")).toMatchObject({ success: false, error: "Interrupted" })
    const { run_id } = await rpc.turn("q")
    const { stdout } = await rpc.end()
    expectRight(stdout)
    const all = records(stdout)
    expect(all.findIndex(({ action }) => action === "enqueue")).toBeGreaterThan(all.findIndex((record) => record["type"] === "run_start" && record["run_id"] === run_id))
    expect(all.filter(({ content, turn_id }) => content === "this too" && turn_id === run_id)).toHaveLength(1)
  })

  it("does not wait for a client that has gone while extensions ask it something at their start", async () => {
    await using space = await makeWorkspace()
    await space.extension("curious", {
      manifest: { name: "curious", command: ["./curious.mjs"], response_timeout_seconds: null },
      files: {
        "curious.mjs": `#!/usr/bin/env node
import { createInterface } from "node:readline"
const send = (message) => console.log(JSON.stringify(message))
send({ type: "register", commands: [], events: ["session_start"] })
let starting
for await (const line of createInterface({ input: process.stdin })) {
  const { event, id, type } = JSON.parse(line)
  if (event === "session_start") {
    starting = id
    send({ type: "ui_request", id: "q", parent_id: id, method: "question", prompt: "Who are you?", options: [] })
  }
  if (type === "ui_response") send({ type: "response", id: starting })
}
`
      }
    })
    const rpc = startRpc(space, offline)
    rpc.send("initialize", { ui: true })
    const { request_id } = await rpc.until((record) => record["type"] === "ui_request")
    expect(await rpc.ask("answer", { request_id, answer: "me" })).toMatchObject({ ok: true })
    await rpc.ask("get_state")
    await rpc.end()

    const gone = startRpc(space, offline)
    gone.send("initialize", { ui: true })
    await gone.until((record) => record["type"] === "ui_request")
    const { code, stdout } = await gone.end()
    expect(code).toBe(0)
    expectRight(stdout)
  })

  it("tells its client of a question that nobody needs answered any more", async () => {
    await using space = await makeWorkspace()
    await space.extension("asker", withAsker)
    const rpc = startRpc(space, offline)
    await rpc.ask("initialize", { ui: true })
    const asked = rpc.send("command", { name: "ask" })
    const { request_id } = await rpc.until((record) => record["type"] === "ui_request")
    await rpc.ask("interrupt")
    expect(await rpc.turn(asked)).toMatchObject({ success: false, error: "Interrupted" })
    expect(rpc.all().filter((record) => record["request_id"] === request_id).map((record) => record["method"])).toEqual(["question", "withdraw"])
    expect(await rpc.ask("answer", { request_id, answer: "red" })).toMatchObject({ ok: false, error: expect.stringContaining(`'${request_id}'`) })
    expectRight((await rpc.end()).stdout)
  })

  it("cancels what is open when the client goes, and leaves nothing running", async () => {
    await using space = await makeWorkspace()
    await space.extension("asker", withAsker)
    const rpc = startRpc(space, offline)
    await rpc.ask("initialize", { ui: true })
    rpc.send("command", { name: "ask" })
    await rpc.until((record) => record["type"] === "ui_request")
    const { code, durationMs, stdout } = await rpc.end()
    expect(code).toBe(0)
    expectRight(stdout)
    expect(durationMs).toBeLessThan(10_000)
    expect(await lastingSurvivors(space.root)).toEqual([])
  })

  it.each(["shutdown", "the end of its input"])("ends by %s although its client reads no more", async (how) => {
    await using space = await makeWorkspace()
    await space.file("script.json", JSON.stringify({ steps: [{ text: "x".repeat(4_000_000) }] }))
    const rpc = startRpc(space, ["--script", "script.json"])
    await rpc.ask("get_state")
    const stdout = rpc.running.child.stdout!
    stdout.pause()
    rpc.send("prompt", { message: "go" })
    while (stdout.readableLength < stdout.readableHighWaterMark) await new Promise((done) => setImmediate(done))
    if (how === "shutdown") rpc.send("shutdown")
    else rpc.running.child.stdin!.end()
    await new Promise((done) => rpc.running.child.once("exit", done))
    stdout.resume()
    const { durationMs, timedOut } = await rpc.running.ended
    expect(timedOut).toBe(false)
    expect(durationMs).toBeLessThan(10_000)
  })

  it("runs a command beside the turn when its extension says that it may, and no other", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ tools: [{ name: "bash", args: { command: slow } }] }, { text: "Done." }, { text: "Looked." }, { tools: [{ name: "bash", args: { command: slow.replaceAll("go", "went") } }] }, { text: "Again." }])
    await space.extension("aside", {
      manifest: { name: "aside", command: ["./aside.mjs"] },
      files: {
        "aside.mjs": `#!/usr/bin/env node
import { createInterface } from "node:readline"
const send = (message) => console.log(JSON.stringify(message))
send({ type: "register", commands: [...["note", "ask", "hang", "fresh"].map((name) => ({ name, while_busy: true })), { name: "later" }] })
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line)
  const reply = (fields) => send({ type: "response", id: message.id, ...fields })
  if (message.type === "cancel") send({ type: "update", notification: { level: "warning", message: "cancelled" } })
  if (message.type !== "command") continue
  if (message.name === "note") reply({ message: "noted " + message.arguments, notification: { level: "warning", message: message.context.messages.length + " so far" } })
  if (message.name === "ask") reply({ prompt: "look again", user_message: { content: "by the way", deliver_as: "steer" } })
  if (message.name === "fresh") reply({ session: { action: "new" } })
}
`
      }
    })
    const rpc = startRpc(space, anthropic.args, { env: anthropic.env(stub.url) })
    const go = rpc.send("prompt", { message: "go" })
    await rpc.until((record) => record["type"] === "tool_call")
    expect(await rpc.ask("command", { name: "note", arguments: "it" })).toEqual({ version: 1, type: "response", id: expect.any(String), ok: true, state: "done", message: "noted it" })
    expect(await rpc.ask("prompt", { message: "/NOTE that", streamingBehavior: "steer" })).toMatchObject({ ok: true, state: "done", message: "noted that" })
    expect(await rpc.ask("command", { name: "later" })).toMatchObject({ ok: false, error: expect.stringContaining("busy with a turn") })
    expect(await rpc.ask("prompt", { message: "/later" })).toMatchObject({ ok: false, error: expect.stringContaining("streamingBehavior") })
    expect(await rpc.ask("command", { name: "fresh" })).toMatchObject({ ok: false, error: expect.stringContaining("/fresh: it wants the session changed") })
    expect(await rpc.ask("command", { name: "ask" })).toMatchObject({ ok: true, message: "" })
    expect(await rpc.ask("get_state")).toMatchObject({ steering: 1, follow_up: 1 })
    await space.file("go", "")
    expect(await rpc.turn(go)).toMatchObject({ success: true })
    // One that still goes on when the turn is over is ended by an interrupt all the same.
    const second = rpc.send("prompt", { message: "again" })
    await rpc.until((record) => record["type"] === "response" && record["id"] === second)
    const hung = rpc.send("command", { name: "hang" })
    expect(await rpc.ask("get_state")).toMatchObject({ busy: true })
    await space.file("went", "")
    await rpc.turn(second)
    expect(await rpc.ask("interrupt")).toMatchObject({ state: "interrupting" })
    expect(await rpc.until((record) => record["id"] === hung && record["type"] === "response")).toMatchObject({ ok: false, error: "Interrupted" })
    await rpc.until((record) => record["type"] === "diagnostic" && record["message"] === "cancelled")
    const { stdout } = await rpc.end()
    expectRight(stdout)
    const told = records(stdout).filter(({ type }) => type === "message").map(({ content, role }) => [role, content])
    expect(records(stdout).some(({ message }) => message === "2 so far")).toBe(true)
    expect(told.slice(0, 5)).toEqual([["user", "go"], ["user", "by the way"], ["assistant", "Done."], ["user", "look again"], ["assistant", "Looked."]])
  })

  it("gives a command that has something said to the model one end, the last", async () => {
    await using space = await makeWorkspace()
    await space.extension("asker", withAsker)
    const rpc = startRpc(space, offline)
    const id = rpc.send("prompt", { message: "/say" })
    await rpc.turn(id)
    const { stdout } = await rpc.end()
    expectRight(stdout)
    const ends = records(stdout).filter(({ type }) => type === "run_end")
    expect(ends.map(({ request_id, success }) => [request_id, success])).toEqual([[undefined, true], [id, true]])
  })

  it("stops on shutdown: the queue first, then the turn, and nothing more is begun", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ tools: [{ name: "bash", args: { command: "trap '' TERM; sleep 30" } }] }])
    const rpc = startRpc(space, anthropic.args, { env: anthropic.env(stub.url) })
    const prompt = rpc.send("prompt", { message: "go" })
    await rpc.until((record) => record["type"] === "tool_call")
    await rpc.ask("follow_up", { message: "later" })
    const stop = rpc.send("shutdown")
    expect(await rpc.ask("prompt", { message: "more" })).toMatchObject({ ok: false, error: "RPC is shutting down." })
    const { code, stdout } = await rpc.running.ended
    expect(code).toBe(0)
    expectRight(stdout)
    const all = records(stdout)
    expect(all.find(({ id }) => id === stop)).toMatchObject({ ok: true, state: "stopping" })
    const cleared = all.findIndex(({ action }) => action === "clear")
    expect(cleared).toBeGreaterThan(0)
    expect(cleared).toBeLessThan(all.findIndex(({ id }) => id === stop))
    expect(all.find(({ request_id, type }) => type === "run_end" && request_id === prompt)).toMatchObject({ success: false })
    expect(await lastingSurvivors(space.root)).toEqual([])
  })

  it("takes no prompt on the command line, and says on stderr why it could not start", async () => {
    await using space = await makeWorkspace()
    const words = await space.nimlet(["--mode", "rpc", "--provider", "offline", "hello"])
    expect([words.code, words.stdout]).toEqual([2, ""])
    const keyless = await space.nimlet(["--mode", "rpc"])
    expect([keyless.code, keyless.stdout]).toEqual([1, ""])
    expect(keyless.stderr).toContain("ANTHROPIC_API_KEY")
  })
})
