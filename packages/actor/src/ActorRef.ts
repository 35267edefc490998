/** The typed handle others hold: they can send, ask and watch, and cannot reach inside. */
import { type Duration, Effect, type Exit } from "effect"
import { ActorStopped, AskTimeout, MailboxFull } from "./ActorError.ts"
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

/** @internal Asks through a mailbox; `undefined` = the actor has none at the moment. */
export const askMailbox = <M, A, E>(
  name: string,
  mailbox: Mailbox<M> | undefined,
  make: (reply: Reply<A, E>) => M,
  options: AskOptions<M, A, E> = {}
): Effect.Effect<A, E | AskFailure> =>
  Effect.suspend(() => {
    if (mailbox === undefined) return Effect.fail(new ActorStopped({ actor: name }))
    const reply = new Reply<A, E>()
    const message = make(reply)
    const offer = mailbox.offerUnsafe(message, reply)
    if (offer === "full" || offer === "closed") return Effect.fail(refused(name, offer))
    const outcome = offer === "accepted" ? reply.outcome : whenThereIsRoom(name, mailbox, message, reply)
    const giveUp = Effect.suspend(() =>
      reply.abandon() && options.cancel !== undefined
        ? Effect.asVoid(mailbox.offer(options.cancel(reply)))
        : Effect.void
    )
    const { budget } = options
    if (budget === undefined) return Effect.ensuring(outcome, giveUp)
    const countdown = budget instanceof Countdown ? budget : new Countdown(budget)
    // One fiber sleeps for the budget and fails the reply; the asker itself is not raced.
    const timer = Effect.map(countdown.expired, () => reply.refuse(new AskTimeout({ actor: name })))
    return Effect.flatMap(Effect.forkChild(timer, { startImmediately: true }), (fiber) =>
      Effect.ensuring(outcome, Effect.andThen(Effect.sync(() => fiber.interruptUnsafe()), giveUp)))
  })

const whenThereIsRoom = <M, A, E>(name: string, mailbox: Mailbox<M>, message: M, reply: Reply<A, E>) =>
  Effect.raceFirst(
    Effect.flatMap(mailbox.offer(message, reply), (offer) =>
      offer === "accepted" ? reply.outcome : Effect.fail(refused(name, offer))),
    reply.outcome
  )
