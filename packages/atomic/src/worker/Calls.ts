/** The calls of the host that run in this worker: their signals, and which one a piece of code belongs to. */
import { AsyncLocalStorage } from "node:async_hooks"

/** A running call. */
export class Call {
  readonly id: string
  readonly kind: string
  #isGivenUp = false
  #controller: AbortController | undefined

  /** The host's request `id`. */
  constructor(id: string, kind: string) {
    this.id = id
    this.kind = kind
  }

  /** Aborts when the host gives the call up. Made when it is first asked for: most hooks never look. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#isGivenUp) this.#controller.abort()
    return this.#controller.signal
  }

  /** The host gave it up. */
  giveUp(): void {
    this.#isGivenUp = true
    this.#controller?.abort()
  }
}

/** All running calls of one worker. */
export class Calls {
  readonly #current = new AsyncLocalStorage<Call>()
  readonly #running = new Map<string, Call>()

  /** Runs `work` as the call `id`; its signal aborts on `cancel`. */
  async run<A>(id: string, kind: string, work: (call: Call) => Promise<A>): Promise<A> {
    const call = new Call(id, kind)
    this.#running.set(id, call)
    try {
      return await this.#current.run(call, work, call)
    } finally {
      this.#running.delete(id)
    }
  }

  /** The host gave the call up. */
  cancel(id: string): void {
    this.#running.get(id)?.giveUp()
  }

  /** The call this code belongs to; undefined in timers and the like. */
  get current(): Call | undefined {
    return this.#current.getStore()
  }
}
