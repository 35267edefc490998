/** The library's screen, told what it need not hold any more. */
import { TuiMainScreen } from "@earendil-works/pi-tui"

/** Tells us whether the window has the person's eye, and remembers the title that was there. */
export const enter = "\u001b[?1004h\u001b[22;0t"
/** The mouse, the eye and the title given back. */
export const leave = "\u001b[?1000l\u001b[?1006l\u001b[?1004l\u001b[23;0t"

/** Draws, and lets go of lines that are the scrollback's by now, so that a frame costs what is on the screen. */
export class Drawing extends TuiMainScreen {
  drawn: () => void = () => undefined

  protected override doRender(): void {
    super.doRender()
    this.drawn()
  }

  /** Forgets the first lines; none of them may be on the screen. */
  drop(count: number): void {
    const { cursorRow, hardwareCursorRow, maxLinesRendered, previousLines, previousViewportTop, ...size } = this.captureRenderState()
    this.restoreRenderState({
      ...size,
      previousLines: previousLines.slice(count),
      cursorRow: cursorRow - count,
      hardwareCursorRow: hardwareCursorRow - count,
      maxLinesRendered: maxLinesRendered - count,
      previousViewportTop: previousViewportTop - count
    })
  }

  /** The line of what is drawn that the terminal's cursor stands on. */
  get cursorLine(): number {
    return this.captureRenderState().hardwareCursorRow
  }

  protected override getExitRestoreSuffix(): string {
    return leave
  }
}
