/** The calls of the host that run in this worker: their signals, and which one a piece of code belongs to. */
import { AsyncLocalStorage } from "node:async_hooks"

/** A running call. */
export interface Call {
  readonly id: string
  readonly kind: string
  readonly signal: AbortSignal
}

/** All running calls of one worker. */
export class Calls {
  readonly #current = new AsyncLocalStorage<Call>()
  readonly #controllers = new Map<string, AbortController>()

  /** Runs `work` as the call `id`; its signal aborts on `cancel`. */
  async run<A>(id: string, kind: string, work: (call: Call) => Promise<A>): Promise<A> {
    const controller = new AbortController()
    this.#controllers.set(id, controller)
    const call: Call = { id, kind, signal: controller.signal }
    try {
      return await this.#current.run(call, () => work(call))
    } finally {
      this.#controllers.delete(id)
    }
  }

  /** The host gave the call up. */
  cancel(id: string): void {
    this.#controllers.get(id)?.abort()
  }

  /** The call this code belongs to; undefined in timers and the like. */
  get current(): Call | undefined {
    return this.#current.getStore()
  }
}
