import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, FileSystem } from "effect"
import { TestClock } from "effect/testing"
import type { JsonObject } from "@nimlet/protocol"
import { Asker, askUserTool, builtins, gitTool, localTools, PathOutside, readSkillTool } from "../src/index.ts"
import type { Operations, Tool } from "../src/index.ts"
import { call, fakeOperations } from "./Rig.ts"

const all: ReadonlyArray<Tool<Operations | FileSystem.FileSystem | Asker>> = [...builtins(), readSkillTool(Effect.succeed([])), askUserTool]

describe("built-in tools", () => {
  it("come in a fixed order with their capabilities", () => {
    assert.deepStrictEqual(builtins().map(({ capabilities, name }) => `${name}: ${capabilities.join(" ")}`), [
      "read: read", "grep: read", "glob: read", "ls: read", "edit: write", "write: write", "bash: write shell network", "git: read"
    ])
  })

  it("take at most 4 kB of a request, all together", () => {
    const sent = all.map(({ description, inputSchema, name }) => ({ name, description, input_schema: inputSchema }))
    assert.isAtMost(Buffer.byteLength(JSON.stringify(sent)), 4000)
  })

  //
  it("say in their descriptions how much they give at most", () => {
    const bounded = ["read", "grep", "glob", "ls", "bash", "git", "read_skill"]
    const silent = all.filter(({ description, name }) => bounded.includes(name) && !/\d+ (KB|lines)|At most \d+/.test(description))
    assert.deepStrictEqual(silent.map(({ name }) => name), [])
  })

  it("refuse arguments they do not know, at every depth", () => {
    const open = (schema: unknown): boolean => {
      if (typeof schema !== "object" || schema === null) return false
      const { additionalProperties, type } = schema as { additionalProperties?: unknown; type?: unknown }
      return (type === "object" && additionalProperties !== false) || Object.values(schema).some(open)
    }
    assert.deepStrictEqual(all.filter(({ inputSchema }) => open(inputSchema)).map(({ name }) => name), [])
  })

  it.effect("bound to the services in force they need nothing more, each keeping its own", () =>
    Effect.gen(function*() {
      const tools = yield* localTools(all).pipe(
        Effect.provideService(Asker, { ask: ({ options }) => Effect.succeed({ outcome: "answered", answer: options[1] ?? "" }) }),
        Effect.provide(fakeOperations(() => Effect.never, { locate: (path) => Effect.fail(new PathOutside({ path })) })),
        Effect.provideService(FileSystem.FileSystem, FileSystem.makeNoop({}))
      )
      const run = (name: string, args: JsonObject) => call(tools.find((tool) => tool.name === name)!, args)
      assert.strictEqual((yield* run("ask_user", { question: "Which?", options: ["a", "b"] })).text, "b")
      assert.include((yield* run("ls", {})).text, "outside the workspace")
      assert.include((yield* run("read_skill", { name: "x" })).text, "there is none")
    }))

  it("bash states the limit it was given", () => {
    assert.include(builtins({ maxOutputBytes: 100 * 1024 }).find(({ name }) => name === "bash")?.description ?? "", "over 100 KB")
  })

  it.effect("a search or git that never ends is given up after 60 s", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.forkChild(call(gitTool(), {}), { startImmediately: true })
      yield* TestClock.adjust("59 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      const result = yield* Fiber.join(fiber)
      assert.isTrue(result.isError)
      assert.include(result.text, "git failed: it took longer than 60 s")
    }).pipe(Effect.provide(fakeOperations(() => Effect.never, { locate: () => Effect.succeed({ real: "/w", shown: ".", exists: true }) }))))
})

//
it("read, edit, write and bash prefer arguments that are held to their schema", () => {
  const wishes = builtins().flatMap(({ constrainedSampling, name }) => constrainedSampling === undefined ? [] : [[name, constrainedSampling]])
  assert.sameDeepMembers(wishes, ["read", "edit", "write", "bash"].map((name) => [name, { type: "json_schema", strict: "prefer" }]))
})
