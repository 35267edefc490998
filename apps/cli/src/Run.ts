/**
 * One run from start to end: settings, session, model, extensions, agent, the prompt, and all of it closed again. What
 * cannot start fails before a record or an answer is written.
 */
import { Effect, FileSystem, Layer, Option, Path, Ref } from "effect"
import {
  Agent, EventSink, loadSettings, type RequiredExtensionMissing, reservedToolNames, type RunResult, type Selection, type Settings, type SettingsInvalid, systemPrompt
} from "@nimlet/agent"
import { Diagnostics, discover, Extensions, Frontend, Hooks, type StartOptions } from "@nimlet/extension"
import type { ModelError } from "@nimlet/provider"
import { type Session, type SessionLocked, type SessionNotFound, Sessions, type SessionUnreadable } from "@nimlet/session"
import { builtins, type FileFailed, layerLocal, localTools, Operations } from "@nimlet/tools"
import { UsageError } from "./Argv.ts"
import type { Invocation } from "./Flags.ts"
import { chooseExtensions, unsearchedRoots } from "./ExtensionChoice.ts"
import type { Host } from "./Host.ts"
import { chooseModel, type ChosenModel, keyVariables, type NoModel } from "./Model.ts"
import type { Mode } from "./modes/Mode.ts"
import type { PipedText } from "./StandardInput.ts"

/** Why a run did not start. */
export type StartupError = ModelError | NoModel | SettingsInvalid | SessionNotFound | SessionUnreadable | SessionLocked | FileFailed | RequiredExtensionMissing

/** How many damaged lines of a session are told one by one. */
const damageTold = 5

const failedRun: RunResult = { success: false, text: "" }

const without = (environment: Host["environment"], names: ReadonlyArray<string>): Record<string, string> =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !names.includes(name)))

const openSession = Effect.fnUntraced(function*(invocation: Invocation, workspace: string) {
  const sessions = yield* Sessions
  const { persist, session } = invocation
  const id = session.kind === "id"
    ? Option.some(session.id)
    : session.kind === "latest"
    ? yield* sessions.latest(workspace)
    : Option.none<string>()
  return yield* Option.match(id, { onNone: () => sessions.create({ workspace, persist }), onSome: sessions.open })
})

/** Where sessions are kept. */
export const sessionFolder = (settings: Settings, host: Host, path: Path.Path): string => {
  const chosen = settings.agent?.session_dir ?? "~/.nimlet/sessions"
  return path.resolve(host.cwd, chosen.startsWith("~/") ? path.join(host.home, chosen.slice(2)) : chosen)
}

/** The built-in tools over this machine; their commands do not see providers' keys. */
const builtinTools = (host: Host, settings: Settings) => {
  const limit = settings.tools?.bash?.max_output_bytes
  const shell = host.environment["NIMLET_SHELL"] ?? host.environment["SHELL"]
  return localTools(builtins({
    env: without(host.environment, keyVariables(settings)),
    ...(shell === undefined || shell === "" ? {} : { shell }),
    ...(limit === undefined ? {} : { maxOutputBytes: limit })
  }))
}

/** Tells once that something of the project is left out, and gives what starts the extensions of a session. */
const extensionsOf = Effect.fnUntraced(function*(invocation: Invocation, host: Host, mode: Mode, settings: Settings, workspace: string) {
  const path = yield* Path.Path
  const fs = yield* FileSystem.FileSystem
  const about = { invocation, settings, host, workspace, path }
  const untrusted = unsearchedRoots(about).filter(({ reason }) => reason === "untrusted")
  const there = yield* Effect.forEach(untrusted, ({ root }) => Effect.orElseSucceed(fs.exists(root.path), () => false))
  if (there.includes(true)) yield* mode.notice("Project-local resources skipped (use --approve).")
  return (session: Session, { model, provider }: Selection): StartOptions => ({
    ...chooseExtensions(about),
    workspace,
    sessionId: session.id,
    mode: mode.name,
    logs: path.join(host.home, ".nimlet", "logs"),
    environment: host.environment,
    withheld: keyVariables(settings),
    session: {
      provider,
      model,
      bin: host.bin,
      ...Option.match(session.path, { onNone: () => ({}), onSome: (file) => ({ file }) })
    },
    reservedTools: reservedToolNames
  })
})

const toModel = ({ info, layer }: ChosenModel) => ({ ...info, layer })

