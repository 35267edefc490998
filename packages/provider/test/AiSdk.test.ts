import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Redacted, Stream } from "effect"
import { TestClock } from "effect/testing"
import type * as AiError from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as AiSdk from "../src/AiSdk.ts"
import { isContextOverflow } from "../src/AiSdk/Failure.ts"
import { accountOf } from "../src/FailureAccount.ts"
import { toolCallParseError } from "../src/AiSdk/Parts.ts"
import { RequestLimits } from "../src/RequestLimits.ts"
import { Thinking } from "../src/Thinking.ts"
import type { Endpoint } from "../src/providers/Endpoint.ts"
import { connect as anthropicConnect } from "../src/providers/anthropic.ts"
import { connect as chatConnect } from "../src/providers/openai-chat.ts"
import { connect as compatibleConnect } from "../src/providers/openai-compatible.ts"
import { connect as responsesConnect } from "../src/providers/openai-responses.ts"
import { anthropic, chat, event, head, refuse, responses, send, serve } from "./Loopback.ts"

const read = Tool.dynamic("read", { description: "Reads a file", parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] } })
const tools = Toolkit.make(read)
const toolkit: Toolkit.WithHandler<{ read: typeof read }> = { tools: tools.tools, handle: () => Effect.die("not run here") }

const connects = { anthropic: anthropicConnect, responses: responsesConnect, chat: chatConnect, compatible: compatibleConnect }
const make = (api: keyof typeof connects, url: string, more: Partial<AiSdk.AiSdkOptions> = {}) => {
  const endpoint: Endpoint = { provider: api, model: "m", baseURL: `${url}/v1`, apiKey: Redacted.make("secret-key"), headers: {}, thinks: true }
  return AiSdk.make({ provider: api, model: "m", connect: Effect.succeed(connects[api](endpoint)), ...more })
}
const ask = (model: LanguageModel.LanguageModel, prompt: Prompt.RawInput = "hello") =>
  model.streamText({ prompt, toolkit, disableToolCallResolution: true, toolCallValidation: "deferred" })
type Parts = Array<any>
const collect = (model: LanguageModel.LanguageModel, prompt?: Prompt.RawInput): Effect.Effect<Parts, AiError.AiError> =>
  Effect.map(Stream.runCollect(ask(model, prompt)), (parts) => [...parts])
const textOf = (parts: Parts) => parts.flatMap((part) => part.type === "text-delta" ? [part.delta] : []).join("")
const calls = (parts: Parts) => parts.filter((part) => part.type === "tool-call").map(({ id, name, params }) => ({ id, name, params }))
const tokens = (parts: Parts) => {
  const finish = parts.find((part) => part.type === "finish")
  return { ...finish.usage.inputTokens, output: finish.usage.outputTokens.total, reason: finish.reason }
}

