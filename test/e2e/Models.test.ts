import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { startModelStub } from "../kit/ModelStub.ts"
import { anthropic, responses } from "../kit/Providers.ts"
import { startRpc } from "../kit/RpcDriver.ts"
import { makeWorkspace, records, type Workspace } from "../kit/Workspace.ts"

/** A server that answers every request with one text. */
const serveText = async (status: number, text: string) => {
  const server = createServer((_, response) => void response.writeHead(status, { "content-type": "application/json" }).end(text))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api.json`, [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())) }
}
const listed = async (space: Workspace, args: ReadonlyArray<string>, env: Record<string, string> = {}): Promise<ReadonlyArray<any>> => {
  const run = await space.nimlet([...args], { env })
  expect([run.code, run.stderr]).toEqual([0, ""])
  return JSON.parse(run.stdout).models
}

describe("models list", () => {
  it("tells limits, prices and thinking, of the settings' models too, and which could be asked", async () => {
    await using space = await makeWorkspace()
    await space.file("~/.nimlet/config.json", JSON.stringify({
      providers: { house: { endpoint: "http://127.0.0.1:1", models: ["plain", { id: "big", context_window: 9_000, thinking: ["low"], cost: { input: 1, output: 2 } }] } }
    }))
    const models = await listed(space, ["models", "list", "--json"], { ANTHROPIC_API_KEY: "k" })
    const named = (id: string) => models.find(({ model }) => model === id)
    expect(named("claude-sonnet-5-5")).toMatchObject({
      provider: "anthropic", context_window: 1_000_000, max_output: 128_000, images: true, ready: true, cost: { input: 2, output: 10, cache_read: 0.1, cache_write: 2.5 }
    })
    expect(named("gpt-6.1-sol")).toMatchObject({ ready: false, compat: { supportsStrictMode: true, supportsOpenAIGrammarTools: true, supportsGrammarTools: true } })
    expect(named("plain")).toMatchObject({ provider: "house", context_window: 128_000, images: false, ready: true })
    expect(named("big")).toMatchObject({ context_window: 9_000, thinking_levels: ["low"], cost: { input: 1, output: 2 } })
    expect(await listed(space, ["--list-models", "--json", "SONNET", "5-5"])).toMatchObject([{ model: "claude-sonnet-5-5" }])
    const text = await space.nimlet(["--list-models", "sonnet-5-5"])
    expect(text.stdout).toMatch(/^ +provider +model .*\n +anthropic +claude-sonnet-5-5 +1M +128k +2 +10 +yes/)
    expect((await space.nimlet(["models", "list", "nonsense"])).stdout).toContain("nonsense")
  })
})

describe("models refresh", () => {
  const catalogue = JSON.stringify({
    anthropic: {
      id: "anthropic",
      models: {
        "claude-next": { id: "claude-next", name: "Claude Next", reasoning: false, tool_call: true, modalities: { input: ["text", "image"], output: ["text"] }, limit: { context: 3_000_000, output: 200_000 }, cost: { input: 7, output: 70, cache_read: 0.7, tiers: [{ input: 14, output: 100, cache_read: 1.4, tier: { type: "context", size: 200_000 } }], context_over_200k: { input: 1, output: 1 } } },
        "claude-old": { id: "claude-old", cost: { input: 1, output: 2, context_over_200k: { input: 2, output: 3 } } },
        "claude-mute": { id: "claude-mute", tool_call: false },
        broken: { id: 7 }
      }
    },
    unheard: { models: { m: { id: "m" } } }
  })
  const configure = (space: Workspace, url: string) => space.file("~/.nimlet/config.json", JSON.stringify({ models: { catalogue_url: url } }))

  it("fetches the catalogue that is named, checks it, and keeps what is of use; runs know it from then on", async () => {
    await using space = await makeWorkspace()
    await using server = await serveText(200, catalogue)
    await using stub = await startModelStub([{ text: "ok", usage: { input: 10, output: 100 } }, { text: "ok", usage: { input: 300_000, output: 100 } }])
    await configure(space, server.url)
    const run = await space.nimlet(["models", "refresh"])
    expect([run.code, run.stderr]).toEqual([0, ""])
    expect(run.stdout).toMatch(/anthropic 2; 1 could not be read/)
    expect(await listed(space, ["models", "list", "--json", "claude-next"])).toMatchObject([{ context_window: 3_000_000, max_output: 200_000, images: true, thinking_levels: ["off"], cost: { input: 7, output: 70, cache_read: 0.7, tiers: [{ above: 200_000, input: 14, output: 100, cache_read: 1.4 }] } }])
    expect(await listed(space, ["models", "list", "--json", "claude-old"])).toMatchObject([{ cost: { input: 1, output: 2, tiers: [{ above: 200_000, input: 2, output: 3 }] } }])
    expect(JSON.stringify(await listed(space, ["models", "list", "--json"]))).not.toMatch(/claude-mute|unheard/)
    const answered = await space.nimlet(["--mode", "json", "--provider", "anthropic", "--model", "claude-next", "hi"], { env: anthropic.env(stub.url) })
    expect(records(answered.stdout).find(({ type }) => type === "step_end")!["usage"]["cost"]).toBeCloseTo((10 * 7 + 100 * 70) / 1e6, 12)
    const long = await space.nimlet(["--mode", "json", "--provider", "anthropic", "--model", "claude-next", "hi"], { env: anthropic.env(stub.url) })
    expect(records(long.stdout).find(({ type }) => type === "step_end")!["usage"]["cost"]).toBeCloseTo((300_000 * 14 + 100 * 100) / 1e6, 12)
    const told = await space.nimlet(["--mode", "json", "--provider", "offline", "/models refresh"])
    expect(records(told.stdout).find(({ type, role }) => type === "message" && role === "assistant")).toMatchObject({ content: expect.stringContaining("anthropic 2") })
  })

  it.each<readonly [number, string, RegExp]>([
    [404, "gone", /HTTP 404/],
    [200, "<html>", /no JSON/],
    [200, "[]", /no catalogue/],
    [200, `{"anthropic":{"models":{"x":{"id":3}}}}`, /no model of/]
  ])("that gets %i %s says so, and what was known stays", async (status, text, problem) => {
    await using space = await makeWorkspace()
    const kept = JSON.stringify({ source: "s", fetched_at: "t", providers: { anthropic: [{ id: "claude-kept" }] } })
    await space.file("~/.nimlet/models.json", kept)
    await using server = await serveText(status, text)
    await configure(space, server.url)
    const run = await space.nimlet(["models", "refresh"])
    expect([run.code, run.stdout]).toEqual([1, ""])
    expect(run.stderr).toContain(server.url)
    expect(run.stderr).toMatch(problem)
    expect(await readFile(join(space.home, ".nimlet/models.json"), "utf8")).toBe(kept)
    expect(await listed(space, ["models", "list", "--json", "claude-kept"])).toHaveLength(1)
  })

  it("is not made to go elsewhere by a project", async () => {
    await using space = await makeWorkspace()
    await space.file(".nimlet/config.json", JSON.stringify({ models: { catalogue_url: "http://127.0.0.1:1" } }))
    const run = await space.nimlet(["-p", "--approve", "--provider", "offline", "/models sonnet-5-5"])
    expect([run.code, run.stdout]).toEqual([0, expect.stringContaining("claude-sonnet-5-5")])
    expect(run.stderr).toContain("models.catalogue_url is ignored")
  })
})

describe("a provider that a TypeScript extension registers", () => {
  const factory = (config: string) => `
export default async function (pi) {
  const { data } = await (await fetch(process.env.MODELS_AT)).json()
  await new Promise((done) => setTimeout(done, 50))
  pi.registerProvider("local-openai", ${config})
}`
  const config = `{
    baseUrl: process.env.STUB + "/v1", apiKey: "$LOCAL_OPENAI_API_KEY", api: "openai-completions",
    models: data.map((model) => ({ id: model.id, name: model.name ?? model.id, reasoning: false, input: ["text"], cost: { input: 3, output: 4, cacheRead: 1, cacheWrite: 5 }, contextWindow: model.context_window ?? 128000, maxTokens: 4096, compat: { supportsGrammarTools: true } }))
  }`
  const install = (space: Workspace, text: string) => space.file("~/.atomic/agent/extensions/local.ts", text)

  // A-030 A-032 A-033 A-034 A-035 A-036 A-037 A-038 A-039 A-177 A-180
  it("is listed and can be chosen at normal startup, with the key of the variable that it names", async () => {
    await using space = await makeWorkspace()
    await using models = await serveText(200, JSON.stringify({ data: [{ id: "found", context_window: 7_000 }, { id: "other" }] }))
    await using stub = await startModelStub([{ text: "hello", usage: { input: 100, output: 10, cacheRead: 50 } }, { text: "again" }, { text: "third" }])
    await install(space, factory(config))
    const env = { MODELS_AT: models.url, STUB: stub.url, LOCAL_OPENAI_API_KEY: "local-key" }
    expect(await listed(space, ["--list-models", "--json", "local-openai"], env)).toMatchObject([
      { model: "found", name: "found", context_window: 7_000, max_output: 4_096, images: false, thinking_levels: ["off"], cost: { input: 3, output: 4, cache_read: 1, cache_write: 5 }, ready: true, compat: { supportsOpenAIGrammarTools: true } },
      { model: "other", context_window: 128_000 }
    ])
    const run = await space.nimlet(["--mode", "json", "--provider", "local-openai", "--model", "found", "hi"], { env })
    expect([run.code, stub.requests[0]!.headers["authorization"]]).toEqual([0, "Bearer local-key"])
    expect(stub.requests[0]!.body).toMatchObject({ model: "found" })
    expect(records(run.stdout).find(({ type }) => type === "step_end")!["usage"]["cost"]).toBeCloseTo((100 * 3 + 50 * 1 + 10 * 4) / 1e6, 12)
    // With no other key it is the provider that is there.
    expect((await space.nimlet(["-p", "hi"], { env })).stdout).toBe("again\n")
    const rpc = startRpc(space, ["--provider", "local-openai"], { env })
    expect(await rpc.ask("list_models", { query: "local-openai found" })).toMatchObject({ models: [{ model: "found", compat: { supportsOpenAIGrammarTools: true, supportsGrammarTools: true } }] })
    expect(await rpc.ask("set_model", { model: "other" })).toMatchObject({ ok: true, provider: "local-openai", model: "other", known: true })
    expect(await rpc.ask("set_model", { model: "unheard" })).toMatchObject({ ok: true, known: false })
    await rpc.turn(rpc.send("prompt", { message: "go" }))
    expect(await rpc.ask("stats")).toMatchObject({ model: "unheard", input_tokens: 100 })
    await rpc.end()
  })

  it("may say of each model where it is and how it is asked", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ text: "one" }, { text: "two" }])
    await install(space, `export default (pi) => pi.registerProvider("mixed", { apiKey: "k", api: "openai-completions", baseUrl: process.env.STUB + "/v1", models: [
      { id: "plain" }, { id: "claude", api: "anthropic-messages", baseUrl: process.env.STUB, headers: { "x-team": "7" } }
    ] })`)
    for (const model of ["plain", "claude"]) expect((await space.nimlet(["-p", "--provider", "mixed", "--model", model, "hi"], { env: { STUB: stub.url } })).code).toBe(0)
    expect(stub.requests.map(({ headers, path }) => [path, headers["x-team"]])).toEqual([["/v1/chat/completions", undefined], ["/v1/messages", "7"]])
  })

  it("moves a known provider only when it may have that one's key, or brings its own", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ text: "moved", repeat: "always" }])
    await space.file("~/.nimlet/auth.json", JSON.stringify({ openai: { type: "api_key", key: "file-key" } }))
    const module = (config: string) => install(space, `export default (pi) => pi.registerProvider("anthropic", ${config})`)
    const env = { ANTHROPIC_API_KEY: "real-key", ANTHROPIC_BASE_URL: "http://127.0.0.1:1", STUB: stub.url }
    const args = ["-p", "--provider", "anthropic", "--model", "claude-sonnet-5-5"]
    await module("{ baseUrl: process.env.STUB }")
    const kept = await space.nimlet([...args, "--max-steps", "1", "hi"], { env, limitMs: 60_000 })
    expect([kept.code, stub.requests.length]).toEqual([1, 0])
    expect(kept.stderr).toMatch(/local.*anthropic.*ANTHROPIC_API_KEY.*extensions\.local\.env/)
    await module(`{ baseUrl: process.env.STUB, apiKey: "own-key" }`)
    expect((await space.nimlet([...args, "hi"], { env })).stdout).toBe("moved\n")
    await module("{ baseUrl: process.env.STUB }")
    await space.file("~/.nimlet/config.json", JSON.stringify({ extensions: { local: { env: ["ANTHROPIC_API_KEY"] } } }))
    expect((await space.nimlet([...args, "hi"], { env })).stdout).toBe("moved\n")
    expect(stub.requests.map(({ headers }) => headers["x-api-key"])).toEqual(["own-key", "real-key"])
    // What is in auth.json is the provider's own, wherever an extension says that it is.
    await install(space, `export default (pi) => pi.registerProvider("openai", { baseUrl: process.env.STUB + "/v1", apiKey: "own-key" })`)
    await space.nimlet(["-p", ...responses.args, "hi"], { env })
    expect(stub.requests.at(-1)!.headers["authorization"]).toBe("Bearer own-key")
  })

  it("that is wrong is left out, and the person is told what is wrong", async () => {
    await using space = await makeWorkspace()
    await install(space, `export default (pi) => { pi.registerProvider("one", { baseUrl: "http://h", models: [{ id: "m", contextWindow: "big" }] }); pi.registerProvider("two", { apiKey: "!echo k", baseUrl: "http://h" }); pi.registerProvider("three", { models: [{ id: "m" }] }) }`)
    const run = await space.nimlet(["models", "list", "--json"])
    expect(run.code).toBe(0)
    expect(run.stderr).toMatch(/'one'.*models\.0\.contextWindow/)
    expect(run.stderr).toMatch(/'two'.*apiKey/)
    expect(run.stderr).toMatch(/'three'.*baseUrl/)
    expect(run.stdout).not.toMatch(/"(one|two|three)"/)
  })

  it("is among the models that modules read of and choose, and their level of thinking is what the model makes of it", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ text: "from the other", repeat: "always" }])
    await install(space, `export default (pi) => {
      pi.registerProvider("mine", { baseUrl: process.env.STUB + "/v1", api: "openai-completions", models: [{ id: "one", reasoning: true, contextWindow: 5000, cost: { input: 1, output: 2 } }] })
      pi.registerCommand("look", { handler: async (_, ctx) => {
        const model = ctx.modelRegistry.find("mine", "one")
        await pi.setModel(model)
        pi.setThinkingLevel("max")
        ctx.ui.notify(JSON.stringify({ model, kept: ctx.modelRegistry.find("anthropic", "claude-sonnet-5-5")?.available }), "info")
      } })
    }`)
    const rpc = startRpc(space, ["--provider", "offline"], { env: { STUB: stub.url } })
    await rpc.ask("initialize", { ui: true })
    await rpc.turn(rpc.send("command", { name: "look" }))
    const { message } = await rpc.until(({ type }) => type === "notice")
    expect(JSON.parse(message)).toMatchObject({ model: { id: "one", provider: "mine", reasoning: true, contextWindow: 5000, cost: { input: 1, output: 2 }, available: true }, kept: false })
    await rpc.turn(rpc.send("prompt", { message: "hi" }))
    expect(await rpc.ask("get_state")).toMatchObject({ provider: "mine", model: "one", thinking: "high" })
    expect(stub.requests[0]!.body).toMatchObject({ model: "one", reasoning_effort: "high" })
    await rpc.end()
  })
})
