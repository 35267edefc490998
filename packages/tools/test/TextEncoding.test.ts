import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { decodeFile, encodeFile, lacks, makeTranscoder, makeUtf8Check, mayBeLatin, signatureOf } from "../src/TextEncoding.ts"

const someBytes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })))
const marks = { none: [], utf8: [0xef, 0xbb, 0xbf], little: [0xff, 0xfe], big: [0xfe, 0xff] }
const mark = Schema.Literals(["none", "utf8", "little", "big"])
const pieces = Schema.Array(Schema.Literals(["a", "\n", "é", "你", "😀", "\ufeff"]))

describe("TextEncoding", () => {
  it.effect.prop("whatever a file's bytes are, they are told to be no text or come back unchanged", [mark, someBytes], ([name, rest]) =>
    Effect.sync(() => {
      const bytes = Uint8Array.from([...marks[name], ...rest])
      const file = decodeFile(bytes)
      if (file !== undefined) assert.deepStrictEqual(Uint8Array.from(encodeFile(file.text, file)), bytes)
    }))

  it.effect.prop("text in any encoding, cut into chunks anywhere, becomes the same UTF-8", [
    pieces, Schema.Literals(["UTF-8", "UTF-16LE", "UTF-16BE", "Latin-1"]), Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 }))
  ], ([parts, encoding, size]) =>
    Effect.sync(() => {
      const text = encoding === "Latin-1" ? parts.join("").replaceAll(/[^a-zé]/gu, "ü") : parts.join("")
      const bytes = encodeFile(text, { text, encoding, mark: new Uint8Array(0) })
      const transcode = makeTranscoder(encoding)
      const out: Array<Uint8Array> = []
      for (let at = 0; at < bytes.length; at += size) out.push(transcode(bytes.subarray(at, at + size)))
      assert.strictEqual(Buffer.concat(out).toString("utf8"), text)
    }))

  it("the check for UTF-8 sees over chunk borders, and an open character at the end", () => {
    const check = makeUtf8Check()
    check.push(Uint8Array.of(0xe4, 0xbd))
    assert.isTrue(check.holds(false))
    check.push(Uint8Array.of(0xa0, 0x61))
    assert.isTrue(check.holds(false))
    check.push(Uint8Array.of(0xe4))
    assert.isTrue(check.holds(false))
    assert.isFalse(check.holds(true))
    const broken = makeUtf8Check()
    broken.push(Uint8Array.of(0x61, 0xe9, 0x61))
    assert.isFalse(broken.holds(false))
  })

  it("zero bytes and control characters make a binary file, UTF-16 does not", () => {
    assert.isUndefined(signatureOf(Uint8Array.of(0x61, 0)))
    assert.isUndefined(signatureOf(Uint8Array.of(0xff, 0xfe, 0, 0, 0x61, 0, 0, 0)))
    assert.deepStrictEqual(signatureOf(Uint8Array.of(0xff, 0xfe, 0x61, 0)), { encoding: "UTF-16LE", mark: 2 })
    assert.isTrue(mayBeLatin(Uint8Array.of(0xe9, 9, 10, 13, 27)))
    assert.isFalse(mayBeLatin(Uint8Array.of(0xe9, 1)))
  })

  it("names a character that an encoding cannot hold, half a pair in none", () => {
    assert.strictEqual(lacks("é你", "Latin-1"), "你")
    assert.isUndefined(lacks("é", "Latin-1"))
    assert.isUndefined(lacks("你😀", "UTF-16LE"))
    for (const encoding of ["UTF-8", "UTF-16LE", "UTF-16BE"] as const) assert.strictEqual(lacks("a\ud83d", encoding), "\ud83d")
  })
})
