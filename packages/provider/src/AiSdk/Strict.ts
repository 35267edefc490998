/** Which JSON Schemas a provider can hold a model to while it writes. Pure. */

/** What a provider's strict tools may be. */
export interface Strictness {
  /** Keywords it refuses. */
  readonly refuses: ReadonlySet<string>
  /** Whether every property must be required. */
  readonly whole: boolean
  /** The most strict tools of a request, and the most optional properties of all of them. */
  readonly tools: number
  readonly optional: number
}

const common = [
  "$ref", "$defs", "definitions", "allOf", "oneOf", "not", "if", "then", "else", "patternProperties", "dependentSchemas", "dependentRequired",
  "dependencies", "unevaluatedProperties", "propertyNames", "contains", "prefixItems", "minProperties", "maxProperties", "uniqueItems"
]

/** OpenAI's: whole objects only. */
export const openaiStrictness: Strictness = { refuses: new Set(common), whole: true, tools: Infinity, optional: 0 }

/** Anthropic's: no limits on values, and only so much that is optional. */
export const anthropicStrictness: Strictness = {
  refuses: new Set([
    ...common, "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "minItems", "maxItems", "format"
  ]),
  whole: false,
  tools: 20,
  optional: 16
}

type Json = { readonly [key: string]: unknown }
const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** Why a schema cannot be strict, or how many of its properties are optional. */
export const strictFit = (schema: unknown, strictness: Strictness): { readonly problem: string } | { readonly optional: number } => {
  let optional = 0
  const look = (node: unknown, at: string): string | undefined => {
    if (!isObject(node)) return `${at} is no schema of a known type`
    const refused = Object.keys(node).find((key) => strictness.refuses.has(key))
    if (refused !== undefined) return `${at} has ${refused}`
    const { additionalProperties, anyOf, items, properties = {}, required = [], type } = node
    if (type === undefined && anyOf === undefined && node["enum"] === undefined) return `${at} has no type`
    if (Array.isArray(anyOf)) {
      const wrong = anyOf.map((inner, index) => look(inner, `${at}.anyOf[${index}]`)).find((problem) => problem !== undefined)
      if (wrong !== undefined) return wrong
    }
    if (items !== undefined) {
      const wrong = look(items, `${at}.items`)
      if (wrong !== undefined) return wrong
    }
    if (type !== "object") return undefined
    if (additionalProperties !== false) return `${at} allows other properties`
    if (!isObject(properties) || !Array.isArray(required)) return `${at} is no object's schema`
    for (const [name, inner] of Object.entries(properties)) {
      if (!required.includes(name)) {
        if (strictness.whole) return `${at}.${name} is optional`
        optional++
      }
      const wrong = look(inner, `${at}.${name}`)
      if (wrong !== undefined) return wrong
    }
    return undefined
  }
  const problem = look(schema, "it")
  return problem === undefined ? { optional } : { problem }
}
