/**
 * The one table of lifecycle events (seed 000, "Lifecycle events"): what is sent, what a reply may say, and how
 * several replies compose. Everything about an event that is data stands here; the composition itself is
 * `Hooks/Fold.ts` of the host.
 */
import { Schema } from "effect"
import { JsonObject } from "./Content.ts"

/**
 * - `gate`: `allow: false` blocks; other fields transform.
 * - `transform`: a value chains through the subscribers.
 * - `observe`: told to all, replies only acknowledge.
 */
export type HookKind = "gate" | "transform" | "observe"

const session = { session_id: Schema.String, workspace: Schema.String }

/** A summary an extension made in place of the built-in one. `first_kept_index` is the first entry kept. */
export const HookCompaction = Schema.Struct({
  summary: Schema.NonEmptyString,
  first_kept_index: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  details: Schema.optionalKey(Schema.Unknown)
})
/** A summary an extension made in place of the built-in one. */
export type HookCompaction = typeof HookCompaction.Type

const acknowledged = {} as const

/** Event name → kind, payload schema, and the reply fields that count (each optional, each decoded alone). */
export const HookEvents = {
  tool_call: {
    kind: "gate",
    payload: Schema.Struct({ tool: Schema.String, arguments: JsonObject }),
    reply: { allow: Schema.Boolean, reason: Schema.String, arguments: JsonObject }
  },
  tool_result: {
    kind: "transform",
    payload: Schema.Struct({
      tool: Schema.String,
      arguments: JsonObject,
      /** What the model sent, when a hook changed it. */
      original_arguments: Schema.optionalKey(JsonObject),
      output: Schema.String,
      is_error: Schema.Boolean
    }),
    reply: { output: Schema.String, is_error: Schema.Boolean }
  },
  turn_start: { kind: "observe", payload: Schema.Struct(session), reply: acknowledged },
  turn_end: {
    kind: "observe",
    payload: Schema.Struct({ ...session, interrupted: Schema.optionalKey(Schema.Literal(true)) }),
    reply: acknowledged
  },
  session_start: { kind: "observe", payload: Schema.Struct(session), reply: acknowledged },
  session_end: { kind: "observe", payload: Schema.Struct(session), reply: acknowledged },
  session_before_compact: {
    kind: "gate",
    payload: Schema.Struct({
      ...session,
      instruction: Schema.String,
      tokens_before: Schema.Int,
      entries: Schema.Array(Schema.Unknown)
    }),
    reply: { allow: Schema.Boolean, reason: Schema.String, instruction: Schema.String, compaction: HookCompaction }
  },
  session_compact: {
    kind: "observe",
    payload: Schema.Struct({
      ...session,
      did_compact: Schema.Boolean,
      summary: Schema.String,
      first_kept_index: Schema.Int,
      tokens_before: Schema.Int,
      message: Schema.String
    }),
    reply: acknowledged
  }
} as const satisfies {
  readonly [name: string]: {
    readonly kind: HookKind
    readonly payload: Schema.Schema<object>
    readonly reply: { readonly [field: string]: Schema.Schema<unknown> }
  }
}

/** The table. */
export type HookEvents = typeof HookEvents
/** A lifecycle event that can fire. */
export type HookName = keyof HookEvents
/** What is sent with event `N`. */
export type HookPayload<N extends HookName> = HookEvents[N]["payload"]["Type"]
/** What a reply to event `N` may say. */
export type HookReply<N extends HookName> = {
  readonly [F in keyof HookEvents[N]["reply"]]?: HookEvents[N]["reply"][F] extends Schema.Schema<infer A> ? A : never
}
/** The events of kind `K`. */
export type HookNameOf<K extends HookKind> = { [N in HookName]: HookEvents[N]["kind"] extends K ? N : never }[HookName]

/** Whether a name an extension subscribed to is one that fires; others are accepted and stay silent. */
export const isHookName = (name: string): name is HookName => Object.hasOwn(HookEvents, name)
