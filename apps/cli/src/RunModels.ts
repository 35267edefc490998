/** What is known of models during a run: for `/models`, for what answers have cost, for whoever lists them, and for modules. */
import { Effect, type FileSystem } from "effect"
import type { KnownModel, ModelCommands, Settings } from "@nimlet/agent"
import { Extensions } from "@nimlet/extension"
import type { ListedModel, Prices, Rates } from "@nimlet/provider"
import type { Host } from "./Host.ts"
import { withOffered } from "./Model.ts"

/** The models of a run, those of its extensions among them. */
export interface RunModels {
  readonly commands: ModelCommands
  readonly list: Effect.Effect<ReadonlyArray<ListedModel>>
  readonly pricesOf: (provider: string, model: string) => Effect.Effect<Prices | undefined>
  /** What modules may read of. */
  readonly known: Effect.Effect<ReadonlyArray<KnownModel>>
}

const ratesOf = ({ cacheRead = 0, cacheWrite = 0, input = 0, output = 0 }: Partial<Rates> = {}) => ({ input, output, cacheRead, cacheWrite })

/** A model as seed 004 has one. */
const moduleModel = ({ compat, contextWindow, images, maxOutput = 0, model, name = model, prices, provider, ready, thinkingLevels }: ListedModel): KnownModel => ({
  id: model,
  name,
  provider,
  reasoning: thinkingLevels.some((level) => level !== "off"),
  input: images ? ["text", "image"] : ["text"],
  cost: { ...ratesOf(prices), ...(prices?.tiers === undefined ? {} : { tiers: prices.tiers.map((tier) => ({ inputTokensAbove: tier.above, ...ratesOf(tier) })) }) },
  contextWindow,
  maxTokens: maxOutput,
  compat: {
    supportsStrictMode: compat.strictTools === true,
    supportsOpenAIGrammarTools: compat.grammarTools === true,
    supportsGrammarTools: compat.grammarTools === true
  },
  available: ready
})

/** Makes them. What only some runs need is loaded when it is asked for. */
export const makeRunModels = Effect.fnUntraced(function*(host: Host, settings: Settings): Effect.fn.Return<RunModels, never, Extensions | FileSystem.FileSystem> {
  const context = yield* Effect.context<Extensions | FileSystem.FileSystem>()
  const list = Effect.provideContext(withOffered(host, settings, (models) => models.list), context)
  return {
    list,
    pricesOf: (provider, model) =>
      Effect.map(withOffered(host, settings, ({ about }) => about(provider, model)), ({ prices }) => prices).pipe(Effect.provideContext(context)),
    commands: {
      list: Effect.fnUntraced(function*(words: ReadonlyArray<string>) {
        const { aboutModel, modelText, withWords } = yield* Effect.promise(() => import("./report/ModelReport.ts"))
        return modelText(withWords((yield* list).map(aboutModel), words), words).trimEnd()
      }),
      refresh: Effect.promise(() => import("./ModelList.ts")).pipe(
        Effect.flatMap(({ refreshedText, refreshModels }) => Effect.map(refreshModels(host, settings), refreshedText)),
        Effect.provideContext(context)
      )
    },
    known: Effect.map(list, (all) => all.map(moduleModel))
  }
})
