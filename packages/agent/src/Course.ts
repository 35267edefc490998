/**
 * How a run goes on after an answer, so that none goes on for ever: blank and cut answers, calls that fail again and again,
 * a limit of steps. Pure.
 */
import type * as Response from "effect/ai/Response"

/** What the run remembers of its answers so far. */
export interface Course {
  /** The model was asked once more, since its answer was blank. */
  readonly nudged: boolean
  /** Answers in a row that the output limit cut off, or the provider paused. */
  readonly cuts: number
  /** The calls of the last steps, in each of which all failed, and how often each step's were made. */
  readonly failing: ReadonlyMap<string, number>
}

/** What comes after an answer. `say` is for the model alone and not kept; `told` is for people. */
export type Verdict =
  | { readonly _tag: "Done" }
  | { readonly _tag: "GoOn"; readonly say?: string; readonly told?: string }
  | { readonly _tag: "Fail"; readonly why: string }

/** Nothing was answered yet. */
export const atStart: Course = { nudged: false, cuts: 0, failing: new Map() }

const mostCuts = 8
const mostFailures = 5
/** So many different steps that failed are kept in mind. */
const mostKept = 64

const blank = "Your last answer was empty. Answer the user, or call a tool."
const cut = "Your answer was cut off at the output limit. Go on exactly where it stopped, without repeating anything."
const paused = "Your answer was paused. Go on exactly where it stopped, without repeating anything."

/** Judges an answer: its text, whether it calls tools, and how it ended. */
export const judge = (
  course: Course,
  { calls, finish, text }: { readonly calls: number; readonly finish: Response.FinishReason; readonly text: string }
): readonly [Course, Verdict] => {
  if (calls > 0) return [{ ...atStart, failing: course.failing }, { _tag: "GoOn" }]
  const isBlank = text.trim() === ""
  if (finish === "content-filter") return [course, { _tag: "Fail", why: "The provider's content filter, or the model itself, refused to go on with the answer." }]
  if (finish === "length" || finish === "pause") {
    const cuts = course.cuts + 1
    const [say, what] = finish === "pause" ? [paused, "paused by the provider"] : [cut, "cut off at the model's output limit"]
    return [{ ...course, cuts }, cuts >= mostCuts ? { _tag: "Fail", why: `The answer was ${what} ${mostCuts} times in a row.` } : { _tag: "GoOn", say, told: `The answer was ${what}; going on` }]
  }
  if (!isBlank) return [course, { _tag: "Done" }]
  return course.nudged
    ? [course, { _tag: "Fail", why: "The model stopped without a user-facing answer." }]
    : [{ ...course, nudged: true }, { _tag: "GoOn", say: blank, told: "The answer was blank; asking once more" }]
}

/**
 * Takes note of a step's calls: their text, and whether all of them failed. A reason to stop when the same ones come again
 * and again with nothing between that went well.
 */
export const noteCalls = (course: Course, calls: string, allFailed: boolean): readonly [Course, string | undefined] => {
  if (!allFailed) return [{ ...course, failing: atStart.failing }, undefined]
  const times = (course.failing.get(calls) ?? 0) + 1
  const failing = new Map([...course.failing, [calls, times] as const].slice(-mostKept))
  return [{ ...course, failing }, times >= mostFailures ? `The model made the same failing call ${mostFailures} times, and nothing else that went well.` : undefined]
}
