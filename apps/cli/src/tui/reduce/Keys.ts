/**
 * What a key does. Whoever asks comes first, then what lies over the composer, then the actions of the screen and the keys
 * of extensions; what is left is the composer's. A question takes no keys while the person is still typing something else,
 * and a letter answers it when it turns out to be no word's first.
 * Pure.
 */
import { type Dialog, dialogKey, heldAnswer, holding, isOutcome, isResting, type Outcome } from "../Dialog.ts"
import type { ComposerState } from "../Event.ts"
import { fieldOf } from "../Field.ts"
import { actionOf, listKeyOf, nameOfKey } from "../Keymap.ts"
import { starting, type State } from "../State.ts"
import { left, step, type Step } from "../Step.ts"
import { callFor, onButtons, onModal } from "./Buttons.ts"
import { onExtensions } from "./ExtensionsPane.ts"
import { picked } from "./Picker.ts"
import { onSearch } from "./Searching.ts"
import { copyAnswer, tell } from "./Transcript.ts"

/** How long the first ctrl+c waits for the second. */
const leavingTime = 2_000

/** The questions that are left: the first of them is on the screen from now on. */
export const shown = (state: State): State => {
  const [first, ...others] = state.dialogs
  return first === undefined || first.since !== undefined ? state : { ...state, dialogs: [{ ...first, since: state.now }, ...others] }
}

const answered = (state: State, { id }: Dialog, outcome: Outcome): Step =>
  step(shown({ ...state, dialogs: state.dialogs.slice(1) }), { type: "answer", id, outcome })

/** The state when a moment has passed since a letter that answers. */
export const onRest = (state: State): Step => {
  const [dialog] = state.dialogs
  const outcome = dialog === undefined ? undefined : heldAnswer(dialog, state.now)
  return dialog === undefined || outcome === undefined ? step(state) : answered(state, dialog, outcome)
}

const onDialog = (state: State, key: string, typed: string, composer: ComposerState): Step | undefined => {
  const [dialog, ...others] = state.dialogs
  if (dialog === undefined) return undefined
  if (actionOf(state.keymap, key) === "clear") return undefined
  const stay = (next: Dialog): State => ({ ...state, dialogs: [next, ...others] })
  const { field, held } = dialog
  const beside = stay({ ...dialog, since: state.now, held: undefined, beside: field === undefined })
  const means = listKeyOf(state.keymap, key)
  if (isResting(dialog, state.now)) return left(typed === "" ? stay({ ...dialog, since: state.now }) : beside)
  if (held !== undefined && typed !== "" && means !== "enter") return { state: beside, commands: [{ type: "insert", text: held.letter }], taken: false }
  if (dialog.beside === true && !composer.empty && (typed !== "" || means === "enter")) return left(beside)
  const holds = holding(dialog, typed, state.now)
  if (holds !== undefined) return step(stay(holds))
  const next = dialogKey(dialog, means, typed)
  // The keys of the screen work beside a question. Letters that mean nothing to it begin something else, which is the composer's.
  if (next === undefined) return actionOf(state.keymap, key) !== undefined ? undefined : typed === "" ? step(stay({ ...dialog, held: undefined })) : left(beside)
  return isOutcome(next) ? answered(state, dialog, next) : step(stay(next))
}

const onOverlay = (state: State, key: string, typed: string): Step | undefined => {
  const { overlay } = state
  if (overlay === undefined) return undefined
  if (actionOf(state.keymap, key) === "clear") return step({ ...state, overlay: undefined })
  const means = listKeyOf(state.keymap, key)
  switch (overlay.kind) {
    case "extensions":
      return onExtensions(state, overlay, means)
    case "search":
      return onSearch(state, overlay, means, typed)
    case "picker":
      return picked(state, overlay, key, typed)
  }
}

const interrupt = (state: State, running: NonNullable<State["run"]>): Step => {
  const missing = starting(state)
  if (state.answering === undefined && missing.length > 0 && state.sent !== undefined && !running.interrupted) {
    return step(tell(state, `Going on without ${missing.join(", ")}; what they offer comes when they are ready.`, "warning"), { type: "proceed" })
  }
  return running.interrupted ? step(state) : step({ ...state, run: { ...running, interrupted: true } }, { type: "interrupt" })
}

/** A key that a module asked for; keys of ours come first. */
const onShortcut = (state: State, key: string): Step => {
  for (const { key: extension, registration, state: life } of state.figures) {
    const shortcut = life === "Running" ? registration?.extras?.shortcuts.find((one) => nameOfKey(one.key) === nameOfKey(key)) : undefined
    if (shortcut !== undefined) return step(callFor(state, extension), { type: "shortcut", extension, handle: shortcut.handle })
  }
  return left(state)
}

const onAction = (state: State, key: string, composer: ComposerState): Step => {
  const { run } = state
  switch (actionOf(state.keymap, key)) {
    case "interrupt":
      if (composer.completing) return left(state)
      if (run !== undefined) return interrupt(state, run)
      if (composer.empty && state.asides.length > 0) return step(state, { type: "interrupt" })
      return composer.empty ? step(state) : step(state, { type: "compose", text: "", instead: true })
    case "clear": {
      if (!composer.empty) return step(state, { type: "compose", text: "", instead: true })
      if (state.leaving !== undefined && state.now <= state.leaving) return step(state, { type: "quit" })
      const armed: State = { ...state, leaving: state.now + leavingTime }
      return run === undefined || run.interrupted ? step(armed) : step({ ...armed, run: { ...run, interrupted: true } }, { type: "interrupt" })
    }
    case "leave":
      return composer.empty ? step(state, { type: "quit" }) : left(state)
    case "details":
      return step({ ...state, open: !state.open }, { type: "redraw" })
    case "search":
      return step({ ...state, overlay: { kind: "search", items: undefined, filter: fieldOf(), selected: 0, reading: undefined } }, { type: "gather" })
    case "followUp":
      return step(state, { type: "submit", as: "followUp" })
    case "takeBack":
      return step(state, { type: "takeBack" })
    case "suspend":
      return step(state, { type: "suspend" })
    case "editor":
      return step(state, { type: "edit" })
    case "copy":
      return copyAnswer(state)
    case "image":
      return step(state, { type: "picture" })
    case "mode":
      return step(state, { type: "cycleMode" })
    case undefined:
      return onShortcut(state, key)
  }
}

/** The state after a key. */
export const onKey = (state: State, key: string, typed: string, composer: ComposerState): Step =>
  onDialog(state, key, typed, composer) ?? onOverlay(state, key, typed) ?? onModal(state, key, typed) ?? onButtons(state, key, composer) ?? onAction(state, key, composer)
