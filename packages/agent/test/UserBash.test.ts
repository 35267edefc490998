import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { withAgent } from "./Rig.ts"

const options = (answer: object) => ({ replies: [], subscribed: (event: string) => event === "user_bash", answers: { user_bash: () => answer } })

describe("a shell command that the user typed", () => {
  //
  it.effect("is run, refused, or answered by an extension, which hears whether the model is to see it", () =>
    Effect.gen(function*() {
      yield* withAgent(options({}), ({ agent, fired, session }) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(yield* agent.userBash("ls", true), { _tag: "Run" })
          assert.deepStrictEqual(fired, [{ event: "user_bash", payload: { session_id: session.id, workspace: "/w", command: "ls", exclude_from_context: true } }])
        }))
      const result = { output: "from afar", exitCode: 3, cancelled: false, truncated: false }
      yield* withAgent(options({ payload: { result } }), ({ agent }) =>
        Effect.map(agent.userBash("ls", false), (wish) => assert.deepStrictEqual(wish, { _tag: "Done", output: "from afar", code: 3 })))
      yield* withAgent(options({ _tag: "Blocked", reason: "not here" }), ({ agent }) =>
        Effect.map(agent.userBash("ls", false), (wish) => assert.deepStrictEqual(wish, { _tag: "Refused", reason: "not here" })))
    }))

  it.effect("is run by the extension that has operations for it, whose output is told as it comes", () => {
    const called: Array<ReadonlyArray<unknown>> = []
    let reply: unknown = { exit_code: 4 }
    return withAgent({
      ...options({ payload: { operations: { extension: "far", handle: 7 } } }),
      extensionCalls: {
        invoke: (...[extension, handle, args, onUpdate]) =>
          Effect.as(Effect.andThen(Effect.sync(() => called.push([extension, handle, args])), onUpdate?.("from afar") ?? Effect.void), reply)
      }
    }, ({ agent }) =>
      Effect.gen(function*() {
        const told: Array<string> = []
        const go = Effect.flatMap(agent.userBash("ls", false), (wish) =>
          wish._tag === "Elsewhere" ? wish.run((text) => Effect.sync(() => void told.push(text))) : Effect.die(wish))
        assert.strictEqual(yield* go, 4)
        // It was ended, and has no code.
        reply = { exit_code: null }
        assert.strictEqual(yield* go, 1)
        assert.deepStrictEqual([called, told], [[["far", 7, []], ["far", 7, []]], ["from afar", "from afar"]])
      }))
  })
})
