/** What a session has used so far, and what that cost where prices are known. Pure. */
import { costOf, type Prices } from "@nimlet/provider"
import type { Entries } from "@nimlet/session"
import { callsOf, isAssistant } from "@nimlet/session"

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

/** Adds up a session. */
export const totalsOf = (entries: Entries, pricesOf: (provider: string, model: string) => Prices | undefined = () => undefined): SessionTotals => {
  const byModel = new Map<string, ModelTotals>()
  let toolCalls = 0
  for (const entry of entries.filter(isAssistant)) {
    toolCalls += callsOf(entry).length
    const { model = "", provider = "", usage } = entry
    if (usage === undefined) continue
    const key = JSON.stringify([provider, model])
    const so = byModel.get(key) ?? { provider, model, answers: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
    byModel.set(key, {
      ...so,
      answers: so.answers + 1,
      input: so.input + usage.input_tokens,
      output: so.output + usage.output_tokens,
      cacheRead: so.cacheRead + (usage.cache_read_tokens ?? 0),
      cacheWrite: so.cacheWrite + (usage.cache_write_tokens ?? 0)
    })
  }
  const models = [...byModel.values()].map((one): ModelTotals => {
    const prices = pricesOf(one.provider, one.model)
    return prices === undefined ? one : { ...one, cost: costOf(one, prices) }
  })
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
