import { assert, describe, it } from "@effect/vitest"
import * as Response from "effect/ai/Response"
import { makeFold } from "../src/Turn.ts"

const text = (id: string, delta: string) => Response.makePart("text-delta", { id, delta })
const thought = (id: string, delta: string) => Response.makePart("reasoning-delta", { id, delta })

describe("makeFold", () => {
  it("tells neighbouring deltas of a chunk as one, and keeps text and thinking apart", () => {
    const { fold } = makeFold("m")
    assert.deepStrictEqual(fold([thought("0", "a"), thought("0", "b"), text("1", "c"), text("1", "d")]), [
      { kind: "thinking", index: 0, delta: "ab" },
      { kind: "text", index: 1, delta: "cd" }
    ])
  })

  it("gives the whole answer, in the order the model said it", () => {
    const { answer, fold } = makeFold("asked")
    fold([Response.makePart("reasoning-start", { id: "0" }), thought("0", "hm")])
    fold([
      Response.makePart("reasoning-end", { id: "0", metadata: { anthropic: { signature: "sig" } } }),
      Response.makePart("text-start", { id: "1" }),
      text("1", "he")
    ])
    fold([text("1", "llo"), Response.makePart("text-end", { id: "1" })])
    const { content, model } = answer()
    assert.deepStrictEqual(content, [
      { type: "thinking", thinking: "hm", signature: "sig", provider_data: { anthropic: { signature: "sig" } } },
      { type: "text", text: "hello" }
    ])
    assert.strictEqual(model, "asked")
  })

  it("tells a character whole whose halves come apart, and a half that nothing follows as U+FFFD", () => {
    const { answer, fold } = makeFold("m")
    const told = [
      [text("1", "a\ud83d"), thought("0", "\ud83d")],
      [text("1", "\ude00b\ud83d")],
      [text("1", "c\udc00\ud83d"), thought("0", "\ude00"), Response.makePart("text-end", { id: "1" })],
      [text("2", "d\ud83d"), Response.makePart("finish", { reason: "stop", usage: new Response.Usage({ inputTokens: {}, outputTokens: {} }), response: undefined })]
    ].flatMap((parts) => fold(parts as Parameters<typeof fold>[0]))
    const said = (kind: string) => told.filter((one) => one.kind === kind).flatMap((one) => "delta" in one ? [one.delta] : [])
    assert.deepStrictEqual(said("text"), ["a", "😀b", "\ufffdc\ufffd", "\ufffd", "d\ufffd"])
    assert.deepStrictEqual(said("thinking"), ["😀"])
    assert.deepStrictEqual(answer().content, [
      { type: "text", text: "a😀b\ufffdc\ufffd\ufffd" },
      { type: "thinking", thinking: "😀", signature: "" },
      { type: "text", text: "d\ufffd" }
    ])
  })

  it("leaves out a text that stayed empty", () => {
    const { answer, fold } = makeFold("m")
    fold([Response.makePart("text-start", { id: "1" }), Response.makePart("text-end", { id: "1" })])
    assert.deepStrictEqual(answer().content, [])
  })
})
