/** Entries of a session in the shapes that extensions of seed 004 read (`ctx.sessionManager`). Pure, but for what it remembers. */
import type { ContentPart, JsonObject, SessionEntry } from "@nimlet/protocol"

const millis = (at: string | undefined): number => at === undefined ? 0 : Date.parse(at) || 0

const partOf = (part: ContentPart): ReadonlyArray<JsonObject> => {
  switch (part.type) {
    case "text":
      return [{ type: "text", text: part.text }]
    case "thinking":
      return [{ type: "thinking", thinking: part.thinking, thinkingSignature: part.signature }]
    case "tool_use":
      return [{ type: "toolCall", id: part.id, name: part.name, arguments: part.input }]
    case "image":
      return part.data === undefined ? [] : [{ type: "image", data: part.data, mimeType: part.mimeType }]
    default:
      return []
  }
}

/** A message of the conversation as the pi API has it; undefined for entries that are none. */
export const piMessage = (entry: SessionEntry, toolNames: ReadonlyMap<string, string> = new Map()): JsonObject | undefined => {
  switch (entry.type) {
    case "user":
      return { role: "user", content: entry.content.flatMap(partOf), timestamp: millis(entry.at) }
    case "assistant":
      return {
        role: "assistant",
        content: entry.content.flatMap(partOf),
        provider: entry.provider,
        model: entry.model,
        stopReason: entry.content.some(({ type }) => type === "tool_use") ? "toolUse" : "stop",
        usage: {
          input: entry.usage?.input_tokens ?? 0,
          output: entry.usage?.output_tokens ?? 0,
          cacheRead: entry.usage?.cache_read_tokens ?? 0,
          cacheWrite: entry.usage?.cache_write_tokens ?? 0
        },
        timestamp: millis(entry.at)
      }
    case "tool_result":
      return {
        role: "toolResult",
        toolCallId: entry.id,
        toolName: entry.tool ?? toolNames.get(entry.id) ?? "",
        content: [{ type: "text", text: entry.output }, ...(entry.images ?? []).flatMap(partOf)],
        details: entry.details,
        isError: entry.is_error,
        timestamp: millis(entry.at)
      }
    default:
      return undefined
  }
}

const shapeOf = (entry: SessionEntry, idAt: (index: number) => string | undefined, toolNames: ReadonlyMap<string, string>): JsonObject => {
  switch (entry.type) {
    case "compaction":
      return {
        type: "compaction",
        summary: entry.summary,
        firstKeptEntryId: idAt(entry.first_kept_index),
        tokensBefore: entry.tokens_before,
        details: entry.details
      }
    case "extension":
      return { type: "custom", customType: entry.custom_type ?? entry.extension, data: entry.data }
    case "name":
      return { type: "session_info", name: entry.name }
    case "selection":
      return { type: "model_change", provider: entry.provider, modelId: entry.model }
    default:
      return { type: "message", message: piMessage(entry, toolNames) }
  }
}

/** A session's entries, projected once each as they come. */
export class PiEntries {
  #source: ReadonlyArray<SessionEntry> = []
  #projected: ReadonlyArray<JsonObject> = []
  readonly #toolNames = new Map<string, string>()

  /** The projection of `entries`; the same list as before when nothing has come, and a longer one when something has. */
  of(entries: ReadonlyArray<SessionEntry>): ReadonlyArray<JsonObject> {
    const known = this.#source.length
    const grown = entries.length >= known && entries[0] === this.#source[0] && entries[known - 1] === this.#source[known - 1]
    if (grown && entries.length === known) return this.#projected
    const from = grown ? known : 0
    const idAt = (index: number) => entries[index] === undefined ? undefined : entries[index].entry_id ?? String(index)
    const added = entries.slice(from).map((entry, at): JsonObject => {
      if (entry.type === "assistant") {
        for (const part of entry.content) if (part.type === "tool_use") this.#toolNames.set(part.id, part.name)
      }
      const index = from + at
      return {
        id: idAt(index),
        parentId: index === 0 ? null : idAt(index - 1),
        timestamp: entry.at ?? "",
        ...shapeOf(entry, idAt, this.#toolNames)
      }
    })
    this.#source = entries
    this.#projected = grown ? [...this.#projected, ...added] : added
    return this.#projected
  }
}
