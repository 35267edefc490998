import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type ExtensionFigures, families } from "@nimlet/extension"
import { commandIn, helpText } from "../src/Commands.ts"
import { extensionList } from "../src/ExtensionList.ts"
import { noExtensions, type RigOptions, says, settle, shape, withAgent } from "./Rig.ts"

const extensions = () => Effect.succeed(noExtensions)
const rig = (options: Partial<RigOptions> = {}): RigOptions => ({ replies: () => says("ok"), persist: true, agent: { extensions }, ...options })
const answersOf = (events: ReadonlyArray<{ readonly type: string }>) =>
  events.flatMap((event) => event.type === "message" && "role" in event && event.role === "assistant" && "content" in event ? [String(event.content)] : [])
const errorsOf = (events: ReadonlyArray<{ readonly type: string }>) =>
  events.flatMap((event) => event.type === "error" && "message" in event ? [String(event.message)] : [])

describe("what was typed", () => {
  it("is a command when it begins with a slash and a name, and a path is none", () => {
    assert.deepStrictEqual(commandIn("/fix  the test \n now "), { name: "fix", args: "the test \n now" })
    assert.deepStrictEqual(commandIn("/FIX"), { name: "FIX", args: "" })
    for (const typed of ["/etc/hosts is what?", "fix /this", "/", "/ x", ""]) assert.isUndefined(commandIn(typed))
  })
})

