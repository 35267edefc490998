import { assert, it } from "@effect/vitest"
import { Extension } from "@nimlet/sdk"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import deploys from "../examples/deploys.ts"

it.effect("asks before production, and takes a second", () =>
  Effect.gen(function*() {
    const host = yield* Extension.test(deploys, { person: ({ prompt }) => prompt === "Deploy to production?" })
    const call = yield* Effect.forkChild(host.callTool("deploy", { environment: "production" }))
    yield* TestClock.adjust("1 second")
    assert.deepInclude(yield* Fiber.join(call), { content: "Deployed to production." })
    const kubectl = { tool: "bash", arguments: { command: "kubectl apply" } }
    assert.deepStrictEqual(yield* host.fire("tool_call", kubectl), { allow: false, reason: "use the tool deploy" })
  }))
