/**
 * A few bytes that a worker writes and its host reads at any time, also while the worker is stuck: how often its event loop
 * has turned, how much memory lies outside its heap, and what it began last.
 */

const beats = 0
const megabytes = 1
const length = 2
const heap = 3
const textAt = 16
const textBytes = 112

/** Bytes of the shared buffer. */
export const pulseBytes = textAt + textBytes

/** One worker's pulse; both sides make theirs over the same buffer. */
export class Pulse {
  readonly #slots: Int32Array
  readonly #text: Uint8Array
  readonly #encoder = new TextEncoder()
  /** What stands there, and its length: mostly the same begins again. */
  #written = ""
  #size = 0

  /** `buffer` has `pulseBytes`. */
  constructor(buffer: SharedArrayBuffer) {
    this.#slots = new Int32Array(buffer, 0, 4)
    this.#text = new Uint8Array(buffer, textAt, textBytes)
  }

  /** The event loop turns; so many megabytes lie in the heap and outside of it. */
  beat(inside: number, outside: number): void {
    Atomics.store(this.#slots, heap, inside)
    Atomics.add(this.#slots, beats, 1)
    Atomics.store(this.#slots, megabytes, outside)
  }

  /** `what` begins; an empty text when it is over. */
  begin(what: string): void {
    if (what !== this.#written && what !== "") {
      this.#size = this.#encoder.encodeInto(what, this.#text).written
      this.#written = what
    }
    Atomics.store(this.#slots, length, what === "" ? 0 : this.#size)
  }

  /** Turns of the event loop so far. */
  get beats(): number {
    return Atomics.load(this.#slots, beats)
  }

  /** Megabytes in the heap. */
  get heap(): number {
    return Atomics.load(this.#slots, heap)
  }

  /** Megabytes outside the heap. */
  get outside(): number {
    return Atomics.load(this.#slots, megabytes)
  }

  /** What began last and is not over. */
  get running(): string {
    return new TextDecoder().decode(this.#text.slice(0, Atomics.load(this.#slots, length)))
  }
}
