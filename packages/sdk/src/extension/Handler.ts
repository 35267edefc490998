/** What handlers of an extension may give back, and running them. */
import { Effect } from "effect"

/** A value, a promise of one, or an effect; what it fails with is told to the host. */
export type Outcome<A> = A | Promise<A> | Effect.Effect<A, unknown>

/** What went wrong in a handler, as the host reads it. */
export const messageOf = (error: unknown): string =>
  error instanceof Error && error.message !== "" ? error.message : typeof error === "string" ? error : JSON.stringify(error) ?? String(error)

const thrown = (error: unknown) => error

/** Runs a handler. Interrupting it aborts `controller`, by which a promise hears of it. Defects are failures like any other. */
export const runHandler = <A>(handler: () => Outcome<A>, controller: AbortController): Effect.Effect<A, unknown> =>
  Effect.try({ try: handler, catch: thrown }).pipe(
    Effect.flatMap((outcome): Effect.Effect<A, unknown> =>
      Effect.isEffect(outcome)
        ? outcome
        : outcome instanceof Promise
        ? Effect.tryPromise({ try: () => outcome, catch: thrown })
        : Effect.succeed(outcome)),
    Effect.onInterrupt(() => Effect.sync(() => controller.abort())),
    Effect.catchDefect(Effect.fail)
  )
