/**
 * A `Response` whose body is a stream. The platform's own comes with all of its `fetch`, which takes longer to load than a
 * short answer to arrive.
 */

/** What it is made of. */
export interface Streamed {
  /** Where the answer came from, after redirects. */
  readonly url: string
  readonly status: number
  readonly statusText: string
  readonly headers: Headers
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | null
}

/** An answer. What reads its body as a whole is left to the platform's class, loaded when something does. */
export class StreamedResponse implements Response {
  readonly type = "basic"
  readonly redirected = false
  readonly url: string
  readonly status: number
  readonly statusText: string
  readonly headers: Headers
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | null

  constructor({ body, headers, status, statusText, url }: Streamed) {
    this.url = url
    this.status = status
    this.statusText = statusText
    this.headers = headers
    this.body = body
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300
  }

  get bodyUsed(): boolean {
    return this.body?.locked === true
  }

  get #whole(): Response {
    return new Response(this.body, { status: this.status, statusText: this.statusText, headers: [...this.headers] })
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#whole.arrayBuffer()
  }

  blob(): Promise<Blob> {
    return this.#whole.blob()
  }

  bytes(): ReturnType<Response["bytes"]> {
    return this.#whole.bytes()
  }

  clone(): Response {
    return this.#whole.clone()
  }

  formData(): Promise<FormData> {
    return this.#whole.formData()
  }

  json(): Promise<unknown> {
    return this.#whole.json()
  }

  text(): Promise<string> {
    return this.#whole.text()
  }
}
