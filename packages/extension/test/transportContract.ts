import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Fiber, Result, Scope, Stream } from "effect"
import type { Transport } from "../src/index.ts"

/** Peers every transport must be able to run for the contract. */
export type ContractPeer =
  /** Sends back each line it gets; ends with its input. */
  | "echo"
  /** Ends at once with code 3 (a memory peer: 1). */
  | "exits"
  /** Never reads, never writes, never ends. */
  | "deaf"
  /** Writes `{"n":0}` to `{"n":999}` and ends. */
  | "counts"
  /** Writes lines of a thousand characters, `{"at":<time in ms>,"fill":"xxx…"}`, for as long as it is let to. */
  | "pours"
  /** Writes one line of 17 MiB and `{"n":1}`, and ends. */
  | "long"
  /** Sends back each line it gets in pieces of a few characters, with pauses; ends with its input. */
  | "stutters"
  /** Closes its end of what it hears by when it has heard something, and lives on (a memory peer: ends). */
  | "shuts"

/** Real processes on a busy machine. */
const limit = 30_000

const text = (line: Stream.Success<Transport["inbound"]>) => Result.isSuccess(line) ? line.success : line.failure._tag
const lines = (transport: Transport) => Effect.map(Stream.runCollect(transport.inbound), (all) => all.map(text))

