/**
 * What a key does. Whoever asks comes first, then what lies over the composer, then the actions of the screen; what is
 * left is the composer's. A question takes no keys while the person is still typing something else. Pure.
 */
import type { WidgetView } from "@nimlet/extension"
import { dialogKey, isOutcome } from "../Dialog.ts"
import { fieldKey, fieldOf } from "../Field.ts"
import { actionOf } from "../Keymap.ts"
import { type Command, type ComposerState, type Overlay, starting, type State, type Step } from "../State.ts"
import { picked } from "./Picker.ts"
import { tell } from "./Transcript.ts"

/** How long a question must have stood, and the keys have rested, before keys answer it, in milliseconds. */
const rest = 300
/** How long the first ctrl+c waits for the second. */
const leavingTime = 2_000

const taken = (state: State, ...commands: ReadonlyArray<Command>): Step => ({ state, commands, taken: true })
const left = (state: State): Step => ({ state, commands: [], taken: false })

/** The questions that are left: the first of them is on the screen from now on. */
export const shown = (state: State): State => {
  const [first, ...others] = state.dialogs
  return first === undefined || first.since !== undefined ? state : { ...state, dialogs: [{ ...first, since: state.now }, ...others] }
}

const onDialog = (state: State, key: string, typed: string): Step | undefined => {
  const [dialog, ...others] = state.dialogs
  if (dialog === undefined) return undefined
  if (actionOf(state.keymap, key) === "clear") return undefined
  if (state.now - (dialog.since ?? state.now) < rest) return left({ ...state, dialogs: [{ ...dialog, since: state.now }, ...others] })
  const next = dialogKey(dialog, key, typed)
  // The keys of the screen work beside a question; letters that mean nothing to it are not the composer's either.
  if (next === undefined) return actionOf(state.keymap, key) === undefined ? taken(state) : undefined
  if (!isOutcome(next)) return taken({ ...state, dialogs: [next, ...others] })
  return taken(shown({ ...state, dialogs: others }), { type: "answer", id: dialog.id, outcome: next })
}

/** The widgets in the order they are drawn. */
export const orderedWidgets = ({ widgets }: State): State["widgets"] => widgets.toSorted(([a], [b]) => a < b ? -1 : 1)

/** The modal on the screen. */
export const modalOf = (state: State): readonly [string, WidgetView] | undefined => {
  const found = orderedWidgets(state).find(([, { position }]) => position === "modal")
  return found !== undefined && state.modal?.key === found[0] && state.modal.hidden ? undefined : found
}

const onModal = (state: State, key: string, typed: string): Step | undefined => {
  const modal = modalOf(state)
  if (modal === undefined || actionOf(state.keymap, key) === "clear") return undefined
  const [widget, { actions }] = modal
  const draft = state.modal?.key === widget ? state.modal : { key: widget, field: fieldOf(), hidden: false }
  const offers = (id: string) => actions.some((action) => action.id === id)
  if (key === "escape") return offers("close") ? taken(state, { type: "act", key: widget, action: "close" }) : taken({ ...state, modal: { ...draft, hidden: true } })
  if (key === "enter") {
    if (!offers("submit") || draft.field.text.trim() === "") return taken(state)
    return taken({ ...state, modal: { ...draft, field: fieldOf() } }, { type: "act", key: widget, action: "submit", text: draft.field.text })
  }
  const field = fieldKey(draft.field, key, typed)
  return field === undefined ? undefined : taken({ ...state, modal: { ...draft, field } })
}

/** The buttons of all widgets beside the composer, in the order they are drawn. */
const buttons = (state: State) =>
  orderedWidgets(state).flatMap(([key, { actions, position }]) => position === "modal" ? [] : actions.map(({ id }, action) => ({ key, action, id, closes: actions.some((one) => one.id === "close") })))

