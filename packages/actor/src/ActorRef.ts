/** The typed handle others hold: they can send, ask and watch, and cannot reach inside. */
import { type Clock, type Duration, Effect, type Exit } from "effect"
import { ActorStopped, AskTimeout, MailboxFull } from "./ActorError.ts"
import type { Deadlines } from "./Deadlines.ts"
import type { Mailbox } from "./Mailbox.ts"
import { Reply } from "./Reply.ts"
import { Countdown } from "./Stopwatch.ts"

/** Where an actor is in its life. `Quarantined` ends only by `Supervisor.restart`. */
export type ActorStatus = "Starting" | "Running" | "Restarting" | "Quarantined" | "Stopping" | "Stopped"

/** How long and how an ask waits. */
export interface AskOptions<out M, in out A, in out E> {
  /** Time the whole ask may take, waiting for room included. A `Countdown` may stand still or be restarted. */
  readonly budget?: Duration.Input | Countdown
  /** The message that tells the actor to stop working on it; sent when the asker gives up after the actor took it. */
  readonly cancel?: (reply: Reply<A, E>) => M
}

/** What an ask can fail with, beside the actor's own errors. */
export type AskFailure = MailboxFull | ActorStopped | AskTimeout

/** An actor that accepts messages of type `M`. It stays the same over restarts. */
export interface ActorRef<in out M> {
  readonly name: string
  /** Sends and goes on. Fails when the message was not accepted; says nothing about its handling. */
  readonly tell: (message: M) => Effect.Effect<void, MailboxFull | ActorStopped>
  /** Sends a message with a reply address and waits. Interrupting it, or its budget's end, cancels the work. */
  readonly ask: <A, E = never>(
    make: (reply: Reply<A, E>) => M,
    options?: AskOptions<M, A, E>
  ) => Effect.Effect<A, E | AskFailure>
  readonly status: Effect.Effect<ActorStatus>
  /** Waits until it runs; fails once it is stopped or quarantined. */
  readonly ready: Effect.Effect<void, ActorStopped>
  /** Death watch: how it ended, when it has ended for good. Its mailbox is closed by then. */
  readonly terminated: Effect.Effect<Exit.Exit<void, unknown>>
}

const refused = (name: string, offer: "full" | "closed") =>
  offer === "full" ? new MailboxFull({ actor: name }) : new ActorStopped({ actor: name })

/** @internal Tells through a mailbox; `undefined` = the actor has none at the moment. */
export const tellMailbox = <M>(name: string, mailbox: Mailbox<M> | undefined, message: M) =>
  mailbox === undefined
    ? Effect.fail(new ActorStopped({ actor: name }))
    : Effect.flatMap(mailbox.offer(message), (offer) =>
      offer === "accepted" ? Effect.void : Effect.fail(refused(name, offer)))

/** @internal Asks through a mailbox whose life has these deadlines; `undefined` = the actor has none at the moment. */
export const askMailbox = <M, A, E>(
  name: string,
  clock: Clock.Clock,
  mailbox: Mailbox<M> | undefined,
  deadlines: Deadlines | undefined,
  make: (reply: Reply<A, E>) => M,
  { budget, cancel }: AskOptions<M, A, E> = {}
): Effect.Effect<A, E | AskFailure> => {
  if (mailbox === undefined || deadlines === undefined) return Effect.fail(new ActorStopped({ actor: name }))
  const reply = new Reply<A, E>()
  let forget: (() => void) | undefined
  // The message goes out inside of what `giveUp` guards, so that no interruption falls between the two.
  const outcome = Effect.suspend(() => {
    const message = make(reply)
    const offer = mailbox.offerUnsafe(message, reply)
    if (offer === "full" || offer === "closed") return Effect.fail(refused(name, offer))
    const answer = offer === "accepted" ? reply.outcome : whenThereIsRoom(name, mailbox, message, reply)
    if (budget === undefined || !reply.isOpen) return answer
    const countdown = budget instanceof Countdown ? budget : new Countdown(budget)
    const now = clock.currentTimeMillisUnsafe()
    forget = deadlines.watch(countdown, now, () => reply.refuse(new AskTimeout({ actor: name })))
    const awake = deadlines.awake(countdown, now)
    return awake === undefined ? answer : Effect.andThen(awake, answer)
  })
  const giveUp = () => {
    forget?.()
    return reply.abandon() && cancel !== undefined ? Effect.asVoid(mailbox.offer(cancel(reply))) : Effect.void
  }
  return Effect.onExit(outcome, giveUp)
}

const whenThereIsRoom = <M, A, E>(name: string, mailbox: Mailbox<M>, message: M, reply: Reply<A, E>) =>
  Effect.raceFirst(
    Effect.flatMap(mailbox.offer(message, reply), (offer) =>
      offer === "accepted" ? reply.outcome : Effect.fail(refused(name, offer))),
    reply.outcome
  )
