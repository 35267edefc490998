/** Bytes → lines, with a limit: split on LF only, one CR stripped, blank lines ignored, a leading BOM stripped. */
import { Result } from "effect"
import { joinBytes } from "./Bytes.ts"

/** Longest line taken from an extension, in bytes. */
export const maxInboundBytes = 16 * 1024 * 1024

/** A line that was dropped because it was longer than `limit` bytes. */
export interface LineTooLong {
  readonly _tag: "LineTooLong"
  readonly limit: number
}

/** One line, or the mark of one that was dropped. */
export type Line = Result.Result<string, LineTooLong>

const LF = 10
const BOM = "\uFEFF"

/**
 * A decoder with memory for an unfinished line. Bytes are decoded whole lines at a time, so a character split over
 * chunks is never torn; a line over the limit costs no more memory than the limit.
 */
export class LineDecoder {
  readonly #limit: number
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  #parts: Array<Uint8Array> = []
  #size = 0
  #skipping = false

  /** `limit` is in bytes. */
  constructor(limit: number = maxInboundBytes) {
    this.#limit = limit
  }

  /** It is in the midst of a line over the limit and keeps nothing of what it is given. */
  get isSkipping(): boolean {
    return this.#skipping
  }

  /** It holds a part of a line whose end has not come. */
  get isUnfinished(): boolean {
    return !this.#isEmpty
  }

  /** The lines that `chunk` completes. */
  push(chunk: Uint8Array): Array<Line> {
    const lines: Array<Line> = []
    const last = chunk.lastIndexOf(LF)
    if (last === -1) {
      this.#keep(chunk, lines)
      return lines
    }
    const first = this.#isEmpty ? -1 : chunk.indexOf(LF)
    if (first !== -1) {
      this.#keep(chunk.subarray(0, first), lines)
      this.#finish(lines)
    }
    this.#split(chunk.subarray(first + 1, last), lines)
    this.#keep(chunk.subarray(last + 1), lines)
    return lines
  }

  /** The last line, if the input ended without a newline. */
  end(): Array<Line> {
    const lines: Array<Line> = []
    this.#finish(lines)
    return lines
  }

  get #isEmpty(): boolean {
    return this.#size === 0 && !this.#skipping
  }

  /** Lines that lie whole within a chunk: decoded at once, for there may be thousands. */
  #split(bytes: Uint8Array, lines: Array<Line>): void {
    if (bytes.length > this.#limit) {
      this.#splitLong(bytes, lines)
      return
    }
    for (const text of this.#decoder.decode(bytes).split("\n")) this.#add(text, lines)
  }

  /** The same for a chunk larger than a line may be. */
  #splitLong(bytes: Uint8Array, lines: Array<Line>): void {
    let from = 0
    for (let at = bytes.indexOf(LF); from <= bytes.length; at = bytes.indexOf(LF, from)) {
      const to = at === -1 ? bytes.length : at
      this.#keep(bytes.subarray(from, to), lines)
      this.#finish(lines)
      from = to + 1
    }
  }

  #keep(bytes: Uint8Array, lines: Array<Line>): void {
    if (this.#skipping || bytes.length === 0) return
    this.#size += bytes.length
    if (this.#size <= this.#limit) {
      this.#parts.push(bytes)
      return
    }
    this.#skipping = true
    this.#parts = []
    lines.push(Result.fail({ _tag: "LineTooLong", limit: this.#limit }))
  }

  #finish(lines: Array<Line>): void {
    const [first] = this.#parts
    if (first !== undefined) this.#add(this.#decoder.decode(this.#parts.length === 1 ? first : joinBytes(this.#parts, this.#size)), lines)
    this.#parts = []
    this.#size = 0
    this.#skipping = false
  }

  #add(line: string, lines: Array<Line>): void {
    const from = line.startsWith(BOM) ? 1 : 0
    const text = line.slice(from, line.endsWith("\r") ? -1 : undefined)
    if (text.trim() !== "") lines.push(Result.succeed(text))
  }
}
