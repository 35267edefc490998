/** `nimlet doctor`: looks up how everything is set up. Nothing is started but with `--start`, and nothing is changed. */
import { Effect, FileSystem, Option, Path, Result, Schema, Stdio } from "effect"
import manifest from "../package.json" with { type: "json" }
import { readSettings, resourceFaults, settingsSlips, type Trust } from "@nimlet/agent"
import { Models, readAuthFile } from "@nimlet/provider"
import { Sessions } from "@nimlet/session"
import { reportExtensions } from "./ExtensionList.ts"
import { type ExtensionSurvey, surveyExtensions } from "./ExtensionSurvey.ts"
import type { Invocation } from "./Flags.ts"
import { editorOf, type Host, wantsColours } from "./Host.ts"
import { chooseModel } from "./Model.ts"
import { Output } from "./Output.ts"
import { type DoctorFacts, DoctorReport, doctorReport } from "./report/DoctorReport.ts"
import { doctorText } from "./report/DoctorText.ts"
import { settingsOf, skippedOf } from "./report/ExtensionReport.ts"
import { remedyOf } from "./Remedy.ts"
import { projectTrust } from "./ProjectTrust.ts"
import { sessionFolder } from "./Run.ts"
import { type SettingsInForce, settingsInForce } from "./SettingsInForce.ts"
import { keysInForce } from "./SettingsKeys.ts"

const exists = (path: string) => Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.orElseSucceed(fs.exists(path), () => false))
const place = (path: string) => Effect.map(exists(path), (there) => ({ path, exists: there }))

/** Whether a file could be made in a folder, which may have to be made itself. */
const isWritable = Effect.fnUntraced(function*(folder: string): Effect.fn.Return<boolean, never, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const parent = path.dirname(folder)
  if (!(yield* exists(folder)) && parent !== folder) return yield* isWritable(parent)
  return yield* Effect.match(fs.access(folder, { writable: true }), { onFailure: () => false, onSuccess: () => true })
})

/** The first program of that name on the PATH. */
const onPath = Effect.fnUntraced(function*(name: string, host: Host) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const separator = host.platform === "win32" ? ";" : ":"
  const names = host.platform === "win32" ? [`${name}.exe`, `${name}.cmd`] : [name]
  for (const folder of (host.environment["PATH"] ?? host.environment["Path"] ?? "").split(separator)) {
    for (const file of folder === "" ? [] : names.map((each) => path.join(folder, each))) {
      const found = yield* Effect.option(fs.stat(file))
      if (Option.exists(found, ({ mode, type }) => type === "File" && (host.platform === "win32" || (mode & 0o111) !== 0))) return file
    }
  }
  return null
})

/** ripgrep comes with us; where its package is not installed, one on the PATH is used. */
const ripgrep = Effect.fnUntraced(function*(host: Host) {
  const own = yield* Effect.option(Effect.tryPromise(() => import("@vscode/ripgrep")))
  if (Option.isSome(own) && (yield* exists(own.value.rgPath))) return own.value.rgPath
  return yield* onPath("rg", host)
})

/** What is wrong in a settings file, whether it is in force or not. */
const lookAt = Effect.fnUntraced(function*(file: string) {
  const read = yield* Effect.result(readSettings(file))
  if (Result.isFailure(read)) return { problems: read.failure.problems, slips: [] }
  return { problems: [], slips: settingsSlips(read.success.content).map((slip) => ({ ...slip, file })) }
})

/** The settings that are in force; those that are broken are left out. */
const settingsAt = Effect.fnUntraced(function*(host: Host, workspace: string, trust: Trust) {
  const path = yield* Path.Path
  const own = path.join(host.home, ".nimlet", "config.json")
  const project = path.join(workspace, ".nimlet", "config.json")
  const isProject = path.relative(own, project) !== "" && (yield* exists(project))
  const mine = yield* lookAt(own)
  const theirs = isProject ? yield* lookAt(project) : undefined
  const loaded = yield* Effect.result(settingsInForce(host.home, workspace, trust))
  const alone = Effect.map(readSettings(own), ({ settings }): SettingsInForce => ({ settings, warnings: [] })).pipe(
    Effect.orElseSucceed((): SettingsInForce => ({ settings: {}, warnings: [] }))
  )
  const inForce = Result.isSuccess(loaded) ? loaded.success : yield* alone
  // Together they may be wrong where neither is alone.
  const together = Result.isFailure(loaded) && loaded.failure.file === project && theirs?.problems.length === 0 ? loaded.failure.problems : []
  const slips = [...mine.slips, ...theirs?.slips ?? []]
  return {
    inForce,
    slips,
    told: { in_force: keysInForce(inForce.settings), ignored: mine.slips.map(({ key }) => key), problems: mine.problems },
    project: theirs === undefined ? null : { path: project, in_force: inForce.projectSettings !== undefined, ignored: theirs.slips.map(({ key }) => key), problems: [...theirs.problems, ...together] },
    withheld: inForce.warnings.filter((sentence) => sentence.endsWith("a project may not set it"))
  }
})

