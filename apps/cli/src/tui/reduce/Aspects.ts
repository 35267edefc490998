/** Parts of the screen that modules set (seed 004): the composer, the title, how work is shown. They go with their extension. Pure. */
import type { ExtensionFigures } from "@nimlet/extension"
import { themeChoices } from "../Palette.ts"
import type { State } from "../State.ts"
import { step, type Step } from "../Step.ts"

/** The value that was set last of an aspect, and by whom. */
export const aspectOf = ({ aspects }: Pick<State, "aspects">, aspect: string): { readonly extension: string; readonly value: unknown } | undefined =>
  aspects.findLast((one) => one.aspect === aspect)

const ended: ReadonlySet<string> = new Set(["Quarantined", "Stopped", "Restarting"])

/** Without what those set that have died. */
export const aspectsOfLiving = ({ aspects }: State, figures: ReadonlyArray<ExtensionFigures>): State["aspects"] => {
  const isGone = (extension: string) => figures.some(({ key, state }) => key === extension && ended.has(state))
  return aspects.some(({ extension }) => isGone(extension)) ? aspects.filter(({ extension }) => !isGone(extension)) : aspects
}

/** The state after a module set a part of the screen; null gives it back. */
export const onAspect = (state: State, extension: string, aspect: string, value: unknown): Step => {
  const others = state.aspects.filter((one) => one.extension !== extension || one.aspect !== aspect)
  const kept: State = { ...state, aspects: value === null ? others : [...others, { extension, aspect, value }] }
  switch (aspect) {
    case "editor_text":
      return typeof value === "string" ? step(state, { type: "compose", text: value, instead: true }) : step(state)
    case "editor_paste":
      return typeof value === "string" ? step(state, { type: "insert", text: value }) : step(state)
    case "tools_expanded":
      return typeof value === "boolean" && value !== state.open ? step({ ...state, open: value }, { type: "redraw" }) : step(state)
    case "theme": {
      const theme = themeChoices.find((one) => one === value)
      return theme === undefined ? step(state) : step({ ...state, appearance: { ...state.appearance, theme } })
    }
    case "title": {
      const title = aspectOf(kept, "title")?.value
      return step(kept, { type: "title", text: typeof title === "string" ? title : "" })
    }
    default:
      return step(kept)
  }
}
