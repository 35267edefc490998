/** Compaction against a provider that refuses what is not whole: histories of every length, cut everywhere. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { Extensions, Hooks } from "@nimlet/extension"
import type { SessionEntry } from "@nimlet/protocol"
import { Models } from "@nimlet/provider"
import { type Session, Sessions } from "@nimlet/session"
import { type ModelStub, startModelStub } from "../../../test/kit/ModelStub.ts"
import { Agent, type CompactionSettings } from "../src/index.ts"

/** Runs `body` with what makes agents over a stub; a session is a new one for each. */
const withStub = <A, E>(
  scenario: Parameters<typeof startModelStub>[0],
  body: (stub: ModelStub, on: <B, F>(compaction: CompactionSettings, entries: ReadonlyArray<SessionEntry>, use: (agent: Agent["Service"], session: Session) => Effect.Effect<B, F>) => Effect.Effect<B, unknown>) => Effect.Effect<A, E>
) =>
  Effect.gen(function*() {
    const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
    const stub = yield* Effect.acquireRelease(Effect.promise(() => startModelStub(scenario)), (started) => Effect.promise(() => started.close()))
    const models = yield* Layer.build(Models.layer({ environment: { ANTHROPIC_BASE_URL: stub.url, ANTHROPIC_API_KEY: "k" }, home: folder }))
    const { info, layer } = yield* Effect.provide(Effect.flatMap(Models, (all) => all.resolve({ provider: "anthropic", model: "claude-sonnet-4-6" })), models)
    const model = Layer.succeedContext(yield* Layer.build(layer))
    return yield* body(stub, (compaction, entries, use) =>
      Effect.gen(function*() {
        const session = yield* (yield* Sessions).create({ workspace: folder, persist: false })
        for (const entry of entries) yield* session.append(entry)
        const agent = Agent.layer({ ...info, session, system: "Be good.", tools: [], compaction })
        return yield* Effect.flatMap(Agent, (made) => use(made, session)).pipe(Effect.provide(Layer.provide(agent, model)))
      }).pipe(Effect.scoped, Effect.provide(Layer.mergeAll(Layer.provideMerge(Sessions.layer(folder), NodeServices.layer), Extensions.layerNone, Hooks.layerNone))))
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

/** Numbers below a limit, the same each time. */
const numbersFrom = (seed: number) => (below: number) => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return (seed >>> 8) % below
}

/** A history of exactly `length` entries: words, answers, and calls beside each other, the results of which come in any order. */
const historyOf = (length: number, seed: number): ReadonlyArray<SessionEntry> => {
  const next = numbersFrom(seed * 131 + length)
  const text = () => "word ".repeat(10 + next(60))
  const entries: Array<SessionEntry> = [{ type: "user", role: "user", content: [{ type: "text", text: text() }] }]
  const add = (entry: SessionEntry) => void (entries.length < length && entries.push(entry))
  while (entries.length < length) {
    const kind = next(6)
    if (kind === 0) add({ type: "user", role: "user", content: [{ type: "text", text: text() }] })
    else if (kind === 1) add({ type: "assistant", role: "assistant", content: [{ type: "text", text: text() }], usage: { input_tokens: 100, output_tokens: 10 } })
    else if (kind === 2) add({ type: "extension", extension: "x", data: 1 })
    else {
      const ids = Array.from({ length: 1 + next(4) }, (_, at) => `call_${entries.length}_${at}`)
      add({ type: "assistant", role: "assistant", content: [{ type: "text", text: text() }, ...ids.map((id) => ({ type: "tool_use" as const, id, name: "read", input: { path: id } }))] })
      for (const id of ids.toSorted(() => next(3) - 1)) add({ type: "tool_result", id, output: text(), is_error: next(5) === 0, tool: "read" })
    }
  }
  return entries
}

describe("a compacted history", () => {
  it.live("of 1 to 12 entries, however much of it is kept, is one that a strict provider takes", () =>
    withStub([{ text: "Said.", repeat: 100_000 }], (stub, on) =>
      Effect.gen(function*() {
        let compacted = 0
        for (let length = 1; length <= 12; length++) {
          for (let seed = 0; seed < 2; seed++) {
            const entries = historyOf(length, seed)
            // As much as every part of it from the end on takes, and a token more: a cut before each entry that can be one.
            const sizes = entries.map((_, at) => Math.ceil(JSON.stringify(entries.slice(at)).length / 4))
            for (const keep_recent_tokens of new Set([1, ...sizes.flatMap((size) => [Math.floor(size / 2), size])])) {
              yield* on({ context_window: 200_000, keep_recent_tokens }, entries, (agent, session) =>
                Effect.gen(function*() {
                  const { did_compact } = yield* agent.compact("")
                  compacted += did_compact ? 1 : 0
                  assert.isTrue((yield* agent.send("go on")).success)
                  const all = yield* session.entries
                  assert.strictEqual(all.filter(({ type }) => type === "compaction").length, did_compact ? 1 : 0)
                }))
            }
          }
        }
        assert.deepStrictEqual(stub.requests.flatMap(({ problem }) => problem === undefined ? [] : [problem]), [])
        assert.isAbove(compacted, 100)
      })), 120_000)
})

describe("a provider that always counts 95 % of the window", () => {
  it.live("causes at most two compactions in ten prompts, and every turn runs", () =>
    withStub([{ text: "Said.", usage: { input: 19_000, output: 10 }, repeat: 100 }], (stub, on) =>
      on({ context_window: 20_000, reserve_tokens: 4_000, keep_recent_tokens: 1_000 }, [], (agent, session) =>
        Effect.gen(function*() {
          for (let n = 0; n < 10; n++) assert.isTrue((yield* agent.send("word ".repeat(1_000))).success)
          const records = (yield* session.entries).filter(({ type }) => type === "compaction").length
          assert.isAtLeast(records, 1)
          assert.isAtMost(records, 2)
          assert.strictEqual(stub.requests.length, 10 + records)
          assert.isTrue(stub.requests.every(({ problem }) => problem === undefined))
        }))), 60_000)
})
