import { assert, describe, it } from "@effect/vitest"
import type { AgentEvent } from "../src/AgentEvent.ts"
import { encodeRecord } from "../src/JsonRecord.ts"

const place = { session_id: "s", turn_id: "t", run_id: "r" }
const record = (event: AgentEvent) => encodeRecord(event) ?? ""

describe("encodeRecord", () => {
  it("writes members in the order of seed 002", () => {
    assert.strictEqual(
      record({ type: "message_delta", ...place, step: 0, delta: "hi", model: "m" }),
      `{"version":1,"type":"message_delta","session_id":"s","turn_id":"t","run_id":"r","step":0,"delta":"hi","model":"m"}`
    )
    assert.strictEqual(
      record({ type: "message", role: "assistant", content: "Done", session_id: "s", turn_id: "t", model: "m", final: true }),
      `{"version":1,"type":"message","role":"assistant","content":"Done","session_id":"s","turn_id":"t","model":"m","final":true}`
    )
  })

  // J-044 J-048 J-062
  it("omits an empty prompt and a duration of zero, and puts a duration last", () => {
    assert.notInclude(record({ type: "run_start", ...place, prompt: "" }), "prompt")
    assert.notInclude(record({ type: "step_end", ...place, step: 0, model: "m", duration_ms: 0 }), "duration_ms")
    assert.isTrue(record({ type: "step_end", ...place, step: 0, model: "m", duration_ms: 7 }).endsWith(`"duration_ms":7}`))
  })

  it("keeps details out of the record", () => {
    assert.notInclude(
      record({
        type: "tool_result",
        ...place,
        step: 0,
        tool_id: "1",
        tool_name: "edit",
        output: "ok",
        is_error: false,
        duration_ms: 1,
        details: { diff: "x" }
      }),
      "details"
    )
  })

  // J-071
  it("says nothing of a note, and has no line break inside", () => {
    assert.isUndefined(encodeRecord({ type: "diagnostic", level: "info", message: "x" }))
    assert.notInclude(record({ type: "error", ...place, step: 0, message: "a\nb" }), "\n")
  })
})
