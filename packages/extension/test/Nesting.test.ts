import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { answering, type Json, memory, peer, startAll, tool } from "./kit.ts"
import { settle } from "./settle.ts"

/** A value of `levels` objects in one another. */
const nested = (levels: number): Json => {
  let value: Json = {}
  for (let level = 1; level < levels; level++) value = { a: value }
  return value
}
/** As a peer writes it, which no JSON.stringify can. */
const text = (levels: number) => `${"{\"a\":".repeat(levels)}0${"}".repeat(levels)}`

describe("what nests too deep to be walked", () => {
  it.effect("ends the start in a register line, as far down as it goes, and says so; what anybody writes is taken", () => {
    const schema = (levels: number) => `{"type":"register","commands":[],"tools":[{"name":"t","description":"T.","input_schema":${text(levels)}}]}`
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {}, b: {}, c: {} } })
      const report = yield* host.start
      assert.deepStrictEqual(report.started, ["c"])
      assert.deepStrictEqual(report.warnings, ["a", "b"].map((key) => `extension '${key}' failed to start: register nests over 256 levels in tools`))
    }).pipe(Effect.provide(memory({
      a: (self) => Effect.andThen(self.send(schema(100_000)), Effect.forever(self.receive)),
      b: (self) => Effect.andThen(self.send(schema(300)), Effect.forever(self.receive)),
      c: (self) => Effect.andThen(self.send(schema(200)), Effect.forever(self.receive))
    })))
  })

  it.effect("is left out of an answer alone, with a warning that names extension and field, and closes a guard", () => {
    const a = peer({ tools: [tool("t")], events: ["tool_call", "tool_result"] }, (message, self) => {
      const head = `{"type":"response","id":"${String(message.id)}"`
      const deep = text(50_000)
      return message.type === "tool" ? self.send(`${head},"content":"done","details":${deep},"entry":${deep}}`)
        : message.event === "tool_call" ? self.send(`${head},"arguments":${deep}}`)
        : message.event === "tool_result" ? self.send(`${head},"output":"new","details":${deep}}`)
        : answering({})(message, self)
    })
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { on_failure: "block" } } })
      yield* host.start
      const reply = yield* host.extensions.callTool("t", {})
      assert.deepStrictEqual(reply, { content: [{ type: "text", text: "done" }], isError: false })
      const gate = yield* host.watched(host.hooks.run("tool_call", { tool: "t", arguments: {} }))
      assert.strictEqual(gate._tag, "Blocked")
      const result = yield* host.watched(host.hooks.run("tool_result", { tool: "t", arguments: {}, output: "old", is_error: false }))
      assert.deepStrictEqual(result.payload.output, "new")
      yield* settle
      assert.deepStrictEqual(host.entries, [])
      assert.isTrue(host.diagnostics.some(({ message }) => message === "extension 'a': its response line nests over 256 levels in details, entry; that was ignored"))
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("counts as it is while it is within bounds", () => {
    const a = peer({ tools: [tool("t")] }, answering({ content: "done", details: nested(200) }))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* host.start
      assert.deepStrictEqual((yield* host.extensions.callTool("t", {})).details, nested(200))
    }).pipe(Effect.provide(memory({ a: a.script })))
  })
})
