/** What `doctor` says, as one value: how nimlet is set up, what is wrong with it, and what helps. Pure. */
import { Schema } from "effect"
import type { Slip } from "@nimlet/agent"
import { ExtensionReport, Skipped } from "./ExtensionReport.ts"

/** Something that is wrong (`error`, the exit code is 1), may be (`warning`), or may surprise (`note`). */
export const Finding = Schema.Struct({
  level: Schema.Literals(["error", "warning", "note"]),
  what: Schema.String,
  /** What to do about it. */
  remedy: Schema.String
})
/** Something that is wrong, may be, or may surprise. */
export type Finding = typeof Finding.Type

const Place = Schema.Struct({ path: Schema.String, exists: Schema.Boolean })

/** The object that `nimlet doctor --json` writes. Paths are absolute; no key of a provider is in it. */
export const DoctorReport = Schema.Struct({
  ok: Schema.Boolean,
  version: Schema.String,
  node: Schema.String,
  platform: Schema.String,
  workspace: Schema.String,
  trusted: Schema.Boolean,
  paths: Schema.Struct({
    config: Place,
    auth: Place,
    sessions: Schema.Struct({ ...Place.fields, writable: Schema.Boolean }),
    logs: Place
  }),
  settings: Schema.Struct({
    /** Dotted key and JSON value; options of providers by key only. */
    in_force: Schema.Array(Schema.Struct({ key: Schema.String, value: Schema.String })),
    /** Keys that mean nothing here. */
    ignored: Schema.Array(Schema.String),
    problems: Schema.Array(Schema.String)
  }),
  /** The project's settings file; null when it has none. */
  project_settings: Schema.NullOr(Schema.Struct({
    path: Schema.String,
    /** It is trusted, and can be read. */
    in_force: Schema.Boolean,
    ignored: Schema.Array(Schema.String),
    problems: Schema.Array(Schema.String)
  })),
  model: Schema.Struct({
    /** Null when none could be chosen. */
    provider: Schema.NullOr(Schema.String),
    model: Schema.NullOr(Schema.String),
    endpoint: Schema.NullOr(Schema.String),
    /** `flag`, `auth.json`, or the variable; null when there is none. */
    key_from: Schema.NullOr(Schema.String),
    problem: Schema.NullOr(Schema.String)
  }),
  roots: Schema.Array(Schema.Struct({
    path: Schema.String,
    family: Schema.String,
    project: Schema.Boolean,
    exists: Schema.Boolean,
    searched: Schema.Boolean,
    extensions: Schema.Int
  })),
  /** What would be started, by key. */
  extensions: Schema.Array(Schema.Struct({ key: Schema.String, family: Schema.String, folder: Schema.String })),
  skipped: Schema.Array(Skipped),
  /** With `--start`: what came of it. */
  started: Schema.NullOr(ExtensionReport),
  programs: Schema.Array(Schema.Struct({ name: Schema.String, path: Schema.NullOr(Schema.String), needed_for: Schema.String })),
  terminal: Schema.Struct({
    input: Schema.Boolean,
    output: Schema.Boolean,
    type: Schema.String,
    colours: Schema.Boolean,
    editor: Schema.NullOr(Schema.String)
  }),
  findings: Schema.Array(Finding)
})
/** What `doctor` says. */
export type DoctorReport = typeof DoctorReport.Type

/** Everything that was looked up. */
export interface DoctorFacts extends Omit<DoctorReport, "findings" | "ok"> {
  /** `auth.json` cannot be used, or could be read by others. */
  readonly auth: { readonly problem: string | undefined; readonly exposed: boolean }
  /** Keys of settings files that mean nothing. */
  readonly slips: ReadonlyArray<Slip & { readonly file: string }>
  /** A sentence for each key of the project's that it may not set. */
  readonly withheld: ReadonlyArray<string>
  /** What cannot be used of a refreshed catalogue. */
  readonly catalogFaults: ReadonlyArray<string>
  /** A sentence for each skill, template and `tool.json` that is wrong or left out. */
  readonly resourceFaults: ReadonlyArray<string>
  /** What of `trust.json` is not understood. */
  readonly trustFaults: ReadonlyArray<string>
  readonly modelRemedy: string
  /** No provider is named and no key was found. */
  readonly offlineByDefault: boolean
  readonly discoveryWarnings: ReadonlyArray<string>
  readonly required: ReadonlyArray<string>
  /** Names the settings speak of. */
  readonly named: ReadonlyArray<string>
  /** Names of all extensions that were found, disabled ones too. */
  readonly names: ReadonlyArray<string>
}

const error = (what: string, remedy: string): Finding => ({ level: "error", what, remedy })
const warning = (what: string, remedy: string): Finding => ({ level: "warning", what, remedy })
const note = (what: string, remedy: string): Finding => ({ level: "note", what, remedy })

/** So many faults of a catalogue are told, which is written by a program. */
const mostFaults = 3

