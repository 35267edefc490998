import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { type Answer, Frontend, type FrontendShape, headless, type Question } from "../src/index.ts"
import { answering, type Json, memory, peer, startAll } from "./kit.ts"
import { settle } from "./settle.ts"

const tool = (name: string) => ({ name, description: `${name}.`, input_schema: {} })

/** A frontend that answers when told to, and records what it is shown. */
const person = () => {
  const answer = Deferred.makeUnsafe<Answer>()
  const questions: Array<Question> = []
  const shown: Array<ReadonlyArray<unknown>> = []
  const show = (...what: ReadonlyArray<unknown>) => Effect.sync(() => void shown.push(what))
  const frontend: FrontendShape = {
    ...headless,
    interactive: true,
    question: (question) => {
      questions.push(question)
      return Deferred.await(answer)
    },
    notify: (level, message, extension) => show("notify", level, message, extension),
    status: (key, segments) => show("status", key, segments),
    widget: (key, widget) => show("widget", key, widget)
  }
  return { frontend, answer, questions, shown }
}

/** A widget of plain lines, as it is drawn. */
const lines = (...texts: ReadonlyArray<string>) => ({
  title: "",
  position: "above_composer",
  content: texts.map((text) => ({ type: "text", text })),
  actions: []
})

const asking = (question: Json) => (message: Json, self: { readonly send: (line: Json) => Effect.Effect<void> }) =>
  message.type === "tool"
    ? self.send({ type: "ui_request", id: "q1", ...question })
    : message.type === "ui_response"
    ? self.send({ type: "response", id: "1", content: JSON.stringify(message) })
    : Effect.void

const question = { method: "question", prompt: "Which?", options: ["staging", 3, "production"] }

describe("ui_request", () => {
  // E-030 E-142 E-144 E-145 E-146 E-147 E-148 E-149 E-151 E-154 X-095
  it.effect("reaches the frontend; the time a person takes counts against nobody else and not against the asker", () => {
    const a = peer({ tools: [tool("ask")] }, asking(question))
    const b = peer({ tools: [tool("mute")] })
    const { answer, frontend, questions } = person()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {}, b: {} } })
      yield* host.start.pipe(Effect.provideService(Frontend, frontend))
      assert.isTrue((yield* a.next).ui)
      const asked = yield* Effect.forkChild(host.extensions.callTool("ask", {}))
      const mute = yield* Effect.forkChild(Effect.flip(host.extensions.callTool("mute", {})))
      yield* settle
      assert.deepStrictEqual(questions, [{ asker: "a", prompt: "Which?", options: ["staging", "production"] }])
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* Fiber.join(mute)).reason, "timeout")
      yield* TestClock.adjust("1 hour")
      yield* settle
      assert.isUndefined(asked.pollUnsafe())
      yield* Deferred.succeed(answer, { cancelled: false, answer: "staging" })
      const reply = yield* Fiber.join(asked)
      assert.deepStrictEqual(JSON.parse(reply.content[0]?.type === "text" ? reply.content[0].text : ""), {
        type: "ui_response",
        id: "q1",
        answer: "staging",
        cancelled: false
      })
    }).pipe(Effect.provide(memory({ a: a.script, b: b.script })))
  })

  // E-028 E-150 E-153
  it.effect("budgets go on after the answer with what was left", () => {
    const a = peer({ tools: [tool("ask")] }, (message, self) =>
      message.type === "tool"
        ? Effect.forkDetach(Effect.andThen(Effect.sleep("20 seconds"), self.send({ type: "ui_request", id: "q1", ...question })))
        : Effect.void)
    const { answer, frontend } = person()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* host.start.pipe(Effect.provideService(Frontend, frontend))
      const asked = yield* Effect.forkChild(Effect.flip(host.extensions.callTool("ask", {})))
      yield* settle
      yield* TestClock.adjust("20 seconds")
      yield* settle
      yield* TestClock.adjust("5 minutes")
      yield* Deferred.succeed(answer, { cancelled: true })
      yield* settle
      assert.deepStrictEqual(a.heard.at(-1), { type: "ui_response", id: "q1", answer: "", cancelled: true })
      yield* TestClock.adjust("9999 millis")
      yield* settle
      assert.isUndefined(asked.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(asked)).reason, "timeout")
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  // E-152
  it.effect.each([
    { name: "a question without a frontend", request: question },
    { name: "an unknown method", request: { method: "hologram", prompt: "?" } },
    { name: "a question without a prompt", request: { method: "question" } }
  ])("answers cancelled at once: $name", ({ request }) => {
    const a = peer({ tools: [tool("ask")] }, asking(request))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* host.start
      const { content: [part] } = yield* host.extensions.callTool("ask", {})
      assert.deepStrictEqual(JSON.parse(part?.type === "text" ? part.text : ""), {
        type: "ui_response",
        id: "q1",
        answer: "",
        cancelled: true
      })
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("a crash of the asker withdraws the question", () => {
    let withdrawn = false
    const frontend: FrontendShape = {
      ...headless,
      interactive: true,
      question: () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => {
        withdrawn = true
      }))
    }
    const a = peer({ tools: [tool("ask")] }, (message, self) =>
      message.type === "tool" ? Effect.andThen(self.send({ type: "ui_request", id: "q", ...question }), Effect.fail("boom")) : Effect.void)
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* host.start.pipe(Effect.provideService(Frontend, frontend))
      assert.strictEqual((yield* Effect.flip(host.extensions.callTool("ask", {}))).reason, "crashed")
      yield* settle
      assert.isTrue(withdrawn)
    }).pipe(Effect.provide(memory({ a: a.script })))
  })
})

