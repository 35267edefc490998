/**
 * Records of JSON mode, one object a line (seed 002). Member order is what people read: version, type, ids, payload,
 * `duration_ms` last. Beyond the seed are only fields: `usage` on `step_end`, `extension` on `diagnostic`, `terminate` on
 * `tool_result`, `answer` on `run_end`, and what RPC mode adds.
 */
import type { AgentEvent } from "./AgentEvent.ts"
import { wholeCharacters } from "./WholeCharacters.ts"

/** The two records that frame every stream. */
export type SessionRecord =
  | { readonly type: "session_start"; readonly session_id: string }
  | { readonly type: "session_end"; readonly session_id: string; readonly success: boolean }

/** What some events carry and a record omits or moves: `details` stay in the session, zero and empty say nothing. */
type Omittable = {
  readonly type: string
  readonly details?: unknown
  readonly followed?: boolean
  readonly duration_ms?: number
  readonly prompt?: string
}

/**
 * One event as one line of a machine mode, without its newline; undefined for a note of level info, which no record tells.
 * `more` are members of RPC mode alone.
 */
export const encodeRecord = (event: AgentEvent | SessionRecord, more?: Readonly<Record<string, unknown>>): string | undefined => {
  if (event.type === "diagnostic" && event.level === "info") return undefined
  if (event.type === "message") {
    const { content, role, type, ...place } = event
    return wholeCharacters(JSON.stringify({ version: 1, type, role, content, ...place }))
  }
  const { details: _, duration_ms, followed: _followed, prompt, ...rest }: Omittable = event
  return wholeCharacters(JSON.stringify({
    version: 1,
    ...rest,
    prompt: prompt === "" ? undefined : prompt,
    ...more,
    duration_ms: duration_ms === undefined || Math.round(duration_ms) === 0 ? undefined : Math.round(duration_ms)
  }))
}
