import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Meter } from "../src/Meter.ts"
import { answering, memory, peer, person, processes, slowly, startAll, tool } from "./kit.ts"
import { settle } from "./settle.ts"

const call = { tool: "x", arguments: {} }

describe("Extensions.figures", () => {
  it.effect("say that all run as soon as the start is over", () =>
    Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      const states = yield* Effect.andThen(host.start, host.extensions.figures)
      assert.deepStrictEqual(states.map(({ state }) => state), ["Running"])
    }).pipe(Effect.provide(memory({ a: peer({}).script }))))

  it.effect("show each in startup order: its state, what it registered, its requests and how long its events took", () => {
    const a = peer({ tools: [tool("t")], events: ["tool_call", "tool_cal"] }, (message, self) =>
      message.type === "event"
        ? Effect.forkDetach(Effect.andThen(Effect.sleep(Number(message.id) * 10), answering({})(message, self)))
        : Effect.void)
    const late = slowly(a, 20)
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { response_timeout_seconds: 5 }, b: {} } })
      const starting = yield* Effect.forkChild(host.start)
      yield* late.launched
      yield* TestClock.adjust("20 millis")
      yield* Fiber.join(starting)
      for (let n = 1; n <= 3; n++) {
        const running = yield* Effect.forkChild(host.hooks.run("tool_call", call))
        yield* settle
        yield* TestClock.adjust(n * 10)
        yield* Fiber.join(running)
      }
      const failing = yield* Effect.forkChild(Effect.flip(host.extensions.callTool("t", {})))
      yield* settle
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(failing)
      const open = yield* Effect.forkChild(host.extensions.callTool("t", {}))
      yield* settle
      const [first, second] = yield* host.extensions.figures
      assert.deepInclude(first, {
        key: "a",
        project: false,
        folder: `${host.folder}/extensions/a`,
        state: "Running",
        restarts: 0,
        startMillis: 20,
        unknownEvents: ["tool_cal"],
        fault: undefined,
        requests: { open: 1, answered: 3, failed: 1 },
        hookMillis: { p50: 20, p95: 30, latest: [10, 20, 30] },
        lateReplies: 0,
        droppedLines: 0,
        pid: undefined,
        memoryBytes: undefined
      })
      assert.strictEqual(first?.registration?.tools[0]?.name, "t")
      assert.strictEqual(first?.family.name, "nimlet")
      assert.deepInclude(second, { key: "b", state: "Stopped", registration: undefined, startMillis: undefined, hookMillis: undefined, fault: "cannot find b" })
      yield* Fiber.interrupt(open)
      yield* host.extensions.stop
      assert.deepStrictEqual(yield* host.extensions.figures, [])
    }).pipe(Effect.provide(memory({ a: late.script })))
  })

  it.effect("count lives, late replies and lines of no use, and say why one is down", () => {
    const a = peer({ tools: [tool("t"), tool("die")] }, (message, self) =>
      message.name === "die" ? Effect.fail("boom") : message.type !== "tool" ? Effect.void : Effect.gen(function*() {
        yield* self.send("noise")
        yield* self.send({ type: "hello" })
        yield* self.send({ type: "response", id: "nope", content: "" })
        yield* self.send({ type: "response", id: Number(message.id), content: "" })
        yield* answering({})(message, self)
        yield* answering({})(message, self)
      }))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* host.start
      const one = Effect.map(host.extensions.figures, ([figures]) => figures!)
      yield* host.extensions.callTool("t", {})
      yield* settle
      assert.deepInclude(yield* one, {
        lateReplies: 3,
        droppedLines: 2,
        requests: { open: 0, answered: 1, failed: 0 },
        hookMillis: undefined
      })
      yield* Effect.flip(host.extensions.callTool("die", {}))
      yield* settle
      assert.deepInclude(yield* one, { state: "Restarting", restarts: 0, fault: "exited with code 1", requests: { open: 0, answered: 1, failed: 1 } })
      yield* TestClock.adjust("300 millis")
      yield* settle
      assert.deepInclude(yield* one, { state: "Running", restarts: 1, fault: undefined, lateReplies: 3 })
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("a reply that is read after its request was given up is late, and its effects do not count", () => {
    const a = peer({ tools: [tool("t")] }, (message, self) =>
      message.type === "tool"
        ? Effect.forEach([
          { type: "update", status: { key: "s", text: "held" } },
          // These two are read together, since the first is being shown when they come.
          { type: "update", status: { key: "s", text: "held again" } },
          { type: "response", id: message.id, entry: "late" }
        ], self.send)
        : Effect.void)
    const gates = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<void>()]
    let shows = 0
    const { with: shownTo } = person({ status: () => Effect.suspend(() => Deferred.await(gates[shows++]!)) })
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { response_timeout_seconds: 4 } } })
      yield* shownTo(host.start)
      const call = yield* Effect.forkChild(Effect.flip(host.extensions.callTool("t", {})))
      yield* settle
      yield* Deferred.succeed(gates[0]!, undefined)
      yield* settle
      yield* TestClock.adjust("4 seconds")
      assert.strictEqual((yield* Fiber.join(call)).reason, "timeout")
      yield* Deferred.succeed(gates[1]!, undefined)
      yield* settle
      assert.deepStrictEqual(host.entries, [])
      const [figures] = yield* host.extensions.figures
      assert.deepInclude(figures, { lateReplies: 1, requests: { open: 0, answered: 0, failed: 1 } })
      assert.strictEqual(shows, 2)
      assert.notInclude(a.types(), "cancel")
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.live("know the process and what it holds in memory, where the platform tells", () =>
    Effect.gen(function*() {
      const echo = fileURLToPath(new URL("fixtures/echo.mjs", import.meta.url))
      const host = yield* startAll({ manifests: { a: { command: [process.execPath, echo] } } })
      yield* host.start
      const [figures] = yield* host.extensions.figures
      assert.isTrue(process.kill(figures!.pid!, 0))
      if (existsSync("/proc/self/status")) assert.isAbove(figures!.memoryBytes!, 1 << 20)
      else assert.isUndefined(figures!.memoryBytes)
    }).pipe(Effect.provide(processes)), 30_000)
})

