/** One queue a file for all workers of a session: a lease is held until it is given back or its holder is gone. */
import { Deferred, Effect, Exit, Scope } from "effect"
import { FileQueue } from "@nimlet/tools"

/** The leases of one worker; closing `scope` gives them all back. */
export class FileLeases {
  readonly #scope: Scope.Scope
  readonly #held = new Map<string, Deferred.Deferred<void>>()
  #last = 0

  /** Nothing is held. */
  constructor(scope: Scope.Scope) {
    this.#scope = scope
  }

  /** Waits for the file's turn; gives the lease. Interrupting it leaves the queue. */
  readonly acquire = (path: string): Effect.Effect<string> =>
    Effect.gen({ self: this }, function*() {
      const locks = yield* FileQueue
      const lease = String(++this.#last)
      const begun = yield* Deferred.make<void>()
      const done = yield* Deferred.make<void>()
      const inner = yield* Scope.fork(this.#scope)
      const holding = locks.exclusively(path, Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(done)))
      yield* Effect.forkIn(Effect.ensuring(holding, Effect.sync(() => this.#held.delete(lease))), inner)
      this.#held.set(lease, done)
      yield* Effect.onInterrupt(Deferred.await(begun), () => Scope.close(inner, Exit.void))
      return lease
    })

  /** Gives a lease back; one that is not held is nothing. */
  readonly release = (lease: unknown): Effect.Effect<void> => {
    const done = typeof lease === "string" ? this.#held.get(lease) : undefined
    return done === undefined ? Effect.void : Effect.asVoid(Deferred.succeed(done, undefined))
  }
}