describe("an answer of text, thinking and two tool calls", () => {
  const expectedCalls = [{ id: "t1", name: "read", params: { path: "a" } }, { id: "t2", name: "read", params: { path: "b" } }]

  it.live("comes whole from Anthropic Messages", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* serve(send(
        anthropic.start(), ...anthropic.thinking(0, "hmm", "sig"), ...anthropic.text(1, "Hel", "lo"),
        ...anthropic.tool(2, "t1", "read", '{"pa', 'th":"a"}'), ...anthropic.tool(3, "t2", "read", '{"path":"b"}'), ...anthropic.stop("tool_use")
      ))
      const parts = yield* Effect.flatMap(make("anthropic", url), collect)
      assert.strictEqual(textOf(parts), "Hello")
      assert.deepStrictEqual(parts.find((part) => part.type === "reasoning-end").metadata, { anthropic: { signature: "sig" } })
      assert.deepStrictEqual(calls(parts), expectedCalls)
      assert.deepStrictEqual(tokens(parts), { uncached: 10, total: 17, cacheRead: 4, cacheWrite: 3, output: 7, reason: "tool-calls" })
      assert.strictEqual(requests[0]!.url, "/v1/messages")
      assert.strictEqual(requests[0]!.headers["x-api-key"], "secret-key")
      assert.deepStrictEqual(requests[0]!.body.tools[0].input_schema, { type: "object", properties: { path: { type: "string" } }, required: ["path"] })
    }))

  it.live("comes whole from OpenAI Responses", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* serve(send(
        responses.start, ...responses.reasoning(0, "rs_1", "hmm", "enc"), ...responses.text(1, "msg_1", "Hel", "lo"),
        ...responses.tool(2, "t1", "read", '{"path":"a"}'), ...responses.tool(3, "t2", "read", '{"path":"b"}'), responses.done
      ))
      const parts = yield* Effect.flatMap(make("responses", url), collect)
      assert.strictEqual(textOf(parts), "Hello")
      assert.strictEqual(parts.find((part) => part.type === "reasoning-delta").delta, "hmm")
      assert.deepStrictEqual(parts.find((part) => part.type === "reasoning-end").metadata.openai, { itemId: "rs_1", reasoningEncryptedContent: "enc" })
      assert.deepStrictEqual(calls(parts), expectedCalls)
      assert.deepStrictEqual(tokens(parts), { uncached: 6, total: 10, cacheRead: 4, cacheWrite: undefined, output: 7, reason: "tool-calls" })
      assert.strictEqual(requests[0]!.headers.authorization, "Bearer secret-key")
      assert.strictEqual(requests[0]!.body.store, false)
    }))

  for (const api of ["chat", "compatible"] as const) {
    it.live(`comes whole from OpenAI Chat (${api})`, () =>
      Effect.gen(function*() {
        const { requests, url } = yield* serve(send(
          chat.delta({ role: "assistant", content: "Hel" }), chat.delta({ content: "lo" }),
          chat.tool(0, "t1", "read", '{"pa'), chat.tool(0, undefined, undefined, 'th":"a"}'), chat.tool(1, "t2", "read", '{"path":"b"}'),
          chat.delta({}, "tool_calls"), chat.usage
        ))
        const parts = yield* Effect.flatMap(make(api, url), collect)
        assert.strictEqual(textOf(parts), "Hello")
        assert.deepStrictEqual(calls(parts), expectedCalls)
        assert.deepInclude(tokens(parts), { total: 10, cacheRead: 4, output: 7, reason: "tool-calls" })
        assert.strictEqual(requests[0]!.url, "/v1/chat/completions")
        assert.strictEqual(requests[0]!.headers.authorization, "Bearer secret-key")
      }))
  }
})

describe("chunks", () => {
  it.live("joins the deltas of one network read, and keeps those of different reads apart", () =>
    Effect.gen(function*() {
      const writes: Array<() => void> = []
      const { url } = yield* serve((response) => {
        head(response)
        const body = [anthropic.start(), ...anthropic.text(0, ...Array.from({ length: 50 }, (_, i) => `${i} `))]
        response.write(body.map(event).join("").replace(/event: content_block_stop[^]*$/, ""))
        writes.push(() => response.end([
          { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "late" } }, { type: "content_block_stop", index: 0 },
          ...anthropic.stop("end_turn")
        ].map(event).join("")))
      })
      const model = yield* make("anthropic", url)
      const deltas: Array<Array<string>> = []
      yield* Stream.runForEachArray(ask(model), (parts) => Effect.sync(() => {
        const found = parts.flatMap((part) => part.type === "text-delta" ? [part.delta] : [])
        if (found.length > 0) deltas.push(found)
        if (deltas.length === 1) writes.pop()?.()
      }))
      assert.deepStrictEqual(deltas, [[Array.from({ length: 50 }, (_, i) => `${i} `).join("")], ["late"]])
    }))

  it.live("reads the same answer however the bytes are split", () =>
    Effect.gen(function*() {
      const bytes = Buffer.from([anthropic.start(), ...anthropic.text(0, "Grüße 🦊", " ok"), ...anthropic.tool(1, "t1", "read", '{"path":"ü"}'), ...anthropic.stop("tool_use")].map(event).join(""))
      const { url } = yield* serve(async (response, n) => {
        head(response)
        const size = [1, 7, 64][n] ?? 1
        for (let at = 0; at < bytes.length; at += size) {
          response.write(bytes.subarray(at, at + size))
          if (at % (size * 40) === 0) await new Promise((resolve) => setImmediate(resolve))
        }
        response.end()
      })
      const model = yield* make("anthropic", url)
      for (let n = 0; n < 3; n++) {
        const parts = yield* collect(model)
        assert.strictEqual(textOf(parts), "Grüße 🦊 ok")
        assert.deepStrictEqual(calls(parts), [{ id: "t1", name: "read", params: { path: "ü" } }])
      }
    }))

  it.live("slows the connection when the taker is slow", () =>
    Effect.gen(function*() {
      let written = 0
      const block = "x".repeat(64 * 1024)
      const { url } = yield* serve((response) => {
        head(response)
        response.write(event(anthropic.start()) + event(anthropic.text(0)[0]))
        const more = () => {
          while (written < 4_000 && response.write(event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: block } }))) written++
          if (written < 4_000) response.once("drain", () => { written++; more() })
        }
        more()
      })
      const model = yield* make("anthropic", url)
      const fiber = yield* Effect.forkChild(Stream.runForEachArray(ask(model), () => Effect.never))
      let before = -1
      while (before !== written) {
        before = written
        yield* Effect.sleep(150)
      }
      yield* Fiber.interrupt(fiber)
      assert.isBelow(written, 1_000)
    }))
})

