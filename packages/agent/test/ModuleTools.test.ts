import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { CallFailed, type ExtensionTool, type ToolReply } from "@nimlet/extension"
import type { Files } from "@nimlet/tools"
import { makeActiveTools } from "../src/ActiveTools.ts"
import { systemPrompt } from "../src/SystemPrompt.ts"
import { toolSet } from "../src/ToolSet.ts"
import { calls, gauge, says, saysAndCalls, settle, shape, tool, withAgent } from "./Rig.ts"

const offer = (name: string, more: Partial<ExtensionTool> = {}): ExtensionTool => ({
  name, description: name, inputSchema: { type: "object" }, capabilities: ["write"], extension: "module", unasked: true, parallel: true, ...more
})
const reply = (text: string, more: Partial<ToolReply> = {}): ToolReply => ({ content: [{ type: "text", text }], isError: false, ...more })
const resultsOf = (asked: { readonly prompt: { readonly content: ReadonlyArray<any> } } | undefined) =>
  (asked?.prompt.content ?? []).filter(({ role }) => role === "tool").flatMap(({ content }) => content)

describe("a tool of a module", () => {
  // A-181 A-182 A-183 A-184
  it.effect("puts the arguments right before they are validated, and what it makes of them is validated and run", () => {
    const seen: Array<unknown> = []
    const schema = { type: "object", properties: { environment: { type: "string" } }, required: ["environment"], additionalProperties: false }
    return withAgent({
      replies: [calls({ name: "deploy", args: { env: "prod" }, id: "1" }, { name: "deploy", args: { env: 3 }, id: "2" }, { name: "plain", args: { env: "prod" }, id: "3" }), says("done")],
      extensionTools: [offer("deploy", { inputSchema: schema, extras: { prepares: true } }), offer("plain", { inputSchema: schema })],
      extensionCalls: {
        prepare: (_, args) => Effect.sync(() => {
          seen.push(["prepare", args])
          return { environment: (args as { env: unknown }).env }
        }),
        callTool: (name, args, _, id) => Effect.sync(() => {
          seen.push([name, args, id])
          return reply("ran")
        })
      }
    }, ({ asked, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("go")
        assert.sameDeepMembers(seen, [["prepare", { env: "prod" }], ["prepare", { env: 3 }], ["deploy", { environment: "prod" }, "1"]])
        assert.deepStrictEqual(resultsOf(asked[1]).map(({ result }) => result), [
          "ran", "Invalid arguments for deploy:\nenvironment: must be string",
          "Invalid arguments for plain:\narguments: must have required properties environment\narguments: unknown: env"
        ])
      }))
  })

  it.effect("that cannot put them right fails the call, which the model reads", () =>
    withAgent({
      replies: [calls({ name: "deploy" }), says("sorry")],
      extensionTools: [offer("deploy", { extras: { prepares: true } })],
      extensionCalls: { prepare: () => Effect.fail(new CallFailed({ extension: "module", reason: "threw", detail: "TypeError: no" })) }
    }, ({ asked, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("go")
        assert.include(resultsOf(asked[1])[0].result, "TypeError: no")
      })))

  // A-129 A-133
  it.effect("tells of its progress while it runs; what people and programs see of the result is kept and not sent", () =>
    withAgent({
      replies: [calls({ name: "slow" }), says("done")],
      extensionTools: [offer("slow")],
      extensionCalls: {
        callTool: (_, __, onUpdate) => Effect.as(onUpdate?.("half", { progress: 50 }) ?? Effect.void, reply("all", { details: { items: ["secret"] } }))
      }
    }, ({ asked, entries, events, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("go")
        assert.deepInclude(events.find(({ type }) => type === "tool_output_delta"), { delta: "half", details: { progress: 50 }, tool_id: "slow" })
        assert.deepInclude((yield* entries).find(({ type }) => type === "tool_result"), { output: "all", details: { items: ["secret"] } })
        assert.notInclude(JSON.stringify(asked[1]?.prompt), "secret")
      })))

  it.effect("brings images to the model", () =>
    withAgent({
      replies: [calls({ name: "shot" }), says("a cat")],
      extensionTools: [offer("shot")],
      extensionCalls: { callTool: () => Effect.succeed(reply("here", { content: [{ type: "text", text: "here" }, { type: "image", mimeType: "image/png", data: "aGk=" }] })) }
    }, ({ asked, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("go")
        assert.deepInclude(resultsOf(asked[1])[0].modelOutput[1], { type: "file", mediaType: "image/png", data: "aGk=" })
      })))

  //
  it.effect("runs beside its neighbours, unless it says that it must not", () =>
    Effect.gen(function*() {
      const beside = yield* gauge
      const alone = yield* gauge
      const names = ["free", "free", "lone", "lone", "free"]
      yield* withAgent({
        replies: [calls(...names.map((name, n) => ({ name, id: String(n), args: { n } }))), says("done")],
        extensionTools: [offer("free"), offer("lone", { parallel: false })],
        extensionCalls: {
          callTool: (name, { n }) => (name === "free" ? beside : alone).during(Effect.as(settle, reply(String(n))))
        }
      }, ({ asked, prompt }) =>
        Effect.gen(function*() {
          yield* prompt("go")
          assert.deepStrictEqual([yield* beside.most, yield* alone.most], [2, 1])
          assert.deepStrictEqual(resultsOf(asked[1]).map(({ result }) => result), ["0", "1", "2", "3", "4"])
        }))
    }))

  // A-233 A-244 A-245
  it.effect("that says too much for a model is cut, and told where the whole is", () => {
    const written: Array<string> = []
    const files = {
      spill: () => Effect.succeed({ path: "/spill/long-1.txt", append: (bytes: Uint8Array) => Effect.sync(() => void written.push(new TextDecoder().decode(bytes))) })
    } as unknown as Files
    const text = "x".repeat(60_000)
    return withAgent({ replies: [calls({ name: "long" }), says("done")], extensionTools: [offer("long")], extensionText: text, agent: { files } }, ({ asked, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("go")
        const [{ result }] = resultsOf(asked[1])
        assert.isBelow(result.length, 51_400)
        assert.match(result, /bytes/)
        assert.isTrue(result.endsWith("[cut; all of it is in /spill/long-1.txt; look into it with bash]"))
        assert.deepStrictEqual(written, [text])
      }))
  })

  it.effect("gives a model no more text than it wants to, and all of it when it says so", () =>
    withAgent({
      replies: [calls({ name: "short" }, { name: "long" }), says("done")],
      extensionTools: [offer("short", { extras: { max_result_chars: 1_000 } }), offer("long", { extras: { max_result_chars: "unlimited" } })],
      extensionText: "x".repeat(60_000)
    }, ({ asked, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("go")
        const [short, long] = resultsOf(asked[1]).map(({ result }) => result.length)
        assert.isAtMost(short, 1_000)
        assert.strictEqual(long, 60_000)
      })))
})

