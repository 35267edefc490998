/** Calls that run together: each result is saved when it is there, and everybody reads them in the order of the calls. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import type * as LanguageModel from "effect/ai/LanguageModel"
import type { AgentEvent, SessionEntry } from "@nimlet/protocol"
import { textResult } from "@nimlet/tools"
import { calls, says, settle, tool, withAgent } from "./Rig.ts"

const look = (name: string, until: Effect.Effect<unknown> = Effect.void) =>
  tool(name, { capabilities: ["read"], run: () => Effect.as(until, textResult(`${name} saw`)) })
const savedIn = (entries: ReadonlyArray<SessionEntry>) => entries.flatMap((entry) => entry.type === "tool_result" ? [`${entry.id}: ${entry.output.split(" ")[0]}`] : [])
const toldIn = (events: ReadonlyArray<AgentEvent>) => events.flatMap((event) => event.type === "tool_result" ? [event.tool_id] : [])
const sentIn = (request: LanguageModel.ProviderOptions | undefined) =>
  request?.prompt.content.flatMap(({ content, role }) => role === "tool" ? content.flatMap((part) => part.type === "tool-result" ? [part.id] : []) : [])
const three = calls({ name: "slow", id: "1" }, { name: "quick", id: "2" }, { name: "later", id: "3" })

describe("results of calls that run together", () => {
  it.effect("are saved one by one as they come, and told and sent in the order of the calls", () =>
    Effect.gen(function*() {
      const gates = { slow: yield* Deferred.make<void>(), later: yield* Deferred.make<void>() }
      const tools = [look("slow", Deferred.await(gates.slow)), look("quick"), look("later", Deferred.await(gates.later))]
      yield* withAgent({ replies: [three, says("done"), says("again")], tools }, ({ asked, entries, events, prompt }) =>
        Effect.gen(function*() {
          const running = yield* Effect.forkChild(prompt("look around"))
          yield* settle
          assert.deepStrictEqual([savedIn(yield* entries), toldIn(events)], [["2: quick"], []])
          yield* Deferred.succeed(gates.later, undefined)
          yield* settle
          assert.deepStrictEqual(savedIn(yield* entries), ["2: quick", "3: later"])
          yield* Deferred.succeed(gates.slow, undefined)
          assert.isTrue((yield* Fiber.join(running)).success)
          assert.deepStrictEqual(savedIn(yield* entries), ["2: quick", "3: later", "1: slow"])
          assert.deepStrictEqual(toldIn(events), ["1", "2", "3"])
          yield* prompt("and on")
          assert.deepStrictEqual(asked.slice(1).map(sentIn), [["1", "2", "3"], ["1", "2", "3"]])
        }))
    }))

  it.effect("stay as they were saved when the others are interrupted, and each call is told one result", () =>
    withAgent({ replies: [three, says("done")], tools: [look("slow", Effect.never), look("quick"), look("later", Effect.never)] }, ({ asked, entries, events, prompt }) =>
      Effect.gen(function*() {
        const running = yield* Effect.forkChild(prompt("look around"))
        yield* settle
        yield* Fiber.interrupt(running)
        assert.deepStrictEqual(savedIn(yield* entries), ["2: quick", "1: Interrupted", "3: Interrupted"])
        assert.deepStrictEqual(toldIn(events), ["1", "2", "3"])
        yield* prompt("and on")
        assert.deepStrictEqual(sentIn(asked[1]), ["1", "2", "3"])
      })))
})
