/**
 * One run from start to end: settings, session, model, extensions, agent, the prompt, and all of it closed again. What
 * cannot start fails before a record or an answer is written.
 */
import { Duration, Effect, FileSystem, Layer, Option, Path, Ref } from "effect"
import { Agent, EventSink, loadSettings, reservedToolNames, type RunResult, type Settings, type SettingsInvalid, systemPrompt } from "@nimlet/agent"
import { Diagnostics, EntrySink, Extensions, Frontend, Hooks, rootsOf } from "@nimlet/extension"
import { type ModelError, Models } from "@nimlet/provider"
import { type Session, type SessionLocked, type SessionNotFound, Sessions, type SessionUnreadable } from "@nimlet/session"
import { builtins, type FileFailed, layerLocal, localTools } from "@nimlet/tools"
import { type Invocation, UsageError } from "./Argv.ts"
import { layerExtensions } from "./Extensions.ts"
import type { Host } from "./Host.ts"
import { chooseModel, type ChosenModel, keyVariables, type NoModel } from "./Model.ts"
import type { Mode } from "./modes/Mode.ts"
import type { PipedText } from "./StandardInput.ts"

/** Why a run did not start. */
export type StartupError = ModelError | NoModel | SettingsInvalid | SessionNotFound | SessionUnreadable | SessionLocked | FileFailed

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

const sessionFolder = (settings: Settings, host: Host, path: Path.Path): string => {
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

const hasProjectExtensions = Effect.fnUntraced(function*(host: Host, workspace: string) {
  const fs = yield* FileSystem.FileSystem
  const roots = rootsOf({ home: host.home, workspace, trusted: true }).filter((root) => root.project)
  const found = yield* Effect.forEach(roots, (root) => fs.exists(root.path).pipe(Effect.orElseSucceed(() => false)))
  return found.includes(true)
})

const startExtensions = Effect.fnUntraced(function*(
  invocation: Invocation,
  host: Host,
  mode: Mode,
  settings: Settings,
  session: Session,
  model: ChosenModel,
  workspace: string
) {
  const extensions = yield* Extensions
  const path = yield* Path.Path
  const trusted = invocation.approve
  if (!trusted && !invocation.noExtensions && (yield* hasProjectExtensions(host, workspace))) {
    yield* mode.notice("Project-local resources skipped (use --approve).")
  }
  const entries = yield* session.entries
  const report = yield* extensions.start({
    roots: invocation.noExtensions ? [] : rootsOf({ home: host.home, workspace, trusted }),
    paths: invocation.extensions.map((one) => path.resolve(host.cwd, one)),
    workspace,
    sessionId: session.id,
    trusted,
    mode: mode.name,
    logs: path.join(host.home, ".nimlet", "logs"),
    environment: host.environment,
    withheld: keyVariables(settings),
    session: {
      provider: model.info.provider,
      model: model.info.model,
      bin: host.bin,
      ...Option.match(session.path, { onNone: () => ({}), onSome: (file) => ({ file }) })
    },
    reservedTools: reservedToolNames,
    entries: (name) => entries.flatMap((entry) => entry.type === "extension" && "data" in entry && entry.extension === name ? [entry.data] : [])
  })
  for (const message of report.warnings) yield* mode.sink.publish({ type: "diagnostic", level: "warning", message })
})

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
  const session = yield* openSession(invocation, workspace).pipe(Effect.provide(Sessions.layer(sessionFolder(settings, host, path), host)))
  const model = yield* chooseModel(invocation, settings, session).pipe(Effect.provide(Models.layer({
    environment: host.environment,
    home: host.home,
    ...(settings.providers === undefined ? {} : { providers: settings.providers }),
    ...(settings.agent?.request_timeout === undefined ? {} : { requestTimeout: Duration.seconds(settings.agent.request_timeout) })
  })))
  // The provider's code loads while extensions start.
  yield* Effect.forkScoped(model.warm)

  const result = yield* Ref.make(failedRun)
  const conversation = Effect.gen(function*() {
    for (const { line, reason } of session.damaged) {
      const file = Option.getOrElse(session.path, () => session.id)
      yield* mode.sink.publish({ type: "diagnostic", level: "warning", message: `${file}:${line}: ${reason}; this line of the session is left out` })
    }
    const tools = yield* builtinTools(host, settings)
    yield* startExtensions(invocation, host, mode, settings, session, model, workspace)
    const agent = Agent.layer({
      session,
      provider: model.info.provider,
      model: model.info.model,
      system: systemPrompt({ workspace, platform: host.platform }),
      tools,
      ...(invocation.tools === undefined ? {} : { only: invocation.tools })
    }).pipe(Layer.provide(model.layer))
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
    Layer.provideMerge(Hooks.layer, layerExtensions(host)),
    layerLocal({ workspace }),
    Layer.succeed(EventSink, mode.sink),
    Layer.succeed(Frontend, mode.frontend),
    Layer.succeed(Diagnostics, ({ extension, level, message }) =>
      mode.sink.publish({ type: "diagnostic", level, message, ...(extension === undefined ? {} : { extension }) })),
    Layer.succeed(EntrySink, ({ custom_type, data, extension }) =>
      Effect.ignore(session.append({ type: "extension", extension, data, ...(custom_type === undefined ? {} : { custom_type }) })))
  )))

  for (const message of model.notices) yield* mode.notice(message)
  yield* mode.opened(session.id)
  yield* conversation.pipe(Effect.ensuring(Effect.flatMap(Ref.get(result), (last) => mode.closed(session.id, last))))
  return yield* Ref.get(result)
}, Effect.scoped)
