import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { type Frame, FrameTap, niminal } from "../src/index.ts"
import { answering, type Json, memory, peer, startAll, tool } from "./kit.ts"
import { settle } from "./settle.ts"
import { pictures } from "../../../test/kit/Pictures.ts"

type Host = Pick<Effect.Success<ReturnType<typeof startAll>>, "extensions" | "hooks">

describe("starting", () => {
  // E-051 E-056 E-057 E-058 E-059 E-060 X-010
  it.effect("sends initialize once, takes register, and reports what runs", () => {
    const a = peer({ tools: [tool("save")] })
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} }, start: { entries: (key) => [`of ${key}`] } })
      assert.deepStrictEqual(yield* host.start, { started: ["a"], warnings: [], missing: [] })
      yield* settle
      assert.deepStrictEqual(a.heard, [{
        type: "initialize",
        version: 1,
        workspace: host.folder,
        session_id: "s1",
        trusted: true,
        mode: "print",
        ui: false,
        entries: ["of a"]
      }])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  // E-013 E-014 E-052 X-007
  it.effect("starts in parallel and commits in startup order, whatever the speed", () => {
    const slow = peer({ tools: [tool("t", { description: "slow" })] })
    const fast = peer({ tools: [tool("t", { description: "fast" })] })
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {}, b: {}, c: { name: "b" } } })
      const starting = yield* Effect.forkChild(host.start)
      yield* fast.next
      yield* settle
      assert.deepStrictEqual((yield* host.extensions.tools).map((each) => each.description), ["fast"])
      assert.isUndefined(starting.pollUnsafe())
      yield* TestClock.adjust("1 second")
      const report = yield* Fiber.join(starting)
      assert.deepStrictEqual(report.started, ["a", "b", "b#2"])
      assert.deepStrictEqual((yield* host.extensions.tools).map((each) => each.extension), ["b#2"])
    }).pipe(Effect.provide(memory({
      a: (self, launch) => Effect.andThen(Effect.sleep("1 second"), slow.script(self, launch)),
      b: fast.script,
      c: (self, launch) => Effect.andThen(Effect.sleep("500 millis"), slow.script(self, launch))
    })))
  })

  // E-020 E-029 E-067
  it.effect("gives up on a mute extension after its own limit, and after 30 s where it has none", () => {
    const mute = peer({})
    return Effect.gen(function*() {
      const host = yield* startAll({
        manifests: { a: { name: "notes", command: ["a"], response_timeout_seconds: 2 }, b: { response_timeout_seconds: null }, c: { command: ["ok"] } }
      })
      const starting = yield* Effect.forkChild(host.start)
      yield* mute.next
      yield* settle
      yield* TestClock.adjust("29999 millis")
      yield* settle
      assert.isUndefined(starting.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(yield* Fiber.join(starting), {
        started: ["c"],
        warnings: ["notes", "b"].map((name) => `extension '${name}' failed to start: extension response timed out`),
        about: new Map(["notes", "b"].map((name) => [`extension '${name}' failed to start: extension response timed out`, name])),
        missing: []
      })
      yield* TestClock.adjust("3 seconds")
    }).pipe(Effect.provide(memory({ a: () => Effect.never, b: () => Effect.never, ok: mute.script })))
  })

  // E-066 E-085 E-086 E-087
  it.effect("an invalid register or an exit before it is a failed start: one warning, stopped, never restarted", () => {
    const lives: Array<string> = []
    const ended: Array<string> = []
    const wrong = (line: Json): Parameters<typeof memory>[0][string] => (self, { extension }) =>
      Effect.gen(function*() {
        lives.push(extension)
        yield* Effect.addFinalizer(() => Effect.sync(() => ended.push(extension)))
        yield* self.send(line)
        return yield* Effect.never
      })
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {}, b: {}, c: {}, d: {} } })
      const starting = yield* Effect.forkChild(host.start)
      const report = yield* Fiber.join(starting)
      assert.deepStrictEqual(report.started, [])
      assert.deepStrictEqual([...report.warnings].sort(), [
        "extension 'a' failed to start: register commands must be an array",
        "extension 'b' failed to start: expected register response",
        "extension 'c' failed to start: it exited with code 0 before it registered",
        "extension 'd' failed to start: cannot find d"
      ])
      yield* TestClock.adjust("1 minute")
      yield* settle
      assert.deepStrictEqual(lives.sort(), ["a", "b"])
      assert.deepStrictEqual(ended.sort(), ["a", "b"])
      assert.deepStrictEqual(host.diagnostics, [])
      assert.deepStrictEqual([yield* host.extensions.tools, host.extensions.subscribers("tool_call")], [[], []])
    }).pipe(Effect.provide(memory({
      a: wrong({ type: "register", tools: [tool("t")], events: ["tool_call"] }),
      b: wrong({ type: "update" }),
      c: () => Effect.void
    })))
  })

  // E-042 E-279 E-302 X-015
  it.effect("skips text before register with a warning, and text after it with no second one", () =>
    Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      const report = yield* host.start
      assert.deepStrictEqual(report.started, ["a"])
      assert.strictEqual(report.warnings.length, 1)
      assert.match(report.warnings[0]!, /^extension 'a' wrote a line that is not a JSON object: starting up\.\.\. \(/)
      const reply = yield* host.extensions.callTool("t", {})
      assert.deepStrictEqual(reply.content, [{ type: "text", text: "fine" }])
      assert.deepStrictEqual(host.diagnostics, [])
    }).pipe(Effect.provide(memory({
      a: (self) =>
        Effect.gen(function*() {
          yield* self.send("starting up...")
          yield* self.send({ type: "register", commands: [], tools: [tool("t")] })
          yield* self.receive
          const { id } = yield* self.receive
          yield* self.send("[debug] x")
          yield* self.send("[1]")
          yield* self.send({ type: "response", id, content: "fine" })
          yield* self.receive
        })
    }))))

  it.effect("nothing found starts nothing", () =>
    Effect.gen(function*() {
      const host = yield* startAll({ manifests: {} })
      assert.deepStrictEqual(yield* host.start, { started: [], warnings: [], missing: [] })
      assert.deepStrictEqual(yield* host.extensions.tools, [])
      assert.deepStrictEqual(host.extensions.subscribers("tool_call"), [])
      assert.strictEqual((yield* Effect.flip(host.extensions.callTool("x", {}))).reason, "unknown")
    }).pipe(Effect.provide(memory({}))))
})

