/** What handlers of an extension may give back, and running them. */
import { Effect, Schema } from "effect"

/** A value, a promise of one, or an effect; what it fails with is told to the host. */
export type Outcome<A> = A | Promise<A> | Effect.Effect<A, unknown>

/** A handler threw, rejected or failed; `reason` is what the host reads. */
export class HandlerFailed extends Schema.TaggedError<HandlerFailed>()("HandlerFailed", { reason: Schema.String }) {
  override get message(): string {
    return this.reason
  }
}

const textOf = (error: unknown): string =>
  error instanceof Error && error.message !== "" ? error.message : typeof error === "string" ? error : JSON.stringify(error) ?? String(error)

/** What went wrong, whatever it is. */
export const failedBy = (error: unknown): HandlerFailed => new HandlerFailed({ reason: textOf(error) || "failed" })

/** Runs a handler. Interrupting it aborts `controller`, by which a promise hears of it. Defects are failures like any other. */
export const runHandler = <A>(handler: () => Outcome<A>, controller: AbortController): Effect.Effect<A, HandlerFailed> =>
  Effect.try({ try: () => ({ outcome: handler() }), catch: failedBy }).pipe(
    Effect.flatMap(({ outcome }): Effect.Effect<A, HandlerFailed> => {
      if (Effect.isEffect(outcome)) return Effect.mapError(outcome, failedBy)
      return outcome instanceof Promise ? Effect.tryPromise({ try: () => outcome, catch: failedBy }) : Effect.succeed(outcome)
    }),
    Effect.onInterrupt(() => Effect.sync(() => controller.abort())),
    Effect.catchDefect((defect) => Effect.fail(failedBy(defect)))
  )
