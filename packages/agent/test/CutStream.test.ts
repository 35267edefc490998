/** A stream that breaks after every single event: no half call runs, and no broken answer is taken for one. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Models } from "@nimlet/provider"
import { textResult } from "@nimlet/tools"
import { startModelStub } from "../../../test/kit/ModelStub.ts"
import { chatConfig } from "../../../test/kit/Providers.ts"
import { Agent, layerEmbedded } from "../src/index.ts"
import { tool } from "./Rig.ts"

const house = (url: string) => (JSON.parse(chatConfig(url)) as { providers: { house: object } }).providers.house
const providers = [
  ["anthropic", "claude-sonnet-4-6", (url: string) => ({ environment: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "k" } })],
  ["openai", "gpt-5.2", (url: string) => ({ environment: { OPENAI_BASE_URL: url, OPENAI_API_KEY: "k" } })],
  ["google", "gemini-3.8-flash", (url: string) => ({ environment: { GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: "k" } })],
  ["mistral", "mistral-large-4", (url: string) => ({ environment: { MISTRAL_API_KEY: "k" }, providers: { mistral: { endpoint: `${url}/mistral/v1` } } })],
  ["house", "local-model", (url: string) => ({ environment: { HOUSE_KEY: "k" }, providers: { house: house(url) } })]
] as const

const step = { text: "I change both files now.", tools: [{ name: "change", args: { file: "a" } }, { name: "change", args: { file: "b" } }] }
/** Time for the network, then for the wait before the next attempt. */
const tick = Effect.andThen(Effect.promise(() => new Promise((done) => setImmediate(done))), TestClock.adjust("100 millis"))

type Fault = { readonly cutAfter: number } | { readonly failAfter: number } | { readonly garble: number }

/** Runs one turn whose first answer breaks so; tells what came of it, and how many events a whole answer has. */
const play = Effect.fnUntraced(function*(provider: string, model: string, options: (url: string) => object, fault: Fault | undefined) {
  const stub = yield* Effect.acquireRelease(
    Effect.promise(() => startModelStub([fault === undefined ? step : { ...step, ...fault, times: 1 }, { text: "done" }])),
    (started) => Effect.promise(() => started.close())
  )
  const ran: Array<unknown> = []
  const change = tool("change", { run: (args) => Effect.sync(() => (ran.push(args["file"]), textResult("changed"))) })
  const resolved = yield* Effect.flatMap(Models, (models) => models.resolve({ provider, model })).pipe(
    Effect.provide(Models.layer({ environment: {}, home: "/nowhere", ...options(stub.url) }))
  )
  const entries = yield* Effect.gen(function*() {
    const agent = yield* Agent
    const running = yield* Effect.forkChild(agent.send("go"))
    while (running.pollUnsafe() === undefined) yield* tick
    assert.deepStrictEqual(yield* Fiber.join(running), { success: true, text: "done" }, JSON.stringify(fault))
    return yield* Effect.flatMap(agent.session, (session) => session.entries)
  }).pipe(Effect.provide(Layer.provide(layerEmbedded({ system: "x", tools: [change] }), resolved.layer)))
  return { ran, types: entries.map(({ type }) => type), events: stub.requests[0]!.events, requests: stub.requests.length }
}, Effect.scoped)

describe.each(providers)("%s, breaking after every event of an answer with two calls", (name, model, options) => {
  const expected = { ran: ["a", "b"], types: ["user", "assistant", "tool_result", "tool_result", "assistant"] }

  it.effect("that is cut runs each call once, in full, and keeps nothing of the dead attempt", () =>
    Effect.gen(function*() {
      const whole = yield* play(name, model, options, undefined)
      assert.isAtLeast(whole.events, 5)
      for (let cutAfter = 0; cutAfter < whole.events; cutAfter++) {
        const { ran, requests, types } = yield* play(name, model, options, { cutAfter })
        assert.deepStrictEqual({ cutAfter, ran, types, requests }, { cutAfter, ...expected, requests: 3 })
      }
    }).pipe(Effect.provide(NodeServices.layer)), 60_000)

  it.effect("in which the provider fails or an event is no JSON does so too; what stands behind the end of an answer changes nothing", () =>
    Effect.gen(function*() {
      const whole = yield* play(name, model, options, undefined)
      for (let at = 0; at < whole.events; at++) {
        for (const fault of [{ failAfter: at }, { garble: at }]) {
          const { ran, requests, types } = yield* play(name, model, options, fault)
          assert.deepStrictEqual({ fault, ran, types }, { fault, ...expected })
          // Only what had its end already may have been taken.
          assert.include(at < whole.events - 3 ? [3] : [2, 3], requests, JSON.stringify(fault))
        }
      }
    }).pipe(Effect.provide(NodeServices.layer)), 60_000)
})
