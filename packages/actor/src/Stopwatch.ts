/** Budgets that stand still: time that is not an actor's fault does not count against it. */
import { Clock, Duration, Effect, Latch } from "effect"

/**
 * A clock that several parties may hold; it runs only while nobody does. Several countdowns may share one: an actor
 * that waits for a person holds its own stopwatch and no other.
 */
export class Stopwatch {
  #holders = 0
  #heldSince = 0
  #heldMillis = 0
  readonly #running = Latch.makeUnsafe(true)

  /** Runs `effect`, standing still meanwhile. */
  hold<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.acquireUseRelease(
      Effect.map(Clock.currentTimeMillis, (now) => {
        if (this.#holders++ > 0) return
        this.#heldSince = now
        this.#running.closeUnsafe()
      }),
      () => effect,
      () =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          if (--this.#holders > 0) return
          this.#heldMillis += now - this.#heldSince
          this.#running.openUnsafe()
        })
    )
  }

  /** Whether somebody holds it. */
  get isHeld(): boolean {
    return this.#holders > 0
  }

  /** Waits until nobody holds it. */
  get running(): Effect.Effect<void> {
    return this.#running.await
  }

  /** What it shows when the wall clock shows `now`, in milliseconds from an arbitrary start. */
  reading(now: number): number {
    return now - this.#heldMillis - (this.#holders > 0 ? now - this.#heldSince : 0)
  }
}

/** A budget of running time on a stopwatch. One countdown serves one wait. */
export class Countdown {
  readonly stopwatch: Stopwatch
  readonly millis: number
  #from: number | undefined

  /** `budget` of running time on `stopwatch`; by itself, on a stopwatch nobody holds. */
  constructor(budget: Duration.Input, stopwatch: Stopwatch = new Stopwatch()) {
    this.millis = typeof budget === "number" ? budget : Duration.toMillis(budget)
    this.stopwatch = stopwatch
  }

  /** Starts at `now`, if it has not. */
  start(now: number): void {
    this.#from ??= this.stopwatch.reading(now)
  }

  /** Milliseconds of running time left at `now`: the whole budget before its start, zero or less when it is spent. */
  left(now: number): number {
    return this.#from === undefined ? this.millis : this.millis - (this.stopwatch.reading(now) - this.#from)
  }

  /** Starts afresh with the whole budget: the other side has shown that it is alive. */
  get restart(): Effect.Effect<void> {
    return Effect.map(Clock.currentTimeMillis, (now) => {
      this.#from = this.stopwatch.reading(now)
    })
  }

  /** Starts if it has not, and completes when the budget is spent. Costs one sleeping fiber, whoever holds or restarts. */
  get expired(): Effect.Effect<void> {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      this.start(now)
      const left = Math.ceil(this.left(now))
      if (left <= 0) return Effect.void
      return Effect.andThen(this.stopwatch.isHeld ? this.stopwatch.running : Effect.sleep(left), this.expired)
    })
  }
}
