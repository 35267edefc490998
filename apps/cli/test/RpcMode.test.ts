import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Queue, Stdio, Stream } from "effect"
import { TestClock } from "effect/testing"
import { makeRpcMode } from "../src/modes/Rpc.ts"

const settle = Effect.repeat(Effect.yieldNow, { times: 50 })

/** The mode with a client that says lines as it is told to, and what it was written. */
const withClient = Effect.gen(function*() {
  const said = yield* Queue.unbounded<Uint8Array>()
  const written: Array<string> = []
  const write = (text: string) => Effect.sync(() => void written.push(text))
  const mode = yield* makeRpcMode({ output: { out: write, err: write, part: Effect.void }, settingsFile: "/nowhere/config.json", version: "1" }).pipe(
    Effect.provide(Layer.merge(NodeServices.layer, Stdio.layerTest({ stdin: Stream.fromQueue(said) })))
  )
  return { mode, written, say: (line: string) => Queue.offer(said, new TextEncoder().encode(line)) }
})

describe("RPC mode", () => {
  it.effect("waits a second for who is in front before extensions are started, and not once something was said", () =>
    Effect.gen(function*() {
      const silent = yield* withClient
      yield* silent.mode.opened("s")
      const waiting = yield* Effect.forkChild(silent.mode.greeted!)
      yield* settle
      yield* TestClock.adjust("900 millis")
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust("100 millis")
      assert.isDefined(waiting.pollUnsafe())

      const quick = yield* withClient
      yield* quick.mode.opened("s")
      yield* quick.say(`{"id":"1","type":"initialize","ui":true}\n`)
      yield* quick.mode.greeted!
      assert.isTrue(quick.mode.frontend.interactive)
      assert.deepStrictEqual(quick.written.map((line) => JSON.parse(line).type), ["session_start", "response"])
    }).pipe(Effect.scoped))

  it.effect("tells who is in front, however late it asks, the session that is open now", () =>
    Effect.gen(function*() {
      const { mode, say, written } = yield* withClient
      yield* mode.opened("s")
      yield* mode.switched("s", "t")
      yield* say(`{"id":"1","type":"initialize"}\n`)
      yield* settle
      assert.deepInclude(JSON.parse(written.at(-1)!), { id: "1", ok: true, session_id: "t" })
    }).pipe(Effect.scoped))

  it.effect("refuses a line of more than 16 MiB and goes on with the next", () =>
    Effect.gen(function*() {
      const { mode, say, written } = yield* withClient
      yield* mode.opened("s")
      yield* say("x".repeat(16 * 1024 * 1024 + 1))
      yield* say(`\n{"id":"1","type":"approve","request_id":"q","decision":"once"}\n`)
      yield* settle
      assert.deepStrictEqual(written.slice(1).map((line) => JSON.parse(line)), [
        { version: 1, type: "response", id: "", ok: false, error: "Command is longer than 16777216 bytes." },
        { version: 1, type: "response", id: "1", ok: false, error: "No request 'q' is open." }
      ])
    }).pipe(Effect.scoped))
})
