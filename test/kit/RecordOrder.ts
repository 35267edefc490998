/**
 * Checks the records of JSON mode against the order of seed 002, as a small state machine: `stepRecord` takes one record,
 * `endRecords` the end of the stream, `checkRecords` a whole one. Nothing here does anything; the answer is a list of violations.
 */

/** One broken rule: at which record (from 0; the number of records for the end), and what is wrong. */
export interface Violation {
  readonly index: number
  readonly problem: string
}

/** A record as read: an object with at least a type. */
export type StreamRecord = Readonly<Record<string, unknown>>

interface Call {
  readonly id: string
  readonly name: unknown
  readonly step: number
}

interface Step {
  readonly number: number
  readonly deltas: string
  readonly calls: number
  readonly said: boolean
}

interface Run {
  readonly ids: StreamRecord
  readonly step: Step | undefined
  readonly steps: number
  readonly open: ReadonlyArray<Call>
  readonly final: boolean
  readonly failed: boolean
  /** The last step brought no whole answer: an error has to follow, or a diagnostic and the next attempt. */
  readonly broken: "no" | "untold" | "told"
}

/** What is known of the stream beside the records. */
export interface Circumstances {
  /** An extension may have changed finished answers (`message_end`): their text need not be what was streamed. */
  readonly rewritten?: boolean
}

interface State {
  readonly circumstances: Circumstances
  readonly index: number
  readonly session: unknown
  readonly ended: boolean
  readonly asked: boolean
  readonly run: Run | undefined
  readonly failed: boolean
  /** Something told that not all went well: an error, or a diagnostic of that level. */
  readonly faulted: boolean
  readonly ids: ReadonlySet<string>
  readonly violations: ReadonlyArray<Violation>
}

const start: Omit<State, "circumstances"> = { index: 0, session: undefined, ended: false, asked: false, run: undefined, failed: false, faulted: false, ids: new Set(), violations: [] }

const inStep = new Set(["message_delta", "thinking_delta", "tool_call", "tool_output_delta", "tool_result", "step_end"])
const inRun = new Set([...inStep, "step_start", "run_end", "error"])
const known = new Set([...inRun, "session_start", "session_end", "run_start", "message", "diagnostic"])

const text = (value: unknown): string => typeof value === "string" ? value : ""

/** A record inside a run: the run after it, and what was wrong. */
const stepRun = (run: Run, record: StreamRecord, { circumstances, ids }: State, say: (problem: string) => void): Run | undefined => {
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
      if (run.failed) say("step_start after an error")
      if (run.broken === "untold") say("a new attempt without a diagnostic")
      if (record["step"] !== run.steps) say(`step_start has number ${String(record["step"])}, ${run.steps} is the next`)
      return { ...run, broken: "no", steps: run.steps + 1, step: { number: run.steps, deltas: "", calls: 0, said: false } }
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
    case "tool_output_delta":
    case "tool_result": {
      const call = run.open.find(({ id }) => id === record["tool_id"])
      if (call === undefined) say(`${type} for ${JSON.stringify(record["tool_id"])}, which is no open call`)
      else if (call.name !== record["tool_name"]) say(`${type} names tool ${String(record["tool_name"])}, the call ${String(call.name)}`)
      if (type === "tool_result" && typeof record["is_error"] !== "boolean") say("tool_result without is_error")
      return type === "tool_result" ? { ...run, open: run.open.filter((one) => one !== call) } : run
    }
    case "message": {
      if (record["role"] !== "assistant") return run
      const final = record["final"]
      if (typeof final !== "boolean") say("an assistant message needs final")
      if (step === undefined && run.steps > 0) say("an assistant message outside a step")
      if (step?.said === true) say("a second assistant message in a step")
      if (run.final) say("an assistant message after the final one")
      if ((step?.calls ?? 0) > 0) say("an assistant message after the tool calls of its step")
      if (step !== undefined && circumstances.rewritten !== true && step.deltas !== record["content"]) say("the message is not the text that was streamed")
      return { ...run, final: run.final || final === true, ...(step === undefined ? {} : { step: { ...step, said: true } }) }
    }
    case "step_end": {
      for (const { id } of run.open) say(`step_end before the result of ${id}`)
      if (step !== undefined && step.deltas !== "" && !step.said && step.calls > 0 && circumstances.rewritten !== true) say("step_end before the message of the streamed text")
      const whole = run.final || step === undefined || step.calls > 0
      return { ...run, step: undefined, open: [], broken: whole ? "no" : "untold" }
    }
    case "error": {
      const number = run.steps - 1
      if (record["step"] !== number && record["step"] !== -1) say(`error names step ${String(record["step"])}, ${number} is expected`)
      return { ...run, failed: true }
    }
    case "diagnostic":
      return run.broken === "untold" ? { ...run, broken: "told" } : run
    case "run_end": {
      if (step !== undefined) say("run_end within a step")
      for (const { id } of run.open) say(`run_end before the result of ${id}`)
      // A command's run has no step, and may have nothing to say.
      if (!run.final && !run.failed && run.steps > 0) say("run_end without a final message or an error")
      return undefined
    }
    default:
      return run
  }
}

