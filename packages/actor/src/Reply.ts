/** The address an asker waits at. It travels inside the message; the actor settles it once. */
import { Deferred, Effect, Exit } from "effect"
import { type ActorStopped, AskTimeout, type MailboxFull } from "./ActorError.ts"

/** What a mailbox needs to know of an ask, whatever its types. */
export interface Asked {
  /** The asker is gone: a queued message is skipped. */
  readonly isAbandoned: boolean
  /** Called when the actor takes the message; `forget` runs once it is settled or given up. */
  readonly taken: (forget: () => void) => void
  /** Ends the ask from outside the actor. */
  readonly refuse: (error: MailboxFull | ActorStopped) => void
}

/** One ask. The first settlement counts, later ones do nothing; settling an abandoned ask does nothing either. */
export class Reply<in out A, in out E = never> implements Asked {
  #deferred = Deferred.makeUnsafe<A, E | MailboxFull | ActorStopped | AskTimeout>()
  #open = true
  #abandoned = false
  #wasTaken = false
  #forget: (() => void) | undefined
  #onAbandon: (() => void) | undefined

  /** The asker stopped waiting: interrupted, or out of budget. */
  get isAbandoned(): boolean {
    return this.#abandoned
  }

  /** Neither settled nor given up. */
  get isOpen(): boolean {
    return this.#open
  }

  /** Answers. */
  succeed(value: A): Effect.Effect<void> {
    return this.done(Exit.succeed(value))
  }

  /** Answers with a failure. */
  fail(error: E): Effect.Effect<void> {
    return this.done(Exit.fail(error))
  }

  /** Answers with the outcome of work done for the asker. */
  done(exit: Exit.Exit<A, E>): Effect.Effect<void> {
    return Effect.sync(() => this.#settle(exit))
  }

  /** Completes when the asker stops waiting; never, if it gets its reply. */
  get abandoned(): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      if (this.#abandoned) resume(Effect.void)
      else this.#onAbandon = () => resume(Effect.void)
    })
  }

  /** @internal */
  taken(forget: () => void): void {
    this.#wasTaken = true
    this.#forget = forget
  }

  /** @internal */
  refuse(error: MailboxFull | ActorStopped | AskTimeout): void {
    if (error instanceof AskTimeout) Deferred.doneUnsafe(this.#deferred, Effect.fail(error))
    else this.#settle(Exit.fail(error))
  }

  /** @internal The asker's side of the wait. */
  get outcome(): Effect.Effect<A, E | MailboxFull | ActorStopped | AskTimeout> {
    return Deferred.await(this.#deferred)
  }

  /** @internal Gives up if still open; says whether the actor has the message and should hear of it. */
  abandon(): boolean {
    if (!this.#open) return false
    this.#open = false
    this.#abandoned = true
    this.#forget?.()
    this.#onAbandon?.()
    return this.#wasTaken
  }

  #settle(exit: Exit.Exit<A, E | MailboxFull | ActorStopped>): void {
    if (!this.#open) return
    this.#open = false
    this.#forget?.()
    Deferred.doneUnsafe(this.#deferred, exit)
  }
}
