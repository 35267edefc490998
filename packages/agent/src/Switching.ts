/**
 * Which session an agent works in, and how it changes: the old one is left, with its extensions, before the new one is
 * entered with extensions of its own. What cannot be entered is found out before anything is left, so that a change that
 * fails changes nothing; once begun it is not interrupted, only the wait for extensions to have started is.
 */
import { Effect, Fiber, Option, Scope } from "effect"
import { EntrySink, Extensions, type HookOptions, Hooks, SessionAccess, type StartOptions } from "@nimlet/extension"
import type { ShutdownReason } from "@nimlet/protocol"
import { forkPoint, type Session, Sessions, titleOf } from "@nimlet/session"
import { RequiredExtensionMissing, SwitchRefused } from "./AgentError.ts"
import { type Conversation, type ConversationOptions, makeConversation } from "./Conversation.ts"
import { EventSink } from "./EventSink.ts"
import { aboutSelection, aboutSession, type Selection } from "./Selection.ts"

/** Where to go: a new session, one by its id (without: the latest other one of the workspace), or before a message of the user. */
export type Target =
  | { readonly kind: "new" }
  | { readonly kind: "resume"; readonly id?: string }
  | { readonly kind: "fork"; readonly message: number }

/** A session that is about to be entered. `text` is what the message said that a fork stands before. */
export interface Destination {
  readonly session: Session
  readonly title: string
  readonly text: string
}

/** What moving between sessions works with. */
export interface SwitchingOptions extends ConversationOptions {
  /** The extensions of a session; absent where somebody else starts them. */
  readonly extensions?: (session: Session, selection: Selection) => Effect.Effect<StartOptions>
  /** Run when a session is entered and on a reload, beside the start of the extensions; gives warnings to tell. */
  readonly prepare: Effect.Effect<ReadonlyArray<string>>
  /** Run when the extensions of a session are about to be told that it is left, or that they are started anew. */
  readonly onLeave?: Effect.Effect<void>
  /** Told when another session takes the place of the one before, before any of its extensions is started. */
  readonly onSwitch?: (to: Session, from: Session) => Effect.Effect<void>
  /** Run when the extensions of a session that is gone on with have started, before they are told of it. */
  readonly onResumed: (session: Session) => Effect.Effect<void>
}

/** The session an agent works in. */
export interface Switching {
  readonly current: () => Conversation
  /** Why nothing may run here, if so. */
  readonly unready: () => RequiredExtensionMissing | undefined
  /** Returns when the extensions of the session have started and were told of it. */
  readonly ready: Effect.Effect<void>
  /** `entering` is run when it is sure that the session will be left, and before it is. */
  readonly go: (target: Target, entering: (destination: Destination) => Effect.Effect<void>) => Effect.Effect<Destination, SwitchRefused>
  /** Starts the extensions of the session anew. */
  readonly reload: Effect.Effect<void>
}

/** The part of the time for leaving that `session_shutdown` may take: the rest is left for `session_end`. */
const shutdownShare = 0.75

const refused = (why: string) => new SwitchRefused({ blocked: false, why })

/**
 * Enters the first session; `settle` is run when its extensions have started. Fails as that does and with
 * `RequiredExtensionMissing`, before anything was told to extensions. When the scope closes, they are told of the quit and
 * stopped.
 */
