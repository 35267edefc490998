import { assert, describe, it } from "@effect/vitest"
import { evident, evidentLine } from "../src/Evident.ts"
import { hostile } from "./tui/Rig.ts"

describe("a text to be judged", () => {
  it.each(hostile)("has nothing in it that acts on a screen: %s", (_, text) =>
    assert.notMatch(evident(text), /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|[\ud800-\udbff](?![\udc00-\udfff])/))

  it.each([
    ["a carriage return", "touch HIDDEN #\recho safe", "touch HIDDEN #␍echo safe"],
    ["a sequence of the terminal", "a\u001b]0;rm -r x\u0007b", "a␛]0;rm -r x␇b"],
    ["steps back", "rm\b\bls", "rm␈␈ls"],
    ["a zero-width space", "a\u200bb", "a⟨U+200B⟩b"],
    ["a joiner of nothing", "a\u2060\ufeff\u200db", "a⟨U+2060⟩⟨U+FEFF⟩⟨U+200D⟩b"],
    ["tag characters", "a\u{e0072}\u{e006d}", "a⟨U+E0072⟩⟨U+E006D⟩"],
    ["a selector after a letter", "a\ufe0f\u{e0100}", "a⟨U+FE0F⟩⟨U+E0100⟩"],
    ["a filler and a soft hyphen", "a\u3164\u00adb", "a⟨U+3164⟩⟨U+00AD⟩b"],
    ["a turn of the direction", "a\u202eb", "a⟨U+202E⟩b"],
    ["a separator of lines", "a\u2028b", "a⟨U+2028⟩b"],
    ["many blanks", `echo hi${" ".repeat(3_000)}; touch x`, "echo hi⋯3000 blanks⋯; touch x"],
    ["many blanks of another kind", `a${"\u3000\u00a0\t".repeat(20)}b`, "a⋯80 blanks⋯b"]
  ])("shows %s", (_, text, shown) => assert.strictEqual(evident(text), shown))

  it("is left alone where all of it shows", () => {
    const plain = "naïve 日本 👩‍💻 👨🏽‍🚀 ❤️‍🔥 ☀️ 1️⃣\nzwei\n    drei"
    assert.strictEqual(evident(plain), plain)
    assert.strictEqual(evident("one\r\ntwo\tthree"), "one\ntwo  three")
  })

  it("has no lines of its own when it is a name", () => assert.strictEqual(evidentLine("a\n  new  b\r\nc\r"), "a␊  new  b␍␊c␍"))
})
