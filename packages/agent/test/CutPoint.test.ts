import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { SessionEntry } from "@nimlet/protocol"
import { wholeCut } from "@nimlet/session"
import { cutPoint, type CutOptions } from "../src/Compaction/CutPoint.ts"
import { makeEntryTokens, tokensFrom } from "../src/Compaction/Estimate.ts"

const tokensOf = makeEntryTokens()
const text = (tokens: number) => [{ type: "text" as const, text: "abcd".repeat(tokens) }]
const user = (tokens: number): SessionEntry => ({ type: "user", role: "user", content: text(tokens) })
const says = (tokens: number): SessionEntry => ({ type: "assistant", role: "assistant", content: text(tokens) })
const calls = (...ids: Array<string>): SessionEntry => ({
  type: "assistant",
  role: "assistant",
  content: ids.map((id) => ({ type: "tool_use", id, name: "read", input: {} }))
})
const result = (id: string, tokens: number): SessionEntry => ({ type: "tool_result", id, output: "abcd".repeat(tokens), is_error: false })
const note: SessionEntry = { type: "extension", extension: "x", data: 1 }

const Size = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 60 }))
const Exchange = Schema.Struct({ kind: Schema.Literals(["user", "says", "note", "calls", "calls"]), sizes: Schema.Array(Size), size: Size })
const historyOf = (exchanges: ReadonlyArray<typeof Exchange.Type>): Array<SessionEntry> =>
  exchanges.flatMap(({ kind, size, sizes }, at) => {
    if (kind === "note") return [note]
    if (kind === "user") return [user(size)]
    if (kind === "says" || sizes.length === 0) return [says(size)]
    return [calls(...sizes.map((_, k) => `${at}.${k}`)), ...sizes.flatMap((size, k) => [note, result(`${at}.${k}`, size)])]
  })

const cut = (entries: ReadonlyArray<SessionEntry>, keep: number, more: Partial<CutOptions> = {}) =>
  cutPoint({ entries, start: 0, keep, room: 10_000, tokensOf, ...more })

describe("cutPoint", () => {
  it.effect.prop("goes forward, begins with words or an answer, and parts no call from its result", [
    Schema.Array(Exchange),
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 12 })),
    Size,
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 400 }))
  ], ([exchanges, before, keep, room]) =>
    Effect.sync(() => {
      const entries = historyOf(exchanges)
      const start = Math.min(before, entries.length)
      const at = cut(entries, keep, { start, room: Math.max(keep, room) })
      if (at === undefined) return
      assert.isAbove(at, start)
      assert.isAtMost(at, entries.length)
      assert.strictEqual(wholeCut(entries)(at), at)
      if (at < entries.length) assert.include(["user", "assistant"], entries[at]?.type)
      // The user's unanswered words stay.
      const last = entries.findLastIndex((entry) => entry.type !== "extension")
      if (entries[last]?.type === "user") assert.isAtMost(at, last)
    }))

  it.effect.prop("keeps at least what is to stay, and no more than the step or the short turn that reaches over it", [Schema.Array(Exchange), Size], ([exchanges, keep]) =>
    Effect.sync(() => {
      const entries = historyOf([{ kind: "user", size: 60, sizes: [] }, { kind: "says", size: 60, sizes: [] }, { kind: "user", size: 60, sizes: [] }, ...exchanges])
      const at = cut(entries, keep)
      assert.isDefined(at)
      const kept = tokensFrom(entries, at!, tokensOf)
      assert.isAtLeast(kept, keep)
      const next = Array.from({ length: entries.length - at! }, (_, k) => at! + 1 + k).find((index) =>
        index === entries.length || entries[index]?.type === "user" || entries[index]?.type === "assistant")!
      assert.isTrue(kept <= keep * 2 || tokensFrom(entries, next, tokensOf) < keep, `${kept} kept of ${keep}`)
    }))

  it("has nothing to do while all of it is what is to stay", () => {
    assert.isUndefined(cut([user(10), says(10)], 20))
    assert.isUndefined(cut([], 1))
  })

  it("prefers the beginning of a turn to a place inside it", () => {
    assert.strictEqual(cut([user(50), says(50), user(5), says(5), says(10)], 10), 2)
  })

  it("cuts a long turn between its steps", () => {
    const turn = [user(5), ...["1", "2", "3", "4"].flatMap((id) => [calls(id), result(id, 40)])]
    assert.strictEqual(cut(turn, 50), 5)
  })

  it("keeps less where a step would not fit, and nothing of one that fills the room by itself", () => {
    const steps = [user(5), calls("1"), result("1", 500), calls("2"), result("2", 20)]
    assert.strictEqual(cut(steps, 50, { room: 100 }), 3)
    assert.strictEqual(cut(steps.slice(0, 3), 50, { room: 100 }), 3)
    assert.strictEqual(cut(steps.slice(0, 3), 50), 1)
  })

  it("never goes back behind an earlier cut, and stops before calls that still run", () => {
    assert.isUndefined(cut([user(50), says(50), says(50)], 20, { start: 2 }))
    assert.strictEqual(cut([user(50), says(50), calls("1", "2"), result("1", 90)], 20), 2)
    // Another program's file may have words between a call and its result.
    assert.strictEqual(cut([user(50), calls("1"), user(30), result("1", 5)], 10), 1)
  })
})
