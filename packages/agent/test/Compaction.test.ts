import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import * as AiError from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import { TestClock } from "effect/testing"
import type { Hooks } from "@nimlet/extension"
import type { AgentEvent, HookPayload, SessionEntry } from "@nimlet/protocol"
import { textResult } from "@nimlet/tools"
import { calls, hangsAfter, type Reply, refuses, type RigOptions, says, settle, tool, withAgent } from "./Rig.ts"

type Request = LanguageModel.ProviderOptions

/** A window of 4,000 tokens, full at 3,000; the last 500 stay; 1,024 must come before the next attempt. */
const small = { contextWindow: 4_000, compaction: { reserve_tokens: 1_000, keep_recent_tokens: 500 } } satisfies Partial<RigOptions>
const tokens = (count: number, word = "abcd") => word.padEnd(4).slice(0, 4).repeat(count)
const overflow = refuses(new AiError.InvalidRequestError({ description: "prompt is too long", parameter: "prompt", constraint: "exceeds the context window" }))

const textOf = (request: Request | undefined) => JSON.stringify(request?.prompt.content)
/** The summariser is the one that is offered no tools and told to keep a memory. */
const isSummary = (request: Request) => request.tools.length === 0 && textOf(request).includes("working memory")
/** Answers that sum up when asked to, and else go on as told. */
const summing = (summary: string | (() => Reply), next: (request: Request) => Reply) => (request: Request): Reply =>
  isSummary(request) ? typeof summary === "string" ? says(summary) : summary() : next(request)
const inOrder = (...replies: ReadonlyArray<Reply>) => {
  let at = 0
  return () => replies[at++] ?? says("(nothing prepared)")
}

const compactions = (entries: ReadonlyArray<SessionEntry>) => entries.flatMap((entry) => entry.type === "compaction" ? [entry] : [])
const diagnostics = (events: ReadonlyArray<AgentEvent>) =>
  events.flatMap((event) => event.type === "diagnostic" ? [[event.level, event.message] as const] : [])

type Fired = ReadonlyArray<{ readonly event: string; readonly payload: object }>
const told = (fired: Fired, event: string) => fired.flatMap((one) => one.event === event ? [one.payload as Record<string, unknown>] : [])
/** Hooks that answer some events and let the rest pass. */
const answering = (fired: Array<{ event: string; payload: object }>, answers: { readonly [event: string]: object }): Partial<Hooks["Service"]> => ({
  run: (event, payload) =>
    Effect.sync(() => {
      fired.push({ event, payload })
      return { _tag: "Continue", payload, changedBy: [], ...answers[event] } as never
    })
})

/** Whether a strict provider would take the messages. */
const pairs = ({ prompt }: Request): boolean => {
  let open: ReadonlyArray<string> = []
  return prompt.content.slice(1).every((message, at) => {
    const given = message.role === "tool" ? message.content.flatMap((part) => part.type === "tool-result" ? [part.id] : []) : []
    const paired = given.join() === open.join() && (at > 0 || message.role === "user")
    open = message.role === "assistant" ? message.content.flatMap((part) => part.type === "tool-call" ? [part.id] : []) : []
    return paired
  }) && open.length === 0
}

