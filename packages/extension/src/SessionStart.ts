/** Starts the extensions of a session: finds them, spawns all at once, and waits for those the session needs. */
import { type Context, Effect, Exit, type FileSystem, type Path, Scope } from "effect"
import { Supervisor } from "@nimlet/actor"
import { HookEvents, isHookName } from "@nimlet/protocol"
import { reportCrashes } from "./CrashReport.ts"
import { Diagnostics } from "./Diagnostics.ts"
import { discover, type Found, settingsOf } from "./Discovery.ts"
import { environmentOf } from "./Environment.ts"
import { Frontend } from "./Frontend.ts"
import { initializeWith } from "./Handshake.ts"
import type { Launcher } from "./Launcher.ts"
import { type Member, startMember } from "./Member.ts"
import { faultsOf, type Offering, providersOf, replacementsOf, unreachableOf } from "./Roster.ts"
import type { StartOptions, StartReport } from "./Start.ts"

/** One session's extensions, from start to stop. */
export interface RunningSession {
  readonly sessionId: string
  readonly members: ReadonlyArray<Member>
  /** Those of an earlier start in the same session that go on, since the new ones failed. */
  readonly kept?: ReadonlyArray<Member>
  readonly supervisor: Supervisor.Supervisor
  readonly reserved: { readonly tools: ReadonlySet<string>; readonly providers: ReadonlySet<string> }
  /** Stops all at once. */
  readonly stop: Effect.Effect<void>
}

/** What a start needs beside its options. */
export interface SessionEnvironment {
  readonly launcher: Launcher["Service"]
  readonly services: Context.Context<FileSystem.FileSystem | Path.Path>
  /** Whether the session has been told of (`session_start`): one that comes later is told by itself. */
  readonly isOpen: () => boolean
  /** Everything ends with it. */
  readonly scope: Scope.Scope
  /** Called when what extensions subscribed to may have changed. */
  readonly onOffersChanged: () => void
  /** Called after every change of anybody's figures. */
  readonly onFiguresChanged: () => void
}

/** What those that can be asked offer, in startup order. */
export const offeringsOf = (members: ReadonlyArray<Member>): Effect.Effect<ReadonlyArray<Offering>> =>
  Effect.map(
    Effect.filter(members, (member) => member.isAlive),
    (alive) =>
      alive.flatMap(({ family, key, registration }): ReadonlyArray<Offering> => {
        const registered = registration()
        return registered === undefined ? [] : [{ key, family, registration: registered }]
      })
  )

const isGate = (event: string): boolean => isHookName(event) && HookEvents[event].kind === "gate"

/** Whether calls are blocked when the extension cannot be asked. */
export const isClosedGuard = ({ family, manifest }: Found): boolean => (manifest.on_failure ?? family.onFailure) === "block"

/**
 * Starts all and returns when each that is waited for has registered, failed or passed its limit, or `proceed` says to go
 * on. `begun` is called before anything is waited for. Giving up the wait ends no extension.
 */
export const startSession = Effect.fnUntraced(function*(
  options: StartOptions,
  { isOpen, launcher, onFiguresChanged, onOffersChanged, scope, services }: SessionEnvironment,
  begun: (session: RunningSession) => void
) {
  const { closedGuards, disabled, found: all, warnings: skipped } = yield* Effect.provideContext(discover(options), services)
  const { runsAs } = options
  const found = runsAs === undefined ? all : all.filter(({ family }) => family.runsAs === runsAs)
  const warnings = [...skipped, ...overreaching(found, options)]
  const about = new Map<string, string>()
  const required = new Set(options.required ?? [])
  if (found.length === 0) return reportOf({ members: [], disabled, required, warnings, about, closedGuards, pending: [] })

  const diagnose = yield* Diagnostics
  const { interactive } = yield* Frontend
  let starting = true
  const told = new Set<string>()
  const warn = (message: string, extension: string) =>
    Effect.suspend(() => {
      if (!starting) return diagnose({ level: "warning", message, extension })
      warnings.push(message)
      about.set(message, extension)
      return Effect.void
    })
  /** Said once a session: a restart brings the same registration again. */
  const warnOnce = (message: string, extension: string) =>
    Effect.suspend(() => {
      if (told.has(message)) return Effect.void
      told.add(message)
      return warn(message, extension)
    })

  const inner = yield* Scope.fork(scope)
  const supervisor = yield* Scope.provide(Supervisor.make, inner)
  const events = yield* Scope.provide(supervisor.subscribe, inner)
  yield* Effect.forkIn(reportCrashes(events, warn, onFiguresChanged), inner)
  const lower = (names: ReadonlyArray<string> = []) => new Set(names.map((name) => name.toLowerCase()))
  const reserved = { tools: lower(options.reservedTools), commands: lower(options.reservedCommands), providers: lower(options.reservedProviders) }
  const members: Array<Member> = []
  const stop = Effect.suspend(() =>
    Effect.forEach(members, ({ key }) => supervisor.stop(key), { concurrency: "unbounded", discard: true })
  ).pipe(Effect.andThen(Scope.close(inner, Exit.void)), Effect.uninterruptible)
  begun({ sessionId: options.sessionId, members, supervisor, reserved, stop })

  /** Who clashes depends on the order of all, so it is told when all that are waited for are there, and then as they come. */
  const tellClashes = Effect.flatMap(offeringsOf(members), (offerings) =>
    Effect.forEach(providersOf(offerings, reserved.providers).clashes, ({ extension, message }) => warnOnce(message, extension), {
      discard: true
    }))

  for (const each of found) {
    const member: Member = yield* startMember({
      found: each,
      supervisor,
      open: launcher.open(launchOf(each, options)),
      initialize: () =>
        initializeWith({
          workspace: options.workspace,
          session_id: options.sessionId,
          trusted: options.trusted,
          mode: options.mode,
          ui: interactive,
          entries: options.entries?.(each.key) ?? []
        }),
      warn: (message) => warn(message, each.key),
      onRegistered: Effect.fnUntraced(function*(registration) {
        const told = [
          ...faultsOf(registration, reserved.tools, each.family),
          ...replacementsOf(registration, reserved.tools, each.family),
          ...unreachableOf(registration, reserved.commands)
        ]
        for (const message of told) yield* warnOnce(message, each.key)
        if (each.manifest.background === true && !isClosedGuard(each) && registration.events.some(isGate)) {
          yield* warnOnce(`extension '${each.key}' wants to be asked before things are done, and "background": true lets them be done before it is there; take that out of its manifest`, each.key)
        }
        if (!starting) yield* tellClashes
      }),
      onOffersChanged,
      welcome: ({ events }, again) =>
        events.includes("session_start") && (again ? each.family.sessionStartAfterCrash : isOpen())
          ? { type: "event", event: "session_start", payload: { ...sessionOf(options), ...(again ? { reason: "reload" } : {}) } }
          : undefined,
      changed: onFiguresChanged
    })
    members.push(member)
    onOffersChanged()
  }

  const isWaitedFor = (member: Member) =>
    member.manifest.background !== true || isClosedGuard(member) || required.has(member.manifest.name) || required.has(member.key)
  const waitedFor = members.filter(isWaitedFor)
  const settled = Effect.forEach(waitedFor, (member) => member.settled, { concurrency: "unbounded", discard: true })
  yield* (options.proceed === undefined ? settled : Effect.raceFirst(settled, options.proceed)).pipe(
    Effect.andThen(tellClashes),
    Effect.ensuring(Effect.sync(() => {
      starting = false
    }))
  )
  const pending = waitedFor.filter((member) => !member.isSettled()).map(({ key }) => key)
  return reportOf({ members, disabled, required, warnings, about, closedGuards, pending })
})

