import { assert, describe, it } from "@effect/vitest"
import { checkEntries } from "../src/SessionOrder.ts"

const user = { type: "user", role: "user", content: [{ type: "text", text: "hi" }], entry_id: "1" }
const calling = (...ids: ReadonlyArray<string>) =>
  ({ type: "assistant", role: "assistant", content: ids.map((id) => ({ type: "tool_use", id, name: "read", input: {} })) })
const result = (id: string) => ({ type: "tool_result", id, output: "", is_error: false })
const problems = (...entries: ReadonlyArray<object>) => checkEntries(JSON.parse(JSON.stringify(entries))).map(({ index, problem }) => `${index}: ${problem}`).join("; ")

describe("the entries of a session", () => {
  it("are right when each call has its result before anybody speaks again", () => {
    assert.strictEqual(problems(user, calling("a", "b"), result("b"), { type: "name", name: "n" }, result("a"), calling("c"), result("c"), { ...user, entry_id: "2" }), "")
    assert.strictEqual(problems(user, calling("a")), "")
    assert.strictEqual(problems(user, { ...calling("a"), cut: true }, { ...user, entry_id: "2" }), "")
    assert.strictEqual(problems({ ...calling(), content: [{ type: "tool_use", id: "h", name: "search", hosted: true }] }, { type: "user", content: [] }), "")
  })

  it("are wrong when a result is missing, there twice, late or of no call", () => {
    assert.include(problems(calling("a"), { type: "user", content: [] }), "1: user before the result of a")
    assert.include(problems(calling("a"), calling("b")), "1: assistant before the result of a")
    assert.include(problems(calling("a"), result("a"), result("a")), "2: a second or late result of a")
    assert.include(problems(result("x")), "0: a result of \"x\", which nobody called")
    assert.include(problems(calling("a"), result("a"), calling("a")), "not unique")
    assert.include(problems(calling("a"), { ...result("a"), is_error: "no" }), "without is_error")
  })

  it("are wrong when they refer to what is not there, or are of no known kind", () => {
    assert.include(problems(user, { type: "compaction", summary: "s", first_kept_index: 2, tokens_before: 1 }), "first_kept_index 2")
    assert.include(problems(user, { type: "label", target_id: "9" }), "label of \"9\"")
    assert.include(problems({ type: "rumour" }), "no kind of entry")
    assert.include(problems({ type: "user" }), "user without content")
    assert.include(problems(user, user), "1: entry_id 1 is there twice")
  })
})