describe("a built-in command", () => {
  it.effect("runs without the model, under its own run, which is over before the session is left", () => {
    let seen: ReadonlyArray<string> = []
    const tell: { events: ReadonlyArray<{ readonly type: string }> } = { events: [] }
    const onSwitch = () => Effect.sync(() => (seen = tell.events.map(({ type }) => type)))
    return withAgent(rig({ agent: { extensions, onSwitch } }), ({ agent, asked, events, prompt, session }) =>
      Effect.gen(function*() {
        tell.events = events
        const result = yield* prompt("/new")
        assert.strictEqual(seen.at(-1), "run_end")
        const next = yield* agent.session
        assert.isTrue(result.success)
        assert.include(result.text, next.id)
        assert.strictEqual(asked.length, 0)
        assert.deepStrictEqual(shape(events), ["message", "run_start", "message", "run_end"])
        assert.isTrue(events.every((event) => !("session_id" in event) || event.session_id === session.id))
      }))
  })

  it.effect("resumes the latest or a named session, forks before a message, and says what was wrong", () =>
    withAgent(rig(), ({ agent, events, prompt, session }) =>
      Effect.gen(function*() {
        yield* prompt("one")
        yield* prompt("/name My work")
        yield* prompt("/new")
        assert.include((yield* prompt("/resume")).text, "My work")
        assert.strictEqual((yield* agent.session).id, session.id)
        const forked = yield* prompt("/fork 1")
        assert.strictEqual(forked.editorText, "one")
        assert.notStrictEqual((yield* agent.session).id, session.id)
        assert.isTrue((yield* prompt(`/RESUME ${session.id}`)).success)
        for (const wrong of ["/resume nobody", "/fork", "/fork x", "/fork 9"]) assert.isFalse((yield* prompt(wrong)).success, wrong)
        assert.strictEqual(errorsOf(events).length, 4)
        assert.strictEqual((yield* agent.session).id, session.id)
      })))

  it.effect("that an extension blocks says why, and changes nothing", () =>
    withAgent(rig({ answers: { session_before_switch: () => ({ _tag: "Blocked", reason: "finish first", blockedBy: ["x"] }) as never } }), ({ agent, events, prompt, session }) =>
      Effect.gen(function*() {
        assert.isFalse((yield* prompt("/new")).success)
        assert.deepStrictEqual(errorsOf(events), ["finish first"])
        assert.deepStrictEqual(shape(events), ["message", "run_start", "error", "run_end"])
        assert.strictEqual((yield* agent.session).id, session.id)
      })))

  it.effect("gives the session a title that is kept, and tells it", () =>
    withAgent(rig(), ({ entries, events, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("/name")
        yield* prompt("/name The great rewrite")
        yield* prompt("/name")
        const named = yield* entries
        assert.deepStrictEqual(named.map(({ type }) => type), ["name"])
        assert.deepInclude(named[0], { name: "The great rewrite" })
        assert.strictEqual(answersOf(events).at(-1), "The great rewrite")
      })))

  it.effect("writes the session as a page to the file it is given, and over no other", () =>
    withAgent(rig(), ({ entries, events, prompt, session }) =>
      Effect.gen(function*() {
        const folder = mkdtempSync(join(tmpdir(), "export-"))
        yield* prompt("what we said")
        const before = yield* entries
        assert.strictEqual((yield* prompt(`/export ${folder}/page.html`)).text, `The session is written to ${folder}/page.html.`)
        assert.include(readFileSync(join(folder, "page.html"), "utf8"), "<h1>what we said</h1>")
        writeFileSync(join(folder, "mine.html"), "mine")
        assert.isFalse((yield* prompt(`/export ${folder}/mine.html`)).success)
        assert.match(errorsOf(events)[0] ?? "", /mine\.html is there already .*\/export FILE$/)
        assert.strictEqual(readFileSync(join(folder, "mine.html"), "utf8"), "mine")
        // The workspace of the rig is no folder that is there: the page would be in it.
        assert.isFalse((yield* prompt("/export")).success)
        assert.include(errorsOf(events)[1], `/w/nimlet-session-${session.id}.html`)
        assert.deepStrictEqual(yield* entries, before)
      })))

  it.effect("compacts with its instruction", () =>
    withAgent(rig(), ({ events, fired, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("/compact keep the names")
        assert.deepInclude(fired.find(({ event }) => event === "session_before_compact")?.payload, { instruction: "keep the names" })
        assert.deepStrictEqual(answersOf(events), ["Nothing to compact"])
      })))

  it.effect.each([["/compact", {}], ["/small", { small: { session: { action: "compact" }, prompt: "and on" } }]] as const)(
    "fails when a compaction is refused, its own or a command's: %s",
    ([typed, commands]) =>
      withAgent(rig({ commands, answers: { session_before_compact: () => ({ _tag: "Blocked", reason: "not now", blockedBy: ["x"] }) as never } }), ({ asked, events, prompt }) =>
        Effect.gen(function*() {
          assert.isFalse((yield* prompt(typed)).success)
          assert.deepStrictEqual(errorsOf(events), ["Compaction refused: not now"])
          assert.deepStrictEqual(shape(events), ["message", "run_start", "error", "run_end"])
          assert.strictEqual(asked.length, 0)
        }))
  )

  it.effect("reloads, and an extension cannot take its name", () =>
    withAgent(rig({ commands: { reload: { message: "mine" } } }), ({ events, log, prompt }) =>
      Effect.gen(function*() {
        assert.isTrue((yield* prompt("/reload")).success)
        assert.notInclude(answersOf(events)[0], "mine")
        assert.deepStrictEqual(log.filter((name) => ["start", "stop"].includes(name)), ["start", "start"])
      })))

  it.effect("tells how extensions do, restarts one, and lists all commands", () =>
    withAgent(rig({ commands: { greet: {} } }), ({ events, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("/extensions")
        assert.strictEqual(answersOf(events).at(-1), "No extension is running.")
        assert.isFalse((yield* prompt("/extensions restart nobody")).success)
        assert.isFalse((yield* prompt("/extensions stop")).success)
        yield* prompt("/help")
        for (const name of ["/new", "/resume [ID]", "/fork N", "/export [FILE]", "/compact", "/reload", "/extensions", "/greet: (test)"]) assert.include(answersOf(events).at(-1), name)
      })))

  it("lists an extension's command unless it is built in", () => {
    const text = helpText([{ name: "New", description: "", extension: "x" }, { name: "todo", description: "Show it", extension: "x" }])
    assert.include(text, "/todo: Show it (x)")
    assert.strictEqual(text.match(/^\/new/gim)?.length, 1)
  })

  it("shows of an extension what it is and what went wrong", () => {
    const figures: ExtensionFigures = {
      key: "guard",
      folder: "/x",
      family: families[0]!,
      manifest: { name: "guard", command: ["x"] },
      project: false,
      state: "Quarantined",
      pid: undefined,
      restarts: 3,
      startMillis: 41.6,
      registration: { commands: [], tools: [], events: ["tool_call"], modes: [], providers: [] },
      fault: "crashed 4 times in 60 s",
      requests: { open: 0, answered: 2, failed: 1 },
      hookMillis: { p50: 3, p95: 9, latest: [] },
      lateReplies: 0,
      droppedLines: 0,
      unknownEvents: [],
      memoryBytes: undefined
    }
    assert.strictEqual(
      extensionList([figures]),
      `guard: quarantined, ${families[0]!.name}, started in 42 ms, 0 tools, 0 commands, 1 event, 3 restarts, 1 failed request, hooks 3 ms, slowest twentieth 9 ms; crashed 4 times in 60 s`
    )
  })
})

