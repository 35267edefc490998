/** A trial of the model that answers. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Stream } from "effect"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import { TestClock } from "effect/testing"
import { Offline } from "@nimlet/provider"
import type { Company } from "../../src/tui/errand/ErrandRoom.ts"
import { makeTrial } from "../../src/tui/errand/Trial.ts"

const trying = (model: Company["model"] | Layer.Layer<LanguageModel.LanguageModel>) => {
  const told: Array<string> = []
  const company = {
    agent: { selection: Effect.succeed({ provider: "p", model: "m" }) },
    model: typeof model === "function" ? model : () => Effect.succeed({ provider: "p", model: "m", layer: model })
  } as unknown as Company
  return { told, run: makeTrial({ company: Effect.succeed(company), tell: (text, level = "info") => Effect.sync(() => void told.push(`${level}: ${text}`)) }) }
}

/** A model that does something with a request. */
const answering = (streamText: () => Stream.Stream<never, AiError.AiError>) =>
  Layer.effect(LanguageModel.LanguageModel, LanguageModel.make({ generateText: () => Effect.die("not asked for"), streamText }))

describe("/doctor test", () => {
  it.effect("tells who answered and in what time", () => {
    const { run, told } = trying(Offline.layer)
    return Effect.map(run, () => assert.deepStrictEqual(told, ["info: p/m answered in 0.0 s."]))
  })

  it.effect("tells what is wrong: with the request, with the model's name, with a model that says nothing", () =>
    Effect.gen(function*() {
      const refused = AiError.make({ module: "p", method: "streamText", reason: new AiError.AuthenticationError({ kind: "InvalidKey" }) })
      const failing = trying(answering(() => Stream.fail(refused)))
      yield* failing.run
      assert.match(failing.told.join("\n"), /^error: p\/m: p refused the key/)
      const unnamed = trying(() => Effect.fail({ message: "there is no such model" }))
      yield* unnamed.run
      assert.deepStrictEqual(unnamed.told, ["error: p/m: there is no such model"])
      const silent = trying(answering(() => Stream.never))
      const fiber = yield* Effect.forkChild(silent.run, { startImmediately: true })
      yield* TestClock.adjust("29 seconds")
      assert.deepStrictEqual(silent.told, [])
      yield* TestClock.adjust("1 second")
      yield* Fiber.await(fiber)
      assert.deepStrictEqual(silent.told, ["error: p/m: no answer within 30 seconds"])
    }))
})
