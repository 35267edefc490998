import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, PubSub, Schedule, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { type ActorRef, Behavior, Countdown, Reply, type Self, Stopwatch, Supervisor } from "../src/index.ts"
import { settle } from "./settle.ts"

interface Ask {
  readonly _tag: "Ask"
  readonly reply: Reply<string>
}
type Message = Ask | { readonly _tag: "Cancel"; readonly reply: Reply<string> } | { readonly _tag: "Crash" }

/** Answers nothing by itself, remembers what it was told, and crashes on request. */
const recorder = (log: Array<string>) =>
  Effect.fnUntraced(function*(self: Self<Message>) {
    log.push(`life ${self.life}`)
    yield* Effect.addFinalizer(() => Effect.sync(() => log.push("released")))
    yield* self.ready
    for (;;) {
      const message = yield* self.take
      log.push(message._tag)
      if (message._tag === "Crash") return yield* Effect.fail("boom")
    }
  })

const names = Effect.fnUntraced(function*(events: PubSub.Subscription<{ readonly _tag: string }>) {
  const all = yield* PubSub.takeUpTo(events, 1_000)
  return all.map((event) => event._tag)
})

const ask = (ref: ActorRef<Message>, options?: { readonly budget?: Countdown }) =>
  ref.ask<string>((reply) => ({ _tag: "Ask", reply }), { ...options, cancel: (reply) => ({ _tag: "Cancel", reply }) })

describe("ask", () => {
  it.effect("returns the reply of an in-process actor", () =>
    Effect.gen(function*() {
      const supervisor = yield* Supervisor.make
      const ref = yield* supervisor.spawn({
        name: "double",
        behavior: Behavior.serve<number, number, string, never>({ concurrency: 2 }, (n) =>
          n < 0 ? Effect.fail("negative") : Effect.succeed(n * 2))
      })
      assert.strictEqual(yield* ref.ask((reply: Reply<number, string>) => ({ value: 21, reply })), 42)
      const failed = yield* Effect.flip(ref.ask((reply: Reply<number, string>) => ({ value: -1, reply })))
      assert.strictEqual(failed, "negative")
    }))

  it.effect("serve works on at most `concurrency` requests at once and stops one whose asker is interrupted", () =>
    Effect.gen(function*() {
      const supervisor = yield* Supervisor.make
      let running = 0
      const ref = yield* supervisor.spawn({
        name: "slow",
        behavior: Behavior.serve<null, void, never, never>({ concurrency: 2 }, () =>
          Effect.acquireUseRelease(Effect.sync(() => running++), () => Effect.never, () => Effect.sync(() => running--)))
      })
      const one = () => Effect.forkChild(ref.ask((reply: Reply<void>) => ({ value: null, reply })))
      const fibers = [yield* one(), yield* one(), yield* one()] as const
      yield* settle
      assert.strictEqual(running, 2)
      yield* Fiber.interrupt(fibers[0])
      yield* settle
      assert.strictEqual(running, 2)
      yield* Fiber.interrupt(fibers[1])
      yield* Fiber.interrupt(fibers[2])
      yield* settle
      assert.strictEqual(running, 0)
    }))

  it.effect("fails with AskTimeout when the running budget is spent, and sends cancel", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const supervisor = yield* Supervisor.make
      const ref = yield* supervisor.spawn({ name: "mute", behavior: recorder(log) })
      const stopwatch = new Stopwatch()
      const fiber = yield* Effect.forkChild(Effect.flip(ask(ref, { budget: new Countdown("10 seconds", stopwatch) })))
      yield* TestClock.adjust("9 seconds")
      const question = yield* Effect.forkChild(stopwatch.hold(Effect.sleep("1 hour")))
      yield* TestClock.adjust("1 hour")
      yield* settle
      assert.isUndefined(fiber.pollUnsafe())
      yield* Fiber.join(question)
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "AskTimeout")
      yield* settle
      assert.deepStrictEqual(log, ["life 1", "Ask", "Cancel"])
    }))

  it.effect("sends cancel when the asker is interrupted, and not when the actor never took the message", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const supervisor = yield* Supervisor.make
      const gate = yield* Deferred.make<void>()
      const ref = yield* supervisor.spawn({
        name: "late",
        behavior: (self: Self<Message>) => Effect.andThen(Deferred.await(gate), recorder(log)(self))
      })
      const dead = yield* Effect.forkChild(ask(ref))
      yield* settle
      yield* Fiber.interrupt(dead)
      yield* Deferred.succeed(gate, undefined)
      yield* settle
      const taken = yield* Effect.forkChild(ask(ref))
      yield* settle
      yield* Fiber.interrupt(taken)
      yield* settle
      assert.deepStrictEqual(log, ["life 1", "Ask", "Cancel"])
    }))

  it.effect("the budget covers the wait for room in the mailbox", () =>
    Effect.gen(function*() {
      const supervisor = yield* Supervisor.make
      const ref = yield* supervisor.spawn<Message, never, never>({
        name: "stuck",
        mailbox: { capacity: 1, overflow: "suspend" },
        behavior: () => Effect.never
      })
      yield* ref.tell({ _tag: "Crash" })
      const fiber = yield* Effect.forkChild(Effect.flip(ask(ref, { budget: new Countdown("2 seconds") })))
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "AskTimeout")
    }))

  it.effect("fails with MailboxFull where the policy is reject", () =>
    Effect.gen(function*() {
      const supervisor = yield* Supervisor.make
      const ref = yield* supervisor.spawn<Message, never, never>({
        name: "stuck",
        mailbox: { capacity: 1, overflow: "reject" },
        behavior: () => Effect.never
      })
      yield* ref.tell({ _tag: "Crash" })
      assert.strictEqual((yield* Effect.flip(ask(ref)))._tag, "MailboxFull")
    }))
})