describe("tool calls", () => {
  it.live("carry arguments that are no JSON as text, with the reason", () =>
    Effect.gen(function*() {
      const { url } = yield* serve(send(anthropic.start(), ...anthropic.tool(0, "t1", "read", '{"path": oops'), ...anthropic.stop("tool_use")))
      const parts = yield* Effect.flatMap(make("anthropic", url), collect)
      const call = parts.find((part) => part.type === "tool-call")
      assert.strictEqual(call.params, '{"path": oops')
      assert.include(toolCallParseError(call), "JSON")
    }))

  it.live("come out with a name nobody offered, for the agent to refuse", () =>
    Effect.gen(function*() {
      const { url } = yield* serve(send(chat.tool(0, "t1", "nope", "{}"), chat.delta({}, "tool_calls"), chat.usage))
      assert.deepStrictEqual(calls(yield* Effect.flatMap(make("chat", url), collect)), [{ id: "t1", name: "nope", params: {} }])
    }))

  for (
    const [name, api, events] of [
      ["Anthropic", "anthropic", [anthropic.start(), ...anthropic.tool(0, "t1", "read", '{"path":"a"}')]],
      ["Chat", "chat", [chat.tool(0, "t1", "read", '{"path":"a"}')]],
      ["a compatible endpoint", "compatible", [chat.tool(0, "t1", "read", '{"path":"a"}')]],
      ["Responses", "responses", [responses.start, ...responses.tool(0, "t1", "read", '{"path":"a"}')]]
    ] as const
  ) {
    it.live(`never come out of an answer that was cut (${name})`, () =>
      Effect.gen(function*() {
        const { url } = yield* serve(send(...events))
        const model = yield* make(api, url)
        const seen: Parts = []
        const error = yield* Effect.flip(Stream.runForEach(ask(model), (part) => Effect.sync(() => seen.push(part))))
        assert.strictEqual(error.reason._tag, "InvalidOutputError")
        assert.isTrue(error.isRetryable)
        assert.deepStrictEqual(calls(seen), [])
      }))
  }
})

