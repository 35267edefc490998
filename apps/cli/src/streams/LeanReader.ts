/** Who reads a lean stream: see `LeanReadable`. */
// Foreign edge: a class of the platform's, read by promises.
import type { ReadableStreamReadResult } from "node:stream/web"

/** The one reader of a stream at a time; what it does is done by the functions given. Released, it only rejects. */
export class LeanReader<R> implements ReadableStreamDefaultReader<R> {
  readonly #readOne: () => Promise<ReadableStreamReadResult<R>>
  readonly #cancelAll: (reason: unknown) => Promise<void>
  readonly #release: () => void
  #held = true
  #closing: PromiseWithResolvers<void> | undefined
  #ending: { readonly failed: boolean; readonly error: unknown } | undefined

  constructor(read: () => Promise<ReadableStreamReadResult<R>>, cancel: (reason: unknown) => Promise<void>, release: () => void) {
    this.#readOne = read
    this.#cancelAll = cancel
    this.#release = release
  }

  get closed(): Promise<void> {
    if (this.#closing === undefined) {
      this.#closing = Promise.withResolvers<void>()
      // Like the platform's: whoever does not look at it is not told.
      this.#closing.promise.catch(() => {})
      if (this.#ending !== undefined) this.end(this.#ending.failed, this.#ending.error)
    }
    return this.#closing.promise
  }

  /** The stream's word that it is over. */
  end(failed: boolean, error: unknown): void {
    this.#ending = { failed, error }
    if (failed) this.#closing?.reject(error)
    else this.#closing?.resolve()
  }

  read(): Promise<ReadableStreamReadResult<R>> {
    return this.#held ? this.#readOne() : Promise.reject(new TypeError("the reader was released"))
  }

  cancel(reason?: unknown): Promise<void> {
    return this.#held ? this.#cancelAll(reason) : Promise.reject(new TypeError("the reader was released"))
  }

  releaseLock(): void {
    if (!this.#held) return
    this.#held = false
    this.#release()
    this.end(true, new TypeError("the reader was released"))
  }
}
