/**
 * An answer in markdown, drawn in pieces. The library reads a text from its beginning whenever it has grown; a piece that
 * nothing behind it can change is drawn once, so that a new word costs the last piece and not the whole answer. From a
 * piece on that the library cannot draw in time, the answer stands as it was written.
 */
import { wrap } from "./Lines.ts"
import type { MarkdownDrawer } from "./MarkdownLibrary.ts"

/** A piece is closed when it has so many characters. */
const enough = 1_000

const fence = /^ {0,3}(`{3,}|~{3,})/

/**
 * Where the first piece of a text ends: behind an empty line outside of code, before a line that can go on nothing. None
 * while it is too short or might go on. Pure.
 */
export const pieceEnd = (text: string): number | undefined => {
  let open: string | undefined
  let isBlank = false
  for (let at = 0; at < text.length;) {
    const end = text.indexOf("\n", at)
    const line = text.slice(at, end < 0 ? text.length : end)
    if (open === undefined && isBlank && at >= enough && /^[\p{L}#]/u.test(line)) return at
    const mark = fence.exec(line)?.[1]
    if (open === undefined) open = mark
    else if (mark !== undefined && mark.startsWith(open) && line.trim() === mark) open = undefined
    isBlank = line.trim() === ""
    if (end < 0) return undefined
    at = end + 1
  }
  return undefined
}

/** Markdown as it was written. */
export const plainLines = (text: string, width: number): ReadonlyArray<string> => text.split("\n").flatMap((line) => wrap(line, width))

/** One answer at one width. */
export class AnswerLines {
  readonly #make: () => MarkdownDrawer
  readonly #width: number
  /** What is drawn for good, and its lines. */
  #closed = ""
  readonly #lines: Array<string> = []
  #last: MarkdownDrawer | undefined

  constructor(make: () => MarkdownDrawer, width: number) {
    this.#make = make
    this.#width = width
    this.#last = make()
  }

  /** The lines of the text as it is now; undefined when it does not begin as it did before. */
  of(text: string): ReadonlyArray<string> | undefined {
    if (!text.startsWith(this.#closed)) return undefined
    for (let end = pieceEnd(text.slice(this.#closed.length)); end !== undefined; end = pieceEnd(text.slice(this.#closed.length))) {
      this.#lines.push(...this.#draw(text.slice(this.#closed.length, this.#closed.length + end)), "")
      this.#closed = text.slice(0, this.#closed.length + end)
      if (this.#last !== undefined) this.#last = this.#make()
    }
    return [...this.#lines, ...this.#draw(text.slice(this.#closed.length))]
  }

  #draw(piece: string): ReadonlyArray<string> {
    const drawn = this.#last?.(piece, this.#width)
    if (drawn === undefined) this.#last = undefined
    return drawn ?? plainLines(piece, this.#width)
  }
}