describe("automatic compaction", () => {
  // E-168 E-170 E-206 E-208 E-209 E-210 E-215 E-216 E-217 E-219 E-221 E-222 E-233
  it.effect("sums up what is old before a request that would be too full, and tells extensions and people", () =>
    withAgent({ ...small, replies: summing("all about the old", () => says("ok")) }, ({ asked, entries, events, fired, prompt }) =>
      Effect.gen(function*() {
        yield* prompt(tokens(1500, "old"))
        const before = yield* entries
        yield* prompt(tokens(1600, "new"))
        assert.deepStrictEqual(asked.map(isSummary), [false, true, false])
        assert.include(textOf(asked[1]), "old old")
        assert.notInclude(textOf(asked[1]), "new new")
        assert.include(textOf(asked[2]), "<summary>\\nall about the old\\n</summary>")
        assert.include(textOf(asked[2]), "new new")
        assert.notInclude(textOf(asked[2]), "old old")

        const [record] = compactions(yield* entries)
        assert.deepInclude(record, { summary: "all about the old", first_kept_index: 2 })
        assert.isAbove(record!.tokens_before, 3_000)
        assert.deepStrictEqual((yield* entries).slice(0, 2), before)

        const session = { session_id: (told(fired, "session_start")[0] ?? {})["session_id"], workspace: "/w" }
        const [asking] = told(fired, "session_before_compact")
        assert.deepStrictEqual(asking, { ...session, instruction: "", tokens_before: record!.tokens_before, entries: (yield* entries).slice(0, 3) })
        assert.deepStrictEqual(told(fired, "session_compact"), [{
          ...session,
          did_compact: true,
          summary: "all about the old",
          first_kept_index: 2,
          tokens_before: record!.tokens_before,
          message: "Auto-compacted context"
        }])
        const [[level, message]] = diagnostics(events) as [readonly [string, string]]
        assert.strictEqual(level, "warning")
        assert.match(message, /^Auto-compacted context: about 3\d\d\d tokens before, 1\d\d\d now$/)
      })))

  it.effect("goes by what the provider counted", () =>
    withAgent({ ...small, replies: summing("sum", inOrder(says("one"), says("two", 2_950))) }, ({ asked, prompt }) =>
      Effect.gen(function*() {
        yield* prompt(tokens(400))
        yield* prompt(tokens(200))
        yield* prompt(tokens(100))
        assert.deepStrictEqual(asked.map(isSummary), [false, false, true, false])
      })))

  it.effect("carries the earlier summary on, and begins where the earlier one ended", () => {
    let n = 0
    return withAgent({ ...small, replies: summing(() => says(`summary ${++n}`), () => says("ok")) }, ({ asked, entries, prompt }) =>
      Effect.gen(function*() {
        for (const word of ["aaa", "bbb", "ccc"]) yield* prompt(tokens(1_600, word))
        const second = asked.filter(isSummary)[1]
        assert.include(textOf(second), "<previous-summary>\\nsummary 1\\n")
        assert.include(textOf(second), "bbb bbb")
        assert.notInclude(textOf(second), "aaa aaa")
        assert.deepStrictEqual(compactions(yield* entries).map((record) => record.first_kept_index), [2, 5])
        assert.notInclude(textOf(asked.at(-1)), "summary 1")
        assert.include(textOf(asked.at(-1)), "summary 2")
      }))
  })

  it.effect("compacts between the steps of one long turn, and every request is whole and fits", () => {
    let step = 0
    return withAgent({
      ...small,
      tools: [tool("bash", { run: () => Effect.succeed(textResult(tokens(500))) })],
      replies: summing("what was done", () => ++step > 40 ? says("done") : calls({ name: "bash", id: `a${step}` }, { name: "bash", id: `b${step}` }))
    }, ({ asked, entries, prompt }) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* prompt("go"), { success: true, text: "done" })
        assert.strictEqual((yield* entries).filter((entry) => entry.type === "tool_result").length, 80)
        assert.isAbove(compactions(yield* entries).length, 10)
        for (const request of asked) {
          assert.isTrue(pairs(request), textOf(request))
          assert.isBelow(textOf(request).length / 4, 4_000)
        }
        const starts = compactions(yield* entries).map((record) => record.first_kept_index)
        assert.deepStrictEqual(starts, [...new Set(starts)].sort((a, b) => a - b))
      }))
  })

  it.effect("keeps nothing word for word of a step that fills the window by itself", () =>
    withAgent({
      ...small,
      tools: [tool("bash", { run: () => Effect.succeed(textResult(tokens(6_000))) })],
      replies: summing("a huge listing", inOrder(calls({ name: "bash" }), says("done")))
    }, ({ asked, prompt }) =>
      Effect.gen(function*() {
        assert.isTrue((yield* prompt("list all")).success)
        assert.deepStrictEqual(asked.at(-1)?.prompt.content.map((message) => message.role), ["system", "user"])
        assert.include(textOf(asked.at(-1)), "a huge listing")
        assert.isBelow(textOf(asked[1]).length, 20_000)
      })))

  it.effect("is not repeated where it does not help, and says so once", () =>
    withAgent({ ...small, replies: summing("sum", () => says("ok", 3_800)) }, ({ asked, events, prompt }) =>
      Effect.gen(function*() {
        yield* prompt(tokens(1_000))
        for (let n = 0; n < 10; n++) assert.isTrue((yield* prompt(tokens(90))).success)
        assert.strictEqual(asked.filter(isSummary).length, 1)
        assert.deepStrictEqual(diagnostics(events).map(([, message]) => message.split(/[ :]/)[0]), ["Auto-compacted", "The"])
      })))

  it.effect("waits for growth also after a compaction of an earlier process, and then comes again", () =>
    withAgent({ ...small, replies: summing("sum", () => says("ok", 3_800)) }, ({ asked, prompt, session }) =>
      Effect.gen(function*() {
        yield* session.append({ type: "user", role: "user", content: [{ type: "text", text: tokens(900) }] })
        yield* session.append({ type: "assistant", role: "assistant", content: [{ type: "text", text: "yes" }], usage: { input_tokens: 3_800, output_tokens: 1 } })
        yield* session.append({ type: "compaction", summary: "earlier", first_kept_index: 0, tokens_before: 3_900 })
        yield* prompt("hi")
        yield* prompt(tokens(400))
        assert.deepStrictEqual(asked.map(isSummary), [false, false])
        yield* prompt(tokens(1_800))
        assert.deepStrictEqual(asked.map(isSummary), [false, false, true, false])
      })))

  it.effect("has nothing to do when what is there is what stays, and warns of it once", () =>
    withAgent({ ...small, replies: () => says("ok", 3_500) }, ({ asked, events, fired, prompt }) =>
      Effect.gen(function*() {
        for (let n = 0; n < 4; n++) yield* prompt("hi")
        assert.isFalse(asked.some(isSummary))
        assert.strictEqual(told(fired, "session_before_compact").length, 1)
        assert.deepInclude(told(fired, "session_compact")[0], { did_compact: false, message: "Nothing to compact" })
        assert.deepStrictEqual(diagnostics(events).map(([level]) => level), ["warning"])
      })))

  it.effect("can be switched off", () =>
    withAgent({ ...small, compaction: { ...small.compaction, compaction_enabled: false }, replies: () => says("ok") }, ({ asked, events, prompt }) =>
      Effect.gen(function*() {
        for (let n = 0; n < 3; n++) yield* prompt(tokens(1_600))
        assert.strictEqual(asked.length, 3)
        assert.deepStrictEqual(diagnostics(events), [])
      })))
})

