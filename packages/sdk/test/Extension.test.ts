import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Extension } from "../src/index.ts"

const place = { session_id: "test", workspace: "/workspace" }

describe("a defined extension", () => {
  //
  it.effect("registers tools with JSON Schemas of their input, commands, events, and how a tool wants to be sampled", () =>
    Effect.gen(function*() {
      const Size = Schema.Struct({ width: Schema.Finite }).annotate({ identifier: "Size" })
      const { registration } = yield* Extension.test(Extension.define({
        name: "all",
        tools: {
          look: {
            description: "Looks.",
            input: Schema.Struct({ path: Schema.String, size: Schema.optionalKey(Size) }),
            capabilities: ["read"],
            snippet: "looks around",
            guidelines: ["Use look first."],
            run: ({ path }) => path
          },
          raw: {
            description: "Takes anything.",
            input: { type: "object", properties: { n: { type: "number" } } },
            constrainedSampling: { type: "json_schema", strict: "require" },
            run: (input) => JSON.stringify(input)
          },
          free: { description: "Opts out.", input: { type: "object" }, constrainedSampling: false, run: () => "" }
        },
        commands: { hello: { description: "says hello", whileBusy: true, run: () => "hello" } },
        hooks: { tool_call: () => undefined, turn_start: () => undefined }
      }))
      assert.deepStrictEqual(registration["commands"], [{ name: "hello", description: "says hello", while_busy: true }])
      assert.deepStrictEqual(registration["events"], ["tool_call", "turn_start"])
      const [look, raw, free] = registration["tools"] as ReadonlyArray<any>
      assert.deepInclude(look, { name: "look", description: "Looks.", capabilities: ["read"], extras: { prompt_snippet: "looks around", prompt_guidelines: ["Use look first."] } })
      assert.deepInclude(look.input_schema, { type: "object", required: ["path"], additionalProperties: false })
      assert.strictEqual(look.input_schema.properties.size.$ref, "#/$defs/Size")
      assert.strictEqual(look.input_schema.$defs.Size.properties.width.type, "number")
      assert.deepStrictEqual(raw.input_schema, { type: "object", properties: { n: { type: "number" } } })
      assert.deepStrictEqual(raw.extras, { constrained_sampling: { state: "set", value: { type: "json_schema", strict: "require" } }, sequential: true })
      assert.deepStrictEqual(free.extras.constrained_sampling, { state: "set", value: false })
    }))

  it("knows at compile time what its handlers are given", () => {
    Extension.define({
      name: "typed",
      tools: {
        add: {
          description: "Adds.",
          input: Schema.Struct({ a: Schema.Number, at: Schema.DateFromString }),
          run: ({ a, at }) => {
            const sum: number = a + at.getTime()
            // @ts-expect-error: a number
            const wrong: string = a
            return `${sum}${wrong}`
          }
        }
      },
      hooks: {
        // @ts-expect-error: there is no such field of a reply
        tool_call: () => ({ alow: false }),
        message_end: ({ text }) => ({ text: text.toUpperCase() })
      }
    })
    // @ts-expect-error: no such event
    Extension.define({ name: "typed", hooks: { tool_cal: () => undefined } })
  })
})

describe("a tool", () => {
  const tools = Extension.define({
    name: "tools",
    tools: {
      plain: { description: "", input: Schema.Struct({ on: Schema.DateFromString }), run: ({ on }) => `${on.getUTCFullYear()}` },
      promised: { description: "", input: { type: "object" }, run: async () => ({ content: [{ type: "text", text: "later" }], details: { n: 1 }, terminate: true }) },
      effect: { description: "", input: { type: "object" }, run: (_, { callId, progress }) => Effect.as(progress("half"), callId) },
      throws: { description: "", input: { type: "object" }, run: () => { throw new Error("thrown") } },
      rejects: { description: "", input: { type: "object" }, run: () => Promise.reject(new Error("rejected")) },
      fails: { description: "", input: { type: "object" }, run: () => Effect.fail("failed") },
      dies: { description: "", input: { type: "object" }, run: () => Effect.die(new Error("died")) }
    }
  })

  it.effect("gets its decoded input, and answers with a value, a promise or an effect", () =>
    Effect.gen(function*() {
      const host = yield* Extension.test(tools)
      assert.deepStrictEqual(yield* host.callTool("plain", { on: "2026-01-02T00:00:00.000Z" }), { content: "2026" })
      assert.deepStrictEqual(yield* host.callTool("promised", {}), { content: [{ type: "text", text: "later" }], details: { n: 1 }, terminate: true })
      assert.deepStrictEqual(yield* host.callTool("effect", {}), { content: "call-3" })
      assert.deepInclude(host.said[0], { type: "tool_update", content: "half" })
    }))

  it.effect("that goes wrong in any way is a failed result, never silence", () =>
    Effect.gen(function*() {
      const host = yield* Extension.test(tools)
      const failures = ["throws", "rejects", "fails", "dies"]
      const replies = yield* Effect.forEach(failures, (name) => host.callTool(name, {}))
      assert.deepStrictEqual(replies, ["thrown", "rejected", "failed", "died"].map((content) => ({ content, is_error: true })))
      const wrong = yield* host.callTool("plain", { on: 3 })
      assert.isTrue(wrong.is_error)
      assert.include(String(wrong.content), "on")
      assert.deepStrictEqual(yield* host.callTool("nowhere", {}), { content: "there is no tool nowhere", is_error: true })
    }))

  it.effect("that is cancelled is interrupted, and a promise hears of it; others go on", () =>
    Effect.gen(function*() {
      const ended = yield* Deferred.make<string>()
      const aborted = yield* Deferred.make<void>()
      const begun: Array<string> = []
      const host = yield* Extension.test(Extension.define({
        name: "slow",
        tools: {
          effect: {
            description: "", input: { type: "object" }, run: () =>
              Effect.onInterrupt(Effect.andThen(Effect.sync(() => begun.push("effect")), Effect.never), () => Deferred.succeed(ended, "interrupted"))
          },
          promise: {
            description: "", input: { type: "object" }, run: (_, { signal }) => new Promise<string>(() => {
              begun.push("promise")
              signal.addEventListener("abort", () => Effect.runSync(Deferred.succeed(aborted, undefined)))
            })
          },
          timed: { description: "", input: { type: "object" }, run: () => Effect.as(Effect.sleep("1 minute"), "done") }
        }
      }))
      const timed = yield* Effect.forkChild(host.callTool("timed", {}))
      const calls = yield* Effect.forEach(["effect", "promise"], (name) => Effect.forkChild(host.callTool(name, {})))
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(begun, ["effect", "promise"])
      yield* Effect.forEach(calls, Fiber.interrupt)
      assert.strictEqual(yield* Deferred.await(ended), "interrupted")
      yield* Deferred.await(aborted)
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(yield* Fiber.join(timed), { content: "done" })
    }))
})

