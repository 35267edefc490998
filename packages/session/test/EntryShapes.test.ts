import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Result, Schema } from "effect"
import { SessionEntry } from "@nimlet/protocol"
import { isCommonEntry } from "../src/CommonEntry.ts"
import { encodeLine, parseLine, parseSession } from "../src/index.ts"

const isEntry = Schema.is(SessionEntry)
const jsonOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
const read = (value: unknown) => parseLine(JSON.stringify(value))
/** What is read of a line, or that it is damaged. */
const entryOf = (value: unknown): unknown => {
  const line = Result.getOrElse(read(value), (reason) => reason)
  return line !== undefined && typeof line === "object" && "entry" in line ? line.entry : line
}

/** Entries as the documents have them: `[what it is, the entry]`. */
const shapes: ReadonlyArray<readonly [string, { readonly type: string; readonly [key: string]: unknown }]> = [
  // E-227
  ["a user's message", { type: "user", role: "user", content: [{ type: "text", text: "hi" }] }],
  // E-228
  ["an answer", { type: "assistant", role: "assistant", content: [{ type: "text", text: "hello" }] }],
  // E-229
  ["an answer and who gave it", { type: "assistant", role: "assistant", content: [], model: "m-1", provider: "p", requested_model: "m" }],
  // E-230
  ["an answer and its tokens", {
    type: "assistant",
    role: "assistant",
    content: [],
    usage: { input_tokens: 5, output_tokens: 2, cache_read_tokens: 1, cache_write_tokens: 1, cache_reported: true }
  }],
  ["an answer that was cut", { type: "assistant", role: "assistant", content: [{ type: "text", text: "hel" }], cut: true }],
  // E-231
  ["a result", { type: "tool_result", id: "1", output: "out", is_error: true }],
  // E-232
  ["a result with images", {
    type: "tool_result",
    id: "1",
    output: "",
    is_error: false,
    images: [{ type: "image", mimeType: "image/png", data: "AA==" }]
  }],
  ["a result that ends the run", { type: "tool_result", id: "1", output: "", is_error: false, tool: "t", details: { a: [1] }, terminate: true }],
  ["a result of a call that an extension changed", { type: "tool_result", id: "1", output: "", is_error: false, changed_by: ["x"], duration_ms: 5, hooks_ms: 1 }],
  ["a result of a call that changed files", {
    type: "tool_result",
    id: "1",
    output: "",
    is_error: false,
    files: [{ path: "a", before: null, after: "v1" }, { path: "a", before: "v1", after: "v2", snapshot: "s" }, { path: "b", after: "v1" }]
  }],
  // E-233
  ["a compaction", { type: "compaction", summary: "s", first_kept_index: 0, tokens_before: 9 }],
  // E-234
  ["a compaction with details", { type: "compaction", summary: "s", first_kept_index: 0, tokens_before: 9, details: { source: "x" } }],
  // E-235
  ["what an extension keeps", { type: "extension", extension: "x", data: null }],
  ["what an extension keeps under a type of its own", { type: "extension", extension: "x", custom_type: "todo", data: [1] }],
  // E-236
  ["a name", { type: "name", name: "title" }],
  // E-237
  ["a selection", { type: "selection", provider: "p", model: "m" }],
  ["an extension's message", {
    type: "custom_message",
    custom_type: "x",
    content: [{ type: "text", text: "hi" }],
    display: true,
    extension: "e",
    details: 1
  }],
  ["a bookmark", { type: "label", target_id: "1", label: "here" }],
  ["a bookmark taken away", { type: "label", target_id: "1" }]
]

const parts: ReadonlyArray<readonly [string, { readonly type: string; readonly [key: string]: unknown }]> = [
  // E-238
  ["text", { type: "text", text: "hi" }],
  // E-239
  ["a call", { type: "tool_use", id: "1", name: "read", input: { path: "a" } }],
  // E-240
  ["a call and what is known of it", {
    type: "tool_use",
    id: "1",
    name: "read",
    input: "{",
    parse_error: "bad",
    hosted: true,
    thought_signature: "sig"
  }],
  // E-241
  ["thinking", { type: "thinking", thinking: "hm", signature: "sig" }],
  // E-242
  ["a hosted tool's result", { type: "tool_result", tool_use_id: "1", content: "out", is_error: false }],
  // E-243
  ["a hosted tool's result with images", {
    type: "tool_result",
    tool_use_id: "1",
    content: "out",
    is_error: false,
    images: [{ type: "image", mimeType: "image/png", path: "a.png" }]
  }],
  // E-244
  ["an image by path", { type: "image", mimeType: "image/png", path: "a.png" }],
  ["an image by data", { type: "image", mimeType: "image/png", data: "AA==" }],
  // E-245
  ["a file by path", { type: "file", mimeType: "text/plain", path: "a.txt" }],
  ["a file by data", { type: "file", mimeType: "text/plain", data: "AA==" }],
  // E-246
  ["a file and its name", { type: "file", mimeType: "text/plain", data: "AA==", filename: "a.txt" }],
  // E-247
  ["a source", { type: "source", url: "http://a", title: "A" }],
  // E-248
  ["a source and where it was cited", { type: "source", url: "http://a", title: "A", id: "1", cited_text: "so", raw: { x: 1 } }]
]

