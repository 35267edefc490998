/** What an agent is made of: what whoever starts one gives for it. */
import type { Effect } from "effect"
import type { Prices } from "@nimlet/provider"
import type { Session } from "@nimlet/session"
import type { Files, Tool } from "@nimlet/tools"
import type { ModelCommands } from "../CommandRunner/Builtins.ts"
import type { CompactionOptions } from "../Compaction.ts"
import type { Mentioned } from "../Mentions.ts"
import type { ModuleWishes } from "../Modules.ts"
import type { PermissionOptions } from "../Permissions.ts"
import type { QueueModes } from "../Queues.ts"
import type { ResourcePaths, Resources } from "../Resources.ts"
import type { ModelChoice, Selection } from "../Selection.ts"
import type { SwitchingOptions } from "../Switching.ts"
import type { SystemPrompt } from "../SystemPrompt.ts"
import type { Trust } from "../Trust.ts"
import type { UserInput } from "../Wording.ts"

/** What an agent is made of. */
export interface AgentOptions extends Selection, ModuleWishes, Pick<CompactionOptions, "compaction">, Pick<SwitchingOptions, "extensions" | "onSwitch"> {
  /** The session to begin in. It is closed when another takes its place, else with its own scope. */
  readonly session: Session
  /** The base system text; one that is made of the tools on offer follows them. */
  readonly system: string | SystemPrompt
  /** System text that stands after it, whatever extensions make of the base. */
  readonly appended?: ReadonlyArray<string>
  /** The built-in tools, in the order the model sees them. */
  readonly tools: ReadonlyArray<Tool>
  /** The files that the tools change, for `/rewind`, and where long results are kept; without them it leads back in the conversation alone. */
  readonly files?: Files
  /** Nobody can be asked: `ask_user` is not offered then. */
  readonly questions?: boolean
  /** Instructions, skills, templates and tools that are looked for when a session is entered and on `reload`. */
  readonly resources?: (more?: ResourcePaths) => Effect.Effect<Resources>
  /** Finds the files that typed words mention; its warnings are told as diagnostics. */
  readonly mentions?: (text: string) => Effect.Effect<Mentioned>
  /** The only tools to offer, by name in any case; absent for all. */
  readonly only?: ReadonlyArray<string>
  /** How we run, for commands of extensions: `tui`, `text`, `print`, `json` or `rpc`; default `text`. */
  readonly mode?: string
  /** What permissions depend on beside the calls themselves. */
  readonly permissions?: Pick<PermissionOptions, "grants" | "protectedPath" | "mayBeProtected">
  /** What models cost that have answered in the session before, for `totals`; looked up once each. */
  readonly pricesOf?: (provider: string, model: string) => Effect.Effect<Prices | undefined>
  /** What is known of models, for `/models`. */
  readonly modelCommands?: ModelCommands
  /** The most requests to the model a run may make; absent for no limit. */
  readonly maxSteps?: number
  /** Calls run without a question at first; `/yolo` changes it. */
  readonly yolo?: boolean
  /** Trust in the project, for `/trust`. */
  readonly trust?: Trust
  readonly queues?: QueueModes
  /** Who is to answer in a session that is gone on with, when its extensions have started; the present one where it is absent or says nothing. */
  readonly modelOf?: (session: Session) => Effect.Effect<ModelChoice | undefined>
  /**
   * Takes words of an extension that came when no run was under way, to run them. It must not wait for that run. Without
   * it such words, and those a failed run left, are dropped with a diagnostic.
   */
  readonly onIdleInput?: (input: UserInput, extension: string) => Effect.Effect<void>
}
