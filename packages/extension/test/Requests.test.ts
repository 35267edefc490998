import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import type { Memory } from "../src/index.ts"
import { type Json, memory, person, sessionOf, startAll } from "./kit.ts"
import { settle } from "./settle.ts"

const Step = Schema.Struct({
  act: Schema.Literals(["call", "reply", "wrong", "late", "update", "interrupt", "ask", "wonder", "wait", "crash"]),
  which: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 }))
})

describe("requests", () => {
  it.effect.prop(
    "end exactly once under any interleaving of replies, wrong ids, timeouts, interrupts, questions, host requests and crashes",
    [Schema.Array(Step).check(Schema.isMaxLength(40))],
    ([steps]) => {
      let peer: Memory.Peer | undefined
      let die: () => void = () => {}
      let open: Array<string> = []
      const cancelled: Array<string> = []
      const script: Memory.Script = (self) =>
        Effect.gen(function*() {
          peer = self
          open = []
          yield* self.send({ type: "register", commands: [], tools: [{ name: "t", description: "t.", input_schema: {} }] })
          for (;;) {
            const message: Json = yield* self.receive
            if (message.type === "shutdown") return
            if (message.type === "tool") open.push(String(message.id))
            if (message.type === "cancel") {
              cancelled.push(String(message.id))
              open = open.filter((id) => id !== message.id)
            }
          }
        }).pipe(Effect.raceFirst(Effect.callback<void, string>((resume) => {
          die = () => resume(Effect.fail("crash"))
        })))
      return Effect.gen(function*() {
        const host = yield* startAll({ manifests: { a: { response_timeout_seconds: 5 } } })
        let asked = 0
        // What is asked stays open until it is withdrawn, one kind; the other is answered in time.
        const withdrawn = Effect.suspend(() => {
          asked++
          return Effect.ensuring(Effect.never, Effect.sync(() => asked--))
        })
        const answered = Effect.as(Effect.sleep("1 second"), { tokens: 1, limit: 2, percent: 50 })
        yield* sessionOf({ info: withdrawn, usage: answered }).with(person({ question: () => withdrawn }).with(host.start))
        const calls: Array<Fiber.Fiber<Exit.Exit<unknown, unknown>>> = []
        const ends: Array<number> = []
        const call = Effect.suspend(() => {
          const n = calls.length
          ends.push(0)
          return Effect.exit(host.extensions.callTool("t", { n })).pipe(
            Effect.ensuring(Effect.sync(() => ends[n]!++)),
            Effect.forkChild({ startImmediately: true }),
            Effect.map((fiber) => calls.push(fiber))
          )
        })
        const say = (line: Json) => Effect.suspend(() => peer?.send(line) ?? Effect.void)
        for (const { act, which } of steps) {
          if (act === "call") yield* call
          else if (act === "reply") {
            const id = open[which % Math.max(1, open.length)]
            open = open.filter((each) => each !== id)
            if (id !== undefined) yield* say({ type: "response", id, content: "ok" })
          } else if (act === "wrong") yield* say({ type: "response", id: `x${which}`, content: "wrong" })
          else if (act === "late") yield* say({ type: "response", id: cancelled.at(-1) ?? "0", content: "late" })
          else if (act === "update") yield* say({ type: "tool_update", id: open.at(-1) ?? "0", content: "step" })
          else if (act === "interrupt") {
            const fiber = calls[which % Math.max(1, calls.length)]
            if (fiber !== undefined) yield* Fiber.interrupt(fiber)
          } else if (act === "ask") yield* say({ type: "ui_request", id: "q", method: "question", prompt: "?", options: [] })
          else if (act === "wonder") yield* say({ type: "host_request", id: `h${which}`, method: which % 2 === 0 ? "session.info" : "context.usage" })
          else if (act === "wait") yield* TestClock.adjust(which * 700)
          else die()
          yield* settle
        }
        // No budget runs while something is asked, so the asker has to go first.
        die()
        yield* settle
        assert.strictEqual(asked, 0)
        yield* TestClock.adjust("10 seconds")
        yield* settle
        for (const [n, fiber] of calls.entries()) {
          assert.isDefined(fiber.pollUnsafe(), `call ${n} has ended`)
          assert.strictEqual(ends[n], 1)
        }
      }).pipe(Effect.scoped, Effect.provide(memory({ a: script })))
    },
    { arbitrary: { runs: 40 } }
  )
})
