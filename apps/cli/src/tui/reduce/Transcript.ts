/** How the transcript grows with the events of a run. Pure. */
import type { AgentEvent } from "@nimlet/protocol"
import { type CallItem, diffOf, isSettled, type Item, saidItem, type SpokenItem } from "../Item.ts"
import type { State } from "../State.ts"
import { step, type Step } from "../Step.ts"

/** How much is kept in memory: what is older stands in the terminal's own scrollback and in the session's file. */
const kept = 2_000
const slack = 500
/** How much of a running call's output is kept, in characters: the end of it. */
const outputKept = 64 * 1024

/** Lets go of the oldest of a long transcript. */
const bounded = (state: State): State =>
  state.settled.length <= kept + slack
    ? state
    : { ...state, settled: state.settled.slice(-kept), forgotten: state.forgotten + state.settled.length - kept }

/** Moves what cannot change any more to the settled ones. */
export const settle = (state: State): State => {
  const open = state.live.findIndex((item) => !isSettled(item))
  const count = open < 0 ? state.live.length : open
  return count === 0 ? state : bounded({ ...state, settled: [...state.settled, ...state.live.slice(0, count)], live: state.live.slice(count) })
}

/** Puts something behind all that is there. */
export const add = (state: State, ...items: ReadonlyArray<Item>): State => settle({ ...state, live: [...state.live, ...items] })

/** A notice of our own. */
export const tell = (state: State, text: string, level: "info" | "warning" | "error" = "info"): State => add(state, { kind: "notice", level, text })

/** Hands what the model said last to the clipboard. */
export const copyAnswer = (state: State): Step => {
  const answer = state.settled.findLast((item) => item.kind === "answer" && item.told !== true)
  return answer?.kind !== "answer" ? step(tell(state, "There is no answer to copy yet.")) : step(tell(state, "The last answer was handed to the terminal's clipboard."), { type: "copy", text: answer.text })
}

const finished = (item: Item): Item => (item.kind === "answer" || item.kind === "thinking") && !item.done ? { ...item, done: true } : item
const broken = (item: Item): Item => item.kind === "call" && item.state === "running" ? { ...item, state: "failed" } : finished(item)

/** Nothing of the run will change any more. */
export const closeRun = (state: State): State => settle({ ...state, live: state.live.map(broken) })

const grow = (state: State, kind: SpokenItem["kind"], delta: string): State => {
  const last = state.live.at(-1)
  if (last?.kind === kind && !last.done) return { ...state, live: [...state.live.slice(0, -1), { ...last, text: last.text + delta }] }
  return { ...state, nextId: state.nextId + 1, live: [...state.live.map(finished), { kind, id: state.nextId, text: delta, done: false }] }
}

/** The whole answer: hooks may have changed what was streamed of it. */
const spoken = (state: State, text: string, told: boolean): State => {
  const at = state.live.findLastIndex((item) => item.kind === "answer" && !item.done)
  const live = state.live.flatMap((item, index): ReadonlyArray<Item> => index !== at || item.kind !== "answer" ? [finished(item)] : text === "" ? [] : [{ ...item, text, done: true }])
  if (at >= 0 || text === "") return settle({ ...state, live })
  return add({ ...state, live, nextId: state.nextId + 1 }, { kind: "answer", id: state.nextId, text, done: true, ...(told ? { told } : {}) })
}

/** What the model is told. Files that the words name go along and were not said; what a command printed stands there already. */
const heard = (state: State, content: string): State => {
  const { nextId, sent = "" } = state
  const said = saidItem(sent !== "" && content.startsWith(`${sent}\n\n`) ? sent : content, `shell-${nextId}`)
  const before = state.live.at(-1) ?? state.settled.at(-1)
  const next: State = { ...state, nextId: nextId + 1, live: state.live.map(finished), sent: undefined }
  return said.kind === "call" && before?.kind === "call" && before.name === said.name ? settle(next) : add(next, said)
}

const onCall = (state: State, id: string, change: (call: CallItem) => CallItem): State => {
  const at = state.live.findLastIndex((item) => item.kind === "call" && item.id === id)
  return at < 0 ? state : { ...state, live: state.live.map((item, index) => index === at && item.kind === "call" ? change(item) : item) }
}

const last = (text: string): string => text.length > 2 * outputKept ? text.slice(-outputKept) : text

/** The state after an event of a run. */
export const onAgentEvent = (state: State, event: AgentEvent): State => {
  switch (event.type) {
    case "message":
      if (event.role === "user") return heard(state, event.content)
      return spoken(state, event.content, event.model === undefined)
    case "message_delta":
      return grow(state, "answer", event.delta)
    case "thinking_delta":
      return grow(state, "thinking", event.delta)
    case "tool_call":
      return settle({
        ...state,
        live: [...state.live.map(finished), { kind: "call", id: event.tool_id, name: event.tool_name, input: event.input, output: "", state: "running" }]
      })
    case "tool_output_delta":
      return onCall(state, event.tool_id, (call) => ({ ...call, output: last(call.output + event.delta) }))
    case "tool_result": {
      const diff = diffOf(event.details)
      return settle(onCall(state, event.tool_id, (call) => ({
        ...call,
        output: event.output,
        state: event.is_error ? "failed" : "done",
        millis: event.duration_ms,
        ...(diff === undefined ? {} : { diff })
      })))
    }
    case "step_end": {
      const { tokens } = state
      const { input_tokens: input = 0, output_tokens: output = 0 } = event.usage ?? {}
      if (event.usage === undefined) return state
      return { ...state, tokens: { input: tokens.input + input, output: tokens.output + output, context: input + output, run: tokens.run + output, steps: tokens.steps + 1 } }
    }
    case "error":
      return tell(state, event.message, event.message === "Interrupted" ? "warning" : "error")
    case "diagnostic":
      return add(state, { kind: "notice", level: event.level, text: event.message })
    default:
      return state
  }
}
