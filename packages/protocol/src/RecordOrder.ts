/**
 * Checks the records of a machine mode against the order of seed 002, as a small state machine: one record after another,
 * then the end of the stream. Pure; the answer is a list of violations. RPC mode has replies, queues and several turns and
 * sessions besides, and tells of each turn what became of it.
 */
import { makeRequests, type Requests } from "./RequestOrder.ts"
import type { RecordObject, Violation } from "./Violation.ts"

/** Which mode wrote the records. */
export type RecordMode = "json" | "rpc"

interface Call {
  readonly id: string
  readonly name: unknown
  readonly step: number
}

interface Step {
  readonly number: number
  readonly deltas: string
  readonly calls: number
  /** Ids of results that want the run to end with them. */
  readonly stops: ReadonlyArray<unknown>
  readonly said: boolean
}

interface Run {
  readonly ids: RecordObject
  readonly step: Step | undefined
  readonly steps: number
  readonly open: ReadonlyArray<Call>
  readonly final: boolean
  /** Ids of the results of the last step, if all of them wanted the run to end: no message has to then. */
  readonly stopped: ReadonlyArray<unknown> | undefined
  /** What its last error said. */
  readonly failed: string | undefined
  /** Messages of the user within it: words that waited in the queue. */
  readonly heard: number
  /** The last step brought no whole answer: an error has to follow, or a diagnostic and the next attempt. */
  readonly broken: "no" | "untold" | "told"
}

/** What is known of the stream beside its records. */
export interface Circumstances {
  /** Default `json`. */
  readonly mode?: RecordMode
  /** An extension may have changed finished answers (`message_end`): their text need not be what was streamed. */
  readonly rewritten?: boolean
}

/** Where a stream stands after some records. */
interface State {
  readonly mode: RecordMode
  readonly rewritten: boolean
  readonly index: number
  readonly session: unknown
  readonly ended: boolean
  readonly asked: boolean
  readonly run: Run | undefined
  readonly failed: boolean
  /** Something told that not all went well: an error, or a diagnostic of that level. */
  readonly faulted: boolean
  readonly ids: Set<string>
  readonly requests: Requests
  readonly violations: ReadonlyArray<Violation>
}

const fresh = { session: undefined, ended: false, asked: false, run: undefined, failed: false, faulted: false }

const start = ({ mode = "json", rewritten = false }: Circumstances): State => ({
  ...fresh,
  mode,
  rewritten,
  index: 0,
  ids: new Set(),
  requests: makeRequests(),
  violations: []
})

const inStep = new Set(["approval_required", "message_delta", "thinking_delta", "tool_call", "tool_output_delta", "tool_result", "step_end"])
const inRun = new Set([...inStep, "step_start", "run_end", "error"])
const inJson = new Set([...inRun, "session_start", "session_end", "run_start", "message", "diagnostic"])
/** Records of RPC mode that may come at any time and say nothing of a turn. */
const aside = new Set(["response", "queue", "status", "widget", "notice", "ui_request"])
const known: { readonly [M in RecordMode]: ReadonlySet<string> } = {
  json: inJson,
  rpc: new Set([...inJson, ...aside, "approval_required"])
}
/** Where nothing need name the session. */
const anonymous = new Set(["diagnostic", "response", "status", "widget", "notice", "ui_request"])

/** What the error of an interrupted turn says: alone it is no failure of a session in RPC mode. */
const interrupted = "Interrupted"

const text = (value: unknown): string => typeof value === "string" ? value : ""

