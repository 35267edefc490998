/**
 * Whatever an AI SDK provider throws, as an `AiError`. Pure: told apart by the fields the SDK's errors have, so that no
 * class of the SDK has to be loaded.
 */
import { DateTime, Duration, Option, Predicate } from "effect"
import * as AiError from "effect/ai/AiError"
import { beginning, errorIn, errorText, wordsIn } from "./ErrorText.ts"

/** The request a failure belongs to. */
export interface FailedRequest {
  readonly provider: string
  readonly url: string
  /** Whether the provider had taken it and begun to answer: what goes wrong then lies in the answer. */
  readonly answered?: boolean
  /** Milliseconds since the epoch, to read a `retry-after` that is a date. */
  readonly now: number
}

const LIMIT = 2_000
const OVERFLOW =
  /context[ _-]?(length|window|size)|maximum context|prompt is too long|input is too long|too many (input )?tokens|exceeds? the (maximum|model's|available)[^.]*(tokens|context)|request_too_large|model_context_window/i
const QUOTA = /insufficient_quota|billing|credit balance|quota[ _]exceeded|exceeded your current quota/i
const POLICY = /content_policy|content_filter|cyber_policy/i
/** The status that the names of errors inside a stream stand for. */
const STATUS: { readonly [name: string]: number } = {
  overloaded_error: 529,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  authentication_error: 401,
  invalid_api_key: 401,
  permission_error: 403,
  billing_error: 402,
  invalid_request_error: 400,
  context_length_exceeded: 400,
  not_found_error: 404,
  request_too_large: 413,
  timeout_error: 504,
  api_error: 500,
  server_error: 500
}
const GARBLED = new Set([
  "AI_JSONParseError", "AI_TypeValidationError", "AI_InvalidResponseDataError", "AI_EmptyResponseBodyError",
  "AI_NoContentGeneratedError", "AI_InvalidStreamPartError"
])

const text = (value: unknown, key: string): string | undefined =>
  Predicate.hasProperty(value, key) && typeof value[key] === "string" && value[key] !== "" ? value[key] : undefined
const number = (value: unknown, key: string): number | undefined =>
  Predicate.hasProperty(value, key) && typeof value[key] === "number" ? value[key] : undefined

const causes = (error: unknown): ReadonlyArray<unknown> => {
  const chain: Array<unknown> = []
  for (let at = error; at !== undefined && at !== null && !chain.includes(at) && chain.length < 8;) {
    chain.push(at)
    at = Predicate.hasProperty(at, "cause") ? at.cause : undefined
  }
  return chain
}

const headersOf = (error: unknown): { readonly [name: string]: string } => {
  const headers = Predicate.hasProperty(error, "responseHeaders") ? error.responseHeaders : undefined
  if (!Predicate.isObject(headers)) return {}
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === "string" && name.toLowerCase() !== "set-cookie" ? [[name.toLowerCase(), value]] : [])
  )
}

/** No quota takes longer to be renewed; whoever asks for more has the number wrong. */
const LONGEST = Duration.toMillis(Duration.days(31))

const believed = (milliseconds: number): Duration.Duration | undefined =>
  milliseconds >= 0 && milliseconds <= LONGEST ? Duration.millis(milliseconds) : undefined

/**
 * How long a provider asked to wait: `retry-after-ms`, `retry-after` in seconds, or `retry-after` as a date. Undefined for
 * what nobody can mean: a time that is past, or more than a month ahead.
 */
export const retryAfter = (headers: { readonly [name: string]: string }, now: number): Duration.Duration | undefined => {
  const milliseconds = headers["retry-after-ms"]?.trim() ?? ""
  const exact = milliseconds === "" ? undefined : believed(Number(milliseconds))
  const value = headers["retry-after"]?.trim() ?? ""
  if (exact !== undefined || value === "") return exact
  const seconds = Number(value)
  if (!Number.isNaN(seconds)) return believed(seconds * 1000)
  const date = DateTime.make(value)
  return Option.isSome(date) ? believed(DateTime.toEpochMillis(date.value) - now) : undefined
}

