import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { type Line, LineDecoder } from "../src/Transport/Lines.ts"

const bytes = (text: string) => new TextEncoder().encode(text)
const texts = (lines: ReadonlyArray<Line>) => lines.map((line) => Result.isSuccess(line) ? line.success : line.failure._tag)
const decode = (chunks: ReadonlyArray<Uint8Array>, limit?: number) => {
  const decoder = new LineDecoder(limit)
  return texts([...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()])
}

describe("LineDecoder", () => {
  it("splits on LF only, strips one CR, ignores blank lines and keeps a last line without newline", () => {
    assert.deepStrictEqual(decode([bytes("a\r\n\n \r\nb\u2028c\rd\n\r\r\ne")]), ["a", "b\u2028c\rd", "e"])
  })

  it("strips a leading byte order mark", () => {
    assert.deepStrictEqual(decode([Uint8Array.of(0xef, 0xbb, 0xbf), bytes("{}\n")]), ["{}"])
  })

  it("drops a line over the limit, marks its place, and goes on", () => {
    assert.deepStrictEqual(decode([bytes("ok\n1234"), bytes("56789"), bytes("0\nafter\n")], 8), ["ok", "LineTooLong", "after"])
  })

  it("takes a line of exactly the limit", () => {
    assert.deepStrictEqual(decode([bytes("12345678\n")], 8), ["12345678"])
  })

  it.effect.prop("gives the same lines however the bytes are cut", [
    Schema.Array(Schema.String),
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 7 }))
  ], ([lines, size]) =>
    Effect.sync(() => {
      const whole = bytes(lines.map((line) => `${line}\n`).join(""))
      const cut = Array.from({ length: Math.ceil(whole.length / size) }, (_, n) => whole.subarray(n * size, (n + 1) * size))
      assert.deepStrictEqual(decode(cut), decode([whole]))
    }))
})
