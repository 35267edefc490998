/** Calls that block the worker until the host has answered from what it holds itself; for module loading and state. */
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads"
import { isFields } from "./Values.ts"

/** The host answers from memory or disk, but many workers may ask at once on a slow machine; longer than this, something is wrong. */
const patienceMillis = 20_000

/** The worker's end. */
export class HostSync {
  readonly #port: MessagePort
  readonly #flag: Int32Array
  #closed = false

  /** `flag` is one shared 32-bit slot that the host sets to 1 after it has posted its answer. */
  constructor(port: MessagePort, flag: SharedArrayBuffer) {
    this.#port = port
    this.#flag = new Int32Array(flag)
  }

  /** The host answers no more: nothing is asked from now on. */
  close(): void {
    this.#closed = true
  }

  /** Asks and waits. Throws what the host says went wrong, and when it does not answer. */
  call(method: string, argument: string): unknown {
    // A port whose other end is closed must not be read: Node ends the process.
    if (this.#closed) throw new Error(`the session is over (${method})`)
    Atomics.store(this.#flag, 0, 0)
    this.#port.postMessage({ method, argument })
    if (Atomics.wait(this.#flag, 0, 0, patienceMillis) === "timed-out") throw new Error(`the host does not answer (${method})`)
    const answer: unknown = receiveMessageOnPort(this.#port)?.message
    if (!isFields(answer)) throw new Error(`the host did not answer (${method})`)
    if (typeof answer["error"] === "string") throw new Error(answer["error"])
    return answer["value"]
  }
}
