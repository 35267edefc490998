/** What is known of a model, and how files write it down. Pure. */
import { Schema } from "effect"
import { type ThinkingLevel, thinkingLevels } from "./Thinking.ts"

/** Dollars for a million tokens. Where a cache has no price of its own, its tokens cost what input does. */
export interface Rates {
  readonly input: number
  readonly output: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
}

/** What a model costs. Where there are tiers, a request whose input has more tokens than one is `above` costs that, as a whole. */
export interface Prices extends Rates {
  readonly tiers?: ReadonlyArray<Rates & { readonly above: number }>
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

const rates = { input: Dollars, output: Dollars, cache_read: Schema.optionalKey(Dollars), cache_write: Schema.optionalKey(Dollars) }

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
    ...rates,
    tiers: Schema.optionalKey(Schema.Array(Schema.Struct({ ...rates, above: Tokens })))
  })),
  strict_tools: Schema.optionalKey(Schema.Boolean),
  grammar_tools: Schema.optionalKey(Schema.Boolean)
})
/** A model as files have it. */
export type ModelEntry = typeof ModelEntry.Type

interface WrittenRates {
  readonly input: number
  readonly output: number
  readonly cache_read?: number
  readonly cache_write?: number
}

const ratesOf = ({ cache_read, cache_write, input, output }: WrittenRates): Rates => ({
  input,
  output,
  ...(cache_read === undefined ? {} : { cacheRead: cache_read }),
  ...(cache_write === undefined ? {} : { cacheWrite: cache_write })
})

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
        ...ratesOf(cost),
        ...(cost.tiers === undefined || cost.tiers.length === 0 ? {} : { tiers: cost.tiers.map((tier) => ({ above: tier.above, ...ratesOf(tier) })) })
      }
    }),
    compat: {
      ...info.compat,
      ...(strict_tools === undefined ? {} : { strictTools: strict_tools }),
      ...(grammar_tools === undefined ? {} : { grammarTools: grammar_tools })
    }
  }
}

/** What the tokens of one request cost, in dollars. Tokens of the cache are part of `input`. */
export const costOf = (
  tokens: { readonly input: number; readonly output: number; readonly cacheRead: number; readonly cacheWrite: number },
  prices: Prices
): number => {
  const reached = (prices.tiers ?? []).filter(({ above }) => tokens.input > above)
  const held = reached.reduce<Rates & { readonly above: number }>((highest, tier) => tier.above > highest.above ? tier : highest, { ...prices, above: 0 })
  const { cacheRead = held.input, cacheWrite = held.input } = held
  const fresh = Math.max(0, tokens.input - tokens.cacheRead - tokens.cacheWrite)
  return (fresh * held.input + tokens.output * held.output + tokens.cacheRead * cacheRead + tokens.cacheWrite * cacheWrite) / 1_000_000
}
