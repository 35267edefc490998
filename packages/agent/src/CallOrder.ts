/** Which calls of one answer run together, and the ids they go by. Pure. */
import { Option } from "effect"
import type { ContentPart, ToolUsePart } from "@nimlet/protocol"
import { isParallel, type ToolSet } from "./ToolSet.ts"

/** Neighbouring calls that may run together; each other call stands alone. */
export const groupCalls = (
  calls: ReadonlyArray<ToolUsePart>,
  tools: Pick<ToolSet, "find">
): ReadonlyArray<ReadonlyArray<ToolUsePart>> => {
  const groups: Array<{ readonly together: boolean; readonly calls: Array<ToolUsePart> }> = []
  for (const call of calls) {
    const together = Option.exists(tools.find(call.name), isParallel)
    const last = groups.at(-1)
    if (together && last?.together === true) last.calls.push(call)
    else groups.push({ together, calls: [call] })
  }
  return groups.map((group) => group.calls)
}

/** Gives every call an id that no earlier call of the session has; providers refuse repeated and empty ones. */
export const uniqueIds = (content: ReadonlyArray<ContentPart>, taken: ReadonlySet<string>): ReadonlyArray<ContentPart> => {
  const seen = new Set<string>()
  return content.map((part) => {
    if (part.type !== "tool_use") return part
    const stem = part.id === "" ? "call" : part.id
    let id = stem
    for (let n = 2; taken.has(id) || seen.has(id); n++) id = `${stem}_${n}`
    seen.add(id)
    return id === part.id ? part : { ...part, id }
  })
}