describe("offers", () => {
  it.effect("leaves out a tool that providers would refuse the whole request for, and says why", () => {
    const a = peer({ tools: [tool("t t"), tool("ok"), tool("text", { input_schema: { type: "string" } }), tool("x".repeat(65))] })
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      const report = yield* host.start
      assert.strictEqual(report.warnings.length, 3)
      assert.include(report.warnings[0], "'t t'")
      assert.include(report.warnings[1], "type object")
      assert.deepStrictEqual((yield* host.extensions.tools).map(({ name }) => name), ["ok"])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("are told of a command that is never run, since a built-in one has its name", () =>
    Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} }, start: { reservedCommands: ["fork", "plan"] } })
      assert.deepStrictEqual((yield* host.start).warnings, ["extension command '/Plan' is never run: '/plan' is a built-in command; give it another name"])
    }).pipe(Effect.provide(memory({ a: peer({ commands: [{ name: "Plan" }, { name: "planner" }] }).script }))))

  // E-015 E-016 E-303
  it.effect("leaves out tools with a built-in name and warns; later tool and earlier command win", () => {
    const a = peer({ tools: [tool("Read"), tool("t")], commands: [{ name: "Note", description: "a" }] })
    const b = peer({
      tools: [tool("t"), tool("r", { capabilities: ["read"] })],
      commands: [{ name: "note", description: "b" }, { name: "btw", while_busy: true }]
    }, answering({ content: "b" }))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {}, b: {} } })
      const report = yield* host.start
      assert.deepStrictEqual(report.warnings, ["extension tool 'Read' collides with a built-in tool"])
      const tools = yield* host.extensions.tools
      assert.deepStrictEqual(tools.map(({ extension, name, unasked }) => [name, extension, unasked]), [
        ["t", "b", false],
        ["r", "b", false]
      ])
      assert.deepStrictEqual((yield* host.extensions.callTool("t", {})).content, [{ type: "text", text: "b" }])
      assert.deepStrictEqual(yield* host.extensions.commands, [
        { name: "Note", description: "a", whileBusy: false, extension: "a" },
        { name: "btw", description: "", whileBusy: true, extension: "b" }
      ])
    }).pipe(Effect.provide(memory({ a: a.script, b: b.script })))
  })

  it.effect("keeps of an ill-typed reply what is right, and says once of each field what it should be", () => {
    const wrong = { content: [{ type: "text", text: "kept" }, { type: "image", data: 5 }], is_error: "yes", details: null, terminate: 1 }
    const a = peer({ tools: [tool("t"), tool("n")], commands: [{ name: "go" }] }, answering((message) =>
      message.type === "command" ? { message: "kept", session: { action: "leave" }, prompt: 5 } : message.name === "n" ? { content: 5 } : wrong))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* host.start
      for (let n = 0; n < 2; n++) {
        assert.deepStrictEqual(yield* host.extensions.callTool("t", {}), { content: [{ type: "text", text: "kept" }], isError: false })
        assert.deepStrictEqual(yield* host.extensions.runCommand("go", ""), { message: "kept" })
      }
      assert.isTrue((yield* host.extensions.callTool("n", {})).isError)
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), [
        'extension \'a\': in its reply to tool t content must be a text, or a list of {"type": "text", "text"} and {"type": "image", "mimeType", "data"}; it was ignored',
        "extension 'a': in its reply to tool t is_error must be true or false; it was ignored",
        "extension 'a': in its reply to tool t terminate must be true or false; it was ignored",
        'extension \'a\': in its reply to command go session must be an object with "action" new, switch (with "id"), fork (with "message", a number) or compact; it was ignored',
        "extension 'a': in its reply to command go prompt must be a text; it was ignored"
      ])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect.each<{ readonly mimeType: string; readonly data: string; readonly fault: string }>([
    { mimeType: "text/html", data: "aGk=", fault: 'its type is "text/html", not image/png, image/jpeg, image/gif or image/webp' },
    { mimeType: "", data: "aGk=", fault: "its type is missing, not image/png, image/jpeg, image/gif or image/webp" },
    { mimeType: "image/png", data: "<svg>", fault: "its data is not base64" },
    { mimeType: "image/png", data: "", fault: "its data is empty" },
    { mimeType: "image/png", data: pictures.jpeg.toString("base64"), fault: "its type is image/png, but it is image/jpeg" },
    { mimeType: "image/png", data: pictures.png.subarray(0, 60).toString("base64"), fault: "it ends too early" }
  ])("an image that every provider would refuse is a text in its place, and told: $fault", ({ data, fault, mimeType }) => {
    const image = { type: "image", mimeType, data }
    const good = { type: "image", mimeType: "image/webp", data: pictures.webp.toString("base64") }
    const a = peer({ tools: [tool("t")], events: ["tool_result", "input"] }, answering((message) =>
      message.type === "tool" ? { content: [image, good] } : { images: [{ ...image, name: "a", mime_type: mimeType }] }))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* host.start
      assert.deepStrictEqual((yield* host.extensions.callTool("t", {})).content, [{ type: "text", text: `[An image was left out: ${fault}.]` }, good] as never)
      const result = yield* host.watched(host.hooks.run("tool_result", { tool: "t", arguments: {}, output: "x", is_error: false, tool_call_id: "1" }))
      assert.isUndefined(result.payload.images)
      const place = { session_id: "s", workspace: "/w", provider: "p", model: "m", thinking: "" }
      assert.deepStrictEqual(yield* host.watched(host.hooks.run("input", { ...place, text: "x", images: [] })), { _tag: "Continue", payload: { ...place, text: "x", images: [] }, changedBy: [] })
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), [
        `extension 'a': in its reply to tool t an image of content cannot be sent to any model: ${fault}; it was ignored`,
        "extension 'a': ignored an invalid images in its reply to tool_result",
        "extension 'a': ignored an invalid images in its reply to input"
      ])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("a tool's own word for its failure, and content that cannot be read, are failures the model reads of; an answer without content is none", () => {
    const text = (said: string) => ({ type: "text", text: said })
    const unread = "extension 'a' gave this tool's result in a form that cannot be read: content must be a text, or a list of " +
      '{"type": "text", "text"} and {"type": "image", "mimeType", "data"}. The tool has run; what it did is not known.'
    const cases: ReadonlyArray<readonly [Json, ReadonlyArray<Json>, boolean]> = [
      [{ error: "my own failure" }, [text("my own failure")], true],
      [{ error: { code: 5, message: "disk full" } }, [text("disk full")], true],
      [{ error: { code: 5 } }, [text('{"code":5}')], true],
      [{ error: "why", is_error: false, content: "half done" }, [text("half done"), text("why")], true],
      [{ error: null, content: "done" }, [text("done")], false],
      [{ error: "", content: "done" }, [text("done")], false],
      [{ content: 42 }, [text(unread)], true],
      [{ content: ["x"] }, [text(unread)], true],
      [{ content: {} }, [text(unread)], true],
      [{ content: 42, error: "why" }, [text("why")], true],
      [{ content: [] }, [], false],
      [{ content: null }, [text("")], false],
      [{}, [text("")], false]
    ]
    const a = peer({ tools: [tool("t")], commands: [{ name: "go" }, { name: "both" }] }, answering((message) =>
      message.name === "go" ? { error: "no such note" } : message.name === "both" ? { error: "x", message: "said" } : cases[Number(message.id) - 1]?.[0] ?? {}))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* host.start
      for (const [answer, content, isError] of cases) {
        assert.deepStrictEqual(yield* host.extensions.callTool("t", {}), { content, isError } as never, JSON.stringify(answer))
      }
      assert.strictEqual((yield* Effect.flip(host.extensions.runCommand("go", ""))).message, "extension 'a': no such note")
      assert.deepStrictEqual(yield* host.extensions.runCommand("both", ""), { message: "said" })
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("a read-only tool runs unasked where its family says so", () => {
    const a = peer({
      tools: [
        tool("r", { capabilities: ["read", "user"] }),
        tool("s", { capabilities: ["read"] }),
        tool("w", { capabilities: ["read", "write"] })
      ]
    })
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} }, family: niminal })
      yield* host.start
      assert.deepStrictEqual((yield* host.extensions.tools).map(({ name, unasked }) => [name, unasked]), [["r", true], ["s", true], ["w", false]])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })
})

