/** Says who an event waits for when it takes long. */
import { Clock, Effect, type Scope } from "effect"
import { Diagnostics } from "../Diagnostics.ts"

/** An event that takes longer says who it waits for. */
export const patienceMillis = 2_000

/** An event that is under way. */
interface Wait {
  readonly since: number
  readonly notice: Effect.Effect<unknown>
}

/**
 * The events under way that somebody waits for, watched by one sleeping fiber: nearly all are over long before they need one. It
 * is made with the first and ends when it finds none.
 */
export class Patience {
  readonly #scope: Scope.Scope
  readonly #waits = new Set<Wait>()
  #asleep = false

  /** The fiber lives in `scope`. */
  constructor(scope: Scope.Scope) {
    this.#scope = scope
  }

  /** Runs what asks those in `waiting`, and says once who they are when it takes longer than 2 s. */
  watched<A>(event: string, asking: (waiting: Set<string>) => Effect.Effect<A>): Effect.Effect<A> {
    return Effect.flatMap(Diagnostics, (diagnose) =>
      Effect.clockWith((clock) => {
        const waiting = new Set<string>()
        const notice = Effect.suspend(() =>
          Effect.forEach(
            [...waiting],
            (extension) => diagnose({ level: "info", message: `waiting for extension '${extension}' (${event})`, extension }),
            { discard: true }
          )
        )
        const wait: Wait = { since: clock.currentTimeMillisUnsafe(), notice }
        this.#waits.add(wait)
        const over = Effect.ensuring(asking(waiting), Effect.sync(() => this.#waits.delete(wait)))
        return this.#asleep ? over : Effect.andThen(this.#watch, over)
      }))
  }

  readonly #watch: Effect.Effect<unknown> = Effect.suspend(() => {
    this.#asleep = true
    return Effect.forkIn(this.#look, this.#scope, { startImmediately: true })
  })

  /** Each is told once and then let be; the first in is the first to be due. */
  readonly #look: Effect.Effect<unknown> = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const [first] = this.#waits
    if (first === undefined) {
      this.#asleep = false
      return Effect.void
    }
    const left = Math.ceil(first.since + patienceMillis - now)
    if (left > 0) return Effect.andThen(Effect.sleep(left), this.#look)
    this.#waits.delete(first)
    return Effect.andThen(first.notice, this.#look)
  })
}