const unknownTools = Effect.fnUntraced(function*(invocation: Invocation) {
  const wanted = invocation.tools ?? []
  const offered = new Set((yield* (yield* Agent).toolNames).map((name) => name.toLowerCase()))
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
  const settings = yield* loadSettings(path.join(host.home, ".nimlet", "config.json"))
  const sessions = yield* Layer.build(Sessions.layer(sessionFolder(settings, host, path), host))
  const session = yield* openSession(invocation, workspace).pipe(Effect.provideContext(sessions))
  const chosen = chooseExtensions({ invocation, settings, host, workspace, path })
  const mayOffer = Effect.map(discover(chosen), ({ found }) => found.length > 0)
  const choice = yield* chooseModel({ invocation, settings, session, host }, mayOffer)
  // The provider's code loads while extensions start.
  yield* Effect.forkScoped(choice.warm)

  const result = yield* Ref.make(failedRun)
  const present = yield* Ref.make(session)
  const conversation = Effect.gen(function*() {
    const file = Option.getOrElse(session.path, () => session.id)
    for (const { line, reason } of session.damaged.slice(0, damageTold)) {
      yield* mode.sink.publish({ type: "diagnostic", level: "warning", message: `${file}:${line}: ${reason}; this line of the session is left out` })
    }
    const untold = session.damaged.length - damageTold
    if (untold > 0) yield* mode.sink.publish({ type: "diagnostic", level: "warning", message: `${file}: ${untold} more damaged lines are left out; \`nimlet sessions show ${session.id} --json\` has them all` })
    const tools = yield* builtinTools(host, settings)
    const extensions = yield* extensionsOf(invocation, host, mode, settings, workspace)
    const { follow_up_mode: followUp, steering_mode: steering } = settings.agent ?? {}
    const offering = yield* Effect.context<Extensions | FileSystem.FileSystem>()
    const told = Effect.tap(choice.settled, ({ notices }) => Effect.forEach(notices, mode.notice, { discard: true }))
    const agent = Agent.layerChoosing({
      session,
      ...choice.named,
      ...(settings.agent === undefined ? {} : { compaction: settings.agent }),
      system: systemPrompt({ workspace, platform: host.platform }),
      tools,
      files: (yield* Operations).files,
      mode: mode.name,
      extensions: (at, by) => Effect.succeed(extensions(at, by)),
      onSwitch: (to, from) => Effect.andThen(Ref.set(present, to), mode.switched(from.id, to.id)),
      modelOf: (at) =>
        chooseModel({ invocation, settings, session: at, host }, Effect.succeed(true)).pipe(
          Effect.flatMap(({ settled }) => settled),
          Effect.map(toModel),
          Effect.catch((error) => mode.sink.publish({ type: "diagnostic", level: "warning", message: `${error.message}; the present model goes on` }).pipe(Effect.as(undefined))),
          Effect.provideContext(offering)
        ),
      queues: {
        ...(steering === undefined ? {} : { steering }),
        ...(followUp === undefined ? {} : { followUp })
      },
      ...(invocation.tools === undefined ? {} : { only: invocation.tools })
    }, Effect.map(told, toModel)).pipe(Layer.provide(Layer.succeedContext(sessions)))
    yield* Effect.gen(function*() {
      const unknown = yield* unknownTools(invocation)
      if (unknown.length > 0) return yield* new UsageError({ problem: `--tools: no tool is named ${unknown.join(", ")}` })
      const { piped, typed } = input
      if (piped.silent) {
        yield* mode.sink.publish({
          type: "diagnostic",
          level: "warning",
          message: `nothing came on standard input in ${invocation.stdinWait} s; going on without it`
        })
      }
      yield* Ref.set(result, yield* (yield* Agent).prompt({ typed, piped: piped.text }))
    }).pipe(Effect.provide(agent))
  }).pipe(Effect.provide(Layer.mergeAll(
    Layer.provideMerge(Hooks.layer, Extensions.layer),
    layerLocal({ workspace }),
    Layer.succeed(EventSink, mode.sink),
    Layer.succeed(Frontend, mode.frontend),
    Layer.succeed(Diagnostics, ({ extension, level, message }) =>
      mode.sink.publish({ type: "diagnostic", level, message, ...(extension === undefined ? {} : { extension }) }))
  )))

  yield* mode.opened(session.id)
  const closed = Effect.flatMap(Ref.get(present), ({ id }) => Effect.flatMap(Ref.get(result), (last) => mode.closed(id, last)))
  yield* conversation.pipe(Effect.tapError(({ message }) => mode.refused(message)), Effect.ensuring(closed))
  return yield* Ref.get(result)
}, Effect.scoped)
