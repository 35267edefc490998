/** What the worker host needs of the agent, the session and the screen. Whoever runs the agent provides it. */
import { Context, Effect } from "effect"
import type { JsonObject, ScreenAspect, SessionCall } from "@nimlet/protocol"
import { HostRequestFailed } from "@nimlet/extension"

/**
 * What extensions may read at once, by name. A value that has changed must be another object: that is how a change is seen.
 *
 * - `session` `{id, file?, name?, dir?, at?}`; `entries`, of one line of history, in the shapes of seed 004; `labels` id → text
 * - `model`, `models` (each with `available`), `scoped_models`, `thinking`, `usage` `{tokens, contextWindow, percent}`
 * - `tools`, `active_tools` (names), `commands`, `skills`, `flags`, `system_prompt`, `prompt_options`
 * - `idle`, `pending`
 * - `ui.editor_text`, `ui.themes` (each with `name`), `ui.tools_expanded`
 */
export type StateKey = string

/** The session as extensions of this family see and use it. Methods are called from several fibers at once. */
export interface AtomicSessionShape {
  /** What holds now; undefined where nothing is known. Called often: it must be a look-up. */
  readonly read: (key: StateKey, extension: string) => unknown
  /** Does what `SessionCall` says, but for what the host does by itself (`exec`, `file.lock`, `file.unlock`). */
  readonly call: (extension: string, method: SessionCall, params: JsonObject) => Effect.Effect<JsonObject, HostRequestFailed>
  /** Sets a part of the screen; null gives it back. Must not wait for a person. */
  readonly show: (extension: string, aspect: ScreenAspect, value: unknown) => Effect.Effect<void>
}

/** The session in force where the extensions were started. Default: nothing is known and nothing can be done. */
export const AtomicSession: Context.Reference<AtomicSessionShape> = Context.Reference("@nimlet/atomic/AtomicSession", {
  defaultValue: (): AtomicSessionShape => ({
    read: () => undefined,
    call: () => Effect.fail(new HostRequestFailed({ reason: "host request is unavailable", cancelled: true })),
    show: () => Effect.void
  })
})
