/** A bounded, typed queue of messages with a named overflow policy. */
import { Effect, Queue } from "effect"
import { ActorStopped, MailboxFull } from "./ActorError.ts"
import type { Asked } from "./Reply.ts"

/**
 * What happens to a message that finds the mailbox full:
 * - `suspend`: the sender waits for room;
 * - `reject`: the message is refused with `full`;
 * - `dropOldest`: the oldest message makes room; if it was an ask, that ask fails with `MailboxFull`.
 */
export type Overflow = "suspend" | "reject" | "dropOldest"

/** What became of an offered message. */
export type Offer = "accepted" | "full" | "closed"

/** How a mailbox is made. */
export interface MailboxOptions {
  readonly capacity: number
  readonly overflow: Overflow
}

interface Envelope<M> {
  readonly message: M
  readonly asked: Asked | undefined
}

/** FIFO for each sender; messages whose asker is gone are skipped. Closing it ends every ask it holds or gave out. */
export class Mailbox<in out M> {
  readonly #actor: string
  readonly #queue: Queue.Queue<Envelope<M>>
  readonly #options: MailboxOptions
  readonly #outstanding = new Set<Asked>()
  #closed = false

  private constructor(actor: string, queue: Queue.Queue<Envelope<M>>, options: MailboxOptions) {
    this.#actor = actor
    this.#queue = queue
    this.#options = options
  }

  /** A new, open mailbox of actor `actor`. */
  static make<M>(actor: string, options: MailboxOptions): Effect.Effect<Mailbox<M>> {
    return Effect.map(Queue.bounded<Envelope<M>>(options.capacity), (queue) => new Mailbox(actor, queue, options))
  }

  /** Puts a message in, following the overflow policy. */
  offer(message: M, asked?: Asked): Effect.Effect<Offer> {
    return Effect.suspend(() => {
      const now = this.offerUnsafe(message, asked)
      if (now !== undefined) return Effect.succeed(now)
      const waited = Queue.offer(this.#queue, { message, asked })
      // Closing lets waiting messages in, only to refuse them.
      return Effect.map(waited, (accepted) => accepted && !this.#closed ? "accepted" as const : "closed" as const)
    })
  }

  /** The part of `offer` that needs no waiting; `undefined` = the sender would have to wait. */
  offerUnsafe(message: M, asked?: Asked): Offer | undefined {
    if (this.#closed) return "closed"
    if (this.#options.overflow === "dropOldest" && Queue.isFullUnsafe(this.#queue)) {
      this.#takeNow()?.asked?.refuse(new MailboxFull({ actor: this.#actor }))
    }
    if (Queue.offerUnsafe(this.#queue, { message, asked })) return "accepted"
    return this.#options.overflow === "suspend" ? undefined : "full"
  }

  /** The next message of a living asker or teller; waits for one. Interrupted when the mailbox closes. */
  get take(): Effect.Effect<M> {
    return Effect.flatMap(Queue.take(this.#queue), ({ asked, message }) => {
      if (asked === undefined) return Effect.succeed(message)
      if (asked.isAbandoned) return this.take
      this.#outstanding.add(asked)
      asked.taken(() => this.#outstanding.delete(asked))
      return Effect.succeed(message)
    })
  }

  /** Messages waiting, dead ones included. */
  get size(): number {
    return Queue.sizeUnsafe(this.#queue)
  }

  /** Asks taken and not yet settled. */
  get outstanding(): number {
    return this.#outstanding.size
  }

  /** Refuses further messages and fails every open ask with `ActorStopped`. Repeating it does nothing. */
  get close(): Effect.Effect<void> {
    return Effect.sync(() => {
      if (this.#closed) return
      this.#closed = true
      const stopped = new ActorStopped({ actor: this.#actor })
      for (const asked of this.#outstanding) asked.refuse(stopped)
      for (let left = this.#takeNow(); left !== undefined; left = this.#takeNow()) left.asked?.refuse(stopped)
      Queue.shutdownUnsafe(this.#queue)
    })
  }

  #takeNow(): Envelope<M> | undefined {
    const exit = Queue.takeUnsafe(this.#queue)
    return exit?._tag === "Success" ? exit.value : undefined
  }
}
