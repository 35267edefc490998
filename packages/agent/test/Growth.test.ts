import { assert, describe, it } from "@effect/vitest"
import type { SessionEntry } from "@nimlet/protocol"
import { growthNeeded } from "../src/Compaction/Growth.ts"
import { compactionLimits } from "../src/Compaction/Limits.ts"

const limits = compactionLimits({ context_window: 20_000, reserve_tokens: 4_096 })
const compaction: SessionEntry = { type: "compaction", summary: "s", first_kept_index: 0, tokens_before: 1 }
const counted = (input_tokens: number): SessionEntry => ({ type: "assistant", role: "assistant", content: [], usage: { input_tokens, output_tokens: 0 } })
const user: SessionEntry = { type: "user", role: "user", content: [] }
const [much, little] = [counted(19_000), counted(500)]

describe("the growth before the next compaction", () => {
  it("is a quarter of the reserve, and four times that for each compaction in a row that did not help", () => {
    const needed = (...entries: ReadonlyArray<SessionEntry>) => growthNeeded(entries, 1_000, limits) / limits.growth
    assert.strictEqual(limits.growth, 1_024)
    assert.strictEqual(needed(user, much), 1)
    assert.strictEqual(needed(user, much, compaction), 1)
    assert.strictEqual(needed(user, much, compaction, little, user, much), 1)
    assert.strictEqual(needed(user, much, compaction, user, much, little), 4)
    assert.strictEqual(needed(much, compaction, much, compaction, user, much), 16)
    // One that took another's place at once tells nothing.
    assert.strictEqual(needed(much, compaction, compaction, much), 4)
    assert.strictEqual(needed(compaction, much, compaction, little, compaction, much), 4)
    assert.strictEqual(growthNeeded([compaction, much], 16_000, limits), limits.growth)
  })
})
