import { assert, describe, it } from "@effect/vitest"
import { replay } from "../src/Replay.ts"

const header = { type: "session", version: 1, id: "1", workspace: "/w" }
const user = { type: "user", role: "user", content: [{ type: "text", text: "hi" }] }
const calling = { type: "assistant", role: "assistant", content: [{ type: "tool_use", id: "a", name: "read", input: {} }] }
const result = { type: "tool_result", id: "a", output: "", is_error: false, tool: "read" }
const told = (...lines: ReadonlyArray<object>) => replay(lines.map((line) => `${JSON.stringify(line)}\n`).join("")).findings.map(({ line, problem }) => `${line}: ${problem}`)

describe("a session that is replayed", () => {
  it("is right with its header and a result for each call", () => {
    assert.deepStrictEqual(told(header, user, calling, result), [])
    assert.deepStrictEqual(told(header), [])
  })

  it("is wrong when it ends within a call, as one does whose process was killed", () => {
    assert.deepStrictEqual(told(header, user, calling), ["3: the session ends before the result of a"])
  })

  it("is wrong without its header, with half of one, and with two", () => {
    assert.deepStrictEqual(told(user, calling, result), ["1: this is no header of a session: type session, and a workspace"])
    assert.deepStrictEqual(told({ type: "session" }, user), ["1: this is no header of a session: type session, and a workspace"])
    assert.deepStrictEqual(told(header, header, user), ["2: a second header"])
    assert.deepStrictEqual(told(user, header), ["1: this is no header of a session: type session, and a workspace", "2: a second header"])
  })
})
