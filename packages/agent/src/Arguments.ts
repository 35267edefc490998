/**
 * A tool call's arguments: what the model sent, made an object, and held against the tool's JSON Schema. The validator
 * is loaded with the first call, since a turn without tools needs none.
 */
import { Effect, Result } from "effect"
import { beginningOf, type JsonObject } from "@nimlet/protocol"
import { faultSentences } from "./ArgumentFaults.ts"
import { withinMillis } from "./TimeLimit.ts"

/** What the model reads of arguments that are not JSON: why, as far as is known, and what it sent. */
export const unreadable = (sent: unknown, problem?: string): string =>
  `The arguments are not valid JSON${problem === undefined ? "" : ` (${problem})`}${typeof sent === "string" && sent !== "" ? `: ${beginningOf(sent, 400)}` : ""}`

/** The arguments of a call as an object, or why they are none. Nothing, null and the empty text mean `{}`. */
export const argumentsOf = (sent: unknown): Result.Result<JsonObject, string> => {
  if (sent === undefined || sent === null || sent === "") return Result.succeed({})
  if (typeof sent === "string") return Result.fail(unreadable(sent))
  if (typeof sent !== "object" || Array.isArray(sent)) return Result.fail("The arguments must be a JSON object.")
  return Result.succeed(sent as JsonObject)
}

/** Checks arguments against one schema and names what is wrong, a line a fault; none when they fit. */
export type Validator = (args: JsonObject) => ReadonlyArray<string>

/** A check that takes longer has run into a pattern that backtracks, or a schema that refers to itself without end. */
const longestCheck = 1_000

/** Whether a schema has anything of the kind; a check of others is over at once, and a limit would cost far more than it does. */
const mayBeLong = (schema: JsonObject): boolean => /"(?:pattern|patternProperties|\$ref|\$dynamicRef|\$recursiveRef|propertyNames)":/.test(JSON.stringify(schema))

/**
 * Makes the validator of a JSON Schema. A schema the library cannot follow lets everything pass: the tool itself
 * decides. One that cannot be followed in time lets nothing pass. Checked as it stands rather than compiled, since a
 * schema is rarely used often enough to pay for that.
 */
export const makeValidator = Effect.fnUntraced(function*(schema: JsonObject): Effect.fn.Return<Validator> {
  const { Check, Errors } = yield* loadValidation
  const check = (args: JsonObject) => {
    if (Check(schema, args)) return []
    const [, errors] = Errors(schema, args)
    return faultSentences(errors, schema)
  }
  const checked = (args: JsonObject) => Result.getOrElse(Result.try(() => check(args)), (): ReadonlyArray<string> => [])
  if (!mayBeLong(schema)) return checked
  return (args) =>
    Result.getOrElse(withinMillis(longestCheck, () => check(args)), (why) =>
      why === "late" ? ["the tool's schema takes too long to check these arguments against; other arguments may pass, but the schema is at fault"] : [])
})

/** Loads the validator's code; worth doing while a model is waited for. */
export const loadValidation = Effect.promise(() => import("./JsonSchema.ts"))
