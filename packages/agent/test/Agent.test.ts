import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import * as AiError from "effect/ai/AiError"
import { TestClock } from "effect/testing"
import type { JsonObject } from "@nimlet/protocol"
import { textResult } from "@nimlet/tools"
import { calls, gauge, hangsAfter, refuses, says, settle, shape, tool, withAgent } from "./Rig.ts"

const textsOf = (results: ReadonlyArray<{ readonly type: string }>) =>
  results.flatMap((entry) => entry.type === "tool_result" && "output" in entry ? [entry.output] : [])

describe("Agent", () => {
  it.effect("runs a turn without tools, with every record in its place", () =>
    withAgent({ replies: [says("hello")] }, ({ entries, events, prompt }) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* prompt("hi"), { success: true, text: "hello" })
        assert.deepStrictEqual(shape(events), ["message", "run_start", "step_start", "message", "step_end", "run_end"])
        const end = events.find((event) => event.type === "step_end")
        assert.deepStrictEqual(end?.usage, { input_tokens: 5, output_tokens: 7, cache_read_tokens: 2 })
        assert.deepStrictEqual((yield* entries).map((entry) => entry.type), ["user", "assistant"])
      })))

  // J-005
  it.effect("puts piped text before what was typed", () =>
    withAgent({ replies: [says("ok")] }, ({ asked, events, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("review this", "the diff")
        const start = events.find((event) => event.type === "run_start")
        assert.strictEqual(start?.prompt, "the diff\n\nreview this")
        assert.include(JSON.stringify(asked[0]?.prompt.content.at(-1)), "the diff")
      })))

  // E-159 E-160 E-196
  it.effect("goes on with the results of calls until the model calls nothing more", () =>
    withAgent({ replies: [calls({ name: "write", args: { path: "x" } }), says("done")], tools: [tool("write")] }, ({ asked, events, fired, prompt }) =>
      Effect.gen(function*() {
        assert.isTrue((yield* prompt("go")).success)
        assert.deepStrictEqual(fired.map(({ event }) => event), [
          "session_start", "input", "before_agent_start", "turn_start", "context", "message_end", "tool_call", "tool_result",
          "context", "message_end", "turn_end", "agent_settled"
        ])
        assert.deepStrictEqual(shape(events).slice(2), [
          "step_start", "tool_call", "tool_result", "step_end",
          "step_start", "message", "step_end", "run_end"
        ])
        assert.deepStrictEqual(asked[1]?.prompt.content.map((message) => message.role), ["system", "user", "assistant", "tool"])
      })))

  // E-176
  it.effect("runs neighbouring reads at once, a writer alone, and tells results in the order of the calls", () =>
    Effect.gen(function*() {
      const counter = yield* gauge
      const slow = yield* Deferred.make<void>()
      const read = tool("read", {
        capabilities: ["read"],
        run: (args) => counter.during(args["slow"] === true ? Effect.as(Deferred.await(slow), textResult("slow")) : Effect.as(Deferred.succeed(slow, undefined), textResult("quick")))
      })
      yield* withAgent({
        replies: [calls({ name: "read", args: { slow: true }, id: "1" }, { name: "read", id: "2" }, { name: "write", id: "3" }), says("done")],
        tools: [read, tool("write", { run: () => counter.during(Effect.succeed(textResult("written"))) })]
      }, ({ entries, fired, prompt }) =>
        Effect.gen(function*() {
          yield* prompt("go")
          assert.strictEqual(fired.filter(({ event }) => event === "tool_call").length, 3)
          assert.deepStrictEqual(textsOf(yield* entries), ["slow", "quick", "written"])
        }))
      assert.strictEqual(yield* counter.most, 2)
    }))

  // E-184
  it.effect("gives the model an error for a tool it does not have, and for arguments that do not fit", () =>
    withAgent({
      replies: [
        calls({ name: "nobody" }, { name: "write", args: { path: 1 }, id: "2" }, { name: "write", args: "{\"pa", id: "3" }, { name: "write", args: "", id: "4" }),
        says("done")
      ],
      tools: [tool("write", { inputSchema: { type: "object", properties: { path: { type: "string" } } } })]
    }, ({ entries, fired, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("go")
        const [unknown, misfit, garbled, empty] = textsOf(yield* entries)
        assert.strictEqual(unknown, "Unknown tool: nobody")
        assert.include(misfit, "path")
        assert.include(garbled, "not valid JSON")
        assert.strictEqual(empty, "write ran")
        assert.deepStrictEqual(fired.filter(({ event }) => event === "tool_call").map(({ payload }) => payload), [{ tool: "write", arguments: {}, tool_call_id: "4" }])
      })))

  // E-122 E-123 E-186
  it.effect("never runs what a hook blocks, and tells the model why", () =>
    Effect.gen(function*() {
      let ran = false
      yield* withAgent({
        replies: [calls({ name: "bash" }), says("done")],
        tools: [tool("bash", { run: () => Effect.sync(() => (ran = true, textResult("no"))) })],
        hooks: {
          run: (event, payload) =>
            Effect.succeed((event === "tool_call"
              ? { _tag: "Blocked", reason: "not now", blockedBy: ["guard"] }
              : { _tag: "Continue", payload, changedBy: [] }) as never)
        }
      }, ({ asked, entries, prompt }) =>
        Effect.gen(function*() {
          assert.isTrue((yield* prompt("go")).success)
          assert.deepStrictEqual(textsOf(yield* entries), ["approval_denied: not now"])
          assert.include(JSON.stringify(asked[1]?.prompt.content), "approval_denied: not now")
        }))
      assert.isFalse(ran)
    }))

  // E-187
  it.effect("checks what a hook left as arguments again, and asks permission for that", () =>
    Effect.gen(function*() {
      const asked: Array<unknown> = []
      yield* withAgent({
        replies: [calls({ name: "bash", args: { command: "ls" } }), calls({ name: "bash", args: { command: "bad" }, id: "2" }), says("done")],
        tools: [tool("bash", { inputSchema: { type: "object", properties: { command: { type: "string" } }, required: ["command"] } })],
        frontend: { approve: (request) => Effect.sync(() => (asked.push(request.arguments), { decision: "once" })) },
        hooks: {
          run: (event, payload) =>
            Effect.succeed((event === "tool_call" && "arguments" in payload
              ? {
                _tag: "Continue",
                payload: { ...payload, arguments: JSON.stringify(payload.arguments).includes("bad") ? {} : { command: "pwd" } },
                changedBy: ["rewriter"]
              }
              : { _tag: "Continue", payload, changedBy: [] }) as never)
        }
      }, ({ entries, prompt }) =>
        Effect.gen(function*() {
          yield* prompt("go")
          const [first, second] = textsOf(yield* entries)
          assert.strictEqual(first, "bash ran")
          assert.include(second, "rewriter")
        }))
      assert.deepStrictEqual(asked, [{ command: "pwd" }])
    }))

  it.effect("asks once for a command that was allowed for the session, and reports a denial", () =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      yield* withAgent({
        replies: [
          calls({ name: "bash", args: { command: "npm  test" }, id: "1" }, { name: "bash", args: { command: "npm test" }, id: "2" }),
          calls({ name: "bash", args: { command: "rm x" }, id: "3" }),
          says("done")
        ],
        tools: [tool("bash")],
        frontend: {
          approve: ({ summary }) =>
            Effect.sync(() => (asked.push(summary), summary.startsWith("rm") ? { decision: "deny", reason: "no" } : { decision: "session" }))
        }
      }, ({ entries, prompt }) =>
        Effect.gen(function*() {
          yield* prompt("go")
          assert.deepStrictEqual(textsOf(yield* entries), ["bash ran", "bash ran", "approval_denied: no"])
        }))
      assert.deepStrictEqual(asked, ["npm  test", "rm x"])
    }))

  // E-192 E-193
  it.effect("lets a hook change the result that is stored and told", () =>
    withAgent({
      replies: [calls({ name: "write" }), says("done")],
      tools: [tool("write")],
      hooks: {
        run: (event, payload) =>
          Effect.succeed({ _tag: "Continue", payload: event === "tool_result" ? { ...payload, output: "censored", is_error: true } : payload, changedBy: [] } as never)
      }
    }, ({ entries, events, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("go")
        assert.deepStrictEqual(textsOf(yield* entries), ["censored"])
        assert.deepInclude(events.find((event) => event.type === "tool_result"), { output: "censored", is_error: true })
      })))

  it.effect("gives the model no more of what a hook makes of a result than of any, and leaves alone what was larger by right", () => {
    const large = "y\n".repeat(40_000)
    return withAgent({
      replies: [calls({ name: "write" }, { name: "read" }), says("done")],
      tools: [tool("write"), tool("read", { run: () => Effect.succeed({ content: [{ type: "text", text: large }], isError: false }) })],
      hooks: {
        run: (event, payload) => {
          const changed = event === "tool_result" ? { ...payload, output: "tool" in payload && payload.tool === "read" ? large.replaceAll("y", "z") : "x".repeat(5_000_000) } : payload
          return Effect.succeed({ _tag: "Continue", payload: changed, changedBy: [] } as never)
        }
      }
    }, ({ entries, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("go")
        const [written, read] = textsOf(yield* entries).map(String)
        assert.isDefined(written)
        assert.isAtMost(written.length, 50 * 1024)
        assert.match(written, /^x+\n\[\.\.\. \d+ bytes dropped \.\.\.\]\nx+$/)
        assert.strictEqual(read, large.replaceAll("y", "z"))
      }))
  })

  it.effect("turns a tool that dies into a failed result", () =>
    withAgent({ replies: [calls({ name: "write" }), says("done")], tools: [tool("write", { run: () => Effect.die(new Error("boom")) })] }, ({ entries, prompt }) =>
      Effect.gen(function*() {
        assert.isTrue((yield* prompt("go")).success)
        assert.include(textsOf(yield* entries)[0], "boom")
      })))

  it.effect("streams a running tool's output under its call", () =>
    withAgent({
      replies: [calls({ name: "bash", id: "7" }), says("done")],
      tools: [tool("bash", { run: (_, { output }) => Effect.as(output("half"), textResult("half whole")) })]
    }, ({ events, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("go")
        assert.deepInclude(events.find((event) => event.type === "tool_output_delta"), { tool_id: "7", tool_name: "bash", delta: "half" })
      })))

  it.effect("keeps with a result how long its call took, and how much of that hooks did", () => {
    const slow = tool("slow", { run: () => Effect.as(Effect.sleep("2 seconds"), textResult("done")) })
    const takes = (millis: number) => () => Effect.as(Effect.sleep(millis), {})
    return withAgent({
      replies: [calls({ name: "slow" }, { name: "slow" }), says("done")],
      tools: [slow],
      answers: { tool_call: takes(300), tool_result: takes(100) }
    }, ({ entries, prompt }) =>
      Effect.gen(function*() {
        const running = yield* Effect.forkChild(prompt("hi"))
        for (let n = 0; n < 60; n++) {
          yield* settle
          yield* TestClock.adjust(100)
        }
        yield* Fiber.join(running)
        const figures = (yield* entries).flatMap((entry) => entry.type === "tool_result" ? [[entry.duration_ms, entry.hooks_ms]] : [])
        assert.deepStrictEqual(figures, [[2400, 400], [2400, 400]])
      }))
  })

  it.effect.each(["deny", "once"] as const)("does not count the wait for the person's answer to a call's time: %s", (decision) =>
    withAgent({
      replies: [calls({ name: "write" }), says("done")],
      tools: [tool("write", { capabilities: ["write"], run: () => Effect.as(Effect.sleep(decision === "once" ? 200 : 0), textResult("done")) })],
      frontend: { interactive: true, approve: () => Effect.as(Effect.sleep("2 seconds"), decision === "once" ? { decision } : { decision, reason: "no" }) }
    }, ({ entries, prompt }) =>
      Effect.gen(function*() {
        const running = yield* Effect.forkChild(prompt("hi"))
        for (let n = 0; n < 30; n++) {
          yield* settle
          yield* TestClock.adjust(100)
        }
        yield* Fiber.join(running)
        assert.deepStrictEqual((yield* entries).flatMap((entry) => entry.type === "tool_result" ? [entry.duration_ms] : []), [decision === "once" ? 200 : undefined])
      })))

  it.effect("tries a request again when that can help, and keeps nothing of the dead attempt", () =>
    withAgent({ replies: [refuses(new AiError.RateLimitError({})), says("hello")] }, ({ entries, events, prompt }) =>
      Effect.gen(function*() {
        const running = yield* Effect.forkChild(prompt("hi"))
        yield* settle
        assert.isUndefined(running.pollUnsafe())
        yield* TestClock.adjust("1 minute")
        assert.isTrue((yield* Fiber.join(running)).success)
        assert.deepStrictEqual(shape(events).slice(2), ["step_start", "step_end", "diagnostic", "step_start", "message", "step_end", "run_end"])
        assert.strictEqual((yield* entries).length, 2)
      })))

  it.effect("ends a refused request with an error, after which the run is closed all the same", () =>
    withAgent({ replies: [refuses(new AiError.AuthenticationError({ kind: "InvalidKey" }))] }, ({ events, fired, prompt }) =>
      Effect.gen(function*() {
        assert.isFalse((yield* prompt("hi")).success)
        assert.deepStrictEqual(shape(events).slice(2), ["step_start", "step_end", "error", "run_end"])
        assert.deepStrictEqual(fired.map(({ event }) => event), ["session_start", "input", "before_agent_start", "turn_start", "context", "turn_end", "agent_settled"])
      })))

  // E-161 E-200
  it.effect("gives every open call a result when the user interrupts, and tells the turn's end", () =>
    withAgent({
      replies: [calls({ name: "write", id: "1" }, { name: "write", id: "2" }), says("after")],
      tools: [tool("write", { run: () => Effect.never })]
    }, ({ entries, events, fired, prompt }) =>
      Effect.gen(function*() {
        const running = yield* Effect.forkChild(prompt("go"))
        yield* settle
        yield* Fiber.interrupt(running)
        assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(running)))
        assert.strictEqual(textsOf(yield* entries).length, 2)
        assert.deepStrictEqual(shape(events).slice(2), ["step_start", "tool_call", "tool_result", "step_end", "error", "run_end"])
        assert.deepInclude(fired.at(-2), { event: "turn_end", payload: { session_id: fired[0]?.payload["session_id" as never], workspace: "/w", interrupted: true } })
      })))

  it.effect("gives the model beginning and end of what an extension's tool says, as of any tool", () =>
    withAgent({
      replies: [calls({ name: "much", id: "1" }), says("done")],
      extensionText: `first\n${"middle\n".repeat(20_000)}last`,
      extensionTools: [{ name: "much", description: "Much.", inputSchema: { type: "object" }, capabilities: ["read"], unasked: true, extension: "test" }]
    }, ({ entries, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("go")
        const text = String(textsOf(yield* entries)[0])
        assert.isAtMost(text.length, 50 * 1024)
        assert.isTrue(text.startsWith("first\n") && text.endsWith("last"))
      })))

  it.effect("keeps what interrupted and finished calls had to show", () =>
    Effect.gen(function*() {
      const begun = yield* Deferred.make<void>()
      yield* withAgent({
        replies: [calls({ name: "quick", id: "1" }, { name: "slow", id: "2" })],
        tools: [
          tool("quick", { capabilities: ["read"] }),
          tool("slow", {
            capabilities: ["read"],
            run: (_, { interrupted }) =>
              Deferred.succeed(begun, undefined).pipe(
                Effect.andThen(Effect.never),
                Effect.onInterrupt(() => interrupted?.({ content: [{ type: "text", text: "half of it" }], isError: true }) ?? Effect.void)
              )
          })
        ]
      }, ({ entries, prompt }) =>
        Effect.gen(function*() {
          const running = yield* Effect.forkChild(prompt("go"))
          yield* Deferred.await(begun)
          yield* settle
          yield* Fiber.interrupt(running)
          assert.deepStrictEqual(textsOf(yield* entries), ["quick ran", "half of it"])
        }))
    }))

  it.effect("names an argument the tool does not know", () =>
    withAgent({
      replies: [calls({ name: "look", id: "1", args: { path: "a", offset: 3 } }), says("done")],
      tools: [tool("look", {
        inputSchema: { type: "object", properties: { path: { type: "string" } }, additionalProperties: false }
      })]
    }, ({ entries, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("go")
        assert.deepStrictEqual(textsOf(yield* entries), ["Invalid arguments for look:\narguments: unknown: offset"])
      })))

  it.effect.each<{ readonly how: string; readonly schema: JsonObject }>([
    { how: "backtracks", schema: { properties: { path: { type: "string", pattern: "^(a+)+$" } } } },
    { how: "backtracks over a name", schema: { patternProperties: { "^([a-z]+)+[A-Z]$": {} } } },
    {
      how: "refers on twice, forty times over",
      schema: {
        $ref: "#/$defs/d0",
        $defs: Object.fromEntries(Array.from({ length: 41 }, (_, at) => [`d${at}`, at === 40 ? {} : { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] }]))
      }
    }
  ])("does not run a tool whose schema takes for ever, and says so: it $how", ({ schema }) =>
    withAgent({
      replies: [calls({ name: "look", id: "1", args: { path: `${"a".repeat(40)}!`, ["a".repeat(40)]: 1 } }), says("done")],
      tools: [tool("look", { inputSchema: { type: "object", ...schema } })]
    }, ({ entries, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("go")
        const [told, ...others] = textsOf(yield* entries)
        assert.match(String(told), /^Invalid arguments for look:\nthe tool's schema takes too long/)
        assert.deepStrictEqual(others, [])
      })))

  it.effect("gives a call one result only when the interrupt comes with its answer, and says what had run", () =>
    Effect.gen(function*() {
      const asked = yield* Deferred.make<void>()
      const answer = yield* Deferred.make<void>()
      yield* withAgent({
        replies: [calls({ name: "bash", id: "1" })],
        tools: [tool("bash")],
        frontend: {
          approve: () =>
            Deferred.succeed(asked, undefined).pipe(
              Effect.andThen(Deferred.await(answer)),
              Effect.as({ decision: "deny", reason: "closed" } as const),
              Effect.uninterruptible
            )
        }
      }, ({ entries, events, prompt }) =>
        Effect.gen(function*() {
          const running = yield* Effect.forkChild(prompt("go"))
          yield* Deferred.await(asked)
          const stopping = yield* Effect.forkChild(Fiber.interrupt(running))
          yield* settle
          yield* Deferred.succeed(answer, undefined)
          yield* Fiber.join(stopping)
          assert.deepStrictEqual(textsOf(yield* entries), ["Interrupted before tool execution."])
          assert.strictEqual(events.filter((event) => event.type === "tool_result").length, 1)
        }))
    }))

  it.effect("ends a hanging answer at once when the user interrupts", () =>
    withAgent({ replies: [hangsAfter("half an")] }, ({ entries, events, prompt }) =>
      Effect.gen(function*() {
        const running = yield* Effect.forkChild(prompt("go"))
        yield* settle
        yield* Fiber.interrupt(running)
        assert.strictEqual(events.at(-1)?.type, "run_end")
        assert.deepStrictEqual((yield* entries).map((entry) => [entry.type, "cut" in entry]), [["user", false], ["assistant", true]])
      })))

  it.effect("answers calls that an earlier, killed run left open before the model is asked again", () =>
    withAgent({ replies: [says("ok")] }, ({ asked, prompt, session }) =>
      Effect.gen(function*() {
        yield* session.append({ type: "user", role: "user", content: [{ type: "text", text: "go" }] })
        yield* session.append({ type: "assistant", role: "assistant", content: [{ type: "tool_use", id: "1", name: "bash", input: {} }] })
        yield* prompt("go on")
        assert.deepStrictEqual(asked[0]?.prompt.content.map((message) => message.role), ["system", "user", "assistant", "tool", "user"])
      })))

  // E-274
  it.effect("offers only the tools that were asked for, extensions' included", () =>
    withAgent({
      replies: [says("ok")],
      tools: [tool("read"), tool("write")],
      only: ["READ", "save_note"],
      extensionTools: [
        { name: "save_note", description: "", inputSchema: {}, capabilities: [], extension: "notes", unasked: false },
        { name: "other", description: "", inputSchema: {}, capabilities: [], extension: "notes", unasked: false }
      ]
    }, ({ asked, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("hi")
        assert.deepStrictEqual(asked[0]?.tools.map((one) => one.name), ["read", "save_note"])
      })))

  // E-102 E-103 E-104 E-196
  it.effect("runs a command without the model, then what it wants said as a turn", () =>
    withAgent({ replies: [says("fixed")], commands: { fix: { message: "on it", prompt: "fix the test" } } }, ({ asked, events, fired, prompt }) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* prompt("/FIX now")).text, "on it\n\nfixed")
        assert.deepStrictEqual(shape(events), [
          "message", "run_start", "message", "run_end",
          "message", "run_start", "step_start", "message", "step_end", "run_end"
        ])
        assert.deepStrictEqual(events.flatMap((event) => event.type === "message" ? [[event.role, event.content]] : []), [
          ["user", "/FIX now"], ["assistant", "on it"], ["user", "fix the test"], ["assistant", "fixed"]
        ])
        assert.strictEqual(fired.filter(({ event }) => event === "turn_start").length, 1)
        assert.include(JSON.stringify(asked[0]?.prompt.content), "fix the test")
      })))

  it.effect("takes a path for words, and an unknown command for an error", () =>
    withAgent({ replies: [says("ok")] }, ({ asked, prompt }) =>
      Effect.gen(function*() {
        assert.isTrue((yield* prompt("/etc/hosts is what?")).success)
        assert.isFalse((yield* prompt("/nothing")).success)
        assert.strictEqual(asked.length, 1)
      })))

  // E-162 E-167
  it.effect("tells extensions of the session's end when it is closed", () =>
    Effect.gen(function*() {
      const fired = yield* withAgent({ replies: [] }, ({ fired }) => Effect.succeed(fired))
      assert.deepStrictEqual(fired.map(({ event }) => event), ["session_start", "session_shutdown", "session_end"])
    }))
})

