import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Hooks, niminal } from "../src/index.ts"
import { answering, type Json, memory, peer, startAll } from "./kit.ts"
import { settle } from "./settle.ts"

const call = { tool: "bash", arguments: { command: "ls" } }
const turn = { session_id: "s", workspace: "/w" }
const guard = { events: ["tool_call"] }

describe("Hooks.run", () => {
  it.effect("asks one after another in startup order, each sees what the one before left (E-177, E-183)", () => {
    const a = peer(guard, answering({ arguments: { command: "echo ONE" } }))
    const b = peer(guard, answering({}))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {}, b: {} } })
      yield* host.start
      assert.deepStrictEqual(yield* host.hooks.run("tool_call", call), {
        _tag: "Continue",
        payload: { tool: "bash", arguments: { command: "echo ONE" } },
        changedBy: ["a"]
      })
      assert.deepStrictEqual(a.heard[1], { type: "event", id: "1", event: "tool_call", payload: call })
      assert.deepStrictEqual((b.heard[1] as Json).payload, { tool: "bash", arguments: { command: "echo ONE" } })
    }).pipe(Effect.provide(memory({ a: a.script, b: b.script })))
  })

  it.effect("still asks the rest after a block and joins the reasons (E-178, E-179)", () => {
    const a = peer(guard, answering({ allow: false, reason: "a" }))
    const b = peer(guard, answering({ allow: false, reason: "b" }))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {}, b: {} } })
      yield* host.start
      const outcome = yield* host.hooks.run("tool_call", call)
      assert.deepStrictEqual(outcome, { _tag: "Blocked", reason: "a; b", blockedBy: ["a", "b"] })
    }).pipe(Effect.provide(memory({ a: a.script, b: b.script })))
  })

  it.effect("ignores an ill-typed field alone, with a warning (E-132)", () => {
    const a = peer(guard, answering({ allow: "no", arguments: { command: "pwd" } }))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* host.start
      const outcome = yield* host.watched(host.hooks.run("tool_call", call))
      assert.deepStrictEqual(outcome._tag === "Continue" && outcome.payload.arguments, { command: "pwd" })
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), [
        "extension 'a': ignored an invalid allow in its reply to tool_call"
      ])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("goes on without one that times out, and says so (E-278, E-280)", () => {
    const a = peer(guard)
    const b = peer(guard, answering({ allow: false, reason: "b" }))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { response_timeout_seconds: 3 }, b: {} } })
      yield* host.start
      const running = yield* Effect.forkChild(host.watched(host.hooks.run("tool_call", call)))
      yield* settle
      yield* TestClock.adjust("3 seconds")
      assert.deepStrictEqual(yield* Fiber.join(running), { _tag: "Blocked", reason: "b", blockedBy: ["b"] })
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), ["extension 'a': extension response timed out"])
    }).pipe(Effect.provide(memory({ a: a.script, b: b.script })))
  })

  it.effect("tells observers in parallel and waits for the slowest, at most 30 s where there is no limit", () => {
    const observer = { events: ["turn_start"] }
    const slow = (seconds: number) => peer(observer, (message, self) =>
      message.type === "event"
        ? Effect.forkDetach(Effect.andThen(Effect.sleep(seconds * 1000), self.send({ type: "response", id: message.id })))
        : Effect.void)
    const a = slow(2)
    const b = slow(2)
    const c = peer(observer)
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {}, b: {}, c: { response_timeout_seconds: null } } })
      yield* host.start
      const running = yield* Effect.forkChild(host.hooks.run("turn_start", turn))
      yield* settle
      assert.deepStrictEqual([a, b, c].map(({ heard }) => heard.length), [2, 2, 2])
      yield* TestClock.adjust("29999 millis")
      yield* settle
      assert.isUndefined(running.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(running))._tag, "Continue")
    }).pipe(Effect.provide(memory({ a: a.script, b: b.script, c: c.script })))
  })

  it.effect("asks only those who subscribed, and never about unknown names (E-105, E-156)", () => {
    const a = peer({ events: ["turn_end", "full_moon"] }, answering({}))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* host.start
      assert.isFalse(host.hooks.subscribed("tool_call"))
      assert.isTrue(host.hooks.subscribed("turn_end"))
      yield* host.hooks.run("tool_call", call)
      yield* host.hooks.run("turn_end", { ...turn, interrupted: true })
      assert.deepStrictEqual(a.types(), ["initialize", "event"])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("says nothing to a family that is silent in plan mode (E-171)", () => {
    const a = peer(guard, answering({}))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* host.start
      yield* host.hooks.run("tool_call", call, { planning: true })
      assert.isFalse(host.hooks.subscribed("tool_call", { planning: true }))
      assert.deepStrictEqual(a.types(), ["initialize"])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("asks the other family in plan mode, too", () => {
    const a = peer(guard, answering({ allow: false, reason: "no" }))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} }, family: niminal })
      yield* host.start
      assert.strictEqual((yield* host.hooks.run("tool_call", call, { planning: true }))._tag, "Blocked")
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("costs nothing when nobody subscribed: the outcome is there at once", () =>
    Effect.gen(function*() {
      const hooks = yield* Hooks
      const outcome = hooks.run("tool_call", call)
      // An effect that is an exit already: nothing has to run.
      assert.isTrue(Exit.isExit(outcome))
      assert.deepStrictEqual(yield* outcome, { _tag: "Continue", payload: call, changedBy: [] })
    }).pipe(Effect.provide(Hooks.layerNone)))
})

