import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { AssistantEntry } from "@nimlet/protocol"
import { totalsOf, totalsText } from "../src/Totals.ts"
import { calls, says, tool, withAgent } from "./Rig.ts"

const answer = (model: string, input: number, output: number, cache: { readonly read?: number; readonly write?: number } = {}): AssistantEntry => ({
  type: "assistant", role: "assistant", content: [], provider: "p", model,
  usage: { input_tokens: input, output_tokens: output, ...(cache.read === undefined ? {} : { cache_read_tokens: cache.read }), ...(cache.write === undefined ? {} : { cache_write_tokens: cache.write }) }
})

describe("what a session has used", () => {
  it("is added up by model, and priced where prices are known, the cache at its own", () => {
    const entries = [answer("a", 1000, 10, { read: 600, write: 300 }), answer("a", 1000, 10), answer("b", 5, 5)]
    const prices = { input: 10, output: 20, cacheRead: 1, cacheWrite: 12 }
    const { cost, models } = totalsOf(entries, (_, model) => model === "a" ? prices : undefined)
    assert.deepInclude(models[0], { answers: 2, input: 2000, output: 20, cacheRead: 600, cacheWrite: 300 })
    assert.closeTo(models[0]?.cost ?? 0, (1100 * 10 + 20 * 20 + 600 * 1 + 300 * 12) / 1e6, 1e-12)
    assert.isUndefined(cost)
    assert.isUndefined(models[1]?.cost)
    assert.closeTo(totalsOf(entries, () => ({ input: 1, output: 1 })).cost ?? 0, 2030 / 1e6, 1e-12)
  })

  it("is priced request by request: one beyond a size costs more as a whole, and no sum of smaller ones does", () => {
    const prices = { input: 2, output: 10, cacheRead: 1, tiers: [{ above: 1_000_000, input: 8, output: 40 }, { above: 200_000, input: 4, output: 15, cacheRead: 2 }] }
    const cost = (...entries: ReadonlyArray<AssistantEntry>) => totalsOf(entries, () => prices).cost ?? 0
    assert.closeTo(cost(answer("a", 200_000, 100), answer("a", 150_000, 100)), (350_000 * 2 + 200 * 10) / 1e6, 1e-12)
    assert.closeTo(cost(answer("a", 200_001, 100, { read: 100_000 })), (100_001 * 4 + 100_000 * 2 + 100 * 15) / 1e6, 1e-12)
    assert.closeTo(cost(answer("a", 1_500_000, 100, { read: 1_000_000 }), answer("a", 10, 0)), (1_500_000 * 8 + 100 * 40 + 20) / 1e6, 1e-12)
  })

  it("reads well", () => {
    const text = totalsText(totalsOf([answer("a", 7, 1), answer("b", 7, 1, { read: 4 })], () => ({ input: 1_000_000, output: 0 })))
    assert.deepStrictEqual(text.split("\n"), ["0 messages of yours, 0 tool calls", "p a: 1 answer, 7 tokens in, 1 out, $7.00", "p b: 1 answer, 7 tokens in (4 from the cache, 0 into it), 1 out, $7.00", "together $14.00"])
  })

  it.effect("is told by /stats, calls and all, and is no part of the conversation", () =>
    withAgent({ replies: [calls({ name: "read" }), says("done")], tools: [tool("read")], agent: { pricesOf: () => Effect.succeed({ input: 1_000_000, output: 0 }) } }, ({ agent, asked, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("go")
        assert.strictEqual((yield* prompt("/stats")).text, "1 message of yours, 1 tool call\ntest model-1: 2 answers, 10 tokens in (4 from the cache, 0 into it), 14 out, $10.00")
        assert.strictEqual((yield* agent.totals).cost, 10)
        assert.strictEqual(asked.length, 2)
      })))
})
