/**
 * One life of an extension: a process, its handshake, and then one fiber that owns the table of pending requests. It
 * never waits for the peer, so many requests are in flight and replies come in any order.
 */
import { Clock, Effect, Exit, Result, type Scope, Stream } from "effect"
import type { HostMessage, HostRequest, JsonObject, Registration } from "@nimlet/protocol"
import type { Countdown, Reply, Self, Stopwatch } from "@nimlet/actor"
import { applySideEffects, SideEffectLimits } from "./ApplySideEffects.ts"
import { Conversation } from "./Conversation.ts"
import { CallFailed, ExtensionCrashed, type ExtensionMute, StartFailed } from "./ExtensionError.ts"
import { tapped } from "./FrameTap.ts"
import { greet } from "./Handshake.ts"
import { Inquiries } from "./Inquiries.ts"
import { isJsonObject, mayBeObject, parseJson } from "./Json.ts"
import { type Losses, makeLosses } from "./Losses.ts"
import type { Meter } from "./Meter.ts"
import { deepFieldsOf, maxNesting, withoutFields } from "./Nesting.ts"
import { Pace } from "./Pace.ts"
import { decodeRegister } from "./RegisterLine.ts"
import { offerFaults } from "./RegisterLine/OfferFaults.ts"
import { SessionAccess, type SessionAccessShape } from "./SessionAccess.ts"
import type { Shown } from "./Shown.ts"
import { withoutSuperseded } from "./Superseded.ts"
import type { Sent, Transport } from "./Transport.ts"
import type { Line } from "./Transport/Lines.ts"

type WithoutId<T> = T extends unknown ? Omit<T, "id"> : never
/** A request before it has its id. */
export type Unsent = WithoutId<HostRequest>

/** What the actor of an extension understands. */
export type ExtensionMail =
  | {
    readonly _tag: "Request"
    readonly request: Unsent
    readonly reply: Reply<JsonObject, CallFailed>
    readonly countdown: Countdown | undefined
    readonly onUpdate: ((text: string, details?: JsonObject) => Effect.Effect<void>) | undefined
    readonly onBehalfOf: ReadonlySet<string>
  }
  /** The asker gave up. */
  | { readonly _tag: "Cancel"; readonly reply: Reply<JsonObject, CallFailed> }
  /** The user pressed an action of a widget; the reply says whether the extension was told. */
  | {
    readonly _tag: "Act"
    readonly widget: string
    readonly action: string
    readonly text: string
    readonly reply: Reply<boolean>
  }
  | { readonly _tag: "Lines"; readonly lines: ReadonlyArray<Line> }
  /** The peer is gone or will write no more. */
  | { readonly _tag: "Gone"; readonly how: string }
  /** Registration took too long. */
  | { readonly _tag: "Overdue" }
  /** So many requests in a row were waited for in vain. */
  | { readonly _tag: "Mute"; readonly mute: ExtensionMute }

/** What a life needs from the outside. */
export interface LifeOptions {
  readonly key: string
  readonly open: Effect.Effect<Transport, StartFailed, Scope.Scope>
  /** The first line of a life, made afresh for each. */
  readonly initialize: () => HostMessage
  readonly registrationMillis: number
  readonly stopwatch: Stopwatch
  /** Emptied when the life ends. */
  readonly shown: Shown
  readonly meter: Meter
  /** Called before the first request is let through. What it forks ends with the life. */
  readonly onRegistered: (registration: Registration) => Effect.Effect<void, never, Scope.Scope>
  /** Run once it can be asked. */
  readonly onReady: Effect.Effect<unknown>
  /** Whether it may register anew at any time. */
  readonly revises: boolean
  /** Called with what it offers from now on. */
  readonly onRevised: (registration: Registration) => Effect.Effect<void>
  readonly warn: (message: string) => Effect.Effect<void>
  /** Says something once per extension; `about` tells repetitions. */
  readonly warnOnce: (about: string, message: string) => Effect.Effect<void>
}

/** Requests one extension may have open; more fail as `busy`. */
export const maxPending = 256
/** After `shutdown` and the end of its input, an extension has this long before it is killed. */
const shutdownGrace = "2 seconds"
/** After the end of its output, an exit that explains it comes within this. */
const exitFor = "250 millis"

