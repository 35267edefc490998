/** The requests one process generation still owes a reply to. Plain state; one actor owns it. */
import type { Effect } from "effect"
import type { JsonObject } from "@nimlet/protocol"
import type { Countdown, Reply } from "@nimlet/actor"
import type { CallFailed } from "./ExtensionError.ts"

/** A request that waits for its `response`. */
export interface Pending {
  readonly reply: Reply<JsonObject, CallFailed>
  /** Its budget, which a `tool_update` starts afresh. */
  readonly countdown: Countdown | undefined
  readonly onUpdate: ((text: string, details?: JsonObject) => Effect.Effect<void>) | undefined
  /** Whose host requests it comes of; see `OnBehalfOf`. */
  readonly onBehalfOf: ReadonlySet<string>
  /** When it was sent, in milliseconds of the monotonic clock; kept of events only. */
  readonly since?: number | undefined
}

/** Ids are decimal strings from "1"; each request leaves the table exactly once, by reply or by cancel. */
export class Conversation {
  #lastId = 0
  readonly #pending = new Map<string, Pending>()

  /** The id the next request will have. */
  get nextId(): string {
    return String(this.#lastId + 1)
  }

  /** Enters a request under `nextId`. */
  open(pending: Pending): void {
    this.#pending.set(String(++this.#lastId), pending)
  }

  /** The open request `id`. */
  get(id: string): Pending | undefined {
    return this.#pending.get(id)
  }

  /** Takes the request `id` out; undefined if none is open under that id. */
  close(id: string): Pending | undefined {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    return pending
  }

  /** Takes out the request with this reply address; undefined if it is settled. */
  abandon(reply: Pending["reply"]): string | undefined {
    for (const [id, pending] of this.#pending) {
      if (pending.reply !== reply) continue
      this.#pending.delete(id)
      return id
    }
    return undefined
  }

  /** Open requests. */
  get size(): number {
    return this.#pending.size
  }

  /** Their ids now. */
  get openIds(): ReadonlySet<string> {
    return new Set(this.#pending.keys())
  }

  /** Whose host requests any of them comes of. */
  get onBehalfOf(): ReadonlySet<string> {
    return new Set([...this.#pending.values()].flatMap(({ onBehalfOf }) => [...onBehalfOf]))
  }
}
