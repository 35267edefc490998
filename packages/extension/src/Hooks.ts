/** The dispatcher of lifecycle events: one fold over the subscribers, in startup order (SPEC 5). */
import { Context, Effect, Layer } from "effect"
import type { HookCompaction, HookName, HookNameOf, HookPayload } from "@nimlet/protocol"
import { Extensions } from "./Extensions.ts"
import { makeDispatcher } from "./Hooks/Dispatcher.ts"

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

/**
 * Runs an event. It never fails: what goes wrong with one subscriber is a diagnostic, and the fold goes on (or blocks,
 * where that extension's `on_failure` says so). With no subscriber it is an immediate success.
 */
export class Hooks extends Context.Service<Hooks, {
  readonly run: <N extends HookName>(
    event: N,
    payload: HookPayload<N>,
    options?: HookOptions
  ) => Effect.Effect<HookOutcome<N>>
  /** Whether anybody would be asked; lets a caller skip building a costly payload. */
  readonly subscribed: (event: HookName, options?: HookOptions) => boolean
}>()("@nimlet/extension/Hooks") {
  /** Asks the running extensions. */
  static readonly layer: Layer.Layer<Hooks, never, Extensions> = Layer.effect(
    Hooks,
    Effect.map(Extensions, (extensions) => makeDispatcher(extensions.subscribers))
  )

  /** Asks nobody: for programs without extensions. */
  static readonly layerNone: Layer.Layer<Hooks> = Layer.sync(Hooks, () => makeDispatcher(() => []))
}
