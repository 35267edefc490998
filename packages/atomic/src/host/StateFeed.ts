/** What one worker has been told of the host's state, and the line that brings it up to date. Plain state. */
import type { JsonObject } from "@nimlet/protocol"

/** The keys a worker has read, with the values it holds. */
export class StateFeed {
  readonly #read: (key: string) => unknown
  readonly #told = new Map<string, unknown>()

  /** `read` gives the value of a key now; another object is another value. */
  constructor(read: (key: string) => unknown) {
    this.#read = read
  }

  /** The worker reads a key for the first time: its value, and changes of it from now on. */
  watch(key: string): unknown {
    const value = this.#read(key)
    this.#told.set(key, value)
    return value
  }

  /** The `state` message for what has changed since it was last told; undefined when nothing has. */
  news(): JsonObject | undefined {
    let set: Record<string, unknown> | undefined
    let append: Record<string, unknown> | undefined
    for (const [key, before] of this.#told) {
      const now = this.#read(key)
      if (now === before) continue
      this.#told.set(key, now)
      const more = grownBy(before, now)
      if (more === undefined) (set ??= {})[key] = now ?? null
      else if (more.length > 0) (append ??= {})[key] = more
    }
    if (set === undefined && append === undefined) return undefined
    return { type: "state", ...(set === undefined ? {} : { set }), ...(append === undefined ? {} : { append }) }
  }
}

/** What was added to a list at its end; undefined when it is another list. */
const grownBy = (before: unknown, now: unknown): ReadonlyArray<unknown> | undefined => {
  if (!Array.isArray(before) || !Array.isArray(now) || before.length === 0 || now.length < before.length) return undefined
  return now[0] === before[0] && now[before.length - 1] === before[before.length - 1] ? now.slice(before.length) : undefined
}
