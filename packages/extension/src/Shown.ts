/** What one extension shows at the moment: it goes with the life that put it there. Plain state behind the frontend. */
import { Effect } from "effect"
import type { Segment } from "@nimlet/protocol"
import { Frontend, type WidgetView } from "./Frontend.ts"

/** Statuses, and widgets, that one extension may show at once; nobody could read more. */
export const mostShown = 64

/** The statuses and widgets of the extension `key`; theirs are bare, the frontend's are `<extension>:<key>`. */
export class Shown {
  readonly #prefix: string
  readonly #statuses = new Set<string>()
  readonly #widgets = new Map<string, WidgetView>()

  /** Nothing is shown yet. */
  constructor(key: string) {
    this.#prefix = `${key}:`
  }

  /** Whether there is room for a status `key`. */
  hasRoomForStatus(key: string): boolean {
    return this.#statuses.size < mostShown || this.#statuses.has(key)
  }

  /** Whether there is room for a widget `key`. */
  hasRoomForWidget(key: string): boolean {
    return this.#widgets.size < mostShown || this.#widgets.has(key)
  }

  /** Shows a status; no segments remove it. */
  status(key: string, segments: ReadonlyArray<Segment>): Effect.Effect<void> {
    if (segments.length === 0) this.#statuses.delete(key)
    else this.#statuses.add(key)
    return Effect.flatMap(Frontend, (frontend) => frontend.status(this.#prefix + key, segments))
  }

  /** Shows a widget; `undefined` removes it. */
  widget(key: string, view: WidgetView | undefined): Effect.Effect<void> {
    if (view === undefined) this.#widgets.delete(key)
    else this.#widgets.set(key, view)
    return Effect.flatMap(Frontend, (frontend) => frontend.widget(this.#prefix + key, view))
  }

  /** The bare key of a widget of this extension that is shown under the frontend's key. */
  owns(frontendKey: string): string | undefined {
    const key = frontendKey.startsWith(this.#prefix) ? frontendKey.slice(this.#prefix.length) : undefined
    return key !== undefined && this.#widgets.has(key) ? key : undefined
  }

  /**
   * Whether a widget takes an action now. A modal can always be closed, and its composer submits only what is not blank
   * and only where `submit` is listed.
   */
  takes(key: string, action: string, text: string): boolean {
    const widget = this.#widgets.get(key)
    if (widget === undefined) return false
    const modal = widget.position === "modal"
    if (modal && action === "close") return true
    return widget.actions.some(({ id }) => id === action) && !(modal && action === "submit" && text.trim() === "")
  }

  /** Whether `text` belongs to an action: only what a modal's composer submits does. */
  carriesText(key: string, action: string): boolean {
    return action === "submit" && this.#widgets.get(key)?.position === "modal"
  }

  /** Removes all of it from the frontend. */
  get clear(): Effect.Effect<void> {
    return Effect.suspend(() => {
      const statuses = [...this.#statuses]
      const widgets = [...this.#widgets.keys()]
      return Effect.andThen(
        Effect.forEach(statuses, (key) => this.status(key, []), { discard: true }),
        Effect.forEach(widgets, (key) => this.widget(key, undefined), { discard: true })
      )
    })
  }
}
