/**
 * The one table of lifecycle events (seed 000, "Lifecycle events"; seed 001, "Lifecycle hooks"): what is sent, what a
 * reply may say, and how several replies compose. Everything about an event that is data stands here; the composition
 * itself is `Hooks/Fold.ts` of the host.
 */
import { Schema } from "effect"
import { ImagePart, JsonObject } from "./Content.ts"
import { givenImageFault } from "./Image.ts"
import { HeldFunction } from "./WorkerMessage.ts"

/**
 * - `gate`: `allow: false` blocks; other fields transform.
 * - `transform`: a value chains through the subscribers.
 * - `observe`: told to all, replies only acknowledge.
 */
export type HookKind = "gate" | "transform" | "observe"

const session = { session_id: Schema.String, workspace: Schema.String }
/** Who answers in the session; `thinking` is empty where no level is set. */
const selected = { ...session, provider: Schema.String, model: Schema.String, thinking: Schema.String }

/** An image as hooks see it: base64 `data`, PNG, JPEG or WebP. */
export const HookImage = Schema.Struct({
  type: Schema.Literal("image"),
  name: Schema.String,
  mime_type: Schema.String,
  data: Schema.String
})
/** An image as hooks see it. */
export type HookImage = typeof HookImage.Type

const isNoFault = (fault: string | undefined) => fault === undefined
const sendableHookImages = Schema.Array(HookImage.check(Schema.makeFilter(({ data, mime_type }) => isNoFault(givenImageFault(mime_type, data)))))
const sendableImages = Schema.Array(ImagePart.check(Schema.makeFilter(({ data, mimeType }) => data === undefined || isNoFault(givenImageFault(mimeType, data)))))

/** A summary an extension made in place of the built-in one. `first_kept_index` is the first entry kept. */
export const HookCompaction = Schema.Struct({
  summary: Schema.NonEmptyString,
  first_kept_index: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  details: Schema.optionalKey(Schema.Unknown)
})
/** A summary an extension made in place of the built-in one. */
export type HookCompaction = typeof HookCompaction.Type

/** What an extension says in the conversation. With a `custom_type` it is a message of its own kind, which people see when `display` is set. */
export const HookMessage = Schema.Struct({
  content: Schema.String,
  custom_type: Schema.optionalKey(Schema.String),
  display: Schema.optionalKey(Schema.Boolean),
  details: Schema.optionalKey(Schema.Unknown)
})
/** What an extension says in the conversation. */
export type HookMessage = typeof HookMessage.Type

/** More of an answer: text that belongs to its part number `index`, or a whole call that is that part. */
export const AnswerDelta = Schema.Union([
  Schema.Struct({ kind: Schema.Literals(["text", "thinking"]), index: Schema.Int, delta: Schema.String }),
  Schema.Struct({ kind: Schema.Literal("tool_call"), index: Schema.Int, id: Schema.String, name: Schema.String, arguments: Schema.Unknown })
])
/** More of an answer. */
export type AnswerDelta = typeof AnswerDelta.Type

const acknowledged = {} as const
/** How an action is refused. */
const refusal = { allow: Schema.Boolean, reason: Schema.String }

/**
 * Event name → kind, payload schema, and the reply fields that count (each optional, each decoded alone). Of the
 * events that are only observed, the agent waits for those with `awaited` to have been seen by all.
 */
