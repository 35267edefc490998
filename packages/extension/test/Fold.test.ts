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

  it("gives of reasons and instructions as much as of a tool's answer, and says how much is missing", () => {
    const reasoned = (reason: string) => {
      const outcome = outcomeOf(applyReply("tool_call", untouched<"tool_call">(call), "a", { allow: false, reason }))
      return outcome._tag === "Blocked" ? outcome.reason : ""
    }
    assert.strictEqual(reasoned("x".repeat(51_200)), "x".repeat(51_200))
    assert.strictEqual(reasoned("x".repeat(3_000_000)), `${"x".repeat(51_200)}\n[... 2948800 characters dropped ...]`)
    assert.strictEqual(reasoned("€".repeat(20_000)), `${"€".repeat(17_066)}\n[... 2934 characters dropped ...]`)
    assert.strictEqual(reasoned("a\n".repeat(2_001)), `${"a\n".repeat(1_999)}a\n[... 3 characters dropped ...]`)
    const event = "session_before_compact" as const
    const { payload } = applyReply(event, untouched<typeof event>(compact), "a", { instruction: "x".repeat(60_000) })
    assert.strictEqual(payload.instruction, `${"x".repeat(51_200)}\n[... 8800 characters dropped ...]`)
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

  const session = { session_id: "s", workspace: "/w" }
  const selected = { ...session, provider: "p", model: "m", thinking: "" }

  it("context: what each adds is there for the next, and nothing is taken away", () => {
    const event = "context" as const
    const payload = { system: ["base"], messages: [{ role: "user" }] }
    const one = applyReply(event, untouched<typeof event>(payload), "a", { system: ["a"] })
    const two = applyReply(event, one, "b", { messages: [{ role: "assistant" }], system: [] })
    const three = applyReply(event, two, "c", {})
    assert.deepStrictEqual(three.payload, { system: ["base", "a"], messages: [{ role: "user" }, { role: "assistant" }] })
    assert.deepStrictEqual(three.changedBy, ["a", "b"])
  })

  it("before_provider_headers: what no request can have is left out and told, the rest counts", () => {
    const event = "before_provider_headers" as const
    const payload = { ...selected, headers: { a: "1", b: "2" } }
    const one = applyReply(event, untouched<typeof event>(payload), "x", { headers: { v: "žluť", a: "1\r\nevil: 2", "no name": "3", "": "4", latin: "é", b: null } })
    assert.deepStrictEqual(one.payload.headers, { a: "1", latin: "é" })
    assert.deepStrictEqual(one.notes, [
      `extension 'x': the header "v" of its reply was left out: its value has characters that no header may have`,
      `extension 'x': the header "a" of its reply was left out: its value has characters that no header may have`,
      `extension 'x': the header "no name" of its reply was left out: that is no name of a header`,
      `extension 'x': the header "" of its reply was left out: that is no name of a header`
    ])
    assert.deepStrictEqual(applyReply(event, one, "y", { headers: { v: "ž" } }).payload, one.payload)
  })

  it("input: a later text stands on an earlier one, and a block leaves it", () => {
    const event = "input" as const
    const payload = { ...session, text: "x", images: [] }
    const one = applyReply(event, untouched<typeof event>(payload), "a", { text: "y" })
    const two = applyReply(event, one, "b", { allow: false, reason: "no", text: "z" })
    assert.strictEqual(one.payload.text, "y")
    assert.strictEqual(two.payload.text, "y")
    assert.deepStrictEqual(outcomeOf(two), { _tag: "Blocked", reason: "no", blockedBy: ["b"] })
  })

  it("before_agent_start: the last system prompt counts, messages pile up, and either may be left out", () => {
    const event = "before_agent_start" as const
    const payload = { ...session, prompt: "p", images: [], system_prompt: "base" }
    const one = applyReply(event, untouched<typeof event>(payload), "a", { system_prompt: "A", message: { content: "from a" } })
    const two = applyReply(event, one, "b", { message: { content: "" } })
    const three = applyReply(event, two, "c", { message: { content: "from c" } })
    const outcome = outcomeOf(applyReply(event, three, "d", { system_prompt: "D" }))
    assert.deepStrictEqual(outcome, {
      _tag: "Continue",
      payload: { ...payload, system_prompt: "D" },
      changedBy: ["a", "d"],
      messages: [{ content: "from a" }, { content: "from c" }]
    })
  })

  it("message_end and before_provider_request: replaced as a whole, one after another", () => {
    const text = applyReply("message_end", untouched<"message_end">({ ...session, role: "assistant", text: "x" }), "a", { text: "" })
    assert.strictEqual(text.payload.text, "")
    const event = "before_provider_request" as const
    const one = applyReply(event, untouched<typeof event>({ ...selected, payload: { a: 1 } }), "a", { payload: { b: 1 } })
    assert.deepStrictEqual(applyReply(event, one, "b", {}).payload.payload, { b: 1 })
  })

  it("before_provider_headers: a text adds or replaces in any case, anything else removes, the rest stays", () => {
    const event = "before_provider_headers" as const
    const headers = { Authorization: "<redacted>", "X-Old": "1", "X-Keep": "1" }
    const one = applyReply(event, untouched<typeof event>({ ...selected, headers }), "a", { headers: { "x-old": "2", "x-new": "3" } })
    assert.deepStrictEqual(one.payload.headers, { Authorization: "<redacted>", "X-Keep": "1", "x-old": "2", "x-new": "3" })
    const two = applyReply(event, one, "b", { headers: { authorization: null, "X-NEW": 1 } })
    assert.deepStrictEqual(two.payload.headers, { "X-Keep": "1", "x-old": "2" })
  })

  it("session_before_switch can be blocked and session_compact supplies a compaction; allow means nothing where nothing is asked", () => {
    const leaving = { ...session, reason: "fork" as const, target_session_id: "s" }
    const blocked = applyReply("session_before_switch", untouched<"session_before_switch">(leaving), "a", { allow: false })
    assert.deepStrictEqual(outcomeOf(blocked), { _tag: "Blocked", reason: "blocked by extension", blockedBy: ["a"] })
    const event = "session_compact" as const
    const done = { ...session, did_compact: true, summary: "s", first_kept_index: 2, tokens_before: 9, message: "m" }
    const tally = applyReply(event, untouched<typeof event>(done), "a", { compaction: { summary: "A", first_kept_index: 3 } })
    assert.deepStrictEqual(outcomeOf(tally), { _tag: "Continue", payload: done, changedBy: [], compaction: { summary: "A", first_kept_index: 3 } })
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
