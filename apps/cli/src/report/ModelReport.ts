/** Models as programs and people read them: of `nimlet models list`, and of RPC's `list_models`. Pure. */
import { Schema } from "effect"
import { type ListedModel, type Rates, thinkingLevels } from "@nimlet/provider"

const rates = { input: Schema.Number, output: Schema.Number, cache_read: Schema.optionalKey(Schema.Number), cache_write: Schema.optionalKey(Schema.Number) }

/** A model. Windows are tokens, costs dollars for a million of them; `compat` are the names of seed 004. */
export const ModelReport = Schema.Struct({
  provider: Schema.String,
  model: Schema.String,
  name: Schema.optionalKey(Schema.String),
  context_window: Schema.Number,
  max_output: Schema.optionalKey(Schema.Number),
  images: Schema.Boolean,
  thinking_levels: Schema.Array(Schema.Literals(thinkingLevels)),
  cost: Schema.optionalKey(Schema.Struct({
    ...rates,
    /** What a request costs that has more input tokens than one is `above`. */
    tiers: Schema.optionalKey(Schema.Array(Schema.Struct({ ...rates, above: Schema.Number })))
  })),
  compat: Schema.optionalKey(Schema.Struct({
    supportsStrictMode: Schema.optionalKey(Schema.Boolean),
    supportsOpenAIGrammarTools: Schema.optionalKey(Schema.Boolean),
    supportsGrammarTools: Schema.optionalKey(Schema.Boolean)
  })),
  /** Whether its provider has a key, or needs none. */
  ready: Schema.Boolean
})
/** A model. */
export type ModelReport = typeof ModelReport.Type

const ratesOf = ({ cacheRead, cacheWrite, input, output }: Rates) => ({
  input,
  output,
  ...(cacheRead === undefined ? {} : { cache_read: cacheRead }),
  ...(cacheWrite === undefined ? {} : { cache_write: cacheWrite })
})

/** A model as it is told. */
export const aboutModel = ({ compat, contextWindow, images, maxOutput, model, name, prices, provider, ready, thinkingLevels }: ListedModel): ModelReport => {
  const { grammarTools, strictTools } = compat
  return {
    provider,
    model,
    ...(name === undefined ? {} : { name }),
    context_window: contextWindow,
    ...(maxOutput === undefined ? {} : { max_output: maxOutput }),
    images,
    thinking_levels: thinkingLevels,
    ...(prices === undefined ? {} : {
      cost: { ...ratesOf(prices), ...(prices.tiers === undefined ? {} : { tiers: prices.tiers.map((tier) => ({ above: tier.above, ...ratesOf(tier) })) }) }
    }),
    ...(strictTools === undefined && grammarTools === undefined ? {} : {
      compat: {
        ...(strictTools === undefined ? {} : { supportsStrictMode: strictTools }),
        ...(grammarTools === undefined ? {} : { supportsOpenAIGrammarTools: grammarTools, supportsGrammarTools: grammarTools })
      }
    }),
    ready
  }
}

/** Those in whose provider, id or name all the words stand. */
export const withWords = (models: ReadonlyArray<ModelReport>, words: ReadonlyArray<string>): ReadonlyArray<ModelReport> =>
  models.filter(({ model, name = "", provider }) => words.every((word) => `${provider}/${model} ${name}`.toLowerCase().includes(word.toLowerCase())))

const tokens = (count: number): string => count >= 1_000_000 ? `${+(count / 1_000_000).toFixed(2)}M` : `${Math.round(count / 1000)}k`

/** The same in columns for a person. */
export const modelText = (models: ReadonlyArray<ModelReport>, words: ReadonlyArray<string>): string => {
  if (models.length === 0) return words.length === 0 ? "No model is known.\n" : `No model with '${words.join(" ")}' is known; any id of a provider can be used all the same.\n`
  const head = ["", "provider", "model", "context", "output", "$/M in", "$/M out", "images", "thinking"]
  const rows = models.map(({ context_window, cost, images, max_output, model, provider, ready, thinking_levels }) => [
    ready ? "*" : "", provider, model, tokens(context_window), max_output === undefined ? "" : tokens(max_output),
    cost === undefined ? "" : String(cost.input), cost === undefined ? "" : String(cost.output), images ? "yes" : "", thinking_levels.join(" ") === "off" ? "" : thinking_levels.join(" ")
  ])
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: ReadonlyArray<string>) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd()
  return `${[head, ...rows].map(line).join("\n")}\n\n* has a key, or needs none. Other ids of a provider can be used, too; \`nimlet models refresh\` fetches what is new.\n`
}
