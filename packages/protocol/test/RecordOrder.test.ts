import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { checkRecords } from "../src/RecordOrder.ts"
import type { RecordObject } from "../src/Violation.ts"

const few = (high: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: high }))
const short = Schema.isMaxLength(3)

/** What a run consists of; `streamOf` makes the records of it. */
const Script = Schema.Struct({
  steps: Schema.Array(Schema.Struct({
    text: few(3),
    thinking: Schema.Boolean,
    warning: Schema.Boolean,
    parallel: Schema.Boolean,
    outputs: Schema.NonEmptyArray(few(2)).check(short)
  })).check(short),
  ending: Schema.Literals(["answer", "results", "error", "error before a step"])
})

const streamOf = ({ ending, steps }: typeof Script.Type): ReadonlyArray<RecordObject> => {
  const version = 1
  const session_id = "s"
  const turn = { version, session_id, turn_id: "t" }
  const run = { ...turn, run_id: "t" }
  let piece = 0
  const deltas = (step: number, count: number) => Array.from({ length: count }, () => ({ ...run, type: "message_delta", step, delta: `<${piece++}>` }))
  const message = (said: ReadonlyArray<{ delta: string }>, final: boolean) => ({ ...turn, type: "message", role: "assistant", content: said.map(({ delta }) => delta).join(""), final })
  const ended = steps.map(({ outputs, parallel, text, thinking, warning }, step) => {
    const said = deltas(step, text)
    const calls = outputs.map((count, k) => {
      const call = { ...run, step, tool_id: `${step}.${k}`, tool_name: `tool${k}` }
      const rest = [...Array.from({ length: count }, () => ({ ...call, type: "tool_output_delta", delta: "o" })), { ...call, type: "tool_result", output: "", is_error: false }]
      return { first: { ...call, type: "tool_call", input: {} }, rest }
    })
    return [
      { ...run, type: "step_start", step },
      ...(thinking ? [{ ...run, type: "thinking_delta", step, delta: "hm" }] : []),
      ...(warning ? [{ version, type: "diagnostic", level: "warning", message: "again" }] : []),
      ...said,
      ...(text > 0 ? [message(said, false)] : []),
      ...(parallel ? [...calls.map(({ first }) => first), ...calls.flatMap(({ rest }) => rest)] : calls.flatMap(({ first, rest }) => [first, ...rest])),
      { ...run, type: "step_end", step }
    ]
  })
  const last = steps.length
  const answer = deltas(last, 2)
  const lastCall = { ...run, step: last, tool_id: "last", tool_name: "decide" }
  const end = {
    "results": [
      { ...run, type: "step_start", step: last },
      { ...lastCall, type: "tool_call", input: {} },
      { ...lastCall, type: "tool_result", output: "{}", is_error: false, terminate: true },
      { ...run, type: "step_end", step: last }
    ],
    "answer": [{ ...run, type: "step_start", step: last }, ...answer, message(answer, true), { ...run, type: "step_end", step: last }],
    "error": [{ ...run, type: "step_start", step: last }, ...answer, { ...run, type: "step_end", step: last }, { ...run, type: "error", step: last, message: "cut" }],
    "error before a step": [{ ...run, type: "error", step: last - 1, message: "no model" }]
  }
  return [
    { version, type: "session_start", session_id },
    { ...turn, type: "message", role: "user", content: "hi" },
    { ...run, type: "run_start", prompt: "hi" },
    ...ended.flat(),
    ...end[ending],
    { ...run, type: "run_end" },
    { version, type: "session_end", session_id, success: ending === "answer" || ending === "results" }
  ]
}

/** Records whose loss leaves a right stream. */
const optional = new Set<unknown>(["thinking_delta", "tool_output_delta", "diagnostic"])

/** What was streamed before an error is not repeated in a message, so its loss shows nowhere. */
const isUnheard = ({ ending, steps }: typeof Script.Type, record: RecordObject): boolean =>
  ending === "error" && record["type"] === "message_delta" && record["step"] === steps.length

/** Neighbours that may as well stand the other way round. */
const commute = (a: RecordObject, b: RecordObject): boolean => {
  if (a["type"] === "diagnostic" || b["type"] === "diagnostic") return true
  if (a["tool_id"] !== undefined && b["tool_id"] !== undefined) return a["tool_id"] !== b["tool_id"] || a["type"] === b["type"]
  if (String(a["type"]).endsWith("_delta") && String(b["type"]).endsWith("_delta")) return a["type"] !== b["type"]
  return a["type"] === "step_end" && b["type"] === "error"
}

const problems = (stream: ReadonlyArray<RecordObject>): string => checkRecords(stream).map(({ problem }) => problem).join("; ")

const plain = streamOf({ steps: [{ text: 1, thinking: true, warning: false, parallel: true, outputs: [1, 0] }], ending: "answer" })

const changed = (type: string, change: RecordObject) => {
  const at = plain.findLastIndex((record) => record["type"] === type)
  return plain.with(at, { ...plain[at], ...change })
}

