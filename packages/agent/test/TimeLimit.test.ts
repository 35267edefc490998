import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { withinMillis } from "../src/TimeLimit.ts"

const fails = (work: () => unknown) => Result.getOrThrow(Result.flip(withinMillis(50, work)))
const deep = (): number => 1 + deep()

describe("withinMillis", () => {
  it("ends what never ends, in a loop or in a pattern, and tells it from what cannot go on", () => {
    for (let at = 0; at < 3; at++) {
      assert.strictEqual(fails(() => {
        for (;;);
      }), "late")
      assert.strictEqual(fails(() => /^(a+)+$/.test(`${"a".repeat(60)}!`)), "late")
      assert.strictEqual(fails(deep), "broken")
      assert.deepStrictEqual(withinMillis(50, () => ({ done: true })), Result.succeed({ done: true }))
    }
  })

  it("waits longer where the machine gives no time", () => {
    let tries = 0
    const asleep = () => {
      tries += 1
      if (tries < 3) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
      return "done"
    }
    assert.deepStrictEqual(withinMillis(50, asleep), Result.succeed("done"))
    assert.strictEqual(tries, 3)
  })
})
