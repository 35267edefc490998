import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { answering, memory, peer, startAll, tool } from "./kit.ts"
import { settle } from "./settle.ts"

describe("an extension that a person switches off", () => {
  it.effect("is told to shut down, offers nothing and is asked nothing, until it is restarted", () => {
    const a = peer({ tools: [tool("t")], commands: [{ name: "c" }], events: ["tool_call"] }, answering({}))
    return Effect.gen(function*() {
      const { extensions, start } = yield* startAll({ manifests: { a: {} } })
      yield* start
      assert.isTrue(yield* extensions.disable("a"))
      yield* settle
      assert.include(a.types(), "shutdown")
      assert.deepStrictEqual((yield* extensions.figures).map(({ fault, state }) => [state, fault]), [["Stopped", undefined]])
      assert.deepStrictEqual([yield* extensions.tools, yield* extensions.commands], [[], []])
      assert.deepStrictEqual(extensions.subscribers("tool_call"), [])
      assert.isTrue(yield* extensions.restart("a"))
      yield* settle
      assert.deepStrictEqual((yield* extensions.tools).map(({ name }) => name), ["t"])
      assert.strictEqual(extensions.subscribers("tool_call").length, 1)
      assert.isFalse(yield* extensions.disable("b"))
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("blocks no calls any more, where its failure would", () => {
    const guard = peer({ events: ["tool_call"] }, answering({ allow: false, reason: "never" }))
    return Effect.gen(function*() {
      const { extensions, start } = yield* startAll({ manifests: { guard: { on_failure: "block" } } })
      yield* start
      assert.deepStrictEqual(extensions.subscribers("tool_call").map(({ key }) => key), ["guard"])
      yield* extensions.disable("guard")
      assert.deepStrictEqual(extensions.subscribers("tool_call"), [])
    }).pipe(Effect.provide(memory({ guard: guard.script })))
  })
})
