/**
 * A transform between lean streams: a chunk is read, turned and handed on when somebody waits for it, with no queue of its
 * own and no writable side. The build puts it where code names `TransformStream` or `TextDecoderStream` (see `build.ts`).
 */
// Foreign edge: a class of the platform's, read by promises.
import type { ReadableStreamController, Transformer, TransformStreamDefaultController } from "node:stream/web"
import { attach, LeanReadable } from "./LeanReadable.ts"

/** Turns the chunks of the stream that is piped through it. */
export class LeanTransform<I, O> implements TransformStream<I, O> {
  readonly readable: LeanReadable<O>
  readonly #transformer: Transformer<I, O>
  readonly #controller: TransformStreamDefaultController<O>
  readonly #begun: unknown
  #reader: ReadableStreamDefaultReader<I> | undefined
  /** How many chunks were made; tells whether turning one has brought any. */
  #made = 0
  #over = false

  constructor(transformer: Transformer<I, O> = {}) {
    this.#transformer = transformer
    let inner: ReadableStreamController<O> | undefined
    this.readable = new LeanReadable<O>({
      start: (controller) => {
        inner = controller
      },
      pull: () => this.#turn(),
      cancel: async (reason) => {
        this.#over = true
        await transformer.cancel?.(reason)
        await this.#reader?.cancel(reason)
      }
    })
    this.#controller = {
      get desiredSize() {
        return inner?.desiredSize ?? null
      },
      enqueue: (chunk) => {
        this.#made++
        inner?.enqueue(chunk)
      },
      error: (error) => {
        inner?.error(error)
        this.#leave(error)
      },
      terminate: () => {
        if (this.#over) return
        inner?.close()
        this.#leave(new TypeError("the transform was terminated"))
      }
    }
    this.#begun = transformer.start?.(this.#controller)
  }

  get writable(): never {
    throw new TypeError("a lean transform is piped through, not written to")
  }

  /** Takes the stream to be read. */
  [attach](source: ReadableStream<I>): void {
    this.#reader = source.getReader()
  }

  /** Reads on until something was made of it. */
  async #turn(): Promise<void> {
    if (this.#begun instanceof Promise) await this.#begun
    const before = this.#made
    while (this.#made === before && !this.#over && this.#reader !== undefined) {
      const { done, value } = await this.#reader.read()
      if (this.#over) return
      if (done) return await this.#finish()
      try {
        const turned: unknown = this.#transformer.transform === undefined ? this.#pass(value) : this.#transformer.transform(value, this.#controller)
        if (turned !== undefined) await turned
      } catch (error) {
        this.#leave(error)
        throw error
      }
    }
  }

  async #finish(): Promise<void> {
    await this.#transformer.flush?.(this.#controller)
    this.#controller.terminate()
  }

  /** What a transform without a transformer does: the chunk is made as it is. */
  #pass(chunk: I): void {
    this.#controller.enqueue(chunk as I & O)
  }

  /** The source is wanted no more. */
  #leave(reason: unknown): void {
    if (this.#over) return
    this.#over = true
    this.#reader?.cancel(reason).catch(() => {})
  }
}

/** Bytes to text, in UTF-8. */
export class LeanTextDecoder extends LeanTransform<Uint8Array, string> implements TextDecoderStream {
  readonly encoding = "utf-8"
  readonly fatal = false
  readonly ignoreBOM = false
  readonly [Symbol.toStringTag] = "TextDecoderStream"

  constructor() {
    const decoder = new TextDecoder()
    const tell = (text: string, controller: TransformStreamDefaultController<string>) => {
      if (text !== "") controller.enqueue(text)
    }
    super({
      transform: (bytes, controller) => tell(decoder.decode(bytes, { stream: true }), controller),
      flush: (controller) => tell(decoder.decode(), controller)
    })
  }
}
