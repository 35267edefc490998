/** What becomes of a lifecycle event. */
import type { HookCompaction, HookMessage, HookName, HookNameOf, HookPayload } from "@nimlet/protocol"

/** The action goes on with `payload` as the subscribers left it. */
export interface Continue<N extends HookName> {
  readonly _tag: "Continue"
  readonly payload: HookPayload<N>
  /** Keys of the extensions whose reply changed the payload, in order. */
  readonly changedBy: ReadonlyArray<string>
  /** `session_before_compact` and `session_compact` only: a summary to use instead of the one that is or would be made. */
  readonly compaction?: HookCompaction
  /** `before_agent_start` only: what extensions want saved after the user's words, in order. */
  readonly messages?: ReadonlyArray<HookMessage>
}

/** The action must not happen. `reason` is all reasons joined by `; `, or `blocked by extension`. */
export interface Blocked {
  readonly _tag: "Blocked"
  readonly reason: string
  /** Keys of the extensions that blocked, in order. */
  readonly blockedBy: ReadonlyArray<string>
  /** `input` only: one of them has done what was asked, which is no refusal. */
  readonly handled?: true
  /** `tool_call` only: the refusal, as the call's result, wants no further model request. */
  readonly terminate?: boolean
}

/** What became of an event; only gates can be blocked. */
export type HookOutcome<N extends HookName> = Continue<N> | (N extends HookNameOf<"gate"> ? Blocked : never)

/** How the agent runs while the event fires. */
export interface HookOptions {
  /** Plan mode: families that are silent in it are not asked. */
  readonly planning?: boolean
  /** The extensions are started anew in the same session: families that do not take that for an end or a start are not asked. */
  readonly reloading?: boolean
  /** Key of an extension that is not asked: what happens is done for it, and it may be waiting for that. */
  readonly except?: string
}