describe("A record stream", () => {
  it.prop("is accepted when it is in the order of seed 002", [Script], ([script]) => {
    assert.deepStrictEqual(checkRecords(streamOf(script)), [])
  })

  it.prop("is refused when any record that must be there is lost", [Script], ([script]) => {
    const stream = streamOf(script)
    for (const [k, record] of stream.entries()) {
      if (optional.has(record["type"]) || isUnheard(script, record)) continue
      assert.notStrictEqual(problems(stream.toSpliced(k, 1)), "", `without ${JSON.stringify(record)}`)
    }
  })

  it.prop("is refused when any record comes twice", [Script], ([script]) => {
    const stream = streamOf(script)
    for (const [k, record] of stream.entries()) {
      if (optional.has(record["type"]) || record["type"] === "error" || record["role"] === "user" || isUnheard(script, record)) continue
      assert.notStrictEqual(problems(stream.toSpliced(k, 0, record)), "", `twice ${JSON.stringify(record)}`)
    }
  })

  it.prop("is refused when neighbours that have an order are swapped", [Script], ([script]) => {
    const stream = streamOf(script)
    for (let k = 0; k + 1 < stream.length; k++) {
      const [a, b] = [stream[k]!, stream[k + 1]!]
      if (commute(a, b) || isUnheard(script, a) && isUnheard(script, b)) continue
      assert.notStrictEqual(problems(stream.with(k, b).with(k + 1, a)), "", `swapped ${JSON.stringify([a, b])}`)
    }
  })

  it("is refused when its end is missing", () => {
    assert.include(problems(plain.slice(0, -1)), "without session_end")
    assert.include(problems([]), "without session_end")
  })

  it("may have a step that failed when a diagnostic tells of the next attempt", () => {
    const ids = { version: 1, session_id: "s", turn_id: "t", run_id: "t" }
    const failed = [{ ...ids, type: "step_start", step: 0 }, { ...ids, type: "message_delta", step: 0, delta: "lost" }, { ...ids, type: "step_end", step: 0 }]
    const rest = plain.slice(3).map((record) => record["step"] === undefined ? record : { ...record, step: Number(record["step"]) + 1 })
    const told = { version: 1, type: "diagnostic", level: "warning", message: "again" }
    assert.strictEqual(problems([...plain.slice(0, 3), ...failed, told, ...rest]), "")
    assert.include(problems([...plain.slice(0, 3), ...failed, ...rest]), "without a diagnostic")
  })

  it("may hold a command's message without any step", () => {
    const ids = { version: 1, session_id: "s", turn_id: "t" }
    const said = { ...ids, type: "message", role: "assistant", content: "noted", final: true }
    assert.strictEqual(problems([plain[0]!, plain[1]!, plain[2]!, said, ...plain.slice(-2)]), "")
    assert.strictEqual(problems([plain[0]!, plain[1]!, plain[2]!, ...plain.slice(-2)]), "")
    assert.include(problems([plain[0]!, plain[1]!, plain[2]!, said, said, ...plain.slice(-2)]), "after the final one")
    assert.include(problems([...plain.slice(0, -1), said, plain.at(-1)!]), "outside a run")
    assert.include(problems([...plain.slice(0, -1), plain[1]!, plain.at(-1)!]), "before the run of the user's message")
  })

  it("is refused when a record is of no known kind, or its fields do not belong here", () => {
    assert.include(problems(changed("step_end", { type: "step_over" })), "step_over is no record")
    assert.include(problems(changed("step_end", { version: 2 })), "version")
    assert.include(problems(changed("step_end", { session_id: "other" })), "session_id")
    assert.include(problems(changed("step_end", { run_id: "other" })), "run_id")
    assert.include(problems(changed("message", { final: undefined })), "needs final")
    assert.include(problems(changed("message", { content: undefined })), "role and content")
    assert.include(problems(changed("message", { role: "critic" })), "role and content")
    assert.include(problems(changed("step_end", { step: 7 })), "names step 7")
    assert.include(problems(changed("step_start", { step: 3 })), "1 is the next")
    assert.include(problems(changed("tool_result", { tool_name: "x" })), "names tool x")
    assert.include(problems(changed("tool_result", { is_error: undefined })), "is_error")
    assert.include(problems(changed("tool_call", { tool_id: "0.0" })), "not unique")
    assert.include(problems(changed("session_end", { success: undefined })), "success")
    assert.include(problems([...plain, { version: 1, type: "diagnostic", level: "warning", message: "late" }]), "after session_end")
  })

  it("is refused when a run goes on after its final message or its error", () => {
    const end = plain.length - 2
    const [first, ...others] = plain.slice(3, end).map((record) => record["step"] === undefined ? record : { ...record, step: 2 })
    assert.include(problems(plain.toSpliced(end, 0, first!, ...others)), "step_start after the final message")
    const call = { ...plain.find((record) => record["type"] === "tool_call"), step: 1, tool_id: "new" }
    assert.include(problems(plain.toSpliced(end - 1, 0, call)), "tool_call after the final message")
    const failed = streamOf({ steps: [{ text: 0, thinking: false, warning: false, parallel: false, outputs: [0] }], ending: "error before a step" })
    assert.include(problems(failed.toSpliced(-2, 0, { ...failed.find((record) => record["type"] === "step_start"), step: 1 })), "step_start after an error")
  })

  it("may name as its answer a result that ended the run, and no other", () => {
    const script = { steps: [{ text: 0, thinking: false, warning: false, parallel: false, outputs: [0] }], ending: "results" } as const
    const naming = (answer: string) => streamOf(script).with(-2, { ...streamOf(script).at(-2), answer })
    assert.strictEqual(problems(naming("last")), "")
    assert.include(problems(naming("0.0")), "names as its answer \"0.0\"")
    assert.include(problems(plain.with(-2, { ...plain.at(-2), answer: "0.1" })), "names as its answer \"0.1\"")
  })

  it("may have another text than was streamed where extensions are known to change answers, and only there", () => {
    const other = changed("message", { content: "something else" })
    assert.include(problems(other), "not the text that was streamed")
    assert.deepStrictEqual(checkRecords(other, { rewritten: true }), [])
  })

  it("is refused when it tells success after an error, or failure after none", () => {
    const stream = streamOf({ steps: [], ending: "error" })
    assert.include(problems(stream.with(-3, { ...stream.at(-3), step: 5 })), "error names step 5, 0 is expected")
    assert.include(problems(stream.with(-1, { ...stream.at(-1), success: true })), "success after an error")
    assert.include(problems(plain.with(-1, { ...plain.at(-1), success: false })), "nothing tells why")
  })
})

