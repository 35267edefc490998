import { assert, describe, it } from "@effect/vitest"
import { clampThinking, type ThinkingLevel, thinkingLevelOf, thinkingLevels } from "../src/Thinking.ts"

describe("a thinking level", () => {
  it("is known by its name in any case, and none is off", () => {
    assert.deepStrictEqual(["High", " none ", "OFF", "xhigh", "much", ""].map(thinkingLevelOf), ["high", "off", "off", "xhigh", undefined, undefined])
  })

  it.each<readonly [ThinkingLevel, ReadonlyArray<ThinkingLevel>, ThinkingLevel]>([
    ["high", ["low", "high"], "high"],
    ["xhigh", ["off", "low", "medium", "high"], "high"],
    ["minimal", ["off", "low"], "off"],
    ["off", ["low", "medium"], "low"],
    ["minimal", ["medium", "high"], "medium"],
    ["max", ["off"], "off"],
    ["max", [], "off"]
  ])("%s of a model with %j is %s", (wanted, levels, expected) => {
    assert.strictEqual(clampThinking(wanted, levels), expected)
  })

  it("that a model has is left alone, whatever else it has", () => {
    for (const level of thinkingLevels) assert.strictEqual(clampThinking(level, thinkingLevels), level)
  })
})
