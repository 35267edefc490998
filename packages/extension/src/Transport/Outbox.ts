/** Lines on their way to a peer, bounded in bytes: a peer that does not read fills it and is told no more. */
import { Cause, Effect, Queue } from "effect"
import type { Sent } from "../Transport.ts"
import { joinBytes } from "./Bytes.ts"

/** Longest line sent to an extension unless its manifest says otherwise, in bytes. */
export const maxOutboundBytes = 64 * 1024 * 1024

/** With more than this waiting, the peer does not read and gets no more. */
const backlogBytes = 16 * 1024 * 1024
const backlogLines = 4_096

/** How much is written at once when several lines wait. */
const batchBytes = 64 * 1024

/** Overflow policy: `reject`. It holds at most its backlog and one line more. */
export class Outbox {
  readonly #queue: Queue.Queue<Uint8Array, Cause.Done>
  readonly #limit: number
  readonly #encoder = new TextEncoder()
  #waiting = 0
  #writing = 0

  private constructor(queue: Queue.Queue<Uint8Array, Cause.Done>, limit: number) {
    this.#queue = queue
    this.#limit = limit
  }

  /** An empty outbox that takes lines of at most `maxLineBytes`. */
  static make(maxLineBytes: number = maxOutboundBytes): Effect.Effect<Outbox> {
    return Effect.map(Queue.unbounded<Uint8Array, Cause.Done>(), (queue) => new Outbox(queue, maxLineBytes))
  }

  /** Puts a line in; returns at once. */
  send(line: string): Effect.Effect<Sent> {
    return Effect.sync(() => {
      if (line.length > this.#limit) return "too_large"
      const bytes = this.#encoder.encode(`${line}\n`)
      if (bytes.length - 1 > this.#limit) return "too_large"
      if (this.#waiting + this.#writing > backlogBytes || Queue.sizeUnsafe(this.#queue) >= backlogLines) return "full"
      if (!Queue.offerUnsafe(this.#queue, bytes)) return "closed"
      this.#waiting += bytes.length
      return "accepted"
    })
  }

  /** The next bytes to write: as many whole lines as fit. Taking them means the ones before have been written. */
  get take(): Effect.Effect<Uint8Array, Cause.Done> {
    return Effect.suspend(() => {
      this.#writing = 0
      return Effect.map(Queue.take(this.#queue), (first) => {
        const batch = [first]
        let size = first.length
        while (size < batchBytes && Queue.sizeUnsafe(this.#queue) > 0) {
          const next = Queue.takeUnsafe(this.#queue)
          if (next?._tag !== "Success") break
          batch.push(next.value)
          size += next.value.length
        }
        this.#waiting -= size
        this.#writing = size
        return batch.length === 1 ? first : joinBytes(batch, size)
      })
    })
  }

  /** No more lines; `take` ends after those inside. */
  get end(): Effect.Effect<void> {
    return Effect.asVoid(Queue.end(this.#queue))
  }
}
