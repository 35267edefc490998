/** Where a conversation is cut: what stands before becomes the summary, what follows stays word for word. Pure. */
import { type Entries, isAssistant, isResult, isUser, wholeCut } from "@nimlet/session"
import { type EntryTokens, tokensFrom } from "./Estimate.ts"

/** What the cut is chosen by; numbers are tokens. */
export interface CutOptions {
  readonly entries: Entries
  /** Where the previous compaction lets the conversation begin; the cut comes after it. */
  readonly start: number
  /** How much of the end is to stay. */
  readonly keep: number
  /** The most that may stay. */
  readonly room: number
  readonly tokensOf: EntryTokens
}

/**
 * The index of the first entry kept, undefined when there is nothing to gain: all of it is what is to stay, or no place
 * can be cut. The kept part begins with words of the user or an answer, and no call is parted from its result.
 *
 * At least `keep` stays, with the whole of the exchange or of the step that reaches over that line. If that is more than
 * `room`, less than `keep` stays, in the end nothing (a single answer can call for more than a window holds); but never
 * are the user's words cut off that the model has yet to answer.
 */
export const cutPoint = ({ entries, keep, room, start, tokensOf }: CutOptions): number | undefined => {
  const total = tokensFrom(entries, start, tokensOf)
  if (total <= keep) return undefined
  const whole = wholeCut(entries)
  const last = entries.findLast((entry) => isUser(entry) || isAssistant(entry) || isResult(entry))
  const nothing = total > room && last?.type !== "user" && whole(entries.length) === entries.length
  let kept = 0
  // Of the places met so far, from the end back: the one that keeps most without reaching `keep`, and the first that reaches it.
  let below = nothing ? entries.length : undefined
  let reached: number | undefined
  for (let index = entries.length - 1; index > start; index--) {
    const entry = entries[index]
    if (entry === undefined) break
    kept += tokensOf(entry)
    const user = isUser(entry)
    if (!user && !isAssistant(entry) || whole(index) !== index) continue
    if (kept < keep) {
      below = index
      continue
    }
    if (kept > room) break
    // A turn is cut between its steps only if it is long.
    if (user && kept <= keep * 2) return index
    reached ??= index
    if (kept > keep * 2) break
  }
  return reached ?? below
}