/** What any transport must do, whatever carries it. */
export const transportContract = (
  name: string,
  make: (peer: ContractPeer, maxLineBytes?: number) => Effect.Effect<Transport, unknown, Scope.Scope>
) =>
  describe(`transport contract: ${name}`, () => {
    it.live("carries lines both ways in order, and ends the peer's input after them", () =>
      Effect.scoped(Effect.gen(function*() {
        const transport = yield* make("echo")
        const heard = yield* Effect.forkChild(lines(transport))
        const sent = Array.from({ length: 1_000 }, (_, n) => JSON.stringify({ n, text: "é😀\u2028" }))
        for (const line of sent) assert.strictEqual(yield* transport.send(line), "accepted")
        yield* transport.endInput
        assert.deepStrictEqual(yield* Fiber.join(heard), sent)
        assert.strictEqual(yield* transport.closed, "exited with code 0")
      })), limit)

    it.live("says how the peer ended, ends inbound, and takes no more", () =>
      Effect.scoped(Effect.gen(function*() {
        const transport = yield* make("exits")
        const heard = yield* Effect.forkChild(lines(transport))
        assert.match(yield* transport.closed, /^exited with code [13]$/)
        assert.deepStrictEqual(yield* Fiber.join(heard), [])
        yield* Effect.repeat(Effect.andThen(Effect.sleep(5), transport.send("{}")), {
          until: (sent) => sent === "closed",
          times: 200
        })
        assert.strictEqual(yield* transport.send("{}"), "closed")
      })), limit)

    it.live("takes no more after the end of input, and says so", () =>
      Effect.scoped(Effect.gen(function*() {
        const transport = yield* make("deaf")
        yield* transport.endInput
        yield* transport.endInput
        assert.strictEqual(yield* transport.send("{}"), "closed")
      })), limit)

    it.live("is closed soon when the peer lives on and hears no more", () =>
      Effect.scoped(Effect.gen(function*() {
        const transport = yield* make("shuts")
        const from = yield* Clock.currentTimeMillis
        assert.strictEqual(yield* transport.send("{}"), "accepted")
        yield* transport.closed
        assert.isBelow((yield* Clock.currentTimeMillis) - from, 2_000)
        assert.strictEqual(yield* transport.send("{}"), "closed")
      })), limit)

    it.live("delivers everything a peer wrote before it ended", () =>
      Effect.scoped(Effect.gen(function*() {
        const transport = yield* make("counts")
        const heard = yield* lines(transport)
        assert.deepStrictEqual(heard, Array.from({ length: 1_000 }, (_, n) => JSON.stringify({ n })))
      })), limit)

    it.live("delivers it to one who begins to read late", () =>
      Effect.scoped(Effect.gen(function*() {
        const transport = yield* make("counts")
        yield* Effect.sleep(400)
        assert.strictEqual((yield* lines(transport)).length, 1_000)
      })), limit)

    it.live("send returns at once and says full to a peer that does not read", () =>
      Effect.scoped(Effect.gen(function*() {
        const transport = yield* make("deaf")
        const line = "x".repeat(1 << 20)
        const results: Array<string> = []
        for (let n = 0; n < 40; n++) results.push(yield* transport.send(line))
        assert.strictEqual(results[0], "accepted")
        assert.strictEqual(results.at(-1), "full")
      })), limit)

    it.live("holds a peer back that writes more than is read, and loses nothing", () =>
      Effect.scoped(Effect.gen(function*() {
        const transport = yield* make("pours")
        let begun: number | undefined
        // It is there when its first line is; nobody reads on for a while then.
        const pause = Effect.suspend(() =>
          begun !== undefined ? Effect.void : Effect.flatMap(Effect.delay(Clock.currentTimeMillis, 500), (now) => Effect.sync(() => void (begun = now))))
        const stamps = yield* Stream.take(transport.inbound, 20_000).pipe(
          Stream.mapEffect((line) => Effect.as(pause, Number(JSON.parse(text(line)).at))),
          Stream.runCollect
        )
        assert.strictEqual(stamps.length, 20_000)
        assert.isDefined(begun)
        assert.isBelow(stamps[0]!, begun!)
        assert.isAtLeast(stamps.at(-1)!, begun!)
        assert.deepStrictEqual(stamps, stamps.toSorted((a, b) => a - b))
      })), limit)

    it.live("writes while nobody reads: neither waits for the other", () =>
      Effect.scoped(Effect.gen(function*() {
        const transport = yield* make("echo")
        const sent = Array.from({ length: 4_000 }, (_, n) => `${n} ${"x".repeat(1_000)}`)
        for (const line of sent) assert.strictEqual(yield* transport.send(line), "accepted")
        yield* Effect.sleep(300)
        const heard = yield* Effect.forkChild(lines(transport))
        yield* transport.endInput
        assert.deepStrictEqual(yield* Fiber.join(heard), sent)
      })), limit)

    it.live("tears no line, whoever sends at the same time and however long it is", () =>
      Effect.scoped(Effect.gen(function*() {
        const transport = yield* make("echo")
        const heard = yield* Effect.forkChild(lines(transport))
        const sent = Array.from({ length: 50 }, (_, n) => `${n} ${String(n % 10).repeat(n * 4_001)}`)
        yield* Effect.forEach(sent, (line) => transport.send(line), { concurrency: "unbounded" })
        yield* transport.endInput
        assert.deepStrictEqual(yield* Fiber.join(heard), sent)
      })), limit)

    it.live("puts together what comes in pieces", () =>
      Effect.scoped(Effect.gen(function*() {
        const transport = yield* make("stutters")
        const heard = yield* Effect.forkChild(lines(transport))
        const sent = ["{\"n\":\"你好, 😀 é\"}", "2", "{\"last\":true}"]
        for (const line of sent) yield* transport.send(line)
        yield* transport.endInput
        assert.deepStrictEqual(yield* Fiber.join(heard), sent)
      })), limit)

    it.live("refuses a line over its limit and goes on", () =>
      Effect.scoped(Effect.gen(function*() {
        const transport = yield* make("echo", 10)
        const heard = yield* Effect.forkChild(lines(transport))
        assert.strictEqual(yield* transport.send("12345678901"), "too_large")
        assert.strictEqual(yield* transport.send("ééééé1"), "too_large")
        assert.strictEqual(yield* transport.send("1234567890"), "accepted")
        yield* transport.endInput
        assert.deepStrictEqual(yield* Fiber.join(heard), ["1234567890"])
      })), limit)

    it.live("marks the place of a line over 16 MiB and goes on", () =>
      Effect.scoped(Effect.gen(function*() {
        assert.deepStrictEqual(yield* lines(yield* make("long")), ["LineTooLong", "{\"n\":1}"])
      })), limit)

    it.live("closing its scope ends the peer soon, whatever it is doing", () =>
      Effect.gen(function*() {
        for (const peer of ["echo", "pours", "deaf"] as const) {
          const scope = yield* Scope.make()
          const transport = yield* Scope.provide(make(peer), scope)
          yield* Effect.sleep(50)
          const from = yield* Clock.currentTimeMillis
          yield* Scope.close(scope, Exit.void)
          assert.isBelow((yield* Clock.currentTimeMillis) - from, 1_000)
          assert.strictEqual(yield* transport.send("{}"), "closed")
        }
      }), limit)
  })
