import { describe, expect, it } from "vitest"
import { Result, Schema } from "effect"
import { encodeRecord } from "../src/JsonRecord.ts"
import { publishedSchemas } from "../src/PublishedSchema.ts"
import { decodeRpcCommand, RpcCommandFields } from "../src/RpcCommand.ts"
import { RpcRecord } from "../src/RpcRecord.ts"
import { StreamRecord } from "../src/StreamRecord.ts"

const place = { session_id: "s", turn_id: "t", run_id: "r" }
const reads = (schema: Schema.Codec<unknown, unknown>) => {
  const decode = Schema.decodeUnknownResult(schema)
  return (value: unknown) => Result.isSuccess(decode(value))
}

describe("the published JSON Schema", () => {
  // `npm test -- packages/protocol -u` writes them anew.
  it.each(Object.entries(publishedSchemas()))("%s is the file in schema/", async (name, schema) => {
    await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot(`../schema/${name}`)
  })

  it("takes what is written, and no record with a member missing or wrong", () => {
    const ok = reads(StreamRecord)
    expect(ok(JSON.parse(encodeRecord({ type: "step_end", ...place, step: 0, model: "m", duration_ms: 3 })!))).toBe(true)
    expect(ok(JSON.parse(encodeRecord({ type: "run_end", ...place }, { request_id: "1", success: false, error: "no" })!))).toBe(true)
    expect(ok({ version: 1, type: "run_end", ...place, new_member: 1 })).toBe(true)
    expect(ok({ version: 1, type: "run_end", session_id: "s" })).toBe(false)
    expect(ok({ version: 2, type: "run_end", ...place })).toBe(false)
    expect(ok({ version: 1, type: "diagnostic", level: "info", message: "x" })).toBe(false)
    expect(ok({ version: 1, type: "response", id: "1", ok: true })).toBe(false)
    expect(reads(RpcRecord)({ version: 1, type: "response", id: "1", ok: true, state: "started", anything: [] })).toBe(true)
  })
})

describe("decodeRpcCommand", () => {
  const refusal = (line: string) => Result.match(decodeRpcCommand(line), { onFailure: ({ error, id }) => `${id}: ${error}`, onSuccess: () => "fine" })

  it("reads every command", () => {
    const bodies: { readonly [name: string]: object } = {
      prompt: { message: "m" }, steer: { message: "m" }, follow_up: { message: "m" }, command: { name: "help" }, fork: { message: 1 }, set_mode: { mode: "act" },
      set_model: { model: "m" }, set_thinking: { level: "low" }, trust: { on: true }, set_steering_mode: { mode: "all" }, set_follow_up_mode: { mode: "one-at-a-time" },
      approve: { request_id: "1", decision: "once" }, answer: { request_id: "1" }, ui_action: { key: "k", action: "a" }
    }
    for (const type of Object.keys(RpcCommandFields)) expect(refusal(JSON.stringify({ id: "1", type, ...bodies[type] }))).toBe("fine")
  })

  it("says what is wrong, under the id where there is one", () => {
    expect(refusal("{")).toMatch(/^: Invalid JSON: ./)
    expect(refusal("null")).toBe(": Command must be a JSON object.")
    expect(refusal(`{"type":"prompt"}`)).toBe(": Command requires string id and type fields.")
    expect(refusal(`{"id":"7"}`)).toBe("7: Command requires string id and type fields.")
    expect(refusal(`{"id":"","type":"get_state"}`)).toBe(": id must not be empty: the reply to a command carries it.")
    expect(refusal(`{"id":"7","type":"toString"}`)).toBe("7: Unknown RPC command: toString")
    expect(refusal(`{"id":"7","type":"follow_up","message":" "}`)).toBe("7: follow_up requires message.")
    expect(refusal(`{"id":"7","type":"set_follow_up_mode"}`)).toBe("7: mode must be all or one-at-a-time.")
    expect(refusal(`{"id":"7","type":"trust","on":"yes"}`)).toMatch(/^7: trust: .*boolean/)
  })

  it("takes no empty text for a name, which would mean another thing than what was named", () => {
    expect(refusal(`{"id":"7","type":"set_model","model":""}`)).toBe(`7: set_model: Expected a text that is not empty at ["model"]`)
    expect(refusal(`{"id":"7","type":"set_model","provider":"","model":"m"}`)).toBe(`7: set_model: Expected a text that is not empty at ["provider"]`)
    expect(refusal(`{"id":"7","type":"resume","session":""}`)).toBe(`7: resume: Expected a text that is not empty at ["session"]`)
  })
})
