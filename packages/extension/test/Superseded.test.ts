import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { Frontend, headless } from "../src/index.ts"
import { withoutSuperseded } from "../src/Superseded.ts"
import type { Line } from "../src/Transport/Lines.ts"
import { memory, startAll } from "./kit.ts"
import { settle } from "./settle.ts"

const line = (value: unknown): Line => Result.succeed(typeof value === "string" ? value : JSON.stringify(value))
const status = (key: unknown, text: unknown, more: object = {}) => ({ type: "update", status: { key, text }, ...more })
const widget = (key: unknown, ...lines: ReadonlyArray<unknown>) => ({ type: "update", widget: { key, lines } })
/** So many lines that the peer pours. */
const rest = Array.from({ length: 32 }, (_, n) => line({ type: "response", id: `rest ${n}` }))
/** What is left of lines that come with the rest. */
const kept = (...values: ReadonlyArray<unknown>) =>
  withoutSuperseded([...values.map(line), ...rest]).slice(0, -rest.length)
    .map((each) => Result.isSuccess(each) ? JSON.parse(each.success) as unknown : each.failure._tag)

const Said = Schema.Struct({
  kind: Schema.Literals(["status", "widget", "both", "response", "noise", "ill", "notice"]),
  key: Schema.Literals(["a", "b"]),
  value: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 }))
})
const lineOf = ({ key, kind, value }: typeof Said.Type, n: number): unknown => {
  switch (kind) {
    case "status":
      return status(key, `${value}`)
    case "widget":
      return widget(key, `${value}`)
    case "both":
      return { ...status(key, `${value}`), ...widget(key, `${value}`) }
    case "response":
      return { type: "response", id: `${n}`, status: { key, text: `${value}` } }
    case "ill":
      return status(key, value)
    case "notice":
      return status(key, `${value}`, { notification: { message: `${n}` } })
    case "noise":
      return `"status" ${n}`
  }
}
/** What is shown in the end, and what is said besides. */
const shownBy = (lines: ReadonlyArray<Line>) => {
  const shown: Record<string, unknown> = {}
  const said: Array<unknown> = []
  for (const each of lines) {
    if (Result.isFailure(each)) continue
    if (each.success.startsWith("\"")) {
      said.push(each.success)
      continue
    }
    const { notification, status, type, widget } = JSON.parse(each.success) as Record<string, any>
    if (typeof status?.text === "string") shown[`status ${status.key}`] = status.text
    if (widget !== undefined) shown[`widget ${widget.key}`] = widget.lines
    if (type === "response" || notification !== undefined) said.push(each.success)
  }
  return { shown, said }
}

describe("updates that a later one replaces", () => {
  it("are left out when they say nothing else", () => {
    assert.deepStrictEqual(kept(status("k", "1"), status("k", "2"), widget("k", "1"), widget("k", "2"), widget("k")), [status("k", "2"), widget("k")])
    assert.deepStrictEqual(kept(status("a", "1"), status("b", "1"), status("a", "2")), [status("b", "1"), status("a", "2")])
    assert.deepStrictEqual(kept(status("k", "1"), { type: "response", id: "1", status: { key: "k", text: "2" } }), [
      { type: "response", id: "1", status: { key: "k", text: "2" } }
    ])
  })

  it("stay when there are few of them", () => {
    const few = [line(status("k", "1")), line(status("k", "2"))]
    assert.strictEqual(withoutSuperseded(few), few)
  })

  it("stay when they say more, or when what comes later is no good", () => {
    const more = status("k", "1", { notification: { message: "hear" } })
    const entry = status("k", "1", { entry: null })
    assert.deepStrictEqual(kept(more, entry, status("k", "2")), [more, entry, status("k", "2")])
    assert.deepStrictEqual(kept(status("k", "1"), status("k", 2)), [status("k", "1"), status("k", 2)])
    assert.deepStrictEqual(kept(status("k", "1"), status("", "2"), status(null, "3")), [status("k", "1"), status("", "2"), status(null, "3")])
    assert.deepStrictEqual(kept({ ...status("k", "1"), ...widget("w", "1") }, status("k", "2")), [
      { ...status("k", "1"), ...widget("w", "1") },
      status("k", "2")
    ])
  })

  it.effect.prop("change nothing that is shown in the end, and no line with anything else to say", [Schema.Array(Said)], ([all]) =>
    Effect.sync(() => {
      const lines = [...all.map((each, n) => line(lineOf(each, n))), ...rest]
      assert.deepStrictEqual(shownBy(withoutSuperseded(lines)), shownBy(lines))
    }))

  it.effect("never reach the frontend when they come at once, and the last one always does", () => {
    const seen: Array<string> = []
    const frontend = {
      ...headless,
      status: (_: string, [segment]: ReadonlyArray<{ readonly text: string }>) => Effect.sync(() => void seen.push(segment?.text ?? ""))
    }
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* Effect.provideService(host.start, Frontend, frontend)
      yield* settle
      assert.strictEqual(seen.at(-1), "999")
      assert.isBelow(seen.length, 100)
    }).pipe(Effect.provide(memory({
      a: (self) =>
        Effect.gen(function*() {
          yield* self.send({ type: "register", commands: [] })
          for (let n = 0; n < 1_000; n++) yield* self.send(status("k", `${n}`))
          return yield* Effect.forever(self.receive)
        })
    })))
  })
})
