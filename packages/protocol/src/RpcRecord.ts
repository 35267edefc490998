/**
 * What RPC mode writes beside the records of seed 002: a reply to each command, and, for a client that said `ui`, what a
 * person would see and be asked.
 */
import { Schema } from "effect"
import { Segment, WidgetAction, WidgetElement } from "./SideEffects.ts"
import { StreamRecord } from "./StreamRecord.ts"

const version = { version: Schema.Literal(1) }

/** The reply to a command; more members depend on the command. `id` is empty when the line had none. */
export const ResponseRecord = Schema.StructWithRest(
  Schema.Struct({
    ...version,
    type: Schema.Literal("response"),
    id: Schema.String,
    ok: Schema.Boolean,
    state: Schema.optionalKey(Schema.String),
    error: Schema.optionalKey(Schema.String)
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)
/** A footer entry of an extension; no segments remove it. */
export const StatusRecord = Schema.Struct({ ...version, type: Schema.Literal("status"), key: Schema.String, segments: Schema.Array(Segment) })
/** A widget of an extension; null removes it. */
export const WidgetRecord = Schema.Struct({
  ...version,
  type: Schema.Literal("widget"),
  key: Schema.String,
  widget: Schema.NullOr(Schema.Struct({
    title: Schema.String,
    position: Schema.Literals(["above_composer", "modal"]),
    content: Schema.Array(WidgetElement),
    actions: Schema.Array(WidgetAction)
  }))
})
/** Something to be told. */
export const NoticeRecord = Schema.Struct({
  ...version,
  type: Schema.Literal("notice"),
  level: Schema.Literals(["info", "warning", "error"]),
  message: Schema.String,
  extension: Schema.optionalKey(Schema.String)
})
/** A question to be answered with `answer`. `withdraw` takes back the one with that `request_id`, an approval too. */
export const UiRequestRecord = Schema.Struct({
  ...version,
  type: Schema.Literal("ui_request"),
  request_id: Schema.NonEmptyString,
  method: Schema.Literals(["question", "confirm", "input", "editor", "withdraw"]),
  asker: Schema.optionalKey(Schema.String),
  prompt: Schema.optionalKey(Schema.String),
  options: Schema.optionalKey(Schema.Array(Schema.String)),
  secret: Schema.optionalKey(Schema.Boolean),
  title: Schema.optionalKey(Schema.String),
  text: Schema.optionalKey(Schema.String)
})

/** Every record of RPC mode. */
export const RpcRecord = Schema.Union([...StreamRecord.members, ResponseRecord, StatusRecord, WidgetRecord, NoticeRecord, UiRequestRecord])
/** Every record of RPC mode. */
export type RpcRecord = typeof RpcRecord.Type
/** The reply to a command. */
export type ResponseRecord = typeof ResponseRecord.Type
/** Something to show or to ask, as RPC mode writes it. */
export type UiRecord = typeof StatusRecord.Type | typeof WidgetRecord.Type | typeof NoticeRecord.Type | typeof UiRequestRecord.Type
