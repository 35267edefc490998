/**
 * Bounds on what the model is given, by bytes and lines, never cutting a UTF-8 character in two. Pure, but for `Tape`,
 * which is a buffer of one call.
 */

/** How much may pass. */
export interface Limits {
  readonly maxBytes: number
  readonly maxLines: number
}

/** At most this goes to the model from one call. */
export const modelLimits: Limits = { maxBytes: 50 * 1024, maxLines: 2000 }

/** The most the end of a text takes when its middle is dropped. */
const MAX_TAIL_BYTES = 20_000
/** Room for the line that says what was dropped. */
const MARKER_BYTES = 64

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

const NEWLINE = 10
const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80
/** Length of the character a first byte announces; 1 for what begins none. */
const announced = (byte: number | undefined): number =>
  byte === undefined || byte < 0xc2 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : byte < 0xf5 ? 4 : 1

/** The longest beginning of at most `maxBytes` that ends between two characters; bytes that are no UTF-8 are cut anywhere. */
export const headBytes = (bytes: Uint8Array, maxBytes: number): Uint8Array => {
  if (bytes.length <= maxBytes) return bytes
  for (let back = 1; back <= 3 && back <= maxBytes; back++) {
    const byte = bytes[maxBytes - back]
    if (isContinuation(byte)) continue
    return bytes.subarray(0, announced(byte) > back ? maxBytes - back : maxBytes)
  }
  return bytes.subarray(0, Math.max(0, maxBytes))
}

/** The longest end of at most `maxBytes` that begins between two characters. */
export const tailBytes = (bytes: Uint8Array, maxBytes: number): Uint8Array => {
  if (bytes.length <= maxBytes) return bytes
  const start = bytes.length - Math.max(0, maxBytes)
  let skip = 0
  while (skip < 3 && isContinuation(bytes[start + skip])) skip++
  return bytes.subarray(start + skip)
}

/** How many lines, a last one without newline included. */
export const lineCount = (bytes: Uint8Array): number => {
  let count = 0
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count++
  return bytes.length > 0 && bytes[bytes.length - 1] !== NEWLINE ? count + 1 : count
}

const headLines = (bytes: Uint8Array, maxLines: number): Uint8Array => {
  let end = 0
  for (let line = 0; line < maxLines; line++) {
    const at = bytes.indexOf(NEWLINE, end)
    if (at === -1) return bytes
    end = at + 1
  }
  return bytes.subarray(0, end)
}

const tailLines = (bytes: Uint8Array, maxLines: number): Uint8Array => {
  let start = bytes.length > 0 && bytes[bytes.length - 1] === NEWLINE ? bytes.length - 1 : bytes.length
  for (let line = 0; line < maxLines; line++) {
    const at = start === 0 ? -1 : bytes.lastIndexOf(NEWLINE, start - 1)
    if (at === -1) return bytes
    start = at
  }
  return bytes.subarray(start + 1)
}

/** A text within limits; `dropped` counts the bytes left out. */
export interface Bounded {
  readonly text: string
  readonly dropped: number
}

const decode = (bytes: Uint8Array): string => decoder.decode(bytes)

/** The beginning of a text, whole lines where one fits. */
export const boundHead = (text: string, limits: Limits): Bounded => {
  const bytes = encoder.encode(text)
  const byLines = headLines(bytes, limits.maxLines)
  if (byLines.length <= limits.maxBytes) return { text: decode(byLines), dropped: bytes.length - byLines.length }
  const cut = headBytes(byLines, limits.maxBytes)
  const lastLine = cut.lastIndexOf(NEWLINE)
  const kept = lastLine === -1 ? cut : cut.subarray(0, lastLine + 1)
  return { text: decode(kept), dropped: bytes.length - kept.length }
}

/**
 * Head and end with a line between them that says how many bytes are missing. `total` is the length of the whole, of
 * which `head` is a beginning and `tail` an end; they may overlap only when both are the whole.
 */