const onButtons = (state: State, key: string, composer: ComposerState): Step | undefined => {
  const all = buttons(state)
  const { pressed } = state
  if (pressed === undefined) {
    const first = all[0]
    return key === "tab" && composer.empty && first !== undefined ? taken({ ...state, pressed: { key: first.key, action: first.action } }) : undefined
  }
  const at = all.findIndex((one) => one.key === pressed.key && one.action === pressed.action)
  const button = all[at]
  const away: State = { ...state, pressed: undefined }
  if (button === undefined) return { ...left(away) }
  const to = (index: number): Step => {
    const next = all[(index + all.length) % all.length] ?? button
    return taken({ ...state, pressed: { key: next.key, action: next.action } })
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
      return taken(state, { type: "act", key: button.key, action: button.id })
    case "escape":
      return button.closes ? taken(away, { type: "act", key: button.key, action: "close" }) : taken(away)
    default:
      return left(away)
  }
}

const onExtensions = (state: State, overlay: Extract<Overlay, { readonly kind: "extensions" }>, key: string): Step => {
  const { figures } = state
  const to = (selected: number): Step => taken({ ...state, overlay: { ...overlay, log: undefined, selected: Math.max(0, Math.min(figures.length - 1, selected)) } })
  const chosen = figures[overlay.selected]
  switch (key) {
    case "escape":
    case "q":
      return taken({ ...state, overlay: undefined })
    case "up":
      return to(overlay.selected - 1)
    case "down":
      return to(overlay.selected + 1)
    case "r":
      return chosen === undefined ? taken(state) : taken(state, { type: "restart", key: chosen.key })
    case "l":
    case "enter":
      if (overlay.log !== undefined) return taken({ ...state, overlay: { ...overlay, log: undefined } })
      return chosen === undefined ? taken(state) : taken(state, { type: "log", key: chosen.key })
    default:
      return taken(state)
  }
}

const onOverlay = (state: State, key: string, typed: string): Step | undefined => {
  const { overlay } = state
  if (overlay === undefined || actionOf(state.keymap, key) === "clear") return overlay === undefined ? undefined : taken({ ...state, overlay: undefined })
  return overlay.kind === "extensions" ? onExtensions(state, overlay, key) : picked(state, overlay, key, typed)
}

const interrupt = (state: State, running: NonNullable<State["run"]>): Step => {
  const missing = starting(state)
  if (state.answering === undefined && missing.length > 0 && state.sent !== undefined && !running.interrupted) {
    return taken(tell(state, `Going on without ${missing.join(", ")}; what they offer comes when they are ready.`, "warning"), { type: "proceed" })
  }
  return running.interrupted ? taken(state) : taken({ ...state, run: { ...running, interrupted: true } }, { type: "interrupt" })
}

const onAction = (state: State, key: string, composer: ComposerState): Step => {
  const { run } = state
  switch (actionOf(state.keymap, key)) {
    case "interrupt":
      if (composer.completing) return left(state)
      if (run !== undefined) return interrupt(state, run)
      if (composer.empty && state.asides.length > 0) return taken(state, { type: "interrupt" })
      return composer.empty ? taken(state) : taken(state, { type: "compose", text: "", instead: true })
    case "clear": {
      if (!composer.empty) return taken(state, { type: "compose", text: "", instead: true })
      if (state.leaving !== undefined && state.now <= state.leaving) return taken(state, { type: "quit" })
      const armed: State = { ...state, leaving: state.now + leavingTime }
      return run === undefined || run.interrupted ? taken(armed) : taken({ ...armed, run: { ...run, interrupted: true } }, { type: "interrupt" })
    }
    case "leave":
      return composer.empty ? taken(state, { type: "quit" }) : left(state)
    case "details":
      return taken({ ...state, open: !state.open }, { type: "redraw" })
    case "followUp":
      return taken(state, { type: "submit", as: "followUp" })
    case "takeBack":
      return taken(state, { type: "takeBack" })
    case "suspend":
      return taken(state, { type: "suspend" })
    case "editor":
      return taken(state, { type: "edit" })
    case "mode":
      return taken(state, { type: "cycleMode" })
    case undefined:
      return left(state)
  }
}

/** The state after a key. */
export const onKey = (state: State, key: string, typed: string, composer: ComposerState): Step =>
  onDialog(state, key, typed) ?? onOverlay(state, key, typed) ?? onModal(state, key, typed) ?? onButtons(state, key, composer) ?? onAction(state, key, composer)
