/** What is wrong with a JSON Schema as such: what no provider or validator can make sense of. Keys there are none of pass. Pure. */
import { Result } from "effect"
import { isJsonObject } from "../Json.ts"

/** A fault: where it is, as a path of keys, and what should be there. */
export interface SchemaFault {
  readonly at: string
  readonly must: string
}

const types = ["object", "array", "string", "number", "integer", "boolean", "null"]

const isType = (value: unknown): boolean => typeof value === "string" && types.includes(value)
const isTypes = (value: unknown): boolean => isType(value) || (Array.isArray(value) && value.length > 0 && value.every(isType))
const isStrings = (value: unknown): boolean => Array.isArray(value) && value.every((each) => typeof each === "string")
const isSchema = (value: unknown): boolean => isJsonObject(value) || typeof value === "boolean"
const isPattern = (value: unknown): boolean =>
  typeof value === "string" && (Result.isSuccess(Result.try(() => new RegExp(value, "u"))) || Result.isSuccess(Result.try(() => new RegExp(value))))
const isSize = (value: unknown): boolean => typeof value === "number" && value >= 0

interface Keyword {
  readonly holds: (value: unknown) => boolean
  readonly must: string
}
const among = (keys: ReadonlyArray<string>, keyword: Keyword) => keys.map((key) => [key, keyword] as const)

/** Keywords with schemas by name, in a list, and those that are one. */
const named = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]
const listed = ["allOf", "anyOf", "oneOf", "prefixItems"]
const single = ["additionalProperties", "items", "contains", "not", "if", "then", "else", "propertyNames", "unevaluatedItems", "unevaluatedProperties", "additionalItems"]

const keywords = new Map<string, Keyword>([
  ["type", { holds: isTypes, must: `be one of ${types.join(", ")}, or a list of these` }],
  ["required", { holds: isStrings, must: "be a list of names" }],
  ["enum", { holds: Array.isArray, must: "be a list" }],
  ["pattern", { holds: isPattern, must: "be a regular expression" }],
  ["$ref", { holds: (value) => typeof value === "string", must: "be a text" }],
  ...among(named, { holds: isJsonObject, must: "be an object of schemas by name" }),
  ...among(listed, { holds: (value) => Array.isArray(value) && value.length > 0, must: "be a list of schemas with at least one in it" }),
  ...among(single, { holds: (value) => isSchema(value) || Array.isArray(value), must: "be a schema" }),
  ...among(["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"], { holds: isSize, must: "be a number from 0" }),
  ...among(["minimum", "maximum", "multipleOf"], { holds: (value) => typeof value === "number", must: "be a number" })
])

/** What a `$ref` into this very schema points at. */
const targetOf = (root: unknown, ref: string): unknown => {
  const path = Result.getOrElse(Result.try(() => decodeURIComponent(ref)), () => ref)
  return path.slice(1).split("/").slice(1).reduce<unknown>((at, key) => {
    const name = key.replaceAll("~1", "/").replaceAll("~0", "~")
    if (Array.isArray(at)) return at[Number(name)]
    return isJsonObject(at) && Object.hasOwn(at, name) ? at[name] : undefined
  }, root)
}

/** The faults of a schema, outermost first. A `$ref` elsewhere, by an address or an anchor, is somebody's `$id`, `$anchor` or a fault. */
export const schemaFaults = (root: unknown): ReadonlyArray<SchemaFault> => {
  const faults: Array<SchemaFault> = []
  const names = new Set<string>()
  const refs: Array<{ readonly at: string; readonly ref: string }> = []

  const visit = (schema: unknown, at: string): void => {
    if (typeof schema === "boolean") return
    if (!isJsonObject(schema)) return void faults.push({ at, must: "be a schema" })
    for (const [key, value] of Object.entries(schema)) {
      const place = `${at}.${key}`
      if (key === "$id" || key === "$anchor" || key === "$dynamicAnchor") names.add(key === "$id" ? String(value) : `#${String(value)}`)
      const keyword = keywords.get(key)
      if (keyword === undefined) continue
      if (!keyword.holds(value)) {
        faults.push({ at: place, must: keyword.must })
        continue
      }
      if (key === "$ref" && typeof value === "string") refs.push({ at: place, ref: value })
      if (named.includes(key) && isJsonObject(value)) for (const [name, each] of Object.entries(value)) visit(each, `${place}.${name}`)
      if (Array.isArray(value) && (listed.includes(key) || single.includes(key))) value.forEach((each, index) => visit(each, `${place}[${index}]`))
      else if (single.includes(key)) visit(value, place)
    }
  }
  visit(root, "input_schema")
  for (const { at, ref } of refs) {
    const resolved = names.has(ref) || ref === "#" || (ref.startsWith("#/") ? isSchema(targetOf(root, ref)) : names.has(ref.split("#")[0] ?? ""))
    if (!resolved) faults.push({ at, must: `point at a schema, and there is no ${ref}` })
  }
  return faults
}
