import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { HostRequestFailed, type Memory } from "../src/index.ts"
import { answering, type Json, memory, peer, person, sessionOf, startAll, tool } from "./kit.ts"
import { settle } from "./settle.ts"

/** A peer that asks each line it is given as the argument `ask` of its tool, command or event, and answers nothing by itself. */
const asker = (register: Json = {}) =>
  peer({ tools: [tool("t")], commands: [{ name: "c" }], events: ["tool_call"], ...register }, (message, self) =>
    message.type === "tool" && Array.isArray((message.arguments as Json).ask)
      ? Effect.forEach((message.arguments as { ask: ReadonlyArray<Json> }).ask, (line) => self.send(line), { discard: true })
      : Effect.void)
const ui = (id: unknown, more: Json = {}) => ({ type: "ui_request", id, method: "question", prompt: "Which?", options: ["a", "b"], ...more })
const host_ = (id: unknown, method: string, more: Json = {}) => ({ type: "host_request", id, method, ...more })
const answersOf = ({ heard }: { readonly heard: ReadonlyArray<Json> }) =>
  heard.filter(({ type }) => type === "ui_response" || type === "host_response")

describe("ui_request", () => {
  it.effect("confirm, input and password reach the person with the asker's name, and answer in their own shape", () => {
    const a = asker()
    const front = person()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* front.with(host.start)
      const ask = ["confirm", "input", "password"].map((method) => ui(method, { method, prompt: `${method}?` }))
      yield* Effect.forkChild(host.extensions.callTool("t", { ask }))
      yield* settle
      assert.deepStrictEqual(front.asked, [
        { kind: "confirm", asker: "a", prompt: "confirm?" },
        { kind: "input", asker: "a", prompt: "input?", secret: false },
        { kind: "input", asker: "a", prompt: "password?", secret: true }
      ])
      yield* front.answer({ cancelled: false, confirmed: true })
      yield* front.answer({ cancelled: false, answer: "typed" })
      yield* front.answer({ cancelled: true })
      yield* settle
      assert.deepStrictEqual(answersOf(a), [
        { type: "ui_response", id: "confirm", confirmed: true, cancelled: false },
        { type: "ui_response", id: "input", answer: "typed", cancelled: false },
        { type: "ui_response", id: "password", answer: "", cancelled: true }
      ])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("is cancelled at once where nobody is, each in its own shape; unknown methods too", () => {
    const a = asker()
    const front = person({ interactive: false })
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* front.with(host.start)
      const ask = ["question", "confirm", "input", "password", "hologram"].map((method) => ui(method, { method }))
      yield* Effect.forkChild(host.extensions.callTool("t", { ask }))
      yield* settle
      assert.deepStrictEqual(answersOf(a), ["question", "confirm", "input", "password", "hologram"].map((id) => ({
        type: "ui_response",
        id,
        ...(id === "confirm" ? { confirmed: false } : { answer: "" }),
        cancelled: true
      })))
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("a frontend that breaks cancels with an error, and the extension lives on", () => {
    const a = asker()
    const front = person({ question: () => Effect.die(new Error("the screen is gone")), confirm: () => Effect.interrupt })
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* front.with(host.start)
      yield* Effect.forkChild(host.extensions.callTool("t", { ask: [ui("q"), ui("c", { method: "confirm" })] }))
      yield* settle
      assert.deepStrictEqual(answersOf(a), [
        { type: "ui_response", id: "q", answer: "", cancelled: true, error: "the screen is gone" },
        { type: "ui_response", id: "c", confirmed: false, cancelled: true }
      ])
      assert.deepStrictEqual(host.diagnostics, [])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  // E-143
  it.effect("works from a command, from an event, and with nothing asked of it", () => {
    const a = peer({ commands: [{ name: "c" }], events: ["tool_call"] }, (message, self) =>
      message.type === "command" || message.type === "event" || message.type === "initialize"
        ? self.send(ui(message.type))
        : message.type === "ui_response" && message.id !== "initialize"
        ? self.send({ type: "response", id: message.id === "command" ? "1" : "2", message: message.answer, allow: false, reason: message.answer })
        : Effect.void)
    const front = person()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* front.with(host.start)
      yield* settle
      yield* front.answer({ cancelled: false, answer: "alone" })
      const command = yield* Effect.forkChild(host.extensions.runCommand("c", ""))
      yield* settle
      yield* front.answer({ cancelled: false, answer: "one" })
      assert.deepStrictEqual(yield* Fiber.join(command), { message: "one" })
      const event = yield* Effect.forkChild(host.hooks.run("tool_call", { tool: "x", arguments: {} }))
      yield* settle
      yield* front.answer({ cancelled: false, answer: "two" })
      assert.deepStrictEqual(yield* Fiber.join(event), { _tag: "Blocked", reason: "two", blockedBy: ["a"] })
      assert.deepStrictEqual(answersOf(a).map(({ id, answer }) => [id, answer]), [["initialize", "alone"], ["command", "one"], ["event", "two"]])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("more than 16 open ones are cancelled, and one more is taken when one is answered", () => {
    const a = asker()
    const front = person()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* front.with(host.start)
      yield* Effect.forkChild(host.extensions.callTool("t", { ask: Array.from({ length: 17 }, (_, n) => ui(`${n}`)) }))
      yield* settle
      assert.strictEqual(front.asked.length, 16)
      assert.deepStrictEqual(answersOf(a), [{ type: "ui_response", id: "16", answer: "", cancelled: true }])
      yield* front.answer({ cancelled: false, answer: "a" })
      yield* Effect.forkChild(host.extensions.callTool("t", { ask: [ui("next")] }))
      yield* settle
      assert.strictEqual(front.asked.length, 17)
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("an id that is no text is ignored, with one warning", () => {
    const a = asker()
    const front = person()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* front.with(host.start)
      yield* Effect.forkChild(host.extensions.callTool("t", { ask: [ui(1), host_(2, "session.info"), ui(undefined)] }))
      yield* settle
      assert.deepStrictEqual([front.asked, answersOf(a)], [[], []])
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), [
        "extension 'a' asks without an id that is a text (ui_request); such requests are ignored"
      ])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })
})

describe("host_request", () => {
  const served = Effect.fnUntraced(function*(
    { ask, front, session }: {
      readonly ask: ReadonlyArray<Json>
      readonly front?: ReturnType<typeof person>
      readonly session?: ReturnType<typeof sessionOf>
    }
  ) {
    const a = asker()
    yield* Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      const start = front === undefined ? host.start : front.with(host.start)
      yield* session === undefined ? start : session.with(start)
      yield* Effect.forkChild(host.extensions.callTool("t", { ask }))
      yield* settle
      if (front !== undefined) yield* front.answer({ cancelled: false, answer: "edited" })
      yield* settle
    }).pipe(Effect.provide(memory({ a: a.script })))
    return answersOf(a).map(({ type, id, ...answer }) => answer)
  })

  //
  it.effect("is served from the session and the editor in front, in its own shapes", () =>
    Effect.gen(function*() {
      const asked: Array<unknown> = []
      const titles: Array<unknown> = []
      const front = person()
      const session = sessionOf({
        complete: (extension, completion) => {
          asked.push([extension, completion])
          return Effect.succeed({ text: "yes", model: "m1", finishReason: "stop" })
        },
        name: (title) => {
          titles.push(title)
          return Effect.succeed(title ?? "old")
        }
      })
      const answers = yield* served({
        front,
        session,
        ask: [
          host_("1", "model.complete", { prompt: "p" }),
          host_("2", "model.complete", { prompt: "p", system_prompt: "s", max_tokens: 0, read_only_tools: true }),
          host_("3", "model.complete", { prompt: "p", max_tokens: 5 }),
          host_("4", "session.info"),
          host_("5", "session.name"),
          host_("6", "session.name", { name: "new" }),
          host_("7", "context.usage"),
          host_("8", "ui.editor", { title: "T", text: "draft" })
        ]
      })
      assert.deepStrictEqual(answers, [
        ...Array.from({ length: 3 }, () => ({ result: { text: "yes", model: "m1", finish_reason: "stop" } })),
        { result: { id: "s1", name: "title", path: "/s1.jsonl", workspace: "/w", event_count: 3 } },
        { result: { name: "old" } },
        { result: { name: "new" } },
        { result: { tokens: 10, limit: 100, percent: 10 } },
        { result: { text: "edited" } }
      ])
      assert.deepStrictEqual(asked, [
        ["a", { prompt: "p", systemPrompt: "", maxTokens: 4096, readOnlyTools: false }],
        ["a", { prompt: "p", systemPrompt: "s", maxTokens: 4096, readOnlyTools: true }],
        ["a", { prompt: "p", systemPrompt: "", maxTokens: 5, readOnlyTools: false }]
      ])
      assert.deepStrictEqual(titles, [undefined, "new"])
      assert.deepStrictEqual(front.asked, [{ kind: "editor", asker: "a", title: "T", text: "draft" }])
    }))

  it.effect("says why not: no prompt, no such method, nobody to do it, a fault, an interrupt", () =>
    Effect.gen(function*() {
      const nobody = { error: "host request is unavailable", cancelled: true }
      assert.deepStrictEqual(
        yield* served({
          ask: [
            host_("1", "model.complete"),
            host_("2", "model.complete", { prompt: "" }),
            host_("3", "time.travel"),
            host_("4", "toString"),
            host_("5", "session.name", { name: 1 }),
            host_("6", "model.complete", { prompt: "p" }),
            host_("7", "session.info"),
            host_("8", "session.name"),
            host_("9", "context.usage"),
            host_("10", "ui.editor", { text: "draft" })
          ]
        }),
        [
          { error: "prompt is required" },
          { error: "prompt is required" },
          { error: "unknown host request: time.travel" },
          { error: "unknown host request: toString" },
          { error: "name must be a string" },
          nobody,
          nobody,
          nobody,
          nobody,
          { error: "interactive editor is unavailable", cancelled: true }
        ]
      )
      const failing = (reason: string, cancelled: boolean) => Effect.fail(new HostRequestFailed({ reason, cancelled }))
      assert.deepStrictEqual(
        yield* served({
          session: sessionOf({ complete: () => failing("", true), info: failing("session is unavailable", false), usage: Effect.die(new Error("oops")) }),
          ask: [host_("1", "model.complete", { prompt: "p" }), host_("2", "session.info"), host_("3", "context.usage")]
        }),
        [{ cancelled: true }, { error: "session is unavailable" }, { error: "oops" }]
      )
    }))

  it.effect("those of one extension are served one after another, of two side by side, and its other lines keep flowing", () => {
    const a = asker()
    const b = asker({ tools: [tool("u")] })
    const begun: Array<string> = []
    const gates: Record<string, Deferred.Deferred<void>> = {}
    const session = sessionOf({
      complete: (extension, { prompt }) =>
        Effect.suspend(() => {
          const gate = Deferred.makeUnsafe<void>()
          gates[`${extension} ${prompt}`] = gate
          begun.push(`${extension} ${prompt}`)
          return Effect.as(Deferred.await(gate), { text: prompt, model: "m", finishReason: "stop" })
        })
    })
    const front = person()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {}, b: {} } })
      yield* front.with(session.with(host.start))
      const complete = (id: string) => host_(id, "model.complete", { prompt: id })
      yield* Effect.forkChild(host.extensions.callTool("t", {
        ask: [complete("1"), complete("2"), { type: "update", status: { key: "s", text: "asked" } }, host_("3", "session.info")]
      }))
      yield* Effect.forkChild(host.extensions.callTool("u", { ask: [complete("1")] }))
      yield* settle
      assert.deepStrictEqual(begun, ["a 1", "b 1"])
      assert.deepStrictEqual(front.shown, [["status", "a:s", [{ text: "asked" }]]])
      yield* Deferred.succeed(gates["a 1"]!, undefined)
      yield* settle
      assert.deepStrictEqual(begun, ["a 1", "b 1", "a 2"])
      yield* Deferred.succeed(gates["a 2"]!, undefined)
      yield* settle
      assert.deepStrictEqual(answersOf(a).map(({ id }) => id), ["1", "2", "3"])
    }).pipe(Effect.provide(memory({ a: a.script, b: b.script })))
  })

  it.effect("a modal can be closed and opened anew while the completion it wanted is pending", () => {
    const modal = (key: string) => ({ key, position: "modal", title: "Aside", content: [], actions: [{ id: "submit", label: "Ask" }] })
    const a = peer({ commands: [{ name: "btw", while_busy: true }] }, (message, self) => {
      if (message.type === "command") return answering({ widget: modal(`m${message.id}`) })(message, self)
      if (message.type !== "ui_action") return Effect.void
      return message.action === "submit"
        ? self.send(host_("h", "model.complete", { prompt: message.text }))
        : self.send({ type: "update", widget: { key: message.widget, content: [] } })
    })
    const done = Deferred.makeUnsafe<void>()
    const session = sessionOf({ complete: (_, { prompt }) => Effect.as(Deferred.await(done), { text: prompt, model: "m", finishReason: "stop" }) })
    const front = person()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* front.with(session.with(host.start))
      yield* host.extensions.runCommand("btw", "")
      assert.isTrue(yield* host.extensions.act("a:m1", "submit", "why?"))
      yield* settle
      assert.isTrue(yield* host.extensions.act("a:m1", "close"))
      yield* settle
      yield* host.extensions.runCommand("btw", "")
      assert.deepStrictEqual(front.shown.map(([, key, widget]) => [key, widget !== undefined]), [["a:m1", true], ["a:m1", false], ["a:m2", true]])
      assert.deepStrictEqual(answersOf(a), [])
      yield* Deferred.succeed(done, undefined)
      yield* settle
      assert.deepStrictEqual(answersOf(a), [
        { type: "host_response", id: "h", result: { text: "why?", model: "m", finish_reason: "stop" } }
      ])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("more than 16 open ones are errors at once", () => {
    const a = asker()
    const session = sessionOf({ info: Effect.never })
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* session.with(host.start)
      yield* Effect.forkChild(host.extensions.callTool("t", { ask: Array.from({ length: 17 }, (_, n) => host_(`${n}`, "session.info")) }))
      yield* settle
      assert.deepStrictEqual(answersOf(a), [{ type: "host_response", id: "16", error: "too many host requests are open" }])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })
})

describe("the budget of an extension", () => {
  /** Asks after 1 s, works on for `rest` ms when it is answered, and replies. */
  const working = (ask: Json, rest: number) => {
    const a = peer({ tools: [tool("t")] }, (message, self) =>
      message.type === "tool"
        ? Effect.forkDetach(Effect.andThen(Effect.sleep("1 second"), self.send(ask)))
        : message.type === "ui_response" || message.type === "host_response"
        ? Effect.forkDetach(Effect.andThen(Effect.sleep(rest), self.send({ type: "response", id: "1", content: "done" })))
        : Effect.void)
    return a
  }
  const inquiries: ReadonlyArray<readonly [string, Json]> = [
    ["a question", ui("q")],
    ["a yes-or-no question", ui("q", { method: "confirm" })],
    ["the editor", host_("q", "ui.editor")],
    ["a completion", host_("q", "model.complete", { prompt: "p" })]
  ]

  it.effect.each(inquiries)("stands still while %s is open, and goes on with what was left", ([, ask]) => {
    const a = working(ask, 500)
    const b = peer({ tools: [tool("mute")] })
    const front = person()
    const done = Deferred.makeUnsafe<{ text: string; model: string; finishReason: string }>()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { response_timeout_seconds: 2 }, b: { response_timeout_seconds: 2 } } })
      yield* sessionOf({ complete: () => Deferred.await(done) }).with(front.with(host.start))
      const call = yield* Effect.forkChild(host.extensions.callTool("t", {}))
      const other = yield* Effect.forkChild(Effect.flip(host.extensions.callTool("mute", {})))
      yield* settle
      yield* TestClock.adjust("1 second")
      yield* settle
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(other)).reason, "timeout")
      yield* TestClock.adjust("4 seconds")
      if (front.asked.length > 0) yield* front.answer({ cancelled: true })
      yield* Deferred.succeed(done, { text: "", model: "", finishReason: "stop" })
      yield* settle
      yield* TestClock.adjust("500 millis")
      assert.deepStrictEqual((yield* Fiber.join(call)).content, [{ type: "text", text: "done" }])
    }).pipe(Effect.provide(memory({ a: a.script, b: b.script })))
  })

  it.effect("ends to the millisecond after the time it was open", () => {
    const a = working(ui("q"), 1_500)
    const front = person()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { response_timeout_seconds: 2 } } })
      yield* front.with(host.start)
      const call = yield* Effect.forkChild(Effect.flip(host.extensions.callTool("t", {})))
      yield* settle
      yield* TestClock.adjust("1 second")
      yield* settle
      yield* TestClock.adjust("5 seconds")
      yield* front.answer({ cancelled: true })
      yield* settle
      yield* TestClock.adjust("999 millis")
      yield* settle
      assert.isUndefined(call.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(call)).reason, "timeout")
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("stands still until the last of several is answered", () => {
    const a = asker()
    const front = person()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { response_timeout_seconds: 2 } } })
      yield* front.with(host.start)
      const call = yield* Effect.forkChild(Effect.flip(host.extensions.callTool("t", { ask: [ui("1"), ui("2", { method: "input" })] })))
      yield* settle
      yield* TestClock.adjust("1 minute")
      yield* front.answer({ cancelled: true })
      yield* settle
      yield* TestClock.adjust("1 minute")
      yield* front.answer({ cancelled: true })
      yield* settle
      yield* TestClock.adjust("1999 millis")
      yield* settle
      assert.isUndefined(call.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(call)).reason, "timeout")
    }).pipe(Effect.provide(memory({ a: a.script })))
  })
})

