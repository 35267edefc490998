import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Stream } from "effect"
import type * as AiError from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as AiSdk from "../src/AiSdk.ts"
import { openaiStrictness, anthropicStrictness, strictFit } from "../src/AiSdk/Strict.ts"
import type { ModelCompat } from "../src/ModelInfo.ts"
import type { Endpoint } from "../src/providers/Endpoint.ts"
import { connect as anthropicConnect } from "../src/providers/anthropic.ts"
import { connect as compatibleConnect } from "../src/providers/openai-compatible.ts"
import { connect as responsesConnect } from "../src/providers/openai-responses.ts"
import { type ToolSampling, withSampling } from "../src/Sampling.ts"
import { anthropic, chat, responses, send, serve } from "./Loopback.ts"

const text = { type: "string" }
const whole = { type: "object", properties: { path: text }, required: ["path"], additionalProperties: false }
const partly = { type: "object", properties: { path: text, limit: { type: "integer" } }, required: ["path"], additionalProperties: false }
const bounded = { ...whole, properties: { path: { type: "string", minLength: 1 } } }

const tool = (name: string, parameters: object, sampling?: ToolSampling) =>
  withSampling(Tool.dynamic(name, { description: name, parameters: { ...parameters } }), sampling)
const connects = { anthropic: anthropicConnect, responses: responsesConnect, compatible: compatibleConnect }
const answers = {
  anthropic: send(anthropic.start(), ...anthropic.text(0, "ok"), ...anthropic.stop("end_turn")),
  responses: send(responses.start, ...responses.text(0, "m", "ok"), responses.done),
  compatible: send(chat.delta({ content: "ok" }), chat.delta({}, "stop"), chat.usage)
}
const modelAt = (api: keyof typeof connects, url: string, compat: ModelCompat) => {
  const endpoint: Endpoint = { provider: api, model: "claude-sonnet-4-6", baseURL: `${url}/v1`, apiKey: Redacted.make("k"), headers: {}, thinks: true }
  return AiSdk.make({ provider: api, model: endpoint.model, compat, connect: Effect.succeed(connects[api](endpoint)) })
}
const ask = (model: LanguageModel.LanguageModel, tools: ReadonlyArray<Tool.Any>, prompt: Prompt.RawInput = "hi") => {
  const toolkit: Toolkit.WithHandler<Record<string, Tool.Any>> = { tools: Toolkit.make(...tools).tools, handle: () => Effect.die("not run here") }
  const answer: Stream.Stream<any, AiError.AiError> = model.streamText({ prompt, toolkit, disableToolCallResolution: true, toolCallValidation: "deferred" }) as never
  return Effect.map(Stream.runCollect(answer), (parts) => [...parts])
}

/** The tools of the one request, by name. */
const sent = Effect.fnUntraced(function*(api: keyof typeof connects, compat: ModelCompat, ...tools: ReadonlyArray<Tool.Any>) {
  const { requests, url } = yield* serve(answers[api])
  yield* ask(yield* modelAt(api, url, compat), tools)
  const list: ReadonlyArray<any> = requests[0]!.body.tools
  return new Map(list.map((one) => [one.name ?? one.function.name, one.function ?? one]))
})

describe("a tool whose arguments are to be held to its schema", () => {
  // A-160 A-169 A-170
  for (const api of ["anthropic", "responses", "compatible"] as const) {
    it.live(`is strict where ${api} offers that, and an ordinary one where not; its schema is never changed`, () =>
      Effect.gen(function*() {
        const wish = { type: "json_schema", strict: "prefer" } as const
        const tools = [tool("a", whole, wish), tool("b", partly, wish), tool("c", { type: "object", properties: {} }, wish), tool("d", whole)]
        const strict = yield* sent(api, { strictTools: true }, ...tools)
        const plain = yield* sent(api, {}, ...tools)
        const isStrict = (named: Map<string, any>) => [...named].filter(([, one]) => one.strict === true).map(([name]) => name)
        assert.deepStrictEqual(isStrict(strict), api === "anthropic" ? ["a", "b"] : ["a"])
        assert.deepStrictEqual(isStrict(plain), [])
        for (const named of [strict, plain]) assert.deepStrictEqual(named.get("b").input_schema ?? named.get("b").parameters, partly)
      }))
  }

  //
  it.live("that requires it fails the request where it cannot be had, saying why, and sends nothing", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* serve(answers.responses)
      const insisting = (schema: object) => tool("edit", schema, { type: "json_schema", strict: "require" })
      const without = yield* Effect.flip(ask(yield* modelAt("responses", url, {}), [insisting(whole)]))
      const unfit = yield* Effect.flip(ask(yield* modelAt("responses", url, { strictTools: true }), [insisting(partly)]))
      assert.deepStrictEqual([without.reason._tag, without.isRetryable], ["UnsupportedSchemaError", false])
      assert.match(without.message, /edit.*does not offer/)
      assert.match(unfit.message, /edit.*limit is optional/)
      assert.lengthOf(requests, 0)
      yield* ask(yield* modelAt("responses", url, { strictTools: true }), [insisting(whole)])
      assert.strictEqual(requests[0]!.body.tools[0].strict, true)
    }))

  it.live("comes before those that only prefer it, when the provider takes so many", () =>
    Effect.gen(function*() {
      const prefer = { type: "json_schema", strict: "prefer" } as const
      const many = Array.from({ length: 24 }, (_, n) => tool(`t${n}`, whole, n === 23 ? { type: "json_schema", strict: "require" } : prefer))
      const named = yield* sent("anthropic", { strictTools: true }, ...many)
      const strict = [...named].filter(([, one]) => one.strict === true).map(([name]) => name)
      assert.lengthOf(strict, 20)
      assert.include(strict, "t23")
    }))
})

