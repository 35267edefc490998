import { assert, describe, it } from "@effect/vitest"
import { leanEmoji } from "../../src/tui/LeanEmoji.ts"

const real = /^\p{RGI_Emoji}$/v

describe("LeanEmoji", () => {
  it("takes every single character for what it is", () => {
    const wrong: Array<string> = []
    for (let code = 0; code <= 0x10ffff; code++) {
      const character = String.fromCodePoint(code)
      if (leanEmoji.test(character) !== real.test(character)) wrong.push(code.toString(16))
    }
    assert.deepStrictEqual(wrong, [])
  })

  it("takes several that are shown as one for one", () => {
    for (const text of ["", "👨‍👩‍👧‍👦", "🇩🇪", "🇩🇩", "↔\ufe0f", "✓\ufe0f", "1\ufe0f\u20e3", "👍🏽", "ab", "👍👍"]) assert.strictEqual(leanEmoji.test(text), real.test(text), text)
  })
})
