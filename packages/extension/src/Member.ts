/** One extension of a running session: its actor, what it registered, and requests with their budget. */
import { Deferred, Effect, type Scope } from "effect"
import { Countdown, type Self, Stopwatch, type Supervisor } from "@nimlet/actor"
import type { HostMessage, JsonObject, Registration } from "@nimlet/protocol"
import type { Found } from "./Discovery.ts"
import { type ExtensionMail, extensionLife, type Unsent } from "./ExtensionActor.ts"
import { CallFailed, StartFailed } from "./ExtensionError.ts"
import { registrationSeconds } from "./Handshake.ts"
import type { Transport } from "./Transport.ts"

/** A started extension, over all its lives. */
export interface Member extends Found {
  /** What it registered last; undefined before it has. */
  readonly registration: () => Registration | undefined
  /** Whether it can be asked, now or after a restart that is under way. */
  readonly isAlive: Effect.Effect<boolean>
  /** Completes when the first start has come to an end, one way or the other. */
  readonly settled: Effect.Effect<void>
  /**
   * Sends a request and waits for its `response`, within the budget. While it is starting or restarting, the request
   * waits at most 2 s for it. Interrupting it sends `cancel`.
   */
  readonly request: (request: Unsent, options?: RequestOptions) => Effect.Effect<JsonObject, CallFailed>
  /** Replies that came when nobody waited for them. */
  readonly lateReplies: () => number
}

/** How a request is waited for. */
export interface RequestOptions {
  /** Receives progress text of a running tool. */
  readonly onUpdate?: ((text: string) => Effect.Effect<void>) | undefined
  /** The budget where the manifest sets none. */
  readonly fallbackSeconds?: number
}

/** What a member needs of its session. */
export interface MemberOptions {
  readonly found: Found
  readonly supervisor: Supervisor.Supervisor
  readonly open: Effect.Effect<Transport, StartFailed, Scope.Scope>
  /** The first line of a life, made afresh for each. */
  readonly initialize: () => HostMessage
  readonly warn: (message: string) => Effect.Effect<void>
  /** Called when a start, the first or a later one, has brought a registration. */
  readonly onRegistered: (registration: Registration) => Effect.Effect<void>
}

/** How long a request waits for an extension that is starting or restarting. */
const waitForReadyMillis = 2_000
const mailbox = { capacity: 64, overflow: "suspend" } as const

/** Starts an extension under the supervisor and returns at once. */
export const startMember = Effect.fnUntraced(function*(options: MemberOptions) {
  const { found, supervisor } = options
  const { key, manifest } = found
  const seconds = manifest.response_timeout_seconds === undefined
    ? found.family.budgetSeconds
    : manifest.response_timeout_seconds
  const stopwatch = new Stopwatch()
  const settled = yield* Deferred.make<void>()
  const said = new Set<string>()
  let registration: Registration | undefined
  let late = 0

  const life = extensionLife({
    key,
    open: options.open,
    initialize: options.initialize,
    registrationMillis: (seconds ?? registrationSeconds) * 1000,
    stopwatch,
    onRegistered: (registered) => {
      registration = registered
      return Effect.andThen(options.onRegistered(registered), Deferred.succeed(settled, undefined))
    },
    warnOnce: (about, message) => {
      if (said.has(about)) return Effect.void
      said.add(about)
      return options.warn(message)
    },
    onLateReply: () => {
      late++
    }
  })
  const ref = yield* Effect.orDie(supervisor.spawn({
    name: key,
    behavior: (self: Self<ExtensionMail>) =>
      life(self).pipe(
        Effect.tapError((error) => error instanceof StartFailed ? options.warn(error.message) : Effect.void),
        Effect.ensuring(Deferred.succeed(settled, undefined))
      ),
    restart: manifest.restart === false ? "temporary" : "transient",
    isFinal: (error) => error instanceof StartFailed,
    mailbox
  }))

  const failed = (reason: CallFailed["reason"]) => Effect.fail(new CallFailed({ extension: key, reason }))
  const awaitReady = Effect.flatMap(ref.status, (status) =>
    status === "Running" ? Effect.void : ref.ready.pipe(
      Effect.timeout(Math.min(waitForReadyMillis, (seconds ?? registrationSeconds) * 1000)),
      Effect.catch(() => failed("unavailable"))
    ))

  const request: Member["request"] = (unsent, { fallbackSeconds, onUpdate } = {}) =>
    Effect.suspend(() => {
      const budget = seconds ?? fallbackSeconds
      const countdown = budget === undefined ? undefined : new Countdown(budget * 1000, stopwatch)
      const asked = ref.ask<JsonObject, CallFailed>(
        (reply): ExtensionMail => ({ _tag: "Request", request: unsent, reply, countdown, onUpdate }),
        {
          ...(countdown === undefined ? {} : { budget: countdown }),
          cancel: (reply): ExtensionMail => ({ _tag: "Cancel", reply })
        }
      )
      return Effect.andThen(awaitReady, asked).pipe(Effect.catchTags({
        AskTimeout: () => failed("timeout"),
        ActorStopped: () => failed("crashed"),
        MailboxFull: () => failed("busy")
      }))
    })

  const member: Member = {
    ...found,
    registration: () => registration,
    isAlive: Effect.map(ref.status, (status) => status !== "Quarantined" && status !== "Stopped"),
    settled: Deferred.await(settled),
    request,
    lateReplies: () => late
  }
  return member
})
