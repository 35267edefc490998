import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { checkEntries } from "../src/SessionOrder.ts"
import type { RecordObject } from "../src/Violation.ts"

const user = { type: "user", role: "user", content: [{ type: "text", text: "hi" }], entry_id: "1" }
const calling = (...ids: ReadonlyArray<string>) =>
  ({ type: "assistant", role: "assistant", content: ids.map((id) => ({ type: "tool_use", id, name: "read", input: {} })) })
const result = (id: string) => ({ type: "tool_result", id, output: "", is_error: false })
const problems = (...entries: ReadonlyArray<object>) => checkEntries(JSON.parse(JSON.stringify(entries))).map(({ index, problem }) => `${index}: ${problem}`).join("; ")

describe("the entries of a session", () => {
  it("are right when each call has its result before anybody speaks again", () => {
    assert.strictEqual(problems(user, calling("a", "b"), result("b"), { type: "name", name: "n" }, result("a"), calling("c"), result("c"), { ...user, entry_id: "2" }), "")
    assert.strictEqual(problems(user, { ...calling("a"), cut: true }, { ...user, entry_id: "2" }), "")
    assert.strictEqual(problems(user, { ...calling(), content: [{ type: "tool_use", id: "h", name: "search", hosted: true }] }, { type: "user", content: [] }), "")
  })

  it("are wrong when a result is missing, there twice, late or of no call", () => {
    assert.include(problems(calling("a"), { type: "user", content: [] }), "1: user before the result of a")
    assert.include(problems(calling("a"), calling("b")), "1: assistant before the result of a")
    assert.include(problems(calling("a"), result("a"), result("a")), "2: a second or late result of a")
    assert.include(problems(result("x")), "0: a result of \"x\", which nobody called")
    assert.include(problems(calling("a"), result("a"), calling("a")), "not unique")
    assert.include(problems(user, calling("a", "b"), result("a")), "3: the session ends before the result of b")
    assert.include(problems(user, calling("a"), { type: "compaction", summary: "s", first_kept_index: 0, tokens_before: 1 }), "2: compaction before the result of a")
    assert.include(problems(calling("a"), { ...result("a"), is_error: "no" }), "without is_error")
  })

  it("are wrong when a result is that of another tool than was called, or an answer comes before anybody spoke", () => {
    assert.include(problems(user, calling("a"), { ...result("a"), tool: "write" }), "names tool write, the call read")
    assert.include(problems(calling(), user), "0: an answer before anybody spoke")
    assert.strictEqual(problems({ type: "custom_message", custom_type: "c", content: [], display: true }, calling()), "")
  })

  it("are wrong when they refer to what is not there, or are of no known kind", () => {
    assert.include(problems(user, { type: "compaction", summary: "s", first_kept_index: 2, tokens_before: 1 }), "first_kept_index 2")
    assert.include(problems(user, { type: "label", target_id: "9" }), "label of \"9\"")
    assert.include(problems({ ...user }, { type: "compaction", summary: "s", first_kept_index: 0, first_kept_id: "9", tokens_before: 1 }), "first_kept_id \"9\"")
    assert.include(problems(user, { type: "session", workspace: "/w" }), "1: a second header")
    assert.include(problems({ type: "rumour" }), "no kind of entry")
    assert.include(problems({ type: "user" }), "user without content")
    assert.include(problems(user, user), "1: entry_id 1 is there twice")
  })
})

describe("a session in which one line was", () => {
  const few = (high: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: high }))
  /** How many calls each answer of a turn makes; one more ends the turn. */
  const History = Schema.NonEmptyArray(Schema.Array(few(3)).check(Schema.isMaxLength(3)))

  const entriesOf = (history: typeof History.Type): ReadonlyArray<RecordObject> =>
    history.flatMap((turn, at) => [
      { ...user, entry_id: `${at}` },
      ...turn.flatMap((count, step) => {
        const ids = Array.from({ length: count }, (_, k) => `${at}.${step}.${k}`)
        return [{ ...calling(...ids), entry_id: `${at}.${step}` }, ...ids.map((id) => ({ ...result(id), tool: "read", entry_id: `r${id}` }))]
      }),
      { ...calling(), entry_id: `${at}.end` }
    ])
  const isAnswer = (entry: RecordObject) => entry["type"] === "assistant"
  const made = (entry: RecordObject) => Array.isArray(entry["content"]) ? entry["content"].filter(({ type }) => type === "tool_use").length : 0

  it.prop("kept is right", [History], ([history]) => assert.deepStrictEqual(checkEntries(entriesOf(history)), []))

  it.prop("lost is wrong, unless it was words that nothing else depends on", [History], ([history]) => {
    const entries = entriesOf(history)
    for (const [k, entry] of entries.entries()) {
      // Somebody may speak twice, and a turn may fail before its answer.
      const free = entry["type"] === "user" ? k > 0 : isAnswer(entry) && made(entry) === 0
      if (!free) assert.notDeepEqual(checkEntries(entries.toSpliced(k, 1)), [], JSON.stringify(entry))
    }
  })

  it.prop("doubled is wrong", [History], ([history]) => {
    const entries = entriesOf(history)
    for (const [k, entry] of entries.entries()) assert.notDeepEqual(checkEntries(entries.toSpliced(k, 0, entry)), [], JSON.stringify(entry))
  })

  it.prop("swapped with the next is wrong, unless both are results, or words of which none calls anything", [History], ([history]) => {
    const entries = entriesOf(history)
    for (let k = 0; k + 1 < entries.length; k++) {
      const [a, b] = [entries[k]!, entries[k + 1]!]
      const results = a["type"] === "tool_result" && b["type"] === "tool_result"
      const words = [a, b].every((entry) => entry["type"] !== "tool_result" && (k > 0 || isAnswer(entry)))
      if (!results && !words) assert.notDeepEqual(checkEntries(entries.with(k, b).with(k + 1, a)), [], JSON.stringify([a, b]))
    }
  })
})
