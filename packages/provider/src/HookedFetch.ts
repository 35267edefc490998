/**
 * The one `fetch` a provider of the AI SDK is given: hooks sit here, and the watch over a connection on which nothing
 * comes any more.
 */
import { Clock, Duration, Effect } from "effect"
import * as AiError from "effect/ai/AiError"
import { foreignAnswer } from "./AiSdk/Failure.ts"
import type { Fetch } from "./AiSdk/Model.ts"
import { ProviderHooks, type ProviderRequest } from "./ProviderHooks.ts"

/** What stands in a hook's headers for a credential. */
export const REDACTED = "<redacted>"

const CREDENTIAL = /^(authorization|proxy-authorization|x-api-key|api-key|x-goog-api-key|cookie)$/

type HeaderRecord = { readonly [name: string]: string }

/** The headers as hooks see them. */
export const redact = (headers: HeaderRecord): HeaderRecord =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, CREDENTIAL.test(name) ? REDACTED : value]))

/** A hook's answer laid over the real headers; see `ProviderHooks.headers`. */
export const applyHeaders = (real: HeaderRecord, changes: { readonly [name: string]: string | null }): HeaderRecord => {
  const headers: { [name: string]: string } = { ...real }
  for (const [name, value] of Object.entries(changes)) {
    const key = name.toLowerCase()
    if (value === null) delete headers[key]
    else if (value !== REDACTED || !CREDENTIAL.test(key)) headers[key] = value
  }
  return headers
}

/** How much of an error's body hooks get, in characters. */
const longestErrorBody = 64 * 1024

const requestHeaders = (init: RequestInit | undefined): HeaderRecord =>
  Object.fromEntries(new Headers(init?.headers).entries())

const responseHeaders = (response: globalThis.Response): HeaderRecord =>
  Object.fromEntries([...response.headers.entries()].filter(([name]) => name !== "set-cookie"))

/** One request's `fetch` and the watch over it. */
export interface HookedFetch {
  readonly fetch: Fetch
  /** Never succeeds; fails when no byte came for `requestTimeout`. To be run beside the request. */
  readonly watch: Effect.Effect<never, AiError.AiError>
  /** The URL asked last, for error messages; empty before the first request. */
  readonly url: () => string
  /** Whether the last one was taken: the head of an answer came, with a status that says so. */
  readonly answered: () => boolean
}

/** The wait for data ended; retryable. */
const silent = (request: ProviderRequest, limit: Duration.Duration): AiError.AiError =>
  AiError.make({
    module: request.provider,
    method: "streamText",
    reason: new AiError.InternalProviderError({ description: `no data for ${Duration.toSeconds(limit)} s from ${request.url}` })
  })

type Body = ReadableStream<Uint8Array<ArrayBuffer>>

/** How much of an answer that is no stream is read, in bytes. */
const longestForeign = 4096

const fields = ["data", "event", "id", "retry", ":"]

/** Whether a text may be the beginning of a stream of events. */
const mayBeEvents = (head: string): boolean => {
  const begun = head.trimStart()
  return fields.some((field) => begun.startsWith(field) || field.startsWith(begun))
}

/** The same bytes, and `touch` called for each piece. Fails with what `foreign` makes of them where they are no stream of events. */
// Foreign edge: a web stream, read by promises. One that is pulled costs a third of a `TransformStream`.
const tapped = (body: Body, touch: () => void, foreign: ((answer: string) => AiError.AiError) | undefined): Body => {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let first = foreign !== undefined
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await reader.read()
      touch()
      if (done) return controller.close()
      if (first && foreign !== undefined) {
        first = false
        let answer = decoder.decode(value, { stream: true })
        if (!mayBeEvents(answer)) {
          while (answer.length < longestForeign) {
            const more = await reader.read()
            touch()
            if (more.done) break
            answer += decoder.decode(more.value, { stream: true })
          }
          void reader.cancel().catch(() => undefined)
          return controller.error(foreign(answer))
        }
      }
      controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason)
  }, { highWaterMark: 0 })
}

/**
 * Makes the `fetch` of one request, with the hooks and the clock of the fiber that calls this. With no hook set the
 * request and its headers pass untouched; the body passes through a tap that notes when a byte came.
 */
export const makeHookedFetch = Effect.fnUntraced(function*(options: {
  readonly provider: string
  readonly model: string
  /** Longest silence: until the first byte, and between two. */
  readonly requestTimeout: Duration.Duration
  /** The real `fetch`; default the global one. */
  readonly fetch?: Fetch
}): Effect.fn.Return<HookedFetch> {
  const hooks = yield* ProviderHooks
  const clock = yield* Clock.Clock
  const context = yield* Effect.context<never>()
  const send = options.fetch ?? globalThis.fetch
  const timeout = Duration.toMillis(options.requestTimeout)
  let lastByte = clock.currentTimeMillisUnsafe()
  let url = ""
  let answered = false
  const about = (): ProviderRequest => ({ provider: options.provider, model: options.model, url })
  const touch = () => {
    lastByte = clock.currentTimeMillisUnsafe()
  }

  const change = Effect.fnUntraced(function*(init: RequestInit | undefined) {
    const changed: RequestInit = { ...init }
    if (hooks.request !== undefined && typeof init?.body === "string") {
      changed.body = JSON.stringify(yield* hooks.request(JSON.parse(init.body), about()))
    }
    if (hooks.headers !== undefined) {
      const real = requestHeaders(init)
      changed.headers = applyHeaders(real, yield* hooks.headers(redact(real), about()))
    }
    return changed
  })

  const interruptible = (signal: AbortSignal | undefined) => signal === undefined ? {} : { signal }
  // The AI SDK speaks in promises, so this function does too; effects of hooks run on the caller's context.
  const run = Effect.runPromiseWith(context)
  const fetch: Fetch = async (input, init) => {
    const signal = init?.signal ?? undefined
    url = typeof input === "string" ? input : "url" in input ? input.url : input.href
    const hooked = hooks.request !== undefined || hooks.headers !== undefined
    const changed = hooked ? await run(change(init), interruptible(signal)) : init
    touch()
    const sent = lastByte
    answered = false
    let response = await send(input, changed)
    answered = response.ok
    touch()
    const { response: seen } = hooks
    if (seen !== undefined) {
      const { headers, status, statusText } = response
      const durationMillis = lastByte - sent
      const body = status < 400 ? undefined : await response.text()
      // What was read once is there to be read again.
      if (body !== undefined) response = new Response(body, { headers: [...headers.entries()], status, statusText })
      const errorBody = body?.slice(0, longestErrorBody) ?? ""
      await run(seen({ status, headers: responseHeaders(response), durationMillis, errorBody }, about()), interruptible(signal))
      touch()
    }
    const { provider } = options
    const foreign = !response.ok ? undefined : (answer: string) =>
      foreignAnswer(answer, response.headers.get("content-type") ?? "", { provider, url: response.url === "" ? url : response.url, now: clock.currentTimeMillisUnsafe() })
    // The same response with another body: a new one would copy status and headers through every check of the platform.
    return response.body === null ? response : Object.defineProperty(response, "body", { value: tapped(response.body, touch, foreign) })
  }

  const watch = Effect.gen(function*() {
    while (true) {
      const left = lastByte + timeout - clock.currentTimeMillisUnsafe()
      if (left <= 0) return yield* silent(about(), options.requestTimeout)
      yield* Effect.sleep(left)
    }
  })

  return { fetch, watch, url: () => url, answered: () => answered }
})
