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
const CR = 13

/**
 * A decoder with memory for an unfinished line. Bytes are decoded a whole line at a time, so a character split over
 * chunks is never torn; a line over the limit costs no more memory than the limit.
 */
export class LineDecoder {
  readonly #limit: number
  readonly #decoder = new TextDecoder()
  #parts: Array<Uint8Array> = []
  #size = 0
  #skipping = false

  /** `limit` is in bytes. */
  constructor(limit: number = maxInboundBytes) {
    this.#limit = limit
  }

  /** The lines that `chunk` completes. */
  push(chunk: Uint8Array): Array<Line> {
    const lines: Array<Line> = []
    let from = 0
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, from)) {
      this.#keep(chunk.subarray(from, at), lines)
      this.#finish(lines)
      from = at + 1
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from), lines)
    return lines
  }

  /** The last line, if the input ended without a newline. */
  end(): Array<Line> {
    const lines: Array<Line> = []
    this.#finish(lines)
    return lines
  }

  #keep(bytes: Uint8Array, lines: Array<Line>): void {
    if (this.#skipping) return
    this.#size += bytes.length
    if (this.#size <= this.#limit) {
      if (bytes.length > 0) this.#parts.push(bytes)
      return
    }
    this.#skipping = true
    this.#parts = []
    lines.push(Result.fail({ _tag: "LineTooLong", limit: this.#limit }))
  }

  #finish(lines: Array<Line>): void {
    const text = this.#skipping ? "" : this.#text()
    this.#parts = []
    this.#size = 0
    this.#skipping = false
    if (text.trim() !== "") lines.push(Result.succeed(text))
  }

  #text(): string {
    const [first] = this.#parts
    if (first === undefined) return ""
    const bytes = this.#parts.length === 1 ? first : joinBytes(this.#parts, this.#size)
    return this.#decoder.decode(bytes.at(-1) === CR ? bytes.subarray(0, -1) : bytes)
  }
}
