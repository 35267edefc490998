/** The agent inside another Effect program, as the README shows it. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { readFileSync } from "node:fs"
import { textResult } from "@nimlet/tools"
import { program } from "../examples/own-model.ts"
import { calls, hangsAfter, says, settle, tool, withAgent } from "./Rig.ts"

const fileText = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")

describe("the README's example", () => {
  it.effect("answers with a model of its own, under a test clock, without a terminal", () =>
    Effect.gen(function*() {
      const running = yield* Effect.forkChild(program)
      yield* TestClock.adjust("59 minutes")
      assert.isUndefined(running.pollUnsafe())
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* Fiber.join(running), { success: true, text: "Good morning." })
    }))

  it("is what the README shows, in about twenty lines", () => {
    const example = fileText("../examples/own-model.ts").trim()
    assert.include(fileText("../README.md"), example)
    assert.isAtMost(example.split("\n").length, 22)
  })
})

describe("a program that holds the agent", () => {
  it.effect("follows what happens, every event in its order", () =>
    withAgent({ replies: [calls({ name: "read" }), says("done")], tools: [tool("read")] }, ({ agent, events }) =>
      Effect.gen(function*() {
        const following = yield* agent.events.pipe(Stream.takeUntil(({ type }) => type === "run_end"), Stream.runCollect, Effect.forkChild)
        yield* settle
        yield* agent.send("go")
        assert.deepStrictEqual([...yield* Fiber.join(following)], events)
        assert.isAbove(events.length, 6)
      })))

  it.effect("stops the run under way and those that wait; each call has a result, and the next run goes as ever", () =>
    Effect.gen(function*() {
      const reached = yield* Deferred.make<void>()
      yield* withAgent({
        replies: [calls({ name: "wait" }), says("fine")],
        tools: [tool("wait", { run: () => Effect.andThen(Deferred.succeed(reached, undefined), Effect.as(Effect.never, textResult("no"))) })]
      }, ({ agent, asked, entries }) =>
        Effect.gen(function*() {
          const first = yield* Effect.forkChild(agent.send("go"))
          yield* Deferred.await(reached)
          const second = yield* Effect.forkChild(agent.send("then this"))
          yield* settle
          yield* agent.interrupt
          assert.deepStrictEqual([yield* Fiber.join(first), yield* Fiber.join(second)].map(({ success }) => success), [false, false])
          assert.deepStrictEqual((yield* entries).map(({ type }) => type), ["user", "assistant", "tool_result"])
          assert.isTrue((yield* agent.send("again")).success)
          assert.strictEqual(asked.length, 2)
          yield* agent.interrupt
        }))
    }))

  it.effect("is told whether there is a run to steer or to follow up", () =>
    Effect.gen(function*() {
      yield* withAgent({ replies: [hangsAfter("x")] }, ({ agent }) =>
        Effect.gen(function*() {
          assert.strictEqual(yield* agent.steer("nobody works"), "idle")
          const running = yield* Effect.forkChild(agent.send("go"))
          yield* settle
          assert.deepStrictEqual([yield* agent.steer("left"), yield* agent.followUp("later")], ["accepted", "accepted"])
          yield* agent.interrupt
          yield* Fiber.join(running)
        }))
    }))
})