describe("compaction on request", () => {
  const talk = Effect.fnUntraced(function*(prompt: (typed: string) => Effect.Effect<unknown>) {
    yield* prompt(tokens(900, "old"))
    yield* prompt(tokens(600, "new"))
  })

  // E-213
  it.effect("sums up with the instruction of who asked, and what extensions add to it", () => {
    const fired: Array<{ event: string; payload: object }> = []
    const payload = { instruction: "mind the tests\nand the names" } as HookPayload<"session_before_compact">
    return withAgent({ ...small, replies: summing("sum", () => says("ok")), hooks: answering(fired, { session_before_compact: { payload } }) }, ({ asked, compact, entries, events, prompt }) =>
      Effect.gen(function*() {
        yield* talk(prompt)
        assert.deepStrictEqual(yield* compact("mind the tests"), { did_compact: true, failed: false, message: "Compacted context" })
        assert.strictEqual(told(fired, "session_before_compact")[0]?.["instruction"], "mind the tests")
        assert.include(textOf(asked.at(-1)), "mind the tests\\nand the names")
        assert.deepInclude(compactions(yield* entries)[0], { summary: "sum", first_kept_index: 2 })
        assert.strictEqual(told(fired, "session_compact")[0]?.["message"], "Compacted context")
        // Whoever asked tells it.
        assert.deepStrictEqual(diagnostics(events), [])
      }))
  })

  // E-218 E-220 E-223
  it.effect("has nothing to do in a short conversation, and extensions hear of it", () =>
    withAgent({ ...small, replies: [says("ok")] }, ({ asked, compact, entries, fired, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("hi")
        assert.deepStrictEqual(yield* compact(""), { did_compact: false, failed: false, message: "Nothing to compact" })
        assert.strictEqual(asked.length, 1)
        assert.deepStrictEqual(compactions(yield* entries), [])
        assert.deepInclude(told(fired, "session_compact")[0], { did_compact: false, summary: "", first_kept_index: 0, message: "Nothing to compact" })
        assert.isAbove(Number(told(fired, "session_compact")[0]?.["tokens_before"]), 0)
      })))

  it.effect("runs once at a time", () =>
    withAgent({ ...small, replies: summing(() => hangsAfter("so"), () => says("ok")) }, ({ asked, compact, prompt }) =>
      Effect.gen(function*() {
        yield* talk(prompt)
        const first = yield* Effect.forkChild(compact("one"))
        const second = yield* Effect.forkChild(compact("two"))
        yield* settle
        assert.strictEqual(asked.filter(isSummary).length, 1)
        yield* Fiber.interrupt(first)
        yield* settle
        assert.strictEqual(asked.filter(isSummary).length, 2)
        yield* Fiber.interrupt(second)
      })))
})

