import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { atomic, families, niminal, nimlet, rootsOf } from "../src/index.ts"
import { commandsOf } from "../src/Roster.ts"
import { answering, type Json, memory, peer, slowly, startAll, tool } from "./kit.ts"
import { settle } from "./settle.ts"

const mute = () => Effect.never

describe("the handshake", () => {
  // E-053
  it.effect("asks nothing of one that has not registered", () => {
    const a = peer({ tools: [tool("t")], events: ["turn_start"] }, answering({}))
    const late = slowly(a, 1_000)
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      const starting = yield* Effect.forkChild(host.start)
      yield* late.launched
      const early = yield* Effect.forkChild(Effect.exit(host.extensions.callTool("t", {})))
      yield* host.hooks.run("turn_start", { session_id: "s1", workspace: "/w" })
      yield* settle
      assert.strictEqual((yield* Fiber.join(early))._tag, "Failure")
      assert.deepStrictEqual(a.types(), [])
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(starting)
      yield* host.hooks.run("turn_start", { session_id: "s1", workspace: "/w" })
      yield* host.extensions.callTool("t", {})
      assert.deepStrictEqual(a.types(), ["initialize", "event", "tool"])
    }).pipe(Effect.provide(memory({ a: late.script })))
  })

  //
  it.effect("initialize is there before register is: one may read it first", () => {
    const a = peer({})
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      assert.deepStrictEqual((yield* host.start).started, ["a"])
    }).pipe(Effect.provide(memory({
      a: (self, launch) =>
        Effect.gen(function*() {
          const { type } = yield* self.receive
          if (type === "initialize") yield* a.script(self, launch)
        })
    })))
  })

  it.effect("initialize hands back the newest megabyte of what was stored, in bytes", () => {
    const a = peer({})
    const entries = ["old", "é".repeat(400_000), "é".repeat(200_000), undefined, null, "new"]
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} }, start: { entries: () => entries } })
      yield* host.start
      assert.deepStrictEqual((yield* a.next).entries, [entries[2], null, null, "new"])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  // E-054
  it.effect("responses, updates and questions count at any time after it; before it they end the start", () => {
    const a = peer({ tools: [tool("t")] }, (message, self) =>
      message.type === "initialize" ? self.send({ type: "update", entry: "early" }) : answering({})(message, self))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {}, b: {} } })
      const report = yield* host.start
      const refused = "extension 'b' failed to start: expected register response"
      assert.deepStrictEqual(report, { started: ["a"], warnings: [refused], about: new Map([[refused, "b"]]), missing: [] })
      yield* settle
      assert.deepStrictEqual(host.entries, [{ extension: "a", data: "early" }])
    }).pipe(Effect.provide(memory({
      a: a.script,
      b: (self) => Effect.andThen(self.send({ type: "update", entry: "no" }), self.send({ type: "register", commands: [] }))
    })))
  })

  it.effect("what is wrong with an offer is told with extension, tool and field, whether it starts or not", () => {
    const a = peer({ tools: [tool("t", { input_schema: { type: "object", properties: { n: { type: "banana" } } } })] })
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {}, b: {} } })
      const report = yield* host.start
      assert.deepStrictEqual(report.started, ["a"])
      assert.sameMembers([...report.warnings], [
        `extension 'a': tool "t": input_schema.properties.n.type must be one of object, array, string, number, integer, boolean, null, or a list of these`,
        `extension 'b': tool "u": description must be a text that is not empty`,
        "extension 'b' failed to start: registered tools require name, description, and input_schema"
      ])
    }).pipe(Effect.provide(memory({
      a: a.script,
      b: (self) => self.send({ type: "register", commands: [], tools: [{ name: "u", input_schema: {} }] })
    })))
  })

  it.effect("a second register changes nothing and is told once", () => {
    const again = { type: "register", commands: [], tools: [tool("u")] }
    const a = peer({ tools: [tool("t")] }, (message, self) =>
      message.type === "tool" ? Effect.all([self.send(again), self.send(again), answering({})(message, self)]) : Effect.void)
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* host.start
      yield* host.extensions.callTool("t", {})
      assert.deepStrictEqual((yield* host.extensions.tools).map(({ name }) => name), ["t"])
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), [
        "extension 'a' registered again; only the first register counts"
      ])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })
})

