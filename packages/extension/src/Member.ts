/** One extension of a running session: its actor, what it registered, and requests with their budget. */
import { Cause, Deferred, Effect, Exit, type Scope } from "effect"
import { type ActorStatus, Countdown, type Self, Stopwatch, type Supervisor } from "@nimlet/actor"
import type { HostMessage, JsonObject, Registration } from "@nimlet/protocol"
import type { Found } from "./Discovery.ts"
import { type ExtensionMail, extensionLife, type Unsent } from "./ExtensionActor.ts"
import { CallFailed, ExtensionCrashed, ExtensionMute, StartFailed, toldOf } from "./ExtensionError.ts"
import { registrationSeconds } from "./Handshake.ts"
import { Meter } from "./Meter.ts"
import { OnBehalfOf } from "./OnBehalfOf.ts"
import { Shown } from "./Shown.ts"
import type { Transport } from "./Transport.ts"

/** A started extension, over all its lives. */
export interface Member extends Found {
  /** What it registered last; undefined before it has, and when its latest start failed. */
  readonly registration: () => Registration | undefined
  /** Whether it has asked to judge tool calls, or may yet; not so one that could not start and never did. */
  readonly mayGuard: () => boolean
  readonly status: Effect.Effect<ActorStatus>
  /** Whether it can be asked, now or after a restart that is under way. */
  readonly isAlive: Effect.Effect<boolean>
  /** Completes when the first start has come to an end, one way or the other. */
  readonly settled: Effect.Effect<void>
  /** Whether it has. */
  readonly isSettled: () => boolean
  /**
   * Sends a request and waits for its `response`, within the budget. While it is starting or restarting, the request
   * waits at most 2 s for it. Interrupting it sends `cancel`.
   */
  readonly request: (request: Unsent, options?: RequestOptions) => Effect.Effect<JsonObject, CallFailed>
  /** Tells it of a pressed action; `key` is the frontend's. False when that widget does not take it, or it is gone. */
  readonly act: (key: string, action: string, text: string) => Effect.Effect<boolean>
  /** Says, once for each, what was wrong with its reply to something; the rest of the reply counts. */
  readonly complain: (about: string, faults: ReadonlyArray<string>) => Effect.Effect<void>
  /** Starts it afresh, whatever became of it. */
  readonly restart: Effect.Effect<void>
  /** Stops it until it is restarted; nothing it offered counts then. */
  readonly disable: Effect.Effect<void>
  /** Whether a person has switched it off. */
  readonly isDisabled: () => boolean
  readonly meter: Meter
}

/** How a request is waited for. */
export interface RequestOptions {
  /** Receives progress text of a running tool. */
  readonly onUpdate?: ((text: string, details?: JsonObject) => Effect.Effect<void>) | undefined
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
  /** Called when it offers something else than before: it has registered, or a later start failed and nothing counts. */
  readonly onOffersChanged: () => void
  /** What one is told that registers while the session goes on, before anything else; `again` when it had registered before. */
  readonly welcome: (registration: Registration, again: boolean) => Unsent | undefined
  /** Called after every change of its figures. */
  readonly changed: () => void
}

/** What an ask that came to nothing means for a call. */
const reasons = { AskTimeout: "timeout", ActorStopped: "crashed", MailboxFull: "busy" } as const
/** How long a request waits for an extension that is starting or restarting. */
const waitForReadyMillis = 2_000
/** How long an event is waited for, where there is no limit, that comes of the asked one's own open request. */
const entangledSeconds = 30
/** How long an action waits to be taken. */
const actMillis = 2_000
/** One that leaves so many requests in a row unanswered is not asked any more. */
const mostUnanswered = 3
const mailbox = { capacity: 64, overflow: "suspend" } as const

