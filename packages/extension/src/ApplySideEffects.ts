/** What a line asks the host to show, store or say (seed 000, "Side effects"; seed 001, "Side effects"). */
import { Clock, Effect } from "effect"
import { type JsonObject, type Segment, SideEffects, type Status, type Widget, type WidgetElement } from "@nimlet/protocol"
import { Allowance } from "./Allowance.ts"
import { EntrySink } from "./Diagnostics.ts"
import { fieldsOf } from "./Fields.ts"
import { Frontend, type NoticeLevel, type WidgetView } from "./Frontend.ts"
import { isJsonObject } from "./Json.ts"
import type { Losses } from "./Losses.ts"
import { SessionAccess } from "./SessionAccess.ts"
import { mostShown, type Shown } from "./Shown.ts"

const decode = fieldsOf(SideEffects)
const fields = Object.keys(SideEffects)

const levelOf = (level: string | undefined): NoticeLevel =>
  level === "error" ? "error" : level === "warning" || level === "warn" ? "warning" : "info"

const segmentsOf = (status: Status): ReadonlyArray<Segment> =>
  "segments" in status ? status.segments : status.text === "" ? [] : [{ text: status.text }]

/** Lines of a markdown element: least, most, and where nothing is said. */
const height = { least: 4, most: 24, usual: 10 }

const clamp = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value))

const drawable = (element: WidgetElement): WidgetElement => {
  switch (element.type) {
    case "progress":
      return { ...element, value: clamp(element.value, 0, element.max) }
    case "markdown":
      return { ...element, height: clamp(Math.round(element.height ?? height.usual), height.least, height.most) }
    default:
      return element
  }
}

const viewOf = (widget: Widget): WidgetView | undefined => {
  const { actions = [], position = "above_composer", title = "" } = "content" in widget ? widget : {} satisfies Partial<WidgetView>
  const content = "content" in widget ? widget.content.map(drawable) : widget.lines.map((text) => ({ type: "text" as const, text }))
  return content.length === 0 && actions.length === 0 && title === "" ? undefined : { title, position, content, actions }
}

/**
 * Lines of a widget that are not strings are left out and the widget stands; one with `content` is not one of lines; a key
 * alone is a widget with nothing in it.
 */
const lenient = (line: JsonObject): JsonObject => {
  const { widget } = line
  if (!isJsonObject(widget)) return line
  if (Object.keys(widget).length === 1 && "key" in widget) return { ...line, widget: { ...widget, content: [] } }
  if (!Array.isArray(widget.lines)) return line
  const { lines, ...rest } = widget
  return { ...line, widget: "content" in rest ? rest : { ...rest, lines: lines.filter((each) => typeof each === "string") } }
}

/** Notifications that one extension may show at once, and in each second after that; nobody could read more. */
const readable = { most: 64, perSecond: 8 }
/** What one life of an extension may have stored: the session is kept in memory, too. Small entries count for what they cost there. */
const storable = 32 * 1024 * 1024
const entryCost = 256

const unread = { one: "1 notification was not shown", several: "notifications were not shown", why: "it sends more than a person can read" }
const unstored = { one: "1 entry was not stored", several: "entries were not stored", why: "it has had 32 MiB of them stored since it was started" }

/** What side effects of one life go by. */
export class SideEffectLimits {
  readonly losses: Losses
  readonly notices = new Allowance(readable)
  stored = 0

  /** What is beyond its limits goes to `losses`. */
  constructor(losses: Losses) {
    this.losses = losses
  }
}

/**
 * Applies the side effects of a line, in the order status, widget, notification, entry, user message, and returns the
 * names of those that were ill-typed and ignored; what they would have replaced stays. `key` is the extension's, `size` the
 * length of the line.
 */
export const applySideEffects = (key: string, shown: Shown, limits: SideEffectLimits, line: JsonObject, size: number): Effect.Effect<ReadonlyArray<string>> =>
  fields.some((field) => Object.hasOwn(line, field)) ? apply(key, shown, limits, lenient(line), size) : Effect.succeed([])

const apply = Effect.fnUntraced(function*(key: string, shown: Shown, limits: SideEffectLimits, line: JsonObject, size: number) {
  const { bad, values: { notification, status, user_message, widget, ...rest } } = decode(line)
  const ignored = [...bad]
  const tooMany = (field: string) => void ignored.push(`${field} (it shows ${mostShown} already)`)
  if (status !== undefined) {
    if (shown.hasRoomForStatus(status.key)) yield* shown.status(status.key, segmentsOf(status))
    else tooMany("status")
  }
  if (widget !== undefined) {
    if (shown.hasRoomForWidget(widget.key)) yield* shown.widget(widget.key, viewOf(widget))
    else tooMany("widget")
  }
  if (notification !== undefined) {
    if (limits.notices.take(yield* Clock.currentTimeMillis)) yield* (yield* Frontend).notify(levelOf(notification.level), notification.message, key)
    else yield* limits.losses.lost(unread)
  }
  if (rest.entry !== undefined) {
    limits.stored += size + entryCost
    if (limits.stored <= storable) yield* (yield* EntrySink)({ extension: key, data: rest.entry })
    else yield* limits.losses.lost(unstored)
  }
  if (user_message !== undefined) yield* (yield* SessionAccess).say(key, user_message)
  return ignored
})