describe("a stream that goes wrong", () => {
  const all = [anthropic.start(), ...anthropic.text(0, "a"), ...anthropic.tool(1, "t1", "read", "{}"), ...anthropic.stop("tool_use")]

  it.live("is an error after every event but the last", () =>
    Effect.gen(function*() {
      const { url } = yield* serve((response, n) => send(...all.slice(0, n + 1))(response))
      const model = yield* make("anthropic", url)
      for (let n = 0; n < all.length - 1; n++) {
        assert.strictEqual((yield* Effect.flip(collect(model))).reason._tag, "InvalidOutputError", `after event ${n}`)
      }
      assert.strictEqual(textOf(yield* collect(model)), "a")
    }))

  it.live("is a retryable error when the connection is reset", () =>
    Effect.gen(function*() {
      const { url } = yield* serve((response) => {
        head(response)
        response.write(event(anthropic.start()) + anthropic.text(0, "a").map(event).join(""), () => setImmediate(() => response.destroy()))
      })
      const error = yield* Effect.flip(Effect.flatMap(make("anthropic", url), collect))
      assert.isTrue(error.isRetryable)
    }))

  it.live("is a retryable error when it is garbled", () =>
    Effect.gen(function*() {
      const { url } = yield* serve((response) => {
        head(response)
        response.end(event(anthropic.start()) + anthropic.text(0, "a").map(event).join("") + "event: message_delta\ndata: {\"type\":\"mess\n\n")
      })
      const error = yield* Effect.flip(Effect.flatMap(make("anthropic", url), collect))
      assert.strictEqual(error.reason._tag, "InvalidOutputError")
    }))

  it.live("passes over events of a kind it does not know", () =>
    Effect.gen(function*() {
      const { url } = yield* serve(send(
        anthropic.start(), { type: "brand_new", index: 1 }, { type: "content_block_start", index: 0, content_block: { type: "hologram" } },
        { type: "content_block_delta", index: 0, delta: { type: "hologram_delta" } }, { type: "content_block_stop", index: 0 },
        ...anthropic.text(1, "fine"), ...anthropic.stop("end_turn")
      ))
      assert.strictEqual(textOf(yield* Effect.flatMap(make("anthropic", url), collect)), "fine")
    }))

  it.live("is the provider's error when one comes inside", () =>
    Effect.gen(function*() {
      const { url } = yield* serve(send(anthropic.start(), ...anthropic.text(0, "a"), { type: "error", error: { type: "overloaded_error", message: "busy" } }))
      assert.strictEqual((yield* Effect.flip(Effect.flatMap(make("anthropic", url), collect))).reason._tag, "InternalProviderError")
    }))
})

describe("an answer that is no stream of events", () => {
  const answered = (type: string, ...body: ReadonlyArray<string>) => (response: import("node:http").ServerResponse) => {
    response.writeHead(200, { "content-type": type })
    for (const piece of body) response.write(piece)
    response.end()
  }
  for (const api of ["anthropic", "chat", "responses"] as const) {
    it.live(`is told with its address, its content type and how it begins, and not asked for again (${api})`, () =>
      Effect.gen(function*() {
        const { url } = yield* serve(answered("text/html; charset=utf-8", "<!DOCTYPE html>\n<html><title>Sign in", "</title></html>"))
        const error = yield* Effect.flip(Effect.flatMap(make(api, url), collect))
        assert.isFalse(error.isRetryable)
        const account = accountOf(error)
        assert.include(account, `${url}/v1/`)
        assert.include(account, "answered with text/html; charset=utf-8 where a stream of events was expected")
        assert.include(account, "It begins: <!DOCTYPE html> <html><title>Sign in")
      }))
  }

  it.live("is the error it holds", () =>
    Effect.gen(function*() {
      const bodies = [{ error: { message: "model m is not loaded", type: "invalid_request_error" } }, { error: "the key is for another region" }]
      const { url } = yield* serve((response, n) => answered("application/json", JSON.stringify(bodies[n]))(response))
      const model = yield* make("chat", url)
      assert.match(accountOf(yield* Effect.flip(collect(model))), /^\w+ refused the request: model m is not loaded/)
      assert.include(accountOf(yield* Effect.flip(collect(model))), "the key is for another region")
    }))

  it.live("is known by what comes, not by its content type", () =>
    Effect.gen(function*() {
      const all = [anthropic.start(), ...anthropic.text(0, "a"), ...anthropic.stop("end_turn")]
      const { url } = yield* serve(answered("text/plain", ": hello\n\n", all.map(event).join("")))
      assert.strictEqual(textOf(yield* Effect.flatMap(make("anthropic", url), collect)), "a")
    }))
})