/** Whether a status tells of a fault that passes; such a one is told with its number. */
const isPassing = (status: number): boolean => status === 408 || status === 409 || status >= 500

/**
 * The reason an HTTP status stands for. 401 and 403 are `AuthenticationError`, 402 and an exhausted quota
 * `QuotaExhaustedError`, 429 `RateLimitError` with the wait asked for, 408, 409 and from 500 on
 * `InternalProviderError` (retryable), the rest `InvalidRequestError`; of these {@link isContextOverflow} knows the
 * one for a prompt that is too long.
 */
export const reasonFromStatus = (options: {
  readonly status: number
  readonly description: string
  readonly headers?: { readonly [name: string]: string }
  readonly now: number
}): AiError.AiErrorReason => {
  const { status } = options
  const description = options.description.slice(0, LIMIT).toWellFormed()
  const headers = options.headers ?? {}
  const http = { response: { status, headers } }
  const wait = retryAfter(headers, options.now)
  if (status === 401 || status === 403) {
    return new AiError.AuthenticationError({ kind: status === 401 ? "InvalidKey" : "InsufficientPermissions", description, http })
  }
  if (status === 402 || (status === 429 && QUOTA.test(description))) {
    return new AiError.QuotaExhaustedError({ http, metadata: { nimlet: { description } } })
  }
  if (status === 429) {
    return new AiError.RateLimitError({ http, metadata: { nimlet: { description } }, ...(wait === undefined ? {} : { retryAfter: wait }) })
  }
  if (isPassing(status)) {
    const metadata = wait === undefined ? {} : { nimlet: { retryAfterMs: Duration.toMillis(wait) } }
    return new AiError.InternalProviderError({ description: `HTTP ${status}: ${description}`, http, metadata })
  }
  if (POLICY.test(description)) return new AiError.ContentPolicyError({ description, http })
  return new AiError.InvalidRequestError({
    description,
    http,
    ...(status === 413 || OVERFLOW.test(description) ? { parameter: "prompt", constraint: OVERFLOWS } : {})
  })
}

const OVERFLOWS = "exceeds the context window"

/** Whether a request failed because its prompt does not fit the model's context window. */
export const isContextOverflow = (error: AiError.AiError): boolean =>
  error.reason._tag === "InvalidRequestError" && error.reason.constraint === OVERFLOWS

const IMAGE = /\b(images?|image_url|picture|photo|vision|mmproj|multi-?modal)\b/i

/** Whether a provider may have refused a request for an image in it: its words say so, or it takes no body that large. */
export const isImageRefusal = ({ reason }: AiError.AiError): boolean =>
  reason._tag === "InvalidRequestError" && reason.http?.response?.status === 413 || (reason._tag === "InvalidRequestError" || reason._tag === "ContentPolicyError" || reason._tag === "InternalProviderError") &&
  IMAGE.test(reason.description ?? "")

/** What a provider said of an error; its body tells more than the SDK's message, which may be the status's name alone. */
const describe = (error: unknown, fallback: string): string => {
  const body = text(error, "responseBody")
  const said = (body === undefined ? undefined : errorText(body)) ?? text(error, "message") ?? wordsIn(error) ?? fallback
  const code = [text(error, "code"), text(error, "type")].filter((name) => name !== undefined && !said.includes(name))
  return code.length === 0 ? said : `${said} (${code.join(", ")})`
}

/** The same for one that has a status. A place where nothing is may be the wrong one. */
const describeStatus = (error: unknown, status: number, url: string): string => {
  const body = text(error, "responseBody")?.trim() ?? ""
  const said = describe(error, `HTTP ${status}`)
  if ((status === 404 || status === 405) && url !== "" && !body.startsWith("{")) return `${said} (HTTP ${status} at ${url})`
  // The SDK's words for a body that it could not read.
  if (said === "Failed to process error response") return `${isPassing(status) ? "" : `HTTP ${status}, and `}what was to be said of it broke off`
  return body === "" && number(error, "statusCode") !== undefined ? `${said} (${isPassing(status) ? "" : `HTTP ${status}, and `}no word of why)` : said
}