describe("a tool with a grammar", () => {
  const variants = { openai_lark: "start: /a+/", openai_regex: "a+" }

  // A-162 A-163 A-164 A-175 A-176 A-178
  it.live("is one of OpenAI's where the model takes them and the schema has one required text, else an ordinary one", () =>
    Effect.gen(function*() {
      const grammar = (name: string, schema: object, given: object = variants) => tool(name, schema, { type: "grammar", variants: given })
      const tools = [grammar("both", whole), grammar("regex", whole, { openai_lark: "", openai_regex: "a+" }), grammar("none", whole, {}), grammar("two", { ...whole, properties: { path: text, b: text }, required: ["path", "b"] }), grammar("number", { ...whole, properties: { path: { type: "number" } } })]
      const named = yield* sent("responses", { grammarTools: true }, ...tools)
      assert.deepStrictEqual([...named.values()].map(({ format, type }) => [type, format?.syntax, format?.definition]), [
        ["custom", "lark", "start: /a+/"], ["custom", "regex", "a+"], ["function", undefined, undefined], ["function", undefined, undefined], ["function", undefined, undefined]
      ])
      const older = yield* sent("responses", { strictTools: true }, ...tools)
      assert.deepStrictEqual(new Set([...older.values()].map(({ type }) => type)), new Set(["function"]))
      const elsewhere = yield* sent("compatible", { grammarTools: true }, ...tools)
      assert.isUndefined(elsewhere.get("both").format)
      assert.deepStrictEqual(elsewhere.get("both").parameters, whole)
    }))

  it.live("is called with an object, and its call and result go back as the text that was written", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* serve((response, n) =>
        n === 0 ? send(responses.start, ...responses.custom(0, "t1", "both", 'aa"a'), responses.done)(response) : answers.responses(response))
      const model = yield* modelAt("responses", url, { grammarTools: true })
      const tools = [tool("both", whole, { type: "grammar", variants })]
      const call = (yield* ask(model, tools)).find((part) => part.type === "tool-call")
      assert.deepStrictEqual([call.name, call.params], ["both", { path: 'aa"a' }])
      yield* ask(model, tools, [
        { role: "user", content: [{ type: "text", text: "hi" }] },
        { role: "assistant", content: [{ type: "tool-call", id: call.id, name: "both", params: call.params }] },
        { role: "tool", content: [{ type: "tool-result", id: call.id, name: "both", isFailure: false, result: "fine" }] }
      ])
      const [, said, result] = requests[1]!.body.input
      assert.deepInclude(said, { type: "custom_tool_call", call_id: "t1", name: "both", input: 'aa"a' })
      assert.deepInclude(result, { type: "custom_tool_call_output", call_id: "t1", output: "fine" })
    }))
})

//
it.live("false is as nothing", () =>
  Effect.gen(function*() {
    const named = yield* sent("anthropic", { strictTools: true, grammarTools: true }, tool("a", whole, false), tool("b", whole))
    assert.deepStrictEqual([named.get("a").strict, named.get("a").input_schema], [named.get("b").strict, named.get("b").input_schema])
  }))

describe("a schema", () => {
  it.each<readonly [object, string | number, string | number]>([
    [whole, 0, 0],
    [partly, "it.limit is optional", 1],
    [bounded, 0, "it.path has minLength"],
    [{ ...whole, additionalProperties: true }, "it allows other properties", "it allows other properties"],
    [{ ...whole, properties: { path: {} } }, "it.path has no type", "it.path has no type"],
    [{ ...whole, properties: { path: { type: "array", items: partly } } }, "it.path.items.limit is optional", 1],
    [{ ...whole, properties: { path: { anyOf: [text, { $ref: "#" }] } } }, "it.path.anyOf[1] has $ref", "it.path.anyOf[1] has $ref"],
    [{ ...whole, properties: { path: true } }, "it.path is no schema of a known type", "it.path is no schema of a known type"]
  ])("%j is strict or not", (schema, openai, claude) => {
    const said = (fit: ReturnType<typeof strictFit>) => "problem" in fit ? fit.problem : fit.optional
    assert.deepStrictEqual([said(strictFit(schema, openaiStrictness)), said(strictFit(schema, anthropicStrictness))], [openai, claude])
  })
})
