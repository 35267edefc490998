import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import type * as LanguageModel from "effect/ai/LanguageModel"
import type { ExtensionMode, ExtensionTool } from "@nimlet/extension"
import type { Capability } from "@nimlet/protocol"
import { textResult } from "@nimlet/tools"
import { systemPrompt } from "../src/index.ts"
import { calls, type RigOptions, says, settle, tool, withAgent } from "./Rig.ts"

const offered = (request: LanguageModel.ProviderOptions | undefined) => request?.tools.map(({ name }) => name)
const systemOf = (request: LanguageModel.ProviderOptions | undefined) => String(request?.prompt.content[0]?.content)
const extensionTool = (name: string, ...capabilities: ReadonlyArray<Capability>): ExtensionTool =>
  ({ name, description: "", inputSchema: { type: "object" }, capabilities, unasked: false, extension: "x" })
const outputsOf = (entries: ReadonlyArray<object>) => entries.flatMap((entry) => "output" in entry ? [entry.output] : [])

const rig = (options: Partial<RigOptions> & Pick<RigOptions, "replies">): RigOptions => ({
  tools: [tool("read", { capabilities: ["read"] }), tool("ask_user", { capabilities: ["user"] }), tool("write"), tool("bash", { capabilities: ["write", "shell", "network"] })],
  // Absent capabilities are registered as these three (seed 000, "Tool capabilities").
  extensionTools: [extensionTool("look", "read"), extensionTool("talk", "user"), extensionTool("both", "read", "user"), extensionTool("deploy", "write", "shell", "network")],
  ...options
})

describe("plan mode", () => {
  // E-269 E-270
  it.effect("offers what reads or talks to the user, unasked, and act mode offers all again", () =>
    withAgent(rig({
      replies: [calls({ name: "look" }, { name: "write", id: "2" }), says("a plan"), says("done")],
      frontend: { interactive: true, approve: () => Effect.die("asked") }
    }), ({ asked, entries, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("/plan what now?")
        assert.deepStrictEqual(offered(asked[0]), ["read", "ask_user", "look", "talk", "both"])
        assert.deepStrictEqual(outputsOf(yield* entries), ["look of an extension", "Tool unavailable in plan mode. The user must switch to /act to enable implementation tools."])
        yield* prompt("/act go")
        assert.deepStrictEqual(offered(asked[2]), ["read", "ask_user", "write", "bash", "look", "talk", "both", "deploy"])
        assert.match(systemOf(asked[1]), /^be good\n\n.*plan mode/)
        assert.strictEqual(systemOf(asked[2]), "be good")
      })))

  it.effect("is told with every event, from the command on, also when a session is left", () =>
    withAgent(rig({ replies: () => says("ok"), agent: { extensions: () => Effect.succeed({ roots: [], paths: [], workspace: "", sessionId: "", trusted: false, mode: "text", logs: "/x", environment: {}, reservedTools: [] }) } }), ({ fired, hookOptions, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("first")
        const before = fired.length
        assert.isTrue(hookOptions.every((options) => options?.planning !== true))
        yield* prompt("/plan")
        yield* prompt("second")
        yield* prompt("/new")
        assert.isAbove(fired.length, before)
        assert.deepStrictEqual([...new Set(hookOptions.slice(before).map((options) => options?.planning))], [true])
        assert.includeMembers(fired.slice(before).map(({ event }) => event), ["turn_start", "turn_end", "session_end", "session_start"])
      })))

  it.effect("does not begin before the run that is under way is over", () =>
    Effect.gen(function*() {
      const reached = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      yield* withAgent(rig({
        replies: [calls({ name: "write" }), calls({ name: "write", id: "2" }), says("done"), says("planned")],
        tools: [tool("write", { run: () => Deferred.succeed(reached, undefined).pipe(Effect.andThen(Deferred.await(go)), Effect.as(textResult("written"))) })],
        extensionTools: []
      }), ({ agent, asked, entries, prompt }) =>
        Effect.gen(function*() {
          const running = yield* Effect.forkChild(prompt("go"))
          yield* Deferred.await(reached)
          assert.strictEqual((yield* agent.setMode("PLAN")).id, "plan")
          assert.strictEqual((yield* agent.mode).id, "plan")
          yield* Deferred.succeed(go, undefined)
          yield* Fiber.join(running)
          assert.deepStrictEqual(outputsOf(yield* entries), ["written", "written"])
          yield* prompt("next")
          assert.deepStrictEqual(offered(asked[3]), [])
          yield* settle
        }))
    }))
})

describe("a mode of an extension", () => {
  const review: ExtensionMode = { id: "review", label: "Review", prompt: "Only review.", permissions: "yolo", tools: ["read", "bash"], extension: "x" }

  it.effect("offers the tools it names, unasked, and says its text last; where it has gone, acting goes on", () => {
    const modes: Array<ExtensionMode> = [review]
    return withAgent(rig({
      replies: [calls({ name: "bash", args: { command: "ls" } }, { name: "write", id: "2" }), says("done"), says("again")],
      modes: () => modes,
      frontend: { interactive: true, approve: () => Effect.die("asked") }
    }), ({ agent, asked, entries, prompt }) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* prompt("/mode")).text, "* act\n  plan\n  review: Review")
        assert.isFalse((yield* prompt("/mode nobody")).success)
        assert.isTrue((yield* prompt("/mode review")).success)
        yield* prompt("go")
        assert.deepStrictEqual(offered(asked[0]), ["read", "bash"])
        assert.deepStrictEqual(outputsOf(yield* entries), ["bash ran", "Tool unavailable in mode Review."])
        assert.match(systemOf(asked[0]), /Only review\.$/)
        modes.pop()
        yield* prompt("again")
        assert.strictEqual((yield* agent.mode).id, "act")
        assert.lengthOf(offered(asked[2]) ?? [], 8)
      }))
  })
})

describe("the system prompt", () => {
  it("names the tools on offer, tells of others what they say of themselves, and gives the guidelines that fit", () => {
    const prompt = systemPrompt({ workspace: "/w", platform: "linux" })
    const text = prompt([
      { name: "read", custom: false }, { name: "bash", custom: false }, { name: "silent", custom: true },
      { name: "todo", custom: true, snippet: "List or add items", guidelines: ["Use todo for long tasks."] }
    ])
    assert.include(text, "Available tools: read, bash\n- todo: List or add items\n\nGuidelines:\n- Look before")
    assert.match(text, /- Use todo for long tasks\.$/)
    assert.notInclude(text, "silent")
    assert.notInclude(text, "edit and write")
    assert.include(prompt([]), "Available tools: none")
  })
})
