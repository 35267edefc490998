import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Option, Redacted, Stream } from "effect"
import * as LanguageModel from "effect/ai/LanguageModel"
import { Thinking } from "../src/Thinking.ts"
import { baseUrl, type ModelRef, Models, type ModelsOptions } from "../src/Models.ts"
import { anthropic, chat, responses, send, serve } from "./Loopback.ts"

const home = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* fs.makeTempDirectoryScoped()
  yield* fs.makeDirectory(`${path}/.nimlet`)
  const write = (text: string, mode = 0o600) => Effect.andThen(fs.writeFileString(`${path}/.nimlet/auth.json`, text), fs.chmod(`${path}/.nimlet/auth.json`, mode))
  return { path, write }
})
const use = <A, E, R>(options: Partial<ModelsOptions>, f: (models: Models["Service"]) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(Models, f).pipe(Effect.provide(Models.layer({ environment: {}, home: "/nowhere", ...options })))
const resolve = (options: Partial<ModelsOptions>, ref: ModelRef) => use(options, (models) => models.resolve(ref))
const ask = (options: Partial<ModelsOptions>, ref: ModelRef) =>
  Effect.flatMap(resolve(options, ref), ({ layer }) => Stream.runCollect(LanguageModel.streamText({ prompt: "hi" })).pipe(Effect.provide(layer)))

it.layer(NodeServices.layer)("Models", (it) => {
  describe("keys", () => {
    it.effect("come from the flag, then auth.json, then the environment", () =>
      Effect.gen(function*() {
        const { requests, url } = yield* serve(send(anthropic.start(), ...anthropic.text(0, "ok"), ...anthropic.stop("end_turn")))
        const { path, write } = yield* home
        const options = { home: path, environment: { ANTHROPIC_API_KEY: "env", ANTHROPIC_BASE_URL: url, MINE: "named" } }
        const ref = { provider: "anthropic", model: "claude-x" }
        yield* ask(options, ref)
        yield* write(JSON.stringify({ anthropic: { type: "api_key", key: "file" } }))
        yield* ask(options, ref)
        yield* write(JSON.stringify({ anthropic: { type: "api_key", key: "$MINE" } }))
        yield* ask(options, ref)
        yield* ask(options, { ...ref, apiKey: Redacted.make("flag") })
        assert.deepStrictEqual(requests.map((request) => request.headers["x-api-key"]), ["env", "file", "named", "flag"])
        assert.deepStrictEqual(requests.map((request) => request.url), Array.from({ length: 4 }, () => "/v1/messages"))
      }))

    it.effect("that are missing are named by their variables", () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(resolve({}, { provider: "openai", model: "m" }))
        assert.deepInclude({ ...error }, { _tag: "MissingCredential", provider: "openai", variables: ["OPENAI_API_KEY"] })
        const { path, write } = yield* home
        yield* write(JSON.stringify({ openai: { type: "api_key", key: "$NOT_SET" } }))
        assert.deepInclude({ ...(yield* Effect.flip(resolve({ home: path }, { provider: "openai", model: "m" }))) }, { variables: ["NOT_SET"] })
        yield* write(JSON.stringify({ openai: { type: "oauth", access: "x" } }))
        const other = yield* Effect.flip(resolve({ home: path, environment: { OPENAI_API_KEY: "k" } }, { provider: "openai", model: "m" }))
        assert.strictEqual(other._tag, "MissingCredential")
        assert.include(other.message, "of the type oauth, and only api_key is understood")
      }))

    it.effect("in a broken auth.json are never shown; the error names file and problem", () =>
      Effect.gen(function*() {
        const { path, write } = yield* home
        for (const [text, problem] of [["{\"openai\": sk-secret", "no valid JSON"], ["[]", "no JSON object"], ["{\"openai\": \"sk-secret\"}", "'openai'"], ["{\"openai\":{\"type\":\"api_key\"}}", "no key"]] as const) {
          yield* write(text)
          const error = yield* Effect.flip(resolve({ home: path }, { provider: "openai", model: "m" }))
          assert.strictEqual(error._tag, "AuthFileInvalid")
          assert.include(error.message, `${path}/.nimlet/auth.json`)
          assert.include(error.message, problem)
          assert.notInclude(error.message, "sk-secret")
        }
      }))

    it.effect("in an auth.json that is no JSON: the error says where it stops to be", () =>
      Effect.gen(function*() {
        const { path, write } = yield* home
        for (const [text, place] of [
          ['{"a": sk-secret', "line 1, column 7"], ['{\n "a": {"type" "x"}}', "line 2, column 15"], ['{"a": {}},', "line 1, column 10"], ['{"a": {},}', "line 1, column 10"],
          ['{"a": "x\ny"}', "line 1, column 7"], ["", "line 1, column 1"], ['{"a": [1, 2', "line 1, column 12"]
        ] as const) {
          yield* write(text)
          assert.include((yield* Effect.flip(resolve({ home: path }, { provider: "openai", model: "m" }))).message, `no valid JSON at ${place}`)
        }
      }))

    it.effect("in a file that others may read work, and the file is pointed out", () =>
      Effect.gen(function*() {
        const { path, write } = yield* home
        const ref = { provider: "openai", model: "m" }
        yield* write(JSON.stringify({ openai: { type: "api_key", key: "k" } }), 0o644)
        assert.deepStrictEqual((yield* resolve({ home: path }, ref)).exposed, Option.some(`${path}/.nimlet/auth.json`))
        yield* write(JSON.stringify({ openai: { type: "api_key", key: "k" } }), 0o600)
        assert.deepStrictEqual((yield* resolve({ home: path }, ref)).exposed, Option.none())
      }))
  })

  describe("without a provider", () => {
    it.effect("the first one with a key is taken, and none means offline", () =>
      Effect.gen(function*() {
        const of = (environment: Record<string, string>) => use({ environment }, (models) => models.defaultProvider)
        assert.strictEqual(yield* of({}), "offline")
        assert.strictEqual(yield* of({ OPENROUTER_API_KEY: "k" }), "openrouter")
        assert.strictEqual(yield* of({ OPENROUTER_API_KEY: "k", OPENAI_API_KEY: "k" }), "openai")
        assert.strictEqual(yield* of({ ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k" }), "anthropic")
        assert.strictEqual(yield* of({ ANTHROPIC_API_KEY: "  " }), "offline")
      }))

    it.effect("the offline model answers", () =>
      Effect.gen(function*() {
        const parts = yield* ask({}, {})
        assert.include(parts.flatMap((part) => part.type === "text-delta" ? [part.delta] : []).join(""), "I am offline")
      }))
  })

  describe("providers", () => {
    it.effect("that nobody knows are an error with the names that are known", () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(resolve({ providers: { mine: { endpoint: "http://h" } } }, { provider: "nope" }))
        assert.strictEqual(error._tag, "UnknownProvider")
        if (error._tag === "UnknownProvider") assert.includeMembers([...error.known], ["anthropic", "openai", "mine", "offline", "scripted"])
        assert.strictEqual((yield* Effect.flip(resolve({}, { provider: "constructor" })))._tag, "UnknownProvider")
      }))

    it.effect("of the settings are reached at their endpoint, by their interface, with their key", () =>
      Effect.gen(function*() {
        const { requests, url } = yield* serve((response, n) =>
          n === 0 ? send(chat.delta({ content: "ok" }), chat.delta({}, "stop"), chat.usage)(response)
          : n === 1 ? send(responses.start, ...responses.text(0, "m", "ok"), responses.done)(response)
          : send(anthropic.start(), ...anthropic.text(0, "ok"), ...anthropic.stop("end_turn"))(response))
        const providers = {
          bare: { endpoint: url, models: ["first"], options: { mirostat: 2 } },
          mine: { endpoint: `${url}/api/`, api: "openai-responses", api_key_env: "MINE", models: [{ id: "r", context_window: 7, images: true }] },
          other: { endpoint: url, api: "anthropic-messages" }
        }
        const options = { providers, environment: { MINE: "k" } }
        yield* ask(options, { provider: "bare" })
        yield* ask(options, { provider: "mine" })
        yield* ask(options, { provider: "other", model: "m", maxTokens: 99 })
        assert.deepStrictEqual(requests.map((request) => [request.url, request.headers.authorization, request.body.model]), [
          ["/v1/chat/completions", undefined, "first"], ["/api/responses", "Bearer k", "r"], ["/v1/messages", undefined, "m"]
        ])
        assert.strictEqual(requests[0]!.body.mirostat, 2)
        assert.strictEqual(requests[2]!.body.max_tokens, 99)
        assert.deepStrictEqual((yield* resolve(options, { provider: "mine" })).info, {
          provider: "mine", model: "r", contextWindow: 7, images: true, thinkingLevels: ["off", "low", "medium", "high"], compat: {}
        })
        assert.strictEqual((yield* Effect.flip(resolve({ providers }, { provider: "mine" })))._tag, "MissingCredential")
      }))

    it.effect("may take their key from one of several variables, and may say that they can do without", () =>
      Effect.gen(function*() {
        const mine = { endpoint: "http://h", models: ["m"], api_key_env: ["A", "B"] }
        const found = yield* resolve({ providers: { mine }, environment: { B: "k" } }, { provider: "mine" })
        assert.deepStrictEqual([found.keySource, found.endpoint], [Option.some("B"), Option.some("http://h/v1")])
        assert.strictEqual((yield* Effect.flip(resolve({ providers: { mine } }, { provider: "mine" })))._tag, "MissingCredential")
        const keyless = yield* resolve({ providers: { mine: { ...mine, requires_api_key: false } } }, { provider: "mine" })
        assert.deepStrictEqual(keyless.keySource, Option.none())
        const wanted = resolve({ providers: { mine: { endpoint: "http://h", models: ["m"], requires_api_key: true } } }, { provider: "mine" })
        assert.strictEqual((yield* Effect.flip(wanted))._tag, "MissingCredential")
      }))

    it.effect("may have models each at an address and behind an interface of its own", () =>
      Effect.gen(function*() {
        const mine = {
          endpoint: "http://h", requires_api_key: false,
          models: ["plain", { id: "gem", api: "google-generative-ai", endpoint: "http://g" }, { id: "other", endpoint: "http://o/two" }, { id: "odd", api: "soap" }]
        }
        const at = (model: string) => Effect.map(resolve({ providers: { mine } }, { provider: "mine", model }), ({ endpoint }) => Option.getOrNull(endpoint))
        assert.deepStrictEqual(yield* Effect.all([at("plain"), at("gem"), at("other")]), ["http://h/v1", "http://g/v1beta", "http://o/two"])
        assert.strictEqual((yield* Effect.flip(at("odd")))._tag, "UnknownApi")
      }))

    it.effect("with settings that make no sense are errors of their own", () =>
      Effect.gen(function*() {
        const providers = { a: { endpoint: "ftp://x", models: ["m"] }, b: { endpoint: "http://x", api: "soap", models: ["m"] }, c: { endpoint: "http://x" }, d: {} }
        const tags = yield* Effect.forEach(["a", "b", "c", "d"], (provider) => Effect.map(Effect.flip(resolve({ providers }, { provider })), (error) => error._tag))
        assert.deepStrictEqual(tags, ["InvalidEndpoint", "UnknownApi", "MissingModel", "InvalidEndpoint"])
      }))

    it.effect("ask for thinking in the provider's own words", () =>
      Effect.gen(function*() {
        const { requests, url } = yield* serve(send(responses.start, ...responses.text(0, "m", "ok"), responses.done))
        const asked = (model: string) => ask({ environment: { OPENAI_API_KEY: "k", OPENAI_BASE_URL: url } }, { provider: "openai", model })
        yield* Effect.provideService(asked("gpt-5"), Thinking, "high")
        yield* Effect.provideService(asked("gpt-5"), Thinking, "max")
        yield* Effect.provideService(asked("gpt-5"), Thinking, "off")
        yield* asked("gpt-5")
        yield* Effect.provideService(asked("gpt-4.1"), Thinking, "high")
        assert.deepStrictEqual(requests.map(({ body }) => body.reasoning?.effort), ["high", "high", "minimal", undefined, undefined])
      }))
  })

  describe("a script", () => {
    it.effect("goes on where it was, however often its layer is built", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const script = yield* fs.makeTempFileScoped()
        yield* fs.writeFileString(script, JSON.stringify({ steps: [{ text: "one" }, { text: "two" }] }))
        const { layer } = yield* resolve({}, { provider: "scripted", script })
        const text = Effect.map(LanguageModel.generateText({ prompt: "x" }), (answer) => answer.text).pipe(Effect.provide(layer))
        assert.deepStrictEqual([yield* text, yield* text], ["one", "two"])
        assert.strictEqual((yield* Effect.flip(resolve({}, { provider: "scripted", script: `${script}.no` })))._tag, "ScriptInvalid")
        assert.strictEqual((yield* Effect.flip(resolve({}, { provider: "scripted" })))._tag, "ScriptInvalid")
      }))
  })
})

describe("baseUrl", () => {
  it("adds /v1 to an empty path only, and takes no other protocol", () => {
    assert.deepStrictEqual(["http://h", "http://h/", "https://h/api/v2/", "http://h:1/v1", "file:///x", "h"].map((url) => baseUrl(url)), ["http://h/v1", "http://h/v1", "https://h/api/v2", "http://h:1/v1", undefined, undefined])
    assert.deepStrictEqual(["http://h", "http://h/v1"].map((url) => baseUrl(url, "google")), ["http://h/v1beta", "http://h/v1"])
  })
})