export const makeSwitching = Effect.fnUntraced(function*<E, R>(
  options: SwitchingOptions,
  first: Session,
  settle: Effect.Effect<void, E, R>
): Effect.fn.Return<Switching, RequiredExtensionMissing | E, Extensions | Hooks | Sessions | Scope.Scope | R> {
  const scope = yield* Effect.scope
  const hooks = yield* Hooks
  const extensions = yield* Extensions
  const sessions = yield* Sessions
  const take = (session: Session) => Effect.provideService(makeConversation({ ...options, snapshots: sessions.snapshots }, session), Hooks, hooks)
  let current = yield* take(first)
  let unready: RequiredExtensionMissing | undefined
  let starting: Fiber.Fiber<void> | undefined

  const { extensions: optionsOf } = options
  const warn = Effect.fnUntraced(function*(messages: ReadonlyArray<string>) {
    const { publish } = yield* EventSink
    for (const message of messages) yield* publish({ type: "diagnostic", level: "warning", message })
  })
  const start = optionsOf === undefined ? Effect.flatMap(options.prepare, warn) : Effect.gen(function*() {
    const { access, session, store, stored } = current
    unready = undefined
    const given = yield* optionsOf(session, options.selection())
    const starting = extensions.start({ ...given, workspace: session.workspace, sessionId: session.id, entries: stored }).pipe(
      Effect.provideService(SessionAccess, access),
      Effect.provideService(EntrySink, store)
    )
    const [report, warnings] = yield* Effect.all([starting, options.prepare], { concurrency: 2 })
    yield* warn([...report.warnings, ...warnings])
    if (report.missing.length > 0) unready = new RequiredExtensionMissing({ missing: report.missing })
  })
  const stop = optionsOf === undefined ? Effect.void : extensions.stop
  const told = (hookOptions?: HookOptions) =>
    Effect.suspend(() => hooks.run("session_start", aboutSelection(current.session, options.selection()), hookOptions))

  const leave = (reason: ShutdownReason, target?: string, hookOptions?: HookOptions) =>
    Effect.flatMap(Effect.andThen(options.onLeave ?? Effect.void, current.farewell.left), (left) => {
      const about = aboutSession(current.session)
      const shutdown = hooks.run("session_shutdown", { ...about, reason, ...(target === undefined ? {} : { target_session_id: target }) }, hookOptions)
      const end = hooks.run("session_end", { ...about, ...(reason === "quit" ? {} : { reason }) }, hookOptions)
      return Effect.timeoutOption(shutdown, left * shutdownShare).pipe(Effect.andThen(end), Effect.timeoutOption(left), Effect.andThen(stop))
    })

  /** Brings a session that is left to the disk. What was not even written was told when its run ended. */
  const save = (session: Session) =>
    Effect.catch(session.sync, (error) =>
      error.unsaved > 0 ? Effect.void : Effect.flatMap(EventSink, ({ publish }) => publish({ type: "diagnostic", level: "error", message: error.message })))

  const ready = Effect.suspend(() => {
    const fiber = starting
    return fiber === undefined ? Effect.void : Effect.tap(Fiber.join(fiber), () => Effect.sync(() => {
      if (starting === fiber) starting = undefined
    }))
  })

  /** Starts behind the back of whoever waits for it: giving up the wait leaves no session half entered. */
  const begin = (before: Effect.Effect<void>, hookOptions?: HookOptions) =>
    start.pipe(
      Effect.andThen(before),
      Effect.andThen(told(hookOptions)),
      Effect.asVoid,
      Effect.forkIn(scope),
      Effect.tap((fiber) => Effect.sync(() => (starting = fiber)))
    )

  const idOf = Effect.fnUntraced(function*(target: Target) {
    const { id, workspace } = current.session
    if (target.kind !== "resume") return target.kind === "fork" ? id : ""
    const asked = target.id === undefined || target.id === ""
      ? Option.getOrUndefined(yield* sessions.latest(workspace, id))
      : target.id
    if (asked === undefined) return yield* refused("There is no other session of this folder to resume.")
    return asked === id ? yield* refused(`Session ${id} is open already.`) : asked
  })

  const open = Effect.fnUntraced(function*(target: Target, id: string) {
    const { session } = current
    switch (target.kind) {
      case "new":
        return { session: yield* sessions.create({ workspace: session.workspace, persist: Option.isSome(session.path) }), text: "" }
      case "resume":
        return { session: yield* sessions.open(id), text: "" }
      case "fork": {
        const point = forkPoint(yield* session.entries, target.message)
        if (Option.isNone(point)) return yield* refused(`There is no message ${target.message} of yours in this session.`)
        return { session: yield* sessions.fork(session, point.value.count), text: point.value.text }
      }
    }
  }, Effect.mapError((error) => error._tag === "SwitchRefused" ? error : refused(error.message)), Scope.provide(scope))

  const go: Switching["go"] = (target, entering) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        const id = yield* restore(idOf(target))
        const gate = yield* restore(hooks.run("session_before_switch", {
          ...aboutSession(current.session),
          reason: target.kind,
          target_session_id: id
        }))
        if (gate._tag === "Blocked") return yield* new SwitchRefused({ blocked: true, why: gate.reason })
        const { session, text } = yield* open(target, id)
        const destination: Destination = { session, title: titleOf(yield* session.entries), text }
        const next = yield* take(session)
        yield* entering(destination)
        yield* leave(target.kind, id)
        const from = current.session
        current = next
        yield* Effect.andThen(save(from), from.close)
        yield* options.onSwitch?.(session, from) ?? Effect.void
        yield* begin(target.kind === "resume" ? options.onResumed(session) : Effect.void)
        yield* restore(ready)
        return destination
      })
    )

  const reloading = { reloading: true }
  const reload = Effect.uninterruptibleMask((restore) =>
    leave("reload", undefined, reloading).pipe(Effect.andThen(begin(Effect.void, reloading)), Effect.andThen(restore(ready)))
  )

  yield* start
  if (unready !== undefined) return yield* Effect.andThen(stop, Effect.fail(unready))
  yield* Effect.tapError(settle, () => stop)
  yield* Effect.addFinalizer(() => Effect.andThen(leave("quit"), Effect.suspend(() => save(current.session))))
  yield* told()

  return { current: () => current, unready: () => unready, ready, go, reload }
})