/** An error as the provider sent it, where the SDK did not know it for one. */
const sentIn = (error: unknown): unknown => {
  const sent = Predicate.hasProperty(error, "value") && Predicate.hasProperty(error.value, "error") ? error.value.error : error
  return typeof sent === "string" ? { message: sent } : sent
}

const names = (error: unknown): ReadonlyArray<string> => [text(error, "code"), text(error, "type")].flatMap((name) => name ?? [])

/** A cut or garbled answer: retryable, since the next one may be whole. */
export const cutShort = (description: string): AiError.AiErrorReason => new AiError.InvalidOutputError({ description })

const isOwn = (error: unknown): error is AiError.AiError => AiError.isAiError(error)

const reasonOf = (thrown: unknown, request: FailedRequest): AiError.AiErrorReason => {
  const error = sentIn(thrown)
  const code = number(error, "code")
  const status = number(error, "statusCode") ?? (code !== undefined && code >= 400 && code < 600 ? code : undefined) ?? names(error).map((name) => STATUS[name]).find((known) => known !== undefined)
  const chain = causes(error)
  if (status !== undefined && (status < 200 || status >= 300)) {
    // The provider's own words are searched too: the SDK's message does not always hold the code.
    const body = text(error, "responseBody") ?? ""
    const description = describeStatus(error, status, request.url)
    const searched = OVERFLOW.test(body) && !OVERFLOW.test(description) || QUOTA.test(body) && !QUOTA.test(description)
      ? `${description} ${body}`
      : description
    return reasonFromStatus({ status, description: searched, headers: headersOf(error), now: request.now })
  }
  if (status !== undefined) return cutShort(`the answer broke off: ${describe(chain.at(-1), "connection lost")}`)
  const garbled = chain.find((at) => GARBLED.has(text(at, "name") ?? ""))
  if (garbled !== undefined) return cutShort(describe(garbled, "the answer could not be read").slice(0, LIMIT).toWellFormed())
  // Only requests that never got an answer are left: the SDK marks them retryable, or `fetch` threw its TypeError.
  const network = chain.some((at) => Predicate.hasProperty(at, "isRetryable") && at.isRetryable === true) ||
    chain.some((at) => at instanceof TypeError && /fetch failed|terminated/i.test(at.message))
  if (network) {
    return new AiError.NetworkError({
      reason: "TransportError",
      method: "POST",
      url: request.url,
      description: describe(chain.at(-1), "no connection").slice(0, LIMIT).toWellFormed()
    })
  }
  if (request.answered === true || Predicate.isObject(error) && !(error instanceof Error)) return cutShort(describe(error, error instanceof Error ? "the answer could not be read" : JSON.stringify(error)).slice(0, LIMIT).toWellFormed())
  return new AiError.UnknownError({ description: describe(error, String(error)).slice(0, LIMIT).toWellFormed() })
}

/** The `AiError` of anything thrown by, or streamed as an error from, an AI SDK provider. An `AiError` of ours inside comes out as it is. */
export const toAiError = (error: unknown, request: FailedRequest): AiError.AiError =>
  causes(error).find(isOwn) ?? AiError.make({ module: request.provider, method: "streamText", reason: reasonOf(error, request) })

/** An answer that is no stream of events: the error it holds, or what it is and where it came from. */
export const foreignAnswer = (answer: string, contentType: string, request: FailedRequest): AiError.AiError => {
  const error = errorIn(answer)
  if (error !== undefined) return toAiError(error, { ...request, answered: true })
  const kind = contentType === "" ? "something of no content type" : contentType
  // Not to be tried again: the same would come from there.
  const description = `${request.url} answered with ${kind} where a stream of events was expected; is the provider's endpoint right? It begins: ${beginning(answer)}`
  return AiError.make({ module: request.provider, method: "streamText", reason: new AiError.UnknownError({ description: description.slice(0, LIMIT) }) })
}
