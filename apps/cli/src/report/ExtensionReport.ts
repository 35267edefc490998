/** What `extension list` says, as one value: every extension with what it offers, and everything that was left out, with why. Pure. */
import { Schema } from "effect"
import { builtinCommands } from "@nimlet/agent"
import type {
  ExtensionCommand, ExtensionFigures, ExtensionMode, ExtensionProvider, ExtensionSettings, ExtensionTool, Found, Refused, StartReport
} from "@nimlet/extension"
import { faultsOf, logNameOf } from "@nimlet/extension"
import { Capability, isHookName, type Registration } from "@nimlet/protocol"
import type { ExtensionChoice, UnsearchedRoot } from "../ExtensionChoice.ts"

/** What became of something that was offered: nothing when it is in force. */
const fate = {
  /** Key of the extension that offers the same and wins. */
  overridden_by: Schema.optionalKey(Schema.String),
  /** Why it is not offered. */
  left_out: Schema.optionalKey(Schema.String)
}
type Fate = { readonly overridden_by?: string; readonly left_out?: string }

/** One extension. Times are milliseconds, folders absolute real paths. */
export const ListedExtension = Schema.Struct({
  /** What its log, records and widgets go by: its name, or `NAME#2` for the second of that name. */
  key: Schema.String,
  name: Schema.String,
  family: Schema.String,
  /** The folder in which it was found; null when it was named by path. */
  root: Schema.NullOr(Schema.String),
  folder: Schema.String,
  /** Comes from the workspace. */
  project: Schema.Boolean,
  command: Schema.Array(Schema.String),
  /** Where its stderr goes. */
  log: Schema.String,
  /** Whether it has written any. */
  logged: Schema.Boolean,
  state: Schema.Literals(["starting", "running", "restarting", "quarantined", "stopping", "stopped"]),
  start_ms: Schema.NullOr(Schema.Number),
  /** Why it does not run, when it does not. */
  fault: Schema.NullOr(Schema.String),
  tools: Schema.Array(Schema.Struct({ name: Schema.String, description: Schema.String, capabilities: Schema.Array(Capability), ...fate })),
  commands: Schema.Array(Schema.Struct({ name: Schema.String, description: Schema.String, while_busy: Schema.Boolean, ...fate })),
  /** `never_fires`: there is no event of that name. */
  events: Schema.Array(Schema.Struct({ name: Schema.String, never_fires: Schema.optionalKey(Schema.Literal(true)) })),
  modes: Schema.Array(Schema.Struct({ id: Schema.String, label: Schema.String, ...fate })),
  providers: Schema.Array(Schema.Struct({ name: Schema.String, api_url: Schema.String, default_model: Schema.String, ...fate }))
})
/** One extension. */
export type ListedExtension = typeof ListedExtension.Type

/** Something that was not started, and why. `count` says how many extensions a `root` holds; a `no_extension` only lies where they do. */
export const Skipped = Schema.Struct({
  what: Schema.Literals(["manifest", "disabled", "root", "no_extension"]),
  path: Schema.String,
  name: Schema.optionalKey(Schema.String),
  count: Schema.optionalKey(Schema.Int),
  why: Schema.String
})
/** Something that was not started, and why. */
export type Skipped = typeof Skipped.Type

/** The object that `nimlet extension list --json` writes. `ok` is false, and the exit code 1, when something could not start. */
export const ExtensionReport = Schema.Struct({
  ok: Schema.Boolean,
  workspace: Schema.String,
  trusted: Schema.Boolean,
  extensions: Schema.Array(ListedExtension),
  skipped: Schema.Array(Skipped),
  /** Required extensions that do not run. */
  missing: Schema.Array(Schema.Struct({ extension: Schema.String, reason: Schema.String })),
  /** What else was warned of at the start, a sentence each. */
  warnings: Schema.Array(Schema.String)
})
/** What `extension list` says. */
export type ExtensionReport = typeof ExtensionReport.Type

/** A root and the extensions in it: as reached, and the real path. */
export interface RootListing {
  readonly root: string
  readonly folders: ReadonlyArray<{ readonly path: string; readonly real: string }>
}

/** Everything the report is made of. */
export interface ExtensionFacts {
  readonly workspace: string
  readonly settingsFile: string
  /** The folder of logs. */
  readonly logs: string
  /** Names of the files in it. */
  readonly logFiles: ReadonlySet<string>
  readonly choice: ExtensionChoice
  /** Of the roots that are searched, and of the paths of `-e` (as a root each). */
  readonly listings: ReadonlyArray<RootListing>
  readonly unsearched: ReadonlyArray<UnsearchedRoot & { readonly count: number }>
  /** What discovery finds before settings are looked at. */
  readonly found: ReadonlyArray<Found>
  /** What lies in a root and is none. */
  readonly passedOver: ReadonlyArray<Refused>
  /** Sentences of discovery. */
  readonly discoveryWarnings: ReadonlyArray<string>
  readonly report: StartReport
  readonly figures: ReadonlyArray<ExtensionFigures>
  readonly tools: ReadonlyArray<ExtensionTool>
  readonly commands: ReadonlyArray<ExtensionCommand>
  readonly modes: ReadonlyArray<ExtensionMode>
  readonly providers: ReadonlyArray<ExtensionProvider>
  readonly reservedTools: ReadonlySet<string>
}

/** What the settings say of one extension. */
export const settingsOf = (settings: Readonly<Record<string, ExtensionSettings>>, name: string): ExtensionSettings =>
  Object.hasOwn(settings, name) ? settings[name] ?? {} : {}

