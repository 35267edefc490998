/** Keys on the supervision tree. Pure. */
import type { Overlay, State } from "../State.ts"
import { step, type Step } from "../Step.ts"

/** The tree as it lies over the composer. */
export type ExtensionsPane = Extract<Overlay, { readonly kind: "extensions" }>

/** The state after a key in the tree. */
export const onExtensions = (state: State, pane: ExtensionsPane, key: string): Step => {
  const { figures } = state
  const to = (selected: number): Step => step({ ...state, overlay: { ...pane, log: undefined, selected: Math.max(0, Math.min(figures.length - 1, selected)) } })
  const chosen = figures[pane.selected]
  switch (key) {
    case "escape":
    case "q":
      return step({ ...state, overlay: undefined })
    case "up":
      return to(pane.selected - 1)
    case "down":
      return to(pane.selected + 1)
    case "r":
      return chosen === undefined ? step(state) : step(state, { type: "restart", key: chosen.key })
    case "d":
      return chosen === undefined ? step(state) : step(state, { type: "disable", key: chosen.key })
    case "l":
    case "enter":
      if (pane.log !== undefined) return step({ ...state, overlay: { ...pane, log: undefined } })
      return chosen === undefined ? step(state) : step(state, { type: "log", key: chosen.key })
    default:
      return step(state)
  }
}