const failureOf: Record<Exclude<Sent, "accepted">, CallFailed["reason"]> = {
  full: "busy",
  too_large: "too_large",
  closed: "crashed"
}

/** A request as a person would call it. */
const nameOf = (request: Unsent): string =>
  request.type === "event" ? `the event ${request.event}` : "name" in request ? `the ${request.type} ${request.name}` : `an ${request.type}`

const beginning = (text: string): string =>
  new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, 200)).replace(/\uFFFD$/, "")

/** Hears the peer out, a chunk of lines at a time and as fast as `pace` allows, and then says how it ended. */
const pump = (transport: Transport, self: Self<ExtensionMail>, pace: Pace) =>
  Effect.gen(function*() {
    const gone = (how: string) => self.tell({ _tag: "Gone", how })
    yield* Effect.forkScoped(Effect.flatMap(transport.closed, gone))
    yield* Stream.runForEachArray(transport.inbound, (lines) => {
      pace.handsOn()
      return Effect.andThen(self.tell({ _tag: "Lines", lines }), pace.rest)
    })
    yield* Effect.sleep(exitFor)
    yield* gone("closed its output")
  })

/** The polite part of the way out; the transport's own end is the rest. */
const sayGoodbye = (transport: Transport) =>
  transport.send(JSON.stringify({ type: "shutdown" })).pipe(
    Effect.andThen(transport.endInput),
    Effect.andThen(Effect.timeoutOption(transport.closed, shutdownGrace))
  )

/** The session as the extension may use it, where what was dropped of its messages is told. */
const sessionFor = (losses: Losses) =>
  Effect.map(SessionAccess, (session): SessionAccessShape => ({
    ...session,
    say: (extension, message) =>
      Effect.tap(session.say(extension, message), (why) =>
        why === undefined ? Effect.void : losses.lost({ one: "its message was dropped", several: "messages were dropped", why }))
  }))

/** The behavior of an extension's actor. It fails with `StartFailed` before registration, `ExtensionCrashed` or `ExtensionMute` after. */
export const extensionLife = (options: LifeOptions) =>
  Effect.fnUntraced(function*(self: Self<ExtensionMail>) {
    const losses = yield* makeLosses(options.key, options.warn)
    return yield* Effect.provideService(live(options, losses, self), SessionAccess, yield* sessionFor(losses))
  })

