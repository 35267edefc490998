import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { makeVersionHash, versionOf } from "../src/index.ts"

const encode = (text: string) => new TextEncoder().encode(text)

describe("Version", () => {
  it("is FNV-1a with 64 bits", () => {
    assert.strictEqual(versionOf(encode("")), "cbf29ce484222325")
    assert.strictEqual(versionOf(encode("a")), "af63dc4c8601ec8c")
    assert.strictEqual(versionOf(encode("foobar")), "85944171f73967e8")
  })

  it.effect.prop("agrees with the definition in big integers, in one piece or two", [Schema.String, Schema.String], ([first, second]) =>
    Effect.sync(() => {
      let expected = 0xcbf29ce484222325n
      for (const byte of encode(first + second)) expected = BigInt.asUintN(64, (expected ^ BigInt(byte)) * 0x100000001b3n)
      const hash = makeVersionHash()
      for (const byte of encode(first + second)) hash.update(Uint8Array.of(byte))
      assert.strictEqual(hash.token(), expected.toString(16).padStart(16, "0"))
      assert.strictEqual(versionOf(encode(first + second)), hash.token())
    }))
})