describe("a refusal", () => {
  it.live("is told in the provider's words, wherever they stand", () =>
    Effect.gen(function*() {
      const cases: ReadonlyArray<readonly [status: number, body: string, said: string]> = [
        [400, "the max_tokens field is not known\nhere", "refused the request: the max_tokens field is not known here"],
        [400, JSON.stringify({ detail: "field foo is bad" }), "refused the request: field foo is bad"],
        [422, JSON.stringify({ detail: [{ loc: ["body", "messages"], msg: "no list" }] }), "refused the request: body.messages: no list"],
        [400, JSON.stringify({ error: "try pulling it first" }), "refused the request: try pulling it first"],
        [400, JSON.stringify({ error: { message: "Provider returned error", metadata: { raw: "{\"error\":{\"message\":\"too many tools\"}}" } } }), "Provider returned error: too many tools"],
        [400, "", "(HTTP 400, and no word of why)"],
        [404, "<html><head><title>404 Not Found</title></head><body><h1>Not Found</h1></body></html>", "404 Not Found (HTTP 404 at http://127.0.0.1"],
        [500, "CUDA out of memory", "failed: HTTP 500: CUDA out of memory"],
        [429, JSON.stringify({ error: { message: "the limit of plan X" } }), "takes no more requests for now: the limit of plan X"]
      ]
      const { url } = yield* serve((response, n) => {
        response.writeHead(cases[n]?.[0] ?? 500, { "content-type": "text/plain" })
        response.end(cases[n]?.[1])
      })
      const model = yield* make("chat", url)
      for (const [, , said] of cases) assert.include(accountOf(yield* Effect.flip(collect(model))), said)
    }))

  const cases = [
    [401, { type: "error", error: { type: "authentication_error", message: "invalid x-api-key" } }, "AuthenticationError", false],
    [403, { type: "error", error: { type: "permission_error", message: "no" } }, "AuthenticationError", false],
    [400, { type: "error", error: { type: "invalid_request_error", message: "bad" } }, "InvalidRequestError", false],
    [429, { type: "error", error: { type: "rate_limit_error", message: "slow down" } }, "RateLimitError", true],
    [500, { type: "error", error: { type: "api_error", message: "oh" } }, "InternalProviderError", true],
    [529, { type: "error", error: { type: "overloaded_error", message: "busy" } }, "InternalProviderError", true]
  ] as const
  for (const [status, body, tag, retryable] of cases) {
    it.live(`with status ${status} is ${tag}`, () =>
      Effect.gen(function*() {
        const { url } = yield* serve(refuse(status, body, { "retry-after": "7" }))
        const error = yield* Effect.flip(Effect.flatMap(make("anthropic", url), collect))
        assert.strictEqual(error.reason._tag, tag)
        assert.strictEqual(error.isRetryable, retryable)
        assert.notInclude(JSON.stringify(error), "secret-key")
        if (error.reason._tag === "RateLimitError") assert.strictEqual(String(error.reason.retryAfter), "7000 millis")
      }))
  }

  it.live("that breaks off is told with its status", () =>
    Effect.gen(function*() {
      const { url } = yield* serve((response) => {
        response.writeHead(500, { "content-type": "text/plain", "content-length": "100" })
        response.write("half of", () => setImmediate(() => response.destroy()))
      })
      const account = accountOf(yield* Effect.flip(Effect.flatMap(make("chat", url), collect)))
      assert.match(account, /failed: HTTP 500: what was to be said of it broke off$/)
    }))

  it.live("for a prompt that is too long is known as that", () =>
    Effect.gen(function*() {
      const bodies = [
        { type: "error", error: { type: "invalid_request_error", message: "prompt is too long: 210000 tokens > 200000 maximum" } },
        { error: { message: "Your input exceeds the limit.", type: "invalid_request_error", code: "context_length_exceeded", param: "input" } }
      ]
      const { url } = yield* serve((response, n) => refuse(400, bodies[n])(response))
      assert.isTrue(isContextOverflow(yield* Effect.flip(Effect.flatMap(make("anthropic", url), collect))))
      assert.isTrue(isContextOverflow(yield* Effect.flip(Effect.flatMap(make("responses", url), collect))))
    }))

  it.live("of the connection is a retryable NetworkError", () =>
    Effect.gen(function*() {
      const { url } = yield* Effect.scoped(serve(() => {}))
      const error = yield* Effect.flip(Effect.flatMap(make("chat", url), collect))
      assert.strictEqual(error.reason._tag, "NetworkError")
      assert.isTrue(error.isRetryable)
    }))
})

