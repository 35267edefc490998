import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Response from "effect/ai/Response"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as StreamedModel from "../src/StreamedModel.ts"

const parts: ReadonlyArray<Response.StreamPartEncoded> = [
  { type: "response-metadata", id: "r1", modelId: "m" },
  { type: "reasoning-start", id: "0" },
  { type: "reasoning-delta", id: "0", delta: "hm" },
  { type: "reasoning-end", id: "0", metadata: { anthropic: { signature: "s" } } },
  { type: "text-start", id: "1" },
  { type: "text-delta", id: "1", delta: "hello" },
  { type: "text-end", id: "1" },
  { type: "source", sourceType: "url", id: "u", url: "http://example.com/a", title: "A" },
  { type: "tool-params-start", id: "c1", name: "read" },
  { type: "tool-params-delta", id: "c1", delta: "{}" },
  { type: "tool-params-end", id: "c1" },
  { type: "tool-call", id: "c1", name: "read", params: { path: "x" } },
  { type: "tool-call", id: "c2", name: "nobody", params: "{\"pa" },
  { type: "finish", reason: "tool-calls", usage: { inputTokens: { total: 5, cacheRead: 2 }, outputTokens: { total: 7 } } }
]

const asked: Array<LanguageModel.ProviderOptions> = []
const streamParts: StreamedModel.PartStream = (request) => Stream.suspend(() => (asked.push(request), Stream.fromIterable(parts)))
const toolkit = Toolkit.make(Tool.dynamic("read", { description: "reads", parameters: { type: "object" } }))
const options = { prompt: "hi", toolkit, disableToolCallResolution: true, toolCallValidation: "deferred" } as const

describe("a streamed model", () => {
  it.effect("gives an agent the very parts that decoding by Schema gives", () =>
    Effect.gen(function*() {
      const quick = yield* Stream.runCollect((yield* StreamedModel.make(streamParts)).streamText(options))
      const slow = yield* Stream.runCollect(
        (yield* LanguageModel.make({ streamText: streamParts, generateText: () => Effect.succeed([]) })).streamText(options)
      )
      assert.deepStrictEqual(JSON.parse(JSON.stringify(quick)), JSON.parse(JSON.stringify(slow)))
      const [first, second] = asked
      assert.deepStrictEqual(first?.prompt, second?.prompt)
      assert.deepStrictEqual([first?.tools, first?.toolChoice, first?.toolCallValidation], [second?.tools, second?.toolChoice, second?.toolCallValidation])
    }))

  it.effect("asked otherwise, validates calls as effect/ai does", () =>
    Effect.gen(function*() {
      const strict = { prompt: "hi", toolkit, disableToolCallResolution: true } as const
      const error = yield* Effect.flip(Stream.runCollect((yield* StreamedModel.make(streamParts)).streamText(strict)))
      assert.strictEqual(error._tag, "AiError")
    }))
})
