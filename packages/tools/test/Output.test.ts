import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { boundHead, boundMiddle, headBytes, lineCount, modelLimits, tailBytes, Tape } from "../src/Output.ts"

const pieces = Schema.Array(Schema.Literals(["a", "ü", "你", "😀", "\n", "word "]))
const size = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 }))
const encode = (text: string) => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array) => new TextDecoder("utf-8", { fatal: true }).decode(bytes)
const bytesOf = (text: string) => encode(text).length

describe("Output", () => {
  it.effect.prop("a head is the longest beginning of whole characters within its bytes", [pieces, size], ([parts, max]) =>
    Effect.sync(() => {
      const text = parts.join("")
      const head = decode(headBytes(encode(text), max))
      assert.isTrue(text.startsWith(head))
      assert.isAtMost(bytesOf(head), max)
      const [next] = text.slice(head.length)
      if (next !== undefined) assert.isAbove(bytesOf(head + next), max)
    }))

  it.effect.prop("a tail is the longest end of whole characters within its bytes", [pieces, size], ([parts, max]) =>
    Effect.sync(() => {
      const text = parts.join("")
      const tail = decode(tailBytes(encode(text), max))
      assert.isTrue(text.endsWith(tail))
      assert.isAtMost(bytesOf(tail), max)
      const previous = Array.from(text.slice(0, text.length - tail.length)).at(-1)
      if (previous !== undefined) assert.isAbove(bytesOf(previous + tail), max)
    }))

  it.effect.prop("a bounded head is a beginning within both limits and counts what it dropped", [pieces, size, size], ([parts, maxBytes, maxLines]) =>
    Effect.sync(() => {
      const text = parts.join("")
      const { dropped, text: head } = boundHead(text, { maxBytes, maxLines })
      assert.isTrue(text.startsWith(head))
      assert.isAtMost(bytesOf(head), maxBytes)
      assert.isAtMost(lineCount(encode(head)), maxLines)
      assert.strictEqual(bytesOf(head) + dropped, bytesOf(text))
    }))

  it.effect.prop(
    "a text without its middle is within both limits and keeps beginning and end",
    [pieces, Schema.Int.check(Schema.isBetween({ minimum: 70, maximum: 160 })), Schema.Int.check(Schema.isBetween({ minimum: 6, maximum: 20 }))],
    ([parts, maxBytes, maxLines]) =>
      Effect.sync(() => {
        const text = parts.join("").repeat(8)
        const bounded = boundMiddle(text, { maxBytes, maxLines })
        assert.isAtMost(bytesOf(bounded.text), maxBytes)
        assert.isAtMost(lineCount(encode(bounded.text)), maxLines)
        if (bounded.dropped === 0) return assert.strictEqual(bounded.text, text)
        const [head = "", tail = ""] = bounded.text.split(/\[\.\.\. \d+ bytes dropped \.\.\.\]\n/)
        assert.isTrue(text.startsWith(head) || text.startsWith(head.slice(0, -1)))
        assert.isTrue(text.endsWith(tail))
        assert.include(bounded.text, `[... ${bounded.dropped} bytes dropped ...]`)
      })
  )

  it.effect.prop(
    "a tape gives what the whole text would give, however it was cut into chunks",
    [pieces, Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 }))), Schema.Int.check(Schema.isBetween({ minimum: 70, maximum: 160 }))],
    ([parts, sizes, maxBytes]) =>
      Effect.sync(() => {
        const text = parts.join("").repeat(8)
        const bytes = encode(text)
        const tape = new Tape(maxBytes)
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const end = at + (sizes[turn % Math.max(1, sizes.length)] ?? 250)
          tape.push(bytes.subarray(at, end))
          at = end
        }
        assert.deepStrictEqual(tape.bounded({ maxBytes, maxLines: 50 }), boundMiddle(text, { maxBytes, maxLines: 50 }))
        assert.strictEqual(tape.total, bytes.length)
        assert.strictEqual(tape.lines, lineCount(bytes))
      })
  )

  it("a tape of bytes that are no text stays within its limit as text", () => {
    const tape = new Tape(1000)
    for (let i = 0; i < 100; i++) tape.push(new Uint8Array(100).fill(0xff))
    assert.isAtMost(bytesOf(tape.bounded({ maxBytes: 1000, maxLines: 10 }).text), 1000)
  })

  it("the limits to the model are 50 KB and 2,000 lines", () => {
    assert.deepStrictEqual(modelLimits, { maxBytes: 51_200, maxLines: 2000 })
  })
})
