/**
 * What of the transcript is drawn. What has scrolled away stands in the terminal's own scrollback and is let go, so that a
 * frame costs what is on the screen; at another size all that is remembered is written anew.
 */
import type { State } from "./State.ts"
import { startFor, transcriptLines } from "./view/Frame.ts"
import type { ItemLines, Look } from "./view/Items.ts"

/** How many lines of the transcript are written anew when all is. */
const rebuilt = 2_000
/** How many lines beyond the screen are held before those that have scrolled away are let go. */
const held = 600

/** The transcript's part of a frame. */
export class Scrollback {
  readonly #items: ItemLines
  /** The item that drawing begins with, and how many of its lines are left out. */
  #from = 0
  #skipped = 0
  #skippedId = -1
  #size = ""

  constructor(items: ItemLines) {
    this.#items = items
  }

  /** All that is remembered is written anew with the next frame. */
  forget(): void {
    this.#size = ""
  }

  /** The lines of the transcript that are drawn. */
  lines(state: State, look: Look, rows: number): ReadonlyArray<string> {
    const size = `${look.width}x${rows}`
    const first = state.settled[this.#from - state.forgotten] ?? state.live[0]
    // An answer of which much has scrolled away may be taken back by a hook when it is finished.
    const isGone = this.#skipped > 0 && !(first?.kind === "answer" && first.id === this.#skippedId && this.#items.of(first, look).length >= this.#skipped)
    if (this.#size !== size || isGone) {
      this.#size = size
      this.#from = startFor(state, rebuilt, this.#items, look)
      this.#skipped = 0
    }
    return transcriptLines(state, this.#from, this.#items, look).slice(this.#skipped)
  }

  /** Lets go of settled items, and of the beginning of an answer that only grows; of a frame of `drawn` lines. Gives how many lines went. */
  letGo({ forgotten, live, settled }: State, look: Look, drawn: number, rows: number): number {
    const spare = drawn - 2 * rows - held
    if (spare < held) return 0
    let left = spare + this.#skipped
    let from = this.#from
    for (; from - forgotten < settled.length; from++) {
      const item = settled[from - forgotten]
      const lines = item === undefined ? 0 : this.#items.of(item, look).length
      if (lines > left) break
      left -= lines
    }
    const next = settled[from - forgotten] ?? live[0]
    const skipped = next?.kind === "answer" ? Math.min(left, this.#items.of(next, look).length) : 0
    const count = spare - left + skipped
    if (count <= 0) return 0
    this.#from = from
    this.#skipped = skipped
    if (next?.kind === "answer") this.#skippedId = next.id
    return count
  }
}
