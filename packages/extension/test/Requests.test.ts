import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import type { Memory } from "../src/index.ts"
import { maxOpenHostRequests } from "../src/Inquiries.ts"
import { type Json, memory, person, sessionOf, startAll, tool } from "./kit.ts"
import { settle } from "./settle.ts"

/** What may happen, to whichever request `which` points at. */
const Step = Schema.Struct({
  act: Schema.Literals([
    "tool", "command", "event", "reply", "fail", "twice", "wrong", "number", "late", "update", "noise", "interrupt", "ask", "answer", "host", "wait",
    "crash", "restart"
  ]),
  which: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 }))
})
const Steps = Schema.Array(Step).check(Schema.isMaxLength(60))

describe("requests", () => {
  it.effect.prop(
    "end exactly once, and none is left open, under any interleaving of what either side may do",
    [Steps],
    ([steps]) => {
      const seated = person()
      let peer: Memory.Peer | undefined
      let die: () => void = () => {}
      let open: Array<string> = []
      let received = 0
      const faults: Array<string> = []
      const over: Array<string> = []
      const script: Memory.Script = (self) =>
        Effect.gen(function*() {
          peer = self
          open = []
          yield* self.send({ type: "register", commands: [{ name: "c" }], tools: [tool("t")], events: ["tool_call"] })
          for (;;) {
            const message: Json = yield* self.receive
            if (message.type === "shutdown") return
            if (message.type === "tool" || message.type === "command" || message.type === "event") {
              received++
              if (open.includes(String(message.id))) faults.push(`${message.id} is open already`)
              open.push(String(message.id))
            }
            if (message.type === "cancel") {
              if (!open.includes(String(message.id))) faults.push(`${message.id} is cancelled and was not open`)
              over.push(String(message.id))
              open = open.filter((id) => id !== message.id)
            }
          }
        }).pipe(Effect.raceFirst(Effect.callback<void, string>((resume) => {
          die = () => resume(Effect.fail("crash"))
        })))
      return Effect.gen(function*() {
        const host = yield* startAll({ manifests: { a: { response_timeout_seconds: 5 } } })
        let asked = 0
        // One kind of host request stays open until it is withdrawn, the other is answered in time.
        const withdrawn = Effect.suspend(() => {
          asked++
          return Effect.ensuring(Effect.never, Effect.sync(() => asked--))
        })
        const answered = Effect.as(Effect.sleep("1 second"), { tokens: 1, limit: 2, percent: 50 })
        yield* sessionOf({ info: withdrawn, usage: answered }).with(seated.with(host.start))
        const fibers: Array<Fiber.Fiber<Exit.Exit<unknown, unknown>>> = []
        const ends: Array<number> = []
        const begin = (request: Effect.Effect<unknown, unknown>) =>
          Effect.suspend(() => {
            const n = fibers.length
            ends.push(0)
            return Effect.exit(request).pipe(
              Effect.ensuring(Effect.sync(() => ends[n]!++)),
              Effect.forkChild({ startImmediately: true }),
              Effect.map((fiber) => fibers.push(fiber))
            )
          })
        const say = (line: Json | string) => Effect.suspend(() => peer?.send(line) ?? Effect.void)
        /** Answers an open request; it counts as over on this side too. */
        const settleOne = (which: number, fields: Json, times = 1) => {
          const id = open[which % Math.max(1, open.length)]
          if (id === undefined) return Effect.void
          open = open.filter((each) => each !== id)
          over.push(id)
          return Effect.repeat(say({ type: "response", id, ...fields }), { times: times - 1 })
        }
        const acts: Record<typeof Step.Type["act"], (which: number) => Effect.Effect<unknown>> = {
          tool: (n) => begin(host.extensions.callTool("t", { n })),
          command: (n) => begin(host.extensions.runCommand("c", String(n))),
          event: (n) => begin(host.hooks.run("tool_call", { tool: "x", arguments: { n } })),
          reply: (which) => settleOne(which, { content: "ok" }),
          fail: (which) => settleOne(which, { content: 7, is_error: "no", allow: [], arguments: "x" }),
          twice: (which) => settleOne(which, { content: "ok" }, 3),
          wrong: (which) => say({ type: "response", id: `x${which}`, content: "wrong" }),
          number: (which) => say({ type: "response", id: Number(open[which % Math.max(1, open.length)] ?? 1), content: "wrong" }),
          late: (which) => say({ type: "response", id: over[which % Math.max(1, over.length)] ?? "0", content: "late" }),
          update: (which) => say({ type: "tool_update", id: open[which % Math.max(1, open.length)] ?? "0", content: "step" }),
          noise: (which) => say(["{", "[]", "null", "{\"type\":\"response\"}", "{\"type\":7}"][which % 5]!),
          interrupt: (which) => {
            const fiber = fibers[which % Math.max(1, fibers.length)]
            return fiber === undefined ? Effect.void : Fiber.interrupt(fiber)
          },
          ask: (which) => say({ type: "ui_request", id: `q${which}`, method: "question", prompt: "?", options: ["a"] }),
          answer: () => seated.asked.length > seated.answered() ? seated.answer({ cancelled: false, answer: "a" }) : Effect.void,
          host: (which) => say({ type: "host_request", id: `h${which}`, method: which % 2 === 0 ? "session.info" : "context.usage" }),
          wait: (which) => TestClock.adjust(which * 700),
          crash: () => Effect.sync(die),
          restart: () => host.extensions.restart("a")
        }
        for (const { act, which } of steps) {
          yield* acts[act](which)
          yield* settle
        }
        // Whoever is asked answers in the end. No budget runs while a host request is open: then the asker has to go first,
        // as soon as the turn of one has come that nobody answers.
        while (seated.asked.length > seated.answered()) yield* seated.answer({ cancelled: true })
        for (let turn = 0; turn < maxOpenHostRequests; turn++) {
          yield* settle
          yield* TestClock.adjust("1 second")
          yield* settle
          if (asked > 0) die()
        }
        yield* settle
        yield* TestClock.adjust("10 seconds")
        yield* settle
        assert.strictEqual(asked, 0)
        for (const [n, fiber] of fibers.entries()) {
          assert.isDefined(fiber.pollUnsafe(), `request ${n} has ended`)
          assert.strictEqual(ends[n], 1)
        }
        assert.deepStrictEqual(faults, [])
        const [{ requests } = { requests: { open: -1, answered: 0, failed: 0 } }] = yield* host.extensions.figures
        assert.strictEqual(requests.open, 0)
        assert.strictEqual(requests.answered + requests.failed, received)
      }).pipe(Effect.scoped, Effect.provide(memory({ a: script })))
    },
    { arbitrary: { runs: 80, size: 120 }, timeout: 60_000 }
  )
})
