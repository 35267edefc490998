/** What a session has used so far, and what that cost where prices are known. */
import { Effect } from "effect"
import type { Usage } from "@nimlet/protocol"
import { costOf, type Prices } from "@nimlet/provider"
import type { Entries } from "@nimlet/session"
import { callsOf, isAssistant } from "@nimlet/session"
import type { Selection } from "./Selection.ts"

/** What one model was asked and answered. Tokens of the cache are part of `input`. */
export interface ModelTotals {
  readonly provider: string
  readonly model: string
  readonly answers: number
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** In dollars; absent where its prices are not known. */
  readonly cost?: number
}

/** What a session comes to. */
export interface SessionTotals {
  readonly messages: number
  readonly toolCalls: number
  readonly models: ReadonlyArray<ModelTotals>
  /** In dollars; absent unless it is known of every model. */
  readonly cost?: number
}

/** A model by the names it was asked and has answered by, which may differ by a date. */
interface Answering {
  readonly provider: string
  readonly model: string
  readonly asked: string
}

/** The models that have answered in a session. */
export const answeringIn = (entries: Entries): ReadonlyArray<Answering> => {
  const all = entries.filter(isAssistant).map(({ model = "", provider = "", requested_model = model }): readonly [string, Answering] =>
    [JSON.stringify([provider, model]), { provider, model, asked: requested_model }])
  return [...new Map(all).values()]
}

/** What each of them costs, where that is known. */
export type PriceList = (provider: string, model: string) => Prices | undefined

/** Makes what gives a price list for models that have answered. What was looked up once is kept. */
export const makePriceList = (look: (provider: string, model: string) => Effect.Effect<Prices | undefined>) =>
  Effect.sync(() => {
    const known = new Map<string, Prices | undefined>()
    const keyOf = (provider: string, model: string) => JSON.stringify([provider, model])
    return Effect.fnUntraced(function*(answering: ReadonlyArray<Answering>, present: Selection) {
      for (const { asked, model, provider } of answering) {
        const key = keyOf(provider, model)
        if (known.has(key)) continue
        const own = present.provider === provider && (present.model === asked || present.model === model) ? present.prices : undefined
        known.set(key, own ?? (yield* look(provider, model)) ?? (asked === model ? undefined : yield* look(provider, asked)))
      }
      const list: PriceList = (provider, model) => known.get(keyOf(provider, model))
      return list
    })
  })

/** What the tokens of one answer cost, in dollars. */
export const costOfUsage = (usage: Usage, prices: Prices): number =>
  costOf({ input: usage.input_tokens, output: usage.output_tokens, cacheRead: usage.cache_read_tokens ?? 0, cacheWrite: usage.cache_write_tokens ?? 0 }, prices)

/** Adds up a session. */
export const totalsOf = (entries: Entries, pricesOf: PriceList = () => undefined): SessionTotals => {
  const byModel = new Map<string, ModelTotals>()
  let toolCalls = 0
  for (const entry of entries.filter(isAssistant)) {
    toolCalls += callsOf(entry).length
    const { model = "", provider = "", usage } = entry
    if (usage === undefined) continue
    const key = JSON.stringify([provider, model])
    const prices = pricesOf(provider, model)
    const so = byModel.get(key) ?? { provider, model, answers: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, ...(prices === undefined ? {} : { cost: 0 }) }
    byModel.set(key, {
      ...so,
      ...(prices === undefined ? {} : { cost: (so.cost ?? 0) + costOfUsage(usage, prices) }),
      answers: so.answers + 1,
      input: so.input + usage.input_tokens,
      output: so.output + usage.output_tokens,
      cacheRead: so.cacheRead + (usage.cache_read_tokens ?? 0),
      cacheWrite: so.cacheWrite + (usage.cache_write_tokens ?? 0)
    })
  }
  const models = [...byModel.values()]
  const costs = models.map(({ cost }) => cost)
  const known = costs.every((cost) => cost !== undefined)
  return {
    messages: entries.filter(({ type }) => type === "user").length,
    toolCalls,
    models,
    ...(known && costs.length > 0 ? { cost: costs.reduce((sum, cost) => sum + cost, 0) } : {})
  }
}

const dollars = (cost: number): string => `$${cost.toFixed(cost < 1 ? 4 : 2)}`
const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`

/** The same in lines for a person. */
export const totalsText = ({ cost, messages, models, toolCalls }: SessionTotals): string =>
  [
    `${counted(messages, "message")} of yours, ${counted(toolCalls, "tool call")}`,
    ...models.map((one) => {
      const cache = one.cacheRead + one.cacheWrite === 0 ? "" : ` (${one.cacheRead} from the cache, ${one.cacheWrite} into it)`
      return `${one.provider} ${one.model}: ${counted(one.answers, "answer")}, ${one.input} tokens in${cache}, ${one.output} out${one.cost === undefined ? "" : `, ${dollars(one.cost)}`}`
    }),
    ...(cost === undefined || models.length < 2 ? [] : [`together ${dollars(cost)}`])
  ].join("\n")
