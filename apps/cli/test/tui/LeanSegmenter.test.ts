import { assert, describe, it } from "@effect/vitest"
import { LeanSegmenter } from "../../src/tui/LeanSegmenter.ts"

const real = new Intl.Segmenter(undefined, { granularity: "grapheme" })
const lean = new LeanSegmenter(undefined, { granularity: "grapheme" })
const cut = (segmenter: Intl.Segmenter, text: string) => [...segmenter.segment(text)]

describe("LeanSegmenter", () => {
  it("cuts every character of the basic plane, beside letters and beside itself, where Intl.Segmenter does", () => {
    for (let code = 0; code <= 0xffff; code++) {
      const character = String.fromCharCode(code)
      const text = `a${character}${character}·${character}中${character}✓`
      const [ours, theirs] = [cut(lean, text), cut(real, text)]
      // Told apart without a message for each of them.
      if (ours.length !== theirs.length || ours.some(({ index, segment }, at) => segment !== theirs[at]?.segment || index !== theirs[at]?.index)) assert.deepStrictEqual(ours, theirs, `U+${code.toString(16)}`)
    }
  })

  it("cuts what combines as Intl.Segmenter does", () => {
    for (const text of ["", "e\u0301", "👨‍👩‍👧‍👦!", "🇩🇪🇫🇷", "↔\ufe0f", "한국어", "\r\n", "नमस्ते", "✓\u200d✓"]) assert.deepStrictEqual(cut(lean, text), cut(real, text))
  })

  it("names the character at a place, and none outside of the text", () => {
    for (const index of [0, 1, 2.7, 4, 5, -1]) assert.deepStrictEqual(lean.segment("a·b✓c").containing(index), real.segment("a·b✓c").containing(index))
  })

  it("leaves words to Intl.Segmenter", () => {
    const words = new LeanSegmenter("en", { granularity: "word" })
    assert.deepStrictEqual(cut(words, "two words"), cut(new Intl.Segmenter("en", { granularity: "word" }), "two words"))
    assert.strictEqual(words.resolvedOptions().granularity, "word")
  })
})