describe("modes and providers", () => {
  const mode = (id: string, label: string) => ({ id, label, prompt: "p", permissions: "ask", tools: ["read"] })
  const provider = (name: string) =>
    ({ name, api: "openai-chat-completions", api_url: "http://127.0.0.1/v1", default_model: "m", requires_api_key: false })

  it.effect("of two with one name the earlier in startup order counts, whatever the speed; a provider left out is told", () => {
    const a = peer({ modes: [mode("review", "A")], providers: [provider("One")] })
    const b = peer({ modes: [mode("review", "B"), mode("more", "B")], providers: [provider("one"), provider("two"), provider("Offline")] })
    const late = slowly(a, 1_000)
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {}, b: {} }, start: { reservedProviders: ["offline"] } })
      const starting = yield* Effect.forkChild(host.start)
      yield* late.launched
      yield* b.next
      yield* settle
      yield* TestClock.adjust("1 second")
      const report = yield* Fiber.join(starting)
      assert.deepStrictEqual(report.warnings, [
        "extension 'b' could not register provider 'one'",
        "extension 'b' could not register provider 'Offline'"
      ])
      assert.deepStrictEqual((yield* host.extensions.modes).map(({ extension, id }) => [id, extension]), [["review", "a"], ["more", "b"]])
      assert.deepStrictEqual((yield* host.extensions.providers).map(({ extension, name }) => [name, extension]), [["One", "a"], ["two", "b"]])
    }).pipe(Effect.provide(memory({ a: late.script, b: b.script })))
  })
})

describe("commands of one name", () => {
  const offering = (family: typeof nimlet, key: string, ...names: ReadonlyArray<string>) =>
    ({ family, key, registration: { commands: names.map((name) => ({ name })), tools: [], events: [], modes: [], providers: [] } })
  const shown = (...offerings: ReadonlyArray<ReturnType<typeof offering>>) =>
    commandsOf(offerings).map(({ extension, name, registered = name }) => [name, registered, extension])

  it("are numbered in startup order where modules offer them, past numbers that are names already", () => {
    assert.deepStrictEqual(shown(offering(atomic, "a", "Deploy", "own"), offering(atomic, "b", "deploy:1"), offering(atomic, "c", "deploy")), [
      ["Deploy:2", "Deploy", "a"],
      ["own", "own", "a"],
      ["deploy:1", "deploy:1", "b"],
      ["deploy:3", "deploy", "c"]
    ])
  })
  it("are the earlier one's where a program is among two", () => {
    assert.deepStrictEqual(shown(offering(nimlet, "a", "go"), offering(nimlet, "b", "go"), offering(atomic, "c", "go")), [["go", "go", "a"]])
  })
})

describe("settings of a start", () => {
  it.effect("switch an extension off, and win over its manifest", () => {
    const mine = peer({ tools: [tool("t")] })
    return Effect.gen(function*() {
      const host = yield* startAll({
        manifests: { a: {}, b: { response_timeout_seconds: null, on_failure: "block" } },
        start: { settings: { a: { disabled: true }, b: { response_timeout_seconds: 2, on_failure: "open" } } }
      })
      assert.deepStrictEqual((yield* host.start).started, ["b"])
      const call = yield* Effect.forkChild(Effect.flip(host.extensions.callTool("t", {})))
      yield* settle
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual((yield* Fiber.join(call)).reason, "timeout")
      yield* host.extensions.stop
      assert.deepStrictEqual(host.extensions.subscribers("tool_call"), [])
    }).pipe(Effect.provide(memory({ a: mine.script, b: mine.script })))
  })

  it.effect("a project's manifest cannot ask for withheld variables, the user's settings can for it", () => {
    const seen: Array<unknown> = []
    const script: Parameters<typeof memory>[0][string] = (self, { environment }) => {
      seen.push(environment.KEY)
      return Effect.andThen(self.send({ type: "register", commands: [] }), Effect.forever(self.receive))
    }
    const base = { environment: { KEY: "1" }, withheld: ["KEY"] }
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { env: ["KEY"] } } })
      const roots = [{ path: `${host.folder}/extensions`, family: nimlet, project: true }]
      const options = { roots, paths: [], workspace: host.folder, sessionId: "s", trusted: true, mode: "print", logs: host.folder, reservedTools: [], ...base }
      const first = yield* host.extensions.start(options)
      assert.deepStrictEqual(first.warnings, [`${host.folder}/extensions/a/extension.json: env KEY is ignored, a project cannot ask for provider keys`])
      const second = yield* host.extensions.start({ ...options, settings: { a: { env: ["KEY"] } } })
      assert.deepStrictEqual(second.warnings, [])
      assert.deepStrictEqual(seen, [undefined, "1"])
    }).pipe(Effect.provide(memory({ a: script })))
  })

  it("a family can be left out", () => {
    const where = { home: "/h", workspace: "/w", trusted: true }
    assert.isTrue(rootsOf(where).some(({ family }) => family === niminal))
    const only = rootsOf({ ...where, families: families.filter(({ name }) => name !== "niminal") })
    assert.deepStrictEqual([...new Set(only.map(({ family }) => family.name))], ["nimlet", "atomic"])
  })

  it.effect("`required` says what is missing and why", () => {
    const ok = peer({})
    return Effect.gen(function*() {
      const host = yield* startAll({
        manifests: { ok: {}, off: {}, bad: {}, two: { name: "ok" }, half: {}, other: { name: "half" }, broken: { name: "broken", on_failure: "blok" }, z: { name: "broken" } },
        start: { required: ["ok", "ok#2", "off", "bad", "half", "broken", "nowhere"], settings: { off: { disabled: true } } }
      })
      const { missing, started } = yield* host.start
      assert.deepStrictEqual(started, ["half", "ok", "ok#2", "broken"])
      assert.deepStrictEqual(missing, [
        { extension: "off", reason: "it is disabled by the settings" },
        { extension: "bad", reason: "expected register response" },
        { extension: "half", reason: "expected register response" },
        { extension: "broken", reason: "its manifest is no good" },
        { extension: "nowhere", reason: "no extension of that name was found" }
      ])
    }).pipe(Effect.provide(memory({ ok: ok.script, two: ok.script, half: ok.script, z: ok.script, other: (self) => self.send({ type: "hello" }), bad: (self) => self.send({ type: "hello" }) })))
  })

  it.effect("`required` is told of where there is nothing to start at all", () =>
    Effect.gen(function*() {
      const host = yield* startAll({ manifests: {}, start: { required: ["nowhere"] } })
      assert.deepStrictEqual((yield* host.start).missing, [{ extension: "nowhere", reason: "no extension of that name was found" }])
    }).pipe(Effect.provide(memory({}))))
})

