import { assert, describe, it } from "@effect/vitest"
import type { SessionEntry } from "@nimlet/protocol"
import { chatMessages, fromChatMessage } from "../src/ChatMessages.ts"

const user = (...texts: ReadonlyArray<string>): SessionEntry => ({ type: "user", role: "user", content: texts.map((text) => ({ type: "text", text })) })

describe("a conversation in chat shape", () => {
  it("has words, calls and results, and no bookkeeping", () => {
    assert.deepStrictEqual(
      chatMessages([
        user("the diff", "review it"),
        { type: "extension", extension: "x", data: 1 },
        {
          type: "assistant",
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm", signature: "" },
            { type: "text", text: "I look." },
            { type: "tool_use", id: "1", name: "read", input: { path: "a" } },
            { type: "tool_use", id: "2", name: "read", input: "{\"pa", parse_error: "cut" },
            { type: "tool_use", id: "3", name: "search", input: {}, hosted: true }
          ]
        },
        { type: "tool_result", id: "1", output: "text", is_error: false },
        { type: "name", name: "t" },
        { type: "assistant", role: "assistant", content: [{ type: "text", text: "Done." }] },
        { type: "assistant", role: "assistant", content: [] }
      ]),
      [
        { role: "user", content: "the diff\n\nreview it" },
        {
          role: "assistant",
          content: "I look.",
          tool_calls: [
            { id: "1", type: "function", function: { name: "read", arguments: "{\"path\":\"a\"}" } },
            { id: "2", type: "function", function: { name: "read", arguments: "{\"pa" } }
          ]
        },
        { role: "tool", tool_call_id: "1", content: "text" },
        { role: "assistant", content: "Done." }
      ]
    )
  })

  it("has parts where there are images, and the summary of a compaction first", () => {
    assert.deepStrictEqual(
      chatMessages([
        user("old"),
        { type: "user", role: "user", content: [{ type: "text", text: "see" }, { type: "image", mimeType: "image/png", data: "AA==" }] },
        { type: "compaction", summary: "What was.", first_kept_index: 1, tokens_before: 9 }
      ]),
      [
        { role: "user", content: "<summary>\nWhat was.\n</summary>" },
        { role: "user", content: [{ type: "text", text: "see" }, { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }] }
      ]
    )
  })

  it("takes messages of users and assistants back, and no others", () => {
    assert.strictEqual(fromChatMessage({ role: "user", content: "x" })?.role, "user")
    assert.strictEqual(fromChatMessage({ role: "assistant", content: [{ type: "text", text: "x" }] })?.role, "assistant")
    for (const message of [{ role: "system", content: "x" }, { role: "tool", content: "x" }, { content: "x" }, { role: "user" }, { role: "user", content: "" }, { role: "user", content: [1, null] }]) {
      assert.isUndefined(fromChatMessage(message))
    }
  })
})
