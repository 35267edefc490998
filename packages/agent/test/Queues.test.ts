import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream } from "effect"
import type { UserInput } from "../src/index.ts"
import { makeQueues, type QueueChange } from "../src/Queues.ts"
import { calls, hangsAfter, noExtensions, says, settle, tool, withAgent } from "./Rig.ts"

const said = (entries: ReadonlyArray<{ readonly type: string; readonly content?: ReadonlyArray<object> }>) =>
  entries.flatMap((entry) => entry.type === "user" ? [entry.content?.flatMap((part) => "text" in part ? [part.text] : []).join()] : [])

/** A tool during which a test does something. */
const during = (name: string, body: Effect.Effect<unknown>) =>
  tool(name, { run: () => Effect.as(body, { content: [{ type: "text", text: "ran" }], isError: false }) })

describe("the queues", () => {
  it.effect("refuse what comes while no run is there, and what is too much", () =>
    Effect.gen(function*() {
      const queues = yield* makeQueues()
      assert.strictEqual(yield* queues.offer("steer", { content: "x" }), "idle")
      yield* queues.begin
      for (let n = 0; n < 32; n++) assert.strictEqual(yield* queues.offer("steer", { content: `${n}` }), "accepted")
      assert.strictEqual(yield* queues.offer("steer", { content: "32" }), "full")
      assert.strictEqual(yield* queues.offer("follow_up", { content: "f" }), "accepted")
      assert.deepStrictEqual((yield* queues.takeSteering).map(({ content }) => content), ["0"])
    }))

  it.effect("take what is offered together as one, all of it or none, and give it as one", () =>
    Effect.gen(function*() {
      const queues = yield* makeQueues()
      const three = ["a", "b", "c"].map((content) => ({ content, extension: "x" }))
      const takeTexts = Effect.map(queues.takeSteering, (texts) => texts.map(({ content }) => content))
      yield* queues.begin
      yield* queues.offer("steer", { content: "alone" })
      assert.strictEqual(yield* queues.offerTogether("steer", three), "accepted")
      yield* queues.offer("steer", { content: "behind" })
      assert.deepStrictEqual([yield* takeTexts, yield* takeTexts, yield* takeTexts], [["alone"], ["a", "b", "c"], ["behind"]])
      for (let n = 0; n < 30; n++) yield* queues.offer("steer", { content: `${n}` })
      assert.strictEqual(yield* queues.offerTogether("steer", three), "full")
      assert.strictEqual(queues.depth(), 30)
      yield* queues.clear
      yield* queues.offerTogether("follow_up", three)
      assert.deepStrictEqual([(yield* queues.takeLeft)?.content, queues.depth()], ["a", 2])
    }))

  it.effect("take no more once a run found them empty", () =>
    Effect.gen(function*() {
      const queues = yield* makeQueues()
      yield* queues.begin
      assert.deepStrictEqual(yield* queues.takeNext, [])
      assert.strictEqual(yield* queues.offer("follow_up", { content: "late" }), "idle")
    }))

  it.effect("give all at once where that is wanted, steering before follow-ups, and tell what happens", () =>
    Effect.gen(function*() {
      const queues = yield* makeQueues({ steering: "all", followUp: "all" })
      const told: Array<QueueChange> = []
      yield* Effect.forkChild(Stream.runForEach(queues.changes, (change) => Effect.sync(() => told.push(change))), { startImmediately: true })
      yield* settle
      yield* queues.begin
      yield* queues.offer("follow_up", { content: "later" })
      yield* queues.offer("steer", { content: "a" })
      yield* queues.offer("steer", { content: "b", extension: "x" })
      assert.deepStrictEqual(yield* queues.queued, { steering: [{ content: "a" }, { content: "b", extension: "x" }], followUp: [{ content: "later" }] })
      assert.deepStrictEqual((yield* queues.takeNext).map(({ content }) => content), ["a", "b"])
      assert.deepStrictEqual((yield* queues.takeNext).map(({ content }) => content), ["later"])
      yield* queues.offer("steer", { content: "c" })
      assert.deepStrictEqual(yield* queues.clear, { steering: [{ content: "c" }], followUp: [] })
      yield* settle
      assert.deepStrictEqual(told.map(({ action, content }) => `${action} ${content}`.trim()), [
        "enqueue later", "enqueue a", "enqueue b", "dequeue a", "dequeue b", "dequeue later", "enqueue c", "clear"
      ])
      assert.deepStrictEqual(told.map(({ depth }) => depth), [1, 2, 3, 1, 1, 0, 1, 0])
    }))
})

