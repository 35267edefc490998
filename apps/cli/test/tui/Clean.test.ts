import { assert, describe, it } from "@effect/vitest"
import { clean, cleanLine } from "../../src/tui/Clean.ts"
import { hostile } from "./Rig.ts"

const harmful = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|[\ud800-\udbff](?![\udc00-\udfff])/

describe("text from outside", () => {
  it.each(hostile)("cannot act on the terminal: %s", (_, text) => {
    assert.notMatch(clean(text), harmful)
    assert.notMatch(cleanLine(text), /\n/)
    assert.notInclude(clean(text), "evil\u0007")
  })

  it("keeps what is meant to be read", () => {
    assert.strictEqual(clean("naïve 日本 👩‍💻\nzwei"), "naïve 日本 👩‍💻\nzwei")
    assert.strictEqual(clean("\u001b[31mred\u001b[0m and plain"), "red and plain")
    assert.strictEqual(clean("one\r\ntwo"), "one\ntwo")
  })

  it("shows of a line that was written over what stood there last", () => assert.strictEqual(clean("10%\r50%\r100%\ndone"), "100%\ndone"))
})
