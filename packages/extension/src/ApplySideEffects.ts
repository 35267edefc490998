/** What a line asks the host to show or store (seed 000, "Side effects"). */
import { Effect } from "effect"
import { type JsonObject, type Segment, SideEffects, type Status, type Widget } from "@nimlet/protocol"
import { EntrySink } from "./Diagnostics.ts"
import { fieldsOf } from "./Fields.ts"
import { Frontend, type NoticeLevel, type WidgetView } from "./Frontend.ts"

const decode = fieldsOf(SideEffects)
const fields = Object.keys(SideEffects)

const levelOf = (level: string | undefined): NoticeLevel =>
  level === "error" ? "error" : level === "warning" || level === "warn" ? "warning" : "info"

const segmentsOf = (status: Status): ReadonlyArray<Segment> =>
  "segments" in status ? status.segments : status.text === "" ? [] : [{ text: status.text }]

const viewOf = (widget: Widget): WidgetView | undefined => {
  const { actions = [], position = "above_composer", title = "" } = "content" in widget ? widget : {} satisfies Partial<WidgetView>
  const content = "content" in widget ? widget.content : widget.lines.map((text) => ({ type: "text" as const, text }))
  return content.length === 0 && actions.length === 0 && title === "" ? undefined : { title, position, content, actions }
}

/** Lines of a widget that are not strings are left out; the widget stands. */
const lenient = (line: JsonObject): JsonObject => {
  const widget: unknown = line["widget"]
  if (typeof widget !== "object" || widget === null || !("lines" in widget) || !Array.isArray(widget.lines)) return line
  return { ...line, widget: { ...widget, lines: widget.lines.filter((each) => typeof each === "string") } }
}

/**
 * Applies the side effects of a line, in the order status, widget, notification, entry, and returns the names of those
 * that were ill-typed and ignored. `key` is the extension's, the namespace of status and widget keys.
 */
export const applySideEffects = (key: string, line: JsonObject): Effect.Effect<ReadonlyArray<string>> =>
  fields.some((field) => Object.hasOwn(line, field)) ? apply(key, lenient(line)) : Effect.succeed([])

const apply = Effect.fnUntraced(function*(key: string, line: JsonObject) {
  const { bad, values: { notification, status, widget, ...rest } } = decode(line)
  const frontend = yield* Frontend
  if (status !== undefined) yield* frontend.status(`${key}:${status.key}`, segmentsOf(status))
  if (widget !== undefined) yield* frontend.widget(`${key}:${widget.key}`, viewOf(widget))
  if (notification !== undefined) {
    yield* frontend.notify(levelOf(notification.level), notification.message, key)
  }
  if ("entry" in rest) yield* (yield* EntrySink)({ extension: key, data: rest.entry })
  return bad
})
