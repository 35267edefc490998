import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as AiError from "effect/ai/AiError"
import { TestClock } from "effect/testing"
import { ProviderHooks, RequestLimits } from "@nimlet/provider"
import { calls, noExtensions, refuses, type Replies, type RigOptions, says, settle, tool, withAgent } from "./Rig.ts"

const extensions = () => Effect.succeed(noExtensions)
const rig = (replies: Replies, options: Partial<RigOptions> = {}): RigOptions => ({ replies, agent: { extensions }, ...options })
const question = { prompt: "what is it?", systemPrompt: "Say it short.", maxTokens: 300, readOnlyTools: false }
const looking = { ...question, readOnlyTools: true }
const read = tool("read", { capabilities: ["read"] })
const rolesOf = (request: { readonly prompt: { readonly content: ReadonlyArray<{ readonly role: string }> } } | undefined) =>
  request?.prompt.content.map(({ role }) => role)

describe("a question of an extension to the model", () => {
  it.effect("sends its system text and its words alone; nothing is told or saved", () =>
    withAgent(rig([says("hello"), says("a thing")]), ({ access, asked, entries, events, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("hi")
        const before = events.length
        assert.deepStrictEqual(yield* access().complete("x", question), { text: "a thing", model: "model-1", finishReason: "stop" })
        assert.deepStrictEqual(rolesOf(asked[1]), ["system", "user"])
        assert.include(JSON.stringify(asked[1]?.prompt.content), "Say it short.")
        assert.deepStrictEqual(asked[1]?.tools, [])
        assert.strictEqual(events.length, before)
        assert.strictEqual((yield* entries).length, 2)
      })))

  it.effect("keeps to its limit of tokens, and its request is seen by provider hooks", () => {
    const seen: Array<unknown> = []
    const streamed = Effect.gen(function*() {
      seen.push((yield* RequestLimits).maxOutputTokens, typeof (yield* ProviderHooks).headers)
    })
    return withAgent(rig([calls({ name: "read" }), says("ok")], { tools: [{ ...read, run: () => Effect.as(streamed, { content: [], isError: false }) }] }), ({ access }) =>
      Effect.gen(function*() {
        yield* access().complete("x", looking)
        assert.deepStrictEqual(seen, [300, "function"])
      }))
  })

  it.effect("may look around with glob, grep, ls and read, and with nothing else", () =>
    withAgent(rig([calls({ name: "read", id: "1" }, { name: "write", id: "2" }), says("seen")], {
      tools: [read, tool("grep"), tool("write"), tool("bash"), tool("ls"), tool("glob")]
    }), ({ access, asked, fired }) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* access().complete("x", looking)).text, "seen")
        assert.deepStrictEqual(asked[0]?.tools.map(({ name }) => name), ["read", "grep", "ls", "glob"])
        const results = JSON.stringify(asked[1]?.prompt.content.at(-1))
        assert.include(results, "read ran")
        assert.include(results, "Unknown tool: write")
        assert.deepStrictEqual(fired.filter(({ event }) => event.startsWith("tool_")).map(({ event }) => event), ["tool_call", "tool_result"])
      })))

  it.effect("asks guards about a tool, but not the extension that waits for the answer", () =>
    withAgent(rig([calls({ name: "read" }), says("ok")], {
      tools: [read],
      answers: { tool_call: () => ({ _tag: "Blocked", reason: "secret file", blockedBy: ["guard"] }) as never }
    }), ({ access, asked, fired, hookOptions }) =>
      Effect.gen(function*() {
        yield* access().complete("asker", looking)
        assert.deepStrictEqual(hookOptions[fired.findIndex(({ event }) => event === "tool_call")], { except: "asker" })
        assert.include(JSON.stringify(asked[1]?.prompt.content), "approval_denied: secret file")
      })))

  it.effect("has to answer after 4 rounds", () =>
    withAgent(rig(({ toolChoice }) => toolChoice === "none" ? says("enough") : calls({ name: "read" }), { tools: [read] }), ({ access, asked }) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* access().complete("x", looking)).text, "enough")
        assert.deepStrictEqual(asked.map(({ toolChoice }) => toolChoice), ["auto", "auto", "auto", "auto", "none"])
        // The tools stay in sight: what was called is in the conversation.
        assert.strictEqual(asked[4]?.tools.length, 1)
      })))

  it.effect("has to answer after 8 calls, the ninth of which does not run", () => {
    let ran = 0
    const counted = { ...read, run: () => Effect.sync(() => (ran++, { content: [], isError: false })) }
    const three = [1, 2, 3].map(() => ({ name: "read" }))
    return withAgent(rig(({ toolChoice }) => toolChoice === "none" ? says("enough") : calls(...three), { tools: [counted] }), ({ access, asked }) =>
      Effect.gen(function*() {
        yield* access().complete("x", looking)
        assert.strictEqual(ran, 8)
        assert.strictEqual(asked.length, 4)
      }))
  })

  it.effect("gets at most 24,000 bytes of an output, whole characters", () => {
    const long = { ...read, run: () => Effect.succeed({ content: [{ type: "text" as const, text: "a" + "\u00e4".repeat(20_000) }], isError: false }) }
    return withAgent(rig([calls({ name: "read" }), says("ok")], { tools: [long] }), ({ access, asked }) =>
      Effect.gen(function*() {
        yield* access().complete("x", looking)
        const text = JSON.stringify(asked[1]?.prompt.content.at(-1))
        assert.notInclude(text, "\uFFFD")
        assert.include(text, "bytes left out")
        assert.isBelow(Buffer.byteLength(text), 24_500)
      }))
  })

  it.effect("is tried again where that helps, and fails with what the provider said", () =>
    withAgent(rig([refuses(new AiError.RateLimitError({})), says("ok"), refuses(new AiError.AuthenticationError({ kind: "InvalidKey" }))]), ({ access, events }) =>
      Effect.gen(function*() {
        const asking = yield* Effect.forkChild(access().complete("x", question))
        yield* settle
        yield* TestClock.adjust("1 minute")
        assert.strictEqual((yield* Fiber.join(asking)).text, "ok")
        const failed = yield* Effect.flip(access().complete("x", question))
        assert.isFalse(failed.cancelled)
        assert.isNotEmpty(failed.reason)
        assert.deepStrictEqual(events, [])
      })))
})

describe("what an extension may know of its session", () => {
  it.effect("is its id, title, file, workspace, and how many entries it has", () =>
    withAgent(rig([says("ok")]), ({ access, prompt, session }) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* access().name(undefined), "")
        assert.strictEqual(yield* access().name("My work"), "My work")
        yield* prompt("hi")
        assert.deepStrictEqual(yield* access().info, { id: session.id, name: "My work", path: "", workspace: "/w", eventCount: 3 })
        assert.deepStrictEqual((yield* session.entries).map(({ type }) => type), ["name", "user", "assistant"])
      })))

  it.effect("is how full the context is, in tokens and percent", () =>
    withAgent(rig([says("ok", 500)], { contextWindow: 1_000 }), ({ access, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("hi")
        const { limit, percent, tokens } = yield* access().usage
        assert.strictEqual(limit, 1_000)
        assert.isAtLeast(tokens, 500)
        assert.strictEqual(percent, Math.round(tokens / 10))
      })))
})
