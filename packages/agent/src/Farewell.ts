/**
 * How long extensions are waited for at an end: of a run, then of its session. Who stops a run, or leaves, does not wait long for
 * one that does not answer; what an extension has not answered by then is cancelled, and it heard of it all the same.
 */
import { Clock, Effect, Exit } from "effect"
import type { Hooks } from "@nimlet/extension"
import type { AboutSession } from "./Selection.ts"

/** A run that came to its end by itself waits so long for each of its last two events. */
const patience = "10 seconds"
/** One that was stopped waits so long for both together. */
const afterStop = "1 second"
/** Leaving waits so long in all, with what a run that was just stopped has waited; and no less than `least`, in milliseconds. */
const leaving = 2_000
const least = 500

/** The ends of one session. */
export interface Farewell {
  /**
   * Tells of a turn's end (unless nothing of it began) and that the run has settled, and whether it was stopped: before, or
   * while extensions were waited for. For use where interrupts are masked; `restore` is that mask's.
   */
  readonly ofRun: (run: {
    /** Told before them, in order. */
    readonly first?: ReadonlyArray<Effect.Effect<unknown>>
    readonly turned: boolean
    readonly stopped: boolean
    readonly restore: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }) => Effect.Effect<boolean>
  /** How long leaving may wait now, in milliseconds. */
  readonly left: Effect.Effect<number>
}

/** The ends of a session that nothing was told of yet. */
export const makeFarewell = (hooks: Hooks["Service"], about: AboutSession): Farewell => {
  let stoppedAt: number | undefined
  const now = Clock.currentTimeMillis

  const ofRun: Farewell["ofRun"] = Effect.fnUntraced(function*({ first = [], restore, stopped, turned }) {
    let halted = stopped
    const untold = new Set<Effect.Effect<unknown>>([
      ...first,
      ...(turned ? [Effect.suspend(() => hooks.run("turn_end", halted ? { ...about, interrupted: true } : about))] : []),
      Effect.suspend(() => hooks.run("agent_settled", about))
    ])
    const tell = (event: Effect.Effect<unknown>) => Effect.andThen(Effect.sync(() => untold.delete(event)), event)
    if (!stopped) {
      const calmly = Effect.forEach(untold, (event) => Effect.timeoutOption(tell(event), patience), { discard: true })
      if (Exit.isSuccess(yield* Effect.exit(restore(calmly)))) return false
      halted = true
    }
    stoppedAt = yield* now
    yield* Effect.timeoutOption(Effect.forEach(untold, tell, { concurrency: "unbounded", discard: true }), afterStop)
    return true
  })

  const left = Effect.map(now, (at) => {
    const since = stoppedAt === undefined ? leaving : at - stoppedAt
    return since >= leaving ? leaving : Math.max(least, leaving - since)
  })

  return { ofRun, left }
}
