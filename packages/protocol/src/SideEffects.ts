/**
 * The fields that may stand on any `response` and any `update` (seed 000, "Side effects"; seed 001, "Side effects").
 * Each is decoded on its own: a bad one is ignored and leaves the others, and what was shown before, in force.
 */
import { Schema } from "effect"

/** How a piece of text looks. */
export const TextStyle = Schema.Literals(["normal", "muted", "accent", "success", "warning", "error", "emphasis"])
/** How a piece of text looks. */
export type TextStyle = typeof TextStyle.Type

/** A piece of a footer entry. */
export const Segment = Schema.Struct({ text: Schema.String, style: Schema.optionalKey(TextStyle) })
/** A piece of a footer entry. */
export type Segment = typeof Segment.Type

/** A footer entry, as one text or in segments; an empty one removes it. `key` is namespaced as `<extension>:<key>`. */
export const Status = Schema.Union([
  Schema.Struct({ key: Schema.NonEmptyString, segments: Schema.Array(Segment) }),
  Schema.Struct({ key: Schema.NonEmptyString, text: Schema.String })
])
/** A footer entry. */
export type Status = typeof Status.Type

const atMost = (count: number) => Schema.isMaxLength(count)

/** One element of a widget. `height` is in lines and clamped to 4..24, 10 when absent. */
export const WidgetElement = Schema.Union([
  Schema.Struct({ type: Schema.Literal("text"), text: Schema.String, style: Schema.optionalKey(TextStyle) }),
  Schema.Struct({
    type: Schema.Literal("list"),
    items: Schema.Array(Schema.Struct({
      text: Schema.String,
      state: Schema.optionalKey(Schema.Literals(["pending", "active", "done"]))
    })).check(atMost(32))
  }),
  Schema.Struct({
    type: Schema.Literal("progress"),
    value: Schema.Number,
    max: Schema.Number.check(Schema.isGreaterThan(0)),
    label: Schema.optionalKey(Schema.String)
  }),
  Schema.Struct({ type: Schema.Literal("markdown"), text: Schema.String, height: Schema.optionalKey(Schema.Number) })
])
/** One element of a widget. */
export type WidgetElement = typeof WidgetElement.Type

/** Something the user can press; its `id` comes back as `ui_action`. The id `close` is what Escape presses. */
export const WidgetAction = Schema.Struct({ id: Schema.NonEmptyString, label: Schema.NonEmptyString })
/** Something the user can press. */
export type WidgetAction = typeof WidgetAction.Type

const uniqueIds = Schema.makeFilter<ReadonlyArray<WidgetAction>>(
  (actions) => new Set(actions.map(({ id }) => id)).size === actions.length || "ids of actions must be unique"
)

/** A widget in elements (seed 001 and later), and as plain lines (seed 000). One with nothing in it is removed. */
export const Widget = Schema.Union([
  Schema.Struct({
    key: Schema.NonEmptyString,
    position: Schema.optionalKey(Schema.Literals(["above_composer", "modal"])),
    title: Schema.optionalKey(Schema.String),
    content: Schema.Array(WidgetElement).check(atMost(24)),
    actions: Schema.optionalKey(Schema.Array(WidgetAction).check(atMost(8), uniqueIds))
  }),
  Schema.Struct({ key: Schema.NonEmptyString, lines: Schema.Array(Schema.String) })
])
/** A widget. */
export type Widget = typeof Widget.Type

/** A message in the transcript. `error` and `warning` are styled, any other level is plain. */
export const Notification = Schema.Struct({
  level: Schema.optionalKey(Schema.String),
  message: Schema.NonEmptyString
})
/** A message in the transcript. */
export type Notification = typeof Notification.Type

/** When a message that an extension says for the user reaches the model; idle, any of them starts a run. */
export const DeliverAs = Schema.Literals(["now", "steer", "follow_up"])
/** When a message that an extension says for the user reaches the model. */
export type DeliverAs = typeof DeliverAs.Type

/** Words for the model, as if the user had said them. */
export const UserMessage = Schema.Struct({ content: Schema.NonEmptyString, deliver_as: DeliverAs })
/** Words for the model, as if the user had said them. */
export type UserMessage = typeof UserMessage.Type

/** Field name → schema. `entry` is any JSON, null included; it is stored and never sent to the model. */
export const SideEffects = {
  status: Status,
  widget: Widget,
  notification: Notification,
  entry: Schema.Unknown,
  user_message: UserMessage
} as const
