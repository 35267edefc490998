import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { answering, type Json, memory, peer, person, plainWidget, sessionOf, startAll, tool } from "./kit.ts"
import { settle } from "./settle.ts"

/** A peer whose tool `t` writes the line it gets as `line`, and then answers. */
const telling = (name = "t") =>
  peer({ tools: [tool(name)] }, (message, self) =>
    message.type !== "tool" ? Effect.void : Effect.gen(function*() {
      const { lines } = message.arguments as { lines: ReadonlyArray<Json> }
      for (const line of lines) yield* self.send({ type: "update", ...line })
      yield* self.send({ type: "response", id: message.id, content: "" })
    }))

const element = (type: string, more: Json = {}) => ({ type, ...more })

describe("side effects", () => {
  it.effect("show a status in segments or as a text, and an empty one removes it", () => {
    const a = telling()
    const { shown, with: shownTo } = person()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* shownTo(host.start)
      yield* host.extensions.callTool("t", {
        lines: [
          { status: { key: "s", segments: [{ text: "a", style: "success" }, { text: "b" }] } },
          { status: { key: "s", segments: [{ text: "a", style: "loud" }] } },
          { status: { key: "s", text: "plain" } },
          { status: { key: "s", text: "" } },
          { status: { key: "s", segments: [] } }
        ]
      })
      assert.deepStrictEqual(shown.map(([, key, segments]) => [key, segments]), [
        ["a:s", [{ text: "a", style: "success" }, { text: "b" }]],
        ["a:s", [{ text: "plain" }]],
        ["a:s", []],
        ["a:s", []]
      ])
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), ["extension 'a': ignored an invalid status"])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("show at most 64 statuses and widgets; those that are there go on changing, and one that goes makes room", () => {
    const a = telling()
    const { shown, with: shownTo } = person()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* shownTo(host.start)
      const status = (n: number, text = "x") => ({ status: { key: `s${n}`, text } })
      const widget = (n: number, lines = ["x"]) => ({ widget: { key: `w${n}`, lines } })
      yield* host.extensions.callTool("t", {
        lines: [
          ...Array.from({ length: 70 }, (_, n) => [status(n), widget(n)]).flat(),
          status(1, "changed"), widget(1, ["changed"]), status(0, ""), widget(0, []), status(99), widget(99)
        ]
      })
      const keys = shown.map(([, key]) => key)
      assert.strictEqual(keys.length, 2 * (64 + 3))
      assert.deepStrictEqual(keys.slice(-6), ["a:s1", "a:w1", "a:s0", "a:w0", "a:s99", "a:w99"])
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), [
        "extension 'a': ignored an invalid status (it shows 64 already)",
        "extension 'a': ignored an invalid widget (it shows 64 already)"
      ])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("draw a widget with its values within bounds, and an empty one removes it", () => {
    const a = telling()
    const { shown, with: shownTo } = person()
    const content = [
      element("text", { text: "t", style: "muted" }),
      element("list", { items: [{ text: "one", state: "done" }, { text: "two" }] }),
      element("progress", { value: 12, max: 10, label: "p" }),
      element("progress", { value: -1, max: 10 }),
      element("markdown", { text: "# m" }),
      element("markdown", { text: "m", height: 2 }),
      element("markdown", { text: "m", height: 99 })
    ]
    const actions = [{ id: "stop", label: "Stop" }]
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* shownTo(host.start)
      yield* host.extensions.callTool("t", {
        lines: [
          { widget: { key: "w", position: "modal", title: "T", content, actions } },
          { widget: { key: "w", content: [], title: "", actions: [] } },
          { widget: { key: "w", content: [], title: "T" } },
          { widget: { key: "w", content: [], lines: ["left out"] } }
        ]
      })
      assert.deepStrictEqual(shown.map(([, , widget]) => widget), [
        {
          position: "modal",
          title: "T",
          actions,
          content: [
            ...content.slice(0, 2),
            element("progress", { value: 10, max: 10, label: "p" }),
            element("progress", { value: 0, max: 10 }),
            element("markdown", { text: "# m", height: 10 }),
            element("markdown", { text: "m", height: 4 }),
            element("markdown", { text: "m", height: 24 })
          ]
        },
        undefined,
        { position: "above_composer", title: "T", actions: [], content: [] },
        undefined
      ])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  const text = element("text", { text: "t" })
  const press = (id: string) => ({ id, label: id })
  const many = <A>(count: number, make: (n: number) => A) => Array.from({ length: count }, (_, n) => make(n))
  it.effect.each([
    ["an element of no type", { content: [text, { text: "t" }] }],
    ["a list with an unknown state", { content: [element("list", { items: [{ text: "t", state: "lost" }] })] }],
    ["33 items", { content: [element("list", { items: many(33, () => ({ text: "t" })) })] }],
    ["progress without an end", { content: [element("progress", { value: 1, max: 0 })] }],
    ["25 elements", { content: many(25, () => text) }],
    ["9 actions", { content: [text], actions: many(9, (n) => press(`${n}`)) }],
    ["two actions of one id", { content: [text], actions: [press("a"), press("a")] }],
    ["an action without a label", { content: [text], actions: [{ id: "a", label: "" }] }],
    ["another position", { content: [text], position: "below" }],
    ["lines beside bad content", { content: [element("t")], lines: ["x"] }],
    ["no key", { key: "", lines: ["x"] }]
  ] as const)("one bad part rejects the whole widget, once told, and what was shown stays: %s", ([, wrong]) => {
    const a = telling()
    const { shown, with: shownTo } = person()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* shownTo(host.start)
      const bad = { widget: { key: "w", ...wrong } }
      yield* host.extensions.callTool("t", { lines: [{ widget: { key: "w", lines: ["before"] } }, bad, bad] })
      assert.deepStrictEqual(shown, [["widget", "a:w", plainWidget("before")]])
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), ["extension 'a': ignored an invalid widget"])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("hand words for the model to the session, in order with the rest; ill-typed ones are told once", () => {
    const a = telling()
    const { said, with: heardBy } = sessionOf()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* heardBy(host.start)
      yield* host.extensions.callTool("t", {
        lines: [
          ...["now", "steer", "follow_up"].map((deliver_as) => ({ user_message: { content: deliver_as, deliver_as } })),
          { user_message: { content: "", deliver_as: "now" } },
          { user_message: { content: "x", deliver_as: "later" } },
          { user_message: { content: "x" } }
        ]
      })
      assert.deepStrictEqual(said, ["now", "steer", "follow_up"].map((how) => ["a", { content: how, deliver_as: how }]))
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), ["extension 'a': ignored an invalid user_message"])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("of a message of no known type are not applied, and it is counted", () => {
    const a = peer({ tools: [tool("t")] }, (message, self) =>
      message.type === "tool"
        ? Effect.andThen(
          self.send({ type: "hello", status: { key: "s", text: "x" }, entry: 1 }),
          self.send({ type: "response", id: message.id, content: "" })
        )
        : Effect.void)
    const { shown, with: shownTo } = person()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* shownTo(host.start)
      yield* host.extensions.callTool("t", {})
      assert.deepStrictEqual([shown, host.entries, host.diagnostics], [[], [], []])
      assert.deepStrictEqual((yield* host.extensions.figures).map(({ droppedLines }) => droppedLines), [1])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })
})

describe("what an extension shows", () => {
  const lines = [
    { status: { key: "s", text: "busy" } },
    { status: { key: "gone", text: "x" } },
    { status: { key: "gone", text: "" } },
    { widget: { key: "w", lines: ["x"] } }
  ]
  const removed = [["status", "a:s", []], ["widget", "a:w", undefined]]

  it.effect("goes when it crashes", () => {
    const a = peer({ tools: [tool("t"), tool("die")] }, (message, self) =>
      message.name === "die" ? Effect.fail("boom") : message.type !== "tool" ? Effect.void : Effect.gen(function*() {
        for (const line of lines) yield* self.send({ type: "update", ...line })
        yield* answering({})(message, self)
      }))
    const { shown, with: shownTo } = person()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { restart: false } } })
      yield* shownTo(host.start)
      yield* host.extensions.callTool("t", {})
      assert.strictEqual(shown.length, 4)
      yield* Effect.flip(host.extensions.callTool("die", {}))
      yield* settle
      assert.deepStrictEqual(shown.slice(4), removed)
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect.each(["stop", "start"] as const)("goes when extensions %s", (what) => {
    const a = telling()
    const { shown, with: shownTo } = person()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* shownTo(host.start)
      yield* host.extensions.callTool("t", { lines })
      yield* what === "stop" ? host.extensions.stop : shownTo(host.start)
      assert.deepStrictEqual(shown.slice(4), removed)
    }).pipe(Effect.provide(memory({ a: a.script })))
  })
})

