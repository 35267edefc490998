/** How replies change an event, reply by reply. Pure: one small function an event, no time and no transport. */
import { type HookCompaction, HookEvents, type HookMessage, type HookName, type HookPayload, type HookReply, type JsonObject } from "@nimlet/protocol"
import type { HookOutcome } from "../HookOutcome.ts"
import { boundedWords } from "./Words.ts"

/** An event on its way through the subscribers. */
export interface Tally<N extends HookName> {
  readonly payload: HookPayload<N>
  readonly changedBy: ReadonlyArray<string>
  readonly blockedBy: ReadonlyArray<string>
  readonly handled?: true
  readonly reasons: ReadonlyArray<string>
  /** One that blocked wants no further model request. */
  readonly terminate?: boolean
  readonly compaction?: HookCompaction
  readonly messages: ReadonlyArray<HookMessage>
  /** What a person should know of the composition, in order. */
  readonly notes: ReadonlyArray<string>
}

/** Before anybody is asked. */
export const untouched = <N extends HookName>(payload: HookPayload<N>): Tally<N> => ({
  payload,
  changedBy: [],
  blockedBy: [],
  reasons: [],
  messages: [],
  notes: []
})

type Change<N extends HookName> = (payload: HookPayload<N>, reply: HookReply<N>) => HookPayload<N>

const keep = <P>(payload: P): P => payload

const headerName = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/
const outsideHeaders = /[\0\r\n]|[^\0-\xff]/

/** Why no request can have a header; undefined where it can. What is no text removes one. */
const headerFault = (name: string, value: unknown): string | undefined =>
  typeof value !== "string"
    ? undefined
    : !headerName.test(name)
    ? "that is no name of a header"
    : outsideHeaders.test(value) ? "its value has characters that no header may have" : undefined

/** A reply without the headers that would fail the request, and a note of each. */
const withoutBadHeaders = <N extends HookName>(tally: Tally<N>, extension: string, reply: HookReply<N>): readonly [Tally<N>, HookReply<N>] => {
  const { headers }: { readonly headers?: JsonObject } = reply
  const bad = Object.entries(headers ?? {}).flatMap(([name, value]) => {
    const fault = headerFault(name, value)
    return fault === undefined ? [] : [{ name, fault }]
  })
  if (headers === undefined || bad.length === 0) return [tally, reply]
  const left = new Set(bad.map(({ name }) => name))
  const notes = bad.map(({ fault, name }) => `extension '${extension}': the header ${JSON.stringify(name.slice(0, 80))} of its reply was left out: ${fault}`)
  return [{ ...tally, notes: [...tally.notes, ...notes] }, { ...reply, headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !left.has(name))) }]
}

/** Lays headers over others: a text sets, anything else removes, names in any case. */
const layHeaders = (headers: HookPayload<"before_provider_headers">["headers"], over: JsonObject) => {
  const changed = new Map(Object.entries(over).map(([name, value]) => [name.toLowerCase(), value]))
  return Object.fromEntries([
    ...Object.entries(headers).filter(([name]) => !changed.has(name.toLowerCase())),
    ...[...changed].flatMap(([name, value]) => typeof value === "string" ? [[name, value] as const] : [])
  ])
}

/** How a reply changes what the next subscriber, and in the end the agent, sees. */
const changes: { readonly [N in HookName]: Change<N> } = {
  input: (payload, { images, text }) =>
    text === undefined && images === undefined
      ? payload
      : { ...payload, text: text ?? payload.text, images: images ?? payload.images },
  before_agent_start: (payload, { system_prompt }) => system_prompt === undefined ? payload : { ...payload, system_prompt },
  context: (payload, { messages = [], system = [] }) =>
    messages.length + system.length === 0
      ? payload
      : { system: [...payload.system, ...system], messages: [...payload.messages, ...messages] },
  before_provider_request: (payload, reply) => reply.payload === undefined ? payload : { ...payload, payload: reply.payload },
  before_provider_headers: (payload, { headers }) =>
    headers === undefined ? payload : { ...payload, headers: layHeaders(payload.headers, headers) },
  message_end: (payload, { text }) => text === undefined ? payload : { ...payload, text },
  tool_call: (payload, { arguments: args }) => args === undefined ? payload : { ...payload, arguments: args },
  tool_result: (payload, { details, images, is_error, output }) =>
    output === undefined && is_error === undefined && details === undefined && images === undefined
      ? payload
      : {
        ...payload,
        output: output ?? payload.output,
        is_error: is_error ?? payload.is_error,
        ...(details === undefined ? {} : { details }),
        ...(images === undefined ? {} : { images })
      },
  session_before_compact: (payload, { instruction = "" }) => {
    if (instruction === "") return payload
    const said = boundedWords(instruction)
    return { ...payload, instruction: payload.instruction === "" ? said : `${payload.instruction}\n${said}` }
  },
  model_context: (payload, { messages }) => messages === undefined ? payload : { messages },
  resources_discover: (payload, { prompt_paths = [], skill_paths = [], theme_paths = [] }) =>
    prompt_paths.length + skill_paths.length + theme_paths.length === 0
      ? payload
      : {
        ...payload,
        prompt_paths: [...payload.prompt_paths, ...prompt_paths],
        skill_paths: [...payload.skill_paths, ...skill_paths],
        theme_paths: [...payload.theme_paths, ...theme_paths]
      },
  user_bash: (payload, { operations, result }) =>
    payload.result !== undefined || payload.operations !== undefined
      ? payload
      : { ...payload, ...(result === undefined ? {} : { result }), ...(operations === undefined ? {} : { operations }) },
  project_trust: (payload, { remember = false, trusted }) =>
    trusted === undefined || trusted === "undecided" || payload.trusted !== "undecided" ? payload : { ...payload, trusted, remember },
  session_before_tree: (payload, { instruction }) => instruction === undefined ? payload : { ...payload, instruction: boundedWords(instruction) },
  agent_end: keep,
  agent_start: keep,
  message_saved: keep,
  message_start: keep,
  message_update: keep,
  session_info_changed: keep,
  session_tree: keep,
  step_end: keep,
  step_start: keep,
  tool_execution_end: keep,
  tool_execution_start: keep,
  tool_execution_update: keep,
  after_provider_response: keep,
  agent_settled: keep,
  session_before_switch: keep,
  session_compact: keep,
  session_compact_failed: keep,
  session_end: keep,
  session_settings_changed: keep,
  session_shutdown: keep,
  session_start: keep,
  turn_end: keep,
  turn_start: keep
}

