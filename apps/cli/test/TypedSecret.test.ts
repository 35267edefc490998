import { assert, describe, it } from "@effect/vitest"
import { typed } from "../src/TypedSecret.ts"

const after = (...keys: ReadonlyArray<string>) => keys.reduce(typed, { text: "" })

describe("a text typed unseen", () => {
  it("grows key by key until Enter, and nothing after it counts", () => {
    assert.deepStrictEqual(after("s3", "crét"), { text: "s3crét" })
    assert.deepStrictEqual(after("ab\rcd"), { text: "ab", end: "entered" })
    assert.deepStrictEqual(after("\r"), { text: "", end: "entered" })
  })

  it("is taken back by Backspace, a character whole, and by Ctrl-U", () => {
    assert.deepStrictEqual(after("a😀\u007f", "b\b"), { text: "a" })
    assert.deepStrictEqual(after("\u007fx"), { text: "x" })
    assert.deepStrictEqual(after("abc\u0015d"), { text: "d" })
  })

  it("holds no arrows, function keys or other controls", () => {
    assert.deepStrictEqual(after("a\u001b[Ab\u001bOPc\u001b[15~\td"), { text: "abcd" })
  })

  it("is given up by Ctrl-C, and by Ctrl-D while empty", () => {
    assert.deepStrictEqual(after("abc\u0003"), { text: "", end: "interrupted" })
    assert.deepStrictEqual(after("\u0004"), { text: "", end: "closed" })
    assert.deepStrictEqual(after("abc\u0004"), { text: "abc", end: "entered" })
  })
})