describe("a line of a session", () => {
  it.each(shapes)("is read as it is: %s", (_, entry) => {
    const stamped = { ...entry, entry_id: "0000abcd", at: "2026-01-01T00:00:00.000Z", google_part: { kept: true } }
    assert.deepStrictEqual(entryOf(entry), entry)
    assert.deepStrictEqual(entryOf(stamped), stamped)
    assert.isTrue(isEntry(entry))
  })

  it.each(parts)("is read as it is, whoever said the part: %s", (_, part) => {
    for (const role of ["user", "assistant"]) {
      const entry = { type: role, role, content: [{ ...part, google_part: "kept" }] }
      assert.deepStrictEqual(entryOf(entry), entry)
      assert.isTrue(isEntry(entry))
    }
  })

  // E-225, E-226, E-249
  it("is an entry with a type, all of them in order, and the workspace is in none", () => {
    const header = encodeLine({ type: "session", workspace: "/secret/place" })
    const parsed = parseSession(header + shapes.map(([, entry]) => encodeLine(entry)).join(""))
    assert.deepStrictEqual(parsed.entries.map((entry) => entry.type), shapes.map(([, entry]) => entry.type))
    assert.strictEqual(Option.getOrThrow(parsed.header).workspace, "/secret/place")
    assert.notInclude(JSON.stringify(parsed.entries), "/secret/place")
  })

  it("of another version is kept without what is not known in it", () => {
    const text = { type: "text", text: "hi" }
    assert.deepStrictEqual(entryOf({ type: "user", role: "user", content: [{ type: "hologram", x: 1 }, text] }), { type: "user", role: "user", content: [text] })
    assert.deepStrictEqual(entryOf({ type: "assistant", role: "assistant", content: [text], usage: { total: 3 }, model: "m" }), {
      type: "assistant",
      role: "assistant",
      content: [text],
      model: "m"
    })
    assert.deepStrictEqual(entryOf({ type: "assistant", role: "assistant", content: [text], usage: { input_tokens: NaN, output_tokens: 1 } }), {
      type: "assistant",
      role: "assistant",
      content: [text]
    })
  })

  it("whose value was nothing at all is kept: JSON drops the field", () => {
    assert.deepStrictEqual(entryOf({ type: "extension", extension: "x", data: undefined }), { type: "extension", extension: "x", data: null })
    const call = { type: "tool_use", id: "1", name: "read" }
    assert.deepStrictEqual(entryOf({ type: "assistant", role: "assistant", content: [{ ...call, input: undefined }] }), {
      type: "assistant",
      role: "assistant",
      content: [{ ...call, input: null }]
    })
  })

  it("without what it needs is damaged", () => {
    for (const entry of [
      { type: "user", role: "user" },
      { type: "user", role: "user", content: [{ type: "text" }] },
      { type: "user", role: "user", content: ["text"] },
      { type: "tool_result", id: 1, output: "", is_error: false },
      { type: "compaction", summary: "s" },
      { type: "session" }
    ]) assert.match(String(entryOf(entry)), /^not a valid /, JSON.stringify(entry))
  })
})

describe("the quick look at an entry", () => {
  const replacements: ReadonlyArray<unknown> = [null, 1, "x", true, [], {}, [{}], undefined]
  const data = { provider_data: { p: 1 } }
  const entries = [
    ...shapes.map(([, entry]) => ({ ...entry, entry_id: "1", at: "now" })),
    ...parts.flatMap(([, part]) => ["user", "assistant"].map((role) => ({ type: role, role, content: [{ ...part, ...data }], model: "m" })))
  ]

  /** The values that come of replacing each thing in `value` once by each of `replacements`. */
  const changes = (value: unknown): ReadonlyArray<unknown> => {
    let places = 0
    JSON.stringify(value, (_, inner: unknown) => (places++, inner))
    return Array.from({ length: places }, (_, at) => replacements.map((to) => {
      let place = 0
      return to === undefined && at === 0 ? null : jsonOf(JSON.parse(JSON.stringify(value, (_, inner: unknown) => place++ === at ? to : inner)))
    })).flat()
  }

  it("never takes for an entry what the schema would not, whatever in one is replaced or left out", () => {
    const taken = entries.flatMap(changes).filter((value) => typeof value === "object" && value !== null && isCommonEntry({ ...value }))
    assert.isAbove(taken.length, 200)
    for (const value of taken) assert.isTrue(isEntry(value), JSON.stringify(value))
  })

  it.effect.prop("never takes for an entry what the schema would not, of entries of any kind", [SessionEntry], ([entry]) =>
    Effect.sync(() => {
      const value = jsonOf(entry)
      if (typeof value === "object" && value !== null && isCommonEntry({ ...value })) assert.isTrue(isEntry(value), JSON.stringify(value))
    }))

  it("sees the shapes that sessions are made of", () => {
    const common = shapes.filter(([, entry]) => isCommonEntry(entry)).map(([, entry]) => entry.type)
    assert.deepStrictEqual([...new Set(common)], ["user", "assistant", "tool_result", "extension"])
  })
})

describe("a compaction", () => {
  it("keeps from the entry that it names, when a line before that was lost since", () => {
    const said = ["1", "2", "3"].map((id) => encodeLine({ type: "name", name: id, entry_id: id }))
    const compaction = encodeLine({ type: "compaction", summary: "s", first_kept_index: 2, tokens_before: 9, first_kept_id: "3" })
    const keptFrom = (lines: ReadonlyArray<string>) => {
      const last = parseSession(lines.join("") + compaction).entries.at(-1)
      return last?.type === "compaction" && "first_kept_index" in last ? last.first_kept_index : undefined
    }
    assert.strictEqual(keptFrom(said), 2)
    assert.strictEqual(keptFrom(["damaged\n", ...said.slice(1)]), 1)
    assert.strictEqual(keptFrom(said.slice(0, 2)), 2)
  })
})
