import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber, Option, Schema } from "effect"
import * as AiError from "effect/ai/AiError"
import { TestClock } from "effect/testing"
import { reasonFromStatus, retryAfter } from "../src/AiSdk/Failure.ts"
import { retryDelay } from "../src/Retry.ts"

const error = (status: number, headers: Record<string, string> = {}, description = "x") =>
  AiError.make({ module: "m", method: "streamText", reason: reasonFromStatus({ status, description, headers, now: 0 }) })
const millis = (error: AiError.AiError, attempt: number) =>
  Effect.map(retryDelay(error, attempt), (delay) => Option.getOrUndefined(Option.map(delay, Duration.toMillis)))

describe("retryDelay", () => {
  it.effect("tries again after what may pass, and not after what will not", () =>
    Effect.gen(function*() {
      for (const status of [408, 409, 429, 500, 502, 503, 529]) assert.isDefined(yield* millis(error(status), 1), String(status))
      for (const status of [400, 401, 402, 403, 404, 413, 422]) assert.isUndefined(yield* millis(error(status), 1), String(status))
      assert.isUndefined(yield* millis(error(429, {}, "insufficient_quota"), 1))
    }))

  it.effect("gives up after two retries", () =>
    Effect.gen(function*() {
      assert.isDefined(yield* millis(error(500), 2))
      assert.isUndefined(yield* millis(error(500), 3))
    }))

  it.effect.prop("waits between half and all of a time that doubles, up to 30 s", [Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 12 }))], ([attempt]) =>
    Effect.gen(function*() {
      const policy = { retries: 20, base: "1 second", longest: "30 seconds", longestAsked: "60 seconds" } as const
      const wait = Duration.toMillis(Option.getOrThrow(yield* retryDelay(error(500), attempt, policy)))
      const full = Math.min(1_000 * 2 ** (attempt - 1), 30_000)
      assert.isAtLeast(wait, full / 2)
      assert.isAtMost(wait, full)
    }))

  it.effect("waits as long as the provider asks, and not at all when that is too long", () =>
    Effect.gen(function*() {
      for (const status of [429, 503]) {
        const wait = yield* millis(error(status, { "retry-after": "7" }), 1)
        assert.isAtLeast(wait!, 7_000)
        assert.isAtMost(wait!, 7_700)
        assert.isUndefined(yield* millis(error(status, { "retry-after": "3600" }), 1))
      }
    }))

  it.effect("lets a turn try again under the clock of the test", () =>
    Effect.gen(function*() {
      let attempts = 0
      const request = Effect.suspend(() => ++attempts < 3 ? Effect.fail(error(503, { "retry-after": "10" })) : Effect.succeed("answer"))
      const turn = (attempt: number): Effect.Effect<string, AiError.AiError> =>
        Effect.catch(request, (failed) =>
          Effect.flatMap(retryDelay(failed, attempt), Option.match({
            onNone: () => Effect.fail(failed),
            onSome: (delay) => Effect.andThen(Effect.sleep(delay), turn(attempt + 1))
          })))
      const fiber = yield* Effect.forkChild(turn(1))
      yield* TestClock.adjust("9 seconds")
      assert.strictEqual(attempts, 1)
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(yield* Fiber.join(fiber), "answer")
      assert.isBelow(yield* Clock.currentTimeMillis, 60_000)
    }))
})

describe("retryAfter", () => {
  const wait = (headers: Record<string, string>, now = 0) => {
    const duration = retryAfter(headers, now)
    return duration === undefined ? undefined : Duration.toMillis(duration)
  }
  it("reads seconds, milliseconds and dates, and ignores nonsense", () => {
    assert.strictEqual(wait({ "retry-after": "1.5" }), 1_500)
    assert.strictEqual(wait({ "retry-after": "9", "retry-after-ms": "20" }), 20)
    assert.strictEqual(wait({ "retry-after": "Thu, 01 Jan 1970 00:01:00 GMT" }, 10_000), 50_000)
    assert.strictEqual(wait({ "retry-after": "0" }), 0)
    assert.isUndefined(wait({ "retry-after": "soon" }))
    assert.isUndefined(wait({ "retry-after": "-4" }))
  })

  it("does not believe in a time that is past or more than a month ahead", () => {
    assert.isUndefined(wait({ "retry-after": "Thu, 01 Jan 1970 00:01:00 GMT" }, 90_000))
    assert.isUndefined(wait({ "retry-after": "Fri, 31 Dec 9999 23:59:59 GMT" }))
    for (const value of ["99999999999999999999", "1e999", "Infinity"]) assert.isUndefined(wait({ "retry-after": value }))
    assert.isUndefined(wait({ "retry-after-ms": "1e30" }))
    assert.strictEqual(wait({ "retry-after": "9", "retry-after-ms": "" }), 9_000)
  })
})
