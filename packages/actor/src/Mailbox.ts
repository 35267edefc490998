/** A bounded, typed queue of messages with a named overflow policy. */
import { Effect, type Fiber } from "effect"
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

/** A sender that waits for room. */
interface Waiting<M> {
  readonly envelope: Envelope<M>
  readonly admit: (offer: Offer) => void
}

/** An actor that waits for a message. */
interface Taker<M> {
  readonly receive: (message: Effect.Effect<M>) => void
  readonly fiber: Fiber.Fiber<unknown, unknown>
}

/**
 * How many actors may be woken one inside the other. A waiting actor runs within its sender's turn, which spares a turn of
 * the event loop a message; a long chain of actors must not cost as much stack.
 */
const maxNested = 16
let nested = 0

/** FIFO for each sender; messages whose asker is gone are skipped. Closing it ends every ask it holds or gave out. */
export class Mailbox<in out M> {
  readonly #actor: string
  readonly #options: MailboxOptions
  #queue: Array<Envelope<M>> = []
  readonly #waiting: Array<Waiting<M>> = []
  readonly #takers: Array<Taker<M>> = []
  readonly #outstanding = new Set<Asked>()
  #closed = false

  private constructor(actor: string, options: MailboxOptions) {
    this.#actor = actor
    this.#options = options
  }

  /** A new, open mailbox of actor `actor`. */
  static make<M>(actor: string, options: MailboxOptions): Effect.Effect<Mailbox<M>> {
    return Effect.sync(() => new Mailbox(actor, options))
  }

  /** Puts a message in, following the overflow policy. */
  offer(message: M, asked?: Asked): Effect.Effect<Offer> {
    return Effect.suspend(() => {
      const now = this.offerUnsafe(message, asked)
      return now === undefined ? this.#whenThereIsRoom({ message, asked }) : Effect.succeed(now)
    })
  }

  /** The part of `offer` that needs no waiting; `undefined` = the sender would have to wait. */
  offerUnsafe(message: M, asked?: Asked): Offer | undefined {
    if (this.#closed) return "closed"
    const envelope = { message, asked }
    if (this.#queue.length === 0 && this.#takers.length > 0) {
      this.#queue.push(envelope)
      this.#wake()
      return "accepted"
    }
    if (!this.#hasRoom()) {
      if (this.#options.overflow === "suspend") return undefined
      if (this.#options.overflow === "reject") return "full"
      this.#queue.shift()?.asked?.refuse(new MailboxFull({ actor: this.#actor }))
    }
    this.#queue.push(envelope)
    return "accepted"
  }

  /** The next message of a living asker or teller; waits for one. Interrupted when the mailbox closes. */
  readonly take: Effect.Effect<M> = Effect.suspend(() => {
    const envelope = this.#next()
    if (envelope === undefined) return this.#arrival
    this.#admit()
    return Effect.succeed(envelope.message)
  })

  /** Messages waiting, dead ones included. */
  get size(): number {
    return this.#queue.length
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
      for (const { asked } of this.#queue.splice(0)) asked?.refuse(stopped)
      for (const { admit } of this.#waiting.splice(0)) admit("closed")
      for (const { receive } of this.#takers.splice(0)) receive(Effect.interrupt)
    })
  }

  /** Whether a message would fit. The dead give way first. */
  #hasRoom(): boolean {
    const { capacity } = this.#options
    if (this.#queue.length < capacity) return true
    this.#queue = this.#queue.filter(({ asked }) => asked?.isAbandoned !== true)
    return this.#queue.length < capacity
  }

  /** Takes the oldest living message out, if there is one. */
  #next(): Envelope<M> | undefined {
    for (;;) {
      const envelope = this.#queue.shift()
      if (envelope === undefined) {
        if (this.#waiting.length === 0) return undefined
        this.#admit()
        continue
      }
      const { asked } = envelope
      if (asked === undefined) return envelope
      if (asked.isAbandoned) continue
      this.#outstanding.add(asked)
      asked.taken(() => this.#outstanding.delete(asked))
      return envelope
    }
  }

  /** Lets waiting senders in, as far as there is room. */
  #admit(): void {
    while (this.#queue.length < this.#options.capacity) {
      const sender = this.#waiting.shift()
      if (sender === undefined) return
      this.#queue.push(sender.envelope)
      sender.admit("accepted")
    }
  }

  /** Hands what there is to who waits for it: at once, or by the scheduler when too many are being woken already. */
  #wake(): void {
    if (nested >= maxNested) {
      this.#takers[0]?.fiber.currentDispatcher.scheduleTask(() => this.#feed(), 0)
      return
    }
    nested++
    try {
      this.#feed()
    } finally {
      nested--
    }
  }

  #feed(): void {
    while (this.#takers.length > 0) {
      const envelope = this.#next()
      if (envelope === undefined) return
      this.#takers.shift()?.receive(Effect.succeed(envelope.message))
      this.#admit()
    }
  }

  readonly #arrival: Effect.Effect<M> = Effect.withFiber((fiber) =>
    Effect.callback<M>((resume) => {
      if (this.#closed) return resume(Effect.interrupt)
      const taker = { receive: resume, fiber }
      this.#takers.push(taker)
      return Effect.sync(() => remove(this.#takers, taker))
    })
  )

  #whenThereIsRoom(envelope: Envelope<M>): Effect.Effect<Offer> {
    return Effect.callback((resume) => {
      const sender = { envelope, admit: (offer: Offer) => resume(Effect.succeed(offer)) }
      this.#waiting.push(sender)
      return Effect.sync(() => remove(this.#waiting, sender))
    })
  }
}

const remove = <A>(list: Array<A>, one: A): void => {
  const at = list.indexOf(one)
  if (at !== -1) list.splice(at, 1)
}
