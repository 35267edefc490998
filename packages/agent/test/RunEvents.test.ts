import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import * as AiError from "effect/ai/AiError"
import { TestClock } from "effect/testing"
import type { ContentPart, SessionEntry } from "@nimlet/protocol"
import { replaceText } from "../src/RunEvents.ts"
import { type Answers, calls, hangsAfter, refuses, says, settle, shape, tool, withAgent } from "./Rig.ts"

const wordsOf = (entries: ReadonlyArray<SessionEntry>) =>
  entries.flatMap((entry) =>
    entry.type === "user" || entry.type === "assistant"
      ? [[entry.type, entry.content.flatMap((part) => part.type === "text" ? [part.text] : []).join("|")]]
      : [])
const systemOf = (request: { readonly prompt: { readonly content: ReadonlyArray<{ readonly role: string; readonly content: unknown }> } } | undefined) =>
  request?.prompt.content.find(({ role }) => role === "system")?.content
const textsOf = (request: { readonly prompt: { readonly content: ReadonlyArray<{ readonly role: string; readonly content: unknown }> } } | undefined) =>
  request?.prompt.content.flatMap(({ content, role }) =>
    Array.isArray(content) ? [`${role}: ${content.map((part) => part.text ?? part.type).join("|")}`] : [])
const payloadsOf = (fired: ReadonlyArray<{ readonly event: string; readonly payload: object }>, name: string): ReadonlyArray<any> =>
  fired.flatMap(({ event, payload }) => event === name ? [payload] : [])

describe("input", () => {
  // X-038 X-066 X-067 X-068
  it.effect("replaces what was submitted before it is saved, told or sent", () =>
    withAgent({
      replies: [says("ok")],
      answers: { input: (payload) => ({ payload: { ...payload, text: `${payload.text}, please` } }) }
    }, ({ asked, entries, events, fired, prompt, session }) =>
      Effect.gen(function*() {
        assert.isTrue((yield* prompt("fix it")).success)
        assert.deepStrictEqual(payloadsOf(fired, "input"), [{ session_id: session.id, workspace: "/w", text: "fix it", images: [] }])
        assert.deepStrictEqual(wordsOf(yield* entries), [["user", "fix it, please"], ["assistant", "ok"]])
        assert.deepStrictEqual(events.flatMap((event) => event.type === "run_start" ? [event.prompt] : []), ["fix it, please"])
        assert.deepStrictEqual(textsOf(asked[0]), ["user: fix it, please"])
      })))

  // X-039 X-069
  it.effect("ends a blocked turn with the reason; nothing is saved and no model asked", () =>
    withAgent({
      replies: [says("ok")],
      answers: { input: () => ({ _tag: "Blocked", reason: "not on a Friday", blockedBy: ["guard"] }) as never }
    }, ({ asked, entries, events, log, prompt }) =>
      Effect.gen(function*() {
        assert.isFalse((yield* prompt("deploy")).success)
        assert.deepStrictEqual(shape(events), ["message", "run_start", "error", "run_end"])
        assert.deepInclude(events.find((event) => event.type === "error"), { message: "not on a Friday", step: -1 })
        assert.deepStrictEqual(yield* entries, [])
        assert.strictEqual(asked.length, 0)
        assert.deepStrictEqual(log, ["session_start", "input", "agent_settled"])
      })))
})

describe("before_agent_start", () => {
  // X-040 X-041 X-058 X-059 X-060 X-061 X-062 X-063 X-064
  it.effect("replaces the base system text of one run, and saves a message after the user's own words", () =>
    withAgent({
      replies: [says("one"), says("two")],
      agent: { appended: ["Instructions of the project."] },
      answers: {
        before_agent_start: (payload) =>
          payload.prompt === "first" ? { payload: { ...payload, system_prompt: "Answer briefly." }, messages: [{ content: "Task: first" }, { content: "Mind the tests." }] } : {}
      }
    }, ({ asked, entries, fired, prompt, session }) =>
      Effect.gen(function*() {
        yield* prompt("first")
        yield* prompt("second")
        assert.deepStrictEqual(payloadsOf(fired, "before_agent_start")[0], {
          session_id: session.id, workspace: "/w", prompt: "first", images: [], system_prompt: "be good"
        })
        assert.deepStrictEqual(asked.map(systemOf), ["Answer briefly.\n\nInstructions of the project.", "be good\n\nInstructions of the project."])
        assert.deepStrictEqual(textsOf(asked[0]), ["user: first", "user: Task: first", "user: Mind the tests."])
        assert.deepStrictEqual(wordsOf(yield* entries).slice(0, 4), [["user", "first"], ["user", "Task: first"], ["user", "Mind the tests."], ["assistant", "one"]])
      })))

  //
  it.effect("changes only what a reply names", () =>
    withAgent({
      replies: [says("one"), says("two")],
      answers: {
        before_agent_start: (payload) => payload.prompt === "a" ? { payload: { ...payload, system_prompt: "Other." } } : { messages: [{ content: "only this" }] }
      }
    }, ({ asked, entries, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("a")
        assert.strictEqual((yield* entries).length, 2)
        yield* prompt("b")
        assert.strictEqual(systemOf(asked[1]), "be good")
        assert.include(textsOf(asked[1])?.join("\n"), "user: only this")
      })))
})