describe("requests", () => {
  // E-089 E-090 E-091 E-093 E-094 E-095 E-118 E-119 X-013 X-024 X-094
  it.effect("a tool call carries name and arguments; content is a text or parts", () => {
    const replies: ReadonlyArray<Json> = [
      { content: "text", is_error: true },
      { content: [{ type: "text", text: "a" }, { type: "sound" }, { type: "image", mimeType: "image/png", data: pictures.png.toString("base64") }] },
      {}
    ]
    const a = peer({ tools: [tool("save")] }, answering((message) => replies[Number(message.id) - 1] ?? {}))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* host.start
      assert.deepStrictEqual(yield* host.extensions.callTool("save", { text: "x" }), {
        content: [{ type: "text", text: "text" }],
        isError: true
      })
      const parts = yield* host.extensions.callTool("save", {})
      assert.deepStrictEqual(parts.content.map((part) => part.type), ["text", "image"])
      assert.deepStrictEqual(yield* host.extensions.callTool("save", {}), { content: [{ type: "text", text: "" }], isError: false })
      assert.deepStrictEqual(a.heard[1], { type: "tool", id: "1", name: "save", arguments: { text: "x" } })
      assert.deepStrictEqual(a.heard[2], { type: "tool", id: "2", name: "save", arguments: {} })
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  // E-075 E-098 E-099 E-100 E-120 E-121 E-132 X-012
  it.effect("a command goes out under its registered name, whatever the case typed", () => {
    const a = peer({ commands: [{ name: "Note" }] }, answering({ message: "Noted.", prompt: "go", content: 1 }))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* host.start
      assert.deepStrictEqual(yield* host.extensions.runCommand("nOTE", "the bug"), { message: "Noted.", prompt: "go" })
      assert.deepStrictEqual(a.heard[1], { type: "command", id: "1", name: "Note", arguments: "the bug" })
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  // E-029 E-046 E-047 E-048 E-117
  it.effect("replies may come in any order; wrong and late ones change nothing", () => {
    const a = peer({ tools: [tool("t")] }, (message, self) =>
      message.id !== "2" ? Effect.void : Effect.gen(function*() {
        yield* self.send({ type: "response", id: "nope", entry: "wrong" })
        yield* self.send({ type: "response", id: 1, entry: "wrong" })
        yield* self.send({ type: "response", entry: "wrong" })
        yield* self.send({ id: "1", content: "wrong", entry: "wrong" })
        yield* self.send({ type: "response", id: "2", content: "two" })
        yield* self.send({ type: "response", id: "2", content: "again", entry: "wrong" })
        yield* self.send({ type: "response", id: "1", content: "one", entry: null })
      }))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { response_timeout_seconds: null } } })
      yield* host.start
      const one = yield* Effect.forkChild(host.extensions.callTool("t", {}))
      yield* settle
      yield* TestClock.adjust("1 hour")
      const two = yield* host.extensions.callTool("t", {})
      assert.deepStrictEqual([yield* Fiber.join(one), two].map(({ content }) => content), [
        [{ type: "text", text: "one" }],
        [{ type: "text", text: "two" }]
      ])
      yield* settle
      assert.deepStrictEqual(host.entries, [{ extension: "a", data: null }])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  // E-111 E-112 E-113 E-297
  it.effect("times out with its sentence, sends cancel, and ignores the late reply", () => {
    const a = peer({ tools: [tool("t")] }, (message, self) =>
      message.type === "cancel" ? self.send({ type: "response", id: message.id, entry: "late" }) : Effect.void)
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { response_timeout_seconds: 5 } } })
      yield* host.start
      const call = yield* Effect.forkChild(Effect.flip(host.extensions.callTool("t", {})))
      yield* settle
      yield* TestClock.adjust("4999 millis")
      yield* settle
      assert.isUndefined(call.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      const failed = yield* Fiber.join(call)
      assert.deepStrictEqual([failed.message, failed.seconds], ["extension response timed out", 5])
      yield* settle
      assert.deepStrictEqual(a.heard.at(-1), { type: "cancel", id: "1" })
      assert.deepStrictEqual(host.entries, [])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  // E-299
  it.effect("waits for a reply as long as it takes where the limit is null, unless the asker gives up", () => {
    const a = peer({ tools: [tool("t")] }, (message, self) =>
      message.id === "1" ? Effect.forkDetach(Effect.andThen(Effect.sleep("1 day"), answering({ content: "at last" })(message, self))) : Effect.void)
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { response_timeout_seconds: null } } })
      yield* host.start
      const call = yield* Effect.forkChild(host.extensions.callTool("t", {}))
      yield* settle
      yield* TestClock.adjust("1 day")
      assert.deepStrictEqual(yield* Fiber.join(call), { content: [{ type: "text", text: "at last" }], isError: false })
      const given = yield* Effect.forkChild(host.extensions.callTool("t", {}))
      yield* settle
      yield* TestClock.adjust("1 hour")
      yield* Fiber.interrupt(given)
      yield* settle
      assert.deepStrictEqual(a.heard.at(-1), { type: "cancel", id: "2" })
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  // E-275
  it.effect.each<{ readonly kind: string; readonly send: (host: Host) => Effect.Effect<unknown, unknown> }>([
    { kind: "tool", send: ({ extensions }) => extensions.callTool("t", {}) },
    { kind: "command", send: ({ extensions }) => extensions.runCommand("c", "") },
    { kind: "event", send: ({ hooks }) => hooks.run("turn_start", { session_id: "s", workspace: "/" }) }
  ])("a $kind is waited for until its reply, or to the end of its budget", ({ kind, send }) => {
    const a = peer({ tools: [tool("t")], commands: [{ name: "c" }], events: ["turn_start"] }, (message, self) =>
      message.id === "1" ? Effect.forkDetach(Effect.andThen(Effect.sleep("4 seconds"), answering({})(message, self))) : Effect.void)
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { response_timeout_seconds: 5 } } })
      yield* host.start
      for (const seconds of [4, 5]) {
        const sending = yield* Effect.forkChild(Effect.exit(send(host)))
        yield* settle
        yield* TestClock.adjust(seconds * 1000 - 1)
        yield* settle
        assert.isUndefined(sending.pollUnsafe())
        yield* TestClock.adjust("1 millis")
        yield* Fiber.join(sending)
      }
      assert.deepStrictEqual(a.heard.slice(1).map(({ type, id }) => [type, id]), [[kind, "1"], [kind, "2"], ["cancel", "2"]])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("a command carries what it may want to know of the session", () => {
    const a = peer({ commands: [{ name: "c" }] }, answering({
      message: "m",
      session: { action: "new", editor_text: "draft" },
      reload: true,
      prompt: 1
    }))
    const context = { mode: "tui", workspace: "/w", session_id: "s1", provider: "p", model: "m", messages: [{ role: "user", content: "hi" }] }
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* host.start
      assert.deepStrictEqual(yield* host.extensions.runCommand("c", "x", context), {
        message: "m",
        session: { action: "new", editor_text: "draft" },
        reload: true
      })
      assert.deepStrictEqual(a.heard[1], { type: "command", id: "1", name: "c", arguments: "x", context })
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  // E-045 E-111 E-112
  it.effect("interrupting sends cancel for a tool, a command and an event", () => {
    const a = peer({ tools: [tool("t")], commands: [{ name: "c" }], events: ["tool_call", "turn_start"] })
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { response_timeout_seconds: null } } })
      yield* host.start
      const fibers = [
        yield* Effect.forkChild(Effect.asVoid(host.extensions.callTool("t", {}))),
        yield* Effect.forkChild(Effect.asVoid(host.extensions.runCommand("c", ""))),
        yield* Effect.forkChild(Effect.asVoid(host.hooks.run("tool_call", { tool: "x", arguments: {} }))),
        yield* Effect.forkChild(Effect.asVoid(host.hooks.run("turn_start", { session_id: "s", workspace: "/" })))
      ]
      yield* settle
      for (const fiber of fibers) yield* Fiber.interrupt(fiber)
      yield* settle
      const cancels = a.heard.filter((message) => message.type === "cancel").map((message) => message.id)
      assert.deepStrictEqual(cancels, ["1", "2", "3", "4"])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("a tool_update starts the budget afresh and reaches the caller", () => {
    const a = peer({ tools: [tool("t")] }, (message, self) =>
      message.type === "tool"
        ? Effect.forkDetach(Effect.gen(function*() {
          for (let n = 1; n <= 3; n++) {
            yield* Effect.sleep("4 seconds")
            yield* self.send({ type: "tool_update", id: message.id, content: `step ${n}` })
          }
          yield* Effect.sleep("4 seconds")
          yield* self.send({ type: "response", id: message.id, content: "done" })
        }))
        : Effect.void)
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { response_timeout_seconds: 5 } } })
      yield* host.start
      const steps: Array<string> = []
      const call = yield* Effect.forkChild(host.extensions.callTool("t", {}, (text) => Effect.sync(() => void steps.push(text))))
      for (let n = 0; n < 4; n++) {
        yield* settle
        yield* TestClock.adjust("4 seconds")
      }
      assert.deepStrictEqual((yield* Fiber.join(call)).content, [{ type: "text", text: "done" }])
      assert.deepStrictEqual(steps, ["step 1", "step 2", "step 3"])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("a request over max_line_bytes is not sent", () => {
    const a = peer({ tools: [tool("t")] }, answering({ content: "ok" }))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { max_line_bytes: 400 } } })
      yield* host.start
      const error = yield* Effect.flip(host.extensions.callTool("t", { x: "é".repeat(200) }))
      assert.deepStrictEqual([error.reason, error.message], ["too_large", "the request is too large for extension 'a': the tool t is over its max_line_bytes"])
      assert.isFalse((yield* host.extensions.callTool("t", {})).isError)
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  // E-041
  it.effect("the frame tap sees every line both ways", () => {
    const a = peer({ tools: [tool("t")] }, answering({ content: "ok" }))
    const frames: Array<Frame> = []
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* host.start.pipe(Effect.provideService(FrameTap, (frame) => Effect.sync(() => void frames.push(frame))))
      yield* host.extensions.callTool("t", {})
      yield* host.extensions.stop
      const seen = frames.map(({ direction, line }) => `${direction} ${JSON.parse(line).type}`)
      assert.deepStrictEqual(seen.sort(), ["in register", "in response", "out initialize", "out shutdown", "out tool"])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })
})