describe("A record stream of RPC mode", () => {
  const version = 1
  const session = (id: string) => ({
    begin: { version, type: "session_start", session_id: id },
    end: (success = true) => ({ version, type: "session_end", session_id: id, success })
  })
  const reply = (id: string, state: string) => ({ version, type: "response", id, ok: true, state })
  const turn = (session_id: string, turn_id: string, end: object, error?: string) => {
    const ids = { version, session_id, turn_id }
    const run = { ...ids, run_id: turn_id }
    return [
      { ...ids, type: "message", role: "user", content: "hi" },
      { ...run, type: "run_start", prompt: "hi" },
      ...(error === undefined ? [{ ...ids, type: "message", role: "assistant", content: "ok", final: true }] : [{ ...run, type: "error", step: -1, message: error }]),
      { ...run, type: "run_end", ...end }
    ]
  }
  const problems = (...stream: ReadonlyArray<object>): string => checkRecords(JSON.parse(JSON.stringify(stream)), { mode: "rpc" }).map(({ problem }) => problem).join("; ")
  const [a, b] = [session("a"), session("b")]
  const good = turn("a", "1", { request_id: "p", success: true })

  it("may have replies anywhere, several turns, and one session after another", () => {
    const failed = turn("b", "2", { request_id: "q", success: false, error: "no" }, "no")
    const queue = { version, type: "queue", session_id: "b", action: "clear", depth: 0 }
    assert.strictEqual(problems(a.begin, reply("p", "started"), ...good, a.end(), reply("n", "stopped"), b.begin, queue, reply("q", "started"), ...failed, b.end(false)), "")
    const interrupted = turn("a", "1", { success: false, error: "Interrupted" }, "Interrupted")
    assert.strictEqual(problems(a.begin, ...interrupted, a.end(true)), "")
    const waits = (action: string, depth: number) => ({ version, type: "queue", session_id: "a", action, mode: "steer", request_id: "p", depth })
    assert.strictEqual(problems(a.begin, waits("enqueue", 1), reply("p", "queued"), waits("dequeue", 0), ...good, a.end()), "")
  })

  it("is refused when a prompt has no end, two, or that of nobody", () => {
    assert.include(problems(a.begin, reply("p", "started"), a.end()), "the request p has no run_end")
    assert.include(problems(a.begin, ...good, a.end()), "which began no turn")
    assert.include(problems(a.begin, reply("p", "started"), ...good, ...good, a.end()), "a second run_end")
  })

  it("is refused when the end of a turn does not say what became of it", () => {
    assert.include(problems(a.begin, ...turn("a", "1", {}), a.end()), "success undefined, no error")
    assert.include(problems(a.begin, ...turn("a", "1", { success: true }, "no"), a.end(false)), "success true, an error")
    assert.include(problems(a.begin, ...turn("a", "1", { success: false, error: "other" }, "no"), a.end(false)), "does not tell the turn's error")
    assert.include(problems(a.begin, ...turn("a", "1", { success: false, error: "no" }, "no"), a.end(true)), "success after an error")
  })

  it("is refused when a session begins within another, or a reply has no id; and JSON mode has neither replies nor queues", () => {
    assert.include(problems(a.begin, b.begin, b.end()), "a second session_start")
    assert.include(problems(a.begin, { version, type: "response", ok: true }, a.end()), "needs an id")
    const queue = { version, type: "queue", session_id: "a", action: "clear", depth: 0 }
    assert.include(checkRecords([a.begin, queue, a.end()]).map(({ problem }) => problem).join(), "queue is no record of JSON mode")
  })
})