describe("Extensions.act", () => {
  const panel = { key: "p:1", content: [element("text", { text: "t" })], actions: [{ id: "stop", label: "Stop" }] }
  const modal = { ...panel, key: "m", position: "modal", actions: [{ id: "submit", label: "Ask" }] }

  it.effect("tells the extension of an action its widget lists now, under the bare key", () => {
    const a = telling()
    const b = telling("u")
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {}, b: {} } })
      yield* host.start
      const { act, callTool } = host.extensions
      yield* callTool("t", { lines: [{ widget: panel }] })
      assert.isTrue(yield* act("a:p:1", "stop", "not for it"))
      assert.isFalse(yield* act("a:p:1", "go"))
      assert.isFalse(yield* act("a:p:1", "close"))
      assert.isFalse(yield* act("b:p:1", "stop"))
      assert.isFalse(yield* act("p:1", "stop"))
      yield* callTool("t", { lines: [{ widget: { ...panel, actions: [] } }] })
      assert.isFalse(yield* act("a:p:1", "stop"))
      yield* callTool("t", { lines: [{ widget: panel }, { widget: { key: "p:1", lines: [] } }] })
      assert.isFalse(yield* act("a:p:1", "stop"))
      yield* settle
      assert.deepStrictEqual(a.heard.filter(({ type }) => type === "ui_action"), [
        { type: "ui_action", widget: "p:1", action: "stop", text: "" }
      ])
      assert.notInclude(b.types(), "ui_action")
    }).pipe(Effect.provide(memory({ a: a.script, b: b.script })))
  })

  it.effect("submits a modal's text when it is listed and not blank, and always closes one", () => {
    const a = telling()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* host.start
      const { act, callTool } = host.extensions
      yield* callTool("t", { lines: [{ widget: modal }] })
      assert.isFalse(yield* act("a:m", "submit", "  "))
      assert.isTrue(yield* act("a:m", "submit", " why? "))
      assert.isTrue(yield* act("a:m", "close", "draft"))
      yield* callTool("t", { lines: [{ widget: { ...modal, actions: [] } }] })
      assert.isFalse(yield* act("a:m", "submit", "why?"))
      yield* settle
      assert.deepStrictEqual(a.heard.filter(({ type }) => type === "ui_action"), [
        { type: "ui_action", widget: "m", action: "submit", text: " why? " },
        { type: "ui_action", widget: "m", action: "close", text: "" }
      ])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("says no within 2 s where the extension does not take it", () => {
    // Its mailbox is full of an update that waits for a frontend that does not return.
    const a = peer({ tools: [tool("t")] }, (message, self) =>
      message.type === "tool"
        ? Effect.andThen(self.send({ type: "update", widget: panel }), self.send({ type: "update", status: { key: "s", text: "x" } }))
        : Effect.void)
    const { with: shownTo } = person({ status: (_, segments) => segments.length === 0 ? Effect.void : Effect.never })
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* shownTo(host.start)
      yield* Effect.forkChild(host.extensions.callTool("t", {}))
      yield* settle
      const pressed = yield* Effect.forkChild(host.extensions.act("a:p:1", "stop"))
      yield* settle
      yield* TestClock.adjust("1999 millis")
      yield* settle
      assert.isUndefined(pressed.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      yield* settle
      assert.deepStrictEqual(pressed.pollUnsafe(), yield* Effect.exit(Effect.succeed(false)))
    }).pipe(Effect.provide(memory({ a: a.script })))
  })
})