const reportOf = ({ about, closedGuards, disabled, members, pending, required, warnings }: {
  readonly members: ReadonlyArray<Member>
  readonly disabled: ReadonlyArray<Found>
  readonly required: ReadonlySet<string>
  readonly warnings: ReadonlyArray<string>
  readonly about: ReadonlyMap<string, string>
  readonly pending: ReadonlyArray<string>
  readonly closedGuards: ReadonlyArray<string>
}): StartReport => {
  const started = members.filter((member) => member.registration() !== undefined)
  const goesBy = (name: string) => ({ key, manifest }: Found) => key === name || manifest.name === name
  const missing = [...required].flatMap((extension) => {
    // Of several by one name each must run: another's would else stand in for a person's own that does not.
    const named = members.filter(goesBy(extension))
    const member = named.find((one) => !started.includes(one))
    if (named.length > 0 && member === undefined && !closedGuards.includes(extension)) return []
    const reason = member !== undefined
      ? member.meter.reading.fault ?? "it has not registered yet"
      : closedGuards.includes(extension)
      ? "its manifest is no good"
      : disabled.some(goesBy(extension)) ? "it is disabled by the settings" : "no extension of that name was found"
    return [{ extension, reason }]
  })
  return { started: started.map(({ key }) => key), warnings, missing, ...(about.size === 0 ? {} : { about }), ...(closedGuards.length === 0 ? {} : { closedGuards }), ...(pending.length === 0 ? {} : { pending }) }
}

/** What an extension that starts again is told of the session. */
const sessionOf = ({ selected, session, sessionId, thinking, workspace }: StartOptions) => ({
  session_id: sessionId,
  workspace,
  ...(selected?.() ?? { provider: session?.provider ?? "", model: session?.model ?? "", thinking: thinking ?? "" })
})

const launchOf = (found: Found, options: StartOptions) => ({
  extension: found.key,
  runsAs: found.family.runsAs,
  command: found.manifest.command,
  folder: found.folder,
  workspace: options.workspace,
  environment: environmentOf(
    options.environment,
    options.withheld ?? [],
    asksForItself(found, options) ? [] : found.manifest.env ?? [],
    { ...options.session, sessionId: options.sessionId, trusted: options.trusted }
  ),
  logs: options.logs,
  maxLineBytes: found.manifest.max_line_bytes
})

/** Whether the names in `env` are a project's own wish. Someone else wrote it; what settings say is the user's. */
const asksForItself = ({ manifest, project }: Found, { settings }: StartOptions): boolean =>
  project && settingsOf(settings, manifest.name).env === undefined

/** A project's manifest may not ask for withheld variables. */
const overreaching = (found: ReadonlyArray<Found>, options: StartOptions): ReadonlyArray<string> =>
  found.filter((each) => asksForItself(each, options)).flatMap(({ folder, manifest }) =>
    (manifest.env ?? [])
      .filter((name) => options.withheld?.includes(name) === true)
      .map((name) => `${folder}/extension.json: env ${name} is ignored, a project cannot ask for provider keys`))
