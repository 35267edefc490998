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
})