describe("a completion whose provider event reaches the one that waits for it", () => {
  const provider = { session_id: "s", workspace: "/w", provider: "p", model: "m", thinking: "" }
  const register = { tools: [tool("t")], events: ["before_provider_request"] }
  const complete = host_("h", "model.complete", { prompt: "p" })

  /** Serves a completion as an agent does: the event first, in the same fiber, then the answer. */
  const run = (a: { readonly script: Memory.Script }, manifest: Json, body: (call: Fiber.Fiber<unknown, unknown>) => Effect.Effect<void, unknown>) =>
    Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: manifest } })
      const session = sessionOf({
        complete: () =>
          Effect.map(host.hooks.run("before_provider_request", { ...provider, payload: { n: 1 } }), (outcome) =>
            ({ text: JSON.stringify(outcome.payload.payload), model: "m", finishReason: "stop" }))
      })
      yield* session.with(host.start)
      const call = yield* Effect.forkChild(host.extensions.callTool("t", {}))
      yield* settle
      yield* body(call)
    }).pipe(Effect.provide(memory({ a: a.script })))

  it.effect("works where it goes on reading", () => {
    const a = peer(register, (message, self) =>
      message.type === "tool"
        ? self.send(complete)
        : message.type === "event"
        ? self.send({ type: "response", id: message.id, payload: { n: 2 } })
        : message.type === "host_response"
        ? self.send({ type: "response", id: "1", content: (message.result as Json).text })
        : Effect.void)
    return run(a, {}, (call) =>
      Effect.map(Fiber.join(call), (reply) => assert.deepStrictEqual<unknown>(reply, { content: [{ type: "text", text: "{\"n\":2}" }], isError: false })))
  })

  it.effect.each([
    { limit: 3, seconds: 3 },
    { limit: null, seconds: 30 }
  ])("ends after its limit ($limit) where it waits for nothing else", ({ limit, seconds }) => {
    const a = peer(register, (message, self) =>
      message.type === "tool"
        ? self.send(complete)
        : message.type === "host_response"
        ? self.send({ type: "response", id: "1", content: (message.result as Json).text })
        : Effect.void)
    return run(a, { response_timeout_seconds: limit }, (call) =>
      Effect.gen(function*() {
        yield* TestClock.adjust(seconds * 1000 - 1)
        yield* settle
        assert.isUndefined(call.pollUnsafe())
        yield* TestClock.adjust("1 millis")
        assert.deepStrictEqual<unknown>(yield* Fiber.join(call), { content: [{ type: "text", text: "{\"n\":1}" }], isError: false })
      }))
  })
})

