/** Lines on their way to a peer, bounded in bytes: a peer that does not read fills it and is told no more. */
import { Cause, Effect } from "effect"
import type { Sent } from "../Transport.ts"
import { joinBytes } from "./Bytes.ts"

/** Longest line sent to an extension unless its manifest says otherwise, in bytes. */
export const maxOutboundBytes = 64 * 1024 * 1024

/** With more bytes than this waiting, the peer does not read and gets no more. */
export const backlogBytes = 16 * 1024 * 1024
/** More lines than this do not wait either. */
export const backlogLines = 4_096

/** How much is written at once when several lines wait. */
const batchBytes = 64 * 1024

/** Whether a line has more than `limit` bytes as UTF-8; counted only where its length leaves a doubt. */
export const isTooLong = (line: string, limit: number): boolean =>
  line.length > limit || (line.length * 3 > limit && new TextEncoder().encode(line).length > limit)

/** Overflow policy: `reject`. It holds at most its backlog and one line more; one writer takes from it. */
export class Outbox {
  readonly #limit: number
  readonly #encoder = new TextEncoder()
  #lines: Array<Uint8Array> = []
  #waiting = 0
  #writing = 0
  #ended = false
  #writer: ((bytes: Effect.Effect<Uint8Array, Cause.Done>) => void) | undefined

  /** An empty outbox that takes lines of at most `maxLineBytes`. */
  constructor(maxLineBytes: number = maxOutboundBytes) {
    this.#limit = maxLineBytes
  }

  /** Puts a line in; returns at once. A writer that waits writes it within this call. */
  send(line: string): Effect.Effect<Sent> {
    return Effect.sync(() => {
      if (isTooLong(line, this.#limit)) return "too_large"
      const bytes = this.#encoder.encode(`${line}\n`)
      if (this.#waiting + this.#writing > backlogBytes || this.#lines.length >= backlogLines) return "full"
      if (this.#ended) return "closed"
      this.#lines.push(bytes)
      this.#waiting += bytes.length
      this.#wake()
      return "accepted"
    })
  }

  /** The next bytes to write: as many whole lines as fit. Taking them means the ones before have been written. */
  readonly take: Effect.Effect<Uint8Array, Cause.Done> = Effect.suspend(() => {
    this.#writing = 0
    return this.#lines.length > 0 || this.#ended ? this.#batch() : Effect.callback((resume) => {
      this.#writer = resume
      return Effect.sync(() => {
        this.#writer = undefined
      })
    })
  })

  /** No more lines; `take` ends after those inside. */
  readonly end: Effect.Effect<void> = Effect.sync(() => {
    this.#ended = true
    this.#wake()
  })

  #wake(): void {
    const writer = this.#writer
    this.#writer = undefined
    writer?.(this.#batch())
  }

  #batch(): Effect.Effect<Uint8Array, Cause.Done> {
    const [first] = this.#lines
    if (first === undefined) return Cause.done()
    let count = 1
    let size = first.length
    for (; count < this.#lines.length && size < batchBytes; count++) size += this.#lines[count]?.length ?? 0
    const batch = this.#lines.splice(0, count)
    this.#waiting -= size
    this.#writing = size
    return Effect.succeed(count === 1 ? first : joinBytes(batch, size))
  }
}