const live = (options: LifeOptions, losses: Losses, self: Self<ExtensionMail>) =>
  Effect.gen(function*() {
    const { key, meter, shown, stopwatch, warnOnce } = options
    const clock = yield* Clock.Clock
    const now = () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
    const begun = now()
    meter.began()
    const transport = yield* Effect.flatMap(options.open, (opened) => tapped(opened, key))
    meter.connected(transport.pid)
    const { companion } = transport
    const conversation = new Conversation()
    let registered = false
    const send = (message: HostMessage) => transport.send(JSON.stringify(message))
    /** What the peer has to know first; undefined where that is nothing. */
    const prelude = (): Effect.Effect<unknown> | undefined => {
      const lines = companion?.prelude() ?? []
      return lines.length === 0 ? undefined : Effect.forEach(lines, (line) => transport.send(line), { discard: true })
    }
    /** Whoever waited for an answer finds what has changed meanwhile. */
    const answer = (message: HostMessage) => Effect.suspend(() => Effect.andThen(prelude() ?? Effect.void, send(message)))
    const inquiries = new Inquiries({ key, stopwatch, send: answer, conversation, companion, losses })
    const limits = new SideEffectLimits(losses)
    const pace = new Pace(now)
    let noisy = false
    /** Lines of the chunk at hand that somebody waited for. */
    let asked = 0

    yield* Effect.forkScoped(pump(transport, self, pace))
    // Added after the pump and before any question: questions end first, and the peer is heard while it says goodbye. One that
    // did not register, or that crashed, is not waited for.
    yield* Effect.addFinalizer((exit) => {
      pace.end()
      return registered && Exit.hasInterrupts(exit) ? sayGoodbye(transport) : Effect.void
    })
    yield* prelude() ?? Effect.void
    yield* send(options.initialize())
    const overdue = Effect.andThen(Effect.sleep(options.registrationMillis), self.tell({ _tag: "Overdue" }))
    const timer = yield* Effect.forkScoped(overdue)

    // Every hook of every tool call goes through here and `hear`: no generator where nothing is waited for.
    const request = (mail: Extract<ExtensionMail, { _tag: "Request" }>) => {
      const fail = (reason: CallFailed["reason"]) =>
        mail.reply.fail(new CallFailed({ extension: key, reason, ...(reason === "too_large" ? { detail: nameOf(mail.request) } : {}) }))
      if (!registered) return fail("unavailable")
      if (conversation.size >= maxPending) return fail("busy")
      const { type, ...rest } = mail.request
      const first = prelude()
      const told = transport.send(JSON.stringify({ type, id: conversation.nextId, ...rest }))
      return Effect.flatMap(first === undefined ? told : Effect.andThen(first, told), (sent) => {
        if (sent !== "accepted") return fail(failureOf[sent])
        conversation.open(type === "event" ? { ...mail, since: now() } : mail)
        meter.sent()
        return Effect.void
      })
    }

    const givenUp = (id: string) => {
      meter.gaveUp()
      inquiries.requestOver(id, "given up")
    }

    const effects = (line: JsonObject, size: number) =>
      Effect.flatMap(applySideEffects(key, shown, limits, line, size), (bad) =>
        bad.length === 0
          ? Effect.void
          : Effect.forEach(bad, (field) => warnOnce(field, `extension '${key}': ignored an invalid ${field}`), { discard: true }))

    /** A request of the extension; without a text as its id nobody could tell which one is answered. */
    const inquire = (
      line: JsonObject,
      take: (id: string) => Effect.Effect<unknown, never, Scope.Scope>
    ): Effect.Effect<unknown, never, Scope.Scope> =>
      typeof line.id === "string"
        ? take(line.id)
        : warnOnce("id", `extension '${key}' asks without an id that is a text (${String(line.type)}); such requests are ignored`)

    const act = Effect.fnUntraced(function*({ action, reply, text, widget }: Extract<ExtensionMail, { _tag: "Act" }>) {
      if (!registered || !shown.takes(widget, action, text)) return yield* reply.succeed(false)
      const said = shown.carriesText(widget, action) ? text : ""
      yield* reply.succeed((yield* send({ type: "ui_action", widget, action, text: said })) === "accepted")
    })

    const tellFaults = (faults: ReadonlyArray<string> = []) =>
      Effect.forEach(faults, (fault) => warnOnce(`register ${fault}`, `extension '${key}': ${fault}`), { discard: true })

    const registerAgain = (line: JsonObject): Effect.Effect<void> => {
      if (!options.revises) return warnOnce("register", `extension '${key}' registered again; only the first register counts`)
      return Result.match(decodeRegister(line), {
        onFailure: (reason) => warnOnce(`register ${reason}`, `extension '${key}': ${reason}`),
        onSuccess: (registration) => Effect.andThen(options.onRevised(registration), tellFaults(offerFaults(line)))
      })
    }

    /** What is to be done about a line; undefined where that is nothing. */
    type Work<E = never> = Effect.Effect<unknown, E, Scope.Scope> | undefined

    const hear = (line: JsonObject, size: number): Work => {
      switch (line.type) {
        case "response": {
          const pending = typeof line.id === "string" ? conversation.close(line.id) : undefined
          if (typeof line.id !== "string" || pending === undefined) return void meter.late()
          asked++
          if (pending.reply.isAbandoned) {
            givenUp(line.id)
            return Effect.sync(() => meter.late())
          }
          meter.answered(pending.since === undefined ? undefined : now() - pending.since)
          inquiries.requestOver(line.id, "answered")
          const answered = companion !== undefined && typeof line.failed === "string"
            ? pending.reply.fail(new CallFailed({ extension: key, reason: "threw", detail: line.failed }))
            : pending.reply.succeed(line)
          return Effect.andThen(effects(line, size), answered)
        }
        case "update":
          return effects(line, size)
        case "tool_update": {
          const pending = typeof line.id === "string" ? conversation.get(line.id) : undefined
          if (pending === undefined || typeof line.content !== "string") return undefined
          const said = pending.onUpdate?.(line.content, isJsonObject(line.details) ? line.details : undefined) ?? Effect.void
          return pending.countdown === undefined ? said : Effect.andThen(pending.countdown.restart, said)
        }
        case "ui_request":
          return inquire(line, (id) => inquiries.question(id, line))
        case "host_request":
          return inquire(line, (id) => inquiries.hostRequest(id, line))
        case "register":
          return registerAgain(line)
        case "ui_cancel":
          return Effect.sync(() => typeof line.id === "string" ? inquiries.withdraw(line.id) : undefined)
        default:
          return companion === undefined
            ? void meter.dropped()
            : Effect.map(companion.hear(line), (known) => known ? undefined : meter.dropped())
      }
    }

    const noise = (text: string): Work => {
      meter.dropped()
      if (noisy) return undefined
      noisy = true
      return warnOnce(
        "noise",
        `extension '${key}' wrote a line that is not a JSON object: ${beginning(text)} ` +
          "(standard output is for protocol lines only; logs belong on standard error)"
      )
    }

    /** Hears a line without what of it nobody could walk. */
    const take = (line: JsonObject, size: number): Work => {
      const deep = deepFieldsOf(line, size)
      if (deep.length === 0) return hear(line, size)
      const told = warnOnce(`deep ${deep.join()}`, `extension '${key}': its ${String(line.type)} line nests over ${maxNesting} levels in ${deep.join(", ")}; that was ignored`)
      return Effect.andThen(told, hear(withoutFields(line, deep), size) ?? Effect.void)
    }

    const welcome = Effect.fnUntraced(function*(line: Line): Effect.fn.Return<void, StartFailed, Scope.Scope> {
      const greeting = greet(line)
      switch (greeting._tag) {
        case "Noise":
          yield* noise(greeting.text) ?? Effect.void
          return
        case "Refused":
          yield* tellFaults(greeting.faults)
          return yield* new StartFailed({ extension: key, reason: greeting.reason })
        case "Registered":
          registered = true
          yield* Effect.sync(() => timer.interruptUnsafe())
          meter.registered(now() - begun)
          yield* options.onRegistered(greeting.registration)
          yield* tellFaults(greeting.faults)
          yield* self.ready
          yield* options.onReady
          return
      }
    })

    const read = (line: Line): Work<StartFailed> => {
      if (!registered) {
        // A module may ask for things while it is loaded.
        const text = companion === undefined ? undefined : Result.getOrUndefined(line)
        const said = text === undefined ? undefined : Result.getOrUndefined(parseJson(text))
        return text !== undefined && isJsonObject(said) && said.type !== "register" ? take(said, text.length) : welcome(line)
      }
      if (Result.isFailure(line)) {
        meter.dropped()
        return warnOnce("long", `extension '${key}' wrote a line over ${line.failure.limit} bytes; it was dropped`)
      }
      const text = line.success
      const parsed = mayBeObject(text) ? parseJson(text) : undefined
      return parsed !== undefined && Result.isSuccess(parsed) && isJsonObject(parsed.success) ? take(parsed.success, text.length) : noise(text)
    }

    for (;;) {
      const mail = yield* self.take
      switch (mail._tag) {
        case "Request":
          yield* request(mail)
          break
        case "Cancel": {
          const id = conversation.abandon(mail.reply)
          if (id === undefined) break
          yield* send({ type: "cancel", id })
          givenUp(id)
          break
        }
        case "Act":
          yield* act(mail)
          break
        case "Lines": {
          const began = now()
          asked = 0
          for (const line of withoutSuperseded(mail.lines)) {
            const work = read(line)
            if (work !== undefined) yield* work
          }
          pace.handled(began, mail.lines.length, mail.lines.length - asked)
          break
        }
        case "Gone":
          return yield* registered
            ? new ExtensionCrashed({ extension: key, reason: mail.how })
            : new StartFailed({ extension: key, reason: `it ${mail.how} before it registered` })
        case "Mute":
          return yield* mail.mute
        case "Overdue":
          if (registered) break
          if (transport.unfinished?.() === true) yield* options.warn(`extension '${key}' has written a line without its end; each line ends with a newline, and counts once that has come`)
          return yield* new StartFailed({ extension: key, reason: "extension response timed out" })
      }
    }
  })
