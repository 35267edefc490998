/** The lines the host writes to an extension (seed 000, "Transport and handshake", "Messages from nimlet"). */
import { Schema } from "effect"
import { JsonObject } from "./Content.ts"
import { InvokeRequest, PrepareRequest } from "./WorkerMessage.ts"

/**
 * First line, once per process, no reply. The first four fields are seed 000's. `mode` is how the host runs (`tui`,
 * `text`, `print`, `json`, `rpc`), `ui` whether questions can be answered, `entries` the extension's own stored data.
 */
export const Initialize = Schema.Struct({
  type: Schema.Literal("initialize"),
  version: Schema.Literal(1),
  workspace: Schema.String,
  session_id: Schema.String,
  trusted: Schema.Boolean,
  mode: Schema.String,
  ui: Schema.Boolean,
  entries: Schema.Array(Schema.Unknown)
})
/** First line, once per process. */
export type Initialize = typeof Initialize.Type

/** The model called a tool of this extension. */
export const ToolRequest = Schema.Struct({
  type: Schema.Literal("tool"),
  id: Schema.String,
  name: Schema.String,
  arguments: JsonObject,
  /** The model's id of the call; modules are told it. */
  tool_call_id: Schema.optionalKey(Schema.String)
})
/**
 * What a command may want to know of the session it was typed in. `messages` is the conversation as the model would
 * see it now, in OpenAI chat shape, without system text.
 */
export const CommandContext = Schema.Struct({
  mode: Schema.String,
  workspace: Schema.String,
  session_id: Schema.String,
  provider: Schema.String,
  model: Schema.String,
  messages: Schema.Array(JsonObject)
})
/** What a command may want to know of the session it was typed in. */
export type CommandContext = typeof CommandContext.Type

/** The user typed a slash command of this extension; `arguments` is the text after it. */
export const CommandRequest = Schema.Struct({
  type: Schema.Literal("command"),
  id: Schema.String,
  name: Schema.String,
  arguments: Schema.String,
  context: Schema.optionalKey(CommandContext)
})
/** A lifecycle event this extension subscribed to. */
export const EventRequest = Schema.Struct({
  type: Schema.Literal("event"),
  id: Schema.String,
  event: Schema.String,
  payload: JsonObject
})
/** The request `id` is given up; no reply needed. */
export const Cancel = Schema.Struct({ type: Schema.Literal("cancel"), id: Schema.String })
/** The host exits or reloads; stdin is closed with it. */
export const Shutdown = Schema.Struct({ type: Schema.Literal("shutdown") })
/** The answer to a `ui_request`: `confirmed` for `confirm`, `answer` (empty when cancelled) for every other method. */
export const UiResponse = Schema.Struct({
  type: Schema.Literal("ui_response"),
  id: Schema.String,
  answer: Schema.optionalKey(Schema.String),
  confirmed: Schema.optionalKey(Schema.Boolean),
  cancelled: Schema.Boolean,
  error: Schema.optionalKey(Schema.String)
})
/** The answer to a `host_request`: `result`, or `error`, or `cancelled: true` (with an `error` when it is unavailable). */
export const HostResponse = Schema.Struct({
  type: Schema.Literal("host_response"),
  id: Schema.String,
  result: Schema.optionalKey(JsonObject),
  error: Schema.optionalKey(Schema.String),
  cancelled: Schema.optionalKey(Schema.Literal(true))
})
/** The user pressed an action of a widget; `widget` is the bare key, `text` what a modal's own composer held, else empty. */
export const UiAction = Schema.Struct({
  type: Schema.Literal("ui_action"),
  widget: Schema.String,
  action: Schema.String,
  text: Schema.String
})

/** Everything the host writes. */
export const HostMessage = Schema.Union([
  Initialize,
  ToolRequest,
  CommandRequest,
  EventRequest,
  PrepareRequest,
  InvokeRequest,
  Cancel,
  Shutdown,
  UiResponse,
  HostResponse,
  UiAction
])
/** Everything the host writes. */
export type HostMessage = typeof HostMessage.Type

/** The messages that carry an id and wait for a `response`. */
export const HostRequest = Schema.Union([ToolRequest, CommandRequest, EventRequest, PrepareRequest, InvokeRequest])
/** The messages that carry an id and wait for a `response`. */
export type HostRequest = typeof HostRequest.Type
