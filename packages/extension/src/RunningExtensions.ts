/** The implementation of `Extensions`: at most one session, and what its members offer together. */
import { Context, Effect, FileSystem, Latch, Path, Semaphore, Stream } from "effect"
import { type CommandContext, type HookName, HookEvents, type JsonObject } from "@nimlet/protocol"
import { CallFailed } from "./ExtensionError.ts"
import type { ExtensionFigures } from "./Figures.ts"
import { Launcher } from "./Launcher.ts"
import type { Member } from "./Member.ts"
import { figuresOf } from "./MemberFigures.ts"
import { commandReplyOf, errorIn, toolReplyOf } from "./Replies.ts"
import { commandsOf, modesOf, providersOf, toolsOf } from "./Roster.ts"
import { isClosedGuard, offeringsOf, type RunningSession, startSession } from "./SessionStart.ts"
import type { StartOptions } from "./Start.ts"
import type { Subscriber } from "./Subscriber.ts"
import { retire, stayingIn, succeed } from "./Succession.ts"

/** How long an observe event is waited for where the manifest sets no limit. */
const observeSeconds = 30
/** Figures are told of at most this often. */
const figuresEvery = "250 millis"

const nobody: ReadonlySet<string> = new Set()

/** A guard that blocks because its manifest says no more than that; why was told at the start. */
const absent = (key: string): Subscriber => ({
  key,
  onFailure: "block",
  inPlanMode: true,
  onReload: true,
  ask: () => Effect.fail(new CallFailed({ extension: key, reason: "unavailable", told: true, detail: "its manifest is no good; mend it, then /reload" }))
})

