import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Hooks, nimlet, niminal } from "../src/index.ts"
import { answering, type Json, memory, peer, startAll } from "./kit.ts"
import { settle } from "./settle.ts"

const call = { tool: "bash", arguments: { command: "ls" } }
const turn = { session_id: "s", workspace: "/w" }
const started = { ...turn, provider: "p", model: "m", thinking: "" }
const guard = { events: ["tool_call"] }

describe("Hooks.run", () => {
  // E-106 E-107 E-108 E-110 E-125 E-177 E-183 E-187 X-014
  it.effect("asks one after another in startup order, each sees what the one before left", () => {
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

  // E-084 E-122 E-178 E-179 E-180 E-194 E-197 E-202 E-205 E-224
  it.effect("still asks the rest after a block and joins the reasons", () => {
    const others = ["tool_result", "turn_start", "turn_end", "session_start", "session_end", "session_compact"] as const
    const a = peer({ events: ["tool_call", "session_before_compact", ...others] }, answering({ allow: false, reason: "a" }))
    const b = peer(guard, answering({ allow: false, reason: "b" }))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {}, b: {} } })
      yield* host.start
      const outcome = yield* host.hooks.run("tool_call", call)
      assert.deepStrictEqual(outcome, { _tag: "Blocked", reason: "a; b", blockedBy: ["a", "b"] })
      const compact = { ...turn, instruction: "", tokens_before: 1, entries: [] }
      assert.strictEqual((yield* host.hooks.run("session_before_compact", compact))._tag, "Blocked")
      const payload = { ...call, ...compact, output: "x", is_error: false, did_compact: false, summary: "", first_kept_index: 0, message: "" }
      for (const event of others) {
        assert.deepStrictEqual(yield* host.hooks.run<typeof event>(event, payload), { _tag: "Continue", payload, changedBy: [] }, event)
      }
      assert.strictEqual(a.types().filter((type) => type === "event").length, 2 + others.length)
    }).pipe(Effect.provide(memory({ a: a.script, b: b.script })))
  })

  // E-132
  it.effect("ignores an ill-typed field alone, with a warning", () => {
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

  // E-109 E-276 E-278 E-280 X-099
  it.effect("goes on without one that times out, and says so", () => {
    const a = peer(guard)
    const b = peer(guard, answering({ allow: false, reason: "b" }))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { response_timeout_seconds: 3 }, b: {} } })
      yield* host.start
      const running = yield* Effect.forkChild(host.watched(host.hooks.run("tool_call", call)))
      yield* settle
      yield* TestClock.adjust("3 seconds")
      assert.deepStrictEqual(yield* Fiber.join(running), { _tag: "Blocked", reason: "b", blockedBy: ["b"] })
      assert.deepStrictEqual(host.diagnostics.map(({ level, message }) => [level, message]), [
        ["info", "waiting for extension 'a' (tool_call)"],
        ["warning", "extension 'a': extension response timed out after 3 s (response_timeout_seconds says how long it may take)"]
      ])
    }).pipe(Effect.provide(memory({ a: a.script, b: b.script })))
  })

  it.effect("asks one that left three requests in a row unanswered no more: it is quarantined, told of, and its closed guard blocks", () => {
    const a = peer(guard)
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { response_timeout_seconds: 3, on_failure: "block", restart: false } } })
      yield* host.start
      const ask = Effect.fnUntraced(function*(together: number, seconds: number) {
        const running = yield* Effect.forkChild(Effect.forEach(Array.from({ length: together }), () => host.watched(host.hooks.run("tool_call", call)), { concurrency: "unbounded" }))
        yield* settle
        yield* TestClock.adjust(`${seconds} seconds`)
        yield* settle
        return running
      })
      // Those that are open at once count as one, and a person's interrupt as none.
      yield* Fiber.join(yield* ask(4, 3))
      for (let at = 0; at < 3; at++) yield* Fiber.interrupt(yield* ask(1, 1))
      yield* Fiber.join(yield* ask(1, 3))
      const told = () => host.diagnostics.filter(({ message }) => message.includes("stays off")).map(({ message }) => message)
      assert.deepStrictEqual(told(), [])
      yield* Fiber.join(yield* ask(1, 3))
      assert.deepStrictEqual(told(), ["extension 'a' left 3 requests in a row without an answer and stays off; /extensions restart a starts it again"])
      assert.deepStrictEqual((yield* host.extensions.figures).map(({ state }) => state), ["Quarantined"])
      const [blocked] = yield* Fiber.join(yield* ask(1, 0))
      assert.deepStrictEqual(blocked, { _tag: "Blocked", reason: "extension 'a' guards this call and could not decide: extension 'a' is not running: left 3 requests in a row without an answer; /extensions restart a starts it again", blockedBy: ["a"] })
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect.each<{ readonly late: boolean }>([{ late: false }, { late: true }])("counts unanswered requests anew after an answer: a late one: $late", ({ late }) => {
    let asked = 0
    const a = peer(guard, ({ id, type }, self) => {
      if (type === "event") asked += 1
      return asked % (late ? 2 : 3) === 0 && type === (late ? "cancel" : "event") ? self.send({ type: "response", id }) : Effect.void
    })
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { response_timeout_seconds: 3 } } })
      yield* host.start
      for (let at = 0; at < 9; at++) {
        const running = yield* Effect.forkChild(host.watched(host.hooks.run("tool_call", call)))
        yield* settle
        yield* TestClock.adjust("3 seconds")
        yield* Fiber.join(running)
        yield* settle
      }
      assert.deepStrictEqual((yield* host.extensions.figures).map(({ state }) => state), ["Running"])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  // E-109 E-181
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

  // E-105 E-155 E-156
  it.effect("asks only those who subscribed, and never about unknown names", () => {
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

  // E-171
  it.effect("says nothing to a family that is silent in plan mode", () => {
    const events = ["tool_call", "tool_result", "turn_start", "turn_end", "session_start", "session_end", "session_before_compact", "session_compact"] as const
    const a = peer({ events }, answering({}))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* host.start
      yield* host.hooks.run("tool_call", call, { planning: true })
      for (const event of events) {
        assert.deepStrictEqual([true, false].map((planning) => host.hooks.subscribed(event, { planning })), [false, true], event)
      }
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

  it.effect("three that never answer session_start within 2 s cost 2 s together, and are named while they are waited for", () => {
    const mute = () => peer({ events: ["session_start"] }).script
    return Effect.gen(function*() {
      const limit = { response_timeout_seconds: 2 }
      const host = yield* startAll({ manifests: { a: limit, b: limit, c: { ...limit, response_timeout_seconds: 3 } } })
      yield* host.start
      const running = yield* Effect.forkChild(host.watched(host.hooks.run("session_start", started)))
      yield* settle
      yield* TestClock.adjust("2 seconds")
      yield* settle
      assert.isUndefined(running.pollUnsafe())
      assert.sameMembers(host.diagnostics.filter(({ level }) => level === "info").map(({ message }) => message), [
        "waiting for extension 'a' (session_start)",
        "waiting for extension 'b' (session_start)",
        "waiting for extension 'c' (session_start)"
      ])
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(running)
      assert.deepStrictEqual(host.diagnostics.filter(({ level }) => level === "warning").map(({ extension }) => extension), ["a", "b", "c"])
    }).pipe(Effect.provide(memory({ a: mute(), b: mute(), c: mute() })))
  })

  it.effect("an event nobody waits for is told all the same, and says who is missing only as a warning", () => {
    const a = peer({ events: ["session_settings_changed"] })
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* host.start
      yield* host.watched(host.hooks.run("session_settings_changed", started))
      yield* settle
      assert.deepStrictEqual(a.types(), ["initialize", "event"])
      yield* TestClock.adjust("30 seconds")
      yield* settle
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), ["extension 'a': extension response timed out after 30 s (response_timeout_seconds says how long it may take)"])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("a gate says after 2 s, and no sooner, which of them it waits for now", () => {
    const quick = peer(guard, answering({}))
    const slow = peer(guard)
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {}, b: {} } })
      yield* host.start
      const running = yield* Effect.forkChild(host.watched(host.hooks.run("tool_call", call)))
      yield* settle
      yield* TestClock.adjust("1999 millis")
      assert.deepStrictEqual(host.diagnostics, [])
      yield* TestClock.adjust("1 millis")
      yield* settle
      assert.deepStrictEqual(host.diagnostics, [{ level: "info", message: "waiting for extension 'b' (tool_call)", extension: "b" }])
      yield* Fiber.interrupt(running)
    }).pipe(Effect.provide(memory({ a: quick.script, b: slow.script })))
  })

  it.effect("of two wrong fields each is left out alone, and one that crashed is told of once", () => {
    const a = peer({ events: ["tool_result"] }, (message, self) => message.id === "2" ? Effect.fail("boom") : answering({ output: 1, is_error: true })(message, self))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { restart: false } } })
      yield* host.start
      const result = { ...call, output: "x", is_error: false }
      const outcome = yield* host.watched(host.hooks.run("tool_result", result))
      assert.deepStrictEqual(outcome.payload, { ...result, is_error: true })
      yield* host.watched(host.hooks.run("tool_result", result))
      yield* settle
      yield* host.watched(host.hooks.run("tool_result", result))
      yield* host.watched(host.hooks.run("tool_result", result))
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), [
        "extension 'a': ignored an invalid output in its reply to tool_result",
        "extension 'a' exited with code 1 unexpectedly"
      ])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("one that crashed while nothing was asked of it is told of once, too", () =>
    Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { restart: false } } })
      yield* host.start
      yield* settle
      const result = { tool: "x", arguments: {}, output: "o", is_error: false }
      assert.strictEqual((yield* host.watched(host.hooks.run("tool_result", result)))._tag, "Continue")
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), ["extension 'a' exited with code 1 unexpectedly"])
    }).pipe(Effect.provide(memory({
      a: (self) => Effect.andThen(self.send({ type: "register", commands: [], events: ["tool_result"] }), Effect.fail("boom"))
    }))))

  it.effect("a block without a reason is told with who blocked what; the model reads no more than that it was blocked", () => {
    const a = peer({ events: ["tool_call"] }, answering({ allow: false }))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* host.start
      assert.deepStrictEqual(yield* host.watched(host.hooks.run("tool_call", call)), { _tag: "Blocked", reason: "blocked by extension", blockedBy: ["a"] })
      assert.deepStrictEqual(host.diagnostics, [{ level: "warning", message: `extension 'a' blocked tool_call of ${call.tool} and gave no reason`, extension: "a" }])
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

describe("a guard with on_failure: block", () => {
  it.effect("blocks when it answers with an error; an open one is told of and passed", () => {
    const broken = answering({ error: "I am broken" })
    const [a, b] = [peer({ events: ["tool_call"] }, broken), peer({ events: ["tool_call"] }, broken)]
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { on_failure: "block" }, b: {} } })
      yield* host.start
      assert.deepStrictEqual(yield* host.watched(host.hooks.run("tool_call", call)), {
        _tag: "Blocked",
        reason: "extension 'a' guards this call and could not decide: extension 'a' threw I am broken",
        blockedBy: ["a"]
      })
      assert.deepStrictEqual(host.diagnostics.filter(({ level }) => level === "warning").map(({ extension }) => extension), ["a", "b"])
    }).pipe(Effect.provide(memory({ a: a.script, b: b.script })))
  })

  const closed = { on_failure: "block", response_timeout_seconds: 3 }
  const crash = (message: Json) => message.type === "event" ? Effect.fail("boom") : Effect.void

  // E-280
  it.effect.each([
    { name: "times out", script: peer(guard).script, reason: "extension response timed out" },
    { name: "exits", script: peer(guard, crash).script, reason: "extension 'a' exited before responding" },
    { name: "answers nonsense", script: peer(guard, answering({ allow: "no" })).script, reason: "invalid allow" },
    { name: "cannot start", script: undefined, reason: "extension 'a' is not running: cannot find a; /extensions restart a starts it again" },
    { name: "does not register", script: () => Effect.void, reason: "extension 'a' is not running: it exited with code 0 before it registered; /extensions restart a starts it again" }
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

  const closing = { ...nimlet, onFailure: "block" as const }

  it.effect.each([
    { name: "cannot start", script: undefined, warning: /cannot find a/ },
    { name: "does not register", script: () => Effect.void, warning: /before it registered/ }
  ])("lets calls pass where only its family closes it, it $name and has never guarded", ({ script, warning }) =>
    Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} }, family: closing })
      const { warnings } = yield* host.start
      assert.match(warnings.join(), warning)
      assert.strictEqual((yield* host.hooks.run("tool_call", call))._tag, "Continue")
    }).pipe(Effect.provide(memory(script === undefined ? {} : { a: script }))))

  it.effect.each([
    { events: ["tool_call"], outcome: "Blocked" },
    { events: ["turn_start"], outcome: "Continue" }
  ])("where only its family closes it, and it had registered for $events but cannot start again: $outcome", ({ events, outcome }) => {
    let lives = 0
    const a = peer({ events }, answering({}))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} }, family: closing })
      yield* host.start
      yield* host.extensions.restart("a")
      yield* settle
      assert.strictEqual(lives, 2)
      const running = yield* Effect.forkChild(host.hooks.run("tool_call", call))
      yield* settle
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual((yield* Fiber.join(running))._tag, outcome)
    }).pipe(Effect.provide(memory({ a: (self, launch) => ++lives === 1 ? a.script(self, launch) : Effect.void })))
  })

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

  it.effect("waits for one that starts again at most 2 s, then blocks", () => {
    let lives = 0
    const a = peer(guard, crash)
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { on_failure: "block" } } })
      yield* host.start
      yield* host.hooks.run("tool_call", call)
      yield* settle
      yield* TestClock.adjust("300 millis")
      yield* settle
      assert.strictEqual(lives, 2)
      const blocked = yield* Effect.forkChild(host.hooks.run("tool_call", call))
      yield* settle
      yield* TestClock.adjust("1999 millis")
      yield* settle
      assert.isUndefined(blocked.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      const outcome = yield* Fiber.join(blocked)
      assert.deepStrictEqual(outcome._tag === "Blocked" && outcome.reason, "extension 'a' guards this call and could not decide: extension 'a' is not running: exited with code 1, and has not registered again yet")
      yield* TestClock.adjust("1 minute")
    }).pipe(Effect.provide(memory({ a: (self, launch) => ++lives === 1 ? a.script(self, launch) : Effect.forever(self.receive) })))
  })

  it.effect("waits no longer than its budget for one that will start again", () => {
    const a = peer(guard, crash)
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { on_failure: "block", response_timeout_seconds: 1 } } })
      yield* host.start
      // Crashes far enough apart for no quarantine: the fifth is followed by more than 2 s of rest.
      for (let n = 0; n < 4; n++) {
        yield* host.hooks.run("tool_call", call)
        yield* settle
        yield* TestClock.adjust("25 seconds")
        yield* settle
      }
      yield* host.hooks.run("tool_call", call)
      yield* settle
      const blocked = yield* Effect.forkChild(host.hooks.run("tool_call", call))
      yield* settle
      yield* TestClock.adjust("999 millis")
      yield* settle
      assert.isUndefined(blocked.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(blocked))._tag, "Blocked")
      assert.strictEqual((yield* host.extensions.figures)[0]?.state, "Restarting")
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("blocks at once in quarantine, until it is restarted by hand", () => {
    let well = false
    const a = peer(guard, (message, self) => well ? answering({})(message, self) : crash(message))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: closed } })
      yield* host.start
      for (let n = 0; n < 4; n++) {
        const each = yield* Effect.forkChild(host.hooks.run("tool_call", call))
        yield* settle
        yield* TestClock.adjust("2 seconds")
        assert.strictEqual((yield* Fiber.join(each))._tag, "Blocked")
      }
      yield* settle
      const outcome = yield* host.hooks.run("tool_call", call)
      assert.deepStrictEqual(outcome, {
        _tag: "Blocked",
        reason: "extension 'a' guards this call and could not decide: extension 'a' is not running: exited with code 1; /extensions restart a starts it again",
        blockedBy: ["a"]
      })
      well = true
      yield* host.extensions.restart("a")
      yield* settle
      assert.strictEqual((yield* host.hooks.run("tool_call", call))._tag, "Continue")
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("blocks when a later start fails, though what it registered before counts no more", () => {
    let lives = 0
    const a = peer({ events: ["tool_call", "turn_end"], tools: [{ name: "t", description: "t.", input_schema: {} }] }, crash)
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: closed } })
      yield* host.start
      assert.isTrue(host.hooks.subscribed("turn_end"))
      yield* host.hooks.run("tool_call", call)
      yield* settle
      yield* TestClock.adjust("300 millis")
      yield* settle
      assert.deepStrictEqual([lives, yield* host.extensions.tools], [2, []])
      assert.isFalse(host.hooks.subscribed("turn_end"))
      assert.strictEqual((yield* host.hooks.run("tool_call", call))._tag, "Blocked")
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), [
        "extension 'a' exited with code 1 unexpectedly",
        "extension 'a' failed to start: register commands must be an array"
      ])
    }).pipe(Effect.provide(memory({
      a: (self, launch) => ++lives === 1 ? a.script(self, launch) : self.send({ type: "register" })
    })))
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