const squeeze = (head: Uint8Array, tail: Uint8Array, total: number, limits: Limits): Bounded => {
  const room = Math.max(0, limits.maxBytes - MARKER_BYTES)
  const tailRoom = Math.min(MAX_TAIL_BYTES, Math.floor(room / 2))
  const tailLineRoom = Math.max(1, Math.floor((limits.maxLines - 1) / 2))
  const first = headBytes(headLines(head, Math.max(1, limits.maxLines - 2 - tailLineRoom)), room - tailRoom)
  const last = tailBytes(tailLines(tail, tailLineRoom), Math.min(tailRoom, Math.max(0, total - first.length)))
  const dropped = total - first.length - last.length
  const before = decode(first)
  const glue = before === "" || before.endsWith("\n") ? "" : "\n"
  return { text: `${before}${glue}[... ${dropped} bytes dropped ...]\n${decode(last)}`, dropped }
}

/** A text whose middle is dropped when it is too long. */
export const boundMiddle = (text: string, limits: Limits): Bounded => {
  const bytes = encoder.encode(text)
  return bytes.length <= limits.maxBytes && lineCount(bytes) <= limits.maxLines
    ? { text, dropped: 0 }
    : squeeze(bytes, bytes, bytes.length, limits)
}

/** Output of unknown length in bounded memory: its first and its last `capacity` bytes. */
export class Tape {
  readonly #capacity: number
  #head = new Uint8Array(0)
  #headSize = 0
  #ring: Uint8Array | undefined
  #total = 0
  #lines = 0
  #open = false

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Bytes seen. */
  get total(): number {
    return this.#total
  }

  /** Lines seen, a last one without newline included; not counted beyond one more than `modelLimits` has. */
  get lines(): number {
    return this.#lines + (this.#open ? 1 : 0)
  }

  /** Takes the next bytes, in order. They are copied. */
  push(chunk: Uint8Array): void {
    for (let at = chunk.indexOf(NEWLINE); at !== -1 && this.#lines <= modelLimits.maxLines; at = chunk.indexOf(NEWLINE, at + 1)) {
      this.#lines++
    }
    const intoHead = Math.min(chunk.length, this.#capacity - this.#headSize)
    if (intoHead > 0) this.#grow(chunk.subarray(0, intoHead))
    const rest = chunk.subarray(intoHead)
    if (rest.length > 0) this.#wind(rest)
    this.#total += chunk.length
    if (chunk.length > 0) this.#open = chunk[chunk.length - 1] !== NEWLINE
  }

  /** What was seen, within limits, whose `maxBytes` may not be over the capacity. */
  bounded(limits: Limits): Bounded {
    const head = this.#head.subarray(0, this.#headSize)
    if (this.#ring === undefined) return boundMiddle(decode(head), limits)
    const { dropped, text } = squeeze(head, this.#tail(this.#ring), this.#total, limits)
    // Bytes that are no UTF-8 grow when they become text.
    return { text: boundMiddle(text, limits).text, dropped }
  }

  #grow(bytes: Uint8Array): void {
    if (this.#headSize + bytes.length > this.#head.length) {
      const larger = new Uint8Array(Math.min(this.#capacity, Math.max(this.#headSize + bytes.length, this.#head.length * 2)))
      larger.set(this.#head.subarray(0, this.#headSize))
      this.#head = larger
    }
    this.#head.set(bytes, this.#headSize)
    this.#headSize += bytes.length
  }

  /** Writes into the ring; a byte's place is its index in the whole output, modulo the capacity. */
  #wind(bytes: Uint8Array): void {
    if (this.#ring === undefined) {
      this.#ring = new Uint8Array(this.#capacity)
      this.#ring.set(this.#head.subarray(0, this.#headSize))
    }
    const skipped = Math.max(0, bytes.length - this.#capacity)
    const kept = bytes.subarray(skipped)
    const at = (Math.max(this.#total, this.#capacity) + skipped) % this.#capacity
    const first = Math.min(kept.length, this.#capacity - at)
    this.#ring.set(kept.subarray(0, first), at)
    this.#ring.set(kept.subarray(first), 0)
  }

  #tail(ring: Uint8Array): Uint8Array {
    const at = this.#total % this.#capacity
    const out = new Uint8Array(this.#capacity)
    out.set(ring.subarray(at))
    out.set(ring.subarray(0, at), this.#capacity - at)
    return out
  }
}