/** The state after one more record. */
const stepRecord = (state: State, record: StreamRecord): State => {
  const problems: Array<string> = []
  const say = (problem: string) => void problems.push(problem)
  const type = record["type"]
  const session = state.session ?? record["session_id"]
  if (record["version"] !== 1) say("version is not 1")
  if (typeof type !== "string" || !known.has(type)) say(`${String(type)} is no record of JSON mode`)
  if (state.index === 0 && type !== "session_start") say(`the first record is ${String(type)}, not session_start`)
  if (state.index > 0 && type === "session_start") say("a second session_start")
  if (state.ended) say(`${String(type)} after session_end`)
  if (record["session_id"] === undefined ? type !== "diagnostic" : record["session_id"] !== session) say("session_id is not that of the session")
  if (state.run === undefined && typeof type === "string" && inRun.has(type)) say(`${type} outside a run`)
  const asks = type === "message" && record["role"] === "user"
  const says = type === "message" && record["role"] === "assistant"
  if (type === "message" && (!asks && !says || typeof record["content"] !== "string")) say("a message needs a role and content")
  if (says && state.run === undefined) say("an assistant message outside a run")
  if (type === "run_start" && state.run === undefined && record["prompt"] !== undefined && !state.asked) say("run_start before the user's message")
  if (type === "session_end") {
    if (state.run !== undefined) say("session_end within a run")
    if (state.asked) say("session_end before the run of the user's message")
    if (typeof record["success"] !== "boolean") say("session_end without success")
    else if (record["success"] && state.failed) say("session_end tells success after an error")
    else if (!record["success"] && !state.faulted) say("session_end tells failure, and nothing tells why")
  }
  const run = state.run !== undefined
    ? stepRun(state.run, record, state, say)
    : type === "run_start"
    ? { ids: record, step: undefined, steps: 0, open: [], final: false, failed: false, broken: "no" as const }
    : undefined
  return {
    circumstances: state.circumstances,
    index: state.index + 1,
    session,
    ended: state.ended || type === "session_end",
    asked: asks && state.run === undefined ? true : type === "run_start" ? false : state.asked,
    run,
    failed: state.failed || type === "error",
    faulted: state.faulted || type === "error" || type === "diagnostic" && record["level"] === "error",
    ids: type === "tool_call" ? new Set([...state.ids, text(record["tool_id"])]) : state.ids,
    violations: [...state.violations, ...problems.map((problem) => ({ index: state.index, problem }))]
  }
}

/** Every broken rule of a whole stream, in order; empty when it is right. */
export const checkRecords = (stream: ReadonlyArray<StreamRecord>, circumstances: Circumstances = {}): ReadonlyArray<Violation> => {
  const { ended, index, violations } = stream.reduce(stepRecord, { ...start, circumstances })
  return ended ? violations : [...violations, { index, problem: "the stream ends without session_end" }]
}
