/** Runs children, restarts each on its own when it crashes, and tells what happens to them (OTP's one_for_one). */
import { Effect, Fiber, PubSub, Scope, Stream } from "effect"
import { NameTaken } from "./ActorError.ts"
import type { ActorRef, ActorStatus } from "./ActorRef.ts"
import { type Child, makeChild } from "./Child.ts"
import type { ChildSpec } from "./ChildSpec.ts"
import type { SupervisorEvent } from "./SupervisorEvent.ts"

/** A look at one child. */
export interface ChildInfo {
  readonly name: string
  readonly status: ActorStatus
  /** Restarts so far. */
  readonly restarts: number
}

/** A supervisor. Closing the scope it was made in stops the children in reverse order of their start. */
export interface Supervisor {
  /** Starts a child and returns at once; `ref.ready` says when it can work. */
  readonly spawn: <M, E, R>(spec: ChildSpec<M, E, R>) => Effect.Effect<ActorRef<M>, NameTaken, Exclude<R, Scope.Scope>>
  /** Ends a child and waits for its finalizers, at most its `grace`. False if there is none of that name. */
  readonly stop: (name: string) => Effect.Effect<boolean>
  /** Starts a child afresh, out of quarantine too; its crashes are forgotten. False if it is not there. */
  readonly restart: (name: string) => Effect.Effect<boolean>
  /** The children that have not ended, in order of their start. */
  readonly children: Effect.Effect<ReadonlyArray<ChildInfo>>
  /** Everything from the moment of subscription on. A reader that lags by more than 256 events loses the oldest. */
  readonly events: Stream.Stream<SupervisorEvent>
  /** The same as a subscription, in force when this effect returns. */
  readonly subscribe: Effect.Effect<PubSub.Subscription<SupervisorEvent>, never, Scope.Scope>
}

const eventBacklog = 256

interface Entry {
  readonly child: Pick<Child<never, never>, "restart" | "status" | "life">
  stop: Effect.Effect<void>
}

/** Makes a supervisor that lives as long as the scope. */
export const make: Effect.Effect<Supervisor, never, Scope.Scope> = Effect.gen(function*() {
  const scope = yield* Effect.scope
  const events = yield* PubSub.sliding<SupervisorEvent>(eventBacklog)
  const entries = new Map<string, Entry>()

  const spawn = <M, E, R>(
    spec: ChildSpec<M, E, R>
  ): Effect.Effect<ActorRef<M>, NameTaken, Exclude<R, Scope.Scope>> =>
    Effect.suspend(() => {
      if (entries.has(spec.name)) return Effect.fail(new NameTaken({ actor: spec.name }))
      const child = makeChild(spec, (event) => PubSub.publishUnsafe(events, event))
      const entry: Entry = { child, stop: Effect.void }
      entries.set(spec.name, entry)
      const run = Effect.ensuring(child.run, Effect.sync(() => entries.delete(spec.name)))
      // Begun at once, so that a child stopped in the same breath still ends in order.
      return Effect.map(Effect.forkIn(run, scope, { startImmediately: true }), (fiber) => {
        entry.stop = Effect.asVoid(Effect.timeoutOption(Fiber.interrupt(fiber), spec.grace ?? "10 seconds"))
        return child.ref
      })
    })

  const stop = (name: string) =>
    Effect.suspend(() => {
      const entry = entries.get(name)
      return entry === undefined ? Effect.succeed(false) : Effect.as(entry.stop, true)
    })

  yield* Effect.addFinalizer(() => Effect.forEach([...entries.keys()].reverse(), stop, { discard: true }))

  return {
    spawn,
    stop,
    restart: (name) =>
      Effect.suspend(() => {
        const entry = entries.get(name)
        return entry === undefined ? Effect.succeed(false) : Effect.as(entry.child.restart, true)
      }),
    children: Effect.sync(() =>
      [...entries].map(([name, { child }]) => ({ name, status: child.status(), restarts: Math.max(0, child.life() - 1) }))
    ),
    events: Stream.fromPubSub(events),
    subscribe: PubSub.subscribe(events)
  }
})
