/** One session with everything in it that extensions hear of, as a program drives it and as a person does on the screen. */
import { HookEvents, isHookName, moduleEvents } from "@nimlet/protocol"
import { describe, expect, it } from "vitest"
import { command, idle, leave, nothingLeft, say } from "../kit/AtTerminal.ts"
import { startModelStub } from "../kit/ModelStub.ts"
import { anthropic } from "../kit/Providers.ts"
import { heardBy, installPuppet } from "../kit/Puppet.ts"
import { startRpc } from "../kit/RpcDriver.ts"
import { startTmux } from "../kit/TmuxSession.ts"
import { lastingSurvivors, makeWorkspace, type Workspace } from "../kit/Workspace.ts"

const events = Object.keys(HookEvents).filter((name) => !isHookName(name) || !moduleEvents.includes(name))
const read = (path: string) => ({ name: "read", args: { path } })
const scenario = [
  { text: "I look.", tools: [read("a.txt")] },
  { status: 529, retryAfter: 0, times: 1, text: "Done." },
  { status: 400 },
  { text: "SUMMARY by hand" },
  { text: "Not again." },
  { text: "Welcome." }
] as const
const prepare = async (space: Workspace) => {
  await installPuppet(space, "witness", { root: "~/.niminal/extensions", register: { events } })
  await space.file("a.txt", "alpha line of a long file\n".repeat(460))
  await space.file("~/.nimlet/config.json", JSON.stringify({ agent: { keep_recent_tokens: 1_000 } }))
}

const request = ["before_provider_request", "before_provider_headers"]
const [begins, ends] = [["input", "before_agent_start", "turn_start"], ["turn_end", "agent_settled"]]
/** Nobody waits for what is told of a response or of settings: it may be read a little later. */
const unordered = ["after_provider_response", "session_settings_changed"]
const order = [
  "session_start",
  ...begins, "context", ...request, "message_end", "tool_call", "tool_result", "context", ...request, ...request, "message_end", ...ends,
  "session_before_compact", ...request, "session_compact_failed", "session_compact",
  "session_before_compact", ...request, "session_compact",
  ...begins, "context", ...request, "message_end", ...ends,
  "session_before_switch", "session_shutdown", "session_end",
  "session_start", ...begins, "context", ...request, "message_end", ...ends,
  "session_shutdown", "session_end"
]
const told = (space: Workspace) => heardBy(space).flatMap(({ line }) => line.type === "event" ? [String(line.event)] : [])
const heardAll = (space: Workspace) => {
  const heard = told(space)
  expect(heard.filter((event) => !unordered.includes(event))).toEqual(order)
  expect(heard.filter((event) => event === "after_provider_response")).toHaveLength(7)
  expect(heard.filter((event) => event === "session_settings_changed")).toHaveLength(1)
  expect(new Set(heard)).toEqual(new Set(events))
}

describe("an extension that subscribed to every event hears each, in order", () => {
  it("of a session that a program drives", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub(scenario)
    await prepare(space)
    const rpc = startRpc(space, anthropic.args, { env: anthropic.env(stub.url) })
    const say = async (message: string) => expect(await rpc.turn(rpc.send("prompt", { message }))).toMatchObject({ success: true })
    await say("read a.txt")
    expect(await rpc.ask("compact")).toMatchObject({ ok: true, did_compact: false })
    expect(await rpc.ask("compact")).toMatchObject({ ok: true, did_compact: true })
    expect(await rpc.ask("set_model", { model: "claude-haiku-4-5" })).toMatchObject({ ok: true })
    await say("and now?")
    await rpc.ask("new")
    await say("hello")
    await rpc.end()
    heardAll(space)
    expect(await lastingSurvivors(space.root)).toEqual([])
  })

  it("of a session on the screen", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub(scenario)
    await prepare(space)
    await using terminal = await startTmux({ cwd: space.work, home: space.home, columns: 100, rows: 40, env: anthropic.env(stub.url) })
    say(terminal, `nimlet ${anthropic.args.join(" ")}`)
    await terminal.until("claude-sonnet-4-6")
    await command(terminal, "read a.txt")
    await terminal.until("Done.")
    await command(terminal, "/compact")
    await terminal.until("Compaction failed")
    await command(terminal, "/compact")
    await terminal.until("Compacted context")
    await command(terminal, "/model anthropic/claude-haiku-4-5")
    await terminal.until("claude-haiku-4-5")
    await command(terminal, "and now?")
    await terminal.until("Not again.")
    await command(terminal, "/new")
    await terminal.until("New session")
    await command(terminal, "hello")
    await terminal.until("Welcome.")
    await idle(terminal)
    await leave(terminal)
    heardAll(space)
    await nothingLeft(terminal, space)
  })
})