describe("waiting at the start", () => {
  it.effect.each([["an open guard", {}, 1], ["a closed one", { on_failure: "block" }, 0]] as const)(
    "%s in the background is told of once, for what it lets pass before it is there", ([, more, told]) => {
      const a = peer({ events: ["turn_start", "tool_call"] }, answering({}))
      const b = peer({ events: ["turn_start"] }, answering({}))
      return Effect.gen(function*() {
        const host = yield* startAll({ manifests: { a: { background: true, ...more }, b: { background: true } } })
        const report = yield* host.start
        yield* settle
        const warnings = [...report.warnings, ...host.diagnostics.map(({ message }) => message)]
        assert.strictEqual(warnings.filter((message) => message.startsWith("extension 'a' wants to be asked before things are done")).length, told)
        assert.strictEqual(warnings.length, told)
      }).pipe(Effect.provide(memory({ a: a.script, b: b.script })))
    }
  )

  it.effect("one in the background is not waited for, and takes part once it has registered", () => {
    const a = slowly(peer({ tools: [tool("t")], events: ["tool_call"] }, answering({ allow: false, reason: "a" })), 5_000)
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { background: true }, b: {} } })
      const report = yield* host.start
      assert.deepStrictEqual(report, { started: ["b"], warnings: [], missing: [] })
      yield* a.launched
      const call = { tool: "x", arguments: {} }
      assert.strictEqual((yield* host.hooks.run("tool_call", call))._tag, "Continue")
      yield* TestClock.adjust("5 seconds")
      yield* settle
      assert.deepStrictEqual((yield* host.extensions.tools).map(({ name }) => name), ["t"])
      assert.strictEqual((yield* host.hooks.run("tool_call", call))._tag, "Blocked")
    }).pipe(Effect.provide(memory({ a: a.script, b: peer({}).script })))
  })

  const session = { session_id: "s1", workspace: "/w", provider: "p", model: "m", thinking: "" }
  it.effect.each([
    { when: "after the session has begun", begun: true, types: ["initialize", "event"] },
    { when: "before the session has begun", begun: false, types: ["initialize"] }
  ])("one that registers $when is told of it by itself when it was missed", ({ begun, types }) => {
    const a = peer({ events: ["session_start"] }, answering({}))
    const late = slowly(a, 5_000)
    const b = peer({ events: ["session_start"] }, answering({}))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { background: true }, b: {} } })
      yield* host.start
      yield* late.launched
      if (begun) yield* host.hooks.run("session_start", session)
      yield* TestClock.adjust("5 seconds")
      yield* settle
      assert.deepStrictEqual(a.types(), types)
      assert.deepStrictEqual(b.types(), types)
    }).pipe(Effect.provide(memory({ a: late.script, b: b.script })))
  })

  it.effect("what it has to say of its registration is said when it comes", () => {
    const provider = { name: "one", api: "openai-chat-completions", api_url: "http://h/", default_model: "m", requires_api_key: false }
    const a = slowly(peer({ tools: [tool("bash")], providers: [provider] }), 5_000)
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { background: true } }, start: { reservedProviders: ["one"] } })
      assert.deepStrictEqual((yield* host.start).warnings, [])
      yield* a.launched
      yield* TestClock.adjust("5 seconds")
      yield* settle
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), [
        "extension tool 'bash' collides with a built-in tool",
        "extension 'a' could not register provider 'one'"
      ])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect.each<readonly [string, Json, ReadonlyArray<string>]>([
    ["a closed guard", { background: true, on_failure: "block" }, []],
    ["a required one", { background: true }, ["a"]]
  ])("%s is waited for though it starts in the background", ([, manifest, required]) => {
    const a = slowly(peer({ events: ["tool_call"] }), 5_000)
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: manifest }, start: { required } })
      const starting = yield* Effect.forkChild(host.start)
      yield* a.launched
      yield* TestClock.adjust("4999 millis")
      yield* settle
      assert.isUndefined(starting.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual((yield* Fiber.join(starting)).started, ["a"])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("`proceed` ends it: the report names who has not registered, and they go on starting", () => {
    const a = slowly(peer({ tools: [tool("t")] }, answering({ content: "there" })), 5_000)
    const b = peer({})
    const [c, d] = [slowly({ script: mute }, 0), slowly({ script: mute }, 0)]
    return Effect.gen(function*() {
      const goOn = yield* Deferred.make<void>()
      const host = yield* startAll({ manifests: { a: {}, b: {}, c: {}, d: { background: true } }, start: { proceed: Deferred.await(goOn), required: ["a"] } })
      const starting = yield* Effect.forkChild(host.start)
      yield* b.next
      yield* Effect.all([a.launched, c.launched, d.launched])
      yield* settle
      yield* Deferred.succeed(goOn, undefined)
      assert.deepStrictEqual(yield* Fiber.join(starting), {
        started: ["b"],
        warnings: [],
        pending: ["a", "c"],
        missing: [{ extension: "a", reason: "it has not registered yet" }]
      })
      yield* TestClock.adjust("5 seconds")
      yield* settle
      assert.deepStrictEqual((yield* host.extensions.callTool("t", {})).content, [{ type: "text", text: "there" }])
      yield* TestClock.adjust("25 seconds")
      yield* settle
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), ["c", "d"].map((name) =>
        `extension '${name}' failed to start: extension response timed out`))
      yield* TestClock.adjust("3 seconds")
    }).pipe(Effect.provide(memory({ a: a.script, b: b.script, c: c.script, d: d.script })))
  })

  it.effect("giving the start up ends nobody", () => {
    const a = slowly(peer({ tools: [tool("t")] }, answering({ content: "there" })), 5_000)
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      const starting = yield* Effect.forkChild(host.start)
      yield* a.launched
      yield* Fiber.interrupt(starting)
      yield* TestClock.adjust("5 seconds")
      yield* settle
      assert.isFalse((yield* host.extensions.callTool("t", {})).isError)
    }).pipe(Effect.provide(memory({ a: a.script })))
  })
})

