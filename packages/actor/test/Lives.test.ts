import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, PubSub, Schedule, Schema } from "effect"
import { TestClock } from "effect/testing"
import { type ActorRef, Reply, type Self, Supervisor, type SupervisorEvent } from "../src/index.ts"
import { settle } from "./settle.ts"

interface Hop {
  readonly left: number
  readonly done: Reply<string>
}

const all = (events: PubSub.Subscription<SupervisorEvent>) => PubSub.takeUpTo(events, 100_000)
const at200 = { backoff: Schedule.spaced("200 millis") }

describe("messages from actor to actor", () => {
  it.effect("pass a chain of thousands without growing the stack, and each tell returns though its receiver runs at once", () =>
    Effect.gen(function*() {
      const supervisor = yield* Supervisor.make
      let next: ActorRef<Hop> | undefined
      for (let n = 0; n < 2_000; n++) {
        const to = next
        next = yield* supervisor.spawn({
          name: `a${n}`,
          behavior: (self: Self<Hop>) =>
            Effect.andThen(self.ready, Effect.forever(Effect.flatMap(self.take, (hop) =>
              to === undefined ? hop.done.succeed(`${hop.left}`) : to.tell({ ...hop, left: hop.left - 1 }))))
        })
      }
      yield* settle
      assert.strictEqual(yield* next!.ask<string>((done) => ({ left: 1_999, done })), "0")
    }))

  it.effect("two that answer each other take turns and let a third one work", () =>
    Effect.gen(function*() {
      const supervisor = yield* Supervisor.make
      const refs: Array<ActorRef<number>> = []
      let rallies = 0
      const player = (own: number) => (self: Self<number>) =>
        Effect.andThen(self.ready, Effect.forever(Effect.flatMap(self.take, (n) => {
          rallies++
          return n === 0 ? Effect.void : refs[1 - own]!.tell(n - 1)
        })))
      for (const own of [0, 1]) refs.push(yield* supervisor.spawn({ name: `p${own}`, behavior: player(own) }))
      yield* settle
      yield* refs[0]!.tell(50_000)
      yield* Effect.yieldNow
      assert.isBelow(rallies, 50_001)
      yield* Effect.repeat(Effect.yieldNow, { until: () => rallies === 50_001, times: 100_000 })
      assert.strictEqual(rallies, 50_001)
    }))
})

