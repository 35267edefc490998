/**
 * Entries as the model is to see them. Pure. Bookkeeping entries are passed over; the results of an answer's calls
 * become one tool message; the latest compaction stands for what came before it (seed 000, "Session entries"). Providers refuse
 * a call without its one result, and a result without its call: where damage parted them, the transcript makes it good.
 */
import * as Prompt from "effect/ai/Prompt"
import { type AssistantEntry, type CompactionEntry, type ContentPart, type CustomMessageEntry, type ImagePart, type SessionEntry, textOf, type ThinkingPart, type ToolResultEntry, type ToolUsePart, type UserEntry } from "@nimlet/protocol"
import { callsOf, type Entries, isAssistant, isResult, wholeCut } from "./Calls.ts"
import type { UnknownEntry } from "./SessionLines.ts"

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

/** A summary in the model's words. It is no text that somebody typed: the offline model takes nothing in it for a request. */
const summaryMessage = (summary: string): Prompt.Message =>
  Prompt.userMessage({ content: [Prompt.textPart({ text: summaryText(summary), options: { nimlet: { typed: false } } })] })

/** What the model reads of a summary. */
export const summaryText = (summary: string): string => `<summary>\n${summary}\n</summary>`

type Options = Prompt.ProviderOptions

/** One for all that has none: a long session has tens of thousands of them. */
const noOptions: Options = {}

// A part keeps what its provider sent with it as JSON; to effect/ai it is opaque provider options.
const withOptions = (data: unknown): { readonly options: Options } => ({ options: data === undefined ? noOptions : data as Options })

/** What thinking needs to be believed again; entries of other writers have Anthropic's signature alone. */
const thinkingData = (part: ThinkingPart): unknown =>
  part.provider_data ?? (part.signature === "" ? undefined : { anthropic: { signature: part.signature } })

const filePart = (part: { readonly mimeType: string; readonly data?: string; readonly filename?: string }) =>
  part.data === undefined
    ? Prompt.textPart({ text: `[${part.filename ?? part.mimeType} is no longer available]` })
    : Prompt.filePart({ mediaType: part.mimeType, data: part.data, fileName: part.filename })

const userPart = (part: ContentPart): ReadonlyArray<Prompt.UserMessagePart> =>
  part.type === "text"
    ? [Prompt.textPart({ text: part.text, ...withOptions(part.provider_data) })]
    : part.type === "image" || part.type === "file"
    ? [filePart(part)]
    : []

const assistantPart = (part: ContentPart): ReadonlyArray<Prompt.AssistantMessagePart> => {
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [Prompt.textPart({ text: part.text, ...withOptions(part.provider_data) })]
    case "thinking":
      return [Prompt.reasoningPart({ text: part.thinking, ...withOptions(thinkingData(part)) })]
    case "tool_use":
      return [Prompt.toolCallPart({
        id: part.id,
        name: part.name,
        // Providers take objects only; what the model really sent stands in the session.
        params: typeof part.input === "object" && part.input !== null ? part.input : {},
        providerExecuted: part.hosted ?? false,
        ...withOptions(part.provider_data)
      })]
    default:
      return []
  }
}

/** What came of an answer that was cut: its text. Thinking lacks its signature then, and a call may be half of one. */
const cutParts = (content: ReadonlyArray<ContentPart>): ReadonlyArray<Prompt.AssistantMessagePart> => {
  const texts = content.flatMap((part) => part.type === "text" && part.text.trim() !== "" ? [Prompt.textPart({ text: part.text })] : [])
  return texts.length === 0 ? [] : [...texts, Prompt.textPart({ text: "[This answer was cut off here.]" })]
}

/** An extension's words: nobody typed them. */
const customPart = (part: ContentPart): ReadonlyArray<Prompt.UserMessagePart> =>
  part.type === "text" ? [Prompt.textPart({ text: part.text, options: { nimlet: { typed: false } } })] : userPart(part)

/** Providers want the user to begin; what the user said may be on a damaged line. */
const lostBeginning = Prompt.userMessage({
  content: [Prompt.textPart({ text: "[The beginning of this session was lost.]", options: { nimlet: { typed: false } } })]
})

const lostResult = ({ id, name }: ToolUsePart): ToolResultEntry => ({
  type: "tool_result",
  id,
  tool: name,
  output: "[The result of this call was lost.]",
  is_error: true
})

const imageParts = (output: string, images: ReadonlyArray<ImagePart>) => [
  ...(output === "" ? [] : [Prompt.textPart({ text: output })]),
  ...images.map(filePart)
]

