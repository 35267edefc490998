/**
 * One run from start to end: settings, session, model, extensions, agent, the prompt, and all of it closed again. What
 * cannot start fails before a record or an answer is written.
 */
import { Context, Effect, FileSystem, Layer, Option, Path, Ref } from "effect"
import {
  Agent, builtinCommands, EventSink, holdsProtected, layerAsker, isProtected, loadResources, makeMentions, mayBeProtected, makeProjectGrants, type RequiredExtensionMissing, reservedToolNames, type ResourcePaths, type RunResult, type Selection, type Settings, type SettingsInvalid,
  systemPrompt, type Trust
} from "@nimlet/agent"
import { AtomicSession, Diagnostics, discover, Extensions, families, FrameTap, Frontend, Hooks, type StartOptions } from "@nimlet/extension"
import type { ModelError } from "@nimlet/provider"
import { type Session, type SessionLocked, type SessionNotFound, Sessions, type SessionUnreadable, type SessionUnwritable } from "@nimlet/session"
import { type Asker, askUserTool, builtins, type FileFailed, layerLocal, localTools, Operations } from "@nimlet/tools"
import { foreignValues, UsageError } from "./Argv.ts"
import { noPromptInRpc, settledPrompt } from "./ExtensionFlags.ts"
import type { Invocation } from "./Flags.ts"
import { chooseExtensions } from "./ExtensionChoice.ts"
import { loaded, reading } from "./Engine.ts"
import { layerExtensions } from "./Extensions.ts"
import type { Host } from "./Host.ts"
import { loadHttp } from "./HttpFetch.ts"
import { chooseModel, type ChosenModel, keyVariables, type NoModel, type ThinkingUnknown } from "./Model.ts"
import type { Mode } from "./modes/Mode.ts"
import { projectTrust, skippedNotice } from "./ProjectTrust.ts"
import { type SettingsInForce, settingsInForce } from "./SettingsInForce.ts"
import { makeRunModels } from "./RunModels.ts"
import type { PipedText } from "./StandardInput.ts"

/** Why a run did not start. */
export type StartupError = ModelError | NoModel | ThinkingUnknown | SettingsInvalid | SessionNotFound | SessionUnreadable | SessionUnwritable | SessionLocked | FileFailed | RequiredExtensionMissing

/** How many damaged lines of a session are told one by one. */
const damageTold = 5

/** Says which lines of a session that was just opened are left out. */
const tellDamage = Effect.fnUntraced(function*({ damaged, id, path }: Session, { publish }: Mode["sink"]) {
  const file = Option.getOrElse(path, () => id)
  for (const { line, reason } of damaged.slice(0, damageTold)) {
    yield* publish({ type: "diagnostic", level: "warning", message: `${file}:${line}: ${reason}; this line of the session is left out` })
  }
  const untold = damaged.length - damageTold
  if (untold > 0) yield* publish({ type: "diagnostic", level: "warning", message: `${file}: ${untold} more damaged lines are left out; \`nimlet sessions show ${id} --json\` has them all` })
})

const failedRun: RunResult = { success: false, text: "" }

const without = (environment: Host["environment"], names: ReadonlyArray<string>): Record<string, string> =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !names.includes(name)))

const openSession = Effect.fnUntraced(function*(invocation: Invocation, workspace: string, folder: string, notice: Mode["notice"]) {
  const sessions = yield* Sessions
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { persist, session } = invocation
  const { id, unheaded } = session.kind === "latest"
    ? yield* sessions.latest(workspace)
    : { id: session.kind === "id" ? Option.some(session.id) : Option.none<string>(), unheaded: [] }
  if (unheaded.length > 0) {
    const { lostHeaders } = yield* Effect.promise(() => import("./report/SessionText.ts"))
    yield* notice(lostHeaders(unheaded))
  }
  if (Option.isNone(id)) return { session: yield* sessions.create({ workspace, persist }), bytes: 0 }
  const info = yield* Effect.option(fs.stat(path.join(folder, `${id.value}.jsonl`)))
  const bytes = Option.match(info, { onNone: () => 0, onSome: ({ size }) => Number(size) })
  return { session: yield* reading(bytes, sessions.open(id.value, workspace)), bytes }
})

/** Where sessions are kept. */
export const sessionFolder = (settings: Settings, host: Host, path: Path.Path): string => {
  const chosen = settings.agent?.session_dir ?? "~/.nimlet/sessions"
  return path.resolve(host.cwd, chosen.startsWith("~/") ? path.join(host.home, chosen.slice(2)) : chosen)
}

/** Where the output of extensions goes. */
const logFolder = (host: Host, path: Path.Path): string => path.join(host.home, ".nimlet", "logs")