describe("an extension", () => {
  // E-122 E-124 E-211 E-212 E-223 X-035
  it.effect("can refuse: nothing is summed up, people read why, and it is not asked again at once", () => {
    const fired: Array<{ event: string; payload: object }> = []
    return withAgent({
      ...small,
      replies: () => says("ok"),
      hooks: answering(fired, { session_before_compact: { _tag: "Blocked", reason: "tests are running; not now", blockedBy: ["guard"] } })
    }, ({ asked, compact, entries, events, prompt }) =>
      Effect.gen(function*() {
        yield* prompt(tokens(1_600))
        assert.isTrue((yield* prompt(tokens(1_600))).success)
        yield* prompt("go on")
        assert.isFalse(asked.some(isSummary))
        assert.deepStrictEqual(compactions(yield* entries), [])
        assert.strictEqual(told(fired, "session_before_compact").length, 1)
        assert.deepStrictEqual(told(fired, "session_compact"), [])
        const [[level, message]] = diagnostics(events) as [readonly [string, string]]
        assert.strictEqual(level, "warning")
        assert.include(message, "tests are running; not now")
        const { did_compact, failed, message: refused } = yield* compact("")
        assert.deepStrictEqual([did_compact, failed], [false, true])
        assert.include(refused, "tests are running; not now")
      }))
  })

  // E-133 E-134 E-135 E-136 E-214 E-234
  it.effect("can bring a summary of its own: no model is asked, and the cut parts no call from its result", () => {
    const fired: Array<{ event: string; payload: object }> = []
    const compaction = { summary: "# mine", first_kept_index: 3, details: { from: ["me"] } }
    return withAgent({
      ...small,
      tools: [tool("bash")],
      replies: inOrder(calls({ name: "bash", id: "1" }, { name: "bash", id: "2" }), says("one"), says("two")),
      hooks: answering(fired, { session_before_compact: { compaction } })
    }, ({ asked, compact, entries, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("go")
        const { did_compact, message } = yield* compact("")
        assert.isTrue(did_compact)
        assert.include(message, "extension")
        assert.strictEqual(asked.length, 2)
        assert.deepInclude(compactions(yield* entries)[0], { summary: "# mine", first_kept_index: 1, details: { from: ["me"] } })
        assert.deepInclude(told(fired, "session_compact")[0], { did_compact: true, summary: "# mine", first_kept_index: 1 })
        yield* prompt("on")
        assert.isTrue(pairs(asked[2]!))
        assert.deepStrictEqual(asked[2]?.prompt.content.map((message) => message.role), ["system", "user", "assistant", "tool", "assistant", "user"])
      }))
  })

  //
  it.effect("can replace the summary just made, once", () => {
    const fired: Array<{ event: string; payload: object }> = []
    return withAgent({
      ...small,
      replies: summing("sum", () => says("ok")),
      hooks: answering(fired, { session_compact: { compaction: { summary: "better", first_kept_index: 4 } } })
    }, ({ asked, compact, entries, prompt }) =>
      Effect.gen(function*() {
        yield* prompt(tokens(900, "old"))
        yield* prompt(tokens(600, "new"))
        assert.isTrue((yield* compact("")).did_compact)
        assert.deepStrictEqual(compactions(yield* entries).map(({ first_kept_index, summary }) => [summary, first_kept_index]), [["sum", 2], ["better", 4]])
        assert.strictEqual(told(fired, "session_compact").length, 1)
        yield* prompt("on")
        assert.include(textOf(asked.at(-1)), "better")
        assert.notInclude(textOf(asked.at(-1)), "new new")
      }))
  })
})

