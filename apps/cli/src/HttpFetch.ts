/**
 * `fetch` as requests to a model need it, on `node:http`: a text is posted, the answer streams. Node's own `fetch` is a
 * library that must be loaded first, and costs about twice as much a request while code is cold; it still gets what is
 * rare: a redirect to follow, a body that is no text.
 */
// Foreign edge: this is a function of the platform, so it speaks in promises.
import type { ClientRequest, IncomingMessage } from "node:http"
import { pipeline, type Readable } from "node:stream"
import { StreamedResponse } from "@nimlet/provider"
import { HeaderList } from "./HeaderList.ts"

type Fetch = typeof globalThis.fetch

/** A request of the kind made here. */
interface TextRequest {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly signal: AbortSignal | undefined
}

const textRequest = (...[input, init]: Parameters<Fetch>): TextRequest | undefined => {
  if (typeof input !== "string" || init?.method !== "POST" || typeof init.body !== "string" || !URL.canParse(input)) return undefined
  const url = new URL(input)
  if (!/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return undefined
  return { url, body: init.body, headers: Object.fromEntries(new HeaderList(init.headers)), signal: init.signal ?? undefined }
}

/** A request of so many characters is sent as bytes. */
const longBody = 256 * 1024

/** How long a connection may take to stand, in milliseconds; as long as Node's own `fetch` gives it. */
const CONNECTING = 10_000

const noConnection = (): Error => Object.assign(new Error(`no connection within ${CONNECTING / 1000} s`), { code: "ETIMEDOUT" })

/** What `fetch` says of a request that got no answer, and of an answer that broke off. */
const failed = (cause: Error) => new TypeError("fetch failed", { cause })
const terminated = (cause: Error) => new TypeError("terminated", { cause })

const limitConnecting = (request: ClientRequest, secure: boolean): void => {
  request.once("socket", (socket) => {
    if (!socket.connecting) return
    const timer = setTimeout(() => request.destroy(noConnection()), CONNECTING)
    const stop = () => clearTimeout(timer)
    socket.once(secure ? "secureConnect" : "connect", stop).once("close", stop)
  })
}

// Not imported: to make the names that an import may ask for, Node loads its `fetch` too.
const httpModule = ({ protocol }: URL) => process.getBuiltinModule(protocol === "https:" ? "node:https" : "node:http")

/** Loads what requests to this URL need. The first request does it anyway. */
export const loadHttp = (url: string): void => {
  if (URL.canParse(url)) httpModule(new URL(url))
}

/** Sends it, and gives the head of the answer. Rejects with the signal's reason, or with `TypeError` and the cause. */
const send = ({ body, headers, signal, url }: TextRequest): Promise<IncomingMessage> => {
  const secure = url.protocol === "https:"
  const { request } = httpModule(url)
  return new Promise((resolve, reject) => {
    // One that compresses makes small pieces of an answer wait for each other.
    const outgoing = request(url, { method: "POST", headers: { "accept": "*/*", "accept-encoding": "identity", ...headers } }, resolve)
    const abort = () => outgoing.destroy()
    signal?.addEventListener("abort", abort, { once: true })
    outgoing.once("close", () => signal?.removeEventListener("abort", abort))
    // It stays after the answer has begun: what happens then is the answer's, but must have a listener here.
    outgoing.on("error", (cause) => reject(signal?.aborted === true ? signal.reason : failed(cause)))
    limitConnecting(outgoing, secure)
    // Text is put behind the head before it is sent, a copy more of all of it.
    outgoing.end(body.length > longBody ? Buffer.from(body) : body)
  })
}

/** The bytes of an answer, a chunk for all that has come since the last one was taken. */
const bytesOf = (source: Readable, signal: AbortSignal | undefined): ReadableStream<Uint8Array<ArrayBuffer>> => {
  let failure: { readonly error: unknown } | undefined
  let stir = () => {}
  source.on("readable", () => stir())
  source.on("end", () => stir())
  source.on("error", (cause) => {
    failure = { error: signal?.aborted === true ? signal.reason : terminated(cause) }
    stir()
  })
  return new ReadableStream({
    pull: (controller) => {
      const take = (): boolean => {
        const bytes: Uint8Array<ArrayBuffer> | null = source.read()
        if (bytes !== null) controller.enqueue(bytes)
        else if (failure !== undefined) controller.error(failure.error)
        else if (source.readableEnded) controller.close()
        else return false
        return true
      }
      return take() ? undefined : new Promise((resolve) => {
        stir = () => {
          if (!take()) return
          stir = () => {}
          resolve()
        }
      })
    },
    cancel: () => {
      source.destroy()
    }
  }, { highWaterMark: 0 })
}

/** The answer without its compression, for a server that compresses although it was asked not to. */
const plain = (message: IncomingMessage): Readable => {
  const encoding = message.headers["content-encoding"]?.trim().toLowerCase() ?? "identity"
  if (encoding === "identity") return message
  const zlib = process.getBuiltinModule("node:zlib")
  const flush = { flush: zlib.constants.Z_SYNC_FLUSH, finishFlush: zlib.constants.Z_SYNC_FLUSH }
  const known: Readonly<Record<string, () => NodeJS.ReadWriteStream & Readable>> = {
    "gzip": () => zlib.createGunzip(flush),
    "x-gzip": () => zlib.createGunzip(flush),
    "deflate": () => zlib.createInflate(flush),
    "br": () => zlib.createBrotliDecompress({ flush: zlib.constants.BROTLI_OPERATION_FLUSH, finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH })
  }
  const make = Object.hasOwn(known, encoding) ? known[encoding] : undefined
  return make === undefined ? message : pipeline(message, make(), () => {})
}

const headersOf = (raw: ReadonlyArray<string>): HeaderList => {
  const headers = new HeaderList()
  for (let at = 0; at + 1 < raw.length; at += 2) headers.append(raw[at] ?? "", raw[at + 1] ?? "")
  return headers
}

const redirects = new Set([301, 302, 303, 307, 308])
const empty = new Set([204, 205, 304])

/**
 * A `fetch`. Rejects as the platform's does: with the signal's reason, or with a `TypeError` whose cause tells
 * what happened to the connection, for which ten seconds are waited. Connections are kept and used again.
 */
export const httpFetch: Fetch = async (input, init) => {
  const asked = textRequest(input, init)
  if (asked === undefined) return fetch(input, init)
  asked.signal?.throwIfAborted()
  const message = await send(asked)
  const status = message.statusCode ?? 0
  if (redirects.has(status) && message.headers.location !== undefined) {
    message.destroy()
    return fetch(input, init)
  }
  if (empty.has(status)) message.resume()
  return new StreamedResponse({
    url: asked.url.href,
    status,
    statusText: message.statusMessage ?? "",
    headers: headersOf(message.rawHeaders),
    body: empty.has(status) ? null : bytesOf(plain(message), asked.signal)
  })
}