describe("results that end the run", () => {
  const final = { terminate: true }
  const answering = (results: Record<string, Partial<ToolReply>>) => ({
    replies: [calls(...Object.keys(results).map((name) => ({ name }))), says("asked again")],
    extensionTools: Object.keys(results).map((name) => offer(name, name === "decide" ? { extras: { structured_output: true } } : {})),
    extensionCalls: { callTool: (name: string) => Effect.succeed(reply(`{"by": "${name}"}`, results[name])) }
  })

  // A-140 A-148
  it.effect("do so when all of a step say it: no other request, and no call is left without its result", () =>
    withAgent(answering({ one: final, two: final }), ({ asked, entries, events, prompt }) =>
      Effect.gen(function*() {
        const { success, text } = yield* prompt("go")
        assert.deepStrictEqual([success, text, asked.length], [true, "", 1])
        assert.deepStrictEqual((yield* entries).filter(({ type }) => type === "tool_result").map((entry) => "terminate" in entry && entry.terminate), [true, true])
        assert.deepStrictEqual(shape(events).slice(-4), ["tool_result", "tool_result", "step_end", "run_end"])
        assert.notProperty(events.at(-1), "answer")
      })))

  it.effect("leave the run without an answer when none of them is one: what was said before the calls is none", () =>
    withAgent({ ...answering({ one: final }), replies: [saysAndCalls("I look first.", "one")] }, ({ asked, events, prompt }) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* prompt("go"), { success: true, text: "" })
        assert.strictEqual(asked.length, 1)
        assert.isTrue(events.some((event) => event.type === "message" && event.content === "I look first."))
      })))

  //
  it.effect("do not when one of them does not", () =>
    withAgent(answering({ one: final, two: {} }), ({ asked, prompt }) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* prompt("go")).text, "asked again")
        assert.strictEqual(asked.length, 2)
      })))

  //
  it.effect("give the run their answer when it is a structured one", () =>
    withAgent(answering({ one: final, decide: final, two: final }), ({ events, prompt }) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* prompt("go"), { success: true, text: "{\"by\": \"decide\"}", answer: "decide" })
        assert.deepInclude(events.at(-1), { type: "run_end", answer: "decide" })
      })))

  //
  it.effect("are judged when hooks have seen them: a refusal counts as it says", () =>
    Effect.gen(function*() {
      const blocked = (more: object) => ({ _tag: "Blocked", reason: "no", blockedBy: ["guard"], ...more }) as never
      const requests = (more: object) =>
        withAgent({ ...answering({ one: final }), answers: { tool_call: () => blocked(more) } }, ({ asked, prompt }) => Effect.as(prompt("go"), asked).pipe(Effect.map((all) => all.length)))
      assert.strictEqual(yield* requests({}), 2)
      assert.strictEqual(yield* requests({ terminate: true }), 1)
    }))

  it.effect("let a message that waits be answered first", () =>
    Effect.gen(function*() {
      const begun = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      yield* withAgent({
        ...answering({ one: final }),
        extensionCalls: { callTool: () => Deferred.succeed(begun, undefined).pipe(Effect.andThen(Deferred.await(go)), Effect.as(reply("done", final))) }
      }, ({ agent, asked, prompt }) =>
        Effect.gen(function*() {
          const run = yield* Effect.forkChild(prompt("go"))
          yield* Deferred.await(begun)
          yield* agent.followUp("and then?")
          yield* Deferred.succeed(go, undefined)
          assert.strictEqual((yield* Fiber.join(run)).text, "asked again")
          assert.include(JSON.stringify(asked[1]?.prompt), "and then?")
        }))
    }))
})

