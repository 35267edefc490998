import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type * as Prompt from "effect/ai/Prompt"
import type { SessionEntry } from "@nimlet/protocol"
import { unanswered, wholeCut } from "../src/Calls.ts"
import { transcript } from "../src/Transcript.ts"

const Exchange = Schema.Struct({
  kind: Schema.Literals(["user", "answer", "note", "calls"]),
  count: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 })),
  backwards: Schema.Boolean,
  between: Schema.Boolean
})
const History = Schema.Array(Exchange)

const note: SessionEntry = { type: "extension", extension: "x", data: 1 }
const calls = (...ids: Array<string>): SessionEntry => ({
  type: "assistant",
  role: "assistant",
  content: ids.map((id) => ({ type: "tool_use", id, name: "read", input: {} }))
})
const result = (id: string): SessionEntry => ({ type: "tool_result", id, output: `out ${id}`, is_error: false })

/** A history as a session has it: results in any order behind their calls, what extensions keep anywhere. */
const historyOf = (exchanges: typeof History.Type): Array<SessionEntry> => [
  { type: "user", role: "user", content: [{ type: "text", text: "go" }] },
  ...exchanges.flatMap(({ backwards, between, count, kind }, at): Array<SessionEntry> => {
    if (kind === "note") return [note]
    if (kind !== "calls") return [{ type: kind === "user" ? "user" : "assistant", role: kind === "user" ? "user" : "assistant", content: [{ type: "text", text: `${at}` }] } as SessionEntry]
    const ids = Array.from({ length: count }, (_, k) => `${at}.${k}`)
    return [calls(...ids), ...(backwards ? ids.toReversed() : ids).flatMap((id) => between ? [note, result(id)] : [result(id)])]
  })
]

/** What a strict provider finds wrong with messages. */
const faults = (messages: ReadonlyArray<Prompt.Message>): ReadonlyArray<string> => {
  const wrong: Array<string> = messages[0]?.role === "user" ? [] : ["it does not begin with the user"]
  let open: ReadonlyArray<string> = []
  for (const message of messages) {
    const given = message.role === "tool" ? message.content.flatMap((part) => part.type === "tool-result" ? [part.id] : []) : []
    if ([...given].sort().join() !== [...open].sort().join()) wrong.push(`results of ${given.join()} for calls ${open.join()}`)
    open = message.role === "assistant" ? message.content.flatMap((part) => part.type === "tool-call" ? [part.id] : []) : []
  }
  return open.length > 0 ? [...wrong, `no results for ${open.join()}`] : wrong
}

describe("wholeCut", () => {
  it("moves back to the calls whose results would be parted, and leaves other places alone", () => {
    const cut = wholeCut([calls("1", "2"), result("1"), note, result("2"), calls("3"), result("3")])
    assert.deepStrictEqual([0, 1, 2, 3, 4, 5, 6].map(cut), [0, 0, 0, 0, 4, 4, 6])
  })

  it("moves back through calls that are answered across each other", () => {
    const cut = wholeCut([calls("1"), calls("2"), result("1"), result("2")])
    assert.deepStrictEqual([1, 2, 3, 4].map(cut), [0, 0, 0, 4])
  })

  it("stays before a call whose result is still to come", () => {
    const cut = wholeCut([calls("1"), result("1"), calls("2", "3"), result("2")])
    assert.deepStrictEqual([2, 3, 4].map(cut), [2, 2, 2])
  })
})

describe("unanswered", () => {
  it("names the calls of the last answer that have no result", () => {
    assert.deepStrictEqual(unanswered([calls("1", "2"), result("1")]).map((call) => call.id), ["2"])
    assert.deepStrictEqual(unanswered([calls("1"), result("1"), { type: "user", role: "user", content: [] }]), [])
  })
})

describe("a transcript since a compaction", () => {
  it.effect.prop("pairs every call with its result, whatever index the record has", [History, History, Schema.Number], ([before, after, first_kept_index]) =>
    Effect.sync(() => {
      const history = historyOf(before)
      const later = historyOf(after).map((entry) => JSON.parse(JSON.stringify(entry).replaceAll(/"(\d+\.\d+)"/g, "\"later $1\"")) as SessionEntry)
      const messages = transcript([...history, { type: "compaction", summary: "so far", first_kept_index, tokens_before: 9 }, ...later])
      assert.deepStrictEqual(faults(messages), [])
      assert.include(JSON.stringify(messages[0]), "so far")
      // What came after the record is always told.
      assert.deepStrictEqual(messages.slice(-transcript(later).length), transcript(later))
    }))

  it("begins at the index of the record, moved back to the call that a result there belongs to", () => {
    const history = historyOf([{ kind: "calls", count: 2, backwards: false, between: false }, { kind: "user", count: 1, backwards: false, between: false }])
    const kept = (first_kept_index: number) => transcript([...history, { type: "compaction", summary: "s", first_kept_index, tokens_before: 9 }]).slice(1)
    assert.deepStrictEqual(kept(0), transcript(history))
    assert.deepStrictEqual(kept(3), transcript(history).slice(1))
    assert.deepStrictEqual(kept(4), transcript(history).slice(3))
    assert.deepStrictEqual(kept(5), [])
    assert.deepStrictEqual(kept(99), [])
    assert.deepStrictEqual(kept(-1), transcript(history))
  })
})