describe("two whose completions reach each other", () => {
  const provider = { session_id: "s", workspace: "/w", provider: "p", model: "m", thinking: "", payload: {} }

  it.effect("wait for no longer than the budget of the one that answers nothing while it waits", () => {
    const complete = host_("h", "model.complete", { prompt: "p" })
    // `a` hears of nothing but its answer; `b` wants a completion of its own for each event.
    const a = peer({ tools: [tool("t")], events: ["before_provider_request"] }, (message, self) =>
      message.type === "tool"
        ? self.send(complete)
        : message.type === "host_response"
        ? self.send({ type: "response", id: "1", content: "done" })
        : Effect.void)
    let event: unknown
    const b = peer({ events: ["before_provider_request"] }, (message, self) => {
      if (message.type === "event" && event === undefined) {
        event = message.id
        return self.send(complete)
      }
      return message.type === "host_response" ? self.send({ type: "response", id: event }) : answering({})(message, self)
    })
    return Effect.gen(function*() {
      const limit = { response_timeout_seconds: 3 }
      const host = yield* startAll({ manifests: { a: limit, b: limit } })
      const session = sessionOf({
        complete: () => Effect.as(host.hooks.run("before_provider_request", provider), { text: "", model: "m", finishReason: "stop" })
      })
      yield* session.with(host.start)
      const call = yield* Effect.forkChild(host.extensions.callTool("t", {}))
      yield* settle
      // Once for its own event, once for that of the completion `b` wants.
      yield* TestClock.adjust("3 seconds")
      yield* settle
      yield* TestClock.adjust("3 seconds")
      yield* settle
      assert.deepStrictEqual((yield* Fiber.join(call)).content, [{ type: "text", text: "done" }])
    }).pipe(Effect.provide(memory({ a: a.script, b: b.script })))
  })
})

