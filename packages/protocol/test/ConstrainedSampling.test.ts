import { describe, expect, it } from "vitest"
import { type Sampling, samplingKey } from "../src/index.ts"

describe("how a tool wants its arguments sampled", () => {
  // A-158 A-163
  it.each<readonly [Sampling | undefined, object]>([
    [undefined, {}],
    [{ state: "undefined" }, { constrainedSampling: undefined }],
    [{ state: "set", value: false }, { constrainedSampling: false }],
    [{ state: "set", value: { type: "json_schema", strict: "require" } }, { constrainedSampling: { type: "json_schema", strict: "require" } }],
    [{ state: "set", value: { type: "grammar", variants: { openai_lark: "a", openai_regex: "b" } } }, { constrainedSampling: { type: "grammar", variants: { openai_lark: "a", openai_regex: "b" } } }],
    [{ state: "set", value: true }, {}],
    [{ state: "set", value: { type: "json_schema", strict: "maybe" } }, {}],
    [{ state: "set", value: { type: "grammar", variants: { openai_lark: 1 } } }, {}]
  ])("%j is read", (sampling, key) => {
    const read = samplingKey(sampling)
    expect(read).toEqual(key)
    expect(Object.hasOwn(read, "constrainedSampling")).toBe(Object.hasOwn(key, "constrainedSampling"))
  })
})
