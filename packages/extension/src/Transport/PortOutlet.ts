/** Lines into a message port, bounded: a thread that does not take them fills it and is told no more. */
import type { MessagePort } from "node:worker_threads"
import { Effect } from "effect"
import type { Sent } from "../Transport.ts"
import { backlogBytes, backlogLines, isTooLong, maxOutboundBytes } from "./Outbox.ts"

/** UTF-16 units under way before lines wait here. */
const window = 1024 * 1024

/** How much is posted at once when several lines wait. */
const batchUnits = 64 * 1024

/**
 * Posts lines at once, with a window's worth under way at most; what is more waits here. Overflow policy: `reject`, with a
 * backlog of 16 Mi UTF-16 units and one line more.
 */
export class PortOutlet {
  readonly #port: MessagePort
  readonly #limit: number
  #lines: Array<string> = []
  #waiting = 0
  #underWay = 0
  #ended = false

  /** Takes lines of at most `maxLineBytes`. */
  constructor(port: MessagePort, maxLineBytes: number = maxOutboundBytes) {
    this.#port = port
    this.#limit = maxLineBytes
  }

  /** Posts a line, or keeps it for when there is room; returns at once. */
  send(line: string): Effect.Effect<Sent> {
    return Effect.sync(() => {
      if (isTooLong(line, this.#limit)) return "too_large"
      if (this.#waiting > backlogBytes || this.#lines.length >= backlogLines) return "full"
      if (this.#ended) return "closed"
      if (this.#underWay < window) this.#post(line)
      else {
        this.#lines.push(line)
        this.#waiting += line.length
      }
      return "accepted"
    })
  }

  /** The peer has taken so many units. */
  taken(units: number): void {
    this.#underWay -= units
    while (this.#underWay < window && this.#lines.length > 0) this.#post(this.#batch())
    this.#sayEnd()
  }

  /** No more lines; the peer is told after those that wait. */
  readonly end: Effect.Effect<void> = Effect.sync(() => {
    if (this.#ended) return
    this.#ended = true
    this.#sayEnd()
  })

  #post(text: string): void {
    this.#underWay += text.length
    this.#port.postMessage(text)
  }

  /** `null` is the end of input. */
  #sayEnd(): void {
    if (this.#ended && this.#lines.length === 0) this.#port.postMessage(null)
  }

  #batch(): string {
    let count = 0
    let size = 0
    for (; count < this.#lines.length && size < batchUnits; count++) size += this.#lines[count]?.length ?? 0
    this.#waiting -= size
    return this.#lines.splice(0, count).join("\n")
  }
}
