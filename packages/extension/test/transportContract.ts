import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Result, type Scope, Stream } from "effect"
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

const lines = (transport: Transport) =>
  Stream.runCollect(transport.inbound).pipe(
    Effect.map((all) => all.map((line) => Result.isSuccess(line) ? line.success : line.failure._tag))
  )

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
      })))

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
      })))

    it.live("delivers everything a peer wrote before it ended", () =>
      Effect.scoped(Effect.gen(function*() {
        const transport = yield* make("counts")
        const heard = yield* lines(transport)
        assert.deepStrictEqual(heard, Array.from({ length: 1_000 }, (_, n) => JSON.stringify({ n })))
      })))

    it.live("send returns at once and says full to a peer that does not read", () =>
      Effect.scoped(Effect.gen(function*() {
        const transport = yield* make("deaf")
        const line = "x".repeat(1 << 20)
        const results: Array<string> = []
        for (let n = 0; n < 40; n++) results.push(yield* transport.send(line))
        assert.strictEqual(results[0], "accepted")
        assert.strictEqual(results.at(-1), "full")
      })))

    it.live("refuses a line over its limit and goes on", () =>
      Effect.scoped(Effect.gen(function*() {
        const transport = yield* make("echo", 10)
        const heard = yield* Effect.forkChild(lines(transport))
        assert.strictEqual(yield* transport.send("12345678901"), "too_large")
        assert.strictEqual(yield* transport.send("ééééé1"), "too_large")
        assert.strictEqual(yield* transport.send("1234567890"), "accepted")
        yield* transport.endInput
        assert.deepStrictEqual(yield* Fiber.join(heard), ["1234567890"])
      })))
  })
