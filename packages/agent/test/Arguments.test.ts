import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeValidator } from "../src/Arguments.ts"

describe("arguments that do not fit", () => {
  const cases: ReadonlyArray<readonly [what: string, property: object, sent: unknown, said: string]> = [
    ["an enum", { enum: ["x", "y"] }, "z", 'a: must be one of "x", "y"'],
    ["a constant", { const: 3 }, 4, "a: must be 3"],
    ["alternatives of constants", { anyOf: [{ const: "p" }, { const: "q" }] }, "r", 'a: must be one of "p", "q"'],
    ["more alternatives than the library tells of", { oneOf: Array.from({ length: 12 }, (_, i) => ({ const: i })) }, 99, "a: must be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11"],
    ["alternatives of types and values", { anyOf: [{ type: "string" }, { const: null }, { type: "number" }] }, true, "a: must be null or string or number"],
    ["alternatives deeper down", { anyOf: [{ type: "object", properties: { kind: { const: "b" } } }] }, { kind: "c" }, 'a/kind: must be "b"'],
    ["a type", { type: ["string", "null"] }, 4, "a: must be either string or null"],
    ["a least", { type: "integer", minimum: 1 }, 0, "a: must be >= 1"],
    ["a length", { type: "string", minLength: 3 }, "x", "a: must not have fewer than 3 characters"],
    ["a pattern", { type: "string", pattern: "^a+$" }, "b", 'a: must match pattern "^a+$"'],
    ["a factor", { multipleOf: 5 }, 3, "a: must be multiple of 5"]
  ]
  it.effect.each(cases)("are told what may stand there: %s", ([, property, sent, said]) =>
    Effect.gen(function*() {
      const validator = yield* makeValidator({ type: "object", properties: { a: property } })
      assert.deepStrictEqual(validator({ a: sent }), [said])
    }))

  it.effect("name the first forty of many values and how many there are", () =>
    Effect.gen(function*() {
      const validator = yield* makeValidator({ type: "object", properties: { a: { enum: Array.from({ length: 500 }, (_, i) => i) } } })
      const [said = ""] = validator({ a: "no" })
      assert.match(said, /38, 39, \.\.\. \(500 in all\)$/)
    }))
})
