/** What is wrong with a call's arguments, in sentences that say what may stand there: the model tries again with them. Pure. */
import type { JsonObject } from "@nimlet/protocol"
import type { Errors } from "./JsonSchema.ts"

type Fault = ReturnType<typeof Errors>[1][number]

/** So many values are named. */
const mostValues = 40

interface Taken {
  readonly values: ReadonlyArray<string>
  readonly types: ReadonlyArray<string>
}

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value)
const listOf = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : value === undefined ? [] : [value]
const json = (value: unknown): string => JSON.stringify(value) ?? String(value)

/** The values and types a schema takes, as far as it names them. */
const takenBy = (schema: unknown): Taken => {
  if (!isObject(schema)) return { values: [], types: [] }
  const values = "const" in schema ? [json(schema["const"])] : listOf(schema["enum"]).map(json)
  if (values.length > 0) return { values, types: [] }
  const inner = [...listOf(schema["anyOf"]), ...listOf(schema["oneOf"])].map(takenBy)
  return {
    values: inner.flatMap((one) => one.values),
    types: inner.length > 0 ? inner.flatMap((one) => one.types) : listOf(schema["type"]).map(String)
  }
}

const wordsOf = ({ types, values }: Taken): string => {
  const [named, kinds] = [[...new Set(values)], [...new Set(types)]]
  const shown = named.slice(0, mostValues).join(", ") + (named.length > mostValues ? `, ... (${named.length} in all)` : "")
  return [
    ...(named.length === 0 ? [] : [named.length === 1 ? shown : `one of ${shown}`]),
    ...(kinds.length === 0 ? [] : [kinds.join(" or ")])
  ].join(" or ")
}

/** The part of a schema that a pointer leads to. */
const partAt = (schema: JsonObject, pointer: string): unknown =>
  pointer.split("/").slice(1).reduce<unknown>((at, key) => {
    const name = key.replaceAll("~1", "/").replaceAll("~0", "~")
    return isObject(at) ? at[name] : Array.isArray(at) ? at[Number(name)] : undefined
  }, schema)

const isChoice = ({ keyword }: Fault): boolean => keyword === "anyOf" || keyword === "oneOf"

/** Where several alternatives stand, one of which a fault is of. */
const choiceOf = ({ schemaPath }: Fault): string | undefined => /^(.*)\/(?:anyOf|oneOf)\/\d+$/.exec(schemaPath)?.[1]

const sentenceOf = (fault: Fault, schema: JsonObject): string => {
  const { instancePath, keyword, message, params, schemaPath } = fault
  const where = instancePath === "" ? "arguments" : instancePath.slice(1)
  if (keyword === "additionalProperties") return `${where}: unknown: ${params.additionalProperties.join(", ")}`
  if (keyword !== "const" && keyword !== "enum" && keyword !== "type") return `${where}: ${message}`
  const said = wordsOf(takenBy(partAt(schema, choiceOf(fault) ?? schemaPath)))
  const own = keyword === "const" ? [params.allowedValue] : keyword === "enum" ? params.allowedValues : []
  const words = said === "" ? wordsOf({ values: own.map(json), types: [] }) : said
  return `${where}: ${words === "" || (keyword === "type" && choiceOf(fault) === undefined) ? message : `must be ${words}`}`
}

/** A sentence a fault; those of one choice are one. */
export const faultSentences = (faults: ReadonlyArray<Fault>, schema: JsonObject): ReadonlyArray<string> => [
  ...new Set(faults
    // What `additionalProperties: false` refuses is told twice: by name, and as a value that fits no schema.
    .filter((fault) => fault.keyword !== "boolean" && !(isChoice(fault) && faults.some(({ schemaPath }) => schemaPath.startsWith(`${fault.schemaPath}/`))))
    .map((fault) => sentenceOf(fault, schema)))
].slice(0, 8)
