/** How much must be said before a conversation is compacted again: what did not help is not done again soon. Pure. */
import { type Entries, isAssistant } from "@nimlet/session"
import type { CompactionLimits } from "./Limits.ts"

/** How much more each compaction in a row that did not help asks for. */
const patience = 4

/**
 * How many compactions in a row, the latest one last, did not help: the provider counted more than the limit right after each.
 * One that nothing was asked after tells neither way.
 */
const futile = (entries: Entries, limit: number): number => {
  let count = 0
  // The first count that comes after the place we are at.
  let after: number | undefined
  for (const entry of entries.toReversed()) {
    if (isAssistant(entry) && entry.usage !== undefined) after = entry.usage.input_tokens + entry.usage.output_tokens
    if (entry.type !== "compaction") continue
    if (after !== undefined && after <= limit) return count
    if (after !== undefined) count++
    after = undefined
  }
  return count
}

/**
 * The tokens that must have come since the latest compaction, or attempt at one, before the next. `content` is the request by
 * its length alone: where that is too much already, there is something to sum up, whatever came of it before.
 */
export const growthNeeded = (entries: Entries, content: number, { growth, limit }: CompactionLimits): number =>
  content > limit ? growth : growth * patience ** futile(entries, limit)