describe("what was asked is withdrawn", () => {
  it.effect("when the request it was asked in is interrupted, and both are told", () => {
    const a = asker()
    const front = person()
    const given: Array<string> = []
    const session = sessionOf({ complete: () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => void given.push("up"))) })
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* session.with(front.with(host.start))
      const call = yield* Effect.forkChild(host.extensions.callTool("t", { ask: [ui("q"), host_("h", "model.complete", { prompt: "p" })] }))
      yield* settle
      yield* Fiber.interrupt(call)
      yield* settle
      assert.deepStrictEqual([front.withdrawn, given], [["question"], ["up"]])
      assert.deepStrictEqual(a.heard.slice(2), [
        { type: "cancel", id: "1" },
        { type: "ui_response", id: "q", answer: "", cancelled: true },
        { type: "host_response", id: "h", cancelled: true }
      ])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("not while another request may want the answer, and not when it was asked outside of any", () => {
    const a = peer({ tools: [tool("t"), tool("u")] }, (message, self) =>
      message.type === "initialize" ? self.send(ui("free")) : message.name === "u" ? self.send(ui("q", { method: "input" })) : Effect.void)
    const front = person()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* front.with(host.start)
      yield* settle
      const one = yield* Effect.forkChild(host.extensions.callTool("t", {}))
      yield* settle
      const two = yield* Effect.forkChild(host.extensions.callTool("u", {}))
      yield* settle
      yield* Fiber.interrupt(one)
      yield* settle
      assert.deepStrictEqual(front.withdrawn, [])
      yield* Fiber.interrupt(two)
      yield* settle
      assert.deepStrictEqual(front.withdrawn, ["input"])
      yield* front.answer({ cancelled: false, answer: "a" })
      yield* settle
      assert.deepStrictEqual(a.heard.at(-1), { type: "ui_response", id: "free", answer: "a", cancelled: false })
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("not when its request was answered before the person did", () => {
    const a = peer({ tools: [tool("t")] }, (message, self) =>
      message.type === "tool" ? Effect.andThen(self.send(ui("q")), answering({ content: "later" })(message, self)) : Effect.void)
    const front = person()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* front.with(host.start)
      yield* host.extensions.callTool("t", {})
      yield* settle
      yield* front.answer({ cancelled: false, answer: "a" })
      yield* settle
      assert.deepStrictEqual(a.heard.at(-1), { type: "ui_response", id: "q", answer: "a", cancelled: false })
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("when extensions are stopped: the answer goes out before shutdown", () => {
    const a = asker()
    const front = person()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* front.with(host.start)
      yield* Effect.forkChild(host.extensions.callTool("t", { ask: [ui("q")] }))
      yield* settle
      yield* host.extensions.stop
      assert.deepStrictEqual(front.withdrawn, ["question"])
      assert.deepStrictEqual(a.types().slice(2), ["ui_response", "shutdown"])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("when the extension dies, and its budget does not stand still afterwards", () => {
    const a = peer({ tools: [tool("t"), tool("die"), tool("mute")] }, (message, self) =>
      message.name === "t" ? self.send(ui("q")) : message.name === "die" ? Effect.fail("boom") : Effect.void)
    const front = person()
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { response_timeout_seconds: 2 } } })
      yield* front.with(host.start)
      const asked = yield* Effect.forkChild(Effect.flip(host.extensions.callTool("t", {})))
      yield* settle
      yield* Effect.flip(host.extensions.callTool("die", {}))
      assert.strictEqual((yield* Fiber.join(asked)).reason, "crashed")
      yield* settle
      assert.deepStrictEqual(front.withdrawn, ["question"])
      yield* TestClock.adjust("300 millis")
      yield* settle
      const mute = yield* Effect.forkChild(Effect.flip(host.extensions.callTool("mute", {})))
      yield* settle
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual((yield* Fiber.join(mute)).reason, "timeout")
    }).pipe(Effect.provide(memory({ a: a.script })))
  })
})
