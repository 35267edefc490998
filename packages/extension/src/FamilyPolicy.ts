/**
 * What differs between families of extensions, as data. Host and dispatcher read these records and never ask
 * which family they deal with.
 */
import type { HookName } from "@nimlet/protocol"

/** One family. Paths are relative to the home folder or the workspace. */
export interface FamilyPolicy {
  readonly name: string
  readonly globalRoots: ReadonlyArray<string>
  /** Searched only in a trusted workspace. */
  readonly projectRoots: ReadonlyArray<string>
  /** What a gate does when the extension cannot answer and its manifest does not say. */
  readonly onFailure: "open" | "block"
  /** Events not sent while the agent only plans. */
  readonly silentInPlanMode: ReadonlyArray<HookName>
  /** Events not sent when extensions are started anew in the same session (`/reload`, a change of trust). */
  readonly silentOnReload: ReadonlyArray<HookName>
  /** Whether an extension that was restarted after a crash is told of the session again, by `session_start` to it alone. */
  readonly sessionStartAfterCrash: boolean
  /** Seconds a request may take when the manifest does not say. */
  readonly budgetSeconds: number
  /** The same for tools and commands; `null` is no limit. */
  readonly workSeconds: number | null
  /** Whether a tool that only reads runs without the first-time question. */
  readonly readOnlyToolsUnasked: boolean
  /** Whether calls of its tools run beside their neighbours unless a tool is `sequential`; else only those of tools that read do. */
  readonly toolsRunTogether: boolean
  /** A program of its own, in a process; or a module of ours, on a thread. */
  readonly runsAs: "process" | "thread"
  /** Whether modules in its roots are extensions too. */
  readonly modulesInRoots: boolean
  /** Whether what it offers may change while it runs. */
  readonly registersAtAnyTime: boolean
  /** Whether a tool of its may take the place of a built-in one. */
  readonly mayReplaceBuiltins: boolean
  /** Whether commands of one name are all kept, numbered in startup order (`/name:1`, `/name:2`); else the earlier counts. */
  readonly numbersCommands: boolean
  /** Whether a running one stays, started anew in the same session, until the new one is there, and for good when that fails. */
  readonly staysUntilReplaced: boolean
  /** Keys of `package.json` that describe such an extension, the first that is there counts. */
  readonly packageKeys: ReadonlyArray<string>
}

/** Programs of seed 000. */
export const nimlet: FamilyPolicy = {
  name: "nimlet",
  globalRoots: [".agents/extensions", ".nimlet/extensions"],
  projectRoots: [".agents/extensions", ".nimlet/extensions"],
  onFailure: "open",
  silentInPlanMode: [
    "tool_call",
    "tool_result",
    "turn_start",
    "turn_end",
    "session_start",
    "session_end",
    "session_before_compact",
    "session_compact"
  ],
  silentOnReload: ["session_start", "session_end"],
  sessionStartAfterCrash: false,
  budgetSeconds: 30,
  workSeconds: 30,
  readOnlyToolsUnasked: false,
  toolsRunTogether: false,
  runsAs: "process",
  modulesInRoots: true,
  registersAtAnyTime: false,
  mayReplaceBuiltins: false,
  numbersCommands: false,
  staysUntilReplaced: false,
  packageKeys: []
}

/** Programs of seed 001. */
export const niminal: FamilyPolicy = {
  name: "niminal",
  globalRoots: [".niminal/extensions"],
  projectRoots: [".niminal/extensions"],
  onFailure: "open",
  silentInPlanMode: [],
  silentOnReload: [],
  sessionStartAfterCrash: true,
  budgetSeconds: 30,
  workSeconds: 30,
  readOnlyToolsUnasked: true,
  toolsRunTogether: false,
  runsAs: "process",
  modulesInRoots: false,
  registersAtAnyTime: false,
  mayReplaceBuiltins: false,
  numbersCommands: false,
  staysUntilReplaced: false,
  packageKeys: []
}

/** Modules of seed 004. */
export const atomic: FamilyPolicy = {
  name: "atomic",
  globalRoots: [".atomic/agent/extensions", ".pi/agent/extensions"],
  projectRoots: [".atomic/extensions", ".pi/extensions"],
  onFailure: "block",
  silentInPlanMode: [],
  // The host tells each when its successor is there.
  silentOnReload: ["session_shutdown"],
  sessionStartAfterCrash: true,
  budgetSeconds: 30,
  workSeconds: null,
  readOnlyToolsUnasked: false,
  toolsRunTogether: true,
  runsAs: "thread",
  modulesInRoots: true,
  registersAtAnyTime: true,
  mayReplaceBuiltins: true,
  numbersCommands: true,
  staysUntilReplaced: true,
  packageKeys: ["nimlet", "atomic", "pi"]
}

/** All families, in startup order. */
export const families: ReadonlyArray<FamilyPolicy> = [nimlet, niminal, atomic]

/** The family of a program found in a root of `family`. */
export const programsIn = (family: FamilyPolicy): FamilyPolicy => family.runsAs === "process" ? family : nimlet

/** The family of a module found in a root of `family`; undefined where modules do not count. */
export const modulesIn = (family: FamilyPolicy): FamilyPolicy | undefined =>
  family.modulesInRoots ? family.runsAs === "thread" ? family : atomic : undefined

/** A folder that holds extensions. */
export interface Root {
  readonly path: string
  readonly family: FamilyPolicy
  /** Comes from the workspace: someone else's files. */
  readonly project: boolean
}

/** All roots in startup order: the global ones of every family, then, when trusted, the project's. */
export const rootsOf = (where: {
  readonly home: string
  readonly workspace: string
  readonly trusted: boolean
  readonly families?: ReadonlyArray<FamilyPolicy>
}): ReadonlyArray<Root> => {
  const chosen = where.families ?? families
  const under = (base: string, project: boolean, pick: (family: FamilyPolicy) => ReadonlyArray<string>) =>
    chosen.flatMap((family) => pick(family).map((path): Root => ({ path: `${base}/${path}`, family, project })))
  return [
    ...under(where.home, false, (family) => family.globalRoots),
    ...(where.trusted ? under(where.workspace, true, (family) => family.projectRoots) : [])
  ]
}
