/**
 * The fields that may stand on any `response` and any `update` (seed 000, "Side effects"). Each is decoded on its own:
 * a bad one is ignored and leaves the others in force.
 */
import { Schema } from "effect"

/** A footer entry; an empty `text` removes it. `key` is namespaced by the host as `<extension>:<key>`. */
export const Status = Schema.Struct({ key: Schema.NonEmptyString, text: Schema.String })
/** A footer entry. */
export type Status = typeof Status.Type

/** Lines above the footer; empty `lines` remove them. `placement` is accepted and means nothing. */
export const Widget = Schema.Struct({ key: Schema.NonEmptyString, lines: Schema.Array(Schema.String) })
/** Lines above the footer. */
export type Widget = typeof Widget.Type

/** A message in the transcript. `error` and `warning` are styled, any other level is plain. */
export const Notification = Schema.Struct({
  level: Schema.optionalKey(Schema.String),
  message: Schema.NonEmptyString
})
/** A message in the transcript. */
export type Notification = typeof Notification.Type

/** Field name → schema. `entry` is any JSON, null included; it is stored and never sent to the model. */
export const SideEffects = {
  status: Status,
  widget: Widget,
  notification: Notification,
  entry: Schema.Unknown
} as const

/** The side effects of one line; absent fields do nothing. */
export interface SideEffects {
  readonly status?: Status
  readonly widget?: Widget
  readonly notification?: Notification
  readonly entry?: unknown
}
