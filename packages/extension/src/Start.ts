/** What a start takes and gives. */
import type { Effect } from "effect"
import type { Manifest } from "@nimlet/protocol"
import type { FamilyPolicy, Root } from "./FamilyPolicy.ts"

/** Settings of one extension: the manifest's own keys, which these replace, and `disabled`. */
export interface ExtensionSettings extends Partial<Omit<Manifest, "name" | "command">> {
  readonly disabled?: boolean
}

/** What the settings file of a project says of extensions, by name. It counts for those that lie in the project. */
export interface ProjectExtensionSettings {
  /** The file, for warnings. */
  readonly file: string
  readonly named: Readonly<Record<string, ExtensionSettings>>
}

/** What a start needs to know of the session. */
export interface StartOptions {
  /** Folders to search, in startup order; see `rootsOf`. */
  readonly roots: ReadonlyArray<Root>
  /** Single extension folders or manifest files (`-e`), started last. */
  readonly paths: ReadonlyArray<string>
  /** Absolute path; the working directory of every extension. */
  readonly workspace: string
  readonly sessionId: string
  readonly trusted: boolean
  /** How the host runs: `tui`, `text`, `print`, `json` or `rpc`. */
  readonly mode: string
  /** Where `NAME.log` files go. */
  readonly logs: string
  /** The environment extensions inherit. */
  readonly environment: Readonly<Record<string, string>>
  /** Names left out of it (provider keys) unless a manifest's `env` asks for them. */
  readonly withheld?: ReadonlyArray<string>
  /** More of the session for the `NIMLET_*` and `NIMINAL_*` variables. */
  readonly session?: {
    readonly file?: string
    readonly provider?: string
    readonly model?: string
    readonly reasoningLevel?: string
    /** Our own binary, for extensions that start us. */
    readonly bin?: string
  }
  /** Thinking level for events, empty where none is set; see also `session.reasoningLevel`. */
  readonly thinking?: string
  /**
   * Who answers in the session now, for an extension that is told of the session again after a crash. Default: what
   * `session` and `thinking` say.
   */
  readonly selected?: () => { readonly provider: string; readonly model: string; readonly thinking: string }
  /** What settings say of extensions, by name; it wins over their manifests. */
  readonly settings?: Readonly<Record<string, ExtensionSettings>>
  /** The same from the trusted project, which wins for extensions of its own and counts for no other. */
  readonly projectSettings?: ProjectExtensionSettings
  /** The file that `settings` stand in, for warnings. */
  readonly settingsFile?: string
  /** Names of extensions without which the run must not start. */
  readonly required?: ReadonlyArray<string>
  /** Ends the wait for those that have not registered yet; they go on starting. Default: nothing does. */
  readonly proceed?: Effect.Effect<void>
  /** Only those that run as this are started. Default: all. */
  readonly runsAs?: FamilyPolicy["runsAs"]
  /** Names no extension may register as a tool, compared without regard to case. */
  readonly reservedTools: ReadonlyArray<string>
  /** Names of commands that an extension's never come before, compared without regard to case. Default: none. */
  readonly reservedCommands?: ReadonlyArray<string>
  /** Names no extension may register as a provider, compared without regard to case. Default: none. */
  readonly reservedProviders?: ReadonlyArray<string>
  /** The stored data of one extension, oldest first, for its `initialize`. Default: none. */
  readonly entries?: (extension: string) => ReadonlyArray<unknown>
}

/** What came of a start. `warnings` are whole sentences for people. */
export interface StartReport {
  /** Keys of what runs, in startup order. */
  readonly started: ReadonlyArray<string>
  readonly warnings: ReadonlyArray<string>
  /** Whom a warning is about, by sentence: the key of an extension; absent when none is about one that was to start. */
  readonly about?: ReadonlyMap<string, string>
  /** Guards with a bad manifest that are meant to block when they cannot start; absent when there are none. */
  readonly closedGuards?: ReadonlyArray<string>
  /** Keys of those that were waited for and had not registered when `proceed` ended the wait; absent when there are none. */
  readonly pending?: ReadonlyArray<string>
  /** Those of `required` that do not run, each with why. */
  readonly missing: ReadonlyArray<{ readonly extension: string; readonly reason: string }>
}