/** Makes the service; what runs is stopped with the scope. */
export const makeExtensions = Effect.gen(function*() {
  const services = Context.pick(FileSystem.FileSystem, Path.Path)(
    yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  )
  const launcher = yield* Launcher
  const scope = yield* Effect.scope
  const turn = yield* Semaphore.make(1)
  const asked = new Map<HookName, ReadonlyArray<Subscriber>>()
  let session: RunningSession | undefined
  let opened = false
  let closedGuards: ReadonlyArray<string> = []

  /** Counts changes of figures, so that those who watch them need not look in between. */
  let version = 0
  let watchers = 0
  const changed = yield* Latch.make(false)
  const onFiguresChanged = () => {
    version++
    if (watchers > 0) changed.openUnsafe()
  }
  const onOffersChanged = () => asked.clear()

  const stopSession = Effect.suspend(() => {
    const stopping = session
    session = undefined
    opened = false
    closedGuards = []
    asked.clear()
    onFiguresChanged()
    return stopping?.stop ?? Effect.void
  })
  yield* Effect.addFinalizer(() => stopSession)

  const begin = (options: StartOptions) =>
    startSession(options, { launcher, services, scope, isOpen: () => opened, onOffersChanged, onFiguresChanged }, (begun) => {
      session = begun
    }).pipe(Effect.tap((report) => Effect.sync(() => {
      closedGuards = report.closedGuards ?? []
      onOffersChanged()
    })))
  const present = () => session

  const start = Effect.fnUntraced(function*(options: StartOptions) {
    const old = present()
    const staying = stayingIn(old, options.sessionId)
    if (old === undefined || staying.length === 0) return yield* Effect.andThen(stopSession, begin(options))
    session = undefined
    opened = false
    asked.clear()
    yield* retire(old, staying)
    const report = yield* Effect.onInterrupt(begin(options), () => old.stop)
    const next = present()
    // A start that finds nothing begins nothing.
    if (next === undefined) return yield* Effect.as(old.stop, report)
    const followed = yield* succeed(old, staying, next, report, options.workspace)
    session = followed.session
    onOffersChanged()
    onFiguresChanged()
    return followed.report
  })

  const offerings = Effect.suspend(() => offeringsOf(session?.members ?? []))
  const tools = Effect.map(offerings, (offered) => toolsOf(offered, session?.reserved.tools ?? nobody))
  const commands = Effect.map(offerings, commandsOf)
  const providers = Effect.map(offerings, (offered) => providersOf(offered, session?.reserved.providers ?? nobody).providers)
  const memberOf = (key: string | undefined, name: string) => {
    const member = session?.members.find((each) => each.key === key)
    return member === undefined ? Effect.fail(new CallFailed({ extension: name, reason: "unknown" })) : Effect.succeed(member)
  }

  /** Does something with the extension of that key; false if there is none. */
  const ofMember = (key: string, does: (member: Member) => Effect.Effect<void>) =>
    Effect.suspend(() => {
      const member = session?.members.find((each) => each.key === key)
      return member === undefined ? Effect.succeed(false) : Effect.as(does(member), true)
    })

  const callTool = Effect.fnUntraced(function*(
    name: string,
    args: JsonObject,
    onUpdate?: (text: string, details?: JsonObject) => Effect.Effect<void>,
    callId?: string
  ) {
    const tool = (yield* tools).find((each) => each.name === name)
    const member = yield* memberOf(tool?.extension, name)
    const id = callId === undefined ? {} : { tool_call_id: callId }
    const line = yield* member.request({ type: "tool", name, arguments: args, ...id }, { onUpdate })
    const { faults, reply } = toolReplyOf(member.key, line)
    yield* member.complain(`tool ${name}`, faults)
    return reply
  })

  const prepare = Effect.fnUntraced(function*(name: string, args: unknown) {
    const tool = (yield* tools).find((each) => each.name === name)
    if (tool?.extras?.prepares !== true) return args
    const member = yield* memberOf(tool.extension, name)
    const line = yield* member.request({ type: "prepare", name, arguments: args })
    return line.arguments === undefined ? args : line.arguments
  })

  const invoke = Effect.fnUntraced(function*(extension: string, handle: number, args: ReadonlyArray<unknown>, onUpdate?: (text: string) => Effect.Effect<void>) {
    const member = yield* memberOf(extension, extension)
    const line = yield* member.request({ type: "invoke", handle, arguments: args }, { onUpdate })
    return line.value
  })

  const runCommand = Effect.fnUntraced(function*(name: string, args: string, context?: CommandContext) {
    const command = (yield* commands).find((each) => each.name.toLowerCase() === name.toLowerCase())
    const member = yield* memberOf(command?.extension, name)
    const known = context === undefined ? {} : { context }
    const line = yield* member.request({ type: "command", name: command?.registered ?? command?.name ?? name, arguments: args, ...known })
    const { faults, reply } = commandReplyOf(line)
    yield* member.complain(`command ${command?.name ?? name}`, faults)
    // Where it also says what it did, that is what counts.
    const detail = Object.keys(reply).length === 0 ? errorIn(line) : undefined
    if (detail !== undefined) return yield* new CallFailed({ extension: member.key, reason: "failed", detail })
    return reply
  })

  /** Whether calls are blocked while it is not there; that its family does so is not said of one that never was a guard. */
  const isClosed = (member: Member) => isClosedGuard(member) && (member.manifest.on_failure !== undefined || member.mayGuard())

  /** Those that registered for the event, and closed guards that cannot be asked what they registered for. */
  const isAsked = (member: Member, event: HookName) =>
    !member.isDisabled() && (member.registration()?.events.includes(event) ?? (event === "tool_call" && isClosed(member)))

  const subscribers = (event: HookName): ReadonlyArray<Subscriber> => {
    if (event === "session_start") opened = true
    const known = asked.get(event)
    if (known !== undefined) return known
    const options = HookEvents[event].kind === "observe" ? { fallbackSeconds: observeSeconds } : {}
    const list = (session?.members ?? []).filter((member) => isAsked(member, event)).map((member): Subscriber => ({
      key: member.key,
      onFailure: member.manifest.on_failure ?? member.family.onFailure,
      inPlanMode: !member.family.silentInPlanMode.includes(event),
      // One that goes on as it was has not ended, and does not start.
      onReload: !member.family.silentOnReload.includes(event) && session?.kept?.includes(member) !== true,
      ask: (event, payload) => member.request({ type: "event", event, payload }, options)
    }))
    const whole = event === "tool_call" ? [...list, ...closedGuards.map(absent)] : list
    asked.set(event, whole)
    return whole
  }

  const act = Effect.fnUntraced(function*(key: string, action: string, text = "") {
    for (const member of session?.members ?? []) {
      if (yield* member.act(key, action, text)) return true
    }
    return false
  })

  const figures: Effect.Effect<ReadonlyArray<ExtensionFigures>> = Effect.suspend(() =>
    Effect.forEach(session?.members ?? [], figuresOf, { concurrency: 8 })
  ).pipe(Effect.provideContext(services))

  const changes = Stream.unwrap(Effect.gen(function*() {
    yield* Effect.acquireRelease(Effect.sync(() => watchers++), () => Effect.sync(() => watchers--))
    let seen: number | undefined
    const news = Effect.suspend(() => {
      if (seen !== version) return Effect.void
      changed.closeUnsafe()
      return changed.await
    })
    const next = Effect.suspend(() => seen === undefined ? Effect.void : Effect.andThen(Effect.sleep(figuresEvery), news)).pipe(
      Effect.andThen(Effect.sync(() => {
        seen = version
      })),
      Effect.andThen(figures)
    )
    return Stream.fromEffectRepeat(next)
  }))

  return {
    start: (options: StartOptions) => turn.withPermits(1)(start(options)),
    stop: turn.withPermits(1)(stopSession),
    restart: (key: string) => ofMember(key, ({ restart }) => restart),
    disable: (key: string) => ofMember(key, ({ disable }) => disable),
    tools,
    commands,
    modes: Effect.map(offerings, modesOf),
    providers,
    act,
    figures,
    changes,
    callTool,
    prepare,
    invoke,
    runCommand,
    subscribers
  }
})
