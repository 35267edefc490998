import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { applyReply, outcomeOf, untouched } from "../src/Hooks/Fold.ts"

const call = { tool: "bash", arguments: { command: "ls" } }
const compact = { session_id: "s", workspace: "/w", instruction: "", tokens_before: 9, entries: [1, 2, 3] }

describe("folding replies", () => {
  // E-187
  it("chains arguments, and an empty reply changes nothing", () => {
    const first = applyReply("tool_call", untouched<"tool_call">(call), "a", { arguments: { command: "echo ONE" } })
    const second = applyReply("tool_call", first, "b", {})
    assert.deepStrictEqual(outcomeOf(second), {
      _tag: "Continue",
      payload: { tool: "bash", arguments: { command: "echo ONE" } },
      changedBy: ["a"]
    })
  })

  // E-179
  it("joins the reasons of all who block, and ignores their other fields", () => {
    const first = applyReply("tool_call", untouched<"tool_call">(call), "a", { allow: false, reason: "a", arguments: {} })
    const second = applyReply("tool_call", first, "b", { allow: false, reason: "b" })
    assert.deepStrictEqual(outcomeOf(second), { _tag: "Blocked", reason: "a; b", blockedBy: ["a", "b"] })
    assert.deepStrictEqual(first.payload, call)
  })

  it("says `blocked by extension` when nobody gives a reason", () => {
    const tally = applyReply("tool_call", untouched<"tool_call">(call), "a", { allow: false, reason: " " })
    assert.deepStrictEqual(outcomeOf(tally), { _tag: "Blocked", reason: "blocked by extension", blockedBy: ["a"] })
  })

  // E-126 E-127 E-192 E-193
  it("replaces output and error flag of a result, each on its own", () => {
    const result = { tool: "bash", arguments: {}, output: "x", is_error: true }
    const one = applyReply("tool_result", untouched<"tool_result">(result), "a", { output: "y" })
    const two = applyReply("tool_result", one, "b", { is_error: false })
    assert.deepStrictEqual(two.payload, { ...result, output: "y", is_error: false })
    assert.deepStrictEqual(two.changedBy, ["a", "b"])
  })

  // E-128 E-213 X-036
  it("appends instructions on new lines", () => {
    const event = "session_before_compact" as const
    const one = applyReply(event, untouched<typeof event>({ ...compact, instruction: "mine" }), "a", { instruction: "x" })
    const two = applyReply(event, one, "b", { instruction: "y" })
    assert.strictEqual(two.payload.instruction, "mine\nx\ny")
  })

  // E-129 E-214
  it("takes the last of several valid compactions with a note, and none beyond the end", () => {
    const event = "session_before_compact" as const
    const compaction = (summary: string, first_kept_index: number) => ({ compaction: { summary, first_kept_index } })
    const one = applyReply(event, untouched<typeof event>(compact), "a", compaction("A", 3))
    const two = applyReply(event, one, "b", compaction("B", 4))
    const three = applyReply(event, two, "c", compaction("C", 0))
    assert.deepStrictEqual(two.compaction, { summary: "A", first_kept_index: 3 })
    assert.deepStrictEqual(three.compaction, { summary: "C", first_kept_index: 0 })
    assert.strictEqual(three.notes.length, 2)
  })

  it.effect.prop("blocks exactly when somebody does, whatever else is said", [
    Schema.Array(Schema.Struct({ allow: Schema.optionalKey(Schema.Boolean), arguments: Schema.optionalKey(Schema.Record(Schema.String, Schema.Int)) }))
  ], ([replies]) =>
    Effect.sync(() => {
      const tally = replies.reduce((sum, reply, n) => applyReply("tool_call", sum, String(n), reply), untouched<"tool_call">(call))
      const blockers = replies.flatMap((reply, n) => reply.allow === false ? [String(n)] : [])
      const outcome = outcomeOf(tally)
      assert.deepStrictEqual(outcome._tag === "Blocked" ? outcome.blockedBy : [], blockers)
    }))
})
