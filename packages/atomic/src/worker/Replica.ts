/**
 * What the host knows and an extension may read at once. Nothing is sent before it is first read: that read waits for the
 * host, and from then on changes come by themselves, before the message that needs them.
 */
import type { HostSync } from "./HostSync.ts"
import { type Fields, fieldsOf, listOf, textOf } from "./Values.ts"

/** The copy of one worker. */
export class Replica {
  readonly #sync: HostSync
  readonly #values = new Map<string, unknown>()

  /** Nothing has been read. */
  constructor(sync: HostSync) {
    this.#sync = sync
  }

  /** The value as the host last said it. */
  get(key: string): unknown {
    if (!this.#values.has(key)) this.#values.set(key, this.#sync.call("watch", key))
    return this.#values.get(key)
  }

  /** Says a value ahead of the host, so that what was just set can be read. */
  set(key: string, value: unknown): void {
    this.#values.set(key, value)
  }

  /** Takes a `state` message: `set` replaces values, `append` adds to lists. */
  hear(message: Fields): void {
    for (const [key, value] of Object.entries(fieldsOf(message["set"]))) this.#values.set(key, value)
    for (const [key, more] of Object.entries(fieldsOf(message["append"]))) {
      // What was said ahead of the host is replaced by what the host says.
      const known = listOf(this.#values.get(key)).filter((each) => !textOf(fieldsOf(each)["id"]).startsWith("local-"))
      this.#values.set(key, [...known, ...listOf(more)])
    }
  }
}
