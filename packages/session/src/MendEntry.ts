/**
 * What can be kept of an entry that another version wrote: its kind is known and something in it is not. Pure. Parts of
 * kinds we do not know and optional fields of another shape are left out of what we read; the file keeps them.
 */
import { Schema } from "effect"
import {
  AssistantEntry,
  CompactionEntry,
  ContentPart,
  CustomMessageEntry,
  ExtensionEntry,
  type JsonObject,
  LabelEntry,
  NameEntry,
  SelectionEntry,
  ToolResultEntry,
  UserEntry
} from "@nimlet/protocol"

type Fields = { readonly [name: string]: Schema.Schema<unknown> }

const fieldsOf: { readonly [type: string]: Fields } = {
  user: UserEntry.fields,
  assistant: AssistantEntry.fields,
  tool_result: ToolResultEntry.fields,
  compaction: CompactionEntry.fields,
  extension: ExtensionEntry.fields,
  name: NameEntry.fields,
  selection: SelectionEntry.fields,
  custom_message: CustomMessageEntry.fields,
  label: LabelEntry.fields
}
/** JSON drops a field whose value is undefined; these may be any value, that one too. */
const anyValue: { readonly [type: string]: string } = { extension: "data", tool_use: "input" }
const partTypes = new Set<unknown>(ContentPart.members.map((member) => member.fields.type.literal))

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null

const completed = (value: JsonObject): JsonObject => {
  const name = anyValue[String(value["type"])]
  return name === undefined || name in value ? value : { ...value, [name]: null }
}

const mendContent = (content: unknown): unknown =>
  Array.isArray(content)
    ? content.flatMap((part: unknown) => !isObject(part) ? [part] : partTypes.has(part["type"]) ? [completed(part)] : [])
    : content

/** The entry without what is not known in it. It was damaged if it is no valid entry then: what it needs was wrong. */
export const mendEntry = (entry: JsonObject & { readonly type: string }): JsonObject & { readonly type: string } => {
  const fields = fieldsOf[entry.type] ?? {}
  const kept = Object.entries(completed(entry)).flatMap(([name, value]): ReadonlyArray<readonly [string, unknown]> => {
    const field = fields[name]
    if (name === "content") return [[name, mendContent(value)]]
    return field === undefined || Schema.is(field)(value) ? [[name, value]] : []
  })
  return { ...Object.fromEntries(kept), type: entry.type }
}
