/** Picking one of many by typing parts of what it is called. Pure. */
import { fuzzyFilter } from "@earendil-works/pi-tui"
import { fieldKey } from "../Field.ts"
import type { Overlay, Pickable, State, Step } from "../State.ts"
import { send } from "./Slash.ts"

/** A list that is picked from. */
export type Picker = Extract<Overlay, { readonly kind: "picker" }>

/** What is left of the list by what was typed. */
export const matching = ({ filter, items }: Picker): ReadonlyArray<Pickable> =>
  items === undefined ? [] : filter.text.trim() === "" ? items : fuzzyFilter([...items], filter.text, ({ about, label }) => `${label} ${about}`)

const pick = (state: State, what: Picker["what"], value: string): Step => {
  const closed: State = { ...state, overlay: undefined }
  switch (what) {
    case "model":
      return { state: closed, commands: [{ type: "select", value }], taken: true }
    case "resume":
      return send(closed, `/resume ${value}`)
    case "fork":
      return send(closed, `/fork ${value}`)
  }
}

/** The state after a key in a list. */
export const picked = (state: State, picker: Picker, key: string, typed: string): Step => {
  const found = matching(picker)
  const stay = (change: Partial<Picker>): Step => ({ state: { ...state, overlay: { ...picker, ...change } }, commands: [], taken: true })
  switch (key) {
    case "escape":
      return { state: { ...state, overlay: undefined }, commands: [], taken: true }
    case "up":
    case "ctrl+p":
      return stay({ selected: Math.max(0, picker.selected - 1) })
    case "down":
    case "ctrl+n":
      return stay({ selected: Math.max(0, Math.min(found.length - 1, picker.selected + 1)) })
    case "enter": {
      const chosen = found[picker.selected]
      return chosen === undefined ? stay({}) : pick(state, picker.what, chosen.value)
    }
    default: {
      const filter = fieldKey(picker.filter, key, typed)
      return filter === undefined ? stay({}) : stay({ filter, selected: 0 })
    }
  }
}