/** A record inside a run: the run after it, and what was wrong. */
const stepRun = (run: Run, record: RecordObject, { ids, rewritten }: State, say: (problem: string) => void): Run | undefined => {
  const { step } = run
  const type = record["type"]
  for (const key of ["turn_id", "run_id"]) {
    if (record[key] !== undefined && record[key] !== run.ids[key]) say(`${key} is not that of the run`)
  }
  if (typeof type === "string" && inStep.has(type)) {
    if (step === undefined) say(`${type} outside a step`)
    else if (record["step"] !== step.number) say(`${type} names step ${String(record["step"])}, the step is ${step.number}`)
  }
  if (run.final && type === "step_start") say("step_start after the final message")
  switch (type) {
    case "run_start":
      say("run_start within a run")
      return run
    case "step_start": {
      if (step !== undefined) say("step_start within a step")
      if (run.failed !== undefined) say("step_start after an error")
      if (run.broken === "untold") say("a new attempt without a diagnostic")
      if (record["step"] !== run.steps) say(`step_start has number ${String(record["step"])}, ${run.steps} is the next`)
      return { ...run, broken: "no", steps: run.steps + 1, stopped: undefined, step: { number: run.steps, deltas: "", calls: 0, stops: [], said: false } }
    }
    case "message_delta":
    case "thinking_delta": {
      if (step === undefined) return run
      if (step.said || step.calls > 0) say(`${type} after the step's message or tool calls`)
      return type === "thinking_delta" ? run : { ...run, step: { ...step, deltas: step.deltas + text(record["delta"]) } }
    }
    case "tool_call": {
      const id = text(record["tool_id"])
      if (run.final) say("tool_call after the final message")
      if (id === "" || ids.has(id)) say(`tool_id ${JSON.stringify(record["tool_id"])} is empty or not unique`)
      const call = { id, name: record["tool_name"], step: step?.number ?? -1 }
      return { ...run, open: [...run.open, call], ...(step === undefined ? {} : { step: { ...step, calls: step.calls + 1 } }) }
    }
    case "approval_required":
    case "tool_output_delta":
    case "tool_result": {
      const call = run.open.find(({ id }) => id === record["tool_id"])
      if (call === undefined) say(`${type} for ${JSON.stringify(record["tool_id"])}, which is no open call`)
      else if (call.name !== record["tool_name"]) say(`${type} names tool ${String(record["tool_name"])}, the call ${String(call.name)}`)
      if (type === "tool_result" && typeof record["is_error"] !== "boolean") say("tool_result without is_error")
      if (type !== "tool_result") return run
      const ended = { ...run, open: run.open.filter((one) => one !== call) }
      return step === undefined || record["terminate"] !== true ? ended : { ...ended, step: { ...step, stops: [...step.stops, record["tool_id"]] } }
    }
    case "message": {
      if (record["role"] !== "assistant") {
        if (run.final || run.failed !== undefined) say("a message of the user after the run's final message or its error")
        return { ...run, heard: run.heard + 1 }
      }
      const final = record["final"]
      if (typeof final !== "boolean") say("an assistant message needs final")
      if (step === undefined && run.steps > 0) say("an assistant message outside a step")
      if (step?.said === true) say("a second assistant message in a step")
      if (run.final) say("an assistant message after the final one")
      if ((step?.calls ?? 0) > 0) say("an assistant message after the tool calls of its step")
      if (step !== undefined && !rewritten && step.deltas !== record["content"]) say("the message is not the text that was streamed")
      return { ...run, final: run.final || final === true, ...(step === undefined ? {} : { step: { ...step, said: true } }) }
    }
    case "step_end": {
      for (const { id } of run.open) say(`step_end before the result of ${id}`)
      if (step !== undefined && step.deltas !== "" && !step.said && step.calls > 0 && !rewritten) say("step_end before the message of the streamed text")
      const whole = step === undefined || step.said || step.calls > 0
      const stopped = step !== undefined && step.calls > 0 && step.stops.length === step.calls ? step.stops : undefined
      return { ...run, step: undefined, open: [], stopped, broken: whole ? "no" : "untold" }
    }
    case "error": {
      const number = run.steps - 1
      if (record["step"] !== number && record["step"] !== -1) say(`error names step ${String(record["step"])}, ${number} is expected`)
      return { ...run, failed: text(record["message"]) }
    }
    case "diagnostic":
      return run.broken === "untold" ? { ...run, broken: "told" } : run
    case "run_end": {
      if (step !== undefined) say("run_end within a step")
      for (const { id } of run.open) say(`run_end before the result of ${id}`)
      // A command's run has no step, and may have nothing to say.
      if (!run.final && run.stopped === undefined && run.failed === undefined && run.steps > 0) say("run_end without a final message or an error")
      if (record["answer"] !== undefined && run.stopped?.includes(record["answer"]) !== true) {
        say(`run_end names as its answer ${JSON.stringify(record["answer"])}, which is no result that ended the run`)
      }
      return undefined
    }
    default:
      return run
  }
}