const whyUnsearched = ({ reason, root }: UnsearchedRoot, settingsFile: string): string => {
  switch (reason) {
    case "no_extensions":
      return "--no-extensions"
    case "family_off":
      return `the family ${root.family.name} is switched off in ${settingsFile} (extensions.families.${root.family.name})`
    case "untrusted":
      return "this project is not trusted (--approve loads it)"
  }
}

/** What of the roots, folders and settings keeps an extension from starting, without starting anything. */
export const skippedOf = (
  facts: Pick<ExtensionFacts, "choice" | "discoveryWarnings" | "found" | "listings" | "passedOver" | "settingsFile" | "unsearched">
): ReadonlyArray<Skipped> => {
  const { choice, discoveryWarnings, found, listings, passedOver, settingsFile, unsearched } = facts
  const good = new Set(found.map(({ folder }) => folder))
  const whyOf = (path: string): string | undefined => {
    const head = `skipping ${path}: `
    return discoveryWarnings.find((sentence) => sentence.startsWith(head))?.slice(head.length)
  }
  // One folder may be reached by several paths, of which discovery spoke of one.
  const bad = new Map<string, { readonly path: string; readonly why: string | undefined }>()
  for (const { path, real } of listings.flatMap(({ folders }) => folders)) {
    if (!good.has(real) && bad.get(real)?.why === undefined) bad.set(real, { path, why: whyOf(path) })
  }
  return [
    ...[...bad.values()].map(({ path, why = "it cannot be read" }): Skipped => ({ what: "manifest", path, why })),
    ...passedOver.map(({ path, why }): Skipped => ({ what: "no_extension", path, why })),
    ...found.filter(({ manifest }) => settingsOf(choice.settings, manifest.name).disabled === true).map(({ folder, manifest: { name } }): Skipped =>
      ({ what: "disabled", path: folder, name, why: `switched off in ${settingsFile} (extensions.${name}.disabled)` })),
    ...unsearched.filter(({ count }) => count > 0).map((one): Skipped =>
      ({ what: "root", path: one.root.path, count: one.count, why: whyUnsearched(one, settingsFile) }))
  ]
}

const stateOf = (state: ExtensionFigures["state"]): ListedExtension["state"] => {
  const names = {
    Starting: "starting", Running: "running", Restarting: "restarting", Quarantined: "quarantined", Stopping: "stopping", Stopped: "stopped"
  } as const
  return names[state]
}

const isBuiltin = (name: string): boolean => builtinCommands.some((command) => command.name === name.toLowerCase())

const nothing: Registration = { commands: [], tools: [], events: [], modes: [], providers: [] }

const listed = (facts: ExtensionFacts, figures: ExtensionFigures): ListedExtension => {
  const { key, manifest, registration = nothing } = figures
  const fateOf = (winner: string | undefined, leftOut?: string): Fate =>
    winner === key ? {} : winner !== undefined ? { overridden_by: winner } : leftOut !== undefined ? { left_out: leftOut } : {}
  const same = (name: string) => (one: { readonly name: string }) => one.name.toLowerCase() === name.toLowerCase()
  const root = facts.listings.find(({ folders }) => folders.some(({ real }) => real === figures.folder))?.root
  return {
    key,
    name: manifest.name,
    family: figures.family.name,
    root: root === undefined || facts.choice.paths.includes(root) ? null : root,
    folder: figures.folder,
    project: figures.project,
    command: manifest.command,
    log: `${facts.logs}/${logNameOf(key)}`,
    logged: facts.logFiles.has(logNameOf(key)),
    state: stateOf(figures.state),
    start_ms: figures.startMillis ?? null,
    fault: figures.fault ?? null,
    tools: registration.tools.map((tool) => {
      const [fault] = faultsOf({ ...registration, tools: [tool] }, facts.reservedTools, figures.family)
      const winner = fault === undefined ? facts.tools.find(({ name }) => name === tool.name)?.extension : undefined
      return { name: tool.name, description: tool.description, capabilities: tool.capabilities, ...fateOf(winner, fault) }
    }),
    commands: registration.commands.map(({ description = "", name, while_busy = false }) =>
      ({ name, description, while_busy, ...(isBuiltin(name) ? { left_out: "nimlet has a command of that name" } : fateOf(facts.commands.find(same(name))?.extension)) })),
    events: registration.events.map((name) => isHookName(name) ? { name } : { name, never_fires: true as const }),
    modes: registration.modes.map(({ id, label }) => ({ id, label, ...fateOf(facts.modes.find((mode) => mode.id === id)?.extension) })),
    providers: registration.providers.map(({ api_url, default_model, name }) =>
      ({ name, api_url, default_model, ...fateOf(facts.providers.find(same(name))?.extension, "a provider of that name is there already") }))
  }
}

/** The report of a start. */
export const extensionReport = (facts: ExtensionFacts): ExtensionReport => {
  const { choice, figures, report } = facts
  const extensions = figures.map((one) => listed(facts, one))
  const skipped = skippedOf(facts)
  const told = new Set([
    ...skipped.map(({ path, why }) => `skipping ${path}: ${why}`),
    ...extensions.flatMap(({ fault, key, tools }) => [`extension '${key}' failed to start: ${fault ?? ""}`, ...tools.flatMap(({ left_out }) => left_out ?? [])])
  ])
  return {
    ok: extensions.every(({ fault, state }) => state === "running" && fault === null) &&
      !skipped.some(({ what }) => what === "manifest") && report.missing.length === 0,
    workspace: facts.workspace,
    trusted: choice.trusted,
    extensions,
    skipped,
    missing: report.missing,
    warnings: report.warnings.filter((sentence) => !told.has(sentence))
  }
}
