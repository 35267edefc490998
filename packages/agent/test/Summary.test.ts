import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { SessionEntry } from "@nimlet/protocol"
import { summaryRequest } from "../src/Compaction/Summary.ts"

const user = (text: string): SessionEntry => ({ type: "user", role: "user", content: [{ type: "text", text }] })
const result = (output: string, is_error = false): SessionEntry => ({ type: "tool_result", id: "1", output, is_error })
const call: SessionEntry = {
  type: "assistant",
  role: "assistant",
  content: [
    { type: "thinking", thinking: "secret thoughts", signature: "s" },
    { type: "text", text: "I look." },
    { type: "tool_use", id: "1", name: "read", input: { path: "a.txt" } }
  ]
}
const request = (entries: ReadonlyArray<SessionEntry>, more: Partial<Parameters<typeof summaryRequest>[0]> = {}) =>
  summaryRequest({ entries, previous: "", instruction: "", maxBytes: 100_000, ...more })

describe("the summariser's request", () => {
  it("tells words, calls and results, labels images, and leaves thinking and bookkeeping out", () => {
    const image = { type: "image" as const, mimeType: "image/png", data: "AAAABBBB" }
    const text = request([
      { ...user("look at this"), content: [{ type: "text", text: "look at this" }, image] } as SessionEntry,
      call,
      result("alpha", true),
      { type: "extension", extension: "notes", data: "kept" },
      { type: "name", name: "title" }
    ])
    for (const part of ["look at this", "[image image/png]", "I look.", `read {"path":"a.txt"}`, "result of read, failed", "alpha"]) assert.include(text, part)
    for (const part of ["secret thoughts", "AAAABBBB", "kept", "title", "previous-summary", "<instructions>"]) assert.notInclude(text, part)
  })

  it("cuts long results, and carries the earlier summary and the instruction", () => {
    const text = request([call, result(`begin${"é".repeat(10_000)}end`)], { previous: "what was before", instruction: "mind the tests" })
    assert.isBelow(Buffer.byteLength(text), 9_000)
    for (const part of ["begin", "end", "bytes dropped", "<previous-summary>\nwhat was before\n", "<instructions>\nmind the tests\n"]) assert.include(text, part)
    assert.notInclude(text, "\ufffd")
  })

  it("shortens the longest first, and leaves out the oldest where that is not enough", () => {
    const texts = request([user("short one"), user("x".repeat(50_000)), user("y".repeat(50_000))], { maxBytes: 10_000 })
    assert.include(texts, "short one")
    assert.isAtLeast(texts.match(/y/g)!.length, 3_000)
    const many = request(Array.from({ length: 100 }, (_, k) => user(`number ${k} ${"z".repeat(400)}`)), { maxBytes: 4_000 })
    assert.include(many, "number 99 ")
    assert.notInclude(many, "number 0 ")
    assert.include(many, "earlier entries are left out")
  })

  it.effect.prop("fits the room there is", [
    Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20_000 }))),
    Schema.Int.check(Schema.isBetween({ minimum: 2_000, maximum: 50_000 }))
  ], ([sizes, maxBytes]) =>
    Effect.sync(() => {
      const text = request(sizes.map((size) => user("w".repeat(size))), { previous: "p".repeat(sizes[0] ?? 0), instruction: "i".repeat(sizes[1] ?? 0), maxBytes })
      assert.isAtMost(Buffer.byteLength(text), maxBytes)
    }))
})
