import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { builtins, gitTool } from "../src/index.ts"
import { call, fakeOperations } from "./Rig.ts"

describe("built-in tools", () => {
  it("come in a fixed order with their capabilities", () => {
    assert.deepStrictEqual(builtins().map(({ capabilities, name }) => `${name}: ${capabilities.join(" ")}`), [
      "read: read", "grep: read", "glob: read", "ls: read", "edit: write", "write: write", "bash: write shell network", "git: read"
    ])
  })

  it("take at most 3.6 kB of a request, all together", () => {
    const sent = builtins().map(({ description, inputSchema, name }) => ({ name, description, input_schema: inputSchema }))
    assert.isAtMost(Buffer.byteLength(JSON.stringify(sent)), 3600)
  })

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