/** `extension` blocks. */
export const block = <N extends HookName>(tally: Tally<N>, extension: string, reason: string | undefined): Tally<N> => ({
  ...tally,
  blockedBy: [...tally.blockedBy, extension],
  reasons: reason === undefined || reason.trim() === "" ? tally.reasons : [...tally.reasons, reason]
})

/** Takes in the reply of `extension`. The other fields of a blocking reply do not count. */
export const applyReply = <N extends HookName>(
  event: N,
  tally: Tally<N>,
  extension: string,
  reply: HookReply<N>
): Tally<N> => {
  const gate: { readonly allow?: boolean; readonly handled?: boolean; readonly reason?: string; readonly terminate?: boolean } = reply
  if (HookEvents[event].kind === "gate" && gate.allow === false) {
    const blocked = block(tally, extension, gate.reason)
    return { ...blocked, ...(gate.handled === true ? { handled: true } : {}), ...(gate.terminate === true ? { terminate: true } : {}) }
  }
  const change: Change<N> = changes[event]
  const [noted, usable] = withoutBadHeaders(tally, extension, reply)
  const payload = change(tally.payload, usable)
  const changed = payload === tally.payload ? noted : { ...noted, payload, changedBy: [...noted.changedBy, extension] }
  return withMessage(event, withCompaction(changed, extension, reply), reply)
}

const withMessage = <N extends HookName>(event: N, tally: Tally<N>, reply: HookReply<N>): Tally<N> => {
  // Other events have messages of another kind.
  if (event !== "before_agent_start") return tally
  const { message, messages = [] }: HookReply<"before_agent_start"> = reply
  const said = [...(message === undefined ? [] : [message]), ...messages].filter(({ content }) => content !== "")
  return said.length === 0 ? tally : { ...tally, messages: [...tally.messages, ...said] }
}

const withCompaction = <N extends HookName>(tally: Tally<N>, extension: string, reply: HookReply<N>): Tally<N> => {
  const { compaction }: { readonly compaction?: HookCompaction } = reply
  if (compaction === undefined) return tally
  if ("entries" in tally.payload && compaction.first_kept_index > tally.payload.entries.length) {
    const note = `extension '${extension}': ignored a compaction, first_kept_index is beyond the session's end`
    return { ...tally, notes: [...tally.notes, note] }
  }
  const notes = tally.compaction === undefined
    ? tally.notes
    : [...tally.notes, `extension '${extension}': its compaction replaces an earlier extension's`]
  return { ...tally, compaction, notes }
}

/** What the agent does in the end. */
export const outcomeOf = <N extends HookName>(tally: Tally<N>): HookOutcome<N> => {
  const { blockedBy, changedBy, compaction, handled, messages, payload, reasons, terminate } = tally
  const outcome = blockedBy.length > 0
    ? {
      _tag: "Blocked" as const,
      reason: reasons.length === 0 ? "blocked by extension" : boundedWords(reasons.join("; ")),
      blockedBy,
      ...(handled === undefined || reasons.length > 0 ? {} : { handled }),
      ...(terminate === undefined ? {} : { terminate })
    }
    : { _tag: "Continue" as const, payload, changedBy, ...(messages.length === 0 ? {} : { messages }), ...(compaction === undefined ? {} : { compaction }) }
  // Only gates are ever blocked (`applyReply`), which the conditional type says and the compiler cannot follow.
  return outcome as HookOutcome<N>
}
