/** The tool calls of a history and their results: what belongs together and must stay together. Pure. */
import type { AssistantEntry, ContentPart, SessionEntry, ToolResultEntry, ToolUsePart } from "@nimlet/protocol"
import type { UnknownEntry } from "./SessionLines.ts"

/** A history, oldest entry first. */
export type Entries = ReadonlyArray<SessionEntry | UnknownEntry>

/** Whether an entry is an answer of the model. */
export const isAssistant = (entry: SessionEntry | UnknownEntry): entry is AssistantEntry => entry.type === "assistant"
/** Whether an entry is the result of a tool call. */
export const isResult = (entry: SessionEntry | UnknownEntry): entry is ToolResultEntry => entry.type === "tool_result"

const isOurs = (part: ContentPart): part is ToolUsePart => part.type === "tool_use" && part.hosted !== true

/** The tool calls of an assistant entry that are ours to run; a cut answer has none. */
export const callsOf = (entry: AssistantEntry): ReadonlyArray<ToolUsePart> =>
  entry.cut === true ? [] : entry.content.filter(isOurs)

const lastAnswer = (entries: Entries): { readonly at: number; readonly open: ReadonlyArray<ToolUsePart> } | undefined => {
  const at = entries.findLastIndex(isAssistant)
  const last = entries[at]
  if (last === undefined || !isAssistant(last)) return undefined
  const answered = new Set(entries.slice(at + 1).filter(isResult).map((entry) => entry.id))
  return { at, open: callsOf(last).filter((call) => !answered.has(call.id)) }
}

/**
 * Calls of the last assistant entry that have no result: a run was cut there. Each must be given one before the model
 * is asked again.
 */
export const unanswered = (entries: Entries): ReadonlyArray<ToolUsePart> => lastAnswer(entries)?.open ?? []

/**
 * Where a history may be cut. The function moves an index (0 to the number of entries) back to the nearest one, itself
 * included, where a cut parts no call from a result, also not from one that is still to come.
 */
export const wholeCut = (entries: Entries): ((index: number) => number) => {
  const last = lastAnswer(entries)
  const calledAt = new Map<string, number>()
  // At each index: the earliest entry that whatever stands there or later belongs to.
  const earliest = entries.map((entry, index) => {
    if (isAssistant(entry)) for (const call of callsOf(entry)) calledAt.set(call.id, index)
    return isResult(entry) ? calledAt.get(entry.id) ?? index : index
  })
  earliest.push(last === undefined || last.open.length === 0 ? entries.length : last.at)
  for (let index = entries.length - 1; index >= 0; index--) {
    earliest[index] = Math.min(earliest[index] ?? index, earliest[index + 1] ?? index)
  }
  return (index) => {
    let at = index
    for (let whole = earliest[at] ?? at; whole < at; whole = earliest[at] ?? at) at = whole
    return at
  }
}