const ofSettings = ({ catalogFaults, named, names, paths, project_settings: project, settings, slips, resourceFaults, trusted, trustFaults, withheld }: DoctorFacts): ReadonlyArray<Finding> => [
  ...settings.problems.map((problem) => error(`${paths.config.path}: ${problem}`, "mend the file; nimlet never writes over it")),
  ...(project?.problems ?? []).map((problem) => (trusted ? error : warning)(`${project?.path}: ${problem}`, trusted ? "mend the file; nothing runs here until it is" : "mend the file before it is trusted")),
  ...slips.map(({ file, key, meant }) => warning(`${file}: ${key} means nothing to this version`, meant === undefined ? "take it out" : `${meant} is meant, it seems`)),
  ...withheld.map((sentence) => note(sentence, "say it in your own settings, if you want it")),
  ...(project === null || project.in_force || project.problems.length > 0 ? [] : [note(`${project.path} is not in force: this project is not trusted`, "--approve or /trust on, when you trust this project's files")]),
  ...resourceFaults.slice(0, mostFaults).map((sentence) => warning(sentence, "correct the file, or take it away")),
  ...trustFaults.slice(0, mostFaults).map((sentence) => warning(sentence, "`/trust on` or `/trust off` in the project says anew what was lost")),
  ...catalogFaults.slice(0, mostFaults).map((sentence) => warning(`${sentence}; it is passed over`, "`nimlet models refresh` fetches the catalogue anew; without the file, what comes along is used")),
  ...named.filter((name) => !names.includes(name)).map((name) =>
    warning(`${paths.config.path}: extensions.${name} is set, and no extension of that name was found`, "look for a slip of the pen, or install it"))
]

const ofModel = ({ auth, model, modelRemedy, offlineByDefault, paths }: DoctorFacts): ReadonlyArray<Finding> => [
  ...(auth.problem === undefined ? [] : [error(auth.problem, "mend the file; its entries are { \"type\": \"api_key\", \"key\": \"…\" } by provider")]),
  ...(auth.exposed ? [warning(`${paths.auth.path} can be read by other users`, `chmod 600 ${paths.auth.path}`)] : []),
  ...(model.problem === null || model.problem === auth.problem ? [] : [error(model.problem, modelRemedy)]),
  ...(offlineByDefault ? [warning("no key of a provider was found, so the embedded offline model answers", "set ANTHROPIC_API_KEY, OPENAI_API_KEY or OPENROUTER_API_KEY, or put a key into ~/.nimlet/auth.json")] : [])
]

const ofExtensions = ({ discoveryWarnings, names, required, skipped, started, trusted }: DoctorFacts): ReadonlyArray<Finding> => [
  ...skipped.map(({ count = 1, path, what, why }) =>
    what === "manifest"
      ? error(`${path} is no extension that can start: ${why}`, "mend its extension.json, or remove the folder")
      : what === "no_extension"
      ? warning(`${path} is no extension: ${why}`, "mend it, or take it out of the folder of extensions")
      : what === "disabled"
      ? note(`${path} is not started: ${why}`, "take the setting out to start it")
      : note(`${count} extension${count === 1 ? "" : "s"} in ${path} not started: ${why}`, trusted || !why.includes("--approve") ? "nothing, if that is meant" : "--approve, when you trust this project's files")),
  ...discoveryWarnings.filter((sentence) => !sentence.startsWith("skipping ")).map((sentence) => warning(sentence, "mend its extension.json")),
  ...required.filter((name) => !names.includes(name)).map((name) => error(`required extension '${name}' was not found`, "install it, or do not require it")),
  ...(started === null ? [] : [
    ...started.extensions.filter(({ fault, state }) => fault !== null || state !== "running").map(({ fault, folder, key, log, logged, state }) =>
      error(`extension '${key}' is ${state}${fault === null ? "" : `: ${fault}`}`, `run its command by hand in the workspace; ${logged ? `its log is ${log}` : "it wrote nothing to stderr"}, its files are in ${folder}`)),
    ...started.extensions.flatMap(({ events, key }) => events.filter(({ never_fires }) => never_fires === true).map(({ name }) =>
      warning(`extension '${key}' waits for the event ${name}, which there is not`, "correct the name in the program"))),
    ...started.warnings.map((sentence) => warning(sentence, "`nimlet extension list` says more"))
  ])
]

const ofMachine = ({ paths, programs }: DoctorFacts): ReadonlyArray<Finding> => [
  ...(paths.sessions.writable ? [] : [error(`${paths.sessions.path} cannot be written, so no session is kept`, "give yourself the right to, or set agent.session_dir in ~/.nimlet/config.json")]),
  ...programs.filter(({ path }) => path === null).map(({ name, needed_for }) => warning(`${name} is not on the PATH`, `install it: ${needed_for}`))
]

/** The report on the facts, findings by weight. */
export const doctorReport = (facts: DoctorFacts): DoctorReport => {
  const { auth: _auth, catalogFaults: _faults, resourceFaults: _resources, trustFaults: _trust, slips: _slips, withheld: _withheld, discoveryWarnings: _warnings, modelRemedy: _remedy, named: _named, names: _names, offlineByDefault: _offline, required: _required, ...told } = facts
  const all = [...ofSettings(facts), ...ofModel(facts), ...ofExtensions(facts), ...ofMachine(facts)]
  const findings = (["error", "warning", "note"] as const).flatMap((level) => all.filter((finding) => finding.level === level))
  return { ...told, ok: !findings.some(({ level }) => level === "error"), findings }
}
