/**
 * Entries as the model is to see them. Pure. Bookkeeping entries are passed over; the results of an answer's calls
 * become one tool message; the latest compaction stands for what came before it (seed 000, "Session entries"). Providers refuse
 * a call without its one result, and a result without its call: where damage parted them, the transcript makes it good.
 */
import type * as Prompt from "effect/ai/Prompt"
import type { AssistantEntry, CompactionEntry, CustomMessageEntry, SessionEntry, ToolResultEntry, ToolUsePart, UserEntry } from "@nimlet/protocol"
import { callsOf, type Entries, isAssistant, isResult, wholeCut } from "./Calls.ts"
import { entriesLeftOut, isImagesMark, withoutImages } from "./LeftOutImages.ts"
import type { UnknownEntry } from "./SessionLines.ts"
import { assistantMessage, customMessage, lostBeginning, resultsMessage, summaryMessage, userMessage } from "./TranscriptMessage.ts"

/** Whether an entry is what the user said. */
export const isUser = (entry: SessionEntry | UnknownEntry): entry is UserEntry => entry.type === "user"
/** Whether an entry is a message of an extension's own kind. */
export const isCustomMessage = (entry: SessionEntry | UnknownEntry): entry is CustomMessageEntry => entry.type === "custom_message"
const isCompaction = (entry: SessionEntry | UnknownEntry): entry is CompactionEntry => entry.type === "compaction"

/** The compaction in force: its record stands at `at`, `summary` is told for what came before entry `start`. */
export interface LatestCompaction {
  readonly at: number
  readonly start: number
  readonly summary: string
}

/** Where the records met so far let the history begin; found once, since what a record covers never changes. */
const starts = new WeakMap<CompactionEntry, number>()

/**
 * The last compaction of a history. A `first_kept_index` that a file has wrong is put right: into the history before the
 * record, and back to where a call and its results stay together.
 */
export const latestCompaction = (entries: Entries): LatestCompaction | undefined => {
  const at = entries.findLastIndex(isCompaction)
  const record = entries[at]
  if (record === undefined || !isCompaction(record)) return undefined
  const given = Math.floor(record.first_kept_index)
  const start = starts.get(record) ?? wholeCut(entries)(given > 0 ? Math.min(given, at) : 0)
  starts.set(record, start)
  return { at, start, summary: record.summary }
}

/** Folds entries into messages. What is folded stays: an entry that comes later never changes a message that is closed. */
const makeFold = (messages: Array<Prompt.Message>) => {
  // The calls of the last answer and their results so far. Calls that ran together were saved as they ended; the model
  // reads their results in its own order.
  let calls: ReadonlyArray<ToolUsePart> = []
  let results: Array<ToolResultEntry> = []
  // What was told of them while more could come.
  let told: { readonly results: number; readonly message: Prompt.Message } | undefined
  // A cut answer: it is told if the user speaks next, not if it was tried again.
  let cut: AssistantEntry | undefined

  /** The message of the calls whose results may be incomplete. */
  const open = (): Prompt.Message | undefined => {
    if (calls.length === 0) return undefined
    if (told?.results !== results.length) told = { results: results.length, message: resultsMessage(calls, results) }
    return told.message
  }
  const close = () => {
    if (calls.length === 0) return
    const message = open()
    if (message !== undefined) messages.push(message)
    calls = []
    results = []
    told = undefined
  }
  const push = (message: Prompt.Message) => {
    if (message.content.length > 0) messages.push(message)
  }

  const add = (entry: Entries[number]): void => {
    if (isResult(entry)) {
      if (calls.some(({ id }) => id === entry.id) && !results.some(({ id }) => id === entry.id)) results.push(entry)
    } else if (isUser(entry) || isCustomMessage(entry)) {
      close()
      if (cut !== undefined) push(assistantMessage(cut))
      cut = undefined
      push(isUser(entry) ? userMessage(entry) : customMessage(entry))
    } else if (isAssistant(entry)) {
      close()
      cut = entry.cut === true ? entry : undefined
      if (cut === undefined) push(assistantMessage(entry))
      calls = callsOf(entry)
    }
  }
  return { add, open }
}

/** Whether `entries` begin with the first `count` of `before`, by the same objects. */
const goesOn = (before: Entries, count: number, entries: Entries): boolean => {
  if (entries.length < count) return false
  for (let index = 0; index < count; index++) if (before[index] !== entries[index]) return false
  return true
}

/** What the model is sent of a session: one message per user or assistant entry and per group of results. */
export const transcript = (entries: Entries): ReadonlyArray<Prompt.Message> => makeTranscript()(entries)

/**
 * `transcript` that remembers: a history that goes on from the one before, by the same objects, gives the same messages
 * again, so a step pays for what is new in it and whoever encodes messages can remember them too.
 */
export const makeTranscript = (): (entries: Entries) => ReadonlyArray<Prompt.Message> => {
  // As many of these entries as were there when they were folded: a list may have grown since.
  let folded: Entries = []
  let count = 0
  let record: Entries[number] | undefined
  let messages: Array<Prompt.Message> = []
  let fold = makeFold(messages)

  return (entries) => {
    const compacted = latestCompaction(entries)
    const start = compacted?.start ?? 0
    const present = compacted === undefined ? undefined : entries[compacted.at]
    let at = count
    let gone: ReadonlySet<Entries[number]> = new Set()
    // A mark changes what was said before it, as a compaction does.
    if (record !== present || entries.slice(count).some(isImagesMark) || !goesOn(folded, count, entries)) {
      gone = entriesLeftOut(entries)
      messages = compacted === undefined ? [] : [summaryMessage(compacted.summary)]
      fold = makeFold(messages)
      record = present
      at = start
    }
    for (; at < entries.length; at++) {
      const entry = entries[at]
      if (entry !== undefined) fold.add(gone.has(entry) ? withoutImages(entry) : entry)
    }
    folded = entries
    count = at
    const open = fold.open()
    const all = open === undefined ? messages.slice() : [...messages, open]
    return all[0] === undefined || all[0].role === "user" ? all : [lostBeginning, ...all]
  }
}
