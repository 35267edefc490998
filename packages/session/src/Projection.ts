/**
 * A session in the entry shapes of pi, as TypeScript extensions read them (seed 004). Pure. Each entry has an id and the id
 * of the one before it as parent: a file is one line of history. Kinds that have no twin there are carried as they are.
 */
import type {
  AssistantEntry,
  CompactionEntry,
  ContentPart,
  CustomMessageEntry,
  ExtensionEntry,
  ImagePart,
  JsonObject,
  LabelEntry,
  NameEntry,
  SelectionEntry,
  SessionEntry,
  SessionHeader,
  ToolResultEntry,
  Usage,
  UserEntry
} from "@nimlet/protocol"
import { callsOf } from "./Calls.ts"
import { isKnownEntry, type UnknownEntry } from "./SessionLines.ts"

/** An entry in pi's shape: these fields, and those of its `type`. */
export interface ProjectedEntry extends JsonObject {
  readonly type: string
  readonly id: string
  /** The entry before it, null for the first. */
  readonly parentId: string | null
  /** ISO time, the epoch where a file does not say. */
  readonly timestamp: string
}

/** The header in pi's shape; `parentSession` is the id of the session it was forked from. */
export interface ProjectedHeader extends JsonObject {
  readonly type: "session"
  readonly version: 3
  readonly id: string
  readonly timestamp: string
  readonly cwd: string
  readonly parentSession?: string
}

/** What an entry has beside its place in the history. */
type Body = JsonObject & { readonly type: string }

const epoch = "1970-01-01T00:00:00.000Z"

/** A field for a value that may be missing. */
const optional = (name: string, value: unknown): JsonObject => value === undefined ? {} : { [name]: value }

const image = (part: ImagePart): ReadonlyArray<JsonObject> =>
  part.data === undefined
    ? [{ type: "text", text: `[image ${part.path ?? part.mimeType}]` }]
    : [{ type: "image", data: part.data, mimeType: part.mimeType }]

const userPart = (part: ContentPart): ReadonlyArray<JsonObject> =>
  part.type === "text"
    ? [{ type: "text", text: part.text }]
    : part.type === "image"
    ? image(part)
    : part.type === "file"
    ? [{ type: "text", text: `[file ${part.filename ?? part.path ?? part.mimeType}]` }]
    : []

const assistantPart = (part: ContentPart): ReadonlyArray<JsonObject> => {
  switch (part.type) {
    case "text":
      return [{ type: "text", text: part.text }]
    case "thinking":
      return [{ type: "thinking", thinking: part.thinking, ...optional("thinkingSignature", part.signature === "" ? undefined : part.signature) }]
    case "tool_use":
      return part.hosted === true ? [] : [{
        type: "toolCall",
        id: part.id,
        name: part.name,
        arguments: typeof part.input === "object" && part.input !== null ? part.input : {},
        ...optional("thoughtSignature", part.thought_signature)
      }]
    default:
      return []
  }
}

/** Our input tokens have those of the cache in them, pi's have not. Costs are not known here. */
const usageOf = (usage: Usage | undefined): JsonObject => {
  const cacheRead = usage?.cache_read_tokens ?? 0
  const cacheWrite = usage?.cache_write_tokens ?? 0
  const output = usage?.output_tokens ?? 0
  const input = Math.max(0, (usage?.input_tokens ?? 0) - cacheRead - cacheWrite)
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    totalTokens: input + output + cacheRead + cacheWrite,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }
  }
}

const userMessage = (entry: UserEntry): JsonObject => ({ role: "user", content: entry.content.flatMap(userPart) })

const assistantMessage = (entry: AssistantEntry): JsonObject => ({
  role: "assistant",
  content: entry.content.flatMap(assistantPart),
  api: entry.provider ?? "unknown",
  provider: entry.provider ?? "unknown",
  model: entry.model ?? entry.requested_model ?? "unknown",
  usage: usageOf(entry.usage),
  stopReason: entry.cut === true ? "aborted" : callsOf(entry).length > 0 ? "toolUse" : "stop"
})

