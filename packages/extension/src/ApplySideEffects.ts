/** What a line asks the host to show or store (seed 000, "Side effects"). */
import { Effect } from "effect"
import { type JsonObject, SideEffects } from "@nimlet/protocol"
import { EntrySink } from "./Diagnostics.ts"
import { fieldsOf } from "./Fields.ts"
import { Frontend, type NoticeLevel } from "./Frontend.ts"

const decode = fieldsOf(SideEffects)
const fields = Object.keys(SideEffects)

const levelOf = (level: string | undefined): NoticeLevel =>
  level === "error" ? "error" : level === "warning" || level === "warn" ? "warning" : "info"

/** Lines of a widget that are not strings are left out; the widget stands. */
const lenient = (line: JsonObject): JsonObject => {
  const { widget } = line
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
  if (status !== undefined) yield* frontend.status(`${key}:${status.key}`, status.text)
  if (widget !== undefined) yield* frontend.widget(`${key}:${widget.key}`, widget.lines)
  if (notification !== undefined) {
    yield* frontend.notify(levelOf(notification.level), notification.message, key)
  }
  if ("entry" in rest) yield* (yield* EntrySink)({ extension: key, data: rest.entry })
  return bad
})
