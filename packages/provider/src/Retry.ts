/**
 * When a failed model request is tried again, and after how long. A policy only: whoever runs the turn waits,
 * shows that it waits, and throws away what the dead attempt had said.
 */
import { Duration, Effect, Option, Predicate, Random } from "effect"
import type * as AiError from "effect/ai/AiError"

/** The numbers of the policy. */
export interface RetryPolicy {
  /** Attempts after the first; default 2. */
  readonly retries: number
  /** The wait before the first retry, doubled for each further one; default 1 s. */
  readonly base: Duration.Input
  /** The longest wait of our own choosing; default 30 s. */
  readonly longest: Duration.Input
  /** A provider that asks for more than this is not waited for; default 60 s. */
  readonly longestAsked: Duration.Input
}

/** The policy used when none is given. */
export const defaultRetryPolicy: RetryPolicy = { retries: 2, base: "1 second", longest: "30 seconds", longestAsked: "60 seconds" }

/** The wait the provider asked for with `retry-after`, if it did. */
export const retryAfterOf = (error: AiError.AiError): Duration.Duration | undefined => {
  if (error.retryAfter !== undefined) return error.retryAfter
  const own = Predicate.hasProperty(error.reason, "metadata") && Predicate.hasProperty(error.reason.metadata, "nimlet")
    ? error.reason.metadata.nimlet
    : undefined
  return Predicate.hasProperty(own, "retryAfterMs") && typeof own.retryAfterMs === "number" ? Duration.millis(own.retryAfterMs) : undefined
}

/**
 * How long to wait before the attempt after `attempt` (1 = the first one failed); `None` when there shall be none: the
 * error is not retryable, the retries are used up, or the provider asked for a longer wait than `longestAsked`. What a
 * provider asks for is kept to, with up to a tenth on top; otherwise the wait is drawn between half and all of
 * `base * 2^(attempt-1)`. Both draws are from Effect's `Random`.
 */
export const retryDelay = Effect.fnUntraced(function*(
  error: AiError.AiError,
  attempt: number,
  policy: RetryPolicy = defaultRetryPolicy
): Effect.fn.Return<Option.Option<Duration.Duration>> {
  if (!error.isRetryable || attempt > policy.retries) return Option.none()
  const asked = retryAfterOf(error)
  const draw = yield* Random.next
  if (asked !== undefined) {
    return Duration.isGreaterThan(asked, Duration.fromInputUnsafe(policy.longestAsked))
      ? Option.none()
      : Option.some(Duration.times(asked, 1 + draw / 10))
  }
  const full = Duration.min(Duration.times(Duration.fromInputUnsafe(policy.base), 2 ** (attempt - 1)), Duration.fromInputUnsafe(policy.longest))
  return Option.some(Duration.times(full, 0.5 + draw / 2))
})
