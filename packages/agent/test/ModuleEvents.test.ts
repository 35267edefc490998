import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { HookName, JsonObject } from "@nimlet/protocol"
import { moduleEvents } from "@nimlet/protocol"
import { calls, hangsAfter, type Rig, says, settle, tool, withAgent } from "./Rig.ts"

const only = (...events: ReadonlyArray<HookName>) => (event: HookName) => events.includes(event)
const everything = (event: HookName) => moduleEvents.includes(event) || event === "message_end"
const names = ({ fired }: Rig) => fired.map(({ event }) => event).filter((event) => event !== "session_start" && event !== "resources_discover")
const payloadsOf = ({ fired }: Rig, name: HookName): ReadonlyArray<any> => fired.flatMap(({ event, payload }) => event === name ? [payload] : [])
const roles = (messages: ReadonlyArray<JsonObject>) => messages.map(({ role }) => role)

describe("what modules are told of a run", () => {
  it.effect("a run, its steps, its messages and its tools, in order and with all fields", () =>
    withAgent({ replies: [calls({ name: "write", args: { a: 1 }, id: "c1" }), says("done")], tools: [tool("write")], subscribed: everything }, (rig) =>
      Effect.gen(function*() {
        yield* rig.prompt("go")
        const saved = ["message_start", "message_saved"]
        assert.deepStrictEqual(names(rig), [
          ...saved, "agent_start",
          "step_start", "model_context", "message_start", "message_update", "message_end", "message_saved",
          "tool_execution_start", "tool_execution_end", ...saved, "step_end",
          "step_start", "model_context", "message_start", "message_update", "message_end", "message_saved", "step_end",
          "agent_end"
        ])
        const [first, second] = payloadsOf(rig, "step_end")
        assert.deepStrictEqual([first.step, second.step], [0, 1])
        assert.deepInclude(first.message, { role: "assistant", stopReason: "toolUse" })
        assert.deepStrictEqual(first.tool_results.map(({ toolCallId, toolName }: JsonObject) => [toolCallId, toolName]), [["c1", "write"]])
        assert.deepStrictEqual(second.tool_results, [])
        assert.deepStrictEqual(roles(payloadsOf(rig, "agent_end")[0].messages), ["user", "assistant", "toolResult", "assistant"])
        assert.deepStrictEqual(payloadsOf(rig, "tool_execution_start"), [{ tool: "write", tool_call_id: "c1", arguments: { a: 1 } }])
        assert.deepStrictEqual(payloadsOf(rig, "tool_execution_end"), [{ tool: "write", tool_call_id: "c1", output: "write ran", is_error: false }])
        assert.deepStrictEqual(payloadsOf(rig, "message_update").map(({ deltas }) => deltas), [
          [{ kind: "tool_call", index: 0, id: "c1", name: "write", arguments: { a: 1 } }],
          [{ kind: "text", index: 0, delta: "done" }]
        ])
        assert.deepStrictEqual(roles(payloadsOf(rig, "message_saved").map(({ message }) => message)), ["user", "assistant", "toolResult", "assistant"])
      })))

  it.effect("an interrupt ends the step and the run for them too", () =>
    withAgent({ replies: [hangsAfter("half")], subscribed: everything }, (rig) =>
      Effect.gen(function*() {
        const running = yield* Effect.forkChild(rig.prompt("go"))
        yield* settle
        yield* Fiber.interrupt(running)
        assert.sameMembers(names(rig).slice(-2), ["step_end", "agent_end"])
        const [end] = payloadsOf(rig, "step_end")
        assert.deepInclude(end.message, { role: "assistant", stopReason: "aborted", errorMessage: "Interrupted" })
      })))

  it.effect("where nobody subscribed nothing is asked", () =>
    withAgent({ replies: [calls({ name: "write" }), says("done")], tools: [tool("write")], subscribed: () => false }, (rig) =>
      Effect.gen(function*() {
        yield* rig.prompt("go")
        assert.deepStrictEqual(rig.fired, [])
      })))

  it.effect("what a tool says while it runs, all of it so far", () =>
    withAgent({
      replies: [calls({ name: "slow", id: "c" }), says("done")],
      tools: [tool("slow", { run: (_, { output }) => Effect.as(Effect.andThen(output("one "), output("two")), { content: [], isError: false }) })],
      subscribed: only("tool_execution_update")
    }, (rig) =>
      Effect.gen(function*() {
        yield* rig.prompt("go")
        assert.deepStrictEqual(payloadsOf(rig, "tool_execution_update").map(({ output }) => output), ["one ", "one two"])
      })))
})

describe("the messages of a request", () => {
  const textsOf = (request: { readonly prompt: { readonly content: ReadonlyArray<any> } }) =>
    request.prompt.content.filter(({ role }) => role !== "system").map(({ content, role }) =>
      `${role}: ${content.map((part: any) => part.text ?? part.name).join(" ")}`)

  it.effect("may be changed for that request alone", () =>
    withAgent({
      replies: [says("one"), calls({ name: "write", id: "c1" }), says("three")],
      tools: [tool("write")],
      subscribed: only("model_context"),
      answers: {
        model_context: ({ messages }) =>
          messages.length < 3 ? {} : { changedBy: ["x"], payload: { messages: [{ role: "user", content: "instead of the beginning" }, ...messages.slice(2)] } }
      }
    }, (rig) =>
      Effect.gen(function*() {
        yield* rig.prompt("a")
        yield* rig.prompt("b")
        assert.deepStrictEqual(rig.asked.map(textsOf), [
          ["user: a"],
          ["user: instead of the beginning", "user: b"],
          ["user: instead of the beginning", "user: b", "assistant: write", "tool: write"]
        ])
        assert.deepStrictEqual((yield* rig.entries).map(({ type }) => type), ["user", "assistant", "user", "assistant", "tool_result", "assistant"])
      })))

  it.effect("a call whose result was taken away gets one, and an extension's own message is the user's", () =>
    withAgent({
      replies: [calls({ name: "write", id: "c1" }), says("end")],
      tools: [tool("write")],
      subscribed: only("model_context"),
      answers: {
        model_context: ({ messages }) => ({
          changedBy: ["x"],
          payload: { messages: [...messages.filter(({ role }) => role !== "toolResult"), { role: "custom", customType: "note", content: [{ type: "text", text: "mind this" }] }, { role: "none" }] }
        })
      }
    }, (rig) =>
      Effect.gen(function*() {
        yield* rig.prompt("a")
        assert.deepStrictEqual(textsOf(rig.asked[1]!), ["user: a", "assistant: write", "tool: write", "user: mind this"])
      })))
})