describe("what is said during a run", () => {
  it.effect("steers before the next step, or follows when the run would end; one run, one turn, one settling", () => {
    let agent: Effect.Effect<unknown> = Effect.void
    return withAgent({
      replies: [calls({ name: "write" }), says("one"), says("two"), says("three")],
      tools: [during("write", Effect.suspend(() => agent))]
    }, ({ agent: service, asked, entries, events, fired, log, prompt }) =>
      Effect.gen(function*() {
        agent = Effect.all([service.followUp("then this"), service.followUp("and that"), service.steer("mind the gap")])
        assert.strictEqual((yield* prompt("go")).text, "three")
        assert.deepStrictEqual(said(yield* entries), ["go", "mind the gap", "then this", "and that"])
        assert.strictEqual(asked.length, 4)
        assert.include(JSON.stringify(asked[1]?.prompt.content.at(-1)), "mind the gap")
        assert.deepStrictEqual(events.flatMap((event) => event.type === "message" ? [event.role === "user" ? event.content : event.final] : []), [
          "go", "mind the gap", false, "then this", false, "and that", true
        ])
        for (const once of ["input", "before_agent_start", "turn_start", "turn_end", "agent_settled"]) {
          assert.strictEqual(fired.filter(({ event }) => event === once).length, 1, once)
        }
        assert.deepStrictEqual(log.slice(-2), ["turn_end", "agent_settled"])
        assert.strictEqual(yield* service.steer("too late"), "idle")
      }))
  })

  it.effect("waits for whoever drives when the run is interrupted, and can be taken back", () =>
    withAgent({ replies: [hangsAfter("half")], agent: { onIdleInput: () => Effect.void } }, ({ agent, prompt }) =>
      Effect.gen(function*() {
        const running = yield* Effect.forkChild(prompt("go"))
        yield* settle
        yield* agent.steer("wait")
        yield* Fiber.interrupt(running)
        assert.deepStrictEqual((yield* agent.clearQueued).steering, [{ content: "wait" }])
        assert.deepStrictEqual((yield* agent.queued).steering, [])
      })))

  it.effect("is taken back when the session is left for another, which is told of the old one", () =>
    withAgent({ replies: [hangsAfter("half")], agent: { onIdleInput: () => Effect.void } }, ({ agent, events, prompt, session }) =>
      Effect.gen(function*() {
        const running = yield* Effect.forkChild(prompt("go"))
        yield* settle
        yield* agent.steer("wait")
        yield* Fiber.interrupt(running)
        yield* agent.newSession
        assert.deepInclude(events.findLast(({ type }) => type === "queue"), { action: "clear", session_id: session.id, depth: 0 })
        assert.deepStrictEqual((yield* agent.queued).steering, [])
      })))

  it.effect("is dropped with a diagnostic when the run fails and nobody could take it back", () =>
    withAgent({ replies: [hangsAfter("half")] }, ({ agent, events, prompt }) =>
      Effect.gen(function*() {
        const running = yield* Effect.forkChild(prompt("go"))
        yield* settle
        yield* agent.followUp("and this")
        yield* Fiber.interrupt(running)
        assert.deepInclude(events.at(-1), { type: "diagnostic", level: "warning" })
        assert.strictEqual(yield* agent.followUp("and that"), "idle")
        assert.deepStrictEqual((yield* agent.queued).followUp, [])
      })))
})

