import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { ContentPart, SessionEntry, Usage } from "@nimlet/protocol"
import { estimate, makeEntryTokens, overheadTokens, textTokens } from "../src/Compaction/Estimate.ts"
import { compactionLimits, keptOf } from "../src/Compaction/Limits.ts"
import { tool } from "./Rig.ts"

const tokensOf = makeEntryTokens()
const user = (text: string): SessionEntry => ({ type: "user", role: "user", content: [{ type: "text", text }] })
const says = (text: string, usage?: Usage): SessionEntry =>
  ({ type: "assistant", role: "assistant", content: [{ type: "text", text }], ...(usage === undefined ? {} : { usage }) })
const compaction = (summary: string, first_kept_index: number): SessionEntry => ({ type: "compaction", summary, first_kept_index, tokens_before: 1 })
const of = (...entries: ReadonlyArray<SessionEntry>) => estimate(entries, 100, tokensOf)
const Tokens = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000 }))

describe("textTokens", () => {
  it.effect.prop("counts four bytes a token, and no text as nothing", [Schema.String], ([text]) =>
    Effect.sync(() => assert.strictEqual(textTokens(text), Math.max(1, Math.ceil(new TextEncoder().encode(text).length / 4)))))
})

describe("the tokens of an entry", () => {
  const parts = (...content: ReadonlyArray<ContentPart>) => tokensOf({ type: "assistant", role: "assistant", content })

  it("counts all that is sent, an image as a large one, and bookkeeping as nothing", () => {
    assert.strictEqual(parts({ type: "text", text: "12345678" }, { type: "thinking", thinking: "1234", signature: "s" }), 3)
    assert.strictEqual(parts({ type: "tool_use", id: "1", name: "read", input: { path: "abc" } }), 1 + 4)
    assert.strictEqual(parts({ type: "image", mimeType: "image/png", data: "AAAA" }), 2000)
    assert.strictEqual(parts({ type: "file", mimeType: "application/pdf", data: "A".repeat(40) }), 10)
    assert.strictEqual(tokensOf({ type: "tool_result", id: "1", output: "12345678", is_error: false, images: [{ type: "image", mimeType: "image/png", path: "a.png" }] }), 2002)
    assert.strictEqual(tokensOf(compaction("long summary", 0)), 0)
    assert.strictEqual(tokensOf({ type: "extension", extension: "x", data: "much" }), 0)
    // A kind that is not known, though it looks like a message.
    assert.strictEqual(tokensOf(JSON.parse(`{"type":"riddle","content":"text"}`)), 0)
  })
})

describe("estimate", () => {
  it.effect.prop("is never below the length, nor below what the provider counted and what came later", [Schema.String, Tokens, Tokens, Schema.String], ([text, input_tokens, output_tokens, later]) =>
    Effect.sync(() => {
      const { content, tokens } = of(user(text), says("ok", { input_tokens, output_tokens }), user(later))
      assert.strictEqual(content, 100 + textTokens(text) + 1 + textTokens(later))
      assert.strictEqual(tokens, Math.max(content, input_tokens + output_tokens + textTokens(later)))
    }))

  it("takes the last count there is, and none from before the latest compaction", () => {
    const counted = says("ok", { input_tokens: 5000, output_tokens: 10 })
    assert.strictEqual(of(user("a"), counted, user("b"), says("ok")).tokens, 5012)
    assert.strictEqual(of(user("a"), counted, compaction("s", 2), user("b")).tokens, of(user("a"), counted, compaction("s", 2), user("b")).content)
    assert.strictEqual(of(user("a"), compaction("s", 1), counted, user("b")).tokens, 5011)
  })

  it("counts the summary and what is kept, not what it stands for", () => {
    const history = [user("x".repeat(4000)), user("abcd"), compaction("so far", 1)]
    assert.strictEqual(of(...history).content, 100 + textTokens("<summary>\nso far\n</summary>") + 1)
  })

  it("counts the system text and the tools beside it", () => {
    const tools = [{ tool: tool("a", { description: "abcd", inputSchema: {} }) }]
    assert.strictEqual(overheadTokens("12345678", { tools }), 2 + 2)
  })
})

describe("the limits", () => {
  it("come from the settings, then the model, then the defaults", () => {
    assert.deepInclude(compactionLimits({}, 200_000), { enabled: true, window: 200_000, limit: 200_000 - 16_384, keepRecent: 20_000, growth: 4_096 })
    assert.deepInclude(compactionLimits({ context_window: 0 }), { window: 128_000 })
    assert.deepInclude(compactionLimits({ compaction_enabled: false, context_window: 50_000, reserve_tokens: 10_000, keep_recent_tokens: 5 }, 200_000), {
      enabled: false, window: 50_000, limit: 40_000, keepRecent: 5
    })
    // A small model has room left for the conversation.
    assert.deepInclude(compactionLimits({}, 8_000), { limit: 6_000 })
  })

  it.effect.prop("leave at least half of the space for what comes, unless there is none", [Tokens, Tokens, Tokens], ([window, overhead, total]) =>
    Effect.sync(() => {
      const limits = compactionLimits({}, window)
      const { keep, room } = keptOf(limits, overhead, total, false)
      assert.isAtLeast(room, keep)
      if (limits.limit - overhead > 1) assert.isAtMost(keep, (limits.limit - overhead) / 2)
      assert.isAtMost(keptOf(limits, overhead, total, true).keep, Math.max(1, total / 2))
    }))
})
