/** Everything that can go wrong with an extension, as values. */
import { Schema } from "effect"

/** The extension could not be started: no process, no `register` in time, or an invalid one. No restart follows. */
export class StartFailed extends Schema.TaggedError<StartFailed>()("StartFailed", {
  extension: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `extension '${this.extension}' failed to start: ${this.reason}`
  }
}

/** The running extension went away without being asked to; the supervisor restarts it. */
export class ExtensionCrashed extends Schema.TaggedError<ExtensionCrashed>()("ExtensionCrashed", {
  extension: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `extension '${this.extension}' ${this.reason}`
  }
}

/** It left several requests in a row unanswered: each further one would be waited for in vain. It stays off. */
export class ExtensionMute extends Schema.TaggedError<ExtensionMute>()("ExtensionMute", {
  extension: Schema.String,
  requests: Schema.Number
}) {
  /** What it did. */
  get reason(): string {
    return `left ${this.requests} requests in a row without an answer`
  }
  override get message(): string {
    return `extension '${this.extension}' ${this.reason}`
  }
}

/** Why a request got no reply. */
export const CallFailure = Schema.Literals(["timeout", "crashed", "unavailable", "busy", "too_large", "unknown", "threw", "failed"])
/** Why a request got no reply. */
export type CallFailure = typeof CallFailure.Type

/**
 * A tool, command or event request got no reply: `timeout` (budget spent), `crashed` (it died while asked),
 * `unavailable` (starting, restarting, quarantined or stopped), `busy` (too many requests open or its input is
 * clogged), `too_large` (the line is over its `max_line_bytes`), `unknown` (no extension offers that name), `threw` (its
 * handler did; `detail` is what), `failed` (it says so itself; `detail` is how).
 */
export class CallFailed extends Schema.TaggedError<CallFailed>()("CallFailed", {
  extension: Schema.String,
  reason: CallFailure,
  /** Of a `timeout`: the budget that was spent. */
  seconds: Schema.optionalKey(Schema.Number),
  /** Of `unavailable`: a person was told why it is down. */
  told: Schema.optionalKey(Schema.Literal(true)),
  /** Of `threw` and `failed`: what. Of `unavailable`: why, and what helps. Of `too_large`: which request. */
  detail: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    switch (this.reason) {
      case "timeout":
        return "extension response timed out"
      case "crashed":
        return `extension '${this.extension}' exited before responding`
      case "unavailable":
        return `extension '${this.extension}' is not running${this.detail === undefined ? "" : `: ${this.detail}`}`
      case "busy":
        return `extension '${this.extension}' does not take more requests`
      case "too_large":
        return `the request is too large for extension '${this.extension}'${this.detail === undefined ? "" : `: ${this.detail} is over its max_line_bytes`}`
      case "unknown":
        return `no extension offers '${this.extension}'`
      case "threw":
        return `extension '${this.extension}' threw ${this.detail ?? "an error"}`
      case "failed":
        return `extension '${this.extension}': ${this.detail ?? "it failed"}`
    }
  }
}

/** A failed request as a sentence that names the extension. */
export const toldOf = ({ extension, message, reason, seconds }: CallFailed): string =>
  reason !== "timeout" ? message
    : `extension '${extension}': ${message}${seconds === undefined ? "" : ` after ${seconds} s (response_timeout_seconds says how long it may take)`}`