describe("Extensions.changes", () => {
  it.effect("tell how things stand, and then of changes, at most four times a second", () => {
    const a = peer({ events: ["tool_call"] }, answering({}))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* host.start
      yield* settle
      const seen: Array<unknown> = []
      const watching = yield* Effect.forkChild(Stream.runForEach(host.extensions.changes, ([figures]) =>
        Effect.sync(() => void seen.push(figures?.requests.answered))))
      yield* settle
      assert.deepStrictEqual(seen, [0])
      for (let n = 0; n < 10; n++) yield* host.hooks.run("tool_call", call)
      yield* settle
      yield* TestClock.adjust("249 millis")
      yield* settle
      assert.deepStrictEqual(seen, [0])
      yield* TestClock.adjust("1 millis")
      yield* settle
      assert.deepStrictEqual(seen, [0, 10])
      yield* TestClock.adjust("1 hour")
      yield* settle
      assert.deepStrictEqual(seen, [0, 10])
      yield* host.hooks.run("tool_call", call)
      yield* settle
      yield* TestClock.adjust("250 millis")
      yield* settle
      // The first is told at once: the event was on its way.
      assert.deepStrictEqual(seen, [0, 10, 10, 11])
      yield* TestClock.adjust("250 millis")
      yield* host.extensions.stop
      yield* settle
      assert.strictEqual(seen.at(-1), undefined)
      yield* Fiber.interrupt(watching)
    }).pipe(Effect.provide(memory({ a: a.script })))
  })
})

describe("Meter", () => {
  it("keeps the times of the latest 256 events", () => {
    const meter = new Meter(() => {})
    for (let n = 1; n <= 300; n++) meter.answered(n)
    const { hookMillis } = meter.reading
    assert.deepStrictEqual([hookMillis?.latest.length, hookMillis?.latest[0], hookMillis?.latest.at(-1)], [256, 45, 300])
    assert.deepStrictEqual([hookMillis?.p50, hookMillis?.p95], [172, 288])
  })
})
