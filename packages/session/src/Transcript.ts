/**
 * Entries as the model is to see them. Pure. Bookkeeping entries are passed over; results that stand together become
 * one tool message; the latest compaction stands for what came before it (seed 000, "Session entries").
 */
import * as Prompt from "effect/ai/Prompt"
import type { AssistantEntry, ContentPart, ImagePart, SessionEntry, ThinkingPart, ToolResultEntry, ToolUsePart, UserEntry } from "@nimlet/protocol"
import type { UnknownEntry } from "./SessionLines.ts"

type Entries = ReadonlyArray<SessionEntry | UnknownEntry>

/** Whether an entry is an answer of the model. */
export const isAssistant = (entry: SessionEntry | UnknownEntry): entry is AssistantEntry => entry.type === "assistant"
const isUser = (entry: SessionEntry | UnknownEntry): entry is UserEntry => entry.type === "user"
const isResult = (entry: SessionEntry | UnknownEntry): entry is ToolResultEntry => entry.type === "tool_result"

/** The tool calls of an assistant entry that are ours to run. */
export const callsOf = (entry: AssistantEntry): ReadonlyArray<ToolUsePart> =>
  entry.content.flatMap((part) => part.type === "tool_use" && part.hosted !== true ? [part] : [])

/**
 * Calls of the last assistant entry that have no result: a run was cut there. Each must be given one before the model
 * is asked again.
 */
export const unanswered = (entries: Entries): ReadonlyArray<ToolUsePart> => {
  const at = entries.findLastIndex(isAssistant)
  const last = entries[at]
  if (last === undefined || !isAssistant(last)) return []
  const answered = new Set(entries.slice(at + 1).filter(isResult).map((entry) => entry.id))
  return callsOf(last).filter((call) => !answered.has(call.id))
}

type Options = Prompt.ProviderOptions

// A part keeps what its provider sent with it as JSON; to effect/ai it is opaque provider options.
const withOptions = (data: unknown): { readonly options?: Options } => data === undefined ? {} : { options: data as Options }

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
  const known = new WeakMap<object, Prompt.Message>()
  const names = new Map<string, string>()

  const remember = (entry: object, message: Prompt.Message): Prompt.Message => {
    known.set(entry, message)
    return message
  }
  const user = (entry: UserEntry) =>
    known.get(entry) ?? remember(entry, Prompt.userMessage({ content: entry.content.flatMap(userPart) }))
  const assistant = (entry: AssistantEntry) => {
    for (const call of callsOf(entry)) names.set(call.id, call.name)
    return known.get(entry) ?? remember(entry, Prompt.assistantMessage({ content: entry.content.flatMap(assistantPart) }))
  }
  // A group is known by its last result: it is closed by then.
  const results = (group: ReadonlyArray<ToolResultEntry>, last: ToolResultEntry) => {
    const message = known.get(last)
    return message?.role === "tool" && message.content.length === group.length
      ? message
      : remember(last, Prompt.toolMessage({ content: group.map((entry) => resultPart(entry, names)) }))
  }

  return (entries) => {
    const { kept, summary } = sinceCompaction(entries)
    const messages: Array<Prompt.Message> = summary === undefined
      ? []
      : [Prompt.userMessage({ content: [Prompt.textPart({ text: `<summary>\n${summary}\n</summary>` })] })]
    let group: Array<ToolResultEntry> = []
    const closeGroup = () => {
      const last = group.at(-1)
      if (last !== undefined) messages.push(results(group, last))
      group = []
    }
    for (const entry of kept) {
      if (isResult(entry)) {
        group.push(entry)
      } else if (isUser(entry)) {
        closeGroup()
        messages.push(user(entry))
      } else if (isAssistant(entry)) {
        closeGroup()
        const message = assistant(entry)
        if (message.content.length > 0) messages.push(message)
      }
    }
    closeGroup()
    return messages
  }
}

const sinceCompaction = (entries: Entries) => {
  const last = entries.findLast((entry) => entry.type === "compaction")
  return last !== undefined && "summary" in last
    ? { summary: last.summary, kept: entries.slice(last.first_kept_index) }
    : { summary: undefined, kept: entries }
}
