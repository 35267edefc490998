/** One extension as the dispatcher sees it; every family's host provides these. */
import type { Effect } from "effect"
import type { HookName, JsonObject, OnFailure } from "@nimlet/protocol"
import type { CallFailed } from "./ExtensionError.ts"

/** A party that is asked about an event, in startup order. */
export interface Subscriber {
  /** Unique in a run: the name, or `NAME#2`. */
  readonly key: string
  /** What a gate does when `ask` fails. */
  readonly onFailure: OnFailure
  /** Whether the event is sent while the agent only plans. */
  readonly inPlanMode: boolean
  /** Whether the event is sent when extensions are started anew in the same session. */
  readonly onReload: boolean
  /** Sends the event and waits for the reply within the extension's own budget; interrupting it cancels the request. */
  readonly ask: (event: HookName, payload: JsonObject) => Effect.Effect<JsonObject, CallFailed>
}
