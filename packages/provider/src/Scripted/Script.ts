/** The JSON of a script for the `scripted` model (`--script`), and its reading. Pure. */
import { Effect, Predicate, Result, Schema } from "effect"
import * as SchemaIssue from "effect/SchemaIssue"
import { ScriptInvalid } from "../ProviderError.ts"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Times = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))
const FinishReason = Schema.Literals(["stop", "length", "content-filter", "tool-calls", "other"])

/** A tool call. `args` is an object as a rule; a string stands for arguments that are no JSON. */
export const ScriptCall = Schema.Struct({
  name: Schema.String,
  args: Schema.optionalKey(Schema.Unknown),
  id: Schema.optionalKey(Schema.String)
})

/**
 * One answer of the model. In this order: wait, thinking, text, tool calls, then `error` if there is one (so text before
 * an error is an answer that breaks off), else the finish.
 */
export const ScriptStep = Schema.Struct({
  /** Waited for before anything comes, in milliseconds of Effect's clock. */
  delay_ms: Schema.optionalKey(Count),
  thinking: Schema.optionalKey(Schema.String),
  /** The text, in one delta; with `deltas` a number, each delta's text. */
  text: Schema.optionalKey(Schema.String),
  /** Deltas one by one, or how many of `text` (default `"word "`). */
  deltas: Schema.optionalKey(Schema.Union([Schema.Array(Schema.String), Times])),
  /** How many deltas come at once; default 1. */
  chunk: Schema.optionalKey(Times),
  /** Waited for between chunks of deltas. */
  chunk_delay_ms: Schema.optionalKey(Count),
  tool: Schema.optionalKey(Schema.String),
  args: Schema.optionalKey(Schema.Unknown),
  tools: Schema.optionalKey(Schema.Array(ScriptCall)),
  usage: Schema.optionalKey(Schema.Struct({
    input: Schema.optionalKey(Count),
    output: Schema.optionalKey(Count),
    cache_read: Schema.optionalKey(Count),
    cache_write: Schema.optionalKey(Count)
  })),
  /** A failure: a sentence (not retryable), or the answer of an HTTP status; `retry_after` in seconds. */
  error: Schema.optionalKey(Schema.Union([
    Schema.String,
    Schema.Struct({ message: Schema.String, status: Schema.optionalKey(Schema.Int), retry_after: Schema.optionalKey(Schema.Finite) })
  ])),
  /** Default `tool-calls` when there are any, else `stop`. */
  finish: Schema.optionalKey(FinishReason),
  /** The step is played so many times; default 1. */
  repeat: Schema.optionalKey(Times)
})
/** One answer of the model. */
export type ScriptStep = typeof ScriptStep.Type

/** A script: its steps, one a model request, repeats written out by the player. */
export interface Script {
  readonly steps: ReadonlyArray<ScriptStep>
}

const decodeStep = Schema.decodeUnknownResult(ScriptStep, { onExcessProperty: "error" })
const issues = SchemaIssue.makeFormatterStandardSchemaV1()

const stepProblem = (file: string, step: number, error: Schema.SchemaError): ScriptInvalid => {
  const first = issues(error.issue).issues[0]
  const field = (first?.path ?? []).map((key) => String(Predicate.isObject(key) && "key" in key ? key.key : key)).join(".")
  return new ScriptInvalid({ file, step, field, problem: first?.message ?? "is wrong" })
}

/** Reads the text of a script. Fails with `ScriptInvalid`, naming `file`, the step (from 1) and its field. */
export const parseScript = (text: string, file: string): Effect.Effect<Script, ScriptInvalid> => {
  const fail = (problem: string, field?: string) => Effect.fail(new ScriptInvalid({ file, problem, ...(field === undefined ? {} : { field }) }))
  const json = Result.try(() => JSON.parse(text) as unknown)
  if (Result.isFailure(json)) return fail(`is no JSON: ${json.failure instanceof Error ? json.failure.message : String(json.failure)}`)
  const steps = Predicate.hasProperty(json.success, "steps") ? json.success.steps : undefined
  if (!Array.isArray(steps)) return fail("is no array", "steps")
  return Effect.map(
    Effect.forEach(steps, (step, index) => Effect.fromResult(Result.mapError(decodeStep(step), (error) => stepProblem(file, index + 1, error)))),
    (decoded): Script => ({ steps: decoded })
  )
}
