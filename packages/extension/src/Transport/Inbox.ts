/** Lines heard from a peer and not yet taken. */
import { Array as Arr, Cause, Effect, Stream } from "effect"
import type { Line } from "./Lines.ts"

type Lines = Arr.NonEmptyReadonlyArray<Line>

/**
 * One reader takes from it. Overflow policy: it holds the source back. It keeps what it is given, so the source stops
 * when `push` says so and goes on when `onTaken` is called.
 */
export class Inbox {
  #kept: Array<Line> = []
  #ended = false
  #reader: ((lines: Effect.Effect<Lines, Cause.Done>) => void) | undefined
  readonly #onTaken: () => void

  /** Calls `onTaken` each time the reader has taken what had to be kept. */
  constructor(onTaken: () => void) {
    this.#onTaken = onTaken
  }

  /** Hands lines to a waiting reader within this call, or keeps them. False: it keeps some, and the source is to stop. */
  push(lines: ReadonlyArray<Line>): boolean {
    if (Arr.isReadonlyArrayNonEmpty(lines)) {
      const reader = this.#reader
      this.#reader = undefined
      if (reader === undefined) this.#kept = this.#kept.concat(lines)
      else reader(Effect.succeed(lines))
    }
    return this.#kept.length === 0
  }

  /** No more lines will come. */
  end(): void {
    this.#ended = true
    const reader = this.#reader
    this.#reader = undefined
    reader?.(Cause.done())
  }

  readonly #take: Effect.Effect<Lines, Cause.Done> = Effect.suspend(() => {
    const kept = this.#kept
    if (Arr.isArrayNonEmpty(kept)) {
      this.#kept = []
      this.#onTaken()
      return Effect.succeed(kept)
    }
    if (this.#ended) return Cause.done()
    return Effect.callback((resume) => {
      this.#reader = resume
      return Effect.sync(() => {
        this.#reader = undefined
      })
    })
  })

  /** The lines, in chunks as they were pushed; it ends after `end`. */
  readonly lines: Stream.Stream<Line> = Stream.fromPull(Effect.succeed(this.#take))
}