export const HookEvents = {
  session_start: {
    kind: "observe",
    awaited: true,
    payload: Schema.Struct({
      ...selected,
      /** Why it starts, where that is known. */
      reason: Schema.optionalKey(Schema.Literals(["startup", "reload", "new", "resume", "fork"])),
      previous_session_file: Schema.optionalKey(Schema.String)
    }),
    reply: acknowledged
  },
  /** Before anything of the user's words is saved; `text` replaces them. */
  input: {
    kind: "gate",
    payload: Schema.Struct({
      ...session,
      text: Schema.String,
      images: Schema.Array(HookImage),
      /** Where it comes from; absent for what a person said at our prompt or on our command line. */
      source: Schema.optionalKey(Schema.Literals(["rpc", "extension"]))
    }),
    /** `handled`: somebody has done what was asked; nothing more is said or run. It comes with `allow: false`. */
    reply: { ...refusal, text: Schema.String, images: sendableHookImages, handled: Schema.Boolean }
  },
  /** `system_prompt` replaces the base system text of this run; `message`, or several `messages`, are saved after the user's and sent with it. */
  before_agent_start: {
    kind: "transform",
    payload: Schema.Struct({
      ...session,
      prompt: Schema.String,
      images: Schema.Array(HookImage),
      system_prompt: Schema.String
    }),
    reply: { system_prompt: Schema.String, message: HookMessage, messages: Schema.Array(HookMessage) }
  },
  turn_start: { kind: "observe", awaited: true, payload: Schema.Struct(session), reply: acknowledged },
  /** Before each model step. What a reply holds is added for this request only; messages are in OpenAI chat shape. */
  context: {
    kind: "transform",
    payload: Schema.Struct({ system: Schema.Array(Schema.String), messages: Schema.Array(JsonObject) }),
    reply: { system: Schema.Array(Schema.String), messages: Schema.Array(JsonObject) }
  },
  /** `payload` is the JSON body for the provider; a reply replaces it as a whole. */
  before_provider_request: {
    kind: "transform",
    payload: Schema.Struct({ ...selected, payload: JsonObject }),
    reply: { payload: JsonObject }
  },
  /** Credentials read `<redacted>`. A text in a reply sets, anything else removes; names in any case. */
  before_provider_headers: {
    kind: "transform",
    payload: Schema.Struct({ ...selected, headers: Schema.Record(Schema.String, Schema.String) }),
    reply: { headers: JsonObject }
  },
  /** `error_body` is empty below status 400. */
  after_provider_response: {
    kind: "observe",
    payload: Schema.Struct({
      ...selected,
      status: Schema.Int,
      headers: Schema.Record(Schema.String, Schema.String),
      duration_ms: Schema.Number,
      error_body: Schema.String
    }),
    reply: acknowledged
  },
  /** The finished text of one answer, before it is saved; empty where the model only calls tools. */
  message_end: {
    kind: "transform",
    payload: Schema.Struct({ ...session, role: Schema.Literal("assistant"), text: Schema.String }),
    reply: { text: Schema.String }
  },
  tool_call: {
    kind: "gate",
    payload: Schema.Struct({ tool: Schema.String, arguments: JsonObject, tool_call_id: Schema.optionalKey(Schema.String) }),
    reply: { ...refusal, arguments: JsonObject, terminate: Schema.Boolean }
  },
  tool_result: {
    kind: "transform",
    payload: Schema.Struct({
      tool: Schema.String,
      arguments: JsonObject,
      /** What the model sent, when a hook changed it. */
      original_arguments: Schema.optionalKey(JsonObject),
      output: Schema.String,
      is_error: Schema.Boolean,
      tool_call_id: Schema.optionalKey(Schema.String),
      /** What people and programs see of the result beside its text; images are told of here only. */
      details: Schema.optionalKey(JsonObject),
      images: Schema.optionalKey(Schema.Array(ImagePart))
    }),
    reply: { output: Schema.String, is_error: Schema.Boolean, details: JsonObject, images: sendableImages }
  },
  turn_end: {
    kind: "observe",
    awaited: true,
    payload: Schema.Struct({ ...session, interrupted: Schema.optionalKey(Schema.Literal(true)) }),
    reply: acknowledged
  },
  /** Once a run, after what was queued for it, also after errors. */
  agent_settled: { kind: "observe", awaited: true, payload: Schema.Struct(session), reply: acknowledged },
  session_before_compact: {
    kind: "gate",
    payload: Schema.Struct({
      ...session,
      instruction: Schema.String,
      tokens_before: Schema.Int,
      entries: Schema.Array(Schema.Unknown)
    }),
    reply: { ...refusal, instruction: Schema.String, compaction: HookCompaction }
  },
  /** A `compaction` in a reply supersedes the one that was made, once (seed 001). */
  session_compact: {
    kind: "transform",
    payload: Schema.Struct({
      ...session,
      did_compact: Schema.Boolean,
      summary: Schema.String,
      first_kept_index: Schema.Int,
      tokens_before: Schema.Int,
      message: Schema.String
    }),
    reply: { compaction: HookCompaction }
  },
  session_compact_failed: {
    kind: "observe",
    payload: Schema.Struct({ ...session, error: Schema.String, tokens_before: Schema.Int }),
    reply: acknowledged
  },
  /** Provider, model or thinking level were changed. */
  session_settings_changed: { kind: "observe", payload: Schema.Struct(selected), reply: acknowledged },
  /** `target_session_id` is empty for a new session and the current id for a fork. */
  session_before_switch: {
    kind: "gate",
    payload: Schema.Struct({
      ...session,
      reason: Schema.Literals(["new", "resume", "fork"]),
      target_session_id: Schema.String,
      /** `fork` only: the entry that is forked at, and whether it is left out. */
      entry_id: Schema.optionalKey(Schema.String),
      position: Schema.optionalKey(Schema.Literals(["before", "at"]))
    }),
    reply: refusal
  },
  session_shutdown: {
    kind: "observe",
    awaited: true,
    payload: Schema.Struct({
      ...session,
      reason: Schema.Literals(["quit", "reload", "new", "resume", "fork"]),
      target_session_id: Schema.optionalKey(Schema.String)
    }),
    reply: acknowledged
  },
  /** `reason` says which switch ends it; absent when the program exits. */
  session_end: {
    kind: "observe",
    awaited: true,
    payload: Schema.Struct({ ...session, reason: Schema.optionalKey(Schema.Literals(["reload", "new", "resume", "fork"])) }),
    reply: acknowledged
  },
  // What only seed 004 has. Messages are in its shapes (`role`, `content`, `toolCallId`, …), which the session projects.
  /** A run begins, after `before_agent_start`. */
  agent_start: { kind: "observe", awaited: true, payload: Schema.Struct(session), reply: acknowledged },
  /** A run is over; `messages` are those it added. */
  agent_end: {
    kind: "observe",
    awaited: true,
    payload: Schema.Struct({ ...session, messages: Schema.Array(JsonObject) }),
    reply: acknowledged
  },
  /** A model step begins; `step` counts from 0 in each run, `timestamp` is in milliseconds. */
  step_start: {
    kind: "observe",
    awaited: true,
    payload: Schema.Struct({ ...session, step: Schema.Int, timestamp: Schema.Number }),
    reply: acknowledged
  },
  /** A model step and the tools it called are over. */
  step_end: {
    kind: "observe",
    awaited: true,
    payload: Schema.Struct({ ...session, step: Schema.Int, message: JsonObject, tool_results: Schema.Array(JsonObject) }),
    reply: acknowledged
  },
  /** The messages of one model request, all of them; a reply replaces them for this request. After `context`. */
  model_context: {
    kind: "transform",
    payload: Schema.Struct({ messages: Schema.Array(JsonObject) }),
    reply: { messages: Schema.Array(JsonObject) }
  },
  message_start: { kind: "observe", payload: Schema.Struct({ ...session, message: JsonObject }), reply: acknowledged },
  /**
   * An answer grows. `deltas` are what has come since the last one that this subscriber was sent: it has one under way at a
   * time. `answer` tells one answer from the next.
   */
  message_update: {
    kind: "observe",
    payload: Schema.Struct({ ...session, answer: Schema.Int, deltas: Schema.Array(AnswerDelta) }),
    reply: acknowledged
  },
  /** A message of any role is saved. */
  message_saved: { kind: "observe", payload: Schema.Struct({ ...session, message: JsonObject }), reply: acknowledged },
  tool_execution_start: {
    kind: "observe",
    payload: Schema.Struct({ tool: Schema.String, tool_call_id: Schema.String, arguments: JsonObject }),
    reply: acknowledged
  },
  /** `output` is all that the tool has said so far, at most the last 50 KB of it; the newest is sent when the one before was taken. */
  tool_execution_update: {
    kind: "observe",
    payload: Schema.Struct({ tool: Schema.String, tool_call_id: Schema.String, arguments: JsonObject, output: Schema.String }),
    reply: acknowledged
  },
  tool_execution_end: {
    kind: "observe",
    payload: Schema.Struct({
      tool: Schema.String,
      tool_call_id: Schema.String,
      output: Schema.String,
      is_error: Schema.Boolean,
      details: Schema.optionalKey(JsonObject)
    }),
    reply: acknowledged
  },
  /** Where more skills, prompt templates and themes lie; each reply adds to the lists. After `session_start`. */
  resources_discover: {
    kind: "transform",
    payload: Schema.Struct({
      cwd: Schema.String,
      reason: Schema.Literals(["startup", "reload"]),
      skill_paths: Schema.Array(Schema.String),
      prompt_paths: Schema.Array(Schema.String),
      theme_paths: Schema.Array(Schema.String)
    }),
    reply: {
      skill_paths: Schema.Array(Schema.String),
      prompt_paths: Schema.Array(Schema.String),
      theme_paths: Schema.Array(Schema.String)
    }
  },
  /** The session has a new title; empty when it lost it. */
  session_info_changed: { kind: "observe", payload: Schema.Struct({ ...session, name: Schema.String }), reply: acknowledged },
  /** The user typed a shell command for themselves. A `result` takes the place of running it. */
  user_bash: {
    kind: "gate",
    payload: Schema.Struct({
      ...session,
      command: Schema.String,
      exclude_from_context: Schema.Boolean,
      result: Schema.optionalKey(JsonObject),
      operations: Schema.optionalKey(HeldFunction)
    }),
    /** `operations`: a function that runs it, whose updates are the output and whose value is `{exit_code}`. */
    reply: { ...refusal, result: JsonObject, operations: HeldFunction }
  },
  /** Whether a project is to be trusted, asked of extensions that are not its own. The first yes or no counts. */
  project_trust: {
    kind: "transform",
    payload: Schema.Struct({
      cwd: Schema.String,
      trusted: Schema.Literals(["yes", "no", "undecided"]),
      remember: Schema.Boolean
    }),
    reply: { trusted: Schema.Literals(["yes", "no", "undecided"]), remember: Schema.Boolean }
  },
  /** The session is about to become the one that ends at the entry `target_id`. */
  session_before_tree: {
    kind: "gate",
    payload: Schema.Struct({ ...session, target_id: Schema.String, old_leaf_id: Schema.String, instruction: Schema.String }),
    reply: { ...refusal, instruction: Schema.String }
  },
  /** It has. */
  session_tree: {
    kind: "observe",
    payload: Schema.Struct({ ...session, new_leaf_id: Schema.String, old_leaf_id: Schema.String }),
    reply: acknowledged
  }
} as const satisfies {
  readonly [name: string]: {
    readonly kind: HookKind
    readonly awaited?: true
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
/** Why a session is left or its extensions are started anew. */
export type ShutdownReason = HookPayload<"session_shutdown">["reason"]
/** The events of kind `K`. */
export type HookNameOf<K extends HookKind> = { [N in HookName]: HookEvents[N]["kind"] extends K ? N : never }[HookName]

/** Whether a name an extension subscribed to is one that fires; others are accepted and stay silent. */
export const isHookName = (name: string): name is HookName => Object.hasOwn(HookEvents, name)

/** Those of seed 004 that have no twin in the others; the agent fires them where it can. */
export const moduleEvents: ReadonlyArray<HookName> = [
  "agent_start", "agent_end", "step_start", "step_end", "model_context", "message_start", "message_update", "message_saved",
  "tool_execution_start", "tool_execution_update", "tool_execution_end", "resources_discover", "session_info_changed",
  "user_bash", "project_trust", "session_before_tree", "session_tree"
]
