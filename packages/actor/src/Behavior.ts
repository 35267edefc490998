/** Ready-made behaviors for actors that live inside this process. */
import { Effect, Semaphore } from "effect"
import type { Behavior } from "./ChildSpec.ts"
import type { Reply } from "./Reply.ts"

/** Handles one message after another, in order; a failing handler is a crash. */
export const receive = <M, E, R>(handler: (message: M) => Effect.Effect<void, E, R>): Behavior<M, E, R> => (self) =>
  Effect.andThen(self.ready, Effect.forever(Effect.flatMap(self.take, handler)))

/** The same with a state of its own, handed from message to message; each life begins with `initial`. */
export const fold = <S, M, E, R>(
  initial: S,
  handler: (state: S, message: M) => Effect.Effect<S, E, R>
): Behavior<M, E, R> => (self) =>
  Effect.suspend(() => {
    let state = initial
    return receive((message: M) => Effect.map(handler(state, message), (next) => {
      state = next
    }))(self)
  })

/** A request with its reply address, as `serve` handles it. */
export interface Request<A, B, E = never> {
  readonly value: A
  readonly reply: Reply<B, E>
}

/**
 * Answers requests, at most `concurrency` at a time; the rest wait in the mailbox. A handler's failure or defect is its
 * asker's, and it is interrupted when its asker gives up.
 */
export const serve = <A, B, E, R>(
  options: { readonly concurrency: number },
  handler: (value: A) => Effect.Effect<B, E, R>
): Behavior<Request<A, B, E>, never, R> => (self) =>
  Effect.gen(function*() {
    const permits = yield* Semaphore.make(options.concurrency)
    yield* self.ready
    return yield* Effect.scoped(Effect.forever(Effect.gen(function*() {
      yield* permits.take(1)
      const { reply, value } = yield* self.take
      yield* Effect.raceFirst(Effect.exit(handler(value)), Effect.andThen(reply.abandoned, Effect.interrupt)).pipe(
        Effect.flatMap((exit) => reply.done(exit)),
        Effect.ensuring(permits.release(1)),
        Effect.forkScoped
      )
    })))
  })
