/** One supervised child: its lives one after another, and the reference that stays the same over them. */
import { Cause, Clock, Deferred, Duration, Effect, Exit, Latch, Pull, Schedule, type Scope } from "effect"
import { ActorStopped } from "./ActorError.ts"
import { type ActorRef, type ActorStatus, askMailbox, tellMailbox } from "./ActorRef.ts"
import { type ChildSpec, defaultBackoff, defaultIntensity, recentRestarts } from "./ChildSpec.ts"
import { Deadlines } from "./Deadlines.ts"
import { Mailbox } from "./Mailbox.ts"
import type { SupervisorEvent } from "./SupervisorEvent.ts"

/** @internal What the supervisor holds. */
export interface Child<M, R> {
  readonly ref: ActorRef<M>
  /** Runs all its lives; ends with the child. Interrupting it stops the child. */
  readonly run: Effect.Effect<void, never, R>
  /** Ends the present life, or the wait for the next one, and starts afresh. */
  readonly restart: Effect.Effect<void>
  readonly status: () => ActorStatus
  readonly life: () => number
}

/** What decides between two lives. */
type Next = "again" | "quarantine" | "end"

/** A failure or defect; being interrupted is how a child is stopped. */
const crashOf = <E>(exit: Exit.Exit<void, E>): Cause.Cause<E> | undefined =>
  Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause) ? exit.cause : undefined

const defaultMailbox = { capacity: 64, overflow: "suspend" } as const

/** @internal Makes a child that is not running yet. */
export const makeChild = <M, E, R>(
  spec: ChildSpec<M, E, R>,
  publish: (event: SupervisorEvent) => void
): Child<M, Exclude<R, Scope.Scope>> => {
  const child = spec.name
  const { backoff = defaultBackoff, intensity = defaultIntensity, restart = "transient" } = spec
  const healthyMillis = Duration.toMillis(spec.healthyAfter ?? "60 seconds")
  const terminated = Deferred.makeUnsafe<Exit.Exit<void, unknown>>()
  const kick = Latch.makeUnsafe(false)
  let status: ActorStatus = "Starting"
  let settled = Deferred.makeUnsafe<void>()
  let mailbox: Mailbox<M> | undefined
  let deadlines: Deadlines | undefined
  let life = 0
  let crashes: ReadonlyArray<number> = []

  const become = (next: ActorStatus) => {
    status = next
    if (next !== "Starting" && next !== "Restarting") Deferred.doneUnsafe(settled, Effect.void)
    else if (Deferred.isDoneUnsafe(settled)) settled = Deferred.makeUnsafe()
  }
  const stopped = Effect.fail(new ActorStopped({ actor: child }))
  const ready: Effect.Effect<void, ActorStopped> = Effect.suspend(() => {
    if (status === "Running") return Effect.void
    if (status === "Quarantined" || status === "Stopped" || status === "Stopping") return stopped
    return Effect.andThen(Deferred.await(settled), ready)
  })

  /** One life. Its mailbox is closed, and its end told, before what it held is released. */
  const live = Effect.gen(function*() {
    const startedAt = yield* Clock.currentTimeMillis
    const box = yield* Mailbox.make<M>(child, spec.mailbox ?? defaultMailbox)
    mailbox = box
    deadlines = new Deadlines(yield* Effect.scope)
    life++
    become("Starting")
    publish({ _tag: "Started", child, at: startedAt, life })
    const self = {
      name: child,
      life,
      take: box.take,
      tell: (message: M) => box.offer(message),
      ready: Effect.map(Clock.currentTimeMillis, (at) => {
        if (status !== "Starting") return
        become("Running")
        publish({ _tag: "Ready", child, at, life, tookMillis: at - startedAt })
      })
    }
    const closing = Effect.fnUntraced(function*(exit: Exit.Exit<void, E>) {
      mailbox = undefined
      deadlines = undefined
      const cause = crashOf(exit)
      become(kick.isOpen() || (cause !== undefined && mayRestart(exit)) ? "Restarting" : "Stopping")
      yield* box.close
      if (cause !== undefined) publish({ _tag: "Crashed", child, at: yield* Clock.currentTimeMillis, life, cause })
    })
    return yield* Effect.onExit(spec.behavior(self), closing)
  }).pipe(Effect.scoped)

  const mayRestart = (exit: Exit.Exit<void, E>) =>
    restart !== "temporary" && (Exit.isSuccess(exit) ? restart === "permanent" : !isFinal(exit.cause))
  const isFinal = (cause: Cause.Cause<E>) =>
    cause.reasons.some((reason) => reason._tag === "Fail" && spec.isFinal?.(reason.error) === true)

  const isLast = (cause: Cause.Cause<E>) =>
    cause.reasons.some((reason) => reason._tag === "Fail" && spec.quarantines?.(reason.error) === true)

  const judge = (exit: Exit.Exit<void, E>, at: number): Next => {
    if (Exit.isFailure(exit) && isLast(exit.cause)) return "quarantine"
    if (!mayRestart(exit)) return "end"
    crashes = recentRestarts(crashes, at, intensity)
    return crashes.length > intensity.restarts ? "quarantine" : "again"
  }

  const quarantine = Effect.flatMap(Clock.currentTimeMillis, (at) => {
    become("Quarantined")
    publish({ _tag: "Quarantined", child, at })
    return kick.await
  })

  const lives = Effect.gen(function*() {
    let step = yield* Schedule.toStep(backoff)
    for (;;) {
      const startedAt = yield* Clock.currentTimeMillis
      const exit = yield* Effect.raceFirst(Effect.exit(live), Effect.as(kick.await, undefined))
      const endedAt = yield* Clock.currentTimeMillis
      const next = exit === undefined ? "again" : judge(exit, endedAt)
      if (next === "end") return exit ?? Exit.void
      if (next === "again" && !kick.isOpen()) {
        if (endedAt - startedAt >= healthyMillis) step = yield* Schedule.toStep(backoff)
        const delay = yield* Pull.catchDone(
          Effect.map(step(endedAt, undefined), ([, delay]) => Duration.toMillis(delay)),
          () => Effect.void
        )
        if (delay === undefined) yield* quarantine
        else {
          become("Restarting")
          publish({ _tag: "Restarting", child, at: endedAt, delayMillis: delay })
          yield* Effect.timeoutOption(kick.await, delay)
        }
      } else if (next === "quarantine") yield* quarantine
      if (kick.isOpen()) {
        kick.closeUnsafe()
        crashes = []
        step = yield* Schedule.toStep(backoff)
      }
    }
  })

  const end = Effect.fnUntraced(function*(exit: Exit.Exit<Exit.Exit<void, E>, never>) {
    const outcome = Exit.isSuccess(exit) ? exit.value : Exit.hasInterrupts(exit) ? Exit.void : Exit.failCause(exit.cause)
    become("Stopped")
    publish({ _tag: "Stopped", child, at: yield* Clock.currentTimeMillis, exit: outcome })
    yield* Deferred.succeed(terminated, outcome)
  })

  return {
    ref: {
      name: child,
      tell: (message) => Effect.suspend(() => tellMailbox(child, mailbox, message)),
      ask: (make, options) => Effect.clockWith((clock) => askMailbox(child, clock, mailbox, deadlines, make, options)),
      status: Effect.sync(() => status),
      ready,
      terminated: Deferred.await(terminated)
    },
    run: Effect.asVoid(Effect.onExit(lives, end)),
    restart: Effect.asVoid(kick.open),
    status: () => status,
    life: () => life
  }
}
