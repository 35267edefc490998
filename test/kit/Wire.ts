/** One provider's wire format as the stub speaks it, and the refusals they share. */
import type { StubUsage } from "./Scenario.ts"

/** A refused request: HTTP status and the sentence that goes into the provider's error body. */
export class Refusal extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** An answer ready to be put on the wire. `args` of a tool is the text of its JSON. */
export interface Answer {
  /** Makes the ids of this answer unlike those of any other. */
  readonly serial: string
  readonly thinking: string
  readonly text: ReadonlyArray<string>
  readonly tools: ReadonlyArray<{ readonly id: string; readonly name: string; readonly args: string }>
  readonly usage: Required<StubUsage>
  readonly finish: "stop" | "length" | "filter"
}

/** One server-sent event, with the text it carries for the person who waits. */
export interface Frame {
  readonly data: string
  readonly text?: string
}

/** Headers as Node gives them: lower-case names. */
export type Headers = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

export type Json = Readonly<Record<string, unknown>>

/** A provider's endpoint: what it accepts and how it answers. */
export interface Wire {
  readonly api: "anthropic" | "openai-chat" | "openai-responses" | "google" | "mistral"
  /** Its path, without what stands behind a question mark. */
  readonly path: string | RegExp
  /** Whether an answer is to be streamed, where the body does not say so by `stream`. */
  readonly streams?: (path: string) => boolean
  /** Prefix of the tool ids this provider makes. */
  readonly toolPrefix: string
  /** Throws a `Refusal` for the first thing wrong with a request. */
  readonly check: (body: Json, headers: Headers) => void
  readonly frames: (answer: Answer, body: Json) => Iterable<Frame>
  readonly whole: (answer: Answer, body: Json) => Json
  /** The body of an HTTP error. */
  readonly failure: (status: number, message: string) => Json
  /** An error inside a stream. */
  readonly failureFrame: (message: string) => Frame
}

/** Ends the check of a request; 400 unless told otherwise. */
export function refuse(message: string, status = 400): never {
  throw new Refusal(status, message)
}

/** An event as it is written: with an `event:` line where the provider names its events. */
export const frame = (data: unknown, event?: string, text?: string): Frame => {
  const lines = `${event === undefined ? "" : `event: ${event}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`
  return text === undefined ? { data: lines } : { data: lines, text }
}

/** The value as an object, or a refusal. */
export const objectAt = (value: unknown, at: string): Json =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value as Json : refuse(`${at}: an object is expected`)

/** The value as a list that is not empty, or a refusal. */
export const listAt = (value: unknown, at: string): ReadonlyArray<unknown> =>
  Array.isArray(value) && value.length > 0 ? value : refuse(`${at}: a list with at least one element is expected`)

/** The value as a string that is not empty, or a refusal. */
export const stringAt = (value: unknown, at: string): string =>
  typeof value === "string" && value !== "" ? value : refuse(`${at}: a string that is not empty is expected`)

/** Text of a message: it must say something. */
export const textAt = (value: unknown, at: string): string =>
  stringAt(value, at).trim() !== "" ? value as string : refuse(`${at}: text must hold more than blanks`)

/** A number within limits, if there is one at all. */
export const numberAt = (value: unknown, at: string, low: number, high = Infinity): void => {
  if (value === undefined || value === null) return
  if (typeof value !== "number" || !(value >= low && value <= high)) refuse(`${at}: a number from ${low} to ${high} is expected`)
}

/** The name of a tool: at most `length` letters, digits, `_` and `-`. */
export const toolNameAt = (value: unknown, at: string, length: number): string =>
  typeof value === "string" && value.length <= length && /^[a-zA-Z0-9_-]+$/.test(value)
    ? value
    : refuse(`${at}: a tool's name is 1 to ${length} letters, digits, _ or -`)

/** Base64 as it comes out of an encoder. */
export const base64At = (value: unknown, at: string): void => {
  if (!/^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$|^(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)$/.test(stringAt(value, at))) {
    refuse(`${at}: this is no base64`)
  }
}

/** Refuses the second of two equal names. */
export const onceOnly = (what: string) => {
  const seen = new Set<string>()
  return (name: string, at: string): string => {
    if (seen.has(name)) refuse(`${at}: ${what} must be unique, ${name} was there before`)
    seen.add(name)
    return name
  }
}

/** The token of an `authorization: Bearer` header. */
export const bearer = (headers: Headers): string | undefined => {
  const value = headers["authorization"]
  return typeof value === "string" ? /^Bearer (\S+)$/.exec(value)?.[1] : undefined
}