describe("crash", () => {
  // E-045 E-277
  it.effect("fails what is pending at once, tells it once, and starts afresh with new ids", () => {
    const a = peer({ tools: [tool("t")] }, (message, self) =>
      message.type !== "tool" ? Effect.void : a.heard.length === 2 ? Effect.fail("boom") : answering({ content: "ok" })(message, self))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { response_timeout_seconds: null } } })
      yield* host.start
      const failed = yield* Effect.flip(host.extensions.callTool("t", {}))
      assert.strictEqual(failed.message, "extension 'a' exited before responding")
      yield* settle
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), ["extension 'a' exited with code 1 unexpectedly"])
      const next = yield* Effect.forkChild(host.extensions.callTool("t", {}))
      yield* settle
      yield* TestClock.adjust("250 millis")
      assert.isFalse((yield* Fiber.join(next)).isError)
      assert.deepStrictEqual(a.heard.map(({ id, type }) => [type, id]), [
        ["initialize", undefined],
        ["tool", "1"],
        ["initialize", undefined],
        ["tool", "1"]
      ])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect.each([
    { limit: 30, millis: 2_000 },
    { limit: 1, millis: 1_000 }
  ])("a request waits for one that restarts slowly, at most its budget of $limit s and at most 2 s", ({ limit, millis }) => {
    const a = peer({ tools: [tool("t")] }, () => Effect.fail("boom"))
    let lives = 0
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { response_timeout_seconds: limit } } })
      yield* host.start
      yield* settle
      yield* TestClock.adjust("300 millis")
      yield* settle
      assert.strictEqual(lives, 2)
      const call = yield* Effect.forkChild(Effect.flip(host.extensions.callTool("t", {})))
      yield* settle
      // The second life started somewhere in those 300 ms and has its own limit; the request's begins now.
      yield* TestClock.adjust(limit === 1 ? 600 : millis - 1)
      yield* settle
      assert.isUndefined(call.pollUnsafe())
      yield* TestClock.adjust(limit === 1 ? 400 : 1)
      assert.strictEqual((yield* Fiber.join(call)).reason, "unavailable")
      yield* TestClock.adjust("3 seconds")
    }).pipe(Effect.provide(memory({ a: (self, launch) => ++lives === 1 ? a.script(self, launch) : Effect.forever(self.receive) })))
  })

  it.effect("quarantine takes the tools of one that keeps crashing away, until it is restarted by hand", () => {
    const a = peer({ tools: [tool("t")], events: ["tool_call"] }, (message) =>
      message.type === "event" ? Effect.fail("boom") : Effect.void)
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { restart: true } } })
      yield* host.start
      for (let n = 0; n < 4; n++) {
        const call = yield* Effect.forkChild(host.hooks.run("tool_call", { tool: "x", arguments: {} }))
        yield* settle
        yield* TestClock.adjust("2 seconds")
        assert.strictEqual((yield* Fiber.join(call))._tag, "Continue")
      }
      yield* settle
      assert.deepStrictEqual(yield* host.extensions.tools, [])
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), [
        "extension 'a' exited with code 1 unexpectedly",
        "extension 'a' exited with code 1 too often and stays off until it is restarted by hand"
      ])
      assert.isFalse(yield* host.extensions.restart("b"))
      assert.isTrue(yield* host.extensions.restart("a"))
      yield* settle
      assert.deepStrictEqual((yield* host.extensions.tools).map(({ name }) => name), ["t"])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })

  it.effect("`restart: false` means never again", () => {
    const a = peer({ tools: [tool("t")] }, () => Effect.fail("boom"))
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { restart: false } } })
      yield* host.start
      yield* settle
      yield* TestClock.adjust("1 minute")
      yield* settle
      assert.deepStrictEqual(a.types(), ["initialize"])
      assert.deepStrictEqual(yield* host.extensions.tools, [])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })
})

