import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, PlatformError, Sink, Stdio } from "effect"
import { TestClock } from "effect/testing"
import { Output } from "../src/Output.ts"

/** A reader of stdout that takes nothing before `open`, and then each write as one text. */
const reader = Effect.gen(function*() {
  const open = yield* Deferred.make<void>()
  const got: Array<string> = []
  const stdout = () =>
    Sink.forEach((text: string | Uint8Array) => Effect.andThen(Deferred.await(open), Effect.sync(() => void got.push(String(text)))))
  return { got, open: Deferred.succeed(open, undefined), layer: Stdio.layerTest({ stdout }) }
})
const broken = Stdio.layerTest({
  stdout: () => Sink.fail(PlatformError.systemError({ _tag: "Unknown", module: "Stdio", method: "stdout" }))
})
const settle = Effect.repeat(Effect.yieldNow, { times: 50 })
const output = (stdio: Layer.Layer<Stdio.Stdio>, ending: Effect.Effect<void> = Effect.never) => Layer.provide(Output.layer(ending), stdio)
const writing = (text: string) => Effect.flatMap(Output, ({ out }) => out(text))

describe("Output", () => {
  it.effect("holds up who writes while a million characters wait for a slow reader, and loses none", () =>
    Effect.gen(function*() {
      const { got, layer, open } = yield* reader
      const half = "x".repeat(500_000)
      const texts = [...Array.from({ length: 8 }, () => half), "end"]
      let written = 0
      const each = (text: string) => Effect.tap(writing(text), () => Effect.sync(() => void written++))
      const fiber = yield* Effect.forkChild(Effect.provide(Effect.forEach(texts, each), output(layer)))
      yield* settle
      assert.isBelow(written, texts.length)
      yield* open
      yield* Fiber.join(fiber)
      assert.strictEqual(got.join(""), texts.join(""))
    }))

  it.effect("waits for nobody when the reader has gone", () =>
    Effect.provide(Effect.repeat(writing("x".repeat(600_000)), { times: 5 }), output(broken)))

  it.effect("when told to end waits for no room, and one second for a reader who takes nothing", () =>
    Effect.gen(function*() {
      const { layer } = yield* reader
      const ending = yield* Deferred.make<void>()
      const big = writing("x".repeat(2_000_000))
      const fiber = yield* Effect.forkChild(Effect.provide(Effect.andThen(big, big), output(layer, Deferred.await(ending))))
      yield* settle
      assert.isUndefined(fiber.pollUnsafe())
      yield* Deferred.succeed(ending, undefined)
      yield* settle
      yield* TestClock.adjust("900 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("100 millis")
      yield* Fiber.join(fiber)
    }))

  it.effect("gives a reader up who has asked for the end and takes nothing for seconds, and tells so", () =>
    Effect.gen(function*() {
      const { layer } = yield* reader
      let givenUp = false
      const patient = Layer.provide(Output.layer(Effect.never, Effect.sync(() => { givenUp = true })), layer)
      const big = writing("x".repeat(2_000_000))
      const asked = Effect.flatMap(Output, ({ part }) => part)
      const fiber = yield* Effect.forkChild(Effect.provide(big.pipe(Effect.andThen(Effect.forkChild(big)), Effect.andThen(asked)), patient))
      yield* settle
      yield* TestClock.adjust("1900 millis")
      assert.isUndefined(fiber.pollUnsafe())
      assert.isFalse(givenUp)
      yield* TestClock.adjust("2100 millis")
      yield* Fiber.join(fiber)
      assert.isTrue(givenUp)
    }))

  it.effect("loses nothing for one who has asked for the end and reads slowly", () =>
    Effect.gen(function*() {
      const got: Array<string> = []
      const slow = Stdio.layerTest({
        stdout: () => Sink.forEach((text: string | Uint8Array) => Effect.andThen(Effect.sleep("1500 millis"), Effect.sync(() => void got.push(String(text)))))
      })
      const texts = Array.from({ length: 8 }, (_, n) => String(n).repeat(600_000))
      const all = Effect.flatMap(Output, ({ out, part }) => Effect.andThen(part, Effect.forEach(texts, out)))
      const fiber = yield* Effect.forkChild(Effect.provide(all, output(slow)))
      for (let n = 0; n < 12; n++) {
        yield* settle
        yield* TestClock.adjust("1500 millis")
      }
      yield* Fiber.join(fiber)
      assert.strictEqual(got.join(""), texts.join(""))
    }))
})