/** What commands of tools run with: everything but providers' keys. */
const toolEnvironment = (host: Host, settings: Settings) => without(host.environment, keyVariables(settings))

/** The built-in tools over this machine and whoever sits before it. */
const builtinTools = (host: Host, settings: Settings) => {
  const limit = settings.tools?.bash?.max_output_bytes
  const shell = host.environment["NIMLET_SHELL"] ?? host.environment["SHELL"]
  return localTools<Asker | Operations>([
    ...builtins({
      env: toolEnvironment(host, settings),
      ...(shell === undefined || shell === "" ? {} : { shell }),
      ...(limit === undefined ? {} : { maxOutputBytes: limit })
    }),
    askUserTool
  ])
}

const extensionRoots = families.flatMap(({ globalRoots, projectRoots }) => [...globalRoots, ...projectRoots])

/** Names the file that a path of the model's means, where a person's yes is needed to change it. */
const protectedPaths = Effect.map(Operations, ({ files }) => (given: string, whole = false) =>
  files.locate(given).pipe(
    Effect.map(({ real, shown }) => (whole ? holdsProtected : isProtected)(real, extensionRoots) ? Option.some(shown) : Option.none()),
    // What the tool itself will refuse.
    Effect.orElseSucceed(() => Option.none())
  ))

/** Looks at the project's files, and tells, once, when they are left out and nobody has said that they shall be. */
const settling = (trust: Trust, mode: Mode) => {
  let told = false
  return Effect.gen(function*() {
    const { decided, faults, files, trusted } = yield* trust.resolve
    if (files.length === 0 || told) return
    const notices = [...faults, ...(trusted || decided ? [] : [skippedNotice])]
    told = notices.length > 0
    yield* Effect.forEach(notices, mode.notice, { discard: true })
  })
}

/** Gives what starts the extensions of a session. Each start but the first looks again at what the project's files are. */
const extensionsOf = Effect.fnUntraced(function*(invocation: Invocation, host: Host, mode: Mode, { projectSettings, settings }: SettingsInForce, workspace: string, trust: Trust, settle: Effect.Effect<void>) {
  const path = yield* Path.Path
  let first = true
  return Effect.fnUntraced(function*(session: Session, { model, provider }: Selection) {
    if (!first) yield* settle
    first = false
    const approve = trust.current().trusted
    const options: StartOptions = {
      ...chooseExtensions({ invocation: { ...invocation, approve }, settings, host, workspace, path, ...(projectSettings === undefined ? {} : { projectSettings }) }),
      workspace,
      sessionId: session.id,
      mode: mode.name,
      logs: logFolder(host, path),
      ...(mode.onlooker === undefined ? {} : { proceed: mode.onlooker.proceed }),
      environment: host.environment,
      withheld: keyVariables(settings),
      session: {
        provider,
        model,
        bin: host.bin,
        ...Option.match(session.path, { onNone: () => ({}), onSome: (file) => ({ file }) })
      },
      reservedTools: reservedToolNames,
      reservedCommands: builtinCommands.map(({ name }) => name)
    }
    return options
  })
})

/** The same with a model chosen by name. A key that was given belongs to the provider it was given with. */
const withModel = ({ apiKey, ...invocation }: Invocation, { model, provider }: { readonly provider: string; readonly model: string }): Invocation => ({
  ...invocation,
  ...(apiKey === undefined || provider !== invocation.provider ? {} : { apiKey }),
  provider,
  model
})

const toModel = ({ info, layer, thinking }: ChosenModel) => ({ ...info, layer, ...(thinking === undefined ? {} : { thinking }) })

/** A model that is chosen later leaves the level of thinking as it is. */
const withoutThinking = ({ thinking: _, ...choice }: ReturnType<typeof toModel>) => choice

/** Seed 001 calls `read_skill` by another name. */
const ownName = (name: string): string => name.toLowerCase() === "skill" ? "read_skill" : name

const unknownTools = Effect.fnUntraced(function*(invocation: Invocation) {
  const wanted = (invocation.tools ?? []).map(ownName)
  // Some of ours are offered only where there is something for them to do.
  const offered = new Set([...invocation.noBuiltinTools ? [] : reservedToolNames, ...yield* (yield* Agent).toolNames].map((name) => name.toLowerCase()))
  return wanted.filter((name) => !offered.has(name.toLowerCase()))
})

/**
 * Runs one prompt as `mode` shows it. Fails with `StartupError` when it could not start, and with `UsageError` when
 * `--tools` names a tool that nobody offers.
 */
