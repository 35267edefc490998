/** What is known of a model, and how files write it down. Pure. */
import { Schema } from "effect"
import { type ThinkingLevel, thinkingLevels } from "./Thinking.ts"

/** Dollars for a million tokens. Where a cache has no price of its own, its tokens cost what input does. */
export interface Prices {
  readonly input: number
  readonly output: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
}

/** Special things that not every model of an interface takes; what is absent it does not. */
export interface ModelCompat {
  /** Tools whose arguments are held to their schema while they are sampled. */
  readonly strictTools?: boolean
  /** OpenAI's tools with a grammar in place of a schema. */
  readonly grammarTools?: boolean
}

/** A model: what it takes, its limits in tokens, what it costs. */
export interface ModelInfo {
  readonly provider: string
  readonly model: string
  /** For people. */
  readonly name?: string
  readonly contextWindow: number
  /** Absent where it is not known. */
  readonly maxOutput?: number
  /** Whether it takes images. */
  readonly images: boolean
  /** Its levels of thinking, least first; `off` alone where it does not think. */
  readonly thinkingLevels: ReadonlyArray<ThinkingLevel>
  /** Absent where they are not known. */
  readonly prices?: Prices
  readonly compat: ModelCompat
}

const Tokens = Schema.Int.check(Schema.isGreaterThan(0))
const Dollars = Schema.Number.check(Schema.isGreaterThanOrEqualTo(0))

/**
 * A model as `providers.NAME.models` of the settings has it, and the file of a refreshed catalogue. `cost` is in dollars
 * for a million tokens. What is left out is as the catalogue or its defaults say.
 */
export const ModelEntry = Schema.Struct({
  id: Schema.NonEmptyString,
  name: Schema.optionalKey(Schema.String),
  context_window: Schema.optionalKey(Tokens),
  max_output: Schema.optionalKey(Tokens),
  images: Schema.optionalKey(Schema.Boolean),
  thinking: Schema.optionalKey(Schema.Array(Schema.Literals(thinkingLevels))),
  cost: Schema.optionalKey(Schema.Struct({
    input: Dollars,
    output: Dollars,
    cache_read: Schema.optionalKey(Dollars),
    cache_write: Schema.optionalKey(Dollars)
  })),
  strict_tools: Schema.optionalKey(Schema.Boolean),
  grammar_tools: Schema.optionalKey(Schema.Boolean)
})
/** A model as files have it. */
export type ModelEntry = typeof ModelEntry.Type

/** What an entry says, over what was known before. */
export const withEntry = (info: ModelInfo, entry: ModelEntry): ModelInfo => {
  const { context_window, cost, grammar_tools, images, max_output, name, strict_tools, thinking } = entry
  return {
    ...info,
    ...(name === undefined ? {} : { name }),
    ...(context_window === undefined ? {} : { contextWindow: context_window }),
    ...(max_output === undefined ? {} : { maxOutput: max_output }),
    ...(images === undefined ? {} : { images }),
    ...(thinking === undefined ? {} : { thinkingLevels: thinking.length === 0 ? ["off"] : thinking }),
    ...(cost === undefined ? {} : {
      prices: {
        input: cost.input,
        output: cost.output,
        ...(cost.cache_read === undefined ? {} : { cacheRead: cost.cache_read }),
        ...(cost.cache_write === undefined ? {} : { cacheWrite: cost.cache_write })
      }
    }),
    compat: {
      ...info.compat,
      ...(strict_tools === undefined ? {} : { strictTools: strict_tools }),
      ...(grammar_tools === undefined ? {} : { grammarTools: grammar_tools })
    }
  }
}

/** What tokens cost, in dollars. Tokens of the cache are part of `input`. */
export const costOf = (
  tokens: { readonly input: number; readonly output: number; readonly cacheRead: number; readonly cacheWrite: number },
  prices: Prices
): number => {
  const { cacheRead = prices.input, cacheWrite = prices.input } = prices
  const fresh = Math.max(0, tokens.input - tokens.cacheRead - tokens.cacheWrite)
  return (fresh * prices.input + tokens.output * prices.output + tokens.cacheRead * cacheRead + tokens.cacheWrite * cacheWrite) / 1_000_000
}