describe("time and interruption", () => {
  it.live("interrupting the taker closes the connection", () =>
    Effect.gen(function*() {
      const { closed, url } = yield* serve((response) => {
        head(response)
        response.write(event(anthropic.start()) + event(anthropic.text(0)[0]) + event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "a" } }))
      })
      const model = yield* make("anthropic", url)
      const text = yield* ask(model).pipe(Stream.filter((part) => part.type === "text-delta"), Stream.take(1), Stream.runCollect)
      assert.strictEqual(text.length, 1)
      yield* closed(0)
    }))

  it.live("interrupting before the first byte closes the connection", () =>
    Effect.gen(function*() {
      let asked: () => void = () => {}
      const arrived = new Promise<void>((resolve) => asked = resolve)
      const { closed, url } = yield* serve(() => asked())
      const model = yield* make("anthropic", url)
      const fiber = yield* Effect.forkChild(collect(model))
      yield* Effect.promise(() => arrived)
      yield* Fiber.interrupt(fiber)
      yield* closed(0)
    }))

  it.effect("a server that leaves the connection open after the answer is not waited for, and is left after a second", () =>
    Effect.gen(function*() {
      const { closed, url } = yield* serve((response) => {
        head(response)
        response.write([anthropic.start(), ...anthropic.text(0, "ok"), ...anthropic.stop("end_turn")].map(event).join(""))
      })
      const model = yield* make("anthropic", url)
      yield* collect(model)
      yield* TestClock.adjust("1 second")
      yield* closed(0)
    }))

  it.live("the connection is used again for the next request", () =>
    Effect.gen(function*() {
      const ports = new Set<number | undefined>()
      const { url } = yield* serve((response) => {
        ports.add(response.socket?.remotePort)
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.end([anthropic.start(), ...anthropic.text(0, "ok"), ...anthropic.stop("end_turn")].map(event).join(""))
      })
      const model = yield* make("anthropic", url)
      for (let n = 0; n < 6; n++) yield* collect(model)
      // `fetch` may open a second one when asked before it has noticed that the first is free.
      assert.isBelow(ports.size, 3)
    }))

  it.effect("silence for longer than requestTimeout is a retryable error, and closes the connection", () =>
    Effect.gen(function*() {
      let asked: () => void = () => {}
      const arrived = new Promise<void>((resolve) => asked = resolve)
      const { closed, url } = yield* serve(() => asked())
      const model = yield* make("anthropic", url, { requestTimeout: "300 seconds" })
      const fiber = yield* Effect.forkChild(Effect.flip(collect(model)))
      yield* Effect.promise(() => arrived)
      yield* TestClock.adjust("299 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      const error = yield* Fiber.join(fiber)
      assert.strictEqual(accountOf(error), `anthropic failed: no data for 300 s from ${url}/v1/messages`)
      assert.isTrue(error.isRetryable)
      yield* closed(0)
    }))
})

