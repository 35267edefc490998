import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Schedule, Schema } from "effect"
import { TestClock } from "effect/testing"
import { type ActorRef, Countdown, Reply, type Self, Stopwatch, Supervisor } from "../src/index.ts"
import { settle } from "./settle.ts"

type Message = { readonly _tag: "Ask" | "Cancel"; readonly reply: Reply<string> }

/** Takes everything, answers nothing by itself, and remembers who was cancelled. */
const spawnMute = Effect.fnUntraced(function*(cancelled: Array<Reply<string>> = []) {
  const supervisor = yield* Supervisor.make
  return yield* supervisor.spawn({
    name: "mute",
    behavior: (self: Self<Message>) =>
      Effect.andThen(self.ready, Effect.forever(Effect.map(self.take, ({ _tag, reply }) => {
        if (_tag === "Cancel") cancelled.push(reply)
      })))
  })
})
const ask = (ref: ActorRef<Message>, budget: Countdown | number | undefined) =>
  Effect.forkChild(
    Effect.result(ref.ask<string>((reply) => ({ _tag: "Ask", reply }), {
      ...(budget === undefined ? {} : { budget }),
      cancel: (reply) => ({ _tag: "Cancel", reply })
    })),
    { startImmediately: true }
  )
const isOpen = (fiber: Fiber.Fiber<unknown, unknown>) => fiber.pollUnsafe() === undefined

describe("budgets of open asks", () => {
  it.effect("each ends to the millisecond, a shorter one after a longer one too, and only those with one", () =>
    Effect.gen(function*() {
      const cancelled: Array<Reply<string>> = []
      const ref = yield* spawnMute(cancelled)
      const long = yield* ask(ref, 10_000)
      const none = yield* ask(ref, undefined)
      yield* TestClock.adjust(1_000)
      const short = yield* ask(ref, 2_000)
      yield* TestClock.adjust(1_999)
      yield* settle
      assert.deepStrictEqual([long, short].map(isOpen), [true, true])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual([long, short].map(isOpen), [true, false])
      yield* TestClock.adjust(6_999)
      yield* settle
      assert.isTrue(isOpen(long))
      yield* TestClock.adjust(1)
      assert.isFalse(isOpen(long))
      yield* TestClock.adjust("1 day")
      yield* settle
      assert.isTrue(isOpen(none))
      assert.strictEqual(cancelled.length, 2)
    }))

  it.effect("a held stopwatch keeps its own asks open and no others", () =>
    Effect.gen(function*() {
      const ref = yield* spawnMute()
      const [mine, other] = [new Stopwatch(), new Stopwatch()]
      const patient = yield* ask(ref, new Countdown("5 seconds", mine))
      // A millisecond is left: whoever looked each time it might be over would look a very long time.
      yield* TestClock.adjust("4999 millis")
      const question = yield* Effect.forkChild(mine.hold(Effect.sleep("100 hours")), { startImmediately: true })
      const asker = yield* Effect.forkChild(other.hold(Effect.sleep("10 seconds")), { startImmediately: true })
      const begunWhileHeld = yield* ask(ref, new Countdown("5 seconds", other))
      const plain = yield* ask(ref, 5_000)
      yield* TestClock.adjust("5 seconds")
      yield* settle
      assert.deepStrictEqual([patient, begunWhileHeld, plain].map(isOpen), [true, true, false])
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(asker)
      yield* TestClock.adjust("4999 millis")
      yield* settle
      assert.isTrue(isOpen(begunWhileHeld))
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual([patient, begunWhileHeld].map(isOpen), [true, false])
      yield* TestClock.adjust("100 hours")
      yield* Fiber.join(question)
      yield* TestClock.adjust("1 millis")
      assert.isFalse(isOpen(patient))
    }))

  it.effect("an asker that asks again when its time is up gets a whole new budget", () =>
    Effect.gen(function*() {
      const ref = yield* spawnMute()
      let tries = 0
      const stubborn = yield* ref.ask<string>((reply) => ({ _tag: "Ask", reply }), { budget: "3 seconds" }).pipe(
        Effect.tapError(() => Effect.sync(() => tries++)),
        Effect.retry(Schedule.recurs(2)),
        Effect.exit,
        Effect.forkChild({ startImmediately: true })
      )
      yield* TestClock.adjust("8999 millis")
      yield* settle
      assert.strictEqual(tries, 2)
      yield* TestClock.adjust("1 millis")
      assert.isTrue(Exit.isFailure(yield* Fiber.join(stubborn)))
      assert.strictEqual(tries, 3)
    }))

  it.effect("a budget of nothing ends the ask at once", () =>
    Effect.gen(function*() {
      const ref = yield* spawnMute()
      assert.isFalse(isOpen(yield* ask(ref, 0)))
    }))

  it.effect.prop("run out when they began within a millisecond, and nobody is kept busy by the rest of one", [
    Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 999_999 }))).check(Schema.isMinLength(20), Schema.isMaxLength(20))
  ], ([nanos]) =>
    Effect.gen(function*() {
      const ref = yield* spawnMute()
      for (const fraction of nanos) {
        yield* TestClock.adjust(Duration.nanos(BigInt(fraction)))
        const fiber = yield* ask(ref, 5_000)
        yield* TestClock.adjust("5001 millis")
        assert.isFalse(isOpen(fiber))
      }
    }), { arbitrary: { runs: 20 } })

  it.effect.prop("run out exactly when their running time does, under any mix of asks, holds and restarts", [
    Schema.Array(Schema.Struct({
      act: Schema.Literals(["ask", "hold", "restart", "wait"]),
      which: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 })),
      millis: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 50 }))
    })).check(Schema.isMaxLength(30))
  ], ([steps]) =>
    Effect.gen(function*() {
      const ref = yield* spawnMute()
      const watches = [new Stopwatch(), new Stopwatch()] as const
      const heldUntil = [0, 0]
      const asks: Array<{ countdown: Countdown; watch: number; fiber: Fiber.Fiber<unknown>; left: number }> = []
      let now = 0
      const pass = Effect.fnUntraced(function*(millis: number) {
        for (let n = 0; n < millis; n++) {
          for (const each of asks) if (heldUntil[each.watch]! <= now) each.left--
          now++
          yield* TestClock.adjust(1)
          yield* settle
          for (const each of asks) assert.strictEqual(isOpen(each.fiber), each.left > 0)
        }
      })
      for (const { act, millis, which } of steps) {
        const watch = which % 2
        if (act === "ask") {
          const countdown = new Countdown(millis, watches[watch])
          asks.push({ countdown, watch, fiber: yield* ask(ref, countdown), left: millis })
        } else if (act === "hold") {
          heldUntil[watch] = Math.max(heldUntil[watch]!, now + millis)
          yield* Effect.forkChild(watches[watch]!.hold(Effect.sleep(millis)), { startImmediately: true })
        } else if (act === "restart") {
          const open = asks.filter((each) => each.left > 0)
          const chosen = open[which % Math.max(1, open.length)]
          if (chosen !== undefined) {
            yield* chosen.countdown.restart
            chosen.left = chosen.countdown.millis
          }
        } else yield* pass(millis)
      }
      yield* pass(110)
      assert.isTrue(asks.every((each) => !isOpen(each.fiber)))
    }), { arbitrary: { runs: 20, size: 60 }, timeout: 30_000 })
})
