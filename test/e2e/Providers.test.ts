import { createServer } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { chmodSync, existsSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type ModelStub, startModelStub } from "../kit/ModelStub.ts"
import { anthropic, chat, chatConfig, google, mistral, responses } from "../kit/Providers.ts"
import { checkRecords } from "@nimlet/protocol"
import { type RpcDriver, startRpc } from "../kit/RpcDriver.ts"
import type { Step } from "../kit/Scenario.ts"
import { makeWorkspace, records, type Workspace } from "../kit/Workspace.ts"

/** A proxy that leads every tunnel to `url`. */
const startProxy = async (url: string, asked: (target: string) => void) => {
  const server = createServer().on("connect", (request, socket, head) => {
    asked(request.url ?? "")
    const upstream = connect(Number(new URL(url).port), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n")
      upstream.write(head)
      upstream.pipe(socket).pipe(upstream)
    })
    for (const end of [socket, upstream]) end.on("error", () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())) }
}

const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64")

describe.each([anthropic, responses, chat, google, mistral])("$name", (provider) => {
  const prepare = async (url: string) => {
    const space = await makeWorkspace()
    await space.file("~/.nimlet/config.json", chatConfig(url))
    const nimlet = (...args: Array<string>) => space.nimlet(["--mode", "json", ...provider.args, ...args], { env: provider.env(url) })
    return { space, nimlet }
  }

  // J-028 J-085
  it("carries thinking, parallel calls, their results and usage through two requests that a strict server takes, and goes on with them", async () => {
    await using stub = await startModelStub([
      { thinking: "look at both", text: "I look.", tools: [{ name: "read", args: { path: "a.txt" } }, { name: "read", args: { path: "b.txt" } }], usage: { input: 50, output: 9, cacheRead: 30 } },
      { text: "Both are there." },
      { text: "second answer" }
    ])
    const { nimlet, space } = await prepare(stub.url)
    await using _ = space
    await space.file("a.txt", "alpha\n")
    await space.file("b.txt", "beta\n")
    const run = await nimlet("compare a.txt and b.txt")
    expect(stub.requests.map((request) => request.problem)).toEqual([undefined, undefined])
    expect(run.code).toBe(0)
    const all = records(run.stdout)
    expect(checkRecords(all)).toEqual([])
    expect(all.filter((record) => record["type"] === "tool_result").map((record) => String(record["output"]).includes("alpha"))).toEqual([true, false])
    expect(all.find((record) => record["type"] === "step_end")!["usage"]).toMatchObject({ output_tokens: 9, cache_read_tokens: 30 })
    expect(JSON.stringify(stub.requests[1]!.body)).toContain("beta")
    expect((await nimlet("--resume", "two")).code).toBe(0)
    expect(stub.requests[2]!.problem).toBe(undefined)
    const resumed = JSON.stringify(stub.requests[2]!.body)
    for (const words of ["alpha", "beta", "Both are there."]) expect(resumed).toContain(words)
  })

  it("answers without Node's own fetch, which takes longer to load than to use", async () => {
    await using stub = await startModelStub([{ tools: [{ name: "ls", args: {} }] }, { text: "done" }])
    const { space } = await prepare(stub.url)
    await using _ = space
    const report = `process.on("exit", () => process.stderr.write("loaded: " + process.moduleLoadList.filter((name) => /undici|_http_client/.test(name))))`
    const run = await space.nimlet(["-p", ...provider.args, "go"], {
      env: { ...provider.env(stub.url), NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(report)}` }
    })
    expect(run.stdout).toBe("done\n")
    expect(run.stderr).toContain("loaded: NativeModule _http_client")
    expect(run.stderr).not.toContain("undici")
  })

  it.each([{ NODE_USE_ENV_PROXY: "1" }, { NODE_OPTIONS: "--use-env-proxy" }])("goes through a proxy when Node is told to: %o", async (told) => {
    await using stub = await startModelStub([{ text: "done" }])
    const { space } = await prepare("http://model.invalid")
    await using _ = space
    const asked: Array<string> = []
    await using proxy = await startProxy(stub.url, (target) => asked.push(target))
    const run = await space.nimlet(["-p", ...provider.args, "go"], {
      env: { ...provider.env("http://model.invalid"), ...told, http_proxy: proxy.url }
    })
    expect(run.stdout).toBe("done\n")
    expect(asked).toEqual(["model.invalid:80"])
  })

  it.each([true, 2])("that says nothing any more is given up after request_timeout and asked again (silent from %s on)", async (hang) => {
    await using stub = await startModelStub([{ text: "an answer that comes in the end", hang, times: 1 }])
    const { nimlet, space } = await prepare(stub.url)
    await using _ = space
    await space.file("~/.nimlet/config.json", JSON.stringify({ ...JSON.parse(chatConfig(stub.url)), agent: { request_timeout: 0.3 } }))
    const run = await nimlet("go")
    const all = records(run.stdout)
    expect(run.code).toBe(0)
    expect(all.filter((record) => record["type"] === "diagnostic").map((record) => record["message"])).toEqual([expect.stringContaining("no data for 0.3 s")])
    expect(all.filter((record) => record["type"] === "message" && record["role"] === "assistant").map((record) => record["content"])).toEqual(["an answer that comes in the end"])
    expect(stub.requests.map((request) => request.aborted)).toEqual([true, false])
  })

  describe("in one process, turn after turn", () => {
    let stub: ModelStub
    let space: Workspace
    let rpc: RpcDriver
    beforeAll(async () => {
      stub = await startModelStub([])
      space = (await prepare(stub.url)).space
      rpc = startRpc(space, provider.args, { env: provider.env(stub.url), limitMs: 120_000 })
    })
    afterAll(async () => {
      await space[Symbol.asyncDispose]()
      await stub.close()
    })
    /** A turn in a new session: whether it went well, its records, and what the model was asked. */
    const play = async (...steps: ReadonlyArray<Step>) => {
      stub.setScenario(steps)
      const before = stub.requests.length
      expect(await rpc.ask("new")).toMatchObject({ ok: true })
      const from = rpc.all().length
      const { success } = await rpc.turn(rpc.send("prompt", { message: "go" }))
      return { success, all: rpc.all().slice(from), requests: stub.requests.slice(before) }
    }
    const ofType = (all: ReadonlyArray<Record<string, any>>, type: string) => all.filter((record) => record["type"] === type)

    it("says the same when every byte comes alone", async () => {
      const { all, success } = await play({ split: "everyByte", text: "größer 😀", tools: [{ name: "ls", args: {} }] }, { split: 7, text: "done" })
      expect(success).toBe(true)
      expect(ofType(all, "message").map((record) => record["content"])).toEqual(["go", "größer 😀", "done"])
    })

    it("tries again after 429 and 500, visibly, and shows only the whole answer as the message", async () => {
      const { all, requests, success } = await play({ status: 429, retryAfter: 0, times: 1, text: "fine" })
      expect(success).toBe(true)
      expect(ofType(all, "diagnostic")).toHaveLength(1)
      expect(requests).toHaveLength(2)
    })

    it("never runs a call of an answer that was cut off", async () => {
      const { all, success } = await play({ tools: [{ name: "write", args: { path: "cut.txt", content: "x" } }], cutAfter: 3, times: 5 })
      expect(success).toBe(false)
      expect(ofType(all, "tool_call")).toEqual([])
      expect(ofType(all, "error")).toHaveLength(1)
      expect(existsSync(join(space.work, "cut.txt"))).toBe(false)
    }, 60_000)

    it("gives the model an error for arguments that are not JSON, and goes on", async () => {
      const { all, requests, success } = await play({ tools: [{ name: "read", args: "{\"path\": \"a.t" }] }, { text: "sorry" })
      expect(requests.map((request) => request.problem)).toEqual([undefined, undefined])
      expect(success).toBe(true)
      expect(ofType(all, "tool_result")).toMatchObject([{ is_error: true }])
    })

    // J-051
    it("makes ids unique that the model gave twice or left empty", async () => {
      const { all, requests, success } = await play(
        { tools: [{ name: "ls", args: {}, id: "same" }, { name: "ls", args: {}, id: "same" }] },
        { tools: [{ name: "ls", args: {}, id: "same" }] },
        { text: "done" }
      )
      expect(requests.map((request) => request.problem)).toEqual([undefined, undefined, undefined])
      expect(success).toBe(true)
      expect(new Set(ofType(all, "tool_call").map((record) => record["tool_id"])).size).toBe(3)
    })

    it("shows the model an image that was read", async () => {
      await space.file("dot.png", png)
      const { requests, success } = await play({ tools: [{ name: "read", args: { path: "dot.png" } }] }, { text: "a dot" })
      expect(requests.map((request) => request.problem)).toEqual([undefined, undefined])
      expect(success).toBe(true)
      if (provider !== chat) expect(JSON.stringify(requests[1]!.body)).toContain(png.toString("base64"))
    })

    it("leaves a stream of records that is in order", async () => {
      const { code, stdout } = await rpc.end()
      expect([code, checkRecords(records(stdout), { mode: "rpc" })]).toEqual([0, []])
    })
  })
})

describe("keys", () => {
  it("come from auth.json, are never shown, and are kept from commands", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ tools: [{ name: "bash", args: { command: "env" } }] }, { text: "ok" }])
    chmodSync(await space.file("~/.nimlet/auth.json", JSON.stringify({ anthropic: { type: "api_key", key: "from-file-key" } })), 0o644)
    const run = await space.nimlet(["--mode", "json", ...anthropic.args, "go"], {
      env: { ANTHROPIC_BASE_URL: stub.url, OPENAI_API_KEY: "other-key" }
    })
    expect(run.code).toBe(0)
    expect(stub.requests[0]!.headers["x-api-key"]).toBe("from-file-key")
    expect(run.stdout + run.stderr).not.toMatch(/from-file-key|other-key/)
    expect(run.stderr).toContain("chmod 600")
  })

  it("make their provider the default", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ text: "hello there" }])
    const run = await space.nimlet(["-p", "hi"], { env: { OPENAI_BASE_URL: stub.url, OPENAI_API_KEY: "k" } })
    expect([run.code, run.stdout, run.stderr]).toEqual([0, "hello there\n", ""])
  })
})

describe("settings that cannot be used", () => {
  const server = { endpoint: "http://127.0.0.1:9/v1" }
  it.each<[what: string, config: object, args: ReadonlyArray<string>, said: ReadonlyArray<string>]>([
    ["a default provider that nobody knows", { default_provider: "antrhopic" }, [], ["'antrhopic', named by default_provider in ~/.nimlet/config.json", "anthropic is meant, it seems", "providers.antrhopic in ~/.nimlet/config.json"]],
    ["a flag's provider that nobody knows", { default_provider: "local", providers: { local: server } }, ["--provider", "nope"], ["'nope', named by --provider"]],
    ["an endpoint that is no address", { default_provider: "local", default_model: "m", providers: { local: { endpoint: "localhost:9" } } }, [], ["providers.local.endpoint: 'localhost:9' is no http URL", "begins with http://", "~/.nimlet/config.json"]],
    ["no endpoint", { default_provider: "local", default_model: "m", providers: { local: {} } }, [], ["providers.local.endpoint in ~/.nimlet/config.json"]],
    ["no model", { default_provider: "local", providers: { local: server } }, [], ["--model", "providers.local.models"]]
  ])("are told with the key, the file and what helps: %s", async (_, config, args, said) => {
    await using space = await makeWorkspace()
    await space.file("~/.nimlet/config.json", JSON.stringify(config))
    const run = await space.nimlet(["-p", ...args, "hi"])
    expect(run.code).toBe(1)
    for (const part of said) expect(run.stderr).toContain(part)
  })

  it("a header whose variable is not set is left out, and that is told", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ text: "fine" }])
    const providers = { local: { endpoint: `${stub.url}/v1`, api: "openai-chat", api_key_env: "IS_SET", headers: { "x-a": "$NOT_SET_HERE", "x-b": "${IS_SET}" } } }
    await space.file("~/.nimlet/config.json", JSON.stringify({ default_provider: "local", default_model: "m", providers }))
    const run = await space.nimlet(["-p", "hi"], { env: { IS_SET: "yes" } })
    expect([run.code, run.stdout]).toEqual([0, "fine\n"])
    expect(run.stderr).toBe("~/.nimlet/config.json: providers.local.headers.x-a is left out, since the variable NOT_SET_HERE is not set; set it, or take the header out\n")
    expect([stub.requests[0]!.headers["x-a"], stub.requests[0]!.headers["x-b"]]).toEqual([undefined, "yes"])
  })
})
