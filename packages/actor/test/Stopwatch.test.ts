import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Countdown, Stopwatch } from "../src/index.ts"
import { settle } from "./settle.ts"

describe("Countdown", () => {
  it.effect("expires when its budget of running time is spent, to the millisecond", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.forkChild(new Countdown("10 seconds").expired)
      yield* TestClock.adjust(9_999)
      yield* settle
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(1)
      yield* Fiber.join(fiber)
    }))

  it.effect("stands still while its stopwatch is held, also by two at once", () =>
    Effect.gen(function*() {
      const stopwatch = new Stopwatch()
      const fiber = yield* Effect.forkChild(new Countdown("10 seconds", stopwatch).expired)
      yield* TestClock.adjust("9 seconds")
      const first = yield* Effect.forkChild(stopwatch.hold(Effect.sleep("1 hour")))
      yield* TestClock.adjust("30 minutes")
      const second = yield* Effect.forkChild(stopwatch.hold(Effect.sleep("1 hour")))
      yield* TestClock.adjust("1 hour")
      yield* settle
      assert.isUndefined(fiber.pollUnsafe())
      yield* Fiber.join(first)
      yield* Fiber.join(second)
      yield* TestClock.adjust(999)
      yield* settle
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(1)
      yield* Fiber.join(fiber)
    }))

  it.effect("restart gives the whole budget again", () =>
    Effect.gen(function*() {
      const countdown = new Countdown("10 seconds")
      const fiber = yield* Effect.forkChild(countdown.expired)
      yield* TestClock.adjust("7 seconds")
      yield* countdown.restart
      yield* TestClock.adjust("9999 millis")
      yield* settle
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(fiber)
    }))

  it.effect("a hold that is interrupted lets go", () =>
    Effect.gen(function*() {
      const stopwatch = new Stopwatch()
      const holder = yield* Effect.forkChild(stopwatch.hold(Effect.never))
      yield* settle
      assert.isTrue(stopwatch.isHeld)
      yield* Fiber.interrupt(holder)
      assert.isFalse(stopwatch.isHeld)
    }))

  it.effect.prop("reads the time nobody held it, under any sequence of holds", [
    Schema.Array(Schema.Struct({ run: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 99 })), hold: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 99 })) }))
  ], ([spans]) =>
    Effect.gen(function*() {
      const stopwatch = new Stopwatch()
      const start = stopwatch.reading(yield* Clock.currentTimeMillis)
      for (const { hold, run } of spans) {
        yield* TestClock.adjust(run)
        const holder = yield* Effect.forkChild(stopwatch.hold(Effect.sleep(hold)), { startImmediately: true })
        yield* TestClock.adjust(hold)
        yield* Fiber.join(holder)
      }
      const read = stopwatch.reading(yield* Clock.currentTimeMillis) - start
      assert.strictEqual(read, spans.reduce((sum, { run }) => sum + run, 0))
    }))
})