describe("context", () => {
  // X-031 X-032
  it.effect("adds system text and messages to the requests of one step and to nothing else", () =>
    withAgent({
      replies: [calls({ name: "write" }), says("done")],
      tools: [tool("write")],
      answers: {
        context: (payload) =>
          payload.messages.length > 1 ? {} : {
            payload: { system: [...payload.system, "It is Monday."], messages: [...payload.messages, { role: "user", content: "Branch: main" }, { role: "assistant", content: [{ type: "text", text: "Noted." }] }] },
            changedBy: ["clock"]
          }
      }
    }, ({ asked, diagnostics, entries, fired, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("go")
        assert.deepStrictEqual(asked.map(systemOf), ["be good\n\nIt is Monday.", "be good"])
        assert.deepStrictEqual(textsOf(asked[0]), ["user: go", "user: Branch: main", "assistant: Noted."])
        assert.deepStrictEqual(textsOf(asked[1]), ["user: go", "assistant: tool-call", "tool: tool-result"])
        assert.deepStrictEqual(wordsOf(yield* entries), [["user", "go"], ["assistant", ""], ["assistant", "done"]])
        assert.deepStrictEqual(payloadsOf(fired, "context")[1], {
          system: ["be good"],
          messages: [
            { role: "user", content: "go" },
            { role: "assistant", content: "", tool_calls: [{ id: "write", type: "function", function: { name: "write", arguments: "{}" } }] },
            { role: "tool", tool_call_id: "write", content: "write ran" }
          ]
        })
        assert.deepStrictEqual(diagnostics, [])
      })))

  it.effect("is not asked again for another attempt of a step, which has the same additions", () =>
    withAgent({
      replies: [refuses(new AiError.RateLimitError({})), says("hello")],
      answers: { context: (payload) => ({ payload: { ...payload, system: [...payload.system, "More."] } }) }
    }, ({ asked, fired, prompt }) =>
      Effect.gen(function*() {
        const running = yield* Effect.forkChild(prompt("hi"))
        yield* settle
        yield* TestClock.adjust("1 minute")
        yield* Fiber.join(running)
        assert.deepStrictEqual(asked.map(systemOf), ["be good\n\nMore.", "be good\n\nMore."])
        assert.strictEqual(payloadsOf(fired, "context").length, 1)
        assert.strictEqual(payloadsOf(fired, "input").length, 1)
        assert.strictEqual(payloadsOf(fired, "before_agent_start").length, 1)
        assert.strictEqual(payloadsOf(fired, "turn_start").length, 1)
      })))

  it.effect("leaves out a message of a role it does not know, with a warning that names who added it", () =>
    withAgent({
      replies: [says("ok")],
      answers: {
        context: (payload) => ({
          payload: { ...payload, messages: [...payload.messages, { role: "tool", content: "x" }, { role: "user", content: "y" }, { role: "user" }] },
          changedBy: ["odd"]
        })
      }
    }, ({ asked, diagnostics, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("hi")
        assert.deepStrictEqual(textsOf(asked[0]), ["user: hi", "user: y"])
        assert.strictEqual(diagnostics.length, 1)
        assert.include(diagnostics[0], "odd")
      })))
})

describe("message_end", () => {
  //
  it.effect("replaces an answer's text before it is saved, told and sent on; answers that only call tools are asked about, too", () =>
    withAgent({
      replies: [calls({ name: "write" }), says("my secret"), says("again")],
      tools: [tool("write")],
      answers: { message_end: (payload) => ({ payload: { ...payload, text: payload.text.replace("secret", "***") } }) }
    }, ({ asked, entries, events, fired, prompt, session }) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* prompt("tell")).text, "my ***")
        yield* prompt("more")
        const about = { session_id: session.id, workspace: "/w", role: "assistant" }
        assert.deepStrictEqual(payloadsOf(fired, "message_end").slice(0, 2), [{ ...about, text: "" }, { ...about, text: "my secret" }])
        assert.deepStrictEqual(events.flatMap((event) => event.type === "message" && event.role === "assistant" ? [event.content] : []), ["my ***", "again"])
        assert.notInclude(JSON.stringify(yield* entries), "secret")
        assert.notInclude(JSON.stringify(asked[2]?.prompt.content), "secret")
      })))

  it("keeps thinking and calls as they were, and nothing that the provider sent with a replaced text", () => {
    const content: readonly [ContentPart, ContentPart, ContentPart, ContentPart] = [
      { type: "thinking", thinking: "hm", signature: "s", provider_data: { anthropic: { signature: "s" } } },
      { type: "text", text: "one", provider_data: { openai: { itemId: "msg_1" } } },
      { type: "tool_use", id: "1", name: "bash", input: {}, provider_data: { google: { thoughtSignature: "t" } } },
      { type: "text", text: "two" }
    ]
    assert.deepStrictEqual(replaceText(content, "three"), [content[0], { type: "text", text: "three" }, content[2]])
    assert.deepStrictEqual(replaceText(content.slice(2, 3), "before"), [{ type: "text", text: "before" }, content[2]])
    assert.deepStrictEqual(replaceText(content, ""), [content[0], content[2]])
    assert.deepStrictEqual(replaceText(content.slice(0, 2), ""), [])
  })
})