const resultPart = (entry: ToolResultEntry, names: ReadonlyMap<string, string>) =>
  Prompt.toolResultPart({
    id: entry.id,
    name: names.get(entry.id) ?? entry.tool ?? "unknown",
    isFailure: entry.is_error,
    result: entry.output,
    providerExecuted: false,
    options: noOptions,
    ...(entry.images === undefined || entry.images.length === 0
      ? {}
      : { modelOutput: imageParts(entry.output, entry.images) })
  })

/** What the model is sent of a session: one message per user or assistant entry and per group of results. */
export const transcript = (entries: Entries): ReadonlyArray<Prompt.Message> => makeTranscript()(entries)

/**
 * `transcript` that remembers: an entry met before, the same object, gives the same message again, so a step pays for
 * what is new in it and whoever encodes messages can remember them too.
 */
export const makeTranscript = (): (entries: Entries) => ReadonlyArray<Prompt.Message> => {
  // Entries live as long as their session, and a map of weak keys costs the collector much where they are many.
  const known = new Map<object, Prompt.Message>()
  const asked = new Map<AssistantEntry, ReadonlyArray<ToolUsePart>>()
  const names = new Map<string, string>()

  const remember = (entry: object, message: Prompt.Message): Prompt.Message => {
    known.set(entry, message)
    return message
  }
  const user = (entry: UserEntry) =>
    known.get(entry) ?? remember(entry, Prompt.userMessage({ content: entry.content.flatMap(userPart), options: noOptions }))
  const assistant = (entry: AssistantEntry) =>
    known.get(entry) ?? remember(entry, Prompt.assistantMessage({
      content: entry.cut === true ? cutParts(entry.content) : entry.content.flatMap(assistantPart),
      options: noOptions
    }))
  const calls = (entry: AssistantEntry): ReadonlyArray<ToolUsePart> => {
    const before = asked.get(entry)
    if (before !== undefined) return before
    const found = callsOf(entry)
    for (const call of found) names.set(call.id, call.name)
    asked.set(entry, found)
    return found
  }
  const custom = (entry: CustomMessageEntry) =>
    known.get(entry) ?? remember(
      entry,
      entry.role === "system"
        ? Prompt.systemMessage({ content: textOf(entry.content) })
        : Prompt.userMessage({ content: entry.content.flatMap(customPart) })
    )
  const toolMessage = (group: ReadonlyArray<ToolResultEntry>) => Prompt.toolMessage({ content: group.map((entry) => resultPart(entry, names)), options: noOptions })
  // A group is known by its last result: it is closed by then.
  const results = (group: ReadonlyArray<ToolResultEntry>, last: ToolResultEntry) => {
    const message = known.get(last)
    return message?.role === "tool" && message.content.length === group.length ? message : remember(last, toolMessage(group))
  }

  return (entries) => {
    const compacted = latestCompaction(entries)
    const kept = compacted === undefined ? entries : entries.slice(compacted.start)
    const messages: Array<Prompt.Message> = compacted === undefined ? [] : [summaryMessage(compacted.summary)]
    // The calls of the last answer, their results by id, and the result that came last. Calls that ran together were
    // saved as they ended; the model reads their results in its own order.
    let made: ReadonlyArray<ToolUsePart> = []
    const given = new Map<string, ToolResultEntry>()
    let last: ToolResultEntry | undefined
    // A cut answer: it is told if the user speaks next, not if it was tried again.
    let cut: AssistantEntry | undefined
    const closeGroup = () => {
      if (made.length > 0) {
        const group = made.map((call) => given.get(call.id) ?? lostResult(call))
        messages.push(last !== undefined && given.size === made.length ? results(group, last) : toolMessage(group))
      }
      made = []
      given.clear()
      last = undefined
    }
    const push = (message: Prompt.Message) => {
      if (message.content.length > 0) messages.push(message)
    }
    for (const entry of kept) {
      if (isResult(entry)) {
        if (given.has(entry.id) || !made.some(({ id }) => id === entry.id)) continue
        given.set(entry.id, entry)
        last = entry
      } else if (isUser(entry) || isCustomMessage(entry)) {
        closeGroup()
        if (cut !== undefined) push(assistant(cut))
        cut = undefined
        push(isUser(entry) ? user(entry) : custom(entry))
      } else if (isAssistant(entry)) {
        closeGroup()
        cut = entry.cut === true ? entry : undefined
        if (cut === undefined) push(assistant(entry))
        made = calls(entry)
      }
    }
    closeGroup()
    return messages[0] === undefined || messages[0].role === "user" ? messages : [lostBeginning, ...messages]
  }
}
