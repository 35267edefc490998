/**
 * The messages of a model request as extensions of seed 004 see and change them (their event `context`), and back. What they left as
 * it was is sent as it was, with all that its provider wants to have again. Pure.
 */
import type * as Prompt from "effect/ai/Prompt"
import type { ContentPart, JsonObject, SessionEntry } from "@nimlet/protocol"
import { type Entries, latestCompaction, summaryText } from "@nimlet/session"
import { type History, messageOf } from "./History.ts"
import { untypedText } from "./RunEvents.ts"

/** Messages and where each comes from. */
export interface RequestMessages {
  readonly messages: ReadonlyArray<JsonObject>
  readonly sources: ReadonlyMap<string, Entries[number]>
}

/** What the next request would hold. */
export const requestMessages = ({ entries, projected }: Pick<History, "entries" | "projected">): RequestMessages => {
  const compacted = latestCompaction(entries)
  const start = compacted?.start ?? 0
  const messages: Array<JsonObject> = []
  const sources = new Map<string, Entries[number]>()
  if (compacted !== undefined) {
    const record = projected[compacted.at]
    messages.push({ role: "compactionSummary", summary: compacted.summary, tokensBefore: record?.tokensBefore, timestamp: Date.parse(record?.timestamp ?? "") || 0 })
  }
  for (const [at, each] of projected.entries()) {
    const message = at < start ? undefined : messageOf(each)
    const entry = entries[at]
    if (message === undefined || entry === undefined) continue
    messages.push(message)
    sources.set(JSON.stringify(message), entry)
  }
  return { messages, sources }
}

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value)
const textOf = (value: unknown): string => typeof value === "string" ? value : ""

const partOf = (part: unknown): ReadonlyArray<ContentPart> => {
  if (!isObject(part)) return []
  switch (part.type) {
    case "text":
      return [untypedText(textOf(part.text))]
    case "image":
      return typeof part.data === "string" ? [{ type: "image", data: part.data, mimeType: textOf(part.mimeType) || "image/png" }] : []
    case "thinking":
      return [{ type: "thinking", thinking: textOf(part.thinking), signature: textOf(part.thinkingSignature) }]
    case "toolCall":
      return [{ type: "tool_use", id: textOf(part.id), name: textOf(part.name), input: part.arguments ?? {} }]
    default:
      return []
  }
}

const partsOf = (content: unknown): ReadonlyArray<ContentPart> =>
  typeof content === "string" ? [untypedText(content)] : Array.isArray(content) ? content.flatMap(partOf) : []

const said = (text: string): SessionEntry => ({ type: "custom_message", custom_type: "summary", content: [untypedText(text)], display: false })

const entryOf = (message: JsonObject): ReadonlyArray<SessionEntry> => {
  const content = partsOf(message.content)
  switch (message.role) {
    case "user":
      return [{ type: "user", role: "user", content }]
    case "assistant":
      return [{ type: "assistant", role: "assistant", content }]
    case "toolResult": {
      const images = content.filter((part) => part.type === "image")
      const output = content.flatMap((part) => part.type === "text" ? [part.text] : []).join("\n")
      return [{ type: "tool_result", id: textOf(message.toolCallId), tool: textOf(message.toolName), output, is_error: message.isError === true, ...(images.length === 0 ? {} : { images }) }]
    }
    case "custom":
      return [{ type: "custom_message", custom_type: textOf(message.customType), content, display: false }]
    case "compactionSummary":
    case "branchSummary":
      return [said(summaryText(textOf(message.summary)))]
    default:
      return []
  }
}

/** Changed messages as the request is to hold them; those of an unknown role are left out. */
export const changedRequest = (
  messages: ReadonlyArray<JsonObject>,
  sources: RequestMessages["sources"],
  transcript: (entries: Entries) => ReadonlyArray<Prompt.Message>
): ReadonlyArray<Prompt.Message> =>
  transcript(messages.flatMap((message): Entries => {
    const source = sources.get(JSON.stringify(message))
    return source === undefined ? entryOf(message) : [source]
  }))
