import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { decodeSignature, encodeSignature } from "../src/Signature.ts"

describe("signatures", () => {
  const Options = Schema.Record(Schema.Literals(["anthropic", "openai"]), Schema.Record(Schema.Literals(["signature", "itemId"]), Schema.String))
  it.effect.prop("what a provider attached comes back unchanged from a session", [Options], ([options]) =>
    Effect.sync(() => assert.deepStrictEqual(decodeSignature(encodeSignature(options)), { ...options })))

  it("Anthropic's stands there as it is", () => {
    assert.strictEqual(encodeSignature({ anthropic: { signature: "Ev0=" } }), "Ev0=")
    assert.strictEqual(encodeSignature(undefined), "")
  })
})