export const run = Effect.fnUntraced(function*(
  invocation: Invocation,
  host: Host,
  mode: Mode,
  input: { readonly typed: string; readonly piped: PipedText }
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const workspace = yield* fs.realPath(host.cwd).pipe(Effect.orElseSucceed(() => host.cwd))
  const home = yield* fs.realPath(host.home).pipe(Effect.orElseSucceed(() => host.home))
  const trust = yield* projectTrust(invocation, host, workspace, mode)
  const settle = settling(trust, mode)
  yield* settle
  const inForce = yield* settingsInForce(host.home, workspace, trust)
  const { settings } = inForce
  yield* Effect.forEach(inForce.warnings, mode.notice, { discard: true })
  const sessions = yield* Layer.build(Sessions.layer(sessionFolder(settings, host, path), host))
  const { bytes, session } = yield* openSession(invocation, workspace, sessionFolder(settings, host, path), mode.notice).pipe(Effect.provideContext(sessions))
  const chosen = chooseExtensions({ invocation: { ...invocation, approve: trust.current().trusted }, settings, host, workspace, path })
  const discovered = yield* Effect.cached(discover(chosen))
  const found = Effect.map(discovered, ({ found }) => found)
  // Somebody who names a guard and slips must not run without it.
  const [unusable] = chosen.paths.length === 0 ? [] : (yield* discovered).unusable
  if (unusable !== undefined) return yield* new UsageError({ problem: `-e ${unusable.path}: ${unusable.why}` })
  const mayOffer = Effect.map(found, (all) => all.length > 0)
  const [stranger] = invocation.foreign
  // Modules alone register flags.
  if (stranger !== undefined && !(yield* found).some(({ family }) => family.runsAs === "thread")) {
    return yield* new UsageError({ problem: `Unknown option: --${stranger.name}` })
  }
  const choice = yield* chooseModel({ invocation, settings, defaultsFile: inForce.defaultsFile, session, host }, mayOffer)
  // The provider's code loads while extensions start.
  const { endpoint } = choice
  yield* Effect.forkScoped(choice.warm.pipe(
    Effect.andThen(Effect.sync(() => Option.isSome(endpoint) ? loadHttp(endpoint.value) : undefined)),
    Effect.andThen(loaded(bytes))
  ))

  const traced = invocation.trace === undefined ? undefined : path.resolve(host.cwd, invocation.trace)
  const trace = traced === undefined ? undefined : yield* Effect.flatMap(Effect.promise(() => import("./Trace.ts")), ({ traceInto }) => traceInto(traced))
  const result = yield* Ref.make(failedRun)
  const present = yield* Ref.make(session)
  const conversation = Effect.gen(function*() {
    yield* tellDamage(session, mode.sink)
    const tools = invocation.noBuiltinTools ? [] : yield* builtinTools(host, settings)
    const machine = yield* Effect.context<FileSystem.FileSystem | Path.Path | Operations>()
    const resources = (more?: ResourcePaths) => loadResources({ home, workspace, trusted: () => trust.current().trusted, env: toolEnvironment(host, settings) }, more)
    const extensions = yield* extensionsOf(invocation, host, mode, inForce, workspace, trust, settle)
    const maxSteps = invocation.maxSteps ?? settings.agent?.max_steps
    const { follow_up_mode: followUp, steering_mode: steering } = settings.agent ?? {}
    const queues = { ...(steering === undefined ? {} : { steering }), ...(followUp === undefined ? {} : { followUp }) }
    const offering = yield* Effect.context<Extensions | FileSystem.FileSystem>()
    if (mode.onlooker !== undefined) yield* Effect.forkScoped(mode.onlooker.watch)
    const modelBy = (wishes: Invocation, at: Session) =>
      chooseModel({ invocation: wishes, settings, session: at, host }, Effect.succeed(true)).pipe(
        Effect.flatMap(({ settled }) => settled),
        Effect.map(toModel),
        Effect.provideContext(offering)
      )
    const models = yield* makeRunModels(host, settings)
    const told = Effect.tap(choice.settled, ({ notices }) => Effect.forEach(notices, mode.notice, { discard: true }))
    const flags = foreignValues(invocation.foreign)
    const agent = Agent.layerChoosing({
      session,
      ...choice.named,
      ...(settings.agent === undefined ? {} : { compaction: settings.agent }),
      system: systemPrompt({ workspace, platform: host.platform }),
      tools,
      files: (yield* Operations).files,
      appended: invocation.appended,
      questions: mode.frontend.interactive,
      resources: (more) => Effect.provideContext(resources(more), machine),
      mentions: yield* makeMentions,
      mode: mode.name,
      extensions,
      trust,
      permissions: { grants: yield* makeProjectGrants(workspace, trust), protectedPath: yield* protectedPaths, mayBeProtected: (word, whole) => mayBeProtected(word, extensionRoots, whole) },
      yolo: invocation.yolo,
      ...(maxSteps === undefined ? {} : { maxSteps }),
      modelCommands: models.commands,
      pricesOf: models.pricesOf,
      models: models.known,
      modelNamed: (name) => modelBy(withModel(invocation, name), session).pipe(Effect.map(withoutThinking), Effect.orElseSucceed(() => undefined)),
      onSwitch: (to, from) => Effect.andThen(Ref.set(present, to), Effect.andThen(mode.switched(from.id, to.id), tellDamage(to, mode.sink))),
      modelOf: (at) =>
        modelBy(invocation, at).pipe(
          Effect.catch((error) => mode.sink.publish({ type: "diagnostic", level: "warning", message: `${error.message}; the present model goes on` }).pipe(Effect.as(undefined)))
        ),
      queues: mode.queues === undefined ? queues : mode.queues(queues),
      ...(mode.onIdleInput === undefined ? {} : { onIdleInput: mode.onIdleInput }),
      ...(mode.leave === undefined ? {} : { onShutdown: mode.leave }),
      flags: () => flags,
      ...(invocation.tools === undefined ? {} : { only: invocation.tools.map(ownName) })
    }, Effect.map(told, toModel)).pipe(Layer.provide(Layer.succeedContext(sessions)))
    yield* Effect.gen(function*() {
      const unknown = yield* unknownTools(invocation)
      if (unknown.length > 0) return yield* new UsageError({ problem: `--tools: no tool is named ${unknown.join(", ")}` })
      const typed = yield* settledPrompt(host.argv, { ...invocation, prompt: input.typed })
      if (mode.name === "rpc" && typed !== "") return yield* new UsageError({ problem: noPromptInRpc })
      const { piped } = input
      if (piped.garbled) {
        yield* mode.sink.publish({ type: "diagnostic", level: "warning", message: "what came on standard input is not all text in UTF-8; � stands for what is none" })
      }
      if (piped.silent) {
        yield* mode.sink.publish({
          type: "diagnostic",
          level: "warning",
          message: `nothing came on standard input in ${invocation.stdinWait} s; going on without it`
        })
      }
      const agent = yield* Agent
      if (mode.converse === undefined) return yield* Ref.set(result, yield* agent.prompt({ typed, piped: piped.text }))
      yield* Ref.set(result, yield* mode.converse({
        typed,
        agent,
        extensions: yield* Extensions,
        sessions: Context.get(sessions, Sessions),
        trust,
        models: models.list,
        shell: tools.find(({ name }) => name === "bash"),
        logs: logFolder(host, path),
        model: Effect.fnUntraced(function*(name) {
          const { provider } = yield* agent.selection
          return withoutThinking(yield* modelBy(withModel(invocation, { provider, ...name }), yield* agent.session))
        })
      }))
    }).pipe(Effect.provide(agent), Effect.provideContext(sessions))
  }).pipe(Effect.provide(Layer.mergeAll(
    Layer.provideMerge(Hooks.layer, layerExtensions(host)),
    Layer.succeed(FrameTap, trace),
    layerLocal({ workspace }),
    layerAsker,
    Layer.succeed(EventSink, mode.sink),
    Layer.succeed(Frontend, mode.frontend),
    Layer.effect(AtomicSession, Effect.map(AtomicSession, (outer) => ({ ...outer, ...mode.screen }))),
    Layer.succeed(Diagnostics, ({ extension, level, message }) =>
      mode.sink.publish({ type: "diagnostic", level, message, ...(extension === undefined ? {} : { extension }) }))
  )))

  const lost = (message: string) => mode.unsaved?.(message) ?? mode.sink.publish({ type: "diagnostic", level: "error", message })
  const closed = Effect.gen(function*() {
    const { id, sync } = yield* Ref.get(present)
    // The last try: what is in memory alone now is gone with us.
    const refused = yield* Effect.flip(sync).pipe(Effect.option)
    if (Option.isSome(refused) && refused.value.unsaved > 0) {
      yield* lost(`${refused.value.unsaved} entries of session ${id} are not saved: ${refused.value.message}`)
      yield* Ref.update(result, (last) => ({ ...last, success: false }))
    }
    yield* mode.closed(id, yield* Ref.get(result))
  })
  // Whatever interrupts us, and whenever: what was opened is closed.
  yield* Effect.acquireUseRelease(
    mode.opened(session.id),
    () => Effect.tapError(Effect.andThen(mode.greeted ?? Effect.void, conversation), ({ message }) => mode.refused(message)),
    () => closed
  )
  return yield* Ref.get(result)
}, Effect.scoped)
