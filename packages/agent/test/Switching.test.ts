import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Option, Stream } from "effect"
import * as LanguageModel from "effect/ai/LanguageModel"
import { TestClock } from "effect/testing"
import type { Session } from "@nimlet/session"
import { type Answers, calls, hangsAfter, noExtensions, type RigOptions, says, settle, tool, withAgent } from "./Rig.ts"

const extensions = () => Effect.succeed(noExtensions)
const payloadsOf = (fired: ReadonlyArray<{ readonly event: string; readonly payload: object }>, ...names: ReadonlyArray<string>) =>
  fired.flatMap(({ event, payload }) => names.includes(event) ? [[event, payload]] : [])
const said = (entries: ReadonlyArray<{ readonly type: string; readonly content?: ReadonlyArray<object> }>) =>
  entries.flatMap((entry) => entry.type === "user" ? [entry.content?.flatMap((part) => "text" in part ? [part.text] : []).join()] : [])
const rig = (options: Partial<RigOptions> = {}): RigOptions => ({ replies: () => says("ok"), persist: true, agent: { extensions }, ...options })
const around = ["session_before_switch", "session_shutdown", "session_end", "stop", "start", "session_start"]
const order = (log: ReadonlyArray<string>) => log.filter((name) => around.includes(name))

describe("a new session", () => {
  // E-163 E-166 X-047 X-078 X-081
  it.effect("is entered when the old one was left with its extensions, and these are started for it", () => {
    const started: Array<string> = []
    return withAgent(rig({ start: ({ sessionId }) => Effect.sync(() => (started.push(sessionId), {})) }), ({ agent, entries, fired, log, prompt, session }) =>
      Effect.gen(function*() {
        yield* prompt("first")
        const { session: next } = yield* agent.newSession
        assert.deepStrictEqual(order(log), ["start", "session_start", "session_before_switch", "session_shutdown", "session_end", "stop", "start", "session_start"])
        const old = { session_id: session.id, workspace: "/w" }
        assert.deepStrictEqual(payloadsOf(fired, "session_before_switch", "session_shutdown", "session_end", "session_start").slice(1), [
          ["session_before_switch", { ...old, reason: "new", target_session_id: "" }],
          ["session_shutdown", { ...old, reason: "new", target_session_id: "" }],
          ["session_end", { ...old, reason: "new" }],
          ["session_start", { session_id: next.id, workspace: "/w", provider: "test", model: "model-1", thinking: "", reason: "new", previous_session_file: Option.getOrUndefined(session.path) }]
        ])
        assert.deepStrictEqual(started, [session.id, next.id])
        assert.strictEqual((yield* agent.session).id, next.id)
        assert.notStrictEqual(next.id, session.id)
        yield* prompt("second")
        assert.deepStrictEqual(said(yield* entries), ["second"])
        assert.strictEqual((yield* Effect.flip(session.append({ type: "name", name: "x" })))._tag, "SessionUnwritable")
      }))
  })

  it.effect("has nothing that was granted in the one before", () => {
    let asked = 0
    return withAgent(rig({
      replies: ({ prompt: { content } }) => content.at(-1)?.role === "user" ? calls({ name: "bash", args: { command: "x" } }) : says("done"),
      tools: [tool("bash")],
      frontend: { approve: () => Effect.sync(() => (asked++, { decision: "session" })) }
    }), ({ agent, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("a")
        yield* prompt("b")
        assert.strictEqual(asked, 1)
        yield* agent.newSession
        yield* prompt("c")
        assert.strictEqual(asked, 2)
      }))
  })

  it.effect("is not entered when an extension says no: nothing happens but that the reason is told", () =>
    withAgent(rig({ answers: { session_before_switch: () => ({ _tag: "Blocked", reason: "unsaved work", blockedBy: ["x"] }) as never } }), ({ agent, log, session }) =>
      Effect.gen(function*() {
        const refused = yield* Effect.flip(agent.newSession)
        assert.deepInclude({ ...refused }, { blocked: true, why: "unsaved work" })
        assert.deepStrictEqual(order(log), ["start", "session_start", "session_before_switch"])
        assert.strictEqual((yield* agent.session).id, session.id)
      })))
})