describe("commands and events", () => {
  it.effect("answer with what they give; what they throw is told", () =>
    Effect.gen(function*() {
      const host = yield* Extension.test(Extension.define({
        name: "handlers",
        commands: {
          text: { run: (args) => `said ${args}` },
          more: { run: async () => ({ prompt: "go on" }) },
          nothing: { run: () => Effect.void },
          bad: { run: () => Effect.fail("no") }
        },
        hooks: {
          tool_call: ({ arguments: args }) => Effect.succeed({ arguments: { ...args, seen: true } }),
          message_end: async ({ text }) => ({ text: text.trim() }),
          turn_start: () => undefined,
          input: () => { throw new Error("cannot decide") }
        }
      }))
      assert.deepStrictEqual(yield* host.runCommand("text", "hi"), { message: "said hi" })
      assert.deepStrictEqual(yield* host.runCommand("more"), { prompt: "go on" })
      assert.deepStrictEqual(yield* host.runCommand("nothing"), {})
      assert.deepStrictEqual(yield* host.runCommand("bad"), { error: "no" })
      assert.deepStrictEqual(yield* host.runCommand("toString"), { error: "there is no command /toString" })
      assert.deepStrictEqual(yield* host.fire("tool_call", { tool: "t", arguments: { n: 1 } }), { arguments: { n: 1, seen: true } })
      assert.deepStrictEqual(yield* host.fire("message_end", { ...place, role: "assistant", text: " x " }), { text: "x" })
      assert.deepStrictEqual(yield* host.fire("turn_start", place), {})
      assert.deepStrictEqual(yield* host.fire("input", { ...place, text: "hi", images: [] }), { error: "cannot decide" })
    }))

  it.effect("see where they are, ask a person and the host, and show and keep things", () =>
    Effect.gen(function*() {
      const extension = Extension.define({
        name: "asks",
        commands: {
          ask: {
            run: (_, context) =>
              Effect.gen(function*() {
                const { confirm, input, password, question } = context
                return JSON.stringify([yield* question("Which?", ["a", "b"]), yield* confirm("Sure?"), yield* input("Name?"), yield* password("Secret?"), context.ui])
              })
          },
          host: {
            run: async (_, { complete, request, run }) => {
              const { text } = await run(complete({ prompt: "hi" }))
              const name = await run(request("session.name", { name: text }))
              return JSON.stringify([text, name, await run(request("nothing")).catch((error: Error) => error.message)])
            }
          },
          show: {
            run: (_, { entries, mode, notify, say, status, store, widget, workspace }) =>
              Effect.as(
                Effect.all([notify("note"), status("k", "busy"), status("k", ""), widget({ key: "w", lines: ["one"] }), store({ n: 2 }), say("go on", "follow_up")]),
                JSON.stringify([entries, mode, workspace])
              )
          }
        },
        onAction: ({ action, text, widget }, { notify }) => notify(`${widget} ${action} ${text}`)
      })
      const answers: Record<string, string | boolean> = { "Which?": "b", "Sure?": true, "Name?": "me", "Secret?": "x" }
      const host = yield* Extension.test(extension, {
        entries: [{ n: 1 }],
        mode: "rpc",
        person: ({ prompt }) => answers[String(prompt)],
        requests: ({ method, name }) => method === "model.complete" ? { text: "hello" } : method === "session.name" ? { name } : undefined
      })
      assert.deepStrictEqual(yield* host.runCommand("ask"), { message: JSON.stringify(["b", true, "me", "x", true]) })
      assert.deepStrictEqual(yield* host.runCommand("host"), { message: JSON.stringify(["hello", { name: "hello" }, "nothing: host request is unavailable"]) })
      assert.deepStrictEqual(yield* host.runCommand("show"), { message: JSON.stringify([[{ n: 1 }], "rpc", "/workspace"]) })
      yield* host.press("w", "submit", "typed")
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(host.said, [
        { type: "update", notification: { level: "info", message: "note" } },
        { type: "update", status: { key: "k", text: "busy" } },
        { type: "update", status: { key: "k", text: "" } },
        { type: "update", widget: { key: "w", lines: ["one"] } },
        { type: "update", entry: { n: 2 } },
        { type: "update", user_message: { content: "go on", deliver_as: "follow_up" } },
        { type: "update", notification: { level: "info", message: "w submit typed" } }
      ])
      const alone = yield* Extension.test(extension)
      assert.deepStrictEqual(yield* alone.runCommand("ask"), { message: "[null,false,null,null,false]" })
    }))
})