describe("an interrupt", () => {
  const hangs = (event: keyof Answers, gate: Deferred.Deferred<void>): Answers =>
    ({ [event]: () => Effect.andThen(Deferred.succeed(gate, undefined), Effect.never) })

  // E-161 E-200 X-043
  it.effect.each(["input", "before_agent_start", "turn_start", "context", "message_end", "tool_call", "tool_result"] as const)(
    "while %s is asked ends the turn once, as interrupted, and settles it",
    (event) =>
      Effect.gen(function*() {
        const reached = yield* Deferred.make<void>()
        yield* withAgent({
          replies: [calls({ name: "write" }), says("done")],
          tools: [tool("write")],
          answers: hangs(event, reached)
        }, ({ entries, events, fired, prompt, session }) =>
          Effect.gen(function*() {
            const running = yield* Effect.forkChild(prompt("go"))
            yield* Deferred.await(reached)
            yield* Fiber.interrupt(running)
            assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(running)))
            assert.deepStrictEqual(payloadsOf(fired, "turn_end"), [{ session_id: session.id, workspace: "/w", interrupted: true }])
            assert.deepStrictEqual(fired.slice(-2).map(({ event }) => event), ["turn_end", "agent_settled"])
            assert.deepStrictEqual(events.slice(-2).map(({ type }) => type), ["error", "run_end"])
            const calls = (yield* entries).filter((entry) => entry.type === "assistant").length
            assert.strictEqual((yield* entries).filter((entry) => entry.type === "tool_result").length, calls)
          }))
      })
  )

  it.effect("during the model's stream, twice, ends the turn once", () =>
    withAgent({ replies: [hangsAfter("half")] }, ({ fired, prompt }) =>
      Effect.gen(function*() {
        const running = yield* Effect.forkChild(prompt("go"))
        yield* settle
        yield* Effect.all([Fiber.interrupt(running), Fiber.interrupt(running)], { concurrency: 2 })
        assert.strictEqual(payloadsOf(fired, "turn_end").length, 1)
        assert.strictEqual(payloadsOf(fired, "agent_settled").length, 1)
      })))

  const mute: Answers = { turn_end: () => Effect.never, agent_settled: () => Effect.never }

  it.effect("waits a second for extensions to have seen the turn's end, and each hears of both events at once", () =>
    withAgent({ replies: [hangsAfter("half")], answers: mute }, ({ events, fired, prompt }) =>
      Effect.gen(function*() {
        const running = yield* Effect.forkChild(prompt("go"))
        yield* settle
        const stopping = yield* Effect.forkChild(Fiber.interrupt(running))
        yield* settle
        assert.deepStrictEqual(fired.slice(-2).map(({ event }) => event), ["turn_end", "agent_settled"])
        yield* TestClock.adjust("999 millis")
        assert.isUndefined(stopping.pollUnsafe())
        yield* TestClock.adjust("1 millis")
        yield* Fiber.join(stopping)
        assert.strictEqual(events.at(-1)?.type, "run_end")
      })))

  it.effect("of a run that has answered cuts the wait for extensions short, which is told, and both events are heard of once", () =>
    withAgent({ replies: [says("done")], answers: mute }, ({ events, fired, prompt }) =>
      Effect.gen(function*() {
        const running = yield* Effect.forkChild(prompt("go"))
        yield* settle
        assert.strictEqual(fired.at(-1)?.event, "turn_end")
        const stopping = yield* Effect.forkChild(Fiber.interrupt(running))
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(stopping)
        assert.deepStrictEqual(fired.slice(-2).map(({ event }) => event), ["turn_end", "agent_settled"])
        assert.deepStrictEqual(events.slice(-2).map(({ type }) => type), ["error", "run_end"])
        assert.strictEqual(payloadsOf(fired, "turn_end").length, 1)
        assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(running)))
      })))

  it.effect("is not needed for a run to end: each of its last events is waited for 10 s", () =>
    withAgent({ replies: [says("done")], answers: mute }, ({ events, prompt }) =>
      Effect.gen(function*() {
        const running = yield* Effect.forkChild(prompt("go"))
        yield* settle
        yield* TestClock.adjust("19999 millis")
        assert.isUndefined(running.pollUnsafe())
        yield* TestClock.adjust("1 millis")
        assert.isTrue((yield* Fiber.join(running)).success)
        assert.isTrue(events.every(({ type }) => type !== "error"))
      })))
})

describe("nobody subscribed", () => {
  it.effect("nothing is asked", () =>
    withAgent({ replies: [says("ok")], subscribed: () => false }, ({ fired, prompt }) =>
      Effect.gen(function*() {
        assert.isTrue((yield* prompt("go")).success)
        assert.deepStrictEqual(fired, [])
      })))
})
