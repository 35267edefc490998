/** JSON text in and out. */
import { Result } from "effect"
import { type JsonObject, wholeCharacters } from "@nimlet/protocol"

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
