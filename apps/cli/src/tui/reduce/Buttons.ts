/** Keys on what extensions show: the modal with its draft, the buttons of widgets. Pure. */
import type { WidgetView } from "@nimlet/extension"
import type { ComposerState } from "../Event.ts"
import { fieldKey, fieldOf } from "../Field.ts"
import { actionOf } from "../Keymap.ts"
import type { State } from "../State.ts"
import { left, step, type Step } from "../Step.ts"

/** The widgets in the order they are drawn. */
export const orderedWidgets = ({ widgets }: State): State["widgets"] => widgets.toSorted(([a], [b]) => a < b ? -1 : 1)

/** The modal on the screen. */
export const modalOf = (state: State): readonly [string, WidgetView] | undefined => {
  const { putAway } = state
  return orderedWidgets(state).find(([key, { position }]) => position === "modal" && !putAway.some((one) => one.key === key))
}

/** The person calls for an extension: what they put away of it comes back when it says something again. */
export const callFor = (state: State, extension: string): State => {
  const { putAway } = state
  return putAway.length === 0 ? state : { ...state, putAway: putAway.map((one) => one.key.startsWith(`${extension}:`) ? { ...one, asked: true } : one) }
}

/** The state after a button was pressed, by a key or the mouse; in a modal what is typed there goes along. */
export const press = (state: State, key: string, action: string): Step => {
  const [widget] = modalOf(state) ?? []
  // It goes at once: its extension is told, and may be deaf, or in the middle of a stream of updates.
  if (widget === key && action === "close") return step({ ...state, putAway: [...state.putAway, { key, asked: false }] }, { type: "act", key, action })
  if (widget !== key || action !== "submit") return step(callFor(state, key.slice(0, key.indexOf(":"))), { type: "act", key, action })
  const text = state.modal?.key === key ? state.modal.field.text : ""
  if (text.trim() === "") return step(state)
  return step({ ...state, modal: { key, field: fieldOf() } }, { type: "act", key, action, text })
}

/** The state after a key while a modal is on the screen. */
export const onModal = (state: State, key: string, typed: string): Step | undefined => {
  const modal = modalOf(state)
  if (modal === undefined || actionOf(state.keymap, key) === "clear") return undefined
  const [widget, { actions }] = modal
  const draft = state.modal?.key === widget ? state.modal : { key: widget, field: fieldOf() }
  const offers = (id: string) => actions.some((action) => action.id === id)
  if (key === "escape") return press(state, widget, "close")
  if (key === "enter") return offers("submit") ? press(state, widget, "submit") : step(state)
  const field = fieldKey(draft.field, key, typed)
  return field === undefined ? undefined : step({ ...state, modal: { ...draft, field } })
}

/** The buttons of all widgets beside the composer, in the order they are drawn. */
const buttons = (state: State) =>
  orderedWidgets(state).flatMap(([key, { actions, position }]) =>
    position === "modal" ? [] : actions.map(({ id }, action) => ({ key, action, id, closes: actions.some((one) => one.id === "close") })))

/** The state after a key while the buttons have them; `tab` gives them to the first. */
export const onButtons = (state: State, key: string, composer: ComposerState): Step | undefined => {
  const all = buttons(state)
  const { pressed } = state
  if (pressed === undefined) {
    const first = all[0]
    return key === "tab" && composer.empty && first !== undefined ? step({ ...state, pressed: { key: first.key, action: first.action } }) : undefined
  }
  const at = all.findIndex((one) => one.key === pressed.key && one.action === pressed.action)
  const button = all[at]
  const away: State = { ...state, pressed: undefined }
  if (button === undefined) return left(away)
  const to = (index: number): Step => {
    const next = all[(index + all.length) % all.length] ?? button
    return step({ ...state, pressed: { key: next.key, action: next.action } })
  }
  switch (key) {
    case "tab":
    case "right":
    case "down":
      return to(at + 1)
    case "shift+tab":
    case "left":
    case "up":
      return to(at - 1)
    case "enter":
      return press(state, button.key, button.id)
    case "escape":
      return button.closes ? press(away, button.key, "close") : step(away)
    default:
      return left(away)
  }
}
