/** How a run is shown. Each way of running is one value of this shape; the rest of the program knows no difference. */
import type { Effect, Scope } from "effect"
import type { Agent, EventSink, ModelChoice, QueueModes, RunResult, Trust, UserInput } from "@nimlet/agent"
import type { AtomicSessionShape, Extensions, FrontendShape } from "@nimlet/extension"
import type { ListedModel } from "@nimlet/provider"
import type { Sessions } from "@nimlet/session"
import type { Tool } from "@nimlet/tools"

/** What a mode in which somebody speaks with the agent works with. */
export interface Conversing {
  /** The prompt of the command line, now that it is known which of its words belong to flags of extensions. */
  readonly typed: string
  readonly agent: Agent["Service"]
  readonly extensions: Extensions["Service"]
  readonly sessions: Sessions["Service"]
  /** Trust in the project. */
  readonly trust: Trust
  /** A model by name, of the present provider or another; fails with what is missing. */
  readonly model: (name: { readonly provider?: string; readonly model: string }) => Effect.Effect<ModelChoice, { readonly message: string }>
  /** The models that are known by name: of the settings, the catalogue and running extensions. */
  readonly models: Effect.Effect<ReadonlyArray<ListedModel>>
  /** Runs commands of the shell, as the model's do. */
  readonly shell: Tool | undefined
  /** The folder of extensions' output. */
  readonly logs: string
}

/** What shows how extensions start. */
export interface Onlooker {
  /** Run beside the start of the extensions, and until the end. */
  readonly watch: Effect.Effect<void, never, Extensions>
  /** Ends the wait for extensions that have not registered yet. */
  readonly proceed: Effect.Effect<void>
}

/** What shows a run, and who answers its questions. */
export interface Mode {
  /** Its name on the wire. */
  readonly name: "tui" | "text" | "print" | "json" | "rpc"
  /** Where somebody sees the extensions start. */
  readonly onlooker?: Onlooker
  readonly sink: EventSink
  readonly frontend: FrontendShape
  /** Tells the person something that is no part of the run: which model answers, what was skipped. */
  readonly notice: (text: string) => Effect.Effect<void>
  /** The session is known; everything of it is told after this. */
  readonly opened: (sessionId: string) => Effect.Effect<void>
  /** Returns when it is known who is in front. Extensions are started after it. */
  readonly greeted?: Effect.Effect<void>
  /** The session `to` has taken the place of `from`. */
  readonly switched: (from: string, to: string) => Effect.Effect<void>
  /** It cannot start after all; whoever started us is told on standard error, too. */
  readonly refused: (why: string) => Effect.Effect<void>
  /** Something of the session could not be saved up to the end; absent for a diagnostic. */
  readonly unsaved?: (message: string) => Effect.Effect<void>
  /** The run has ended and its session with it. */
  readonly closed: (sessionId: string, result: RunResult) => Effect.Effect<void>
  /** In place of one prompt: speaks with the agent until it is over. Its success is the exit code. */
  readonly converse?: (conversing: Conversing) => Effect.Effect<RunResult, never, Scope.Scope>
  /** Takes words of an extension that came when no run was under way, where they can be run. */
  readonly onIdleInput?: (input: UserInput, extension: string) => Effect.Effect<void>
  /** Ends the conversation, for an extension that wants it ended. */
  readonly leave?: Effect.Effect<void>
  /** What modules read of the screen and set there (seed 004), where there is one. */
  readonly screen?: Pick<AtomicSessionShape, "read" | "show">
  /** How texts are taken from queues, where that can change; the settings otherwise. */
  readonly queues?: (settings: QueueModes) => QueueModes
}
