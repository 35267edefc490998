import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { makeFileLocks } from "../src/index.ts"

describe("FileLocks", () => {
  it.effect("holders of one key run one after the other in order of arrival, others beside them", () =>
    Effect.gen(function*() {
      const locks = makeFileLocks()
      const gate = yield* Deferred.make<void>()
      const seen: Array<string> = []
      const say = (name: string) => Effect.sync(() => { seen.push(name) })
      const first = yield* Effect.forkChild(locks.exclusively("f", Effect.andThen(Deferred.await(gate), say("first"))), { startImmediately: true })
      const second = yield* Effect.forkChild(locks.exclusively("f", say("second")), { startImmediately: true })
      const third = yield* Effect.forkChild(locks.exclusively("f", say("third")), { startImmediately: true })
      yield* locks.exclusively("g", say("other file"))
      assert.deepStrictEqual(seen, ["other file"])
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.joinAll([first, second, third])
      assert.deepStrictEqual(seen, ["other file", "first", "second", "third"])
      assert.strictEqual(locks.size(), 0)
    }))

  it.effect("a waiter that is interrupted leaves nothing behind", () =>
    Effect.gen(function*() {
      const locks = makeFileLocks()
      const holder = yield* Effect.forkChild(locks.exclusively("f", Effect.never), { startImmediately: true })
      const waiter = yield* Effect.forkChild(locks.exclusively("f", Effect.void), { startImmediately: true })
      assert.strictEqual(locks.size(), 1)
      yield* Fiber.interrupt(waiter)
      yield* Fiber.interrupt(holder)
      assert.strictEqual(locks.size(), 0)
    }))
})
