/** The lines the host writes to an extension (seed 000, "Transport and handshake", "Messages from nimlet"). */
import { Schema } from "effect"
import { JsonObject } from "./Content.ts"

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
  arguments: JsonObject
})
/** The user typed a slash command of this extension; `arguments` is the text after it. */
export const CommandRequest = Schema.Struct({
  type: Schema.Literal("command"),
  id: Schema.String,
  name: Schema.String,
  arguments: Schema.String
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
/** The answer to a `ui_request`. */
export const UiResponse = Schema.Struct({
  type: Schema.Literal("ui_response"),
  id: Schema.String,
  answer: Schema.optionalKey(Schema.String),
  cancelled: Schema.Boolean
})
/** The answer to a `host_request`. */
export const HostResponse = Schema.Struct({
  type: Schema.Literal("host_response"),
  id: Schema.String,
  cancelled: Schema.Boolean,
  error: Schema.optionalKey(Schema.String)
})

/** Everything the host writes. */
export const HostMessage = Schema.Union([
  Initialize,
  ToolRequest,
  CommandRequest,
  EventRequest,
  Cancel,
  Shutdown,
  UiResponse,
  HostResponse
])
/** Everything the host writes. */
export type HostMessage = typeof HostMessage.Type

/** The messages that carry an id and wait for a `response`. */
export const HostRequest = Schema.Union([ToolRequest, CommandRequest, EventRequest])
/** The messages that carry an id and wait for a `response`. */
export type HostRequest = typeof HostRequest.Type
