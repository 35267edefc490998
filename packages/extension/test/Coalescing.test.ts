import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { AnswerDelta } from "@nimlet/protocol"
import { Coalescing } from "../src/Hooks/Coalescing.ts"
import { answering, type Json, memory, peer, startAll } from "./kit.ts"
import { settle } from "./settle.ts"

const place = { session_id: "s", workspace: "/w" }
const says = (delta: string, index = 0): AnswerDelta => ({ kind: "text", index, delta })
const update = (answer: number, ...deltas: ReadonlyArray<AnswerDelta>) => ({ ...place, answer, deltas })
const payloads = (heard: ReadonlyArray<Json>) => heard.filter(({ type }) => type === "event").map(({ payload }) => payload as Json)

describe("an answer that grows faster than an extension takes it", () => {
  it.effect("is told in one piece when the one before was taken, and nothing waits for it", () => {
    const a = peer({ events: ["message_update", "message_saved"] })
    const b = peer({ events: ["message_update"] }, answering({}))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {}, b: {} } })
      yield* host.start
      for (const word of ["one ", "two ", "three"]) {
        yield* host.hooks.run("message_update", update(1, says(word)))
        yield* settle
      }
      // `a` has not answered yet; `b` does not wait for it.
      assert.deepStrictEqual(payloads(a.heard), [update(1, says("one "))])
      assert.lengthOf(payloads(b.heard), 3)
      const message = { role: "user", content: [] }
      yield* host.hooks.run("message_saved", { ...place, message })
      yield* settle
      assert.deepStrictEqual(payloads(a.heard), [update(1, says("one ")), update(1, says("two three")), { ...place, message }])
    }).pipe(Effect.provide(memory({ a: a.script, b: b.script })))
  })

  it.effect("is told on when it answers", () => {
    let answers = false
    const a = peer({ events: ["message_update"] }, (message, self) => answers ? answering({})(message, self) : Effect.void)
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { response_timeout_seconds: 5 } } })
      yield* host.start
      answers = true
      yield* host.hooks.run("message_update", update(1, says("a")))
      yield* host.hooks.run("message_update", update(1, says("b")))
      yield* host.hooks.run("message_update", update(1, says("c", 1)))
      yield* settle
      const all = payloads(a.heard).flatMap(({ deltas }) => deltas as ReadonlyArray<AnswerDelta>)
      assert.deepStrictEqual(all.flatMap((each) => each.kind === "text" ? [each.delta] : []).join(""), "abc")
      assert.isBelow(a.heard.length, 5)
    }).pipe(Effect.provide(memory({ a: a.script })))
  })
})

describe("Coalescing", () => {
  it("joins what belongs together, keeps the newest output of a tool, and answers and calls apart", () => {
    const state = new Coalescing()
    const call = (id: string, output: string) => ({ tool: "t", tool_call_id: id, arguments: {}, output })
    assert.isTrue(state.takes("a", "message_update", update(1, says("x"))))
    assert.isFalse(state.takes("a", "message_update", update(1, says("y"), says("z", 1))))
    assert.isFalse(state.takes("a", "message_update", update(1, says("!", 1), { kind: "tool_call", index: 2, id: "c", name: "n", arguments: {} })))
    assert.isTrue(state.takes("a", "message_update", update(2, says("other"))))
    assert.isTrue(state.takes("a", "tool_execution_update", call("1", "a")))
    assert.isTrue(state.takes("a", "tool_execution_update", call("2", "a")))
    assert.isFalse(state.takes("a", "tool_execution_update", call("1", "ab")))
    assert.isFalse(state.takes("a", "tool_execution_update", call("1", "abc")))
    assert.isTrue(state.takes("a", "agent_settled", place))
    assert.isTrue(state.takes("b", "message_update", update(1, says("x"))))
    assert.deepStrictEqual(state.next("a", "message_update", update(1)), update(1, says("y"), says("z!", 1), { kind: "tool_call", index: 2, id: "c", name: "n", arguments: {} }))
    assert.isUndefined(state.next("a", "message_update", update(1)))
    assert.isTrue(state.holds)
    assert.deepStrictEqual(state.flush("a").map(({ payload }) => payload), [call("1", "abc")])
    assert.isFalse(state.holds)
    assert.deepStrictEqual(state.flush("b"), [])
  })
})
