/** How runs go on and end when answers are blank, cut or refused, calls fail for ever, or the disk is full. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Option, Stream } from "effect"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import { TestClock } from "effect/testing"
import type { AgentEvent, SessionEntry } from "@nimlet/protocol"
import { type Session, SessionUnwritable } from "@nimlet/session"
import { errorResult, textResult } from "@nimlet/tools"
import { breaksAfter, calls, cutShort, hangsAfter, noExtensions, type Reply, says, settle, shape, tool, withAgent } from "./Rig.ts"

const errorsOf = (events: ReadonlyArray<AgentEvent>) => events.flatMap((event) => event.type === "error" ? [event.message] : [])
const notesOf = (events: ReadonlyArray<AgentEvent>) => events.flatMap((event) => event.type === "diagnostic" ? [`${event.level}: ${event.message}`] : [])
const saidTo = (request: LanguageModel.ProviderOptions | undefined) =>
  request?.prompt.content.slice(1).map(({ content, role }) => `${role}: ${Array.isArray(content) ? content.map((part) => part.type === "text" ? part.text : part.type).join(" | ") : ""}`)
const textsOf = (entries: ReadonlyArray<SessionEntry>) =>
  entries.flatMap((entry) => "content" in entry && Array.isArray(entry.content) ? [entry.content.map((part) => part.type === "text" ? part.text : part.type).join()] : [])
const overloaded = new AiError.InternalProviderError({ description: "overloaded" })

describe("a blank answer", () => {
  it.effect("is asked for once more, in words that are not kept", () =>
    withAgent({ replies: [says(" "), says("here")] }, ({ asked, entries, events, prompt }) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* prompt("hi"), { success: true, text: "here" })
        assert.match(saidTo(asked[1])?.at(-1) ?? "", /^user: Your last answer was empty/)
        assert.notInclude(JSON.stringify(yield* entries), "was empty")
        assert.deepStrictEqual(events.flatMap((event) => event.type === "message" && event.role === "assistant" ? [event.final] : []), [false, true])
      })))

  it.effect("is a failure the second time, and may be asked for again once tools were called", () =>
    withAgent({ replies: [says(""), calls({ name: "read" }), says(""), says("")], tools: [tool("read")] }, ({ asked, events, prompt }) =>
      Effect.gen(function*() {
        assert.isFalse((yield* prompt("hi")).success)
        assert.strictEqual(asked.length, 4)
        assert.deepStrictEqual(errorsOf(events), ["The model stopped without a user-facing answer."])
      })))
})

describe("an answer cut at the output limit", () => {
  it.effect("is gone on with, and is one answer in the end", () =>
    withAgent({ replies: [cutShort("one two ", "length"), cutShort("three ", "length"), says("four"), says("next")] }, ({ asked, entries, prompt }) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* prompt("count"), { success: true, text: "one two three four" })
        assert.match(saidTo(asked[1])?.at(-1) ?? "", /^user: Your answer was cut off/)
        assert.deepStrictEqual(textsOf(yield* entries), ["count", "one two ", "three ", "four"])
        assert.strictEqual((yield* prompt("more")).text, "next")
      })))

  it.effect("eight times in a row ends the run", () =>
    withAgent({ replies: () => cutShort("again ", "length") }, ({ asked, events, prompt }) =>
      Effect.gen(function*() {
        assert.isFalse((yield* prompt("count")).success)
        assert.strictEqual(asked.length, 8)
        assert.include(errorsOf(events)[0], "8 times in a row")
      })))
})

describe("a call at the end of an answer that the output limit cut", () => {
  const cutCalls = (...made: Parameters<typeof calls>): Reply => {
    const reply = calls(...made)
    return Array.isArray(reply) ? reply.map((part) => part.type === "finish" ? { ...part, reason: "length" } : part) : reply
  }

  it.effect("does not run when its arguments had not come: they may be missing altogether", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const look = tool("look", { run: () => Effect.sync(() => (ran.push("look"), textResult("seen"))) })
      yield* withAgent({ replies: [cutCalls({ name: "look", id: "1" }, { name: "look", id: "2" }), cutCalls({ name: "look", id: "3", args: { at: 1 } }), says("done")], tools: [look] }, ({ entries, prompt }) =>
        Effect.gen(function*() {
          assert.isTrue((yield* prompt("go")).success)
          const outputs = (yield* entries).flatMap((entry) => entry.type === "tool_result" ? [entry.output] : [])
          assert.deepStrictEqual(outputs, ["seen", "The arguments are not valid JSON (the answer was cut off at the output limit before they came)", "seen"])
        }))
      assert.lengthOf(ran, 2)
    }))

  it.effect("or of any other is refused with the reason that they cannot be read, and no hook hears of it", () =>
    withAgent({ replies: [calls({ name: "look", args: "{\"at\": " }), says("done")], tools: [tool("look")] }, ({ entries, fired, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("go")
        assert.deepStrictEqual((yield* entries).flatMap((entry) => entry.type === "tool_result" ? [entry.output] : []), ["The arguments are not valid JSON: {\"at\": "])
        assert.isFalse(fired.some(({ event }) => event === "tool_call"))
      })))
})

describe("a content filter", () => {
  it.effect("ends the run as failed; what was answered before it stays in the session", () =>
    withAgent({ replies: [cutShort("half", "content-filter"), cutShort("", "content-filter")] }, ({ entries, events, prompt }) =>
      Effect.gen(function*() {
        assert.isFalse((yield* prompt("hi")).success)
        assert.include(errorsOf(events)[0], "content filter")
        assert.include(JSON.stringify(yield* entries), '"half"')
        assert.isFalse((yield* prompt("hi")).success)
        assert.include(errorsOf(events)[1], "content filter")
      })))
})

describe("an answer that the provider pauses", () => {
  it.effect("goes on, and is one answer", () =>
    withAgent({ replies: [cutShort("first, ", "pause"), cutShort("", "pause"), says("second")] }, ({ asked, prompt }) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* prompt("hi"), { success: true, text: "first, second" })
        assert.strictEqual(asked.length, 3)
      })))

  it.effect("does not go on for ever", () =>
    withAgent({ replies: () => cutShort("on", "pause") }, ({ asked, events, prompt }) =>
      Effect.gen(function*() {
        assert.isFalse((yield* prompt("hi")).success)
        assert.strictEqual(asked.length, 8)
        assert.include(errorsOf(events)[0], "paused")
      })))
})

describe("a run that gets nowhere", () => {
  it.effect("stops when the same calls fail again and again, not when others fail", () =>
    withAgent({
      replies: ({ prompt }) => prompt.content.length < 6 ? calls({ name: "read", args: { n: prompt.content.length } }) : calls({ name: "read", args: { n: "same" } }),
      tools: [tool("read", { run: () => Effect.succeed(errorResult("no")) })]
    }, ({ asked, events, prompt }) =>
      Effect.gen(function*() {
        assert.isFalse((yield* prompt("hi")).success)
        assert.strictEqual(asked.length, 7)
        assert.include(errorsOf(events)[0], "the same failing call 5 times")
      })))

  it.effect("stops when a few failing calls take turns, and not while anything goes well between them", () =>
    Effect.gen(function*() {
      const tools = [tool("read", { run: () => Effect.succeed(errorResult("no")) }), tool("look")]
      const turns = (names: ReadonlyArray<string>) => {
        let made = 0
        return () => made++ === 40 ? says("enough") : calls({ name: names[made % names.length]!, args: { n: made % names.length } })
      }
      yield* withAgent({ replies: turns(["read", "read", "nowhere"]), tools }, ({ asked, prompt }) =>
        Effect.gen(function*() {
          assert.isFalse((yield* prompt("hi")).success)
          assert.isBelow(asked.length, 16)
        }))
      yield* withAgent({ replies: turns(["read", "look"]), tools }, ({ prompt }) => Effect.map(prompt("hi"), ({ text }) => assert.strictEqual(text, "enough")))
    }))

  it.effect("stops at its limit of requests, calls answered", () =>
    withAgent({ replies: () => calls({ name: "read" }), tools: [tool("read")], agent: { maxSteps: 3 } }, ({ asked, entries, events, prompt }) =>
      Effect.gen(function*() {
        assert.isFalse((yield* prompt("hi")).success)
        assert.strictEqual(asked.length, 3)
        assert.include(errorsOf(events)[0], "Stopped after 3 requests")
        assert.strictEqual((yield* entries).filter(({ type }) => type === "tool_result").length, 3)
      })))
})

describe("an answer that did not come to its end", () => {
  it.effect("by an interrupt is kept as far as it came, and the model reads it with the next words", () =>
    withAgent({ replies: [calls({ name: "read" }), hangsAfter("half an"), says("ok")], tools: [tool("read")] }, ({ asked, entries, prompt }) =>
      Effect.gen(function*() {
        const running = yield* Effect.forkChild(prompt("go"))
        yield* settle
        yield* Fiber.interrupt(running)
        assert.deepInclude((yield* entries).at(-1), { type: "assistant", cut: true, provider: "test", content: [{ type: "text", text: "half an" }] })
        yield* prompt("go on")
        assert.deepStrictEqual(saidTo(asked[2])?.slice(-2), ["assistant: half an | [This answer was cut off here.]", "user: go on"])
      })))

  it.effect("by a failure is kept when it was the last attempt, and never joins another attempt's", () =>
    withAgent({ replies: [breaksAfter("first", overloaded), breaksAfter("second", overloaded), breaksAfter("third", overloaded), says("whole")] }, ({ asked, entries, prompt }) =>
      Effect.gen(function*() {
        const running = yield* Effect.forkChild(prompt("go"))
        yield* TestClock.adjust("1 minute")
        assert.isFalse((yield* Fiber.join(running)).success)
        assert.deepStrictEqual(textsOf(yield* entries), ["go", "third"])
        assert.deepStrictEqual([saidTo(asked[1]), saidTo(asked[2])], [["user: go"], ["user: go"]])
        assert.strictEqual((yield* prompt("again")).text, "whole")
      })))
})

describe("a disk that refuses", () => {
  /** A session that keeps all and saves nothing while `full` says so. */
  const faulty = (full: () => boolean): Session => {
    const entries: Array<SessionEntry> = []
    let waiting = 0
    const fail = () => new SessionUnwritable({ path: "/s.jsonl", cause: "ENOSPC", unsaved: waiting })
    return {
      id: "s",
      workspace: "/w",
      header: { type: "session", workspace: "/w" },
      path: Option.some("/s.jsonl"),
      damaged: [],
      entries: Effect.sync(() => entries.slice()),
      append: (entry) => Effect.suspend(() => {
        entries.push(entry)
        waiting = full() ? waiting + 1 : 0
        return waiting > 0 ? Effect.fail(fail()) : Effect.succeed(entry)
      }),
      sync: Effect.suspend(() => {
        if (!full()) waiting = 0
        return waiting > 0 ? Effect.fail(fail()) : Effect.void
      }),
      draft: () => ({ add: () => Effect.void }),
      startSync: Effect.suspend(() => waiting > 0 && full() ? Effect.fail(fail()) : Effect.sync(() => void (waiting = 0))),
      unsaved: Effect.sync(() => waiting),
      close: Effect.void
    }
  }
  const replies = () => {
    let asked = 0
    return () => asked++ % 2 === 0 ? calls({ name: "write", id: `c${asked}` }) : says("done")
  }

  it.effect("lets the run go on in memory, is told once, and the run is no success though it has an answer", () =>
    withAgent({ replies: replies(), tools: [tool("write")], agent: { session: faulty(() => true) } }, ({ entries, events, prompt }) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* prompt("go"), { success: false, text: "done" })
        assert.deepStrictEqual((yield* entries).map(({ type }) => type), ["user", "assistant", "tool_result", "assistant"])
        assert.lengthOf(notesOf(events).filter((note) => note.startsWith("error: ") && note.includes("in memory")), 1)
        assert.lengthOf(errorsOf(events), 1)
        assert.deepStrictEqual(shape(events).slice(-2), ["error", "run_end"])
      })))

  const other = Layer.effect(LanguageModel.LanguageModel, LanguageModel.make({ generateText: () => Effect.die("no"), streamText: () => Stream.empty }))

  it.effect("keeps a title, a model and what an extension stores, and is told once of all", () =>
    withAgent({ replies: [], agent: { session: faulty(() => true), extensions: () => Effect.succeed(noExtensions) } }, ({ access, agent, entries, events, prompt }) =>
      Effect.gen(function*() {
        assert.isTrue((yield* prompt("/name Tower")).success)
        yield* agent.select({ provider: "other", model: "m-2", layer: other })
        assert.strictEqual(yield* access().name("Light"), "Light")
        assert.deepStrictEqual((yield* entries).map(({ type }) => type), ["name", "selection", "name"])
        assert.lengthOf(notesOf(events).filter((note) => note.startsWith("error: ") && note.includes("in memory")), 1)
        assert.strictEqual((yield* agent.selection).model, "m-2")
      })))
  it.effect("ends a run while the disk still takes what it wrote, and waits for it before a call that changes something and at the end", () =>
    Effect.gen(function*() {
      const disk = yield* Deferred.make<void>()
      let syncs = 0
      const session: Session = {
        ...faulty(() => false),
        startSync: Effect.asVoid(Effect.forkDetach(Deferred.await(disk))),
        sync: Effect.andThen(Effect.sync(() => void syncs++), Deferred.await(disk))
      }
      yield* withAgent({ replies: replies(), tools: [tool("write")], agent: { session } }, ({ events, prompt }) =>
        Effect.gen(function*() {
          const running = yield* Effect.forkChild(prompt("go"))
          while (syncs === 0) yield* Effect.yieldNow
          assert.strictEqual(shape(events).at(-1), "tool_call")
          yield* Deferred.succeed(disk, undefined)
          assert.deepStrictEqual(yield* Fiber.join(running), { success: true, text: "done" })
          assert.strictEqual(syncs, 1)
        }))
      assert.strictEqual(syncs, 2)
    }))

  it.effect("is no place to leave a session at: what is not saved would be gone, so it stays until the disk takes it", () => {
    let full = true
    return withAgent({ replies: () => says("done"), agent: { session: faulty(() => full) } }, ({ agent, fired, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("go")
        const error = yield* Effect.flip(agent.newSession)
        assert.deepInclude({ ...error }, { blocked: false, why: "2 entries of session s are not saved: cannot write /s.jsonl: ENOSPC. Make room on the disk and try again." })
        assert.strictEqual((yield* agent.session).id, "s")
        assert.notInclude(fired.map(({ event }) => event), "session_end")
        full = false
        assert.notStrictEqual((yield* agent.newSession).session.id, "s")
      }))
  })

  it.effect("that has lost what it took is told of when the session is left", () =>
    Effect.gen(function*() {
      const session: Session = { ...faulty(() => false), sync: Effect.fail(new SessionUnwritable({ path: "/s.jsonl", cause: "EIO", unsaved: 0 })) }
      let seen: ReadonlyArray<AgentEvent> = []
      yield* withAgent({ replies: () => says("done"), agent: { session } }, ({ events, prompt }) =>
        Effect.andThen(prompt("go"), Effect.sync(() => void (seen = events))))
      assert.lengthOf(notesOf(seen).filter((note) => note.startsWith("error: ") && note.includes("EIO")), 1)
    }))

  it.effect("does not keep the conversation from being compacted", () =>
    withAgent({ replies: () => says("word ".repeat(2000)), compaction: { keep_recent_tokens: 1 }, contextWindow: 100_000, agent: { session: faulty(() => true) } }, ({ compact, entries, prompt }) =>
      Effect.gen(function*() {
        for (const words of ["one", "two", "three"]) yield* prompt(words)
        assert.isTrue((yield* compact("")).did_compact)
        assert.strictEqual((yield* entries).at(-1)?.type, "compaction")
      })))

  it.effect("for a while costs nothing: what waited is saved in the end", () => {
    let writes = 0
    return withAgent({ replies: replies(), tools: [tool("write")], agent: { session: faulty(() => ++writes < 3) } }, ({ events, prompt }) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* prompt("go"), { success: true, text: "done" })
        assert.deepStrictEqual(errorsOf(events), [])
      }))
  })
})
