import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type * as Prompt from "effect/ai/Prompt"
import type { AssistantEntry, SessionEntry } from "@nimlet/protocol"
import { transcript, unanswered } from "../src/index.ts"

const user = (text: string): SessionEntry => ({ type: "user", role: "user", content: [{ type: "text", text }] })
const answer = (content: AssistantEntry["content"], cut?: boolean): SessionEntry => ({
  type: "assistant",
  role: "assistant",
  content,
  ...(cut === undefined ? {} : { cut })
})
const said = (text: string, cut?: boolean) => answer([{ type: "text", text }], cut)
const calls = (...ids: Array<string>) => answer(ids.map((id) => ({ type: "tool_use", id, name: "read", input: {} })))
const result = (id: string): SessionEntry => ({ type: "tool_result", id, output: `out ${id}`, is_error: false })

const textsOf = (messages: ReadonlyArray<Prompt.Message>) =>
  messages.map((message) => [message.role, typeof message.content === "string" ? message.content : message.content.map((part) => part.type === "text" ? part.text : part.type).join("|")])

/** What a strict provider finds wrong with messages. */
const faults = (messages: ReadonlyArray<Prompt.Message>): ReadonlyArray<string> => {
  const wrong: Array<string> = messages[0] === undefined || messages[0].role === "user" ? [] : ["the user does not begin"]
  let open: ReadonlyArray<string> = []
  for (const message of messages) {
    const given = message.role === "tool" ? message.content.flatMap((part) => part.type === "tool-result" ? [part.id] : []) : []
    if ([...given].sort().join() !== [...open].sort().join()) wrong.push(`results of ${given.join()} for calls ${open.join()}`)
    if (message.content.length === 0) wrong.push("a message of nothing")
    open = message.role === "assistant" ? message.content.flatMap((part) => part.type === "tool-call" ? [part.id] : []) : []
  }
  return open.length > 0 ? [...wrong, `no results for ${open.join()}`] : wrong
}

describe("a transcript of a damaged session", () => {
  const Step = Schema.Struct({
    kind: Schema.Literals(["user", "answer", "cut", "message", "note", "calls"]),
    count: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 })),
    // Which of the entries of this step were lost, and which came twice.
    lost: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 }))),
    twice: Schema.Boolean
  })

  const entriesOf = (steps: ReadonlyArray<typeof Step.Type>): ReadonlyArray<SessionEntry> =>
    steps.flatMap(({ count, kind, lost, twice }, at): ReadonlyArray<SessionEntry> => {
      const ids = Array.from({ length: count }, (_, k) => `${at}.${k}`)
      const whole: Record<typeof kind, ReadonlyArray<SessionEntry>> = {
        user: [user("go")],
        answer: [said("fine")],
        cut: [answer([{ type: "thinking", thinking: "hm", signature: "" }, { type: "text", text: "fi" }, { type: "tool_use", id: `${at}`, name: "read", input: {} }], true)],
        message: [{ type: "custom_message", custom_type: "x", content: [{ type: "text", text: "by the way" }], display: true }],
        note: [{ type: "label", target_id: "1" }, { type: "extension", extension: "x", data: 1 }],
        calls: [calls(...ids), ...ids.flatMap((id) => twice ? [result(id), result(id)] : [result(id)])]
      }
      return whole[kind].filter((_, k) => !lost.includes(k))
    })

  it.effect.prop("pairs every call with one result, whatever lines are gone", [Schema.Array(Step)], ([steps]) =>
    Effect.sync(() => {
      assert.deepStrictEqual(faults(transcript(entriesOf(steps))), [])
    }))

  it("says to the model that the beginning was lost, where the user does not begin", () => {
    assert.deepStrictEqual(textsOf(transcript([said("fine"), user("more")])), [
      ["user", "[The beginning of this session was lost.]"],
      ["assistant", "fine"],
      ["user", "more"]
    ])
  })

  it("says to the model that a result was lost, and leaves out one that nobody called for", () => {
    const messages = transcript([user("go"), calls("1", "2"), result("2"), user("more"), result("9"), said("done")])
    assert.deepStrictEqual(textsOf(messages).map(([role]) => role), ["user", "assistant", "tool", "user", "assistant"])
    const tool = messages[2]
    assert.deepStrictEqual(
      tool?.role === "tool" ? tool.content.map((part) => part.type === "tool-result" ? [part.id, part.name, part.isFailure, part.result] : []) : [],
      [["1", "read", true, "[The result of this call was lost.]"], ["2", "read", false, "out 2"]]
    )
  })
})

describe("a cut answer", () => {
  it("is told with its mark when the user goes on, its text alone", () => {
    const cut = answer([
      { type: "thinking", thinking: "hm", signature: "" },
      { type: "text", text: "The first half" },
      { type: "tool_use", id: "1", name: "read", input: {} }
    ], true)
    assert.deepStrictEqual(textsOf(transcript([user("go"), cut, user("go on")])), [
      ["user", "go"],
      ["assistant", "The first half|[This answer was cut off here.]"],
      ["user", "go on"]
    ])
    assert.deepStrictEqual(unanswered([user("go"), cut]), [])
  })

  it("is not told when it was tried again, nor as the last word", () => {
    assert.deepStrictEqual(textsOf(transcript([user("go"), said("ha", true), said("half", true), said("whole"), user("more"), said("x", true)])), [
      ["user", "go"],
      ["assistant", "whole"],
      ["user", "more"]
    ])
  })

  it("leaves nothing when it had no text", () => {
    assert.deepStrictEqual(textsOf(transcript([user("go"), said(" \n", true), user("more")])), [["user", "go"], ["user", "more"]])
  })
})

describe("an extension's message", () => {
  it("is read as a user's, but marked as typed by nobody", () => {
    const [message] = transcript([{ type: "custom_message", custom_type: "x", content: [{ type: "text", text: "note this" }], display: false, details: { secret: 1 } }])
    const parts = message?.role === "user" ? message.content : []
    assert.deepStrictEqual(parts.map((part) => part.type === "text" ? [part.text, part.options] : []), [["note this", { nimlet: { typed: false } }]])
    assert.notInclude(JSON.stringify(message), "secret")
  })
})