describe("what the system prompt says of them", () => {
  // A-095 A-097 A-098 A-099 A-101 A-209 A-210
  it.effect("is their snippet and guidelines; without a snippet they are left out, also in a built-in tool's place", () =>
    withAgent({
      replies: [says("ok")],
      tools: [tool("read"), tool("ls")],
      extensionTools: [
        offer("todo", { extras: { prompt_snippet: "keeps a list", prompt_guidelines: ["Use todo for plans.", "Use todo seldom."] } }),
        offer("silent"),
        offer("read", { extras: { label: "mine" } })
      ],
      agent: { system: systemPrompt({ workspace: "/w", platform: "linux" }) }
    }, ({ asked, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("hi")
        const text = String(asked[0]?.prompt.content[0]?.content)
        assert.include(text, "\nAvailable tools: ls\n- todo: keeps a list\n\n")
        assert.include(text.slice(text.indexOf("Guidelines:")), "\n- Use todo for plans.\n- Use todo seldom.")
        assert.notInclude(text, "silent")
        assert.notInclude(text, "read a file before")
      })))
})

describe("tools that extensions choose", () => {
  const set = (...names: ReadonlyArray<string>) => toolSet(names.map((name) => ({ tool: tool(name), ...(name === "b" ? { snippet: "does b", guidelines: ["Use b sparingly."] } : {}) })))

  it("withhold what was there and is not named; what comes later is offered", () => {
    const active = makeActiveTools()
    const before = active.withheld()
    active.choose(["a", "nope"], ["a", "b"])
    assert.deepStrictEqual([...active.withheld()], ["b"])
    assert.notStrictEqual(active.withheld(), before)
    active.choose(["b"], ["a", "b", "c"])
    assert.deepStrictEqual([...active.withheld()], ["a", "c"])
    active.reset()
    assert.deepStrictEqual([...active.withheld()], [])
  })

  //
  it("are told to a model that knew others, once, and only when somebody chose", () => {
    const active = makeActiveTools()
    active.choose(["a"], ["a", "b"])
    assert.isUndefined(active.news(set("a")))
    active.choose(["b"], ["a", "b"])
    assert.deepInclude(active.news(set("b")), {
      type: "custom_message",
      role: "system",
      display: false,
      content: [{ type: "text", text: "These tools are available from now on: b (does b).\nThese tools are no longer available: a.\nUse b sparingly." }],
      details: { added: ["b"], removed: ["a"] }
    })
    assert.isUndefined(active.news(set("b")))
    assert.isUndefined(active.news(set("a", "b")), "a tool that came by itself")
    active.choose(["a", "b"], ["a", "b"])
    assert.isUndefined(active.news(set("a", "b")), "the same tools")
  })
})
