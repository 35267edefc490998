/** Picks a range of lines out of UTF-8 bytes that come in chunks, within limits. Reads on past the range only to count. */
import { headBytes } from "./Output.ts"
import type { Limits } from "./Output.ts"

const NEWLINE = 10
const CARRIAGE_RETURN = 13
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** What was found of a range. */
export interface PickedLines {
  /** Texts of the lines, without their ends; the first has number `first`. */
  readonly lines: ReadonlyArray<string>
  readonly first: number
  /** Lines in all, as far as was read. */
  readonly total: number
  /** The number of the next line, when the limits ended the range early. */
  readonly next?: number
  /** Bytes of the last line given, when only its beginning was. */
  readonly cutLine?: number
}

/** State of one pass. `last` is inclusive; `costOf` are the bytes a line costs beside its text. */
export class LineWindow {
  readonly #first: number
  readonly #last: number
  readonly #limits: Limits
  readonly #costOf: number
  readonly #lines: Array<string> = []
  #used = 0
  #number = 1
  #pieces: Array<Uint8Array> = []
  #kept = 0
  #size = 0
  #next: number | undefined
  #cutLine: number | undefined

  constructor(first: number, last: number, limits: Limits, costOf: number) {
    this.#first = first
    this.#last = last
    this.#limits = limits
    this.#costOf = costOf
  }

  /** Takes the next bytes, in order. */
  push(chunk: Uint8Array): void {
    let start = 0
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, start)) {
      this.#take(chunk, start, at)
      this.#end()
      start = at + 1
    }
    // What is left must outlive the chunk; whole lines were not copied.
    if (start < chunk.length) this.#take(chunk.slice(start, start + this.#limits.maxBytes + 1), 0, chunk.length - start)
  }

  /** Whether nothing that comes can change the lines given, only their count. */
  get done(): boolean {
    return this.#next !== undefined || this.#number > this.#last
  }

  /** The same, or a line of the range is already longer than can be given; then only its length is still unknown. */
  get full(): boolean {
    return this.done || this.#kept > this.#limits.maxBytes
  }

  /** Ends the pass; a last line without newline counts, an empty one does not. */
  finish(): PickedLines {
    if (this.#size > 0) this.#end()
    return {
      lines: this.#lines,
      first: this.#first,
      total: this.#number - 1,
      ...(this.#next === undefined ? {} : { next: this.#next }),
      ...(this.#cutLine === undefined ? {} : { cutLine: this.#cutLine })
    }
  }

  #take(chunk: Uint8Array, start: number, end: number): void {
    this.#size += end - start
    const room = this.#limits.maxBytes + 1 - this.#kept
    if (start === end || room <= 0 || this.done || this.#number < this.#first) return
    const piece = chunk.subarray(start, Math.min(end, start + room))
    this.#pieces.push(piece)
    this.#kept += piece.length
  }

  #end(): void {
    if (!this.done && this.#number >= this.#first) this.#give()
    this.#number++
    this.#size = 0
    if (this.#kept > 0) {
      this.#pieces = []
      this.#kept = 0
    }
  }

  #give(): void {
    if (this.#lines.length >= this.#limits.maxLines) {
      this.#next = this.#number
      return
    }
    const room = this.#limits.maxBytes - this.#used - this.#costOf
    if (this.#size <= room) {
      const bytes = this.#joined()
      const end = bytes[bytes.length - 1] === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length
      this.#lines.push(decoder.decode(bytes.subarray(0, end)))
      this.#used += bytes.length + this.#costOf
      return
    }
    if (this.#lines.length > 0) {
      this.#next = this.#number
      return
    }
    this.#lines.push(decoder.decode(headBytes(this.#joined(), Math.max(0, room))))
    this.#cutLine = this.#size
    this.#used = this.#limits.maxBytes
  }

  #joined(): Uint8Array {
    const [only] = this.#pieces
    if (this.#pieces.length <= 1) return only ?? new Uint8Array(0)
    const out = new Uint8Array(this.#kept)
    let at = 0
    for (const piece of this.#pieces) {
      out.set(piece, at)
      at += piece.length
    }
    return out
  }
}
