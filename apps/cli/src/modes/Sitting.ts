/** What a mode does in which a person stays: it talks to the agent for as long as it likes, where others run one prompt. */
import type { Effect } from "effect"
import type { Agent, ModelChoice, RunResult, UserInput } from "@nimlet/agent"
import type { Extensions } from "@nimlet/extension"
import type { Sessions } from "@nimlet/session"
import type { Tool } from "@nimlet/tools"

/** What the run lends it. */
export interface Surroundings {
  /** A model by its provider and, where it is not the provider's own choice, its name. Fails with a sentence for people. */
  readonly choose: (provider: string, model: string | undefined) => Effect.Effect<ModelChoice, { readonly message: string }>
  /** Models that are known by name. */
  readonly models: ReadonlyArray<{ readonly provider: string; readonly model: string }>
  /** Runs commands of the shell, as the model's do. */
  readonly shell: Tool | undefined
  /** Where extensions' output goes. */
  readonly logs: string
}

/** The three moments of it. */
export interface Sitting {
  /** Run beside the start of the extensions, and until the end. */
  readonly watch: Effect.Effect<void, never, Extensions>
  /** Ends the wait for extensions that have not registered yet. */
  readonly proceed: Effect.Effect<void>
  /** Takes words of an extension that came when no run was under way. */
  readonly idleInput: (input: UserInput, extension: string) => Effect.Effect<void>
  /** The sitting itself, once there is an agent. */
  readonly talk: (surroundings: Surroundings) => Effect.Effect<RunResult, never, Agent | Extensions | Sessions>
}