describe("a message of an extension", () => {
  const extensions = () => Effect.succeed(noExtensions)

  // X-088 X-089 X-090
  it.effect("is delivered before the next step with now and steer, at the run's end with follow_up", () => {
    let say: Effect.Effect<unknown> = Effect.void
    return withAgent({
      replies: [calls({ name: "write" }), calls({ name: "write", id: "2" }), says("one"), says("two")],
      tools: [during("write", Effect.suspend(() => say))],
      agent: { extensions }
    }, ({ access, asked, entries, prompt }) =>
      Effect.gen(function*() {
        say = Effect.gen(function*() {
          say = Effect.void
          yield* access().say("x", { content: "last", deliver_as: "follow_up" })
          yield* access().say("x", { content: "first", deliver_as: "now" })
          yield* access().say("x", { content: "second", deliver_as: "steer" })
        })
        yield* prompt("go")
        assert.deepStrictEqual(said(yield* entries), ["go", "first", "second", "last"])
        assert.include(JSON.stringify(asked[1]?.prompt.content.at(-1)), "first")
        assert.include(JSON.stringify(asked[3]?.prompt.content.at(-1)), "last")
      }))
  })

  it.effect("starts a run when none is under way, as plain words and by whoever drives", () => {
    const idle: Array<unknown> = []
    return withAgent({
      replies: [says("ok")],
      agent: { extensions, onIdleInput: (input: UserInput, extension) => Effect.sync(() => void idle.push([input, extension])) }
    }, ({ access, agent, entries, events, prompt }) =>
      Effect.gen(function*() {
        yield* access().say("x", { content: "/new start", deliver_as: "steer" })
        assert.deepStrictEqual(idle, [[{ typed: "/new start", literal: true }, "x"]])
        yield* agent.prompt({ typed: "/new start", literal: true })
        assert.deepStrictEqual(said(yield* entries), ["/new start"])
        assert.strictEqual(events.filter(({ type }) => type === "error").length, 0)
        assert.isTrue((yield* prompt("x")).success)
      }))
  })

  it.effect("is dropped, and why is said, when no run is under way and nobody drives, or too many wait", () =>
    Effect.gen(function*() {
      const reached = yield* Deferred.make<void>()
      yield* withAgent({
        replies: [calls({ name: "write" })],
        tools: [tool("write", { run: () => Effect.andThen(Deferred.succeed(reached, undefined), Effect.never) })],
        agent: { extensions }
      }, ({ access, prompt }) =>
        Effect.gen(function*() {
          assert.strictEqual(yield* access().say("x", { content: "hello", deliver_as: "now" }), "no run was under way")
          const running = yield* Effect.forkChild(prompt("go"))
          yield* Deferred.await(reached)
          const told = yield* Effect.forEach(Array.from({ length: 34 }, (_, n) => n), (n) => access().say("x", { content: `${n}`, deliver_as: "follow_up" }))
          assert.deepStrictEqual(told, [...Array.from({ length: 32 }, () => undefined), "too many wait already", "too many wait already"])
          yield* Fiber.interrupt(running)
        }))
    }))

  it.effect("that comes with every answer makes no run endless: after a hundred since the user spoke they are dropped", () =>
    Effect.gen(function*() {
      const queues = yield* makeQueues()
      const said = (extension?: string) =>
        Effect.tap(queues.offer("follow_up", { content: "again", ...(extension === undefined ? {} : { extension }) }), () => queues.takeNext)
      const many = (count: number) => Effect.forEach(Array.from({ length: count }, () => "x"), said)
      yield* queues.begin
      assert.deepStrictEqual(new Set(yield* many(100)), new Set(["accepted"]))
      assert.deepStrictEqual(yield* many(2), ["spent", "idle"])
      yield* queues.begin
      yield* many(99)
      // The user's own words begin a new count.
      assert.strictEqual(yield* said(), "accepted")
      assert.deepStrictEqual((yield* many(101)).slice(-2), ["accepted", "spent"])
    }))

  it.effect("that comes when no run is there waits for one with at most 31 others", () => {
    let idle = 0
    return withAgent({ replies: () => says("ok"), agent: { extensions, onIdleInput: () => Effect.sync(() => void idle++) } }, ({ access, prompt }) =>
      Effect.gen(function*() {
        const told = yield* Effect.forEach(Array.from({ length: 40 }, (_, n) => n), () => access().say("x", { content: "hey", deliver_as: "now" }))
        assert.strictEqual(idle, 32)
        assert.strictEqual(told.filter((why) => why === "too many wait already").length, 8)
        yield* prompt("one of them")
        assert.isUndefined(yield* access().say("x", { content: "hey", deliver_as: "now" }))
        assert.strictEqual(yield* access().say("x", { content: "hey", deliver_as: "now" }), "too many wait already")
      }))
  })
})
