/** The budgets of all open asks of one life, watched by one sleeping fiber. */
import { Clock, Effect, type Fiber, type Scope } from "effect"
import type { Countdown, Stopwatch } from "./Stopwatch.ts"

interface Deadline {
  readonly countdown: Countdown
  readonly onExpired: () => void
}

/**
 * @internal A budget is seldom spent, so an ask only notes it down: the fiber sleeps until the first one that was open when it
 * lay down, looks who is still there, and sleeps again. It is made with the first budget and ends when it finds none.
 */
export class Deadlines {
  readonly #scope: Scope.Scope
  readonly #open = new Set<Deadline>()
  #fiber: Fiber.Fiber<void> | undefined
  /** When it will look again by itself; while it looks, never later than anything. */
  #wakesAt = 0

  /** The fiber lives in `scope`, the life's. */
  constructor(scope: Scope.Scope) {
    this.#scope = scope
  }

  /** Notes a budget down, begun if it was not; `onExpired` runs once when it is spent. The result takes it back. */
  watch(countdown: Countdown, now: number, onExpired: () => void): () => void {
    countdown.start(now)
    const deadline = { countdown, onExpired }
    this.#open.add(deadline)
    return () => {
      this.#open.delete(deadline)
    }
  }

  /** To be run after `watch`: sees to it that somebody looks in time. `undefined` when somebody will. */
  awake(countdown: Countdown, now: number): Effect.Effect<void> | undefined {
    return this.#fiber !== undefined && this.#wakesAt <= now + countdown.left(now) ? undefined : this.#start
  }

  readonly #start: Effect.Effect<void> = Effect.suspend(() => {
    this.#fiber?.interruptUnsafe()
    return Effect.map(Effect.forkIn(this.#look, this.#scope, { startImmediately: true }), (fiber) => {
      this.#fiber = fiber
    })
  })

  readonly #look: Effect.Effect<void> = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const next = this.#expire(now)
    if (next === undefined) {
      this.#fiber = undefined
      return Effect.void
    }
    this.#wakesAt = now + next.left
    return Effect.andThen(Effect.raceAllFirst(next.waits), Effect.suspend(() => {
      this.#wakesAt = 0
      return this.#look
    }))
  })

  /** Ends what is spent; says how long the rest has, and what may make it look earlier. `undefined`: there is none. */
  #expire(now: number) {
    const held = new Set<Stopwatch>()
    let left = Infinity
    for (const deadline of this.#open) {
      const { countdown, onExpired } = deadline
      const own = countdown.left(now)
      if (own <= 0) {
        this.#open.delete(deadline)
        onExpired()
      } else if (countdown.stopwatch.isHeld) held.add(countdown.stopwatch)
      // Whole milliseconds: no clock sleeps for a fraction of one, and whoever woke before the end would not sleep again.
      else left = Math.min(left, Math.ceil(own))
    }
    if (this.#open.size === 0) return undefined
    const releases = [...held].map((stopwatch) => stopwatch.running)
    return { left, waits: left === Infinity ? releases : [Effect.sleep(left), ...releases] }
  }
}
