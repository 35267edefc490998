/** How deep the values of a line may lie in one another: what walks them by recursion has a stack that ends. Pure. */
import type { JsonObject } from "@nimlet/protocol"

/** Far beyond what anybody writes, and far from where a stack ends. */
export const maxNesting = 256

const nestsOver = (value: unknown, levels: number): boolean => {
  if (typeof value !== "object" || value === null) return false
  if (levels === 0) return true
  for (const each of Array.isArray(value) ? value : Object.values(value)) {
    if (typeof each === "object" && nestsOver(each, levels - 1)) return true
  }
  return false
}

/** The fields of a line that nest over `maxNesting` levels. `size` is the length of its text: a short one is not looked at. */
export const deepFieldsOf = (line: JsonObject, size: number): ReadonlyArray<string> =>
  size < 2 * maxNesting ? [] : Object.keys(line).filter((field) => nestsOver(line[field], maxNesting))

/** The line with those fields as good as absent, and yet no valid value of any kind. */
export const withoutFields = (line: JsonObject, fields: ReadonlyArray<string>): JsonObject =>
  ({ ...line, ...Object.fromEntries(fields.map((field) => [field, undefined])) })
