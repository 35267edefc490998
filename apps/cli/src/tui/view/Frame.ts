/** The whole screen as lines, from top to bottom. */
import type { State } from "../State.ts"
import { dialogLines } from "./Dialogs.ts"
import { activityLines, footerLine, waitingLines } from "./Footer.ts"
import type { ItemLines, Look } from "./Items.ts"
import { clamp } from "./Lines.ts"
import { overlayLines } from "./Overlays.ts"
import { type Button, modalRows, type Row, statusLines, widgetRows } from "./Widgets.ts"

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

const bare = (lines: ReadonlyArray<string>): ReadonlyArray<Row> => lines.map((line) => ({ line, buttons: [] }))

/** What stands between the transcript and the composer; what takes the keys from the composer comes last. */
const rowsAbove = (state: State, look: Look): ReadonlyArray<Row> => [
  ...bare([...activityLines(state, look), "", ...waitingLines(state, look)]),
  ...widgetRows(state, look),
  ...(state.dialogs.length > 0 ? bare(dialogLines(state.dialogs, state.now, look)) : state.overlay !== undefined ? bare(overlayLines(state, look)) : modalRows(state, look))
]

/** The same as lines. */
export const aboveComposer = (state: State, look: Look): ReadonlyArray<string> => clamp(rowsAbove(state, look).map(({ line }) => line), look.width)

/** The button at a place in those lines, row and column from 0. */
export const buttonAt = (state: State, look: Look, row: number, column: number): Button | undefined =>
  rowsAbove(state, look)[row]?.buttons.find(({ from, to }) => column >= from && column < to)

/** Whether there is anything to click. */
export const hasButtons = ({ widgets }: State): boolean => widgets.some(([, { actions }]) => actions.length > 0)

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
