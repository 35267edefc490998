/** What a supervisor must know to run an actor and to judge its end. */
import { Duration, type Effect, Schedule } from "effect"
import type { MailboxOptions, Offer } from "./Mailbox.ts"

/** What a behavior sees of its own actor. A restart gives a new one with an empty mailbox. */
export interface Self<in out M> {
  readonly name: string
  /** 1 for the first life, one more for each restart. */
  readonly life: number
  /** The next message. */
  readonly take: Effect.Effect<M>
  /** Puts a message into its own mailbox, for fibers of the behavior. */
  readonly tell: (message: M) => Effect.Effect<Offer>
  /** Says that the actor can do its work now; until then it is `Starting`. */
  readonly ready: Effect.Effect<void>
}

/**
 * One life of an actor: it runs until the actor ends. Success is a normal end, failure or defect a crash; it need not
 * catch anything. What it acquires in its scope is released before the next life starts.
 */
export type Behavior<M, E, R> = (self: Self<M>) => Effect.Effect<void, E, R>

/** `permanent`: always started again. `transient`: after a crash only. `temporary`: never. */
export type Restart = "permanent" | "transient" | "temporary"

/** At most `restarts` within a sliding window; one more and the child is quarantined. */
export interface Intensity {
  readonly restarts: number
  readonly within: Duration.Input
}

/** How to run one child. Everything but name and behavior has a default. */
export interface ChildSpec<M, E, R> {
  readonly name: string
  readonly behavior: Behavior<M, E, R>
  /** Default `transient`. */
  readonly restart?: Restart
  /** Default: 64 messages, `suspend`. */
  readonly mailbox?: MailboxOptions
  /** Delays between lives. Default: 200 ms doubling to 5 s, jittered. A schedule that ends means quarantine. */
  readonly backoff?: Schedule.Schedule<unknown>
  /** A life this long starts the backoff afresh. Default 60 s. */
  readonly healthyAfter?: Duration.Input
  /** Default: 3 in 60 s. */
  readonly intensity?: Intensity
  /** Whether a failure is final: no restart follows it. Default: none is. */
  readonly isFinal?: (error: E) => boolean
  /** Whether a failure is followed by the quarantine at once. Default: none is. */
  readonly quarantines?: (error: E) => boolean
  /** How long `stop` waits for the behavior's finalizers before it goes on without them. Default 10 s. */
  readonly grace?: Duration.Input
}

/** 200 ms doubling to 5 s, jittered. */
export const defaultBackoff: Schedule.Schedule<unknown> = Schedule.min([
  Schedule.exponential("200 millis"),
  Schedule.spaced("5 seconds")
]).pipe(Schedule.jittered)

/** 3 restarts in 60 s. */
export const defaultIntensity: Intensity = { restarts: 3, within: "60 seconds" }

/** @internal The restarts still counting at `now`, `now` included. */
export const recentRestarts = (
  times: ReadonlyArray<number>,
  now: number,
  intensity: Intensity
): ReadonlyArray<number> => [...times.filter((at) => now - at < Duration.toMillis(intensity.within)), now]
