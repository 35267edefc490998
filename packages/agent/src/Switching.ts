/**
 * Which session an agent works in, and how it changes: the old one is left, with its extensions, before the new one is
 * entered with extensions of its own. What cannot be entered is found out before anything is left, so that a change that
 * fails changes nothing; once begun it is not interrupted, only the wait for extensions to have started is.
 */
import { Effect, Fiber, Option, Scope } from "effect"
import { AtomicSession, type AtomicSessionShape, EntrySink, Extensions, type HookOptions, type HookOutcome, Hooks, SessionAccess, type StartOptions } from "@nimlet/extension"
import type { HookPayload, ShutdownReason } from "@nimlet/protocol"
import { forkPoint, isUser, saidIn, type Session, Sessions } from "@nimlet/session"
import { RequiredExtensionMissing, SwitchRefused } from "./AgentError.ts"
import { type Conversation, type ConversationOptions, makeConversation } from "./Conversation.ts"
import { EventSink } from "./EventSink.ts"
import type { ResourcePaths } from "./Resources.ts"
import { aboutSelection, aboutSession, type Selection } from "./Selection.ts"

/** Where to go: a new session, one by its id (without: the latest other one of the workspace), or before a message of the user. */
export type Target =
  | { readonly kind: "new" }
  | { readonly kind: "resume"; readonly id?: string }
  | { readonly kind: "fork"; readonly message: number }
  /** Before the entry of that id, as seed 004 counts them, or `at` it; with `tree` it is a walk in the session's tree, and the text tells of it. */
  | { readonly kind: "entry"; readonly id: string; readonly at: boolean; readonly tree?: string }

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
  /** Given what extensions named as places of more resources, after they were told of the session; gives warnings to tell. */
  readonly onDiscovered?: (paths: ResourcePaths) => Effect.Effect<ReadonlyArray<string>>
  /** The session as extensions of seed 004 use it, whichever is open. */
  readonly modules: (current: () => Conversation) => AtomicSessionShape
  /** Run when extensions have started, before they are told of the session. */
  readonly onStarted?: Effect.Effect<void>
  /** Run before extensions are stopped or started anew: one that a command of runs may come to its end. */
  readonly lastWords?: Effect.Effect<void>
}

/** Why extensions are told of a session. */
type StartReason = NonNullable<HookPayload<"session_start">["reason"]>

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
/** How long a command of an extension may go on when its session is left, for what it still has to say. */
const mostLastWords = "2 seconds"