describe("the lives of a child", () => {
  it.effect("are told with their times", () =>
    Effect.gen(function*() {
      const supervisor = yield* Supervisor.make
      const events = yield* supervisor.subscribe
      yield* TestClock.adjust("1 second")
      yield* supervisor.spawn({
        name: "c",
        ...at200,
        intensity: { restarts: 1, within: "60 seconds" },
        behavior: (self: Self<never>) =>
          Effect.sleep("100 millis").pipe(Effect.andThen(self.ready), Effect.andThen(Effect.sleep("1 second")), Effect.andThen(Effect.fail("boom")))
      })
      yield* TestClock.adjust("5 seconds")
      yield* settle
      yield* supervisor.stop("c")
      assert.deepStrictEqual((yield* all(events)).map(({ _tag, at, ...rest }) => [_tag, at, "delayMillis" in rest ? rest.delayMillis : "life" in rest ? rest.life : undefined]), [
        ["Started", 1_000, 1],
        ["Ready", 1_100, 1],
        ["Crashed", 2_100, 1],
        ["Restarting", 2_100, 200],
        ["Started", 2_300, 2],
        ["Ready", 2_400, 2],
        ["Crashed", 3_400, 2],
        ["Quarantined", 3_400, undefined],
        ["Stopped", 6_000, undefined]
      ])
    }))

  it.effect("end with the mailbox closed and every ask failed before anybody hears of it", () =>
    Effect.gen(function*() {
      const supervisor = yield* Supervisor.make
      const ref = yield* supervisor.spawn({
        name: "c",
        behavior: (self: Self<Reply<void>>) => Effect.andThen(self.ready, Effect.forever(self.take))
      })
      const held = yield* Effect.forkChild(Effect.exit(ref.ask<void>((reply) => reply)), { startImmediately: true })
      const watch = yield* Effect.forkChild(Effect.map(ref.terminated, () => [held.pollUnsafe() !== undefined] as const), { startImmediately: true })
      yield* supervisor.stop("c")
      assert.deepStrictEqual(yield* Fiber.join(watch), [true])
      assert.isTrue(Exit.isFailure(yield* Fiber.join(held)))
      assert.strictEqual((yield* Effect.flip(ref.tell(new Reply()))).message, "actor 'c' is not running")
      assert.strictEqual(yield* ref.status, "Stopped")
    }))

  it.effect("back off further and further while none lasts 60 s, without a quarantine when they are rare enough", () =>
    Effect.gen(function*() {
      const supervisor = yield* Supervisor.make
      const events = yield* supervisor.subscribe
      yield* supervisor.spawn({
        name: "c",
        backoff: Schedule.exponential("200 millis"),
        behavior: (self: Self<never>) => Effect.andThen(self.ready, Effect.andThen(Effect.sleep("59 seconds"), Effect.fail("boom")))
      })
      yield* TestClock.adjust("4 minutes")
      yield* settle
      const delays = (yield* all(events)).flatMap((event) => event._tag === "Restarting" ? [event.delayMillis] : [])
      assert.deepStrictEqual(delays, [200, 400, 800, 1600])
    }))

  it.effect("are over when the backoff is: then it is quarantined", () =>
    Effect.gen(function*() {
      const supervisor = yield* Supervisor.make
      const ref = yield* supervisor.spawn({ name: "c", backoff: Schedule.recurs(0), behavior: () => Effect.fail("boom") })
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* ref.status, "Quarantined")
    }))

  it.effect("begin afresh by hand while one runs and while the next is waited for, with the crashes forgotten", () =>
    Effect.gen(function*() {
      const supervisor = yield* Supervisor.make
      const lives: Array<number> = []
      const ref = yield* supervisor.spawn({
        name: "c",
        backoff: Schedule.spaced("10 seconds"),
        behavior: (self: Self<"crash">) => {
          lives.push(self.life)
          return Effect.andThen(self.ready, Effect.andThen(self.take, Effect.fail("boom")))
        }
      })
      yield* ref.ready
      assert.isTrue(yield* supervisor.restart("c"))
      yield* settle
      yield* ref.ready
      assert.deepStrictEqual(lives, [1, 2])
      for (let n = 0; n < 9; n++) {
        yield* ref.tell("crash")
        yield* settle
        assert.strictEqual(yield* ref.status, "Restarting")
        assert.isTrue(yield* supervisor.restart("c"))
        yield* settle
        yield* ref.ready
      }
      assert.strictEqual(lives.length, 11)
    }))

  it.effect.prop("are at most 3 more in any 60 s, and the next one only after a quarantine", [
    Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 30_000 }))).check(Schema.isMinLength(5), Schema.isMaxLength(14))
  ], ([lifetimes]) =>
    Effect.gen(function*() {
      const supervisor = yield* Supervisor.make
      const events = yield* supervisor.subscribe
      const ref = yield* supervisor.spawn({
        name: "c",
        ...at200,
        behavior: (self: Self<never>) => {
          const lasts = lifetimes[self.life - 1]
          return lasts === undefined ? Effect.never : Effect.andThen(Effect.sleep(lasts), Effect.fail("boom"))
        }
      })
      yield* TestClock.adjust("10 minutes")
      yield* settle
      const crashes: Array<number> = []
      let time = 0
      let quarantined = false
      for (const lasts of lifetimes) {
        time += lasts
        crashes.push(time)
        quarantined = crashes.filter((each) => time - each < 60_000).length > 3
        if (quarantined) break
        time += 200
      }
      const seen = yield* all(events)
      assert.deepStrictEqual(seen.flatMap((event) => event._tag === "Crashed" ? [event.at] : []), crashes)
      assert.strictEqual(yield* ref.status, quarantined ? "Quarantined" : "Starting")
    }), { arbitrary: { runs: 60, size: 200 } })
})
