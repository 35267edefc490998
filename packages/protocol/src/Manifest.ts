/** The manifest of a program that extends the host: `extension.json` (seed 000, "The manifest"). */
import { Schema } from "effect"

/** A string that is not blank, trimmed on decoding. */
export const TrimmedName = Schema.Trim.check(Schema.isNonEmpty())

/** Whole seconds, one at least. */
export const PositiveSeconds = Schema.Int.check(Schema.isGreaterThan(0))

/**
 * What happens to a guarded action when this extension cannot answer: `open` lets it pass with a warning, `block`
 * refuses it. Applies to `tool_call` only.
 */
export const OnFailure = Schema.Literals(["open", "block"])
/** What happens to a guarded action when this extension cannot answer. */
export type OnFailure = typeof OnFailure.Type

/**
 * `extension.json`. The first three fields are seed 000's; the others are ours. Unknown keys are ignored.
 *
 * - `response_timeout_seconds`: absent = 30, null = no limit.
 * - `env`: names of withheld environment variables this extension may see.
 * - `restart: false`: never started again after a crash.
 * - `background`: the first model request does not wait for it.
 * - `max_line_bytes`: longest line sent to it.
 */
export const Manifest = Schema.Struct({
  name: TrimmedName,
  command: Schema.NonEmptyArray(Schema.NonEmptyString),
  response_timeout_seconds: Schema.optionalKey(Schema.NullOr(PositiveSeconds)),
  on_failure: Schema.optionalKey(OnFailure),
  env: Schema.optionalKey(Schema.Array(Schema.String)),
  restart: Schema.optionalKey(Schema.Boolean),
  background: Schema.optionalKey(Schema.Boolean),
  max_line_bytes: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0)))
})
/** `extension.json`, decoded. */
export type Manifest = typeof Manifest.Type
