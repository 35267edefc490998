/** What RPC mode tells of sessions and extensions, as members of a reply. Pure. */
import type { ExtensionFigures } from "@nimlet/extension"
import type { SessionEntry } from "@nimlet/protocol"
import type { SessionSummary, UnknownEntry } from "@nimlet/session"

/** An extension: what it offers and how it does. Times are milliseconds, null where there is none. */
export const aboutExtension = (figures: ExtensionFigures) => {
  const { droppedLines, family, fault, folder, hookMillis, key, lateReplies, memoryBytes, pid, project, registration, requests, restarts, startMillis, state } = figures
  return {
    key,
    family: family.name,
    folder,
    project,
    state: state.toLowerCase(),
    pid: pid ?? null,
    restarts,
    start_ms: startMillis ?? null,
    fault: fault ?? null,
    tools: registration?.tools.map(({ name }) => name) ?? [],
    commands: registration?.commands.map(({ name }) => name) ?? [],
    events: registration?.events ?? [],
    requests,
    hook_ms: hookMillis === undefined ? null : { p50: hookMillis.p50, p95: hookMillis.p95 },
    late_replies: lateReplies,
    dropped_lines: droppedLines,
    memory_bytes: memoryBytes ?? null
  }
}

/** A session of a list. `modified` is ISO. */
export const aboutStoredSession = ({ at, bytes, firstText, id, modified, name, parent, workspace }: SessionSummary) => ({
  session_id: id,
  workspace,
  title: name ?? "",
  first_text: firstText.slice(0, 500),
  ...(at === undefined ? {} : { at }),
  ...(parent === undefined ? {} : { parent }),
  modified: new Date(modified).toISOString(),
  bytes
})

/** What a session holds, in numbers; tokens as providers counted them. */
export const statsOf = (entries: ReadonlyArray<SessionEntry | UnknownEntry>) => {
  const known = entries as ReadonlyArray<SessionEntry>
  const count = (type: SessionEntry["type"]) => known.filter((entry) => entry.type === type).length
  const used = known.flatMap((entry) => entry.type === "assistant" && entry.usage !== undefined ? [entry.usage] : [])
  const sum = (key: "input_tokens" | "output_tokens" | "cache_read_tokens" | "cache_write_tokens") =>
    used.reduce((total, usage) => total + (usage[key] ?? 0), 0)
  return {
    entries: known.length,
    user_messages: count("user"),
    assistant_messages: count("assistant"),
    tool_results: count("tool_result"),
    compactions: count("compaction"),
    input_tokens: sum("input_tokens"),
    output_tokens: sum("output_tokens"),
    cache_read_tokens: sum("cache_read_tokens"),
    cache_write_tokens: sum("cache_write_tokens")
  }
}