describe("resuming", () => {
  // E-164 E-266 X-079
  it.effect("goes on with a session and hands extensions back what they stored there", () => {
    const stored: Array<ReadonlyArray<unknown>> = []
    return withAgent(rig({ start: ({ entries }) => Effect.sync(() => (stored.push(entries?.("keeper") ?? []), {})) }), ({ agent, asked, entries, fired, prompt, session }) =>
      Effect.gen(function*() {
        yield* prompt("first")
        yield* session.append({ type: "extension", extension: "keeper", data: { n: 1 } })
        const { session: other } = yield* agent.newSession
        yield* prompt("other")
        const { session: again } = yield* agent.resume(session.id)
        assert.strictEqual(again.id, session.id)
        assert.deepStrictEqual(payloadsOf(fired, "session_before_switch", "session_shutdown", "session_end").slice(3).map(([, payload]) => payload), [
          { session_id: other.id, workspace: "/w", reason: "resume", target_session_id: session.id },
          { session_id: other.id, workspace: "/w", reason: "resume", target_session_id: session.id },
          { session_id: other.id, workspace: "/w", reason: "resume" }
        ])
        assert.deepStrictEqual(stored, [[], [], [{ n: 1 }]])
        yield* prompt("second")
        assert.deepStrictEqual(said(yield* entries), ["first", "second"])
        assert.include(JSON.stringify(asked.at(-1)?.prompt.content), "first")
        // Without an id: the latest other one.
        assert.strictEqual((yield* agent.resume()).session.id, other.id)
      }))
  })

  it.effect("of what cannot be opened changes nothing", () =>
    withAgent(rig(), ({ agent, entries, log, prompt, session }) =>
      Effect.gen(function*() {
        yield* prompt("first")
        const before = order(log)
        assert.include((yield* Effect.flip(agent.resume("no-such"))).message, "no-such")
        assert.include((yield* Effect.flip(agent.resume(session.id))).message, "open already")
        assert.include((yield* Effect.flip(agent.resume())).message, "no other session")
        assert.deepStrictEqual(order(log).filter((name) => name !== "session_before_switch"), before)
        assert.isTrue((yield* prompt("second")).success)
        assert.deepStrictEqual(said(yield* entries), ["first", "second"])
      })))

  it.effect("restores who answered there, and a new session keeps who answers now", () => {
    const other = Layer.effect(LanguageModel.LanguageModel, LanguageModel.make({ generateText: () => Effect.die("no"), streamText: () => { throw new Error("not asked") } }))
    return withAgent(rig({
      agent: { extensions, modelOf: (session: Session) => Effect.map(session.entries, (entries) => entries.length > 0 ? { provider: "other", model: "m-2", layer: other } : undefined) }
    }), ({ agent, fired, prompt, session }) =>
      Effect.gen(function*() {
        yield* prompt("first")
        yield* agent.newSession
        assert.deepStrictEqual(yield* agent.selection, { provider: "test", model: "model-1" })
        yield* agent.resume(session.id)
        assert.deepStrictEqual(yield* agent.selection, { provider: "other", model: "m-2" })
        assert.deepInclude(payloadsOf(fired, "session_start").at(-1)?.[1] as object, { provider: "other", model: "m-2" })
      }))
  })
})

describe("a fork", () => {
  // E-165 X-080
  it.effect("is a session of its own with what stood before a message, and gives that message back", () =>
    withAgent(rig(), ({ agent, entries, fired, prompt, session }) =>
      Effect.gen(function*() {
        yield* prompt("one")
        yield* prompt("two")
        const second = (yield* entries)[2]
        const { session: forked, text } = yield* agent.fork(2)
        assert.strictEqual(text, "two")
        assert.deepStrictEqual(said(yield* entries), ["one"])
        assert.deepStrictEqual(payloadsOf(fired, "session_before_switch")[0]?.[1], { session_id: session.id, workspace: "/w", reason: "fork", target_session_id: session.id, entry_id: second?.entry_id, position: "before" })
        assert.isTrue(Option.isSome(forked.path))
        yield* prompt("three")
        yield* agent.resume(session.id)
        assert.deepStrictEqual(said(yield* entries), ["one", "two"])
        assert.include((yield* Effect.flip(agent.fork(3))).message, "no message 3")
      })))
})

