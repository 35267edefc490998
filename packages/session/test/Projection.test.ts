import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Schema } from "effect"
import { SessionEntry } from "@nimlet/protocol"
import { makeProjection, parseSession, project, projectHeader, type UnknownEntry } from "../src/index.ts"

const stamp = (entry_id: string) => ({ entry_id, at: "2026-01-01T00:00:01.000Z" })
const place = (id: string, parentId: string | null) => ({ id, parentId, timestamp: "2026-01-01T00:00:01.000Z" })
const time = Date.parse("2026-01-01T00:00:01.000Z")
const usage = (input: number, output: number, cacheRead: number, cacheWrite: number) => ({
  input,
  output,
  cacheRead,
  cacheWrite,
  totalTokens: input + output + cacheRead + cacheWrite,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }
})

describe("project", () => {
  // A-054 A-064 A-065 A-066 A-067
  it("gives messages as pi has them", () => {
    const [user, answer, result] = project([
      { type: "user", role: "user", content: [{ type: "text", text: "hi" }, { type: "image", mimeType: "image/png", data: "AA==" }], ...stamp("a") },
      {
        type: "assistant",
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm", signature: "sig" },
          { type: "text", text: "ok" },
          { type: "tool_use", id: "1", name: "read", input: { path: "a" } }
        ],
        provider: "anthropic",
        model: "m",
        usage: { input_tokens: 100, output_tokens: 5, cache_read_tokens: 60, cache_write_tokens: 10 },
        ...stamp("b")
      },
      { type: "tool_result", id: "1", output: "text", is_error: true, details: { n: 1 }, images: [{ type: "image", mimeType: "image/png", data: "BB==" }], ...stamp("c") }
    ])
    assert.deepStrictEqual(user, {
      type: "message",
      ...place("a", null),
      message: { role: "user", content: [{ type: "text", text: "hi" }, { type: "image", data: "AA==", mimeType: "image/png" }], timestamp: time }
    })
    assert.deepStrictEqual(answer, {
      type: "message",
      ...place("b", "a"),
      message: {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm", thinkingSignature: "sig" },
          { type: "text", text: "ok" },
          { type: "toolCall", id: "1", name: "read", arguments: { path: "a" } }
        ],
        api: "anthropic",
        provider: "anthropic",
        model: "m",
        usage: usage(30, 5, 60, 10),
        stopReason: "toolUse",
        timestamp: time
      }
    })
    assert.deepStrictEqual(result, {
      type: "message",
      ...place("c", "b"),
      message: {
        role: "toolResult",
        toolCallId: "1",
        toolName: "read",
        content: [{ type: "text", text: "text" }, { type: "image", data: "BB==", mimeType: "image/png" }],
        details: { n: 1 },
        isError: true,
        timestamp: time
      }
    })
  })

  it("says how an answer ended", () => {
    const ends = project([
      { type: "assistant", role: "assistant", content: [{ type: "text", text: "done" }] },
      { type: "assistant", role: "assistant", content: [{ type: "text", text: "do" }], cut: true }
    ]).map(({ message }) => Schema.decodeUnknownSync(Schema.Struct({ stopReason: Schema.String }))(message).stopReason)
    assert.deepStrictEqual(ends, ["stop", "aborted"])
  })

  it("gives the other kinds their names there", () => {
    const projected = project([
      { type: "extension", extension: "todo", data: [1], ...stamp("a") },
      { type: "extension", extension: "todo", custom_type: "todo-list", data: [2], ...stamp("b") },
      { type: "name", name: "title", ...stamp("c") },
      { type: "selection", provider: "p", model: "m", ...stamp("d") },
      { type: "custom_message", custom_type: "x", content: [{ type: "text", text: "note" }], display: true, details: 1, ...stamp("e") },
      { type: "label", target_id: "a", label: "here", ...stamp("f") },
      { type: "label", target_id: "a", ...stamp("g") },
      { type: "compaction", summary: "s", first_kept_index: 2, tokens_before: 9, details: { by: "x" }, ...stamp("h") },
      { type: "compaction", summary: "s", first_kept_index: 8, tokens_before: 9, ...stamp("i") }
    ])
    assert.deepStrictEqual(projected, [
      { type: "custom", customType: "todo", data: [1], ...place("a", null) },
      { type: "custom", customType: "todo-list", data: [2], ...place("b", "a") },
      { type: "session_info", name: "title", ...place("c", "b") },
      { type: "model_change", provider: "p", modelId: "m", ...place("d", "c") },
      { type: "custom_message", customType: "x", content: [{ type: "text", text: "note" }], display: true, details: 1, ...place("e", "d") },
      { type: "label", targetId: "a", label: "here", ...place("f", "e") },
      { type: "label", targetId: "a", ...place("g", "f") },
      { type: "compaction", summary: "s", firstKeptEntryId: "c", tokensBefore: 9, details: { by: "x" }, ...place("h", "g") },
      { type: "compaction", summary: "s", firstKeptEntryId: "i", tokensBefore: 9, ...place("i", "h") }
    ])
  })

  const Own = Schema.Struct({ id: Schema.optionalKey(Schema.Literals(["a", "b", "entry-1", "entry-2", "entry-1+", ""])), kind: Schema.Literals(["thing", "user", "name"]) })
  const entriesOf = (plan: ReadonlyArray<typeof Own.Type>): ReadonlyArray<SessionEntry | UnknownEntry> =>
    plan.map(({ id, kind }, at): SessionEntry | UnknownEntry => ({
      ...(kind === "user" ? { type: "user", role: "user", content: [{ type: "text", text: `${at}` }] } : kind === "name" ? { type: "name", name: `${at}` } : { type: "thing", at: `${at}` }),
      ...(id === undefined ? {} : { entry_id: id })
    } as SessionEntry | UnknownEntry))

  it.effect.prop("gives each entry an id of its own, its own one first, and the one before as parent", [Schema.Array(Own)], ([plan]) =>
    Effect.sync(() => {
      const entries = entriesOf(plan)
      const projected = project(entries)
      assert.strictEqual(projected.length, entries.length)
      assert.strictEqual(new Set(projected.map(({ id }) => id)).size, projected.length)
      assert.deepStrictEqual(projected.map(({ parentId }) => parentId), projected.map((_, at) => projected[at - 1]?.id ?? null))
      projected.forEach(({ id }, at) => {
        const own = entries[at]?.entry_id
        if (own !== undefined && own !== "" && !projected.slice(0, at).some((before) => before.id === own)) assert.strictEqual(id, own)
      })
    }))

  it.effect.prop("gives what was there the same ids when more is appended, and when it is given one by one", [Schema.Array(Own), Schema.Array(Own)], ([plan, more]) =>
    Effect.sync(() => {
      const entries = entriesOf(plan)
      assert.deepStrictEqual(project([...entries, ...entriesOf(more)]).slice(0, entries.length), project(entries))
      const one = makeProjection()
      assert.deepStrictEqual(entries.map((entry) => one(entry)), project(entries))
    }))

  it.effect.prop("takes any entry there can be, and keeps the order", [Schema.Array(SessionEntry)], ([entries]) =>
    Effect.sync(() => {
      const types: Record<SessionEntry["type"], string> = {
        user: "message",
        assistant: "message",
        tool_result: "message",
        compaction: "compaction",
        extension: "custom",
        name: "session_info",
        selection: "model_change",
        custom_message: "custom_message",
        label: "label"
      }
      assert.deepStrictEqual(project(entries).map(({ type }) => type), entries.map(({ type }) => types[type]))
    }))

  it("carries kinds it does not know with all their fields", () => {
    const { entries } = parseSession(`{"type":"hologram","deep":{"x":[1]},"entry_id":"a","at":"2026-01-01T00:00:01.000Z"}\n{"type":"thinking_level_change","thinkingLevel":"high"}\n`)
    const [first, second] = project(entries)
    assert.deepInclude(first, { type: "hologram", deep: { x: [1] }, ...place("a", null) })
    assert.deepInclude(second, { type: "thinking_level_change", thinkingLevel: "high", parentId: "a", timestamp: "1970-01-01T00:00:00.000Z" })
  })
})

describe("projectHeader", () => {
  it("has the header's words, and the session's where there is none", () => {
    const session = { id: "1", workspace: "/w" }
    const { header } = parseSession(`{"type":"session","version":1,"id":"2","workspace":"/v","at":"2026-01-01T00:00:01.000Z","parent":"0"}\n`)
    assert.deepStrictEqual(projectHeader(Option.getOrUndefined(header), session), {
      type: "session",
      version: 3,
      id: "2",
      timestamp: "2026-01-01T00:00:01.000Z",
      cwd: "/v",
      parentSession: "0"
    })
    assert.deepStrictEqual(projectHeader(undefined, session), { type: "session", version: 3, id: "1", timestamp: "1970-01-01T00:00:00.000Z", cwd: "/w" })
  })
})
