import { assert, describe, it } from "@effect/vitest"
import type { SessionEntry } from "@nimlet/protocol"
import { makeTranscript, transcript } from "../src/Transcript.ts"

const user = (text: string): SessionEntry => ({ type: "user", role: "user", content: [{ type: "text", text }] })
const calls = (...ids: Array<string>): SessionEntry => ({
  type: "assistant",
  role: "assistant",
  content: ids.map((id) => ({ type: "tool_use", id, name: "read", input: {} }))
})
const result = (id: string): SessionEntry => ({ type: "tool_result", id, output: `out ${id}`, is_error: false })

describe("transcript", () => {
  it("joins neighbouring results into one tool message, named as their calls were", () => {
    const messages = transcript([user("go"), calls("1", "2"), result("1"), result("2"), user("more")])
    assert.deepStrictEqual(messages.map((message) => message.role), ["user", "assistant", "tool", "user"])
    const tool = messages[2]
    assert.deepStrictEqual(
      tool?.role === "tool" ? tool.content.map((part) => part.type === "tool-result" ? [part.id, part.name, part.result] : []) : [],
      [["1", "read", "out 1"], ["2", "read", "out 2"]]
    )
  })

  it("tells results in the order of their calls, however they ended", () => {
    const [, , tool, ...rest] = transcript([user("go"), calls("1", "2", "3"), result("3"), { type: "extension", extension: "x", data: 1 }, result("1"), result("1"), result("2"), user("more")])
    assert.deepStrictEqual(tool?.role === "tool" ? tool.content.map((part) => part.type === "tool-result" ? part.id : "") : [], ["1", "2", "3"])
    assert.deepStrictEqual(rest.map(({ role }) => role), ["user"])
  })

  it.each([["text/html", "aGk="], ["banana", "aGk="], ["image/png", "not base64!"], ["image/png", ""]])("leaves out a saved image that each request would fail of: %s %j", (mimeType, data) => {
    const bad = { type: "image", mimeType, data } as const
    const good = { type: "image", mimeType: "image/gif", data: "aGk=" } as const
    const messages = transcript([
      { type: "user", role: "user", content: [{ type: "text", text: "look" }, bad, good] },
      { type: "custom_message", custom_type: "x", content: [bad], display: false },
      calls("1"),
      { type: "tool_result", id: "1", output: "out", is_error: false, images: [bad, good] }
    ])
    const sent = JSON.stringify(messages)
    assert.strictEqual(sent.split("[An image was left out: its ").length, 4)
    assert.strictEqual(sent.split('"mediaType":"image/gif"').length, 3)
    assert.strictEqual(sent.split("mediaType").length, 3)
  })

  it("sends whole characters, also where a session holds halves", () => {
    const half = "ok 🐎".slice(0, 4)
    const sent = JSON.stringify(transcript([
      user(half),
      { type: "custom_message", custom_type: "x", content: [{ type: "text", text: half }], display: false },
      { type: "assistant", role: "assistant", content: [{ type: "text", text: half }, { type: "tool_use", id: "1", name: "read", input: {} }] },
      { type: "tool_result", id: "1", output: half, is_error: false },
      user("🐎")
    ]))
    assert.notInclude(sent, "\\ud83d")
    assert.strictEqual(sent.split("ok \ufffd").length, 5)
    assert.include(sent, "🐎")
  })

  // E-265
  it("passes over what is not for the model", () => {
    const messages = transcript([
      { type: "name", name: "title" },
      { type: "extension", extension: "x", data: 1 },
      user("go"),
      { type: "label" }
    ])
    assert.deepStrictEqual(messages.map((message) => message.role), ["user"])
  })

  it("sends thinking back with its signature, also from a file that has nothing else of it", () => {
    const [, message] = transcript([user("go"), { type: "assistant", role: "assistant", content: [{ type: "thinking", thinking: "hm", signature: "sig" }] }])
    const part = message?.role === "assistant" ? message.content[0] : undefined
    assert.deepStrictEqual(part?.options, { anthropic: { signature: "sig" } })
  })

  it("starts with the latest summary, marked as nobody's own words, and what was kept behind it", () => {
    const messages = transcript([
      user("old"),
      user("kept before"),
      { type: "compaction", summary: "once", first_kept_index: 1, tokens_before: 9 },
      user("kept"),
      { type: "compaction", summary: "so far", first_kept_index: 3, tokens_before: 9 },
      user("new")
    ])
    assert.deepStrictEqual(messages.map((message) => message.role), ["user", "user", "user"])
    const [part] = messages[0]?.role === "user" ? messages[0].content : []
    assert.deepStrictEqual(part?.type === "text" ? [part.text, part.options] : [], ["<summary>\nso far\n</summary>", { nimlet: { typed: false } }])
    assert.include(JSON.stringify(messages[1]), "kept")
    assert.include(JSON.stringify(messages[2]), "new")
  })
})

describe("makeTranscript", () => {
  it("gives the same message for the same entry, and the whole group when results came to it since", () => {
    const told = makeTranscript()
    const entries = [user("go"), calls("1", "2"), result("1")]
    const before = told(entries)
    const after = told([...entries, result("2"), user("more")])
    assert.strictEqual(after[0], before[0])
    assert.strictEqual(after[1], before[1])
    assert.deepStrictEqual(after, transcript([...entries, result("2"), user("more")]))
  })

  it("does not take a shorter group with the same last result for the one it knows", () => {
    const told = makeTranscript()
    const last = result("2")
    told([user("go"), calls("1", "2"), result("1"), last])
    assert.deepStrictEqual(told([user("go"), calls("2"), last]), transcript([user("go"), calls("2"), last]))
  })
})
