/**
 * Checks the entries of a session: that each tool call has one result, after the answer that made it and before anybody
 * speaks again or it ends, and that what entries refer to is there. Pure; the answer is a list of violations.
 */
import type { RecordObject, Violation } from "./Violation.ts"

const isObject = (value: unknown): value is RecordObject => typeof value === "object" && value !== null && !Array.isArray(value)
const text = (value: unknown): string => typeof value === "string" ? value : ""

const known = new Set(["user", "assistant", "tool_result", "compaction", "extension", "name", "selection", "custom_message", "label"])

/** The calls an answer made, by id their tool; those a provider ran itself have no result of ours. */
const callsOf = (entry: RecordObject): ReadonlyArray<readonly [id: string, tool: unknown]> =>
  Array.isArray(entry["content"])
    ? entry["content"].filter(isObject).filter((part) => part["type"] === "tool_use" && part["hosted"] !== true).map((part) => [text(part["id"]), part["name"]])
    : []

/** Kinds of entries that come only when every call has its result. */
const afterResults = new Set(["user", "assistant", "compaction"])

/** Every broken rule, in order; `index` counts entries from 0, the header is none. The number of entries stands for the end. */
export const checkEntries = (entries: ReadonlyArray<RecordObject>): ReadonlyArray<Violation> => {
  const violations: Array<Violation> = []
  const seen = new Set<string>()
  const entryIds = new Set<string>()
  const open = new Map<string, unknown>()
  let spoken = false
  const missing = (index: number, what: string) => {
    for (const id of open.keys()) violations.push({ index, problem: `${what} before the result of ${id}` })
    open.clear()
  }
  entries.forEach((entry, index) => {
    const say = (problem: string) => void violations.push({ index, problem })
    const type = text(entry["type"])
    if (type === "session") say("a second header")
    else if (!known.has(type)) say(`${JSON.stringify(entry["type"])} is no kind of entry`)
    const entryId = text(entry["entry_id"])
    if (entryId !== "") {
      if (entryIds.has(entryId)) say(`entry_id ${entryId} is there twice`)
      entryIds.add(entryId)
    }
    if ((type === "user" || type === "assistant") && !Array.isArray(entry["content"])) say(`${type} without content`)
    if (afterResults.has(type)) missing(index, type)
    spoken ||= type === "user" || type === "custom_message"
    if (type === "assistant" && !spoken) say("an answer before anybody spoke")
    if (type === "assistant" && entry["cut"] !== true) {
      for (const [id, tool] of callsOf(entry)) {
        if (id === "" || seen.has(id)) say(`the call id ${JSON.stringify(id)} is empty or not unique`)
        seen.add(id)
        open.set(id, tool)
      }
    }
    if (type === "tool_result") {
      const id = text(entry["id"])
      if (!open.has(id)) say(seen.has(id) ? `a second or late result of ${id}` : `a result of ${JSON.stringify(entry["id"])}, which nobody called`)
      else if (entry["tool"] !== undefined && entry["tool"] !== open.get(id)) say(`the result of ${id} names tool ${String(entry["tool"])}, the call ${String(open.get(id))}`)
      if (typeof entry["is_error"] !== "boolean") say("tool_result without is_error")
      open.delete(id)
    }
    if (type === "compaction") {
      const { first_kept_id: id, first_kept_index: first } = entry
      if (typeof first !== "number" || first < 0 || first > index) say(`first_kept_index ${String(first)} is none of the entries before`)
      if (id !== undefined && !entryIds.has(text(id))) say(`first_kept_id ${JSON.stringify(id)} is none of the entries before`)
    }
    if (type === "label" && !entryIds.has(text(entry["target_id"]))) say(`a label of ${JSON.stringify(entry["target_id"])}, which is no entry before`)
  })
  missing(entries.length, "the session ends")
  return violations
}
