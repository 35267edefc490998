/** What becomes of a lifecycle event. */
import type { HookCompaction, HookName, HookNameOf, HookPayload } from "@nimlet/protocol"

/** The action goes on with `payload` as the subscribers left it. */
export interface Continue<N extends HookName> {
  readonly _tag: "Continue"
  readonly payload: HookPayload<N>
  /** Keys of the extensions whose reply changed the payload, in order. */
  readonly changedBy: ReadonlyArray<string>
  /** `session_before_compact` only: a summary to use instead of the built-in one. */
  readonly compaction?: HookCompaction
}

/** The action must not happen. `reason` is all reasons joined by `; `, or `blocked by extension`. */
export interface Blocked {
  readonly _tag: "Blocked"
  readonly reason: string
  /** Keys of the extensions that blocked, in order. */
  readonly blockedBy: ReadonlyArray<string>
}

/** What became of an event; only gates can be blocked. */
export type HookOutcome<N extends HookName> = Continue<N> | (N extends HookNameOf<"gate"> ? Blocked : never)

/** How the agent runs while the event fires. */
export interface HookOptions {
  /** Plan mode: families that are silent in it are not asked. */
  readonly planning?: boolean
}
