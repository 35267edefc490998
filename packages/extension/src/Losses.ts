/** What of an extension was dropped, and for what reason: told now and then with how much it was, never one by one. */
import { Effect } from "effect"

/** The first loss is told after this; while more follow, each time after twice as long. */
const shortest = 1_000
const longest = 64_000

/** A kind of loss: one of it and several, with what became of them, and why, as in `3 notifications were not shown, too many`. */
export interface Loss {
  readonly one: string
  readonly several: string
  readonly why: string
}

/** The losses of one extension. */
export interface Losses {
  /** One more is lost. */
  readonly lost: (loss: Loss) => Effect.Effect<void>
}

/** Counts what an extension loses and says it by `warn`, in sentences that name it; what is left when the scope closes, too. */
export const makeLosses = Effect.fnUntraced(function*(key: string, warn: (message: string) => Effect.Effect<void>) {
  const scope = yield* Effect.scope
  const counts = new Map<string, { readonly loss: Loss; count: number }>()
  let telling = false

  const tell = Effect.suspend(() => {
    const all = [...counts.values()]
    counts.clear()
    return Effect.forEach(all, ({ count, loss: { one, several, why } }) =>
      warn(`extension '${key}': ${count === 1 ? one : `${count.toLocaleString("en-US")} ${several}`}, ${why}`), { discard: true })
  })
  const keepTelling = (millis: number): Effect.Effect<void> =>
    Effect.andThen(Effect.sleep(millis), Effect.suspend(() => {
      telling = counts.size > 0
      return telling ? Effect.andThen(tell, keepTelling(Math.min(longest, millis * 2))) : Effect.void
    }))
  yield* Effect.addFinalizer(() => tell)

  const losses: Losses = {
    lost: (loss) =>
      Effect.suspend(() => {
        const id = `${loss.several}, ${loss.why}`
        const known = counts.get(id)
        if (known === undefined) counts.set(id, { loss, count: 1 })
        else known.count++
        if (telling) return Effect.void
        telling = true
        return Effect.asVoid(Effect.forkIn(keepTelling(shortest), scope))
      })
  }
  return losses
})
