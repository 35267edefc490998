/** The whole screen as lines, from top to bottom. */
import type { State } from "../State.ts"
import { dialogLines } from "./Dialogs.ts"
import { activityLines, footerLine, waitingLines } from "./Footer.ts"
import type { ItemLines, Look } from "./Items.ts"
import { clamp } from "./Lines.ts"
import { overlayLines } from "./Overlays.ts"
import { modalLines, statusLines, widgetLines } from "./Widgets.ts"

/** The transcript from item number `from` on, counted from the first that ever was. */
export const transcriptLines = (state: State, from: number, drawing: ItemLines, look: Look): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (let index = Math.max(0, from - state.forgotten); index < state.settled.length; index++) {
    const item = state.settled[index]
    if (item !== undefined) for (const line of drawing.of(item, look)) lines.push(line)
  }
  for (const item of state.live) for (const line of drawing.of(item, look)) lines.push(line)
  return lines
}

/** What stands between the transcript and the composer, and whether that takes the keys from the composer. */
export const aboveComposer = (state: State, look: Look): ReadonlyArray<string> =>
  clamp([
    ...activityLines(state, look),
    "",
    ...waitingLines(state, look),
    ...widgetLines(state, look),
    ...(state.dialogs.length > 0 ? dialogLines(state.dialogs, look) : state.overlay !== undefined ? overlayLines(state, look) : modalLines(state, look))
  ], look.width)

/** What stands under the composer. */
export const belowComposer = (state: State, look: Look): ReadonlyArray<string> => clamp([...statusLines(state, look), footerLine(state, look)], look.width)

/** The item to begin with so that about `count` lines of the transcript are drawn. */
export const startFor = (state: State, count: number, drawing: ItemLines, look: Look): number => {
  let lines = 0
  let index = state.settled.length
  while (index > 0 && lines < count) {
    index--
    const item = state.settled[index]
    if (item !== undefined) lines += drawing.of(item, look).length
  }
  return state.forgotten + index
}