describe("a summary that does not come", () => {
  const full = Effect.fnUntraced(function*(prompt: (typed: string) => Effect.Effect<{ readonly success: boolean }>) {
    yield* prompt(tokens(1_600, "old"))
    return yield* prompt(tokens(1_600, "new"))
  })

  //
  it.effect("for the model's error changes nothing: it is told, the turn goes on, and asking again works", () => {
    let broken = true
    return withAgent({
      ...small,
      replies: summing(() => broken ? refuses(new AiError.ContentPolicyError({ description: "no such topic" })) : says("sum"), () => says("ok"))
    }, ({ asked, compact, entries, events, fired, prompt }) =>
      Effect.gen(function*() {
        assert.isTrue((yield* full(prompt)).success)
        yield* prompt("on")
        assert.deepStrictEqual(compactions(yield* entries), [])
        assert.include(textOf(asked.at(-1)), "old old")
        assert.strictEqual(asked.filter(isSummary).length, 1)
        const [failure] = told(fired, "session_compact_failed")
        assert.include(String(failure?.["error"]), "no such topic")
        assert.strictEqual(failure?.["workspace"], "/w")
        assert.isAbove(Number(failure?.["tokens_before"]), 3_000)
        assert.deepInclude(told(fired, "session_compact")[0], { did_compact: false, summary: "", first_kept_index: 0 })
        const [[level, message]] = diagnostics(events) as [readonly [string, string]]
        assert.strictEqual(level, "warning")
        assert.match(message, /^Compaction failed: .*no such topic/)
        assert.deepInclude(yield* compact(""), { did_compact: false, failed: true })
        broken = false
        assert.deepInclude(yield* compact(""), { did_compact: true, failed: false })
      }))
  })

  //
  it.effect("because it is empty changes nothing either", () =>
    withAgent({ ...small, replies: summing(" \n", () => says("ok")) }, ({ entries, fired, prompt }) =>
      Effect.gen(function*() {
        assert.isTrue((yield* full(prompt)).success)
        assert.deepStrictEqual(compactions(yield* entries), [])
        assert.include(String(told(fired, "session_compact_failed")[0]?.["error"]), "empty summary")
        assert.deepInclude(told(fired, "session_compact")[0], { did_compact: false })
      })))

  it.effect("at the first try is asked for again, where that can help", () => {
    const replies = inOrder(refuses(new AiError.RateLimitError({})), says("sum"))
    return withAgent({ ...small, replies: summing(replies, () => says("ok")) }, ({ entries, events, prompt }) =>
      Effect.gen(function*() {
        const running = yield* Effect.forkChild(full(prompt))
        yield* settle
        assert.isUndefined(running.pollUnsafe())
        yield* TestClock.adjust("1 minute")
        assert.isTrue((yield* Fiber.join(running)).success)
        assert.strictEqual(compactions(yield* entries).length, 1)
        assert.match(diagnostics(events)[0]?.[1] ?? "", /trying again to compact$/)
      }))
  })

  it.effect("because the request for it is too long is asked for with half of it", () => {
    const replies = inOrder(overflow, overflow, says("sum"))
    return withAgent({ ...small, replies: summing(replies, () => says("ok")) }, ({ asked, entries, prompt }) =>
      Effect.gen(function*() {
        yield* full(prompt)
        const sizes = asked.filter(isSummary).map((request) => textOf(request).length)
        assert.strictEqual(sizes.length, 3)
        assert.isBelow(sizes[2]!, sizes[0]! - 3_000)
        assert.strictEqual(compactions(yield* entries).length, 1)
      }))
  })

  it.effect("because the user interrupts it changes nothing, and the next turn may compact", () => {
    const replies = inOrder(hangsAfter("so"), says("sum"))
    return withAgent({ ...small, replies: summing(replies, () => says("ok")) }, ({ entries, events, fired, prompt }) =>
      Effect.gen(function*() {
        const running = yield* Effect.forkChild(full(prompt))
        yield* settle
        const before = yield* entries
        yield* Fiber.interrupt(running)
        assert.deepStrictEqual(yield* entries, before)
        assert.deepInclude(told(fired, "session_compact")[0], { did_compact: false, message: "Compaction interrupted" })
        assert.strictEqual(events.at(-1)?.type, "run_end")
        yield* prompt("again")
        assert.strictEqual(compactions(yield* entries).length, 1)
      }))
  })

  it.effect("does not hold an interrupt up when an extension is slow to hear of it", () =>
    withAgent({
      ...small,
      replies: summing(() => hangsAfter("so"), () => says("ok")),
      hooks: { run: (event, payload) => event === "session_compact" ? Effect.never : Effect.succeed({ _tag: "Continue", payload, changedBy: [] } as never) }
    }, ({ prompt }) =>
      Effect.gen(function*() {
        const running = yield* Effect.forkChild(full(prompt))
        yield* settle
        const stopping = yield* Effect.forkChild(Fiber.interrupt(running))
        yield* settle
        yield* TestClock.adjust("499 millis")
        assert.isUndefined(running.pollUnsafe())
        yield* TestClock.adjust("1 millis")
        yield* Fiber.join(stopping)
      })))
})

