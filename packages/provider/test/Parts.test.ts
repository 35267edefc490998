import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { toAiError } from "../src/AiSdk/Failure.ts"
import type { AiStreamPart } from "../src/AiSdk/Model.ts"
import { makePartsDecoder } from "../src/AiSdk/Parts.ts"

const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined }
const finish = (unified: "stop" | "length" | "error" | "interrupted", raw?: string): AiStreamPart =>
  ({ type: "finish", finishReason: { unified, raw }, usage: { inputTokens: none, outputTokens: { total: undefined, text: undefined, reasoning: undefined } } })
const call = (input: string): AiStreamPart => ({ type: "tool-call", toolCallId: "t", toolName: "read", input })
const decode = (...chunks: ReadonlyArray<ReadonlyArray<AiStreamPart>>) => {
  const decoder = makePartsDecoder()
  return { out: chunks.map((chunk) => decoder.push(chunk)), ending: decoder.ending()?._tag }
}

describe("the decoder of parts", () => {
  it("lets tool calls out only before a true finish", () => {
    for (const [reason, ending, count] of [["stop", "Finished", 1], ["length", "Finished", 1], ["error", "Failed", 0], ["interrupted", "Cut", 0]] as const) {
      const { ending: found, out } = decode([call("{}")], [finish(reason)])
      assert.deepStrictEqual(out[0], [])
      assert.strictEqual(found, ending)
      assert.strictEqual(out[1]!.filter((part) => part.type === "tool-call").length, count, reason)
    }
  })

  it("tells an answer that was paused from one that has ended", () => {
    const reasons = ["pause_turn", "end_turn", undefined].map((raw) => decode([finish("stop", raw)]).out[0]?.map((part) => part.type === "finish" && part.reason))
    assert.deepStrictEqual(reasons, [["pause"], ["stop"], ["stop"]])
  })

  it("takes nothing after the end", () => {
    const { out } = decode([finish("stop"), call("{}")], [{ type: "text-delta", id: "0", delta: "x" }])
    assert.deepStrictEqual(out.map((parts) => parts.map((part) => part.type)), [["finish"], []])
  })

  it("passes over kinds of parts it does not know, and calls the provider ran itself", () => {
    const { ending, out } = decode([
      { type: "hologram" } as never, { type: "ping" }, { type: "raw", rawValue: 1 }, { type: "stream-start", warnings: [] },
      { type: "tool-input-start", id: "h", toolName: "web", providerExecuted: true }, { type: "tool-input-delta", id: "h", delta: "{}" },
      { type: "tool-input-end", id: "h" }, { type: "tool-call", toolCallId: "h", toolName: "web", input: "{}", providerExecuted: true },
      { type: "tool-result", toolCallId: "h", toolName: "web", result: "x" }
    ])
    assert.deepStrictEqual([out, ending], [[[]], undefined])
  })

  it("gathers a block's metadata on its end", () => {
    const { out } = decode(
      [{ type: "reasoning-start", id: "0", providerMetadata: { openai: { itemId: "i" } } }, { type: "reasoning-delta", id: "0", delta: "", providerMetadata: { anthropic: { signature: "s" } } }],
      [{ type: "reasoning-end", id: "0", providerMetadata: { openai: { extra: undefined } as never } }]
    )
    assert.deepStrictEqual(out, [
      [{ type: "reasoning-start", id: "0" }],
      [{ type: "reasoning-end", id: "0", metadata: { openai: { itemId: "i" }, anthropic: { signature: "s" } } }]
    ])
  })

  const Delta = Schema.Struct({ type: Schema.Literals(["text-delta", "reasoning-delta"]), id: Schema.Literals(["a", "b"]), delta: Schema.String })
  it.effect.prop("joins neighbours and loses nothing", [Schema.Array(Schema.Array(Delta))], ([chunks]) =>
    Effect.sync(() => {
      const { out } = decode(...chunks)
      const text = (parts: ReadonlyArray<object>) => JSON.stringify(parts.reduce<Record<string, string>>((found, part) => {
        const { delta, id, type } = part as typeof Delta.Type
        return delta === "" ? found : { ...found, [`${type} ${id}`]: (found[`${type} ${id}`] ?? "") + delta }
      }, {}))
      assert.strictEqual(text(out.flat()), text(chunks.flat()))
      for (const parts of out as Array<Array<typeof Delta.Type>>) {
        parts.slice(1).forEach((part, index) => assert.notStrictEqual(`${part.type} ${part.id}`, `${parts[index]!.type} ${parts[index]!.id}`))
      }
    }))
})

describe("toAiError", () => {
  const tag = (error: unknown) => toAiError(error, { provider: "p", url: "http://x", now: 0 }).reason._tag
  it("reads what providers put into a stream in place of an answer", () => {
    assert.strictEqual(tag({ message: "busy", code: 502 }), "InternalProviderError")
    assert.strictEqual(tag({ message: "no", type: "insufficient_quota" }), "QuotaExhaustedError")
    assert.strictEqual(tag({ message: "no", code: "rate_limit_exceeded" }), "RateLimitError")
    assert.include(toAiError({ name: "AI_TypeValidationError", value: { error: "plain words" } }, { provider: "p", url: "http://x", now: 0 }).message, "plain words")
    assert.strictEqual(tag({ odd: true }), "InvalidOutputError")
    assert.strictEqual(tag(new TypeError("fetch failed")), "NetworkError")
    assert.strictEqual(tag(new Error("bug")), "UnknownError")
    assert.strictEqual(tag(undefined), "UnknownError")
  })
})
