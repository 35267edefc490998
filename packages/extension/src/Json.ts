/** JSON text in and out. */
import { Result } from "effect"
import type { JsonObject } from "@nimlet/protocol"

/** An escape of JSON from its backslash on: a pair of surrogates, half of one, or any other. */
const escape = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(u[dD][89a-fA-F][\da-fA-F]{2})|[^])/g

/** The same JSON with U+FFFD for each half of a character, which a program that cuts texts writes and no provider and no file takes. */
const wholeCharacters = (text: string): string =>
  text.includes("\\ud") || text.includes("\\uD") ? text.replaceAll(escape, (whole, half: string | undefined) => half === undefined ? whole : "\\ufffd") : text

/** Parses JSON; fails with the parser's message. Texts in it are of whole characters. */
export const parseJson = (text: string): Result.Result<unknown, string> =>
  // Foreign edge: JSON.parse throws.
  Result.try({
    try: (): unknown => JSON.parse(wholeCharacters(text)),
    catch: (error) => error instanceof Error ? error.message : String(error)
  })

/** Whether a JSON value is an object. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Whether a text begins as the JSON of an object does: for most of what is none, a look at it is cheaper than the parser. */
export const mayBeObject = (text: string): boolean => text.startsWith("{") || text.trimStart().startsWith("{")
