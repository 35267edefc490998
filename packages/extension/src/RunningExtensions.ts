/** The implementation of `Extensions`: one supervisor a session, members in startup order. */
import { Context, Effect, Exit, FileSystem, Path, Schema, Scope, Semaphore, Stream } from "effect"
import { Supervisor } from "@nimlet/actor"
import { type CommandContext, CommandReplyFields, type HookName, HookEvents, type JsonObject, ToolContent } from "@nimlet/protocol"
import { reportCrashes } from "./CrashReport.ts"
import { Diagnostics } from "./Diagnostics.ts"
import { discover, type Found } from "./Discovery.ts"
import { environmentOf } from "./Environment.ts"
import { CallFailed } from "./ExtensionError.ts"
import { fieldsOf } from "./Fields.ts"
import { Frontend } from "./Frontend.ts"
import { initializeWith } from "./Handshake.ts"
import { Launcher } from "./Launcher.ts"
import { type Member, startMember } from "./Member.ts"
import type { CommandReply, ToolReply } from "./Offer.ts"
import { faultsOf, commandsOf, type Offering, toolsOf } from "./Roster.ts"
import type { StartOptions, StartReport } from "./Start.ts"
import type { Subscriber } from "./Subscriber.ts"

/** How long an observe event is waited for where the manifest sets no limit. */
const observeSeconds = 30

const commandReply = fieldsOf(CommandReplyFields)
const isToolContent = Schema.is(ToolContent)

const contentOf = (content: unknown): ToolReply["content"] =>
  Array.isArray(content)
    ? content.filter(isToolContent)
    : [{ type: "text", text: typeof content === "string" ? content : "" }]

/** One session's extensions, from start to stop. */
interface Session {
  readonly scope: Scope.Closeable
  readonly members: Array<Member>
  readonly supervisor: Supervisor.Supervisor
  readonly reserved: ReadonlySet<string>
}

