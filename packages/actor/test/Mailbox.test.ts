import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { Mailbox, Reply } from "../src/index.ts"
import { settle } from "./settle.ts"

describe("Mailbox", () => {
  it.effect("reject says full when there is no room", () =>
    Effect.gen(function*() {
      const box = yield* Mailbox.make<number>("a", { capacity: 1, overflow: "reject" })
      assert.strictEqual(yield* box.offer(1), "accepted")
      assert.strictEqual(yield* box.offer(2), "full")
      assert.strictEqual(yield* box.take, 1)
    }))

  it.effect("suspend makes the sender wait for room", () =>
    Effect.gen(function*() {
      const box = yield* Mailbox.make<number>("a", { capacity: 1, overflow: "suspend" })
      yield* box.offer(1)
      const second = yield* Effect.forkChild(box.offer(2))
      yield* settle
      assert.isUndefined(second.pollUnsafe())
      assert.strictEqual(yield* box.take, 1)
      assert.strictEqual(yield* Fiber.join(second), "accepted")
      assert.strictEqual(yield* box.take, 2)
    }))

  it.effect("dropOldest makes room and fails the ask it drops", () =>
    Effect.gen(function*() {
      const box = yield* Mailbox.make<number>("a", { capacity: 1, overflow: "dropOldest" })
      const dropped = new Reply<void>()
      yield* box.offer(1, dropped)
      assert.strictEqual(yield* box.offer(2), "accepted")
      assert.strictEqual((yield* Effect.flip(dropped.outcome))._tag, "MailboxFull")
      assert.strictEqual(yield* box.take, 2)
    }))

  it.effect("a closed mailbox refuses messages, wakes waiting senders and fails queued and taken asks", () =>
    Effect.gen(function*() {
      const box = yield* Mailbox.make<string>("a", { capacity: 2, overflow: "suspend" })
      const taken = new Reply<void>()
      const queued = new Reply<void>()
      yield* box.offer("taken", taken)
      yield* box.take
      yield* box.offer("queued", queued)
      yield* box.offer("told")
      const waiting = yield* Effect.forkChild(box.offer("late"))
      yield* settle
      yield* box.close
      assert.strictEqual(yield* Fiber.join(waiting), "closed")
      assert.strictEqual(yield* box.offer("later"), "closed")
      assert.strictEqual((yield* Effect.flip(taken.outcome))._tag, "ActorStopped")
      assert.strictEqual((yield* Effect.flip(queued.outcome))._tag, "ActorStopped")
      assert.strictEqual(box.outstanding, 0)
    }))

  it.effect("a message whose asker is gone is skipped", () =>
    Effect.gen(function*() {
      const box = yield* Mailbox.make<string>("a", { capacity: 4, overflow: "suspend" })
      const gone = new Reply<void>()
      yield* box.offer("dead", gone)
      yield* box.offer("alive")
      assert.isFalse(gone.abandon())
      assert.strictEqual(yield* box.take, "alive")
    }))

  it.effect.prop("keeps the order of one sender and the newest when it drops", [Schema.Array(Schema.Int)], ([values]) =>
    Effect.gen(function*() {
      const box = yield* Mailbox.make<number>("a", { capacity: 3, overflow: "dropOldest" })
      for (const value of values) yield* box.offer(value)
      const kept = values.slice(-3)
      for (const value of kept) assert.strictEqual(yield* box.take, value)
      assert.strictEqual(box.size, 0)
    }))
})
