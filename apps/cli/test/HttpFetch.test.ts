import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from "node:net"
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from "node:zlib"
import { httpFetch } from "../src/HttpFetch.ts"

const servers: Array<Server> = []
const sockets: Array<Socket> = []
const closeAll = async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve))
}
afterEach(closeAll)

const listen = async (server: Server, scheme = "http"): Promise<string> => {
  servers.push(server.on("connection", (socket) => sockets.push(socket)))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`
}

interface Asked {
  readonly request: IncomingMessage
  readonly body: string
}

const serve = (answer: (response: ServerResponse, asked: Asked) => void): Promise<string> =>
  listen(createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (data) => body += data).on("end", () => answer(response, { request, body }))
  }))

const post = { method: "POST", headers: { "content-type": "application/json", "x-given": "yes" }, body: "{\"größe\":1}" }

const caught = (promise: Promise<unknown>): Promise<unknown> => promise.then(() => undefined, (error: unknown) => error)
const cause = (error: unknown) => (error as { readonly cause?: { readonly code?: string } }).cause
const said = (error: unknown): ReadonlyArray<unknown> => error instanceof Error ? [error.name, error.message, cause(error)?.code] : [error]

/** The next chunk of an answer as text. */
const reading = (response: Response) => {
  const reader = response.body!.getReader()
  const next = async () => {
    const { done, value } = await reader.read()
    return done ? undefined : new TextDecoder().decode(value)
  }
  return { next, cancel: () => reader.cancel() }
}

// What holds for the platform's `fetch` shall hold for ours: each test runs with both.
describe.each([["the platform's fetch", globalThis.fetch], ["our fetch", httpFetch]] as const)("%s", (name, fetch) => {
  it("posts a text with its headers and gives status, headers and body", async () => {
    let asked: Asked | undefined
    const url = await serve((response, seen) => {
      asked = seen
      response.writeHead(201, "Made", { "x-answer": ["a", "b"], "set-cookie": ["c=1", "d=2"] }).end("größer")
    })
    const response = await fetch(`${url}/v1?x=1`, post)
    assert.deepStrictEqual([asked?.request.method, asked?.request.url, asked?.body], ["POST", "/v1?x=1", post.body])
    assert.strictEqual(asked?.request.headers["x-given"], "yes")
    assert.strictEqual(asked?.request.headers["content-length"], String(Buffer.byteLength(post.body)))
    assert.deepStrictEqual([response.status, response.ok, response.statusText, response.url], [201, true, "Made", `${url}/v1?x=1`])
    assert.deepStrictEqual([response.headers.get("X-Answer"), response.headers.getSetCookie()], ["a, b", ["c=1", "d=2"]])
    assert.strictEqual(await response.text(), "größer")
  })

  it("gives the body of an error", async () => {
    const url = await serve((response) => response.writeHead(429, { "retry-after": "1" }).end("{\"error\":1}"))
    const response = await fetch(url, post)
    assert.deepStrictEqual([response.status, response.ok, response.headers.get("retry-after")], [429, false, "1"])
    assert.deepStrictEqual(await response.json(), { error: 1 })
  })

  it("has no body where there is none", async () => {
    const url = await serve((response) => response.writeHead(204).end())
    assert.isNull((await fetch(url, post)).body)
  })

  it("gives each piece as it comes", async () => {
    let more: () => void = () => {}
    const url = await serve((response) => {
      response.write("one")
      more = () => response.end("two")
    })
    const { next } = reading(await fetch(url, post))
    assert.strictEqual(await next(), "one")
    more()
    assert.deepStrictEqual([await next(), await next()], ["two", undefined])
  })

  it("uses a connection again", async () => {
    const ports = new Set<number | undefined>()
    const url = await serve((response, { request }) => {
      ports.add(request.socket.remotePort)
      response.end("ok")
    })
    for (let n = 0; n < 5; n++) await (await fetch(url, post)).text()
    assert.isBelow(ports.size, 3)
  })

  it.each([["gzip", gzipSync], ["deflate", deflateSync], ["br", brotliCompressSync]] as const)("decompresses %s", async (encoding, compress) => {
    const url = await serve((response) => response.writeHead(200, { "content-encoding": encoding }).end(compress("plain text")))
    assert.strictEqual(await (await fetch(url, post)).text(), "plain text")
  })

  it("leaves what it does not know as it is", async () => {
    const url = await serve((response) => response.writeHead(200, { "content-encoding": "constructor" }).end("text"))
    assert.strictEqual(await (await fetch(url, post)).text(), "text")
  })

  it("takes a compressed answer that lacks its checksum", async () => {
    const url = await serve((response) => response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("plain text").subarray(0, -8)))
    assert.strictEqual(await (await fetch(url, post)).text(), "plain text")
  })

  it("gives each compressed piece as it comes", async () => {
    let more: () => void = () => {}
    const url = await serve((response) => {
      response.writeHead(200, { "content-encoding": "gzip" })
      const gzip = createGzip()
      gzip.pipe(response)
      gzip.write("one")
      gzip.flush()
      more = () => gzip.end("two")
    })
    const { next } = reading(await fetch(url, post))
    assert.strictEqual(await next(), "one")
    more()
    assert.strictEqual(await next(), "two")
  })

  it("follows a redirect that keeps the request", async () => {
    const target = await serve((response, { body, request }) => response.end(`${request.method} ${body}`))
    const url = await serve((response) => response.writeHead(307, { location: `${target}/there` }).end())
    const response = await fetch(url, post)
    assert.deepStrictEqual([response.status, await response.text()], [200, `POST ${post.body}`])
  })

  it("does not take a key along to another origin", async () => {
    const target = await serve((response, { request }) => response.end(request.headers.authorization ?? "none"))
    const url = await serve((response) => response.writeHead(308, { location: target }).end())
    assert.strictEqual(await (await fetch(url, { ...post, headers: { authorization: "Bearer k" } })).text(), "none")
  })

  it("is a failed request when nobody listens", async () => {
    const url = await serve(() => {})
    await closeAll()
    assert.deepStrictEqual(said(await caught(fetch(url, post))), ["TypeError", "fetch failed", "ECONNREFUSED"])
  })

  it("is a failed request when the connection closes before an answer", async () => {
    const url = await serve((_, { request }) => request.socket.destroy())
    const error = await caught(fetch(url, post))
    assert.deepStrictEqual(said(error).slice(0, 2), ["TypeError", "fetch failed"])
    assert.include(["ECONNRESET", "UND_ERR_SOCKET"], cause(error)?.code)
  })

  it("is a failed request when the answer is no HTTP", async () => {
    const url = await listen(createTcp((socket) => socket.end("hello\r\n\r\n")))
    assert.deepStrictEqual(said(await caught(fetch(url, post))).slice(0, 2), ["TypeError", "fetch failed"])
  })

  it("is a broken answer when the connection closes in it", async () => {
    const url = await serve((response, { request }) => {
      response.write("one", () => setImmediate(() => request.socket.destroy()))
    })
    const { next } = reading(await fetch(url, post))
    assert.strictEqual(await next(), "one")
    assert.deepStrictEqual(said(await caught(next())).slice(0, 2), ["TypeError", "terminated"])
  })

  it("is a broken answer when compressed bytes are none", async () => {
    const url = await serve((response) => response.writeHead(200, { "content-encoding": "gzip" }).end("no gzip"))
    assert.deepStrictEqual(said(await caught((await fetch(url, post)).text())).slice(0, 2), ["TypeError", "terminated"])
  })

  it("ends with the reason it was aborted for: before, while waiting, and in the answer", async () => {
    const reason = new Error("enough")
    let asked = 0
    const unasked = await serve(() => asked++)
    assert.strictEqual(await caught(fetch(unasked, { ...post, signal: AbortSignal.abort(reason) })), reason)

    const waiting = new AbortController()
    const closed = Promise.withResolvers<void>()
    const silent = await serve((_, { request }) => {
      request.socket.once("close", () => closed.resolve())
      waiting.abort(reason)
    })
    assert.strictEqual(await caught(fetch(silent, { ...post, signal: waiting.signal })), reason)
    await closed.promise
    assert.strictEqual(asked, 0)

    const streaming = new AbortController()
    const left = Promise.withResolvers<void>()
    const url = await serve((response, { request }) => {
      request.socket.once("close", () => left.resolve())
      response.write("one")
    })
    const { next } = reading(await fetch(url, { ...post, signal: streaming.signal }))
    assert.strictEqual(await next(), "one")
    streaming.abort(reason)
    assert.strictEqual(await caught(next()), reason)
    await left.promise
  })

  it("closes the connection of an answer that nobody wants", async () => {
    const left = Promise.withResolvers<void>()
    const url = await serve((response, { request }) => {
      request.socket.once("close", () => left.resolve())
      response.write("one")
    })
    const { cancel, next } = reading(await fetch(url, post))
    assert.strictEqual(await next(), "one")
    await cancel()
    await left.promise
  })

  it("leaves nothing behind on a signal that many requests share", async () => {
    const url = await serve((response) => response.end("ok"))
    const { signal } = new AbortController()
    let listening = 0
    const { addEventListener, removeEventListener } = signal
    signal.addEventListener = (...given: Parameters<typeof addEventListener>) => (listening++, addEventListener.apply(signal, given))
    signal.removeEventListener = (...given: Parameters<typeof removeEventListener>) => (listening--, removeEventListener.apply(signal, given))
    for (let n = 0; n < 3; n++) await (await fetch(url, { ...post, signal })).text()
    assert.isAtMost(listening, name === "our fetch" ? 0 : 3)
  })
})

describe("our fetch", () => {
  const fetch = httpFetch
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it("asks for an answer that is not compressed, unless told otherwise", async () => {
    const url = await serve((response, { request }) => response.end(request.headers["accept-encoding"]))
    assert.strictEqual(await (await fetch(url, post)).text(), "identity")
    assert.strictEqual(await (await fetch(url, { ...post, headers: { "Accept-Encoding": "br" } })).text(), "br")
  })

  it("leaves other requests to the platform's", async () => {
    const url = await serve((response, { body, request }) => response.end(`${request.method} ${body}`))
    assert.strictEqual(await (await fetch(new URL(url))).text(), "GET ")
    assert.strictEqual(await (await fetch(url, { method: "PUT", body: "hi" })).text(), "PUT hi")
    assert.strictEqual(await (await fetch(url, { method: "POST", body: new Uint8Array([104, 105]) })).text(), "POST hi")
    assert.strictEqual((await caught(fetch(url, { body: "hi" })) as Error).name, "TypeError")
  })

  it("gives a connection up that does not stand after ten seconds", async () => {
    const connected = Promise.withResolvers<void>()
    const url = await listen(createTcp(() => connected.resolve()), "https")
    const pending = caught(fetch(url, post))
    await connected.promise
    vi.advanceTimersByTime(9_999)
    assert.strictEqual(vi.getTimerCount(), 1)
    vi.advanceTimersByTime(1)
    assert.deepStrictEqual(said(await pending), ["TypeError", "fetch failed", "ETIMEDOUT"])
  })

  it("sets no limit to the answer once the connection stands", async () => {
    const asked = Promise.withResolvers<ServerResponse>()
    const url = await serve((response) => asked.resolve(response))
    const pending = fetch(url, post)
    const response = await asked.promise
    assert.strictEqual(vi.getTimerCount(), 0)
    vi.advanceTimersByTime(60_000)
    response.end("late")
    assert.strictEqual(await (await pending).text(), "late")
  })
})
