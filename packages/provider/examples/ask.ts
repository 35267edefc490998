/** Asks a model by name and prints its answer as it comes: `node examples/ask.ts list the files here`. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer, Stream } from "effect"
import * as LanguageModel from "effect/ai/LanguageModel"
import { Models } from "@nimlet/provider"

const models = Models.layer({ environment: process.env, home: process.env["HOME"] ?? "/" })

const program = Effect.gen(function*() {
  // No provider named: the first one with a key, or the offline model.
  const { info, layer } = yield* (yield* Models).resolve({})
  yield* Console.error(`${info.provider}/${info.model}, ${info.contextWindow} tokens`)
  yield* LanguageModel.streamText({ prompt: process.argv.slice(2).join(" ") }).pipe(
    Stream.runForEach((part) => part.type === "text-delta" ? Effect.sync(() => process.stdout.write(part.delta)) : Effect.void),
    Effect.provide(layer)
  )
})

Effect.runPromise(Effect.provide(program, models.pipe(Layer.provide(NodeServices.layer))))
