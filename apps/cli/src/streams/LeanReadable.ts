/**
 * A readable stream that does what the web's does for a reader, at a fraction of its cost: the platform's is made for pipes
 * between any two sides, and an answer of a model passes six of them. The build puts it where code names `ReadableStream`
 * (see `build.ts`). Nothing is pulled before it is asked for, so a slow reader slows the source; what nobody here needs
 * (byte readers, `pipeTo`, a pipe through what is not ours) is refused with a `TypeError`.
 */
// Foreign edge: a class of the platform's, read by promises.
import type { ReadableStreamAsyncIterator, ReadableStreamController, ReadableStreamReadResult, ReadableWritablePair, UnderlyingSource } from "node:stream/web"
import { LeanReader } from "./LeanReader.ts"

/** The key under which a transform takes the stream that it is to read: see `LeanTransform`. */
export const attach: unique symbol = Symbol.for("nimlet/streams/attach")

interface Waiting<R> {
  readonly resolve: (result: ReadableStreamReadResult<R>) => void
  readonly reject: (error: unknown) => void
}

/** `closing` is closed with chunks left to read. */
type State = "open" | "closing" | "closed" | "failed"

const ended: ReadableStreamReadResult<never> = { done: true, value: undefined }
const refuse = (what: string): never => {
  throw new TypeError(`a lean stream ${what}`)
}

/** A stream over `source`, of which `pull` is called when a read waits. */
export class LeanReadable<R> implements ReadableStream<R> {
  readonly #source: UnderlyingSource<R>
  readonly #controller: ReadableStreamController<R>
  #queue: Array<R> = []
  readonly #waiting: Array<Waiting<R>> = []
  #state: State = "open"
  #error: unknown
  #started = true
  #pulling = false
  #again = false
  #reader: LeanReader<R> | undefined

  constructor(source: UnderlyingSource<R> = {}) {
    this.#source = source
    const wanted = () => this.#state === "failed" ? null : this.#waiting.length - this.#queue.length
    this.#controller = {
      get desiredSize() {
        return wanted()
      },
      enqueue: (chunk) => this.#enqueue(chunk),
      close: () => this.#close(),
      error: (error) => this.#fail(error)
    }
    const begun: unknown = source.start?.(this.#controller)
    if (!(begun instanceof Promise)) return
    this.#started = false
    begun.then(() => {
      this.#started = true
      this.#pull()
    }, (error) => this.#fail(error))
  }

  get locked(): boolean {
    return this.#reader !== undefined
  }

  cancel(reason?: unknown): Promise<void> {
    return this.locked ? Promise.reject(new TypeError("the stream is locked to a reader")) : this.#cancel(reason)
  }

  getReader(options: { mode: "byob" }): ReadableStreamBYOBReader
  getReader(): ReadableStreamDefaultReader<R>
  getReader(options?: { mode?: "byob" }): ReadableStreamDefaultReader<R> | ReadableStreamBYOBReader {
    if (options?.mode !== undefined) return refuse("has no byte reader")
    if (this.locked) throw new TypeError("the stream is locked to a reader")
    this.#reader = new LeanReader(() => this.#read(), (reason) => this.#cancel(reason), () => this.#release())
    if (this.#state === "closed" || this.#state === "failed") this.#reader.end(this.#state === "failed", this.#error)
    return this.#reader
  }

  pipeThrough<T>(pair: ReadableWritablePair<T, R> & { readonly [attach]?: (source: ReadableStream<R>) => void }): ReadableStream<T> {
    if (pair[attach] === undefined) return refuse("is piped through lean transforms only")
    pair[attach](this)
    return pair.readable
  }

  pipeTo(): never {
    return refuse("is not piped to a writable one")
  }

  tee(): [LeanReadable<R>, LeanReadable<R>] {
    const reader = this.getReader()
    const branches: Array<ReadableStreamController<R> | undefined> = []
    let reading = false
    const pull = (): void => {
      if (reading) return
      reading = true
      reader.read().then(({ done, value }) => {
        reading = false
        for (const branch of branches) {
          if (done) branch?.close()
          else branch?.enqueue(value)
        }
      }, (error) => branches.forEach((branch) => branch?.error(error)))
    }
    const branch = (at: number) =>
      new LeanReadable<R>({
        start: (controller) => {
          branches[at] = controller
        },
        pull,
        cancel: (reason) => {
          branches[at] = undefined
          return branches.every((one) => one === undefined) ? reader.cancel(reason) : undefined
        }
      })
    return [branch(0), branch(1)]
  }

  values(): ReadableStreamAsyncIterator<R> {
    return this.#chunks()
  }

  [Symbol.asyncIterator](): ReadableStreamAsyncIterator<R> {
    return this.#chunks()
  }

  async *#chunks(): AsyncGenerator<R, undefined> {
    const reader = this.getReader()
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
      return undefined
    } finally {
      const left = reader.cancel()
      reader.releaseLock()
      await left
    }
  }

  #read(): Promise<ReadableStreamReadResult<R>> {
    if (this.#queue.length > 0) {
      const chunk = this.#queue.shift() as R
      if (this.#state === "closing" && this.#queue.length === 0) this.#end("closed")
      return Promise.resolve({ done: false, value: chunk })
    }
    if (this.#state === "failed") return Promise.reject(this.#error)
    if (this.#state !== "open") return Promise.resolve(ended)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#pull()
    })
  }

  #enqueue(chunk: R): void {
    if (this.#state !== "open") throw new TypeError("the stream takes no more chunks")
    const next = this.#waiting.shift()
    if (next === undefined) this.#queue.push(chunk)
    else next.resolve({ done: false, value: chunk })
    this.#pull()
  }

  #close(): void {
    if (this.#state !== "open") throw new TypeError("the stream is closed already")
    if (this.#queue.length > 0) this.#state = "closing"
    else this.#end("closed")
  }

  #fail(error: unknown): void {
    if (this.#state === "closed" || this.#state === "failed") return
    this.#error = error
    this.#end("failed")
  }

  #end(state: "closed" | "failed"): void {
    this.#state = state
    this.#queue = []
    for (const { reject, resolve } of this.#waiting.splice(0)) {
      if (state === "failed") reject(this.#error)
      else resolve(ended)
    }
    this.#reader?.end(state === "failed", this.#error)
  }

  #pull(): void {
    if (this.#state !== "open" || !this.#started || this.#waiting.length === 0) return
    this.#again = this.#pulling
    if (this.#pulling) return
    this.#pulling = true
    try {
      const pulled = this.#source.pull?.(this.#controller)
      if (pulled === undefined) this.#pulled()
      else pulled.then(() => this.#pulled(), (error) => this.#fail(error))
    } catch (error) {
      this.#fail(error)
    }
  }

  #pulled(): void {
    this.#pulling = false
    if (!this.#again) return
    this.#again = false
    this.#pull()
  }

  async #cancel(reason: unknown): Promise<void> {
    if (this.#state === "failed") throw this.#error
    if (this.#state === "closed") return
    this.#end("closed")
    await this.#source.cancel?.(reason)
  }

  #release(): void {
    this.#reader = undefined
    for (const { reject } of this.#waiting.splice(0)) reject(new TypeError("the reader was released"))
  }
}