describe("stopping", () => {
  // E-114 E-116
  it.effect("says shutdown, closes the input, and waits at most 2 s, for all at once", () => {
    const polite = peer({})
    const ended: Array<string> = []
    const deaf = (name: string): Parameters<typeof memory>[0][string] => (self) =>
      Effect.gen(function*() {
        yield* Effect.addFinalizer(() => Effect.sync(() => ended.push(name)))
        yield* self.send({ type: "register", commands: [] })
        return yield* Effect.never
      })
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {}, b: {}, c: {} } })
      yield* host.start
      const stopping = yield* Effect.forkChild(host.extensions.stop)
      yield* settle
      assert.deepStrictEqual(polite.types(), ["initialize", "shutdown"])
      yield* TestClock.adjust("1999 millis")
      yield* settle
      assert.isUndefined(stopping.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(stopping)
      assert.deepStrictEqual(ended.sort(), ["b", "c"])
      assert.deepStrictEqual(host.diagnostics, [])
    }).pipe(Effect.provide(memory({ a: polite.script, b: deaf("b"), c: deaf("c") })))
  })

  it.effect("starting again replaces every extension with a fresh initialize", () => {
    const a = peer({})
    return Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: {} } })
      yield* host.start
      yield* host.start
      yield* settle
      assert.deepStrictEqual(a.types(), ["initialize", "shutdown", "initialize"])
    }).pipe(Effect.provide(memory({ a: a.script })))
  })
})
