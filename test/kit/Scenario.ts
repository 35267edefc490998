/**
 * What the model stub answers: a list of steps, one a model request. Plain JSON, so that a scenario is a file as well as
 * a literal in a test. `expand` turns it into one move a request.
 */

/** Tokens of one answer. `input` counts what was neither read from nor written to the cache. */
export interface StubUsage {
  readonly input?: number
  readonly output?: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
}

/**
 * One tool call of an answer. `args` is any JSON value, or a string sent as it stands (half JSON, for instance). An id is
 * made when none is given; `""` and repeated ids are sent as asked.
 */
export interface StubTool {
  readonly name: string
  readonly args?: unknown
  readonly id?: string
}

/**
 * One step. Its answer is made of `thinking`, then `text` or `deltas`, then `tools`, in this order. The rest are faults and
 * manners. A faulty step serves one request; with `times: n` it serves n faulty ones and then, if it has an answer, one
 * whole one.
 */
export interface Step {
  readonly thinking?: string
  readonly text?: string
  /** Text events as given, or `count` of them where `{i}` in `chunk` is 0, 1, 2, … */
  readonly deltas?: ReadonlyArray<string> | { readonly count: number; readonly chunk: string }
  readonly tools?: ReadonlyArray<StubTool>
  readonly usage?: StubUsage
  /** How the answer ends when not by itself: token limit or content filter. */
  readonly finish?: "length" | "filter"
  /** An HTTP error in the provider's shape, or with `body` as it stands; `retryAfter` is the header, in seconds. */
  readonly status?: number
  readonly retryAfter?: number
  readonly body?: unknown
  /** Destroys the connection after so many events. */
  readonly cutAfter?: number
  /** Puts an event that is no JSON after so many events (`true`: after one). */
  readonly garble?: boolean | number
  /** Sends the provider's in-stream error after so many events and ends the stream. */
  readonly failAfter?: number
  /** Never answers (`true`), or falls silent after so many events, until the client goes. */
  readonly hang?: boolean | number
  /** How many faulty requests this step serves. */
  readonly times?: number
  /** Waits before the first byte of the answer. */
  readonly delayMs?: number
  /** Waits after each write. */
  readonly pauseMs?: number
  /** Events in one write; 1 with `pauseMs`, else 32. */
  readonly burst?: number
  /** Writes the body in pieces of so many bytes, each one flushed. */
  readonly split?: "everyByte" | number
  /** Records when each text event was written. */
  readonly stamp?: boolean
  /** Serves the step again and again, `{i}` in its strings being 1, 2, 3, …; `"always"` never ends. */
  readonly repeat?: number | "always"
}

/** A scenario: steps in order, or an object holding them (the form of a file). */
export type Scenario = ReadonlyArray<Step> | { readonly steps: ReadonlyArray<Step> }

/** What one request gets: a step, with its faults or without. */
export interface Move {
  readonly step: Step
  readonly faulty: boolean
}

const keys = new Set<string>([
  "thinking", "text", "deltas", "tools", "usage", "finish", "status", "retryAfter", "body", "cutAfter", "garble", "failAfter",
  "hang", "times", "delayMs", "pauseMs", "burst", "split", "stamp", "repeat"
] satisfies ReadonlyArray<keyof Step>)

const hasAnswer = (step: Step): boolean =>
  step.text !== undefined || step.deltas !== undefined || step.thinking !== undefined || step.tools !== undefined

const hasFault = (step: Step): boolean =>
  step.status !== undefined || step.cutAfter !== undefined || step.failAfter !== undefined ||
  (step.garble ?? false) !== false || (step.hang ?? false) !== false

const fill = (value: unknown, i: number): unknown => {
  if (typeof value === "string") return value.replaceAll("{i}", String(i))
  if (Array.isArray(value)) return value.map((item) => fill(item, i))
  if (value === null || typeof value !== "object") return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, i)]))
}

/** The step as its n-th repetition: `{i}` filled in everywhere but in a delta chunk, which counts for itself. */
const nth = (step: Step, i: number): Step => {
  if (step.repeat === undefined) return step
  const filled = fill(step, i) as Step
  return step.deltas === undefined || Array.isArray(step.deltas) ? filled : { ...filled, deltas: step.deltas }
}

/** The moves of a scenario, lazily. Throws on a step with a key it does not know or with nothing to do. */
export function* expand(scenario: Scenario): Generator<Move> {
  const steps: ReadonlyArray<Step> = "steps" in scenario ? scenario.steps : scenario
  for (const step of steps) {
    const unknown = Object.keys(step).filter((key) => !keys.has(key))
    if (unknown.length > 0) throw new Error(`scenario: unknown key ${unknown.join(", ")}`)
    if (!hasAnswer(step) && !hasFault(step)) throw new Error("scenario: a step needs an answer or a fault")
  }
  for (const step of steps) {
    const count = step.repeat === "always" ? Infinity : step.repeat ?? 1
    for (let i = 1; i <= count; i++) {
      const move = nth(step, i)
      if (!hasFault(move)) {
        yield { step: move, faulty: false }
        continue
      }
      for (let n = 0; n < (move.times ?? 1); n++) yield { step: move, faulty: true }
      if (move.times !== undefined && hasAnswer(move)) yield { step: move, faulty: false }
    }
  }
}

/** Text in pieces of `size` code points, as a model would stream it. */
export const pieces = (text: string, size: number): ReadonlyArray<string> => {
  const points = Array.from(text)
  return Array.from({ length: Math.ceil(points.length / size) }, (_, k) => points.slice(k * size, (k + 1) * size).join(""))
}

/** The text events of a step. */
export const textOf = (step: Step): ReadonlyArray<string> => {
  const { deltas } = step
  if (deltas === undefined) return pieces(step.text ?? "", 8)
  if (!("count" in deltas)) return deltas
  return Array.from({ length: deltas.count }, (_, i) => deltas.chunk.replaceAll("{i}", String(i)))
}
