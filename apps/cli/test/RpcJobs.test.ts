import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { makeRpcJobs } from "../src/modes/RpcJobs.ts"
import { makeRpcWriter } from "../src/modes/RpcWriter.ts"

const jobsOf = Effect.map(Effect.scope, (scope) => makeRpcJobs(scope, makeRpcWriter(() => Effect.void, () => false), () => Effect.void))

describe("a job", () => {
  it.effect("says how it ended, however soon it is interrupted", () =>
    Effect.gen(function*() {
      const jobs = yield* jobsOf
      const told: Array<boolean> = []
      const note = (exit: Exit.Exit<never>) => Effect.sync(() => void told.push(Exit.hasInterrupts(exit)))
      yield* jobs.change("reload", Effect.never, note)
      assert.isTrue(yield* jobs.interrupt)
      assert.isUndefined(jobs.busy())
      yield* jobs.beside(Effect.never, note)
      assert.isTrue(yield* jobs.interrupt)
      yield* jobs.end
      assert.deepStrictEqual(told, [true, true])
    }))
})
