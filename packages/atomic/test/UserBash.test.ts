import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Result } from "effect"
import type { HookOutcome } from "@nimlet/extension"
import { place, startAll, until, workers } from "./kit.ts"

const run = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.scoped(effect).pipe(Effect.provide(workers()))
const operationsOf = (outcome: HookOutcome<"user_bash">) => outcome._tag === "Blocked" ? undefined : outcome.payload.operations
const typed = { ...place, command: "ls", exclude_from_context: false }

describe("a shell command of the person's", () => {
  it.live("runs where the first extension says that has an answer: output as it comes, then the code; once", () =>
    run(Effect.gen(function*() {
      const { extensions, hooks } = yield* startAll({
        files: {
          "a.mjs": "export default (pi) => { pi.on('user_bash', () => undefined) }",
          "b.mjs": `export default (pi) => {
            pi.on("user_bash", ({ command, cwd }) => ({ operations: { exec: async (given, where, { env, onData, signal }) => {
              const euro = Buffer.from("€")
              onData(euro.subarray(0, 1)); onData(euro.subarray(1))
              onData(Buffer.from(JSON.stringify([given === command, where === cwd, typeof env.PATH, signal.aborted])))
              return { exitCode: 3 }
            } } }))
          }`,
          "c.mjs": "export default (pi) => { pi.on('user_bash', () => ({ result: { output: 'never', exitCode: 0 } })) }"
        }
      })
      const { extension, handle } = operationsOf(yield* hooks.run("user_bash", typed))!
      assert.strictEqual(extension, "b")
      const told: Array<string> = []
      assert.deepStrictEqual(yield* extensions.invoke(extension, handle, [], (text) => Effect.sync(() => void told.push(text))), { exit_code: 3 })
      assert.strictEqual(told.join(""), "€[true,true,\"string\",false]")
      assert.isTrue(Result.isFailure(yield* Effect.result(extensions.invoke(extension, handle, []))))
    })))

  it.live("is given up with its signal, and what it throws is told", () =>
    run(Effect.gen(function*() {
      const { extensions, hooks } = yield* startAll({
        files: {
          "a.mjs": `export default (pi) => {
            pi.on("user_bash", ({ command }) => ({ operations: { exec: (_command, _cwd, { onData, signal }) => {
              if (command !== "wait") throw new Error("no such machine")
              onData(Buffer.from("waiting"))
              return new Promise((resolve) => signal.addEventListener("abort", () => { pi.events.emit("gone", 1); resolve({ exitCode: null }) }))
            } } }))
          }`,
          "b.mjs": "export default (pi) => { let gone = false; pi.events.on('gone', () => { gone = true }); pi.registerTool({ name: 'gone', label: '', description: '', parameters: {}, execute: async () => ({ content: String(gone) }) }) }"
        }
      })
      const start = (command: string, onUpdate?: (text: string) => Effect.Effect<void>) =>
        Effect.flatMap(hooks.run("user_bash", { ...typed, command }), (outcome) => extensions.invoke("a", operationsOf(outcome)!.handle, [], onUpdate))
      const failure = yield* Effect.flip(start("now"))
      assert.include(failure.message, "no such machine")
      let said = ""
      const waiting = yield* Effect.forkChild(start("wait", (text) => Effect.sync(() => void (said = text))))
      yield* until(Effect.sync(() => said), (text) => text === "waiting")
      yield* Fiber.interrupt(waiting)
      const gone = yield* until(Effect.map(extensions.callTool("gone", {}), ({ content }) => content), ([part]) => part?.type === "text" && part.text === "true")
      assert.deepStrictEqual(gone, [{ type: "text", text: "true" }])
    })))
})
