/** `nimlet extension list`: starts what a run would start, asks what it offers, stops it. */
import { Effect, FileSystem, Layer, Option, Path, Schema, Stream } from "effect"
import { reservedToolNames, type Settings } from "@nimlet/agent"
import { type ExtensionFigures, Extensions } from "@nimlet/extension"
import { Sessions } from "@nimlet/session"
import { projectTrust } from "./ProjectTrust.ts"
import { layerExtensions } from "./Extensions.ts"
import { surveyExtensions } from "./ExtensionSurvey.ts"
import type { Invocation } from "./Flags.ts"
import type { Host } from "./Host.ts"
import { chooseModel, keyVariables } from "./Model.ts"
import { Output } from "./Output.ts"
import { ExtensionReport, extensionReport } from "./report/ExtensionReport.ts"
import { extensionText } from "./report/ExtensionText.ts"
import { settingsInForce } from "./SettingsInForce.ts"

/** Whether each runs or is gone: one that could not start is ended first, within the limits of any end. */
const hasSettled = (figures: ReadonlyArray<ExtensionFigures>) => figures.every(({ state }) => state !== "Starting" && state !== "Stopping")

/** Starts everything that a run would start, and gives what came of it. It is all stopped when the scope closes. Fails with `SettingsInvalid`. */
const startAll = Effect.fnUntraced(function*(given: Invocation, host: Host) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const workspace = yield* fs.realPath(host.cwd).pipe(Effect.orElseSucceed(() => host.cwd))
  const trust = yield* projectTrust(given, host, workspace)
  const { trusted } = yield* trust.resolve
  const invocation = { ...given, approve: trusted }
  const settingsFile = path.join(host.home, ".nimlet", "config.json")
  const { projectSettings, settings } = yield* settingsInForce(host.home, workspace, trust)
  const survey = yield* surveyExtensions({ invocation, settings, host, workspace, ...(projectSettings === undefined ? {} : { projectSettings }) })
  const session = yield* Effect.flatMap(Sessions, (sessions) => sessions.create({ workspace, persist: false })).pipe(
    Effect.provide(Sessions.layer(path.join(host.home, ".nimlet", "sessions"), host))
  )
  // A model that cannot be had is no fault of the extensions.
  const model = yield* Effect.option(chooseModel({ invocation, settings, session, host }, Effect.succeed(true)))
  const logs = path.join(host.home, ".nimlet", "logs")
  const extensions = yield* Extensions
  const report = yield* extensions.start({
    ...survey.choice,
    workspace,
    sessionId: session.id,
    mode: "text",
    logs,
    environment: host.environment,
    withheld: keyVariables(settings),
    session: {
      bin: host.bin,
      ...Option.match(model, { onNone: () => ({}), onSome: ({ named }) => named })
    },
    reservedTools: reservedToolNames
  })
  // Those that work in the background were not waited for by the start; each has its own limit.
  yield* extensions.changes.pipe(Stream.filter(hasSettled), Stream.take(1), Stream.runDrain)
  return { survey, workspace, settings, settingsFile, logs, report }
})

/** Extensions of its own for each command. */
const alone = (host: Host) => Layer.fresh(layerExtensions(host))

/** What `use` makes of the settings while everything runs that a run would start. Fails with `SettingsInvalid`. */
export const whileStarted = <A, E, R>(given: Invocation, host: Host, use: (settings: Settings, warnings: ReadonlyArray<string>) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(startAll(given, host), ({ report, settings, survey }) => use(settings, [...survey.discoveryWarnings, ...report.warnings])).pipe(
    Effect.scoped,
    Effect.provide(alone(host))
  )

/** What came of a start of everything that a run would start. Fails with `SettingsInvalid`. */
export const reportExtensions = Effect.fnUntraced(function*(given: Invocation, host: Host) {
  const fs = yield* FileSystem.FileSystem
  const { logs, report, settingsFile, survey, workspace } = yield* startAll(given, host)
  const extensions = yield* Extensions
  return extensionReport({
    ...survey,
    workspace,
    settingsFile,
    logs,
    report,
    logFiles: new Set(yield* Effect.orElseSucceed(fs.readDirectory(logs), () => [])),
    figures: yield* extensions.figures,
    tools: yield* extensions.tools,
    commands: yield* extensions.commands,
    modes: yield* extensions.modes,
    providers: yield* extensions.providers,
    reservedTools: new Set(reservedToolNames.map((name) => name.toLowerCase()))
  })
}, Effect.scoped, (effect, _, host) => Effect.provide(effect, alone(host)))

const encode = Schema.encodeSync(Schema.fromJsonString(ExtensionReport))

/** Lists the extensions on standard output. Gives the exit code: 1 when something could not start. */
export const listExtensions = Effect.fnUntraced(function*(invocation: Invocation, host: Host) {
  const output = yield* Output
  const report = yield* reportExtensions(invocation, host)
  yield* output.out(invocation.json ? `${encode(report)}\n` : extensionText(report, host.home))
  return report.ok ? 0 : 1
})