/** Starts an extension under the supervisor and returns at once. */
export const startMember = Effect.fnUntraced(function*(options: MemberOptions) {
  const { found, supervisor } = options
  const { key, manifest } = found
  const given = manifest.response_timeout_seconds
  const { budgetSeconds, workSeconds } = found.family
  const seconds = given === undefined ? budgetSeconds : given
  const stopwatch = new Stopwatch()
  const settled = yield* Deferred.make<void>()
  const said = new Set<string>()
  const meter = new Meter(options.changed)
  const shown = new Shown(key)
  let registration: Registration | undefined
  let known = false
  let disabled = false
  let guarded = false
  let failed = false

  const warnOnce = (about: string, message: string) => {
    if (said.has(about)) return Effect.void
    said.add(about)
    return options.warn(message)
  }

  const life = extensionLife({
    key,
    open: options.open,
    initialize: options.initialize,
    registrationMillis: (seconds ?? registrationSeconds) * 1000,
    stopwatch,
    shown,
    meter,
    onRegistered: Effect.fnUntraced(function*(registered) {
      // In one breath: whoever fires an event from here on finds it, and it hears of no session twice.
      registration = registered
      failed = false
      guarded ||= registered.events.includes("tool_call")
      options.onOffersChanged()
      const first = options.welcome(registered, known)
      known = true
      yield* options.onRegistered(registered)
      // It is in the mailbox before any other request: those wait until the actor is ready.
      if (first !== undefined) yield* Effect.forkScoped(tellOfSession(first), { startImmediately: true })
    }),
    onReady: Deferred.succeed(settled, undefined),
    revises: found.family.registersAtAnyTime,
    onRevised: (registered) => {
      registration = registered
      guarded ||= registered.events.includes("tool_call")
      options.onOffersChanged()
      return options.onRegistered(registered)
    },
    warn: options.warn,
    warnOnce
  })
  const ended = Effect.fnUntraced(function*(exit: Exit.Exit<void, StartFailed | ExtensionCrashed | ExtensionMute>) {
    const error = Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause) ? Cause.squash(exit.cause) : undefined
    meter.ended(error === undefined ? undefined : reasonOf(error))
    yield* shown.clear
    if (!(error instanceof StartFailed)) return
    registration = undefined
    failed = true
    options.onOffersChanged()
    yield* options.warn(error.message)
  })
  const spawn = Effect.orDie(supervisor.spawn({
    name: key,
    behavior: (self: Self<ExtensionMail>) =>
      Effect.onExit(life(self), (exit) => Effect.ensuring(ended(exit), Deferred.succeed(settled, undefined))),
    restart: manifest.restart === false ? "temporary" : "transient",
    isFinal: (error) => error instanceof StartFailed,
    quarantines: (error) => error instanceof ExtensionMute,
    mailbox
  }))
  let ref = yield* spawn
  const status = Effect.suspend(() => ref.status)

  const unavailable = Effect.flatMap(Effect.suspend(() => ref.status), (now) => {
    const { fault } = meter.reading
    return Effect.fail(new CallFailed({ extension: key, reason: "unavailable", detail: whyDown(now, fault, key), ...(fault === undefined ? {} : { told: true as const }) }))
  })
  const awaitReady = Effect.flatMap(status, (status) =>
    status === "Running" ? Effect.void : ref.ready.pipe(
      Effect.timeout(Math.min(waitForReadyMillis, (seconds ?? registrationSeconds) * 1000)),
      Effect.catch(() => unavailable)
    ))

  /** Its budget: the manifest's, on the clock that stands still while a request of its own is open. */
  const countdownOf = (type: Unsent["type"], fallbackSeconds: number | undefined, entangled: boolean): Countdown | undefined => {
    const own = given === undefined && type !== "event" ? workSeconds : seconds
    const budget = own ?? fallbackSeconds ?? (entangled ? entangledSeconds : undefined)
    if (budget === undefined) return undefined
    return entangled ? new Countdown(budget * 1000) : new Countdown(budget * 1000, stopwatch)
  }

  const unanswered = (before: number) =>
    Effect.suspend(() => {
      meter.unanswered(before)
      if (meter.silence !== mostUnanswered) return Effect.void
      const mute = new ExtensionMute({ extension: key, requests: meter.silence })
      // Told at once: its end may take until the run is over.
      return Effect.andThen(options.warn(`${mute.message} and stays off; /extensions restart ${key} starts it again`), Effect.ignore(ref.tell({ _tag: "Mute", mute })))
    })

  const ask = (unsent: Unsent, { fallbackSeconds, onUpdate }: RequestOptions) =>
    Effect.flatMap(OnBehalfOf, (onBehalfOf) => {
      // What comes of its own open request it may well not be able to answer.
      const entangled = onBehalfOf.has(key)
      const countdown = countdownOf(unsent.type, fallbackSeconds, entangled)
      const before = meter.silence
      return ref.ask<JsonObject, CallFailed>(
        (reply): ExtensionMail => ({ _tag: "Request", request: unsent, reply, countdown, onUpdate, onBehalfOf }),
        {
          ...(countdown === undefined ? {} : { budget: countdown }),
          cancel: (reply): ExtensionMail => ({ _tag: "Cancel", reply })
        }
      ).pipe(
        Effect.tapError((error) => error._tag === "AskTimeout" && !entangled ? unanswered(before) : Effect.void),
        Effect.mapError((error) => {
          if (error instanceof CallFailed) return error
          const spent = error._tag === "AskTimeout" && countdown !== undefined ? { seconds: countdown.millis / 1000 } : {}
          return new CallFailed({ extension: key, reason: reasons[error._tag], ...spent })
        })
      )
    })

  const request: Member["request"] = (unsent, options = {}) => Effect.andThen(awaitReady, ask(unsent, options))

  const tellOfSession = (first: Unsent) =>
    Effect.catch(ask(first, { fallbackSeconds: entangledSeconds }), (error) =>
      error.reason === "crashed" ? Effect.void : options.warn(toldOf(error)))

  const act: Member["act"] = (frontendKey, action, text) =>
    Effect.suspend(() => {
      const widget = shown.owns(frontendKey)
      if (widget === undefined) return Effect.succeed(false)
      const told = ref.ask<boolean>((reply) => ({ _tag: "Act", widget, action, text, reply }), { budget: actMillis })
      return Effect.orElseSucceed(told, () => false)
    })

  /** A child that has ended for good is no child any more: it is spawned again under its name. */
  const restart = Effect.suspend(() => {
    disabled = false
    return Effect.flatMap(supervisor.restart(key), (there) =>
      there ? Effect.void : Effect.map(spawn, (fresh) => {
        ref = fresh
      }))
  })

  const disable = Effect.suspend(() => {
    disabled = true
    registration = undefined
    options.onOffersChanged()
    return Effect.asVoid(supervisor.stop(key))
  })

  const member: Member = {
    ...found,
    registration: () => registration,
    mayGuard: () => guarded || !failed,
    status,
    isAlive: Effect.map(status, (status) => status !== "Quarantined" && status !== "Stopped"),
    settled: Deferred.await(settled),
    isSettled: () => Deferred.isDoneUnsafe(settled),
    request,
    act,
    complain: (about, faults) =>
      faults.length === 0
        ? Effect.void
        : Effect.forEach(faults, (fault) => warnOnce(`reply ${fault}`, `extension '${key}': in its reply to ${about} ${fault}; it was ignored`), { discard: true }),
    restart,
    disable,
    isDisabled: () => disabled,
    meter
  }
  return member
})

/** Why one cannot be asked, and what a person can do. */
const whyDown = (status: ActorStatus, fault: string | undefined, key: string): string => {
  if (status === "Starting" || status === "Running") return fault === undefined ? "it has not registered yet" : `${fault}, and has not registered again yet`
  const why = fault ?? "it was switched off"
  return status === "Restarting" ? `${why}; it is about to start again` : `${why}; /extensions restart ${key} starts it again`
}

const reasonOf = (error: unknown): string =>
  error instanceof StartFailed || error instanceof ExtensionCrashed || error instanceof ExtensionMute
    ? error.reason
    : error instanceof Error ? error.message : String(error)
