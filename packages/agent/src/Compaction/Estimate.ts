/**
 * How many tokens a request takes, without a tokenizer: four bytes are one token, and the provider's own count of the
 * last answer corrects that. Pure.
 */
import type { ContentPart, SessionEntry } from "@nimlet/protocol"
import { type Entries, isAssistant, isCustomMessage, isResult, isUser, latestCompaction, summaryText, type UnknownEntry } from "@nimlet/session"
import type { ToolSet } from "../ToolSet.ts"

/** An image, or a file of unknown size. Providers count an image by its pixels; this is what a large one costs. */
const attachmentTokens = 2_000

/** The tokens of a text, at least 1. */
export const textTokens = (text: string): number => Math.max(1, Math.ceil(Buffer.byteLength(text) / 4))

const partTokens = (part: ContentPart): number => {
  switch (part.type) {
    case "text":
      return textTokens(part.text)
    case "thinking":
      return textTokens(part.thinking)
    case "tool_use":
      return textTokens(part.name) + textTokens(JSON.stringify(part.input) ?? "")
    case "tool_result":
      return textTokens(part.content) + attachmentTokens * (part.images?.length ?? 0)
    case "file":
      return part.data === undefined ? attachmentTokens : textTokens(part.data)
    case "image":
      return attachmentTokens
    case "source":
      return 0
  }
}

/** The tokens of one entry; bookkeeping, which no model reads, has none. */
export type EntryTokens = (entry: SessionEntry | UnknownEntry) => number

const entryTokens: EntryTokens = (entry) =>
  isUser(entry) || isAssistant(entry) || isCustomMessage(entry) ? entry.content.reduce((sum, part) => sum + partTokens(part), 0)
    : isResult(entry) ? textTokens(entry.output) + attachmentTokens * (entry.images?.length ?? 0)
    : 0

/** Measures entries and remembers: each is measured once. */
export const makeEntryTokens = (): EntryTokens => {
  const known = new Map<object, number>()
  return (entry) => {
    const before = known.get(entry)
    if (before !== undefined) return before
    const tokens = entryTokens(entry)
    known.set(entry, tokens)
    return tokens
  }
}

/** The tokens of entries from `start` on. */
export const tokensFrom = (entries: Entries, start: number, tokensOf: EntryTokens): number => {
  let sum = 0
  for (let index = start; index < entries.length; index++) {
    const entry = entries[index]
    if (entry !== undefined) sum += tokensOf(entry)
  }
  return sum
}

/** What every request holds beside the conversation: the system text and the tools. */
export const overheadTokens = (system: string, { tools }: Pick<ToolSet, "tools">): number =>
  tools.reduce((sum, { tool }) => sum + textTokens(tool.description + JSON.stringify(tool.inputSchema)), textTokens(system))

/** An estimate of the next request. `content` is by length alone, `tokens` what to go by. */
export interface Estimate {
  readonly content: number
  readonly tokens: number
}

/**
 * Estimates the next request of a history: the larger of its length, and of what the provider counted for the last
 * answer and before plus the length of what came later. A count from before the latest compaction is of no use.
 */
export const estimate = (entries: Entries, overhead: number, tokensOf: EntryTokens): Estimate => {
  const compacted = latestCompaction(entries)
  const summary = compacted === undefined ? 0 : textTokens(summaryText(compacted.summary))
  const content = overhead + summary + tokensFrom(entries, compacted?.start ?? 0, tokensOf)
  const at = entries.findLastIndex((entry) => isAssistant(entry) && entry.usage !== undefined)
  const counted = entries[at]
  if (counted === undefined || !isAssistant(counted) || counted.usage === undefined || at < (compacted?.at ?? 0)) return { content, tokens: content }
  const { input_tokens, output_tokens } = counted.usage
  return { content, tokens: Math.max(content, input_tokens + output_tokens + tokensFrom(entries, at + 1, tokensOf)) }
}