describe("a request the provider finds too long", () => {
  const wide = { contextWindow: 100_000 } satisfies Partial<RigOptions>

  it.effect("is shortened and sent again", () =>
    withAgent({ ...wide, replies: summing("sum", inOrder(says("one"), overflow, says("two"))) }, ({ asked, entries, events, fired, prompt }) =>
      Effect.gen(function*() {
        yield* prompt(tokens(900, "old"))
        assert.deepStrictEqual(yield* prompt(tokens(300, "new")), { success: true, text: "two" })
        assert.deepStrictEqual(asked.map(isSummary), [false, false, true, false])
        assert.include(textOf(asked[2]), "no longer fits")
        assert.include(textOf(asked[3]), "new new")
        assert.notInclude(textOf(asked[3]), "old old")
        assert.strictEqual(compactions(yield* entries).length, 1)
        assert.strictEqual(told(fired, "session_before_compact")[0]?.["instruction"], "")
        assert.match(diagnostics(events)[0]?.[1] ?? "", /^Auto-compacted context/)
      })))

  it.effect("fails when it is still too long then, and is told", () =>
    withAgent({ ...wide, replies: summing("sum", inOrder(...["1", "2", "3", "4"].map((text) => says(text)), overflow, overflow)) }, ({ asked, events, prompt }) =>
      Effect.gen(function*() {
        for (let n = 0; n < 4; n++) yield* prompt(tokens(300, "old"))
        assert.isFalse((yield* prompt(tokens(300, "new"))).success)
        assert.deepStrictEqual(asked.slice(4).map(isSummary), [false, true, false])
        assert.include(events.flatMap((event) => event.type === "error" ? [event.message] : [])[0], "too long")
      })))

  it.effect("fails at once when there is nothing to shorten", () =>
    withAgent({ ...wide, replies: [overflow] }, ({ asked, prompt }) =>
      Effect.gen(function*() {
        assert.isFalse((yield* prompt(tokens(900))).success)
        assert.strictEqual(asked.length, 1)
      })))

  it.effect("is shortened once for each answer that came", () =>
    withAgent({
      ...wide,
      tools: [tool("bash", { run: () => Effect.succeed(textResult(tokens(400))) })],
      replies: summing("sum", inOrder(says("one"), overflow, calls({ name: "bash", id: "1" }), overflow, says("two")))
    }, ({ asked, prompt }) =>
      Effect.gen(function*() {
        yield* prompt(tokens(900, "old"))
        assert.deepStrictEqual(yield* prompt(tokens(300, "new")), { success: true, text: "two" })
        assert.strictEqual(asked.filter(isSummary).length, 2)
        assert.isTrue(asked.every(pairs))
      })))
})

