/** `pi.events`: one bus for all extensions of a session. Listeners here hear at once, those elsewhere over the host. */
import { type Callback, isCallback, messageOf, plain, textOf } from "./Values.ts"
import type { Wire } from "./Wire.ts"

/** The bus as one worker sees it. */
export class Bus {
  readonly #wire: Wire
  readonly #listeners = new Map<string, Set<Callback>>()

  /** Nobody listens. */
  constructor(wire: Wire) {
    this.#wire = wire
  }

  /** Hears `channel` from now on; the result ends that. */
  readonly on = (channel: unknown, listener: unknown): () => void => {
    if (!isCallback(listener)) throw new TypeError("pi.events.on: the listener must be a function")
    const name = textOf(channel)
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners.add(listener))
    return () => void listeners.delete(listener)
  }

  /** Says something to all; what cannot be said to other threads (functions and the like) is an error here. */
  readonly emit = (channel: unknown, data?: unknown): void => {
    const name = textOf(channel)
    const copy = data === undefined ? undefined : plain(structuredClone(data))
    this.deliver(name, data)
    this.#wire.send({ type: "bus", channel: name, ...(copy === undefined ? {} : { data: copy }) })
  }

  /** Tells the listeners of this worker. One that fails does not keep the others from hearing. */
  deliver(channel: string, data: unknown): void {
    for (const listener of [...this.#listeners.get(channel) ?? []]) {
      const failed = (error: unknown): void => this.#wire.send({ type: "fault", event: `events ${channel}`, message: messageOf(error) })
      try {
        Promise.resolve(listener(data)).catch(failed)
      } catch (error) {
        failed(error)
      }
    }
  }
}