describe("a command of an extension", () => {
  it.effect("is told of the session it was typed in", () =>
    withAgent(rig({ commands: { note: {} }, agent: { extensions, mode: "tui" } }), ({ contexts, prompt, session }) =>
      Effect.gen(function*() {
        yield* prompt("hello")
        yield* prompt("/note")
        assert.deepStrictEqual(contexts, [{
          mode: "tui", workspace: "/w", session_id: session.id, provider: "test", model: "model-1",
          messages: [{ role: "user", content: "hello" }, { role: "assistant", content: "ok" }]
        }])
      })))

  it.effect("has its reply carried out in order: message, session, reload, prompt", () =>
    withAgent(rig({ commands: { go: { message: "off we go", session: { action: "new", editor_text: "draft" }, reload: true, prompt: "hi" } } }), ({ agent, entries, events, log, prompt, session }) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* prompt("/go")).text, "off we go\n\nok")
        const next = yield* agent.session
        assert.notStrictEqual(next.id, session.id)
        assert.deepStrictEqual(shape(events), ["message", "run_start", "message", "run_end", "message", "run_start", "step_start", "message", "step_end", "run_end"])
        assert.deepStrictEqual(answersOf(events), ["off we go", "ok"])
        // A session action has just started extensions anew: they are not started once more.
        assert.strictEqual(log.filter((name) => name === "start").length, 2)
        assert.deepStrictEqual((yield* entries).map(({ type }) => type), ["user", "assistant"])
      })))

  it.effect("fills the composer, reloads, compacts, switches and forks as its reply says", () =>
    withAgent(rig({
      commands: {
        edit: { session: { editor_text: "a draft" } },
        again: { reload: true },
        small: { session: { action: "compact", instruction: "briefly" } },
        back: { session: { action: "fork", message: 1 } }
      }
    }), ({ agent, fired, log, prompt, session }) =>
      Effect.gen(function*() {
        yield* prompt("one")
        assert.strictEqual((yield* prompt("/edit")).editorText, "a draft")
        assert.isTrue((yield* prompt("/again")).success)
        assert.strictEqual(log.filter((name) => name === "start").length, 2)
        assert.isTrue((yield* prompt("/small")).success)
        assert.deepInclude(fired.find(({ event }) => event === "session_before_compact")?.payload, { instruction: "briefly" })
        assert.strictEqual((yield* prompt("/back")).editorText, "one")
        assert.notStrictEqual((yield* agent.session).id, session.id)
      })))

  it.effect("ends where its session action was refused", () =>
    withAgent(rig({
      commands: { go: { session: { action: "new", editor_text: "draft" }, reload: true, prompt: "hi" }, odd: { session: { action: "switch" }, prompt: "hi" } },
      answers: { session_before_switch: () => ({ _tag: "Blocked", reason: "no", blockedBy: ["x"] }) as never }
    }), ({ asked, events, log, prompt }) =>
      Effect.gen(function*() {
        const result = yield* prompt("/go")
        assert.isFalse(result.success)
        assert.notProperty(result, "editorText")
        assert.isFalse((yield* prompt("/odd")).success)
        assert.deepStrictEqual(errorsOf(events)[0], "no")
        assert.strictEqual(asked.length, 0)
        assert.strictEqual(log.filter((name) => name === "start").length, 1)
      })))

  it.effect("that fails or is interrupted says so, in its run", () =>
    Effect.gen(function*() {
      yield* withAgent(rig(), ({ events, prompt }) =>
        Effect.gen(function*() {
          assert.isFalse((yield* prompt("/nobody")).success)
          assert.deepStrictEqual(shape(events), ["message", "run_start", "error", "run_end"])
          assert.include(errorsOf(events)[0], "/nobody")
        }))
      yield* withAgent(rig({ answers: { session_before_switch: () => Effect.never } }), ({ events, prompt }) =>
        Effect.gen(function*() {
          const running = yield* Effect.forkChild(prompt("/new"))
          yield* settle
          yield* Fiber.interrupt(running)
          assert.deepStrictEqual(shape(events), ["message", "run_start", "error", "run_end"])
          assert.deepStrictEqual(errorsOf(events), ["Interrupted"])
        }))
    }))
})

describe("words that the model is to read", () => {
  it.effect("`/init` has it look around and write AGENTS.md, heeding a wish", () =>
    withAgent(rig(), ({ asked, events, prompt }) =>
      Effect.gen(function*() {
        assert.isTrue((yield* prompt("/init in German")).success)
        assert.strictEqual(asked.length, 1)
        assert.match(JSON.stringify(asked[0]?.prompt), /AGENTS\.md.*in German/)
        assert.deepStrictEqual(events.flatMap((event) => event.type === "run_end" && "followed" in event ? [event.followed] : []), [true])
      })))

  it.effect("pictures go along with words, and with those of an extension too", () =>
    withAgent(rig(), ({ agent, session }) =>
      Effect.gen(function*() {
        const attached = [{ type: "image", mimeType: "image/png", data: "AAAA" }] as const
        yield* agent.prompt({ typed: "what is [image 1]?", attached })
        yield* agent.prompt({ typed: "/new is no command here", literal: true, attached })
        const said = (yield* session.entries).flatMap((entry) => entry.type === "user" && "role" in entry ? [entry.content] : [])
        assert.deepStrictEqual(said.map((content) => typeof content === "string" ? [] : content.filter(({ type }) => type === "image")), [[...attached], [...attached]])
      })))
})