/** Makes the service; what runs is stopped with the scope. */
export const makeExtensions = Effect.gen(function*() {
  const services = Context.pick(FileSystem.FileSystem, Path.Path)(
    yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  )
  const launcher = yield* Launcher
  const scope = yield* Effect.scope
  const turn = yield* Semaphore.make(1)
  const asked = new Map<HookName, ReadonlyArray<Subscriber>>()
  let session: Session | undefined

  const stopSession = Effect.suspend(() => {
    const stopping = session
    if (stopping === undefined) return Effect.void
    session = undefined
    asked.clear()
    return Effect.forEach(stopping.members, ({ key }) => stopping.supervisor.stop(key), {
      concurrency: "unbounded",
      discard: true
    }).pipe(Effect.andThen(Scope.close(stopping.scope, Exit.void)), Effect.uninterruptible)
  })
  yield* Effect.addFinalizer(() => stopSession)

  const launch = (found: Found, options: StartOptions) => {
    const withheld = options.withheld ?? []
    const wanted = found.manifest.env ?? []
    return launcher.open({
      extension: found.key,
      command: found.manifest.command,
      folder: found.folder,
      workspace: options.workspace,
      environment: environmentOf(
        options.environment,
        withheld,
        found.project ? [] : wanted,
        { ...options.session, sessionId: options.sessionId, trusted: options.trusted }
      ),
      logs: options.logs,
      maxLineBytes: found.manifest.max_line_bytes
    })
  }

  const startSession = Effect.fnUntraced(function*(options: StartOptions) {
    yield* stopSession
    const { found, warnings: skipped } = yield* Effect.provideContext(discover(options), services)
    const warnings = [...skipped, ...overreaching(found, options.withheld ?? [])]
    const nothing: StartReport = { started: [], warnings, missing: [] }
    if (found.length === 0) return nothing

    const diagnose = yield* Diagnostics
    const { interactive } = yield* Frontend
    let starting = true
    const warn = (message: string, extension: string) =>
      Effect.suspend(() => {
        if (!starting) return diagnose({ level: "warning", message, extension })
        warnings.push(message)
        return Effect.void
      })
    const inner = yield* Scope.fork(scope)
    const supervisor = yield* Scope.provide(Supervisor.make, inner)
    const events = yield* Scope.provide(supervisor.subscribe, inner)
    yield* Effect.forkIn(reportCrashes(events, warn), inner)
    const reserved = new Set(options.reservedTools.map((name) => name.toLowerCase()))
    const members: Array<Member> = []
    session = { scope: inner, members, supervisor, reserved }

    for (const each of found) {
      const told = new Set<string>()
      const member: Member = yield* startMember({
        found: each,
        supervisor,
        open: launch(each, options),
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
        onRegistered: (registration) => {
          asked.clear()
          const fresh = faultsOf(registration, reserved).filter((message) => !told.has(message))
          for (const message of fresh) told.add(message)
          return Effect.forEach(fresh, (message) => warn(message, each.key), { discard: true })
        }
      })
      members.push(member)
      asked.clear()
    }
    yield* Effect.forEach(members, (member) => member.settled, { concurrency: "unbounded", discard: true }).pipe(
      Effect.ensuring(Effect.sync(() => {
        starting = false
      }))
    )
    const started = members.filter((member) => member.registration() !== undefined).map(({ key }) => key)
    const report: StartReport = { started, warnings, missing: [] }
    return report
  })

  /** What those that can be asked offer, in startup order. */
  const offerings = Effect.suspend(() =>
    Effect.map(
      Effect.filter(session?.members ?? [], (member) => member.isAlive),
      (alive) =>
        alive.flatMap(({ family, key, registration }): ReadonlyArray<Offering> => {
          const registered = registration()
          return registered === undefined ? [] : [{ key, family, registration: registered }]
        })
    )
  )
  const tools = Effect.map(offerings, (offered) => toolsOf(offered, session?.reserved ?? new Set()))
  const commands = Effect.map(offerings, commandsOf)
  const memberOf = (key: string | undefined, name: string) => {
    const member = session?.members.find((each) => each.key === key)
    return member === undefined ? Effect.fail(new CallFailed({ extension: name, reason: "unknown" })) : Effect.succeed(member)
  }

  const callTool = Effect.fnUntraced(function*(
    name: string,
    args: JsonObject,
    onUpdate?: (text: string) => Effect.Effect<void>
  ) {
    const tool = (yield* tools).find((each) => each.name === name)
    const member = yield* memberOf(tool?.extension, name)
    const line = yield* member.request({ type: "tool", name, arguments: args }, { onUpdate })
    const reply: ToolReply = { content: contentOf(line.content), isError: line.is_error === true }
    return reply
  })

  const runCommand = Effect.fnUntraced(function*(name: string, args: string, context?: CommandContext) {
    const command = (yield* commands).find((each) => each.name.toLowerCase() === name.toLowerCase())
    const member = yield* memberOf(command?.extension, name)
    const line = yield* member.request({ type: "command", name: command?.name ?? name, arguments: args, ...(context === undefined ? {} : { context }) })
    const reply: CommandReply = commandReply(line).values
    return reply
  })

  /** Those that registered for the event, and closed guards that cannot be asked what they registered for. */
  const isAsked = (member: Member, event: HookName) =>
    member.registration()?.events.includes(event) ??
      (event === "tool_call" && (member.manifest.on_failure ?? member.family.onFailure) === "block")

  const subscribers = (event: HookName): ReadonlyArray<Subscriber> => {
    const known = asked.get(event)
    if (known !== undefined) return known
    const options = HookEvents[event].kind === "observe" ? { fallbackSeconds: observeSeconds } : {}
    const list = (session?.members ?? []).filter((member) => isAsked(member, event)).map((member): Subscriber => ({
      key: member.key,
      onFailure: member.manifest.on_failure ?? member.family.onFailure,
      inPlanMode: !member.family.silentInPlanMode.includes(event),
      onReload: !member.family.silentOnReload.includes(event),
      ask: (event, payload) => member.request({ type: "event", event, payload }, options)
    }))
    asked.set(event, list)
    return list
  }

  return {
    start: (options: StartOptions) => turn.withPermits(1)(startSession(options)),
    stop: turn.withPermits(1)(stopSession),
    restart: (key: string) => Effect.suspend(() => session?.supervisor.restart(key) ?? Effect.succeed(false)),
    tools,
    commands,
    modes: Effect.succeed([]),
    providers: Effect.succeed([]),
    act: () => Effect.succeed(false),
    figures: Effect.succeed([]),
    changes: Stream.empty,
    callTool,
    runCommand,
    subscribers
  }
})

/** A project's manifest may not ask for withheld variables: someone else wrote it. */
const overreaching = (found: ReadonlyArray<Found>, withheld: ReadonlyArray<string>): ReadonlyArray<string> =>
  found.flatMap(({ folder, manifest, project }) =>
    (project ? manifest.env ?? [] : [])
      .filter((name) => withheld.includes(name))
      .map((name) => `${folder}/extension.json: env ${name} is ignored, a project cannot ask for provider keys`))