describe("reloading", () => {
  //
  it.effect("starts extensions anew in the same session, and asks only families that take that for an end and a start", () =>
    withAgent(rig(), ({ agent, entries, fired, hookOptions, log, prompt, session }) =>
      Effect.gen(function*() {
        yield* prompt("first")
        const before = fired.length
        yield* agent.reload
        assert.deepStrictEqual(order(log), ["start", "session_start", "session_shutdown", "session_end", "start", "session_start"])
        const about = { session_id: session.id, workspace: "/w" }
        assert.deepStrictEqual(fired.slice(before).map(({ event, payload }) => [event, payload]), [
          ["session_shutdown", { ...about, reason: "reload" }],
          ["session_end", { ...about, reason: "reload" }],
          ["session_start", { ...about, provider: "test", model: "model-1", thinking: "", reason: "reload" }]
        ])
        assert.deepStrictEqual(hookOptions.slice(before), [{ reloading: true }, { reloading: true }, { reloading: true }])
        yield* prompt("second")
        assert.deepStrictEqual(said(yield* entries), ["first", "second"])
      })))

  it.effect("into a state in which a required extension does not run lets nothing run until it does", () => {
    let missing: ReadonlyArray<{ readonly extension: string; readonly reason: string }> = []
    return withAgent(rig({ start: () => Effect.sync(() => ({ missing })) }), ({ agent, asked, events, prompt }) =>
      Effect.gen(function*() {
        missing = [{ extension: "guard", reason: "it exited" }]
        assert.include((yield* Effect.flip(agent.reload)).message, "guard")
        assert.isFalse((yield* prompt("go")).success)
        assert.strictEqual(asked.length, 0)
        assert.deepStrictEqual(events.map(({ type }) => type), ["message", "run_start", "error", "run_end"])
        missing = []
        assert.isTrue((yield* prompt("/reload")).success)
        assert.isTrue((yield* prompt("go")).success)
      }))
  })
})

describe("a required extension that does not run", () => {
  it.effect("keeps the agent from being made, and what did start is stopped", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const options = rig({
        start: () => Effect.sync(() => (log.push("started"), { missing: [{ extension: "guard", reason: "no such file" }] })),
        answers: { session_start: () => Effect.sync(() => (log.push("told"), {})) }
      })
      const error = yield* Effect.flip(withAgent(options, () => Effect.void))
      assert.deepStrictEqual(error.missing, [{ extension: "guard", reason: "no such file" }])
      assert.include(error.message, "guard")
      assert.deepStrictEqual(log, ["started"])
    }))
})

describe("a model that is chosen late", () => {
  const layer = Layer.effect(LanguageModel.LanguageModel, LanguageModel.make({ generateText: () => Effect.die("no"), streamText: () => Stream.die("not asked") }))

  it.effect("is chosen when extensions have started, and they are told who it is", () => {
    const order: Array<string> = []
    return withAgent(rig({
      start: () => Effect.sync(() => (order.push("start"), {})),
      choose: Effect.sync(() => (order.push("choose"), { provider: "offered", model: "m-3", layer }))
    }), ({ agent, fired }) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(order, ["start", "choose"])
        assert.deepInclude(fired[0]?.payload, { provider: "offered", model: "m-3" })
        assert.deepStrictEqual(yield* agent.selection, { provider: "offered", model: "m-3" })
      }))
  })

  it.effect("and cannot be, ends the start; no extension was told of a session", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const options = rig({
        choose: Effect.die(new Error("no such provider")),
        answers: { session_start: () => Effect.sync(() => (log.push("told"), {})) }
      })
      assert.isTrue(Exit.hasDies(yield* Effect.exit(withAgent(options, () => Effect.void))))
      assert.deepStrictEqual(log, [])
    }))
})

