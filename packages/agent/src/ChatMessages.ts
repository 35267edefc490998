/**
 * A conversation in the shape of OpenAI's chat messages: how extensions see it (`context` event, `context` of a command),
 * and how they add to it. Pure. System text is no part of it; a compaction's summary comes first, as a user message.
 */
import * as Prompt from "effect/ai/Prompt"
import type { AssistantEntry, ContentPart, CustomMessageEntry, JsonObject, SessionEntry, UserEntry } from "@nimlet/protocol"
import { textOf } from "@nimlet/protocol"
import { callsOf, type Entries, isAssistant, isResult, latestCompaction, summaryText, type UnknownEntry, wordsOf } from "@nimlet/session"

/** An extension's own message is the user's to a model. */
const isUser = (entry: SessionEntry | UnknownEntry): entry is UserEntry | CustomMessageEntry => entry.type === "user" || entry.type === "custom_message"

const userPart = (part: ContentPart): ReadonlyArray<JsonObject> => {
  if (part.type === "text") return [{ type: "text", text: part.text }]
  return part.type === "image" && part.data !== undefined
    ? [{ type: "image_url", image_url: { url: `data:${part.mimeType};base64,${part.data}` } }]
    : []
}

const user = (entry: Pick<UserEntry, "content">): JsonObject => ({
  role: "user",
  content: entry.content.some((part) => part.type === "image") ? entry.content.flatMap(userPart) : wordsOf(entry)
})

const assistant = (entry: AssistantEntry): JsonObject => {
  const calls = callsOf(entry).map(({ id, input, name }) => ({
    id,
    type: "function",
    function: { name, arguments: typeof input === "string" ? input : JSON.stringify(input ?? {}) }
  }))
  return { role: "assistant", content: textOf(entry.content), ...(calls.length === 0 ? {} : { tool_calls: calls }) }
}

const message = (entry: SessionEntry | UnknownEntry): ReadonlyArray<JsonObject> => {
  if (isUser(entry)) return [user(entry)]
  if (isAssistant(entry)) return entry.content.length === 0 ? [] : [assistant(entry)]
  return isResult(entry) ? [{ role: "tool", tool_call_id: entry.id, content: entry.output }] : []
}

/** The conversation as the model would see it now. */
export const chatMessages = (entries: Entries): ReadonlyArray<JsonObject> => {
  const compacted = latestCompaction(entries)
  return compacted === undefined
    ? entries.flatMap(message)
    : [{ role: "user", content: summaryText(compacted.summary) }, ...entries.slice(compacted.start).flatMap(message)]
}

const textIn = (content: unknown): string | undefined => {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return undefined
  const texts = content.flatMap((part: unknown) =>
    typeof part === "object" && part !== null && "text" in part && typeof part.text === "string" ? [part.text] : [])
  return texts.length === 0 ? undefined : texts.join("\n")
}

/**
 * A message that an extension wrote, for a model; undefined for what cannot be added: another role than `user` or
 * `assistant`, or no text. The offline model takes nothing in it for a person's request.
 */
export const fromChatMessage = ({ content, role }: JsonObject): Prompt.Message | undefined => {
  const text = textIn(content)
  if (text === undefined || text === "") return undefined
  if (role === "assistant") return Prompt.assistantMessage({ content: [Prompt.textPart({ text })] })
  return role === "user" ? Prompt.userMessage({ content: [Prompt.textPart({ text, options: { nimlet: { typed: false } } })] }) : undefined
}
