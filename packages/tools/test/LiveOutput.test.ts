import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { makeLiveOutput } from "../src/LiveOutput.ts"

const encode = (text: string) => new TextEncoder().encode(text)

const start = Effect.gen(function*() {
  const seen: Array<string> = []
  const live = yield* makeLiveOutput((delta) => Effect.sync(() => { seen.push(delta) }))
  return { ...live, seen, say: (text: string) => live.take("stdout", encode(text)) }
})

describe("LiveOutput", () => {
  it.effect("the first output goes out at once, what follows is gathered for 50 ms, from both streams in order", () =>
    Effect.gen(function*() {
      const { flush, say, seen, take } = yield* start
      yield* say("a")
      assert.deepStrictEqual(seen, ["a"])
      for (const text of ["b", "c"]) yield* say(text)
      yield* take("stderr", encode("d"))
      yield* TestClock.adjust("49 millis")
      assert.deepStrictEqual(seen, ["a"])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(seen, ["a", "bcd"])
      yield* TestClock.adjust("1 second")
      yield* say("e")
      yield* say("f")
      yield* flush
      yield* flush
      assert.deepStrictEqual(seen, ["a", "bcd", "e", "f"])
    }))

  it.effect("after 1 MiB a flood is shown in pieces, and what is left out is counted", () =>
    Effect.gen(function*() {
      const { say, seen } = yield* start
      yield* say("x".repeat(1024 * 1024))
      assert.strictEqual(seen.join("").length, 1024 * 1024)
      for (let i = 0; i < 100; i++) yield* say("y".repeat(1024))
      yield* TestClock.adjust("249 millis")
      assert.strictEqual(seen.length, 1)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(seen[1], `${"y".repeat(64 * 1024)}\n[... ${36 * 1024} characters not shown live ...]\n`)
      yield* say("z")
      yield* TestClock.adjust("250 millis")
      assert.strictEqual(seen[2], "z")
    }))

  it.effect("nothing comes after the scope", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      yield* Effect.scoped(Effect.gen(function*() {
        const { take } = yield* makeLiveOutput((delta) => Effect.sync(() => { seen.push(delta) }))
        for (const text of ["a", "b"]) yield* take("stdout", encode(text))
      }))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(seen, ["a"])
    }))

  it.effect.prop("characters stay whole however the bytes are cut", [
    Schema.Array(Schema.Literals(["a", "é", "你", "😀", "\ufeff"])), Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 }))
  ], ([parts, size]) =>
    Effect.scoped(Effect.gen(function*() {
      const { flush, seen, take } = yield* start
      const bytes = encode(parts.join(""))
      for (let at = 0; at < bytes.length; at += size) yield* take("stdout", bytes.subarray(at, at + size))
      yield* flush
      assert.strictEqual(seen.join(""), parts.join(""))
    })))

  it.effect("a character of two units is not cut where a flood is", () =>
    Effect.gen(function*() {
      const { flush, say, seen } = yield* start
      yield* say("x".repeat(1024 * 1024))
      yield* say(`y${"😀".repeat(40_000)}`)
      yield* flush
      assert.isTrue(seen[1]?.isWellFormed())
    }))
})
