import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import type * as AiError from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import { TestClock } from "effect/testing"
import * as Scripted from "../src/Scripted.ts"
import { parseScript } from "../src/Scripted/Script.ts"

const model = (...steps: ReadonlyArray<unknown>) => Effect.flatMap(parseScript(JSON.stringify({ steps }), "s.json"), Scripted.make)
const ask = (model: LanguageModel.LanguageModel) => model.streamText({ prompt: "x", disableToolCallResolution: true, toolCallValidation: "deferred" })
const collect = (model: LanguageModel.LanguageModel): Effect.Effect<Array<any>, AiError.AiError> => Effect.map(Stream.runCollect(ask(model)), (parts) => [...parts])
const chunks = (model: LanguageModel.LanguageModel) =>
  Effect.map(Stream.runCollect(Stream.chunks(ask(model))), (found) =>
    found.map((parts) => parts.flatMap((part) => part.type === "text-delta" ? [part.delta] : [])).filter((deltas) => deltas.length > 0))

describe("the scripted model", () => {
  it.effect("plays thinking, text, parallel calls and usage, one step a request, and fails when there is none left", () =>
    Effect.gen(function*() {
      const scripted = yield* model(
        { thinking: "hmm", text: "hi", tools: [{ name: "read", args: { path: "a" } }, { name: "ls", id: "mine" }], usage: { input: 10, output: 5, cache_read: 4 } },
        { tool: "bash", args: { command: "x" } }
      )
      const first = yield* collect(scripted)
      assert.deepStrictEqual(first.map((part) => part.type), [
        "reasoning-start", "reasoning-delta", "reasoning-end", "text-start", "text-delta", "text-end", "tool-call", "tool-call", "finish"
      ])
      assert.deepStrictEqual(first.slice(6, 8).map(({ id, name, params }) => [id, name, params]), [["script_1_1", "read", { path: "a" }], ["mine", "ls", {}]])
      assert.deepInclude(first[8].usage.inputTokens, { total: 10, cacheRead: 4, uncached: 6 })
      assert.strictEqual((yield* collect(scripted))[0].name, "bash")
      const ended = yield* Effect.flip(collect(scripted))
      assert.include(ended.message, "it has 2 steps, one a request, and this is request 3")
      assert.isFalse(ended.isRetryable)
    }))

  it.effect("hands deltas on in chunks of the size asked for", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* Effect.flatMap(model({ deltas: ["a", "b", "c"], chunk: 2 }), chunks), [["a", "b"], ["c"]])
      assert.deepStrictEqual(yield* Effect.flatMap(model({ deltas: 3, text: "x" }), chunks), [["x"], ["x"], ["x"]])
    }))

  it.effect("repeats a step", () =>
    Effect.gen(function*() {
      const scripted = yield* model({ text: "a", repeat: 2 }, { text: "b" })
      const texts = yield* Effect.forEach([1, 2, 3], () => Effect.map(collect(scripted), (parts) => parts[1].delta))
      assert.deepStrictEqual(texts, ["a", "a", "b"])
    }))

  it.effect("fails as a provider does, after the text that came before", () =>
    Effect.gen(function*() {
      const scripted = yield* model({ text: "half", tool: "read", error: { status: 429, message: "slow", retry_after: 7 } }, { error: "odd" }, { error: { status: 401, message: "no" } })
      const seen: Array<any> = []
      const error = yield* Effect.flip(Stream.runForEach(ask(scripted), (part) => Effect.sync(() => seen.push(part))))
      assert.strictEqual(error.reason._tag, "RateLimitError")
      assert.strictEqual(String(error.retryAfter), "7000 millis")
      assert.deepStrictEqual(seen.map((part) => part.type), ["text-start", "text-delta", "text-end"])
      assert.strictEqual((yield* Effect.flip(collect(scripted))).reason._tag, "UnknownError")
      assert.strictEqual((yield* Effect.flip(collect(scripted))).reason._tag, "AuthenticationError")
    }))

  it.effect("waits by Effect's clock", () =>
    Effect.gen(function*() {
      const scripted = yield* model({ delay_ms: 5_000, deltas: ["a", "b"], chunk_delay_ms: 1_000 })
      const fiber = yield* Effect.forkChild(collect(scripted))
      yield* TestClock.adjust(5_999)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.strictEqual((yield* Fiber.join(fiber)).length, 5)
    }))
})

describe("parseScript", () => {
  const problem = (text: string) => Effect.map(Effect.flip(parseScript(text, "s.json")), ({ field, message, step }) => ({ message, step, field }))
  const step = (...steps: ReadonlyArray<unknown>) => problem(JSON.stringify({ steps }))

  it.effect("names file, step and field of what is wrong", () =>
    Effect.gen(function*() {
      assert.deepInclude(yield* step({ text: "a" }, { text: 5 }), { step: 2, field: "text" })
      assert.deepInclude(yield* step({ txt: "a" }), { step: 1, field: "txt" })
      assert.deepInclude(yield* step({ tools: [{ name: "a" }, { args: {} }] }), { step: 1, field: "tools.1.name" })
      assert.deepInclude(yield* step({ delay_ms: -1 }), { step: 1, field: "delay_ms" })
      assert.match((yield* step({ text: 5 })).message, /^s\.json: step 1: text: /)
    }))

  it.effect("names the file when it is no script at all", () =>
    Effect.gen(function*() {
      assert.match((yield* problem("{")).message, /^s\.json: is no JSON/)
      assert.match((yield* problem("{\"steps\": {}}")).message, /^s\.json: steps: is no array/)
    }))
})