const modelFacts = Effect.fnUntraced(function*(invocation: Invocation, host: Host, { defaultsFile, settings }: SettingsInForce, { found }: ExtensionSurvey) {
  const path = yield* Path.Path
  const session = yield* Effect.flatMap(Sessions, (sessions) => sessions.create({ workspace: host.cwd, persist: false })).pipe(
    Effect.provide(Sessions.layer(sessionFolder(settings, host, path), host))
  )
  const choice = yield* Effect.result(chooseModel({ invocation, settings, defaultsFile, session, host }, Effect.succeed(found.length > 0)))
  if (Result.isFailure(choice)) {
    const model = { provider: null, model: null, endpoint: null, key_from: null, problem: choice.failure.message }
    return { model, modelRemedy: remedyOf(choice.failure) || "correct the name, or set it up under providers in ~/.nimlet/config.json", offlineByDefault: false }
  }
  const { chosen, named } = choice.success
  return {
    model: {
      provider: named.provider,
      model: named.model === "" ? null : named.model,
      endpoint: Option.getOrNull(Option.flatMap(chosen, ({ endpoint }) => endpoint)),
      key_from: Option.getOrNull(Option.flatMap(chosen, ({ keySource }) => keySource)),
      problem: null
    },
    modelRemedy: "",
    offlineByDefault: named.provider === "offline" && invocation.provider === undefined && settings.default_provider === undefined
  }
}, Effect.scoped)

const factsOf = Effect.fnUntraced(function*(given: Invocation, host: Host) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const stdio = yield* Stdio.Stdio
  const own = path.join(host.home, ".nimlet")
  const settingsFile = path.join(own, "config.json")
  const workspace = yield* fs.realPath(host.cwd).pipe(Effect.orElseSucceed(() => host.cwd))
  const trust = yield* projectTrust(given, host, workspace)
  const { faults: trustFaults, trusted } = yield* trust.resolve
  const invocation = { ...given, approve: trusted }
  const { inForce, project, slips, told, withheld } = yield* settingsAt(host, workspace, trust)
  const { projectSettings, settings } = inForce
  const survey = yield* surveyExtensions({ invocation, settings, host, workspace, ...(projectSettings === undefined ? {} : { projectSettings }) })
  const catalogFaults = yield* Effect.flatMap(Models, (models) => models.catalogFaults).pipe(Effect.provide(Models.layer({ environment: host.environment, home: host.home })))
  const faults = yield* resourceFaults({ home: host.home, workspace, trusted: () => trusted, env: host.environment })
  const { choice, discoveryWarnings, found, listings, unsearched } = survey
  const auth = yield* Effect.result(readAuthFile(host.home))
  const sessions = sessionFolder(settings, host, path)
  const isDisabled = (name: string) => settingsOf(choice.settings, name).disabled === true
  const rootRow = (root: (typeof choice.roots)[number], searched: boolean, extensions: number) =>
    Effect.map(exists(root.path), (there) => ({ path: root.path, family: root.family.name, project: root.project, exists: there, searched, extensions }))
  const facts: DoctorFacts = {
    version: manifest.version,
    node: host.node,
    platform: host.platform,
    workspace,
    trusted: choice.trusted,
    paths: {
      config: yield* place(settingsFile),
      auth: yield* place(path.join(own, "auth.json")),
      sessions: { ...(yield* place(sessions)), writable: yield* isWritable(sessions) },
      logs: yield* place(path.join(own, "logs"))
    },
    settings: told,
    project_settings: project,
    slips,
    withheld,
    catalogFaults: catalogFaults.map(({ file, problem }) => `${file}: ${problem}`),
    resourceFaults: faults,
    trustFaults,
    ...(yield* modelFacts(invocation, host, inForce, survey)),
    roots: [
      ...(yield* Effect.forEach(choice.roots, (root) =>
        rootRow(root, true, listings.find((listing) => listing.root === root.path)?.folders.length ?? 0))),
      ...(yield* Effect.forEach(unsearched, ({ count, root }) => rootRow(root, false, count)))
    ],
    extensions: found.filter(({ manifest }) => !isDisabled(manifest.name)).map(({ family, folder, key }) => ({ key, family: family.name, folder })),
    skipped: skippedOf({ ...survey, settingsFile }),
    started: invocation.start && told.problems.length === 0 ? yield* Effect.orElseSucceed(reportExtensions(invocation, host), () => null) : null,
    programs: [
      { name: "rg", path: yield* ripgrep(host), needed_for: "the grep and glob tools search with it" },
      { name: "git", path: yield* onPath("git", host), needed_for: "the git tool runs it" }
    ],
    terminal: {
      input: yield* stdio.stdinIsTerminal,
      output: yield* stdio.stdoutIsTerminal,
      type: host.environment["TERM"] ?? "",
      colours: wantsColours(host),
      editor: editorOf(host) ?? null
    },
    auth: Result.match(auth, {
      onFailure: ({ message }) => ({ problem: message, exposed: false }),
      onSuccess: ({ exposed }) => ({ problem: undefined, exposed })
    }),
    discoveryWarnings,
    required: choice.required,
    named: Object.keys(choice.settings),
    names: [...new Set(found.flatMap(({ key, manifest }) => [key, manifest.name]))]
  }
  return facts
})

const encode = Schema.encodeSync(Schema.fromJsonString(DoctorReport))

/** How nimlet is set up, as text for people. */
export const diagnose = (invocation: Invocation, host: Host) =>
  Effect.map(factsOf(invocation, host), (facts) => doctorText(doctorReport(facts), host.home))

/** Tells on standard output how nimlet is set up. Gives the exit code: 1 when something is broken. */
export const examine = Effect.fnUntraced(function*(invocation: Invocation, host: Host) {
  const output = yield* Output
  const report = doctorReport(yield* factsOf(invocation, host))
  yield* output.out(invocation.json ? `${encode(report)}\n` : doctorText(report, host.home))
  return report.ok ? 0 : 1
})
