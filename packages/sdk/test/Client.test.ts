import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Queue, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { ClientClosed, type ClientProcess, type ClientUi, makeClient } from "../src/index.ts"

type Sent = { readonly id: string; readonly type: string; readonly [key: string]: unknown }

/** A nimlet in memory: what it was sent, and a way to write. `answers` says whether it says hello, `refuses` what it says no to. */
const fake = Effect.fnUntraced(function*(answers = true, refuses: (command: Sent) => boolean = () => false) {
  const lines = yield* Queue.unbounded<string>()
  const over = yield* Deferred.make<ClientClosed>()
  const sent: Array<Sent> = []
  let closing: Effect.Effect<unknown> = Effect.void
  const write = (record: object) => Queue.offer(lines, JSON.stringify({ version: 1, ...record }))
  const process: ClientProcess = {
    send: (line) =>
      Effect.suspend(() => {
        const command: Sent = JSON.parse(line)
        sent.push(command)
        return answers && command.type !== "prompt" ? Effect.asVoid(write({ type: "response", id: command.id, ...(refuses(command) ? { ok: false, error: "not offered" } : { ok: true }) })) : Effect.void
      }),
    lines: Stream.fromQueue(lines).pipe(Stream.interruptWhen(Deferred.await(over))),
    ended: Deferred.await(over),
    close: Effect.asVoid(Effect.suspend(() => closing))
  }
  return { process, sent, write, whenClosed: (effect: Effect.Effect<unknown>) => { closing = effect }, raw: (line: string) => Queue.offer(lines, line), end: Deferred.succeed(over, new ClientClosed({ reason: "ended with code 1", stderr: "no key" })) }
})

const settle = Effect.repeat(Effect.yieldNow, { times: 100 })
const place = { session_id: "s", turn_id: "t", run_id: "t" }

const begun = Effect.fnUntraced(function*(ui?: ClientUi, refuses?: (command: Sent) => boolean) {
  const nimlet = yield* fake(true, refuses)
  const client = yield* makeClient(nimlet.process, ui)
  return { ...nimlet, client }
})

