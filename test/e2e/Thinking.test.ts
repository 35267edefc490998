import { describe, expect, it } from "vitest"
import { startModelStub } from "../kit/ModelStub.ts"
import { anthropic, chat, chatConfig, type ProviderSetup, responses } from "../kit/Providers.ts"
import { heardBy, installPuppet } from "../kit/Puppet.ts"
import { startRpc } from "../kit/RpcDriver.ts"
import { makeWorkspace } from "../kit/Workspace.ts"

type Json = Record<string, any>

/** What of a request says how much to think. */
const thinkingIn = (body: unknown) => {
  const { output_config, reasoning, reasoning_effort, thinking } = body as Json
  return JSON.parse(JSON.stringify({ ...(thinking === undefined ? {} : { thinking: thinking.type }), ...output_config, ...(reasoning?.effort === undefined ? {} : { effort: reasoning.effort }), effort_word: reasoning_effort }))
}

describe("--thinking", () => {
  it.each<readonly [ProviderSetup, string | undefined, string | undefined, Json]>([
    [anthropic, "claude-sonnet-4-6", undefined, {}],
    [anthropic, "claude-sonnet-4-6", "high", { thinking: "adaptive", effort: "high" }],
    [anthropic, "claude-sonnet-4-6", "xhigh", { thinking: "adaptive", effort: "high" }],
    [anthropic, "claude-sonnet-4-6", "off", { thinking: "disabled" }],
    [anthropic, "claude-haiku-4-5", "low", { thinking: "enabled" }],
    [anthropic, "claude-sonnet-5-5", "off", { thinking: "adaptive", effort: "low" }],
    [responses, "gpt-5.2", "none", { effort: "none" }],
    [responses, "gpt-5.2", "max", { effort: "xhigh" }],
    [responses, "gpt-4.1", "high", {}],
    [chat, undefined, "medium", { effort_word: "medium" }]
  ])("$0.name $1 at %s is said in the provider's own words", async (provider, model, level, expected) => {
    await using stub = await startModelStub([{ text: "ok" }])
    await using space = await makeWorkspace()
    await space.file("~/.nimlet/config.json", chatConfig(stub.url))
    const args = ["-p", ...provider.args, ...(model === undefined ? [] : ["--model", model]), ...(level === undefined ? [] : ["--thinking", level])]
    const run = await space.nimlet([...args, "go"], { env: provider.env(stub.url) })
    expect([run.code, stub.requests[0]!.problem]).toEqual([0, undefined])
    expect(thinkingIn(stub.requests[0]!.body)).toEqual(expected)
  })

  it("is wrong usage for a word that is no level, and says when the model has another", async () => {
    await using stub = await startModelStub([{ text: "ok" }])
    await using space = await makeWorkspace()
    const wrong = await space.nimlet([...anthropic.args, "--thinking", "hard", "go"], { env: anthropic.env(stub.url) })
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("off, minimal, low, medium, high, xhigh, max")])
    const clamped = await space.nimlet(["-p", ...anthropic.args, "--thinking", "xhigh", "go"], { env: anthropic.env(stub.url) })
    expect([clamped.code, clamped.stderr]).toEqual([0, expect.stringMatching(/claude-sonnet-4-6.*xhigh.*high/)])
  })

  it("wins over the environment, which wins over the settings", async () => {
    await using stub = await startModelStub([{ text: "ok", repeat: "always" }])
    await using space = await makeWorkspace()
    await space.file("~/.nimlet/config.json", JSON.stringify({ agent: { thinking: "low" } }))
    const env = anthropic.env(stub.url)
    await space.nimlet(["-p", ...anthropic.args, "go"], { env })
    await space.nimlet(["-p", ...anthropic.args, "go"], { env: { ...env, NIMLET_THINKING: "medium" } })
    await space.nimlet(["-p", ...anthropic.args, "--thinking", "high", "go"], { env: { ...env, NIMLET_THINKING: "medium" } })
    expect(stub.requests.map(({ body }) => thinkingIn(body).effort)).toEqual(["low", "medium", "high"])
    const wrong = await space.nimlet(["-p", ...anthropic.args, "go"], { env: { ...env, NIMLET_THINKING: "hard" } })
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("NIMLET_THINKING")])
    await space.file("~/.nimlet/config.json", JSON.stringify({ agent: { thinking: "hard" } }))
    const broken = await space.nimlet(["-p", ...anthropic.args, "go"], { env })
    expect([broken.code, broken.stderr]).toEqual([1, expect.stringContaining("agent.thinking")])
  })

  it("is changed by RPC within a turn, told to extensions, and gone on with when the session is", async () => {
    await using stub = await startModelStub([{ tools: [{ name: "bash", args: { command: "true" } }] }, { text: "done" }, { text: "again" }])
    await using space = await makeWorkspace()
    await installPuppet(space, "listener", { register: { events: ["session_settings_changed"] } })
    const env = anthropic.env(stub.url)
    const rpc = startRpc(space, anthropic.args, { env })
    await rpc.ask("initialize", { ui: true })
    const turn = rpc.send("prompt", { message: "go" })
    const { request_id } = await rpc.until(({ type }) => type === "approval_required")
    expect(await rpc.ask("set_thinking", { level: "hard" })).toMatchObject({ ok: false, error: expect.stringContaining("xhigh") })
    expect(await rpc.ask("set_thinking", { level: "XHigh" })).toMatchObject({ ok: true, thinking: "high", thinking_levels: ["off", "low", "medium", "high", "max"] })
    await rpc.ask("approve", { request_id, decision: "once" })
    await rpc.turn(turn)
    expect(await rpc.ask("get_state")).toMatchObject({ thinking: "high" })
    await rpc.end()
    expect(heardBy(space).filter(({ line }) => line.event === "session_settings_changed").map(({ line }) => line.payload.thinking)).toEqual(["high"])
    await space.nimlet(["-p", "--resume", "go"], { env })
    expect(stub.requests.map(({ body }) => thinkingIn(body))).toEqual([{}, { thinking: "adaptive", effort: "high" }, { thinking: "adaptive", effort: "high" }])
  })
})
