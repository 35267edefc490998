/** The run under way, for programs that hold no fiber of it: stopping it, and what happens in it as a stream. */
import { Deferred, Effect, PubSub, Stream } from "effect"
import type { AgentEvent } from "@nimlet/protocol"
import { EventSink } from "./EventSink.ts"
import type { RunResult } from "./Loop.ts"

/** Watches over runs. */
export interface RunControl {
  /** A run that can be stopped, and whose events are told. */
  readonly during: (run: Effect.Effect<RunResult>) => Effect.Effect<RunResult>
  /** Stops the run under way and all that wait behind it; returns when they are over. Without one, nothing happens. */
  readonly interrupt: Effect.Effect<void>
  /** The events from now on. A slow taker slows the run, once it is 1024 events behind, and nothing is lost. */
  readonly events: Stream.Stream<AgentEvent>
}

const capacity = 1024

/** Watches over the runs of an agent. */
export const makeRunControl: Effect.Effect<RunControl> = Effect.gen(function*() {
  const hub = yield* PubSub.bounded<AgentEvent>(capacity)
  const under = new Map<Deferred.Deferred<void>, Deferred.Deferred<void>>()
  let watched = 0

  const told = <A>(run: Effect.Effect<A>): Effect.Effect<A> =>
    Effect.flatMap(EventSink, ({ publish }) =>
      Effect.provideService(run, EventSink, {
        publish: (event) => watched === 0 ? publish(event) : Effect.andThen(publish(event), PubSub.publish(hub, event))
      }))

  return {
    during: Effect.fnUntraced(function*(run) {
      const stop = yield* Deferred.make<void>()
      const over = yield* Deferred.make<void>()
      under.set(stop, over)
      const stopped = Effect.as(Deferred.await(stop), { success: false, text: "" })
      return yield* Effect.raceFirst(told(run), stopped).pipe(
        Effect.ensuring(Effect.suspend(() => {
          under.delete(stop)
          return Deferred.succeed(over, undefined)
        }))
      )
    }),
    interrupt: Effect.suspend(() =>
      Effect.forEach([...under], ([stop, over]) => Effect.andThen(Deferred.succeed(stop, undefined), Deferred.await(over)), { concurrency: "unbounded", discard: true })),
    events: Stream.unwrap(Effect.acquireRelease(
      Effect.tap(PubSub.subscribe(hub), () => Effect.sync(() => void watched++)),
      () => Effect.sync(() => void watched--)
    ).pipe(Effect.map(Stream.fromSubscription)))
  }
})