describe("leaving", () => {
  const never: Answers = { session_shutdown: () => Effect.never, session_end: () => Effect.never }

  //
  it.effect("tells of the quit, then of the session's end, then stops", () =>
    Effect.gen(function*() {
      const seen = yield* withAgent(rig(), ({ fired, log }) => Effect.succeed({ fired, log }))
      assert.deepStrictEqual(order(seen.log), ["start", "session_start", "session_shutdown", "session_end", "stop"])
      const [shutdown, end] = payloadsOf(seen.fired, "session_shutdown", "session_end").map(([, payload]) => payload as { readonly reason?: string })
      assert.strictEqual(shutdown?.reason, "quit")
      assert.notProperty(end, "reason")
    }))

  it.effect("waits 2 s in all for who does not answer, and session_end is sent all the same", () =>
    Effect.gen(function*() {
      let log: ReadonlyArray<string> = []
      const closing = yield* Effect.forkChild(withAgent(rig({ answers: never, persist: false }), (made) => Effect.sync(() => (log = made.log))))
      yield* settle
      assert.deepStrictEqual(order(log).slice(2), ["session_shutdown"])
      yield* TestClock.adjust("1500 millis")
      assert.deepStrictEqual(order(log).slice(2), ["session_shutdown", "session_end"])
      yield* TestClock.adjust("499 millis")
      assert.isUndefined(closing.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(closing)
      assert.strictEqual(log.at(-1), "stop")
    }))
})

describe("leaving in the middle of a run", () => {
  const mute = () => Effect.never
  const rude: Answers = { turn_end: mute, agent_settled: mute, session_shutdown: mute, session_end: mute }

  it.effect("waits for extensions 2 s in all: for the turn's end, the quit and the session's end together", () =>
    Effect.gen(function*() {
      let log: ReadonlyArray<string> = []
      const program = yield* Effect.forkChild(withAgent(rig({ replies: [hangsAfter("half")], answers: rude, persist: false }), (made) => {
        log = made.log
        return made.prompt("go")
      }))
      yield* settle
      const leaving = yield* Effect.forkChild(Fiber.interrupt(program))
      yield* settle
      assert.deepStrictEqual(log.slice(-2), ["turn_end", "agent_settled"])
      yield* TestClock.adjust("1 second")
      assert.strictEqual(log.at(-1), "session_shutdown")
      yield* TestClock.adjust("750 millis")
      assert.strictEqual(log.at(-1), "session_end")
      yield* TestClock.adjust("249 millis")
      assert.isUndefined(leaving.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(leaving)
      assert.strictEqual(log.at(-1), "stop")
    }))

  it.effect("has its 2 s again when the run was stopped longer ago", () =>
    Effect.gen(function*() {
      let log: ReadonlyArray<string> = []
      const program = yield* Effect.forkChild(withAgent(rig({ replies: [hangsAfter("half")], answers: rude, persist: false }), (made) => {
        log = made.log
        return Effect.gen(function*() {
          const running = yield* Effect.forkChild(made.prompt("go"))
          yield* settle
          yield* Fiber.interrupt(running)
          yield* Effect.sleep("1 second")
        })
      }))
      yield* settle
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(log.at(-1), "session_shutdown")
      yield* TestClock.adjust("1999 millis")
      assert.isUndefined(program.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(program)
      assert.strictEqual(log.at(-1), "stop")
    }))
})

describe("an interrupt", () => {
  it.effect("while an extension is asked whether to leave, leaves nothing changed", () =>
    Effect.gen(function*() {
      const reached = yield* Deferred.make<void>()
      yield* withAgent(rig({ answers: { session_before_switch: () => Effect.andThen(Deferred.succeed(reached, undefined), Effect.never) } }), ({ agent, log, prompt, session }) =>
        Effect.gen(function*() {
          const switching = yield* Effect.forkChild(agent.newSession)
          yield* Deferred.await(reached)
          yield* Fiber.interrupt(switching)
          assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(switching)))
          assert.strictEqual((yield* agent.session).id, session.id)
          assert.deepStrictEqual(order(log), ["start", "session_start", "session_before_switch"])
          assert.isTrue((yield* prompt("go on")).success)
        }))
    }))

  it.effect("while the old session is left, or the new one's extensions start, ends in the new session, whole", () =>
    Effect.gen(function*() {
      for (const phase of ["session_shutdown", "start", "session_start"] as const) {
        const reached = yield* Deferred.make<void>()
        const go = yield* Deferred.make<void>()
        let first = true
        const hold = Effect.suspend(() => {
          if (first && phase !== "session_shutdown") {
            first = false
            return Effect.succeed({})
          }
          return Effect.as(Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(go)), {})
        })
        yield* withAgent(rig(phase === "start" ? { start: () => hold } : { answers: { [phase]: () => hold } }), ({ agent, entries, log, prompt, session }) =>
          Effect.gen(function*() {
            yield* prompt("old")
            const switching = yield* Effect.forkChild(agent.newSession)
            yield* Deferred.await(reached)
            const stopping = yield* Effect.forkChild(Fiber.interrupt(switching))
            yield* settle
            // Only the wait for extensions is given up.
            assert.strictEqual(stopping.pollUnsafe() === undefined, phase === "session_shutdown", phase)
            const running = yield* Effect.forkChild(prompt("new"))
            yield* settle
            assert.strictEqual(log.filter((name) => name === "input").length, 1, "nothing runs before the extensions have started")
            yield* Deferred.succeed(go, undefined)
            yield* Fiber.join(stopping)
            assert.isTrue((yield* Fiber.join(running)).success)
            assert.notStrictEqual((yield* agent.session).id, session.id)
            assert.deepStrictEqual(said(yield* entries), ["new"])
            assert.deepStrictEqual(order(log).slice(-5), ["session_shutdown", "session_end", "stop", "start", "session_start"])
          }))
      }
    }))
})