type Gate = HookOutcome<"session_before_switch"> | HookOutcome<"session_before_tree">

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
  const isEmpty = current.history.entries.length === 0
  const modules = options.modules(() => current)
  let unready: RequiredExtensionMissing | undefined
  let starting: Fiber.Fiber<void> | undefined

  const { extensions: optionsOf } = options
  const warn = Effect.fnUntraced(function*(messages: ReadonlyArray<string>, about?: ReadonlyMap<string, string>) {
    const { publish } = yield* EventSink
    for (const message of messages) {
      const extension = about?.get(message)
      yield* publish({ type: "diagnostic", level: "warning", message, ...(extension === undefined ? {} : { extension }) })
    }
  })
  const start = optionsOf === undefined ? Effect.flatMap(options.prepare, (messages) => warn(messages)) : Effect.gen(function*() {
    const { access, session, store, stored } = current
    unready = undefined
    const given = yield* optionsOf(session, options.selection())
    const starting = extensions.start({ ...given, workspace: session.workspace, sessionId: session.id, entries: stored }).pipe(
      Effect.provideService(SessionAccess, access),
      Effect.provideService(AtomicSession, modules),
      Effect.provideService(EntrySink, store)
    )
    const [report, warnings] = yield* Effect.all([starting, options.prepare], { concurrency: 2 })
    yield* warn([...report.warnings, ...warnings], report.about)
    if (report.missing.length > 0) unready = new RequiredExtensionMissing({ missing: report.missing })
  })
  const stop = optionsOf === undefined ? Effect.void : extensions.stop
  const discover = Effect.fnUntraced(function*(reason: StartReason) {
    if (options.onDiscovered === undefined || !hooks.subscribed("resources_discover")) return
    const cwd = current.session.workspace
    const why = reason === "reload" ? reason : "startup"
    const { payload } = yield* hooks.run("resources_discover", { cwd, reason: why, skill_paths: [], prompt_paths: [], theme_paths: [] })
    const { prompt_paths, skill_paths, theme_paths } = payload
    if (prompt_paths.length + skill_paths.length + theme_paths.length > 0) yield* warn(yield* options.onDiscovered(payload))
  })
  const told = Effect.fnUntraced(function*(reason: StartReason, from?: Session, hookOptions?: HookOptions) {
    const previous = from === undefined ? undefined : Option.getOrUndefined(from.path)
    const about = aboutSelection(current.session, options.selection())
    yield* options.onStarted ?? Effect.void
    yield* hooks.run("session_start", { ...about, reason, ...(previous === undefined ? {} : { previous_session_file: previous }) }, hookOptions)
    yield* discover(reason)
  })

  const leave = (reason: ShutdownReason, target?: string, hookOptions?: HookOptions) =>
    Effect.flatMap(Effect.andThen(options.onLeave ?? Effect.void, current.farewell.left), (left) => {
      const about = aboutSession(current.session)
      const shutdown = hooks.run("session_shutdown", { ...about, reason, ...(target === undefined ? {} : { target_session_id: target }) }, hookOptions)
      const end = hooks.run("session_end", { ...about, ...(reason === "quit" ? {} : { reason }) }, hookOptions)
      return Effect.timeoutOption(shutdown, left * shutdownShare).pipe(
        Effect.andThen(end),
        Effect.timeoutOption(left),
        Effect.andThen(Effect.timeoutOption(options.lastWords ?? Effect.void, mostLastWords)),
        // Started anew in the same session, they are stopped by that start: some not before the new ones are there.
        Effect.andThen(reason === "reload" ? Effect.void : stop)
      )
    })

  /** Brings a session that is left to the disk. What was not even written was told when its run ended. */
  const save = (session: Session) =>
    Effect.catch(session.sync, (error) =>
      error.unsaved > 0 ? Effect.void : Effect.flatMap(EventSink, ({ publish }) => publish({ type: "diagnostic", level: "error", message: error.message })))

  /** What the disk has refused so far is in memory alone, and would be gone with the session: one more try, or it is not left. */
  const saved = Effect.suspend(() => {
    const { id, sync } = current.session
    return Effect.catch(sync, ({ message, unsaved }) =>
      unsaved === 0 ? Effect.void : Effect.fail(refused(`${unsaved} ${unsaved === 1 ? "entry" : "entries"} of session ${id} ${unsaved === 1 ? "is" : "are"} not saved: ${message}. Make room on the disk and try again.`)))
  })

  const ready = Effect.suspend(() => {
    const fiber = starting
    return fiber === undefined ? Effect.void : Effect.tap(Fiber.join(fiber), () => Effect.sync(() => {
      if (starting === fiber) starting = undefined
    }))
  })

  /** Starts behind the back of whoever waits for it: giving up the wait leaves no session half entered. */
  const begin = (before: Effect.Effect<void>, telling: Effect.Effect<unknown>) =>
    start.pipe(
      Effect.andThen(before),
      Effect.andThen(telling),
      Effect.asVoid,
      Effect.forkIn(scope),
      Effect.tap((fiber) => Effect.sync(() => (starting = fiber)))
    )

  const idOf = Effect.fnUntraced(function*(target: Target) {
    const { id, workspace } = current.session
    if (target.kind !== "resume") return target.kind === "fork" ? id : ""
    const asked = target.id === undefined || target.id === ""
      ? Option.getOrUndefined((yield* sessions.latest(workspace, id)).id)
      : target.id
    if (asked === undefined) return yield* refused("There is no other session of this folder to resume.")
    return asked === id ? yield* refused(`Session ${id} is open already.`) : asked
  })

  /** Where a fork begins, and the message it stands before. */
  const pointOf = Effect.fnUntraced(function*(target: Target) {
    const { entries, projected } = current.history
    if (target.kind === "fork") {
      const point = forkPoint(entries, target.message)
      if (Option.isNone(point)) return yield* refused(`There is no message ${target.message} of yours in this session.`)
      return { ...point.value, id: projected[point.value.count]?.id ?? "", position: "before" as const }
    }
    if (target.kind !== "entry") return undefined
    const at = projected.findIndex(({ id }) => id === target.id)
    const entry = entries[at]
    if (entry === undefined) return yield* refused(`There is no entry ${target.id} in this session.`)
    if (target.at) return { count: at + 1, text: "", id: target.id, position: "at" as const }
    return { count: at, text: isUser(entry) ? saidIn(entry) : "", id: target.id, position: "before" as const }
  })

  const open = Effect.fnUntraced(function*(target: Target, id: string, point: { readonly count: number; readonly text: string } | undefined) {
    const { session } = current
    switch (target.kind) {
      case "new":
        return { session: yield* sessions.create({ workspace: session.workspace, persist: Option.isSome(session.path) }), text: "" }
      case "resume":
        return { session: yield* sessions.open(id, session.workspace), text: "" }
      case "fork":
      case "entry":
        return { session: yield* sessions.fork(session, point?.count ?? 0), text: point?.text ?? "" }
    }
  }, Effect.mapError(({ message }) => refused(message)), Scope.provide(scope))

  const go: Switching["go"] = (target, entering) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        const id = yield* restore(idOf(target))
        const point = yield* pointOf(target)
        if ((yield* current.session.unsaved) > 0) yield* saved
        const reason = target.kind === "entry" ? "fork" : target.kind
        const about = aboutSession(current.session)
        const oldLeaf = current.history.projected.at(-1)?.id ?? ""
        const tree = target.kind === "entry" ? target.tree : undefined
        const asking: Effect.Effect<Gate> = tree === undefined
          ? hooks.run("session_before_switch", { ...about, reason, target_session_id: id, ...(point === undefined ? {} : { entry_id: point.id, position: point.position }) })
          : hooks.run("session_before_tree", { ...about, target_id: point?.id ?? "", old_leaf_id: oldLeaf, instruction: tree })
        const gate = yield* restore(asking)
        if (gate._tag === "Blocked") return yield* new SwitchRefused({ blocked: true, why: gate.reason })
        const { session, text } = yield* open(target, id, point)
        const next = yield* take(session)
        const destination: Destination = { session: next.session, title: next.history.title, text }
        yield* entering(destination)
        yield* leave(reason, id)
        const { ledger, queues, session: from } = current
        current = next
        yield* queues.clear
        yield* options.onSwitch?.(session, from) ?? Effect.void
        yield* save(from)
        const unsaved = yield* ledger.unsaved
        yield* from.close
        if (unsaved !== undefined) {
          const { publish } = yield* EventSink
          yield* publish({ type: "diagnostic", level: "error", message: `session ${from.id} was left with entries that are not saved: ${unsaved}` })
        }
        const walked = tree === undefined
          ? Effect.void
          : Effect.suspend(() => hooks.run("session_tree", { ...aboutSession(session), new_leaf_id: next.history.projected.at(-1)?.id ?? "", old_leaf_id: oldLeaf }))
        yield* begin(target.kind === "resume" ? options.onResumed(session) : Effect.void, Effect.andThen(told(reason, from), walked))
        yield* restore(ready)
        return destination
      })
    )

  const reloading = { reloading: true }
  const reload = Effect.uninterruptibleMask((restore) =>
    leave("reload", undefined, reloading).pipe(Effect.andThen(begin(Effect.void, told("reload", undefined, reloading))), Effect.andThen(restore(ready)))
  )

  yield* start
  if (unready !== undefined) return yield* Effect.andThen(stop, Effect.fail(unready))
  yield* Effect.tapError(settle, () => stop)
  yield* Effect.addFinalizer(() => Effect.andThen(leave("quit"), Effect.suspend(() => save(current.session))))
  yield* told(isEmpty ? "startup" : "resume")

  return { current: () => current, unready: () => unready, ready, go, reload }
})