describe("the prompt", () => {
  const png = "iVBORw0KGgo="
  const prompt = Prompt.make([
    { role: "system", content: "be brief" },
    { role: "user", content: [{ type: "text", text: "look" }, { type: "file", mediaType: "image/png", data: png }] },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "hmm", options: { anthropic: { signature: "sig" } } },
        { type: "text", text: "reading" },
        { type: "tool-call", id: "t 1", name: "read", params: { path: "a" } },
        { type: "tool-call", id: "t2", name: "read", params: "{oops" }
      ]
    },
    {
      role: "tool",
      content: [
        { type: "tool-result", id: "t 1", name: "read", isFailure: false, result: null, modelOutput: [{ type: "text", text: "a picture" }, { type: "file", mediaType: "image/png", data: png }] },
        { type: "tool-result", id: "t2", name: "read", isFailure: true, result: "not JSON" }
      ]
    }
  ])

  it.live("reaches Anthropic with signature, images in results, errors and cache marks", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* serve(send(anthropic.start(), ...anthropic.text(0, "ok"), ...anthropic.stop("end_turn")))
      yield* Effect.flatMap(make("anthropic", url), (model) => collect(model, prompt))
      const image = { type: "image", source: { type: "base64", media_type: "image/png", data: png } }
      const { messages, system } = requests[0]!.body
      assert.deepStrictEqual(system, [{ type: "text", text: "be brief", cache_control: { type: "ephemeral" } }])
      assert.deepStrictEqual(messages[0].content, [{ type: "text", text: "look" }, { ...image, cache_control: { type: "ephemeral" } }])
      assert.deepStrictEqual(messages[1].content, [
        { type: "thinking", thinking: "hmm", signature: "sig" }, { type: "text", text: "reading" },
        { type: "tool_use", id: "t_1", name: "read", input: { path: "a" } }, { type: "tool_use", id: "t2", name: "read", input: {} }
      ])
      assert.deepStrictEqual(messages[2].content, [
        { type: "tool_result", tool_use_id: "t_1", content: [{ type: "text", text: "a picture" }, image] },
        { type: "tool_result", tool_use_id: "t2", content: "not JSON", is_error: true, cache_control: { type: "ephemeral" } }
      ])
    }))

  it.live("reaches OpenAI Chat with images of results in a message of their own", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* serve(send(chat.delta({ content: "ok" }), chat.delta({}, "stop"), chat.usage))
      yield* Effect.flatMap(make("chat", url), (model) => collect(model, prompt))
      const { messages } = requests[0]!.body
      assert.deepStrictEqual(messages.map((message: any) => message.role), ["system", "user", "assistant", "tool", "tool", "user"])
      assert.strictEqual(messages[3].content, "a picture")
      assert.strictEqual(messages[5].content[0].image_url.url, `data:image/png;base64,${png}`)
    }))

  it.live.each(["anthropic", "chat", "compatible", "responses"] as const)("keeps later system text in its place: %s", (kind) =>
    Effect.gen(function*() {
      const reply = kind === "anthropic"
        ? send(anthropic.start(), ...anthropic.text(0, "ok"), ...anthropic.stop("end_turn"))
        : kind === "responses"
        ? send(responses.start, ...responses.text(0, "m", "ok"), responses.done)
        : send(chat.delta({ content: "ok" }), chat.delta({}, "stop"), chat.usage)
      const { requests, url } = yield* serve(reply)
      yield* Effect.flatMap(make(kind, url), (model) => collect(model, [
        { role: "system", content: "be brief" },
        { role: "user", content: "hi" },
        { role: "assistant", content: "hello" },
        { role: "system", content: "a new tool" },
        { role: "user", content: "use it" }
      ]))
      const { body } = requests[0]!
      const said: ReadonlyArray<any> = body.messages ?? body.input
      const at = said.findIndex((message) => JSON.stringify(message).includes("a new tool"))
      assert.isAbove(at, said.findIndex((message) => JSON.stringify(message).includes("hello")))
      assert.strictEqual(said[at].role, kind === "responses" ? "system" : "user")
      if (kind !== "responses") assert.include(JSON.stringify(said[at]), "<system>")
    }))

  it.live("says what a model without eyes does not get", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* serve(send(chat.delta({ content: "ok" }), chat.delta({}, "stop"), chat.usage))
      yield* Effect.flatMap(make("compatible", url, { images: false }), (model) => collect(model, prompt))
      assert.notInclude(JSON.stringify(requests[0]!.body), png)
      assert.include(JSON.stringify(requests[0]!.body), "does not take images")
    }))

  it.live("carries encrypted reasoning back to Responses", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* serve(send(responses.start, ...responses.text(0, "m", "ok"), responses.done))
      yield* Effect.flatMap(make("responses", url), (model) => collect(model, [
        { role: "user", content: [{ type: "text", text: "hi" }] },
        { role: "assistant", content: [
          { type: "reasoning", text: "hmm", options: { openai: { itemId: "rs_1", reasoningEncryptedContent: "enc" } } },
          { type: "tool-call", id: "t1", name: "read", params: {} }
        ] },
        { role: "tool", content: [{ type: "tool-result", id: "t1", name: "read", isFailure: false, result: "fine" }] }
      ]))
      const reasoning = requests[0]!.body.input.find((item: any) => item.type === "reasoning")
      assert.deepInclude(reasoning, { id: "rs_1", encrypted_content: "enc" })
    }))
})

describe("the limits of a request", () => {
  it.live("hold for what is asked under them, beside the model's own", () =>
    Effect.gen(function*() {
      const answer = send(anthropic.start(), ...anthropic.text(0, "ok"), ...anthropic.stop("end_turn"))
      const { requests, url } = yield* serve(answer)
      const model = yield* make("anthropic", url, { maxOutputTokens: 9_000 })
      yield* Effect.provideService(collect(model), Thinking, "low")
      yield* Effect.provideService(collect(model), RequestLimits, { maxOutputTokens: 500 })
      yield* Effect.provideService(collect(model), RequestLimits, { maxOutputTokens: 64_000 })
      const [own, short, long] = requests.map(({ body }) => body)
      assert.isAtLeast(own.max_tokens, 9_000)
      assert.isDefined(own.thinking)
      assert.strictEqual(short.max_tokens, 500)
      assert.isUndefined(short.thinking)
      assert.strictEqual(long.max_tokens, 9_000)
    }))
})