/** The state after one more record. Its ids and requests are those of the state before, which is not used again. */
const stepRecord = (before: State, record: RecordObject): State => {
  const problems: Array<string> = []
  const say = (problem: string) => void problems.push(problem)
  const type = text(record["type"])
  const next = type === "session_start" && before.ended && before.run === undefined
  const state: State = next ? { ...before, ...fresh, ids: new Set() } : before
  const { index, mode } = state
  const session = state.session ?? record["session_id"]
  if (record["version"] !== 1) say("version is not 1")
  if (!known[mode].has(type)) say(`${String(record["type"])} is no record of ${mode === "rpc" ? "RPC" : "JSON"} mode`)
  if (index === 0 && type !== "session_start") say(`the first record is ${type}, not session_start`)
  if (index > 0 && type === "session_start" && !next) say("a second session_start")
  if (state.ended && !(mode === "rpc" && aside.has(type))) say(`${type} after session_end`)
  if (record["session_id"] === undefined ? !anonymous.has(type) : record["session_id"] !== session) say("session_id is not that of the session")
  if (state.run === undefined && inRun.has(type)) say(`${type} outside a run`)
  if (type === "response") state.requests.reply(record, say)
  if (type === "queue") state.requests.queue(record, say)
  const asks = type === "message" && record["role"] === "user"
  const says = type === "message" && record["role"] === "assistant"
  if (type === "message" && (!asks && !says || typeof record["content"] !== "string")) say("a message needs a role and content")
  if (says && state.run === undefined) say("an assistant message outside a run")
  if (type === "run_start" && state.run === undefined && record["prompt"] !== undefined && !state.asked) say("run_start before the user's message")
  if (type === "session_end") {
    if (state.run !== undefined) say("session_end within a run")
    state.requests.sessionEnded(say)
    if (state.asked) say("session_end before the run of the user's message")
    if (typeof record["success"] !== "boolean") say("session_end without success")
    else if (record["success"] && state.failed) say("session_end tells success after an error")
    else if (!record["success"] && !state.faulted) say("session_end tells failure, and nothing tells why")
  }
  if (type === "run_end" && mode === "rpc" && state.run !== undefined) state.requests.runEnded(record, state.run, say)
  const run = state.run !== undefined
    ? stepRun(state.run, record, state, say)
    : type === "run_start"
    ? { ids: record, step: undefined, steps: 0, open: [], final: false, stopped: undefined, failed: undefined, heard: 0, broken: "no" as const }
    : undefined
  if (type === "tool_call") state.ids.add(text(record["tool_id"]))
  return {
    ...state,
    index: index + 1,
    session,
    ended: state.ended || type === "session_end",
    asked: asks && state.run === undefined ? true : type === "run_start" ? false : state.asked,
    run,
    failed: state.failed || type === "error" && (mode === "json" || record["message"] !== interrupted),
    faulted: state.faulted || type === "error" || type === "diagnostic" && record["level"] === "error",
    violations: problems.length === 0 ? state.violations : [...state.violations, ...problems.map((problem) => ({ index, problem }))]
  }
}

/** Every broken rule of a whole stream, in order; empty when it is right. */
export const checkRecords = (stream: Iterable<RecordObject>, circumstances: Circumstances = {}): ReadonlyArray<Violation> => {
  let state = start(circumstances)
  for (const record of stream) state = stepRecord(state, record)
  const { ended, index, requests, violations } = state
  return [
    ...violations,
    ...(ended ? [] : [{ index, problem: "the stream ends without session_end" }]),
    ...requests.missing().map((problem) => ({ index, problem }))
  ]
}