describe("side effects", () => {
  // E-021 E-096 E-130 E-131 E-138 E-139 E-140 E-251 E-252 E-255 E-258 E-263 X-082
  it.effect("work on responses and updates, each on its own, namespaced by the extension", () => {
    const a = peer({ tools: [tool("t")] }, (message, self) =>
      message.type === "tool"
        ? Effect.gen(function*() {
          yield* self.send({
            type: "update",
            status: { key: "", text: "no key" },
            widget: { key: "w", lines: ["one", 2, "three"], placement: "" },
            notification: { level: "warn", message: "careful" },
            entry: { n: 1 }
          })
          yield* self.send({
            type: "response",
            id: message.id,
            content: "ok",
            status: { key: "s", text: "busy" },
            widget: { key: "v", lines: [] },
            notification: { level: "info", message: "saved" },
            entry: null
          })
        })
        : Effect.void)
    const { frontend, shown } = person()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { name: "n" } } })
      yield* host.start.pipe(Effect.provideService(Frontend, frontend))
      yield* host.extensions.callTool("t", {})
      assert.deepStrictEqual(shown, [
        ["widget", "n:w", lines("one", "three")],
        ["notify", "warning", "careful", "n"],
        ["status", "n:s", [{ text: "busy" }]],
        ["widget", "n:v", undefined],
        ["notify", "info", "saved", "n"]
      ])
      assert.deepStrictEqual(host.entries, [{ extension: "n", data: { n: 1 } }, { extension: "n", data: null }])
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), ["extension 'n': ignored an invalid status"])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("a widget's key alone removes it", () => {
    const a = peer({ tools: [tool("t")] }, (message, self) =>
      message.type === "tool"
        ? Effect.andThen(self.send({ type: "update", widget: { key: "m", position: "modal", title: "Chat", content: [] } }), self.send({ type: "response", id: message.id, content: "ok", widget: { key: "m" } }))
        : Effect.void)
    const { frontend, shown } = person()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { name: "n" } } })
      yield* host.start.pipe(Effect.provideService(Frontend, frontend))
      yield* host.extensions.callTool("t", {})
      assert.deepStrictEqual(shown, [["widget", "n:m", { title: "Chat", position: "modal", content: [], actions: [] }], ["widget", "n:m", undefined]])
      assert.deepStrictEqual(host.diagnostics, [])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  // E-251 E-288
  it.effect("of a denying reply are applied too", () => {
    const a = peer({ events: ["tool_call"] }, answering({ allow: false, reason: "no", widget: { key: "guard", lines: ["blocked 1"] } }))
    const { frontend, shown } = person()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* host.start.pipe(Effect.provideService(Frontend, frontend))
      const outcome = yield* host.hooks.run("tool_call", { tool: "bash", arguments: {} })
      assert.strictEqual(outcome._tag, "Blocked")
      assert.deepStrictEqual(shown, [["widget", "a:guard", lines("blocked 1")]])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })
})
