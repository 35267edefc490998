import { Effect, Layer, Stream } from "effect"
import * as LanguageModel from "effect/ai/LanguageModel"
import { Agent, layerEmbedded } from "@nimlet/agent"

const usage = { inputTokens: { uncached: 1, total: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } }
const slowModel = Layer.effect(LanguageModel.LanguageModel, LanguageModel.make({
  generateText: () => Effect.succeed([]),
  streamText: () => Stream.fromEffect(Effect.sleep("1 hour")).pipe(Stream.flatMap(() => Stream.fromIterable([
    { type: "text-start", id: "1" } as const,
    { type: "text-delta", id: "1", delta: "Good morning." } as const,
    { type: "finish", reason: "stop", usage, response: undefined } as const
  ])))
}))

export const program = Effect.gen(function*() {
  const agent = yield* Agent
  return yield* agent.send("Say good morning.")
}).pipe(Effect.provide(Layer.provide(layerEmbedded({ system: "You are polite." }), slowModel)))
