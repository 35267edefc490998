/** The dispatcher of lifecycle events: one fold over the subscribers, in startup order. */
import { Context, Effect, Layer } from "effect"
import type { HookName, HookPayload } from "@nimlet/protocol"
import { Extensions } from "./Extensions.ts"
import type { HookOptions, HookOutcome } from "./HookOutcome.ts"
import { makeDispatcher } from "./Hooks/Dispatcher.ts"

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
    Effect.gen(function*() {
      const { subscribers } = yield* Extensions
      return makeDispatcher(subscribers, yield* Effect.scope)
    })
  )

  /** Asks nobody: for programs without extensions. */
  static readonly layerNone: Layer.Layer<Hooks> = Layer.effect(Hooks, Effect.map(Effect.scope, (scope) => makeDispatcher(() => [], scope)))
}
