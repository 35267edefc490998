/** The run under way, for programs that hold no fiber of it: stopping it and what goes on beside it, and what happens in it as a stream. */
import { Deferred, Effect, PubSub, Stream } from "effect"
import type { AgentEvent } from "@nimlet/protocol"
import { EventSink } from "./EventSink.ts"
import type { RunResult } from "./Loop.ts"

/** Watches over runs. */
export interface RunControl {
  /** A run that can be stopped, and whose events are told. */
  readonly during: (run: Effect.Effect<RunResult>) => Effect.Effect<RunResult>
  /** Something beside a run that can be stopped; it fails with `stopped` then. */
  readonly beside: <A, E>(work: Effect.Effect<A, E>, stopped: E) => Effect.Effect<A, E>
  /** Stops the run under way, all that wait behind it and what goes on beside it; returns when they are over. */
  readonly interrupt: Effect.Effect<void>
  /** Stops the run under way and those that wait behind it. */
  readonly interruptRuns: Effect.Effect<void>
  /** Stops what goes on beside runs alone. */
  readonly interruptBeside: Effect.Effect<void>
  /** The events from now on. A slow taker slows the run, once it is 1024 events behind, and nothing is lost. */
  readonly events: Stream.Stream<AgentEvent>
}

const capacity = 1024

/** Watches over the runs of an agent. */
export const makeRunControl: Effect.Effect<RunControl> = Effect.gen(function*() {
  const hub = yield* PubSub.bounded<AgentEvent>(capacity)
  const runs = new Map<Deferred.Deferred<void>, Deferred.Deferred<void>>()
  const besides = new Map<Deferred.Deferred<void>, Deferred.Deferred<void>>()
  let watched = 0

  const told = <A>(run: Effect.Effect<A>): Effect.Effect<A> =>
    Effect.flatMap(EventSink, ({ publish }) =>
      Effect.provideService(run, EventSink, {
        publish: (event) => watched === 0 ? publish(event) : Effect.andThen(publish(event), PubSub.publish(hub, event))
      }))

  const stoppable = <A, E>(under: typeof runs, work: Effect.Effect<A, E>, stopped: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.suspend(() => {
      const stop = Deferred.makeUnsafe<void>()
      const over = Deferred.makeUnsafe<void>()
      under.set(stop, over)
      return Effect.raceFirst(work, Effect.andThen(Deferred.await(stop), stopped)).pipe(
        Effect.ensuring(Effect.suspend(() => {
          under.delete(stop)
          return Deferred.succeed(over, undefined)
        }))
      )
    })
  const stop = (...all: ReadonlyArray<typeof runs>) =>
    Effect.suspend(() =>
      Effect.forEach(all.flatMap((under) => [...under]), ([stop, over]) => Effect.andThen(Deferred.succeed(stop, undefined), Deferred.await(over)), {
        concurrency: "unbounded",
        discard: true
      }))

  return {
    during: (run) => stoppable(runs, told(run), Effect.succeed({ success: false, text: "" })),
    beside: (work, stopped) => stoppable(besides, work, Effect.fail(stopped)),
    interrupt: stop(runs, besides),
    interruptRuns: stop(runs),
    interruptBeside: stop(besides),
    events: Stream.unwrap(Effect.acquireRelease(
      Effect.tap(PubSub.subscribe(hub), () => Effect.sync(() => void watched++)),
      () => Effect.sync(() => void watched--)
    ).pipe(Effect.map(Stream.fromSubscription)))
  }
})
