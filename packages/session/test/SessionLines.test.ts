import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { encodeLine, parseSession } from "../src/SessionLines.ts"
import { summarise } from "../src/SessionSummary.ts"

const header = encodeLine({ type: "session", workspace: "/w" })
const user = (text: string) => encodeLine({ type: "user", role: "user", content: [{ type: "text", text }] })
const texts = (source: string) =>
  parseSession(source).entries.map((entry) => entry.type === "user" && "content" in entry ? JSON.stringify(entry.content) : entry.type)

describe("parseSession", () => {
  it("keeps the header apart from the entries", () => {
    const parsed = parseSession(header + user("a") + user("b"))
    assert.strictEqual(Option.getOrThrow(parsed.header).workspace, "/w")
    assert.strictEqual(parsed.entries.length, 2)
    assert.isFalse(parsed.torn)
  })

  it("loses only the damaged line, and tells its number", () => {
    const parsed = parseSession(`${header}${user("a")}{"type":"user"\n{"type":"user","role":"user"}\n42\n${user("b")}`)
    assert.strictEqual(parsed.entries.length, 2)
    assert.deepStrictEqual(parsed.damaged.map((damage) => damage.line), [3, 4, 5])
  })

  it("says that the last line is torn when it has no newline", () => {
    const parsed = parseSession(`${header}${user("a")}{"type":"us`)
    assert.isTrue(parsed.torn)
    assert.deepStrictEqual(parsed.damaged.map((damage) => damage.line), [3])
  })

  it("keeps an entry of a kind it does not know, with all its fields", () => {
    const [entry] = parseSession(`${header}{"type":"bookmark","target":"x","entry_id":"1"}\n`).entries
    assert.deepStrictEqual(entry as object, { type: "bookmark", target: "x", entry_id: "1" })
  })

  it("ends lines at LF alone", () => {
    assert.deepStrictEqual(texts(header + user("one\u2028two\r three")), [`[{"type":"text","text":"one\u2028two\\r three"}]`])
  })
})

describe("summarise", () => {
  it("cuts the first text between characters, also where the head of the file ends within it", () => {
    const head = header + user(`a${"😀".repeat(3000)}`)
    for (const part of [head, head.slice(0, 5000), head.slice(0, 5001)]) {
      const { firstText } = summarise("1", { head: part, tail: "" }, { bytes: 1, modified: 1 })
      assert.isTrue(firstText.isWellFormed() && firstText.startsWith("a😀") && firstText.length === 3999)
    }
  })
})
