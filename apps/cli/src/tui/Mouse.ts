/** The mouse, as terminals tell of it. Pure. */

/** The mouse is ours from here on, and the terminal's again. */
export const takeMouse = "\u001b[?1000h\u001b[?1006h"
export const giveMouse = "\u001b[?1000l\u001b[?1006l"

/** Asks where the cursor stands: what is drawn begins where the shell left off, and nobody else knows where that is. */
export const askCursor = "\u001b[6n"
/** The row of the cursor, from 0, when that is what a terminal sent. */
export const cursorRow = (data: string): number | undefined => {
  const row = /^\u001b\[(\d+);\d+R$/.exec(data)?.[1]
  return row === undefined ? undefined : Number(row) - 1
}

/** What the mouse did, row and column from 0. */
export interface MouseEvent {
  readonly kind: "press" | "wheel" | "other"
  readonly row: number
  readonly column: number
}

const shape = /^\u001b\[<(\d+);(\d+);(\d+)([Mm])$/

/** What a terminal sent about the mouse; undefined for anything else. */
export const mouseEvent = (data: string): MouseEvent | undefined => {
  const [, button, column, row, end] = shape.exec(data) ?? []
  if (button === undefined) return undefined
  const code = Number(button)
  return { kind: (code & 64) !== 0 ? "wheel" : end === "M" && (code & 35) === 0 ? "press" : "other", row: Number(row) - 1, column: Number(column) - 1 }
}