describe("a guard with on_failure: block (G-16)", () => {
  const closed = { on_failure: "block", response_timeout_seconds: 3 }
  const crash = (message: Json) => message.type === "event" ? Effect.fail("boom") : Effect.void

  it.effect.each([
    { name: "times out", script: peer(guard).script, reason: "extension response timed out" },
    { name: "exits", script: peer(guard, crash).script, reason: "extension 'a' exited before responding" },
    { name: "answers nonsense", script: peer(guard, answering({ allow: "no" })).script, reason: "invalid allow" },
    { name: "cannot start", script: undefined, reason: "extension 'a' is not running" },
    { name: "does not register", script: () => Effect.void, reason: "extension 'a' is not running" }
  ])("blocks and names the extension when it $name", ({ reason, script }) =>
    Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: closed } })
      yield* host.start
      const running = yield* Effect.forkChild(host.hooks.run("tool_call", call))
      yield* settle
      yield* TestClock.adjust("3 seconds")
      assert.deepStrictEqual(yield* Fiber.join(running), {
        _tag: "Blocked",
        reason: `extension 'a' guards this call and could not decide: ${reason}`,
        blockedBy: ["a"]
      })
    }).pipe(Effect.provide(memory(script === undefined ? {} : { a: script }))))

  it.effect("blocks while it restarts and decides again afterwards", () => {
    let crashed = false
    const a = peer(guard, (message, self) => {
      if (message.type === "event" && !crashed) {
        crashed = true
        return Effect.fail("boom")
      }
      return answering({})(message, self)
    })
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: closed } })
      yield* host.start
      assert.strictEqual((yield* host.hooks.run("tool_call", call))._tag, "Blocked")
      const next = yield* Effect.forkChild(host.hooks.run("tool_call", call))
      yield* settle
      yield* TestClock.adjust("300 millis")
      assert.strictEqual((yield* Fiber.join(next))._tag, "Continue")
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("guards tool calls only", () => {
    const a = peer({ events: ["session_before_compact"] })
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: closed } })
      yield* host.start
      const compact = { ...turn, instruction: "", tokens_before: 1, entries: [] }
      const running = yield* Effect.forkChild(host.hooks.run("session_before_compact", compact))
      yield* settle
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual((yield* Fiber.join(running))._tag, "Continue")
      assert.strictEqual((yield* host.hooks.run("tool_call", call))._tag, "Continue")
    }).pipe(Effect.provide(memory({ a: a.script })))
  })
})