describe("Extensions.restart", () => {
  it.effect.each<readonly [string, Json, (message: Json) => Effect.Effect<void, string>]>([
    ["that failed to start", {}, () => Effect.void],
    ["that is not to start again by itself", { restart: false }, (message) => message.type === "tool" ? Effect.fail("boom") : Effect.void]
  ])("brings back one %s", ([, manifest, react]) => {
    let lives = 0
    const first = peer({ tools: [tool("t")] }, react)
    const second = peer({ tools: [tool("t")] }, answering({ content: "back" }))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: manifest } })
      yield* host.start
      if (manifest.restart === false) yield* Effect.flip(host.extensions.callTool("t", {}))
      yield* settle
      assert.deepStrictEqual(yield* host.extensions.tools, [])
      assert.isTrue(yield* host.extensions.restart("a"))
      yield* settle
      assert.deepStrictEqual((yield* host.extensions.callTool("t", {})).content, [{ type: "text", text: "back" }])
      assert.deepInclude((yield* host.extensions.figures)[0], { state: "Running", restarts: 1, fault: undefined })
    }).pipe(Effect.provide(memory({
      a: (self, launch) =>
        ++lives > 1 ? second.script(self, launch) : manifest.restart === false ? first.script(self, launch) : self.send({ type: "hello" })
    })))
  })
})

