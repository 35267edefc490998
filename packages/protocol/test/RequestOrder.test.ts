import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { checkRecords } from "../src/RecordOrder.ts"
import type { RecordObject } from "../src/Violation.ts"

const Mode = Schema.Literals(["steer", "follow_up"])
/** A text that is said within a turn, and what becomes of it: said to the model there, or left for a turn of its own. */
const Waits = Schema.Struct({ mode: Mode, fate: Schema.Literals(["joins", "left"]) })
/** The turns of a session: what is queued into each, and whether it fails. The queue of the last one may be taken back. */
const Play = Schema.Struct({
  turns: Schema.NonEmptyArray(Schema.Struct({ waits: Schema.Array(Waits).check(Schema.isMaxLength(3)), fails: Schema.Boolean })).check(Schema.isMaxLength(3)),
  cleared: Schema.Boolean
})

const version = 1
const session_id = "s"

const streamOf = ({ cleared, turns }: typeof Play.Type): ReadonlyArray<RecordObject> => {
  let depth = 0
  let count = 0
  let failed = false
  const reply = (id: string, state: string): RecordObject => ({ version, type: "response", id, ok: true, state })
  const queue = (action: string, more: object): RecordObject => ({ version, type: "queue", session_id, action, ...more, depth })
  const turn = (request_id: string, fails: boolean, within: (heard: (id: string) => RecordObject) => ReadonlyArray<RecordObject>, joined: ReadonlyArray<string>) => {
    const turn_id = `t${++count}`
    const ids = { version, session_id, turn_id }
    const said = (content: string): RecordObject => ({ ...ids, type: "message", role: "user", content })
    const end = fails ? { success: false, error: "no model" } : { success: true }
    failed ||= fails
    return [
      said(request_id),
      { ...ids, type: "run_start", run_id: turn_id, prompt: request_id },
      ...within(said),
      ...(fails ? [{ ...ids, type: "error", run_id: turn_id, step: -1, message: "no model" }] : [{ ...ids, type: "message", role: "assistant", content: "ok", final: true }]),
      { ...ids, type: "run_end", run_id: turn_id, request_id, ...(joined.length === 0 ? {} : { request_ids: joined }), ...end }
    ]
  }
  const played = turns.flatMap(({ fails, waits }, at) => {
    const texts = waits.map(({ fate, mode }, k) => ({ id: `${at}.${k}`, mode, joins: fate === "joins" && !fails }))
    const take = ({ id, mode }: { readonly id: string; readonly mode: string }) => {
      depth--
      return queue("dequeue", { request_id: id, mode })
    }
    const inOrder = (some: typeof texts) => [...some.filter(({ mode }) => mode === "steer"), ...some.filter(({ mode }) => mode === "follow_up")]
    const joining = inOrder(texts.filter(({ joins }) => joins))
    const left = inOrder(texts.filter(({ joins }) => !joins))
    // A queue gives what came first.
    const asked = [...joining, ...left]
    const own = turn(`${at}`, fails, (said) => [
      ...asked.flatMap(({ id, mode }) => {
        depth++
        return [queue("enqueue", { content: id, request_id: id, mode }), reply(id, "queued")]
      }),
      ...joining.flatMap((one) => [take(one), said(one.id)])
    ], joining.map(({ id }) => id))
    if (cleared && at === turns.length - 1 && left.length > 0) {
      depth = 0
      return [reply(`${at}`, "started"), ...own, queue("clear", {})]
    }
    return [reply(`${at}`, "started"), ...own, ...left.flatMap((one) => [take(one), ...turn(one.id, false, () => [], [])])]
  })
  return [{ version, type: "session_start", session_id }, ...played, { version, type: "session_end", session_id, success: !failed }]
}

const violations = (stream: ReadonlyArray<RecordObject>) => checkRecords(stream, { mode: "rpc" })
const expectWrong = (stream: ReadonlyArray<RecordObject>, what: unknown) => assert.notDeepEqual(violations(stream), [], JSON.stringify(what))
const isWords = (record: RecordObject) => record["type"] === "message" && record["role"] === "user"

describe("a stream of RPC mode in which one record was", () => {
  it.prop("kept is right", [Play], ([play]) => assert.deepStrictEqual(violations(streamOf(play)), []))

  it.prop("lost is wrong, but for the words of a command", [Play], ([play]) => {
    const stream = streamOf(play)
    for (const [k, record] of stream.entries()) {
      // A command may say nothing.
      if (record["role"] !== "assistant") expectWrong(stream.toSpliced(k, 1), record)
    }
  })

  it.prop("doubled is wrong, but for what may be said twice", [Play], ([play]) => {
    const stream = streamOf(play)
    for (const [k, record] of stream.entries()) {
      if (!isWords(record) && record["type"] !== "error" && record["action"] !== "clear") expectWrong(stream.toSpliced(k, 0, record), record)
    }
  })

  it.prop("swapped with the next is wrong, where both tell of the same request or the same turn", [Play], ([play]) => {
    const stream = streamOf(play)
    const about = (record: RecordObject) => [record["id"], record["request_id"], record["turn_id"]].filter((id) => id !== undefined)
    // A text may be taken before its reply is out, and a turn has its id only at its end.
    const besides = (record: RecordObject) => record["type"] === "response" || record["action"] === "dequeue"
    for (let k = 0; k + 1 < stream.length; k++) {
      const [a, b] = [stream[k]!, stream[k + 1]!]
      if (about(a).some((id) => about(b).includes(id)) && !(isWords(a) && isWords(b)) && !besides(a)) expectWrong(stream.with(k, b).with(k + 1, a), [a, b])
    }
  })
})