const resultMessage = (entry: ToolResultEntry, toolName: string): JsonObject => ({
  role: "toolResult",
  toolCallId: entry.id,
  toolName,
  content: [...(entry.output === "" ? [] : [{ type: "text", text: entry.output }]), ...(entry.images ?? []).flatMap(image)],
  ...optional("details", entry.details),
  isError: entry.is_error
})

const custom = (entry: ExtensionEntry): Body => ({
  type: "custom",
  customType: entry.custom_type ?? entry.extension,
  data: entry.data
})
const customMessage = (entry: CustomMessageEntry): Body => ({
  type: "custom_message",
  customType: entry.custom_type,
  content: entry.content.flatMap(userPart),
  display: entry.display,
  ...optional("details", entry.details)
})
const label = (entry: LabelEntry): Body => ({ type: "label", targetId: entry.target_id, ...optional("label", entry.label) })
const name = (entry: NameEntry): Body => ({ type: "session_info", name: entry.name })
const selection = (entry: SelectionEntry): Body => ({ type: "model_change", provider: entry.provider, modelId: entry.model })
const compaction = (entry: CompactionEntry, firstKeptEntryId: string): Body => ({
  type: "compaction",
  summary: entry.summary,
  firstKeptEntryId,
  tokensBefore: entry.tokens_before,
  ...optional("details", entry.details)
})

/**
 * A projection that is given the entries of a session one after the other. An entry without an id of its own is given one
 * by its place, one whose id was there before a longer one: it is the same whenever the session is read.
 */
export const makeProjection = (): (entry: SessionEntry | UnknownEntry) => ProjectedEntry => {
  const ids: Array<string> = []
  const taken = new Set<string>()
  const toolNames = new Map<string, string>()

  const idOf = (entry: SessionEntry | UnknownEntry): string => {
    let id = entry.entry_id === undefined || entry.entry_id === "" ? `entry-${ids.length}` : entry.entry_id
    while (taken.has(id)) id = `${id}+`
    return id
  }

  const bodyOf = (entry: SessionEntry | UnknownEntry, id: string, timestamp: string): Body => {
    const message = (body: JsonObject): Body => ({ type: "message", message: { ...body, timestamp: Date.parse(timestamp) || 0 } })
    if (!isKnownEntry(entry)) return { ...entry }
    switch (entry.type) {
      case "user":
        return message(userMessage(entry))
      case "assistant":
        for (const call of callsOf(entry)) toolNames.set(call.id, call.name)
        return message(assistantMessage(entry))
      case "tool_result":
        return message(resultMessage(entry, toolNames.get(entry.id) ?? entry.tool ?? "unknown"))
      case "compaction":
        return compaction(entry, ids[entry.first_kept_index] ?? id)
      case "extension":
        return custom(entry)
      case "custom_message":
        return customMessage(entry)
      case "label":
        return label(entry)
      case "name":
        return name(entry)
      case "selection":
        return selection(entry)
    }
  }

  return (entry) => {
    const id = idOf(entry)
    const timestamp = entry.at ?? epoch
    const projected = { ...bodyOf(entry, id, timestamp), id, parentId: ids.at(-1) ?? null, timestamp }
    ids.push(id)
    taken.add(id)
    return projected
  }
}

/** A whole session in pi's shapes, in its order. */
export const project = (entries: ReadonlyArray<SessionEntry | UnknownEntry>): ReadonlyArray<ProjectedEntry> => entries.map(makeProjection())

/** The header in pi's shape. `id` and `workspace` are the session's, for a file whose header lacks them. */
export const projectHeader = (
  header: SessionHeader | undefined,
  session: { readonly id: string; readonly workspace: string }
): ProjectedHeader => ({
  type: "session",
  version: 3,
  id: header?.id ?? session.id,
  timestamp: header?.at ?? epoch,
  cwd: header?.workspace ?? session.workspace,
  ...(header?.parent === undefined ? {} : { parentSession: header.parent })
})
