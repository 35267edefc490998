/** An agent for another program: no extensions, no files of its own, the session in memory. */
import { Effect, FileSystem, Layer, Path } from "effect"
import type * as LanguageModel from "effect/ai/LanguageModel"
import { Extensions, Hooks } from "@nimlet/extension"
import { Sessions } from "@nimlet/session"
import { Agent } from "./Agent.ts"
import type { AgentOptions } from "./Agent/AgentOptions.ts"

/** What such an agent is made of; names of provider and model are for records alone. */
export type EmbeddedOptions = Pick<AgentOptions, "system"> & Partial<Omit<AgentOptions, "session">> & {
  /** The folder its tools are about; default none. */
  readonly workspace?: string
}

/** An agent over whatever `LanguageModel` is provided. */
export const layerEmbedded = ({ workspace = "", ...options }: EmbeddedOptions): Layer.Layer<Agent, never, LanguageModel.LanguageModel> => {
  const services = Layer.mergeAll(
    Extensions.layerNone,
    Hooks.layerNone,
    Sessions.layer("").pipe(Layer.provide([FileSystem.layerNoop({}), Path.layer]))
  )
  return Layer.unwrap(Effect.gen(function*() {
    const session = yield* (yield* Sessions).create({ workspace, persist: false })
    return Agent.layer({ provider: "embedded", model: "embedded", tools: [], ...options, session })
  })).pipe(Layer.provide(services), Layer.orDie)
}
