/**
 * How fast an extension is read. It may say what it likes, but what nobody waits for costs the time of all: when it has
 * cost enough, its pipe is not read for a while, and it waits, alone.
 */
import { Effect, Latch } from "effect"
import { Allowance } from "./Allowance.ts"

/** Milliseconds of our time that lines nobody waits for may take at once, and in each second after that. */
const unasked = { most: 50, perSecond: 200 }
/** One of them is taken to cost no more: the rest is waiting for a disk, or for whoever reads what we write. */
const mostEach = 0.1

/** Between the reader of an extension and its actor: the reader is at most one chunk of lines ahead. */
export class Pace {
  readonly #allowance = new Allowance(unasked)
  readonly #now: () => number
  readonly #handled = Latch.makeUnsafe(true)
  readonly #ended = Latch.makeUnsafe(false)
  #owing = false

  /** `now` is in milliseconds of a clock that only goes forward. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** The reader hands on a chunk. */
  handsOn(): void {
    if (!this.#ended.isOpen()) this.#handled.closeUnsafe()
  }

  /** Nothing is handled any more: what the extension still writes is read away. */
  end(): void {
    this.#ended.openUnsafe()
    this.#handled.openUnsafe()
  }

  /** The actor has handled it since `began`; of its `lines`, `unasked` ones nobody had waited for. */
  handled(began: number, lines: number, unasked: number): void {
    if (unasked > 0) {
      const now = this.#now()
      this.#allowance.spend(now, Math.min((now - began) * unasked / lines, unasked * mostEach))
      this.#owing = this.#allowance.owedFor(now) > 0
    }
    this.#handled.openUnsafe()
  }

  /** What the reader waits for before it reads on. Every answer to a hook passes here, so what is nothing costs nothing. */
  readonly rest: Effect.Effect<void> = Effect.suspend(() => {
    if (!this.#handled.isOpen()) return Effect.andThen(this.#handled.await, this.#owed)
    return this.#owing ? this.#owed : Effect.void
  })

  readonly #owed: Effect.Effect<void> = Effect.suspend(() => {
    const millis = this.#allowance.owedFor(this.#now())
    return millis === 0 ? Effect.void : Effect.raceFirst(Effect.sleep(Math.ceil(millis)), this.#ended.await)
  })
}
