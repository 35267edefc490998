import { assert, describe, it } from "@effect/vitest"
import type { SessionEntry } from "@nimlet/protocol"
import { PiEntries } from "../src/index.ts"

const user: SessionEntry = { type: "user", role: "user", content: [{ type: "text", text: "do it" }], entry_id: "e1", at: "2026-01-01T00:00:00.000Z" }
const assistant: SessionEntry = {
  type: "assistant",
  role: "assistant",
  content: [{ type: "text", text: "yes" }, { type: "tool_use", id: "c1", name: "my_tool", input: { a: 1 } }],
  provider: "p",
  model: "m",
  entry_id: "e2"
}
const result: SessionEntry = { type: "tool_result", id: "c1", output: "out", is_error: false, details: { items: ["x"] }, entry_id: "e3" }

describe("a session as extensions read it", () => {
  // A-054 A-064 A-065 A-066 A-067
  it("has messages in their roles, and a tool's result with its name and details", () => {
    const [first, second, third] = new PiEntries().of([user, assistant, result])
    assert.deepStrictEqual(first, {
      id: "e1",
      parentId: null,
      timestamp: "2026-01-01T00:00:00.000Z",
      type: "message",
      message: { role: "user", content: [{ type: "text", text: "do it" }], timestamp: 1767225600000 }
    })
    assert.strictEqual(second?.["parentId"], "e1")
    assert.deepNestedInclude(second, { "message.role": "assistant", "message.stopReason": "toolUse" })
    assert.deepNestedInclude(third, { "message.role": "toolResult", "message.toolName": "my_tool", "message.isError": false })
    assert.deepNestedInclude(third, { "message.details": { items: ["x"] } })
  })

  it("keeps what it has and adds what comes; another history is told from a longer one", () => {
    const entries = new PiEntries()
    const one = entries.of([user])
    assert.strictEqual(entries.of([user]), one)
    const two = entries.of([user, assistant])
    assert.strictEqual(two[0], one[0])
    assert.lengthOf(entries.of([assistant]), 1)
  })

  it("names what other kinds of entry are", () => {
    const kinds: ReadonlyArray<SessionEntry> = [
      user,
      { type: "compaction", summary: "s", first_kept_index: 0, tokens_before: 9 },
      { type: "extension", extension: "x", data: 1, custom_type: "state" },
      { type: "name", name: "title" },
      { type: "selection", provider: "p", model: "m" }
    ]
    const shapes = new PiEntries().of(kinds).map(({ id: _id, parentId: _parent, timestamp: _timestamp, ...shape }) => shape)
    assert.deepStrictEqual(shapes.slice(1), [
      { type: "compaction", summary: "s", firstKeptEntryId: "e1", tokensBefore: 9, details: undefined },
      { type: "custom", customType: "state", data: 1 },
      { type: "session_info", name: "title" },
      { type: "model_change", provider: "p", modelId: "m" }
    ])
  })
})