describe("another model", () => {
  it.effect("answers from the next run on; the session notes it and extensions are told", () => {
    const words = [{ type: "text-start", id: "t" }, { type: "text-delta", id: "t", delta: "from the other" }, { type: "text-end", id: "t" }] as const
    const other = Layer.effect(LanguageModel.LanguageModel, LanguageModel.make({
      generateText: () => Effect.die("no"),
      streamText: () => Stream.fromIterable([...words, { type: "finish", reason: "stop", usage: { inputTokens: { uncached: 1, total: 1, cacheRead: undefined, cacheWrite: undefined }, outputTokens: { total: 1, text: undefined, reasoning: undefined } }, response: undefined } as const])
    }))
    return withAgent(rig(), ({ access, agent, entries, fired, prompt, session }) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* access().usage).limit, 128_000)
        yield* agent.select({ provider: "other", model: "m-2", thinking: "high", contextWindow: 5_000, layer: other })
        assert.strictEqual((yield* access().usage).limit, 5_000)
        assert.strictEqual((yield* prompt("hi")).text, "from the other")
        assert.deepStrictEqual(payloadsOf(fired, "session_settings_changed"), [
          ["session_settings_changed", { session_id: session.id, workspace: "/w", provider: "other", model: "m-2", thinking: "high" }]
        ])
        const [selection, , answer] = yield* entries
        assert.deepInclude(selection, { type: "selection", provider: "other", model: "m-2" })
        assert.deepInclude(answer, { provider: "other", requested_model: "m-2" })
        assert.deepStrictEqual(yield* agent.selection, { provider: "other", model: "m-2", thinking: "high", contextWindow: 5_000 })
      }))
  })
})

describe("thinking", () => {
  it.effect("is as much as the model does by itself until somebody says so; it is noted, told, and kept for the next model", () =>
    withAgent(rig({ agent: { extensions, thinkingLevels: ["low", "high"] } }), ({ agent, entries, fired }) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* agent.thinking, { levels: ["low", "high"] })
        assert.deepStrictEqual(yield* agent.setThinking("medium"), { wanted: "medium", level: "low", levels: ["low", "high"] })
        assert.deepStrictEqual(yield* agent.thinking, { wanted: "medium", level: "low", levels: ["low", "high"] })
        yield* agent.select({ provider: "other", model: "m-2", thinkingLevels: ["off", "medium"], layer: Layer.succeed(LanguageModel.LanguageModel, {} as never) })
        assert.deepStrictEqual(yield* agent.thinking, { wanted: "medium", level: "medium", levels: ["off", "medium"] })
        assert.deepStrictEqual(payloadsOf(fired, "session_settings_changed").map(([, payload]) => (payload as { thinking: string }).thinking), ["low", "medium"])
        const noted = (yield* entries).flatMap((entry) => entry.type === "selection" ? [entry] : []) as ReadonlyArray<object>
        assert.deepInclude(noted[0], { provider: "test", model: "model-1", thinking: "medium" })
        assert.deepInclude(noted[1], { provider: "other", model: "m-2", thinking: "medium" })
      })))
})