describe("a client", () => {
  it.effect("gives a prompt the end of its own turn, whatever comes between", () =>
    Effect.gen(function*() {
      const { client, sent, write } = yield* begun()
      const turn = yield* Effect.forkChild(client.prompt("hi"))
      yield* settle
      const { id } = sent.at(-1)!
      yield* write({ type: "response", id, ok: true, state: "started" })
      yield* write({ type: "run_end", ...place, request_id: "other", success: false, error: "not ours" })
      yield* write({ type: "message", role: "assistant", content: "Done.", ...place, final: true })
      yield* write({ type: "run_end", ...place, request_id: id, success: true })
      assert.deepStrictEqual(yield* Fiber.join(turn), { success: true, text: "Done.", error: undefined })
    }))

  it.effect("gives the output of a structured answer, and no text where a turn ended with its tools or said something on the way alone", () =>
    Effect.gen(function*() {
      const { client, sent, write } = yield* begun()
      const textOf = Effect.fnUntraced(function*(turn_id: string, end: object) {
        const turn = yield* Effect.forkChild(client.prompt("hi"))
        yield* settle
        const { id } = sent.at(-1)!
        const ids = { ...place, turn_id }
        yield* write({ type: "response", id, ok: true, state: "started" })
        yield* write({ type: "message", role: "assistant", content: "I look first.", ...ids, final: false })
        for (const tool_id of ["a", "b"]) yield* write({ type: "tool_result", ...ids, step: 0, tool_id, tool_name: "decide", output: `{"by": "${tool_id}"}`, is_error: false, terminate: true })
        yield* write({ type: "run_end", ...ids, request_id: id, success: true, ...end })
        return (yield* Fiber.join(turn)).text
      })
      assert.strictEqual(yield* textOf("1", { answer: "a" }), "{\"by\": \"a\"}")
      assert.strictEqual(yield* textOf("2", {}), "")
      assert.strictEqual(yield* textOf("3", { answer: "b" }), "{\"by\": \"b\"}")
    }))

  it.effect("tells a refusal from a turn that failed", () =>
    Effect.gen(function*() {
      const { client, sent, write } = yield* begun()
      const refused = yield* Effect.forkChild(Effect.flip(client.prompt("hi")))
      yield* settle
      yield* write({ type: "response", id: sent.at(-1)!.id, ok: false, error: "busy" })
      assert.deepInclude(yield* Fiber.join(refused), { _tag: "CommandRefused", command: "prompt", error: "busy" })
      const failed = yield* Effect.forkChild(client.prompt("hi"))
      yield* settle
      const { id } = sent.at(-1)!
      yield* write({ type: "response", id, ok: true })
      yield* write({ type: "run_end", ...place, request_id: id, success: false, error: "no model" })
      assert.deepStrictEqual(yield* Fiber.join(failed), { success: false, text: "", error: "no model" })
    }))

  it.effect("interrupts the turn when the prompt is interrupted", () =>
    Effect.gen(function*() {
      const { client, sent } = yield* begun()
      const turn = yield* Effect.forkChild(client.prompt("hi"))
      yield* settle
      yield* Fiber.interrupt(turn)
      assert.strictEqual(sent.at(-1)!.type, "interrupt")
    }))

  it.effect("answers in a person's place, denies and cancels where nobody does, and leaves withdrawn questions alone", () =>
    Effect.gen(function*() {
      const asked = { version: 1, type: "approval_required", ...place, step: 0, tool_id: "1", tool_name: "bash", can_remember: true, request_id: "a" }
      const question = { version: 1, type: "ui_request", request_id: "q", method: "question", options: ["x"] }
      const { sent, write } = yield* begun({ approve: () => Effect.succeed({ decision: "session" }) })
      yield* write(asked)
      yield* write(question)
      yield* write({ type: "ui_request", request_id: "a", method: "withdraw" })
      yield* settle
      assert.deepInclude(sent[0], { type: "initialize", ui: true })
      const said = sent.slice(1).map(({ id: _, ...rest }) => rest)
      assert.deepStrictEqual(said, [{ type: "approve", request_id: "a", decision: "session" }, { type: "answer", request_id: "q", cancelled: true }])
    }))

  it.effect("passes records on to all who follow, and no line that is none", () =>
    Effect.gen(function*() {
      const { client, raw, write } = yield* begun()
      yield* settle
      const followers = [1, 2].map(() => Effect.forkChild(Stream.runCollect(Stream.take(client.records, 2)), { startImmediately: true }))
      const fibers = yield* Effect.all(followers)
      yield* settle
      yield* raw("not json")
      yield* write({ type: "session_start", session_id: "s" })
      yield* write({ type: "some_day", new: true })
      for (const fiber of fibers) assert.deepStrictEqual((yield* Fiber.join(fiber)).map(({ type }) => String(type)), ["session_start", "some_day"])
    }))

  it.effect("fails all that waits, and all that comes later, when the process has ended", () =>
    Effect.gen(function*() {
      const { client, end } = yield* begun()
      const turn = yield* Effect.forkChild(Effect.flip(client.prompt("hi")))
      yield* settle
      yield* end
      assert.deepInclude(yield* Fiber.join(turn), { _tag: "ClientClosed", reason: "ended with code 1" })
      assert.include((yield* Effect.flip(client.prompt("again"))).message, "no key")
    }))

  it.effect("gives the turn under way its result when it is closed, fails all else that waits, and all that comes later", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { client, end, sent, whenClosed, write } = yield* Scope.provide(begun(), scope)
      const turn = yield* Effect.forkChild(client.prompt("hi"))
      yield* settle
      const { id } = sent.at(-1)!
      yield* write({ type: "response", id, ok: true })
      const other = yield* Effect.forkChild(Effect.flip(client.prompt("and")))
      yield* settle
      whenClosed(write({ type: "run_end", ...place, request_id: id, success: false, error: "interrupted" }).pipe(Effect.andThen(settle), Effect.andThen(end), Effect.andThen(settle)))
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* Fiber.join(turn), { success: false, text: "", error: "interrupted" })
      assert.strictEqual((yield* Fiber.join(other))._tag, "ClientClosed")
      for (const call of [client.request("stats", {}), client.prompt("x"), client.steer("x"), client.followUp("x"), client.interrupt]) {
        assert.strictEqual((yield* Effect.flip(Effect.asVoid(call)))._tag, "ClientClosed")
      }
    }))

  it.effect("is closed also when its process does not end, and with a follower that takes nothing", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { client, write } = yield* Scope.provide(begun(), scope)
      yield* Effect.forkChild(Stream.runForEach(client.records, () => Effect.never), { startImmediately: true })
      yield* settle
      for (let at = 0; at < 5000; at++) yield* write({ type: "some_day" })
      yield* settle
      const turn = yield* Effect.forkChild(Effect.flip(client.prompt("hi")))
      yield* settle
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual((yield* Fiber.join(turn))._tag, "ClientClosed")
    }))

  it.effect("denies or cancels where what was answered is refused, or whoever answers dies", () =>
    Effect.gen(function*() {
      const asked = { type: "approval_required", ...place, step: 0, tool_id: "1", tool_name: "bash", can_remember: false, request_id: "a" }
      const question = { type: "ui_request", request_id: "q", method: "question", options: ["x"] }
      const refuses = (command: Sent) => command["decision"] === "project" || command["confirmed"] === true
      const offered = yield* begun({ approve: () => Effect.succeed({ decision: "project" }), answer: () => Effect.succeed({ confirmed: true }) }, refuses)
      const dying = yield* begun({ approve: () => Effect.die(new Error("boom")), answer: () => Effect.die("boom") })
      for (const [{ sent, write }, why] of [[offered, "not offered"], [dying, "boom"]] as const) {
        yield* write(asked)
        yield* write(question)
        yield* settle
        const [approve] = sent.filter(({ decision, type }) => type === "approve" && decision === "deny")
        assert.deepInclude(approve, { request_id: "a", decision: "deny" })
        assert.include(approve!["reason"], why)
        assert.isTrue(sent.some(({ cancelled, request_id, type }) => type === "answer" && request_id === "q" && cancelled === true))
      }
    }))

  it.effect("waits 30 s for a process that does not say hello", () =>
    Effect.gen(function*() {
      const { process } = yield* fake(false)
      const starting = yield* Effect.forkChild(Effect.flip(makeClient(process)))
      yield* TestClock.adjust("29 seconds")
      assert.isUndefined(starting.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.include((yield* Fiber.join(starting)).reason, "did not answer")
    }))
})
