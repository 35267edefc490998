import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { type Agent, EventSink } from "@nimlet/agent"
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

  it.effect("that an extension asks for once everything ends is none", () =>
    Effect.gen(function*() {
      const jobs = yield* jobsOf
      yield* jobs.end
      yield* jobs.run({ prompt: () => Effect.die("begun"), takeLeft: Effect.succeed(undefined) } as Partial<Agent["Service"]> as Agent["Service"], { typed: "on and on" })
      assert.isUndefined(jobs.busy())
    }))

  it.effect("that has told its end, and still enters another session, is waited for as a change is", () =>
    Effect.gen(function*() {
      const jobs = yield* jobsOf
      const ended = yield* Deferred.make<void>()
      const entered = yield* Deferred.make<void>()
      const place = { session_id: "s", turn_id: "t", run_id: "r" }
      const prompt = Effect.gen(function*() {
        const { publish } = yield* EventSink
        yield* publish({ type: "run_start", ...place, prompt: "/new" })
        assert.strictEqual(jobs.busy(), "run")
        yield* publish({ type: "run_end", ...place })
        yield* Deferred.succeed(ended, undefined)
        yield* Deferred.await(entered)
        return { success: true, text: "" }
      })
      yield* jobs.run({ prompt: () => prompt, takeLeft: Effect.succeed(undefined) } as Partial<Agent["Service"]> as Agent["Service"], { typed: "/new" }, "1")
      yield* Deferred.await(ended)
      assert.notStrictEqual(jobs.busy(), "run")
      const waits = yield* Effect.forkChild(jobs.changed, { startImmediately: true })
      assert.isUndefined(waits.pollUnsafe())
      yield* Deferred.succeed(entered, undefined)
      yield* Fiber.join(waits)
      assert.isUndefined(jobs.busy())
    }))
})