describe("after a crash", () => {
  const dies = (events: ReadonlyArray<string>) =>
    peer({ tools: [tool("die")], events }, (message, self) => message.type === "tool" ? Effect.fail("boom") : answering({})(message, self))

  it.effect("initialize carries the entries of that moment", () => {
    const a = dies([])
    const entries: Array<unknown> = ["old"]
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} }, start: { entries: () => [...entries] } })
      yield* host.start
      entries.push("new")
      yield* Effect.flip(host.extensions.callTool("die", {}))
      yield* settle
      yield* TestClock.adjust("300 millis")
      yield* settle
      assert.deepStrictEqual(a.heard.filter(({ type }) => type === "initialize").map((line) => line.entries), [["old"], ["old", "new"]])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("what there was to say of its registration is not said again", () => {
    const a = peer({ tools: [tool("die"), tool("bash")] }, (message) => message.type === "tool" ? Effect.fail("boom") : Effect.void)
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      assert.deepStrictEqual((yield* host.start).warnings, ["extension tool 'bash' collides with a built-in tool"])
      yield* Effect.flip(host.extensions.callTool("die", {}))
      yield* settle
      yield* TestClock.adjust("300 millis")
      yield* settle
      assert.strictEqual(a.types().filter((type) => type === "initialize").length, 2)
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), ["extension 'a' exited with code 1 unexpectedly"])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("a family that wants it is told of the session again, alone and before anything that waits", () => {
    const a = dies(["session_start", "turn_start"])
    const b = peer({ events: ["session_start"] }, answering({}))
    return Effect.gen(function*() {
      const host = yield* startAll({
        manifests: { a: {}, b: {} },
        family: niminal,
        start: { selected: () => ({ provider: "p2", model: "m2", thinking: "high" }) }
      })
      yield* host.start
      assert.notInclude(a.types(), "event")
      yield* Effect.flip(host.extensions.callTool("die", {}))
      yield* settle
      const turn = yield* Effect.forkChild(host.hooks.run("turn_start", { session_id: "s1", workspace: "/w" }))
      yield* settle
      yield* TestClock.adjust("300 millis")
      yield* Fiber.join(turn)
      assert.deepStrictEqual(a.heard.slice(2).map(({ type, event, payload }) => [type, event, payload]), [
        ["initialize", undefined, undefined],
        ["event", "session_start", { session_id: "s1", workspace: host.folder, provider: "p2", model: "m2", thinking: "high", reason: "reload" }],
        ["event", "turn_start", { session_id: "s1", workspace: "/w" }]
      ])
      assert.notInclude(b.types(), "event")
    }).pipe(Effect.provide(memory({ a: a.script, b: b.script })))
  })

  it.effect("it is told what the start knew where nobody says more; a mute one costs one warning", () => {
    const a = peer({ tools: [tool("die")], events: ["session_start"] }, (message) => message.type === "tool" ? Effect.fail("boom") : Effect.void)
    return Effect.gen(function*() {
      const host = yield* startAll({
        manifests: { a: { response_timeout_seconds: 2 } },
        family: niminal,
        start: { session: { provider: "p", model: "m" }, thinking: "low" }
      })
      yield* host.start
      yield* Effect.flip(host.extensions.callTool("die", {}))
      yield* settle
      yield* TestClock.adjust("300 millis")
      yield* settle
      const { provider, model, thinking } = a.heard.at(-1)!.payload as Json
      assert.deepStrictEqual([provider, model, thinking], ["p", "m", "low"])
      yield* TestClock.adjust("2 seconds")
      yield* settle
      assert.deepStrictEqual(a.types().at(-1), "cancel")
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), [
        "extension 'a' exited with code 1 unexpectedly",
        "extension 'a': extension response timed out after 2 s (response_timeout_seconds says how long it may take)"
      ])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect.each([
    ["a family that does not want it", nimlet, ["session_start"]],
    ["one that did not subscribe", niminal, []]
  ] as const)("%s is not", ([, family, events]) => {
    const a = dies(events)
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} }, family })
      yield* host.start
      yield* Effect.flip(host.extensions.callTool("die", {}))
      yield* settle
      yield* TestClock.adjust("300 millis")
      yield* settle
      assert.deepStrictEqual(a.types(), ["initialize", "tool", "initialize"])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })
})
