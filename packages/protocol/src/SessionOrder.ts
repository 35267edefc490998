/**
 * Checks the entries of a session: that each tool call has one result, after the answer that made it and before anybody
 * speaks again, and that what entries refer to is there. Pure; the answer is a list of violations.
 */
import type { RecordObject, Violation } from "./RecordOrder.ts"

const isObject = (value: unknown): value is RecordObject => typeof value === "object" && value !== null && !Array.isArray(value)
const text = (value: unknown): string => typeof value === "string" ? value : ""

const known = new Set(["user", "assistant", "tool_result", "compaction", "extension", "name", "selection", "custom_message", "label"])

/** Ids of the calls an answer made; those a provider ran itself have no result of ours. */
const callsOf = (entry: RecordObject): ReadonlyArray<string> =>
  Array.isArray(entry["content"])
    ? entry["content"].filter(isObject).filter((part) => part["type"] === "tool_use" && part["hosted"] !== true).map((part) => text(part["id"]))
    : []

/** Every broken rule, in order; `index` counts entries from 0, the header is none. The last answer may have open calls: the process may have ended there. */
export const checkEntries = (entries: ReadonlyArray<RecordObject>): ReadonlyArray<Violation> => {
  const violations: Array<Violation> = []
  const seen = new Set<string>()
  const entryIds = new Set<string>()
  let open: ReadonlyArray<string> = []
  entries.forEach((entry, index) => {
    const say = (problem: string) => void violations.push({ index, problem })
    const type = text(entry["type"])
    if (!known.has(type)) say(`${JSON.stringify(entry["type"])} is no kind of entry`)
    const entryId = text(entry["entry_id"])
    if (entryId !== "") {
      if (entryIds.has(entryId)) say(`entry_id ${entryId} is there twice`)
      entryIds.add(entryId)
    }
    if ((type === "user" || type === "assistant") && !Array.isArray(entry["content"])) say(`${type} without content`)
    if (type === "user" || type === "assistant") {
      for (const id of open) say(`${type} before the result of ${id}`)
      open = []
    }
    if (type === "assistant" && entry["cut"] !== true) {
      open = callsOf(entry)
      for (const id of open) {
        if (id === "" || seen.has(id)) say(`the call id ${JSON.stringify(id)} is empty or not unique`)
        seen.add(id)
      }
    }
    if (type === "tool_result") {
      const id = text(entry["id"])
      if (!open.includes(id)) say(seen.has(id) ? `a second or late result of ${id}` : `a result of ${JSON.stringify(entry["id"])}, which nobody called`)
      if (typeof entry["is_error"] !== "boolean") say("tool_result without is_error")
      open = open.filter((one) => one !== id)
    }
    if (type === "compaction") {
      const first = entry["first_kept_index"]
      if (typeof first !== "number" || first < 0 || first > index) say(`first_kept_index ${String(first)} is none of the entries before`)
    }
    if (type === "label" && !entryIds.has(text(entry["target_id"]))) say(`a label of ${JSON.stringify(entry["target_id"])}, which is no entry before`)
  })
  return violations
}
