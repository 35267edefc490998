import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { AsideFailed } from "../src/Aside.ts"
import { calls, noExtensions, says, settle, tool, withAgent } from "./Rig.ts"

/** A tool whose call stays open until the test lets it end. */
const gate = Effect.map(Deferred.make<void>(), (open) => ({
  open: Deferred.succeed(open, undefined),
  tool: tool("wait", { run: () => Effect.as(Deferred.await(open), { content: [{ type: "text", text: "waited" }], isError: false }) })
}))
const failureOf = (run: Effect.Effect<string, AsideFailed>) => Effect.map(Effect.flip(run), ({ message }) => message)

describe("a command of an extension while a turn is under way", () => {
  it.effect("runs beside it when it registered for that: its message comes at once, its prompt behind the turn", () =>
    Effect.flatMap(gate, ({ open, tool }) =>
      withAgent({
        replies: [calls({ name: "wait" }), says("done"), says("answered")],
        tools: [tool],
        commands: { btw: { message: "noted", prompt: "and then?" }, other: { message: "no" } },
        whileBusy: ["btw"],
        agent: { queues: { followUp: "all" } }
      }, ({ agent, asked, contexts, events, prompt }) =>
        Effect.gen(function*() {
          const running = yield* Effect.forkChild(prompt("go"))
          yield* settle
          const run = yield* agent.aside("/BTW now")
          assert.isDefined(run)
          assert.strictEqual(yield* run!, "noted")
          assert.strictEqual(contexts.at(-1)?.messages.at(0)?.role, "user")
          assert.strictEqual(asked.length, 1)
          assert.deepStrictEqual((yield* agent.queued).followUp, [{ content: "and then?", extension: "test" }])
          // None of these may: one that did not say so, ours, one there is not, words.
          for (const typed of ["/other", "/compact", "/nobody", "btw", "/"]) assert.isUndefined(yield* agent.aside(typed), typed)
          yield* open
          assert.isTrue((yield* Fiber.join(running)).success)
          const said = events.flatMap((event) => event.type === "message" && event.role === "user" ? [event.content] : [])
          assert.deepStrictEqual(said, ["go", "and then?"])
          assert.strictEqual(events.filter(({ type }) => type === "run_start").length, 1)
        }))))

  it.effect("has what it wants said begin a turn when none is left to take it, and told when nobody can run it", () =>
    Effect.gen(function*() {
      const ran: Array<unknown> = []
      const commands = { btw: { prompt: "/look" } }
      yield* withAgent({ replies: [], commands, whileBusy: ["btw"], agent: { onIdleInput: (input, extension) => Effect.sync(() => void ran.push(input, extension)) } }, ({ agent }) =>
        Effect.gen(function*() {
          assert.strictEqual(yield* (yield* agent.aside("/btw"))!, "")
        }))
      assert.deepStrictEqual(ran, [{ typed: "/look", literal: true }, "test"])
      yield* withAgent({ replies: [], commands, whileBusy: ["btw"] }, ({ agent }) =>
        Effect.gen(function*() {
          assert.strictEqual(yield* failureOf((yield* agent.aside("/btw"))!), "/btw: what it wants said to the model was dropped, no run was under way")
        }))
    }))

  it.effect.each([["session", { session: { action: "new" } }], ["reload", { reload: true, message: "hm" }]] as const)(
    "cannot change the session under it: %s",
    ([_, reply]) =>
      withAgent({ replies: [], commands: { btw: reply }, whileBusy: ["btw"], agent: { extensions: () => Effect.succeed(noExtensions) } }, ({ agent, log, session }) =>
        Effect.gen(function*() {
          assert.match(yield* failureOf((yield* agent.aside("/btw"))!), /^\/btw: it wants the session changed, which cannot be done beside a turn/)
          assert.strictEqual((yield* agent.session).id, session.id)
          assert.deepStrictEqual(log.filter((name) => name === "stop"), [])
        }))
  )

  it.effect("is stopped by an interrupt, alone as well, and when the session is left or its extensions are started anew", () =>
    Effect.gen(function*() {
      const ended: Array<string> = []
      const commands = { btw: Effect.onInterrupt(Effect.never, () => Effect.sync(() => void ended.push("cancelled"))) }
      yield* withAgent({ replies: [], commands, whileBusy: ["btw"], agent: { extensions: () => Effect.succeed(noExtensions) } }, ({ agent }) =>
        Effect.gen(function*() {
          for (const stop of [agent.interrupt, agent.reload, agent.newSession]) {
            const fiber = yield* Effect.forkChild(failureOf((yield* agent.aside("/btw it"))!))
            yield* settle
            yield* stop
            assert.strictEqual(yield* Fiber.join(fiber), "/btw it: Interrupted")
          }
          assert.strictEqual(ended.length, 3)
        }))
    }))
})