describe("words that are said while the conversation is summed up", () => {
  it.effect("wait, and are answered with what came of it", () =>
    Effect.gen(function*() {
      const going = yield* Deferred.make<void>()
      const slow: Partial<RigOptions> = { answers: { session_before_compact: () => Effect.as(Deferred.await(going), {}) } }
      yield* withAgent({ ...small, ...slow, replies: summing("sum", () => says("ok")) }, ({ asked, compact, entries, prompt }) =>
        Effect.gen(function*() {
          yield* prompt(tokens(900, "old"))
          yield* prompt(tokens(600, "new"))
          const compacting = yield* Effect.forkChild(compact(""))
          yield* settle
          const prompting = yield* Effect.forkChild(prompt("and now?"))
          yield* settle
          assert.strictEqual(asked.length, 2)
          assert.strictEqual((yield* entries).length, 4)
          yield* Deferred.succeed(going, undefined)
          assert.isTrue((yield* Fiber.join(compacting)).did_compact)
          assert.isTrue((yield* Fiber.join(prompting)).success)
          assert.deepStrictEqual(asked.map(isSummary), [false, false, true, false])
          assert.include(textOf(asked.at(-1)), "<summary>")
        }))
    }))

  it.effect("within a run are delivered in it", () =>
    Effect.gen(function*() {
      const going = yield* Deferred.make<void>()
      const answers = { session_before_compact: () => Effect.as(Deferred.await(going), {}) }
      yield* withAgent({ ...small, answers, replies: summing("sum", inOrder(says("one"), says("two"), says("three"))) }, ({ agent, asked, prompt }) =>
        Effect.gen(function*() {
          yield* prompt(tokens(1_600, "old"))
          const running = yield* Effect.forkChild(prompt(tokens(1_600, "new")))
          yield* settle
          assert.strictEqual(yield* agent.steer("and this"), "accepted")
          yield* Deferred.succeed(going, undefined)
          assert.deepStrictEqual(yield* Fiber.join(running), { success: true, text: "three" })
          assert.include(textOf(asked.at(-1)), "and this")
        }))
    }))
})
