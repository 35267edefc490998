/** An extension that pours costs itself its time, and nobody else more than a little. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Allowance } from "../src/Allowance.ts"
import { SessionAccess } from "../src/index.ts"
import { Pace } from "../src/Pace.ts"
import { answering, type Json, memory, peer, person, startAll, tool } from "./kit.ts"
import { settle } from "./settle.ts"

/** A peer whose tool `pour` sends `count` lines, and then answers; `sent` counts them. */
const pouring = (count: number, line: (n: number) => Json | string) => {
  const state = { sent: 0 }
  const { script, heard } = peer({ tools: [tool("pour")] }, (message, self) =>
    message.type !== "tool" ? Effect.void : Effect.gen(function*() {
      for (; state.sent < count; state.sent++) yield* self.send(line(state.sent))
      yield* self.send({ type: "response", id: message.id, content: "poured" })
    }))
  return { script, heard, state }
}
const update = (fields: Json): Json => ({ type: "update", ...fields })
const saying = (n: number) => update({ user_message: { content: `${n}`, deliver_as: "steer" } })
/** A session that takes words as told. */
const taking = (say: (content: string) => Effect.Effect<undefined>) => ({ ...SessionAccess.defaultValue(), say: (_: string, { content }: { readonly content: string }) => say(content) })
const second = Effect.andThen(TestClock.adjust("1 second"), settle)

describe("an extension that pours", () => {
  it.effect("notifications has some of them shown, and one sentence says how many were not", () => {
    const a = pouring(1_000, (n) => update({ notification: { level: "info", message: `n${n}` } }))
    const notices: Array<string> = []
    const { with: shownTo } = person({ notify: (_, message) => Effect.sync(() => void notices.push(message)) })
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* shownTo(host.start)
      yield* host.extensions.callTool("pour", {})
      assert.deepStrictEqual(notices, Array.from({ length: 64 }, (_, n) => `n${n}`))
      yield* second
      assert.deepStrictEqual(host.diagnostics, [
        { level: "warning", extension: "a", message: "extension 'a': 936 notifications were not shown, it sends more than a person can read" }
      ])
      // A second has made room for eight more, and what is lost since is told after another while, or when it ends.
      a.state.sent -= 10
      yield* host.extensions.callTool("pour", {})
      assert.strictEqual(notices.length, 72)
      yield* host.extensions.stop
      assert.deepStrictEqual(host.diagnostics.slice(1).map(({ message }) => message), ["extension 'a': 2 notifications were not shown, it sends more than a person can read"])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("entries has them stored up to 32 MiB, and the rest refused, with how many", () => {
    const text = "x".repeat(1024 * 1024)
    const a = pouring(40, (n) => update({ entry: { n, text } }))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* host.start
      yield* host.extensions.callTool("pour", {})
      assert.deepStrictEqual(host.entries.map(({ data }) => (data as { n: number }).n), Array.from({ length: 31 }, (_, n) => n))
      yield* second
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), ["extension 'a': 9 entries were not stored, it has had 32 MiB of them stored since it was started"])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("messages and questions is told of in two sentences, by why they were dropped", () => {
    const a = pouring(100, (n) =>
      n < 50 ? update({ user_message: { content: "hey", deliver_as: "steer" } }) : { type: "ui_request", id: `q${n}`, method: "confirm", prompt: "?" })
    const { with: shownTo } = person()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      let said = 0
      const session = { ...SessionAccess.defaultValue(), say: () => Effect.sync(() => ++said > 10 ? "too many wait already" : undefined) }
      yield* Effect.provideService(shownTo(host.start), SessionAccess, session)
      yield* host.extensions.callTool("pour", {})
      yield* second
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), [
        "extension 'a': 40 messages were dropped, too many wait already",
        "extension 'a': 34 questions were cancelled, 16 of its questions were open"
      ])
      assert.strictEqual(a.heard.filter(({ type }) => type === "ui_response").length, 34)
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("is not read while what it asked for is being done, and holds up nobody else", () => {
    const a = pouring(5_000, saying)
    const b = peer({ tools: [tool("ping")] }, answering({ content: "pong" }))
    return Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const said: Array<unknown> = []
      const host = yield* startAll({ manifests: { a: {}, b: {} } })
      yield* Effect.provideService(host.start, SessionAccess, taking((content) => Effect.andThen(Deferred.await(gate), Effect.sync(() => void said.push(content)))))
      const poured = yield* Effect.forkChild(host.extensions.callTool("pour", {}))
      yield* settle
      assert.isAtMost(a.state.sent, 200)
      assert.strictEqual((yield* host.extensions.callTool("ping", {})).content.length, 1)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(poured)
      assert.deepStrictEqual(said, Array.from({ length: 5_000 }, (_, n) => `${n}`))
    }).pipe(Effect.provide(memory({ a: a.script, b: b.script })))
  })

  it.effect("that does not read on has its end awaited no longer for it", () => {
    const a = pouring(5_000, saying)
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* Effect.provideService(host.start, SessionAccess, taking(() => Effect.never))
      yield* Effect.forkChild(Effect.ignore(host.extensions.callTool("pour", {})))
      yield* settle
      const stopped = yield* Effect.forkChild(host.extensions.stop)
      yield* settle
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.join(stopped)
    }).pipe(Effect.provide(memory({ a: a.script })))
  })
})

describe("the pace at which one is read", () => {
  it.effect("is let be for what somebody waits for, and slowed for what nobody does; the end ends the rest", () =>
    Effect.gen(function*() {
      let now = 0
      const pace = new Pace(() => now)
      const chunk = (lines: number, unasked: number, millis: number) => {
        pace.handsOn()
        now += millis
        pace.handled(now - millis, lines, unasked)
      }
      const rests = Effect.gen(function*() {
        const fiber = yield* Effect.forkChild(pace.rest)
        yield* settle
        return fiber
      })
      chunk(1, 0, 10_000)
      assert.isDefined((yield* rests).pollUnsafe())
      // Ten seconds of waiting for a disk are no work: one line costs at most a tenth of a millisecond.
      chunk(1, 1, 10_000)
      assert.isDefined((yield* rests).pollUnsafe())
      chunk(3_000, 3_000, 70)
      const resting = yield* rests
      assert.isUndefined(resting.pollUnsafe())
      now += 200
      yield* TestClock.adjust("200 millis")
      assert.isDefined(resting.pollUnsafe())
      chunk(3_000, 3_000, 250)
      const last = yield* rests
      assert.isUndefined(last.pollUnsafe())
      pace.end()
      yield* settle
      assert.isDefined(last.pollUnsafe())
    }))

  it.effect("keeps the reader at most one chunk ahead", () =>
    Effect.gen(function*() {
      const pace = new Pace(() => 0)
      pace.handsOn()
      const fiber = yield* Effect.forkChild(pace.rest)
      yield* settle
      assert.isUndefined(fiber.pollUnsafe())
      pace.handled(0, 1, 1)
      yield* settle
      assert.isDefined(fiber.pollUnsafe())
    }))
})

describe("an allowance", () => {
  it("may be taken at once, comes back with time, never more than there was, and may be owed", () => {
    const allowance = new Allowance({ most: 2, perSecond: 8 })
    assert.deepStrictEqual([0, 0, 0, 125, 125, 10_000, 10_000, 10_000].map((now) => allowance.take(now)), [true, true, false, true, false, true, true, false])
    allowance.spend(10_000, 4)
    assert.strictEqual(allowance.owedFor(10_000), 500)
    assert.strictEqual(allowance.owedFor(10_250), 250)
    assert.strictEqual(allowance.owedFor(20_000), 0)
  })
})