describe("Supervisor", () => {
  const exact = { backoff: Schedule.exponential("200 millis") }

  it.effect("restarts a crashed child with backoff, failing what it held at once, and replays nothing", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const supervisor = yield* Supervisor.make
      const events = yield* supervisor.subscribe
      const ref = yield* supervisor.spawn({ name: "c", behavior: recorder(log), ...exact })
      yield* ref.ready
      const held = yield* Effect.forkChild(Effect.flip(ask(ref)))
      yield* settle
      yield* ref.tell({ _tag: "Crash" })
      assert.strictEqual((yield* Fiber.join(held))._tag, "ActorStopped")
      yield* settle
      assert.strictEqual(yield* ref.status, "Restarting")
      assert.strictEqual((yield* Effect.flip(ref.tell({ _tag: "Crash" })))._tag, "ActorStopped")
      const ready = yield* Effect.forkChild(ref.ready)
      yield* TestClock.adjust("200 millis")
      yield* Fiber.join(ready)
      assert.strictEqual(yield* ref.status, "Running")
      assert.deepStrictEqual(log, ["life 1", "Ask", "Crash", "released", "life 2"])
      assert.deepStrictEqual(yield* names(events), ["Started", "Ready", "Crashed", "Restarting", "Started", "Ready"])
    }))

  it.effect("closes the mailbox and tells of the crash before it releases what the life held", () =>
    Effect.gen(function*() {
      const supervisor = yield* Supervisor.make
      const events = yield* supervisor.subscribe
      const ref = yield* supervisor.spawn({
        name: "c",
        behavior: Effect.fnUntraced(function*(self: Self<Message>) {
          yield* Effect.addFinalizer(() => self.life === 1 ? Effect.sleep("2 seconds") : Effect.void)
          yield* self.ready
          yield* self.take
          return yield* Effect.fail("boom")
        })
      })
      yield* ref.ready
      yield* ref.tell({ _tag: "Crash" })
      yield* settle
      assert.deepStrictEqual(yield* names(events), ["Started", "Ready", "Crashed"])
      assert.strictEqual((yield* Effect.flip(ref.tell({ _tag: "Crash" })))._tag, "ActorStopped")
      yield* TestClock.adjust("2 seconds")
      yield* settle
      assert.deepStrictEqual(yield* names(events), ["Restarting"])
    }))

  it.effect("quarantines after 3 restarts in 60 s, until it is restarted by name", () =>
    Effect.gen(function*() {
      const supervisor = yield* Supervisor.make
      const events = yield* supervisor.subscribe
      let lives = 0
      const ref = yield* supervisor.spawn({
        name: "c",
        ...exact,
        behavior: (self: Self<Message>) =>
          ++lives <= 4 ? Effect.fail("boom") : Effect.andThen(self.ready, Effect.never)
      })
      yield* TestClock.adjust("10 seconds")
      yield* settle
      assert.strictEqual(yield* ref.status, "Quarantined")
      assert.strictEqual(lives, 4)
      assert.strictEqual((yield* Effect.flip(ref.ready))._tag, "ActorStopped")
      assert.deepStrictEqual((yield* names(events)).filter((name) => name !== "Started"), [
        "Crashed", "Restarting", "Crashed", "Restarting", "Crashed", "Restarting", "Crashed", "Quarantined"
      ])
      assert.isTrue(yield* supervisor.restart("c"))
      yield* settle
      yield* ref.ready
      assert.strictEqual(lives, 5)
    }))

  it.effect("a child that crashes rarely is never quarantined, and its backoff starts afresh after 60 s of health", () =>
    Effect.gen(function*() {
      const supervisor = yield* Supervisor.make
      const events = yield* supervisor.subscribe
      yield* supervisor.spawn({
        name: "c",
        ...exact,
        behavior: (self: Self<Message>) =>
          Effect.andThen(self.ready, Effect.andThen(Effect.sleep("61 seconds"), Effect.fail("boom")))
      })
      yield* TestClock.adjust("10 minutes")
      yield* settle
      const all = yield* PubSub.takeUpTo(events, 1_000)
      const delays = all.flatMap((event) => event._tag === "Restarting" ? [event.delayMillis] : [])
      assert.isAbove(delays.length, 7)
      assert.isTrue(delays.every((delay) => delay === 200))
    }))

  it.effect("backs off 200 ms doubling to 5 s, give or take the jitter", () =>
    Effect.gen(function*() {
      const supervisor = yield* Supervisor.make
      const events = yield* supervisor.subscribe
      yield* supervisor.spawn({
        name: "c",
        intensity: { restarts: 9, within: "1 hour" },
        behavior: () => Effect.fail("boom")
      })
      yield* TestClock.adjust("5 minutes")
      const delays = (yield* PubSub.takeUpTo(events, 1_000)).flatMap((event) =>
        event._tag === "Restarting" ? [event.delayMillis] : [])
      const wanted = [200, 400, 800, 1600, 3200, 5000, 5000, 5000, 5000]
      assert.strictEqual(delays.length, wanted.length)
      delays.forEach((delay, n) => assert.closeTo(delay, wanted[n]!, wanted[n]! * 0.2))
    }))

  it.effect("transient ends after success, permanent goes on, temporary ends after a crash, a final failure ends any", () =>
    Effect.gen(function*() {
      const supervisor = yield* Supervisor.make
      const lives: Record<string, number> = {}
      const spawn = (name: string, restart: "permanent" | "transient" | "temporary", outcome: Effect.Effect<void, string>) =>
        supervisor.spawn({
          name,
          restart,
          ...exact,
          isFinal: (error: string) => error === "final",
          behavior: (self: Self<Message>) => {
            lives[name] = self.life
            return outcome
          }
        })
      const done = yield* spawn("transient", "transient", Effect.void)
      yield* spawn("permanent", "permanent", Effect.void)
      const crashed = yield* spawn("temporary", "temporary", Effect.fail("boom"))
      const final = yield* spawn("final", "permanent", Effect.fail("final"))
      yield* TestClock.adjust("250 millis")
      yield* settle
      assert.deepStrictEqual(lives, { transient: 1, permanent: 2, temporary: 1, final: 1 })
      assert.isTrue(Exit.isSuccess(yield* done.terminated))
      assert.isTrue(Exit.isFailure(yield* crashed.terminated))
      assert.isTrue(Exit.isFailure(yield* final.terminated))
      assert.deepStrictEqual((yield* supervisor.children).map((child) => child.name), ["permanent"])
    }))

  it.effect("one crash leaves the others alone", () =>
    Effect.gen(function*() {
      const supervisor = yield* Supervisor.make
      const a = yield* supervisor.spawn({ name: "a", behavior: recorder([]) })
      const b = yield* supervisor.spawn({ name: "b", behavior: recorder([]) })
      yield* a.ready
      yield* a.tell({ _tag: "Crash" })
      yield* settle
      assert.strictEqual(yield* a.status, "Restarting")
      assert.strictEqual(yield* b.status, "Running")
    }))

  it.effect("stop interrupts a child in any phase, waits for what it releases, and is not a crash", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const supervisor = yield* Supervisor.make
      const events = yield* supervisor.subscribe
      const ref = yield* supervisor.spawn({ name: "c", behavior: recorder(log) })
      assert.isTrue(yield* supervisor.stop("c"))
      assert.isFalse(yield* supervisor.stop("c"))
      assert.isTrue(Exit.isSuccess(yield* ref.terminated))
      assert.strictEqual(log.at(-1), "released")
      assert.deepStrictEqual((yield* names(events)).filter((name) => name !== "Ready"), ["Started", "Stopped"])
    }))

  it.effect("stop gives up on a finalizer that outlasts the grace", () =>
    Effect.gen(function*() {
      const supervisor = yield* Supervisor.make
      yield* supervisor.spawn({
        name: "c",
        grace: "3 seconds",
        behavior: (self: Self<Message>) =>
          Effect.andThen(Effect.addFinalizer(() => Effect.sleep("1 hour")), Effect.andThen(self.ready, Effect.never))
      })
      yield* settle
      const stopping = yield* Effect.forkChild(supervisor.stop("c"))
      yield* TestClock.adjust("3 seconds")
      assert.isTrue(yield* Fiber.join(stopping))
      yield* TestClock.adjust("1 hour")
    }))

  it.effect("closing its scope stops the children in reverse order of their start", () =>
    Effect.gen(function*() {
      const ended: Array<string> = []
      const child = (name: string) => ({
        name,
        behavior: (self: Self<Message>): Effect.Effect<never, never, Scope.Scope> =>
          Effect.andThen(
            Effect.addFinalizer(() => Effect.sync(() => ended.push(name))),
            Effect.andThen(self.ready, Effect.never)
          )
      })
      yield* Effect.scoped(Effect.gen(function*() {
        const supervisor = yield* Supervisor.make
        yield* supervisor.spawn(child("a"))
        yield* supervisor.spawn(child("b"))
        yield* supervisor.spawn(child("c"))
        yield* settle
      }))
      assert.deepStrictEqual(ended, ["c", "b", "a"])
    }))

  it.effect("refuses a second living child of one name, and takes the name again after its end", () =>
    Effect.gen(function*() {
      const supervisor = yield* Supervisor.make
      const spec = { name: "c", behavior: recorder([]) }
      yield* supervisor.spawn(spec)
      assert.strictEqual((yield* Effect.flip(supervisor.spawn(spec)))._tag, "NameTaken")
      yield* supervisor.stop("c")
      yield* supervisor.spawn(spec)
    }))
})
