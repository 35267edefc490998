import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openProcess } from "../src/ClientProcess.ts"
import { startClient } from "../src/Client.ts"
import { startNimlet } from "../src/ClientPromise.ts"

/** A program in a file of its own. */
const program = (name: string, code: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(join(tmpdir(), "nimlet-sdk-"))
      writeFileSync(join(folder, name), code)
      chmodSync(join(folder, name), 0o755)
      return { folder, bin: join(folder, name) }
    }),
    ({ folder }) => Effect.sync(() => rmSync(folder, { recursive: true }))
  )
const live = <A, E>(effect: Effect.Effect<A, E>) => TestClock.withLive(effect)

/** Takes every command and ends no turn, till its input ends. */
const patient = `
import { createInterface } from "node:readline"
const write = (record) => console.log(JSON.stringify({ version: 1, ...record }))
let turn
const ends = process.argv.includes("--ends")
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, type } = JSON.parse(line)
  if (type === "prompt") turn = id
  write({ type: "response", id, ok: true })
}).on("close", () => {
  if (ends && turn !== undefined) write({ type: "run_end", session_id: "s", turn_id: "t", run_id: "t", request_id: turn, success: false, error: "interrupted" })
})`

describe("a client in promises", () => {
  it.live("rejects a prompt with the reason of its signal when that is aborted, and settles all when it is closed", () =>
    Effect.gen(function*() {
      const { bin } = yield* program("patient.mjs", patient)
      yield* Effect.promise(async () => {
        const name = (promise: Promise<unknown>) => promise.then(() => "resolved", (error: Error) => error.name)
        const nimlet = await startNimlet({ bin })
        const controller = new AbortController()
        const aborted = nimlet.prompt("hi", { signal: controller.signal })
        controller.abort()
        assert.strictEqual(await name(aborted), "AbortError")
        assert.strictEqual(await name(nimlet.prompt("hi", { signal: controller.signal })), "AbortError")
        const open = name(nimlet.prompt("hi"))
        await nimlet.request("stats", {})
        await nimlet.close()
        assert.strictEqual(await open, "ClientClosed")
        for (const late of [nimlet.prompt("x"), nimlet.steer("x"), nimlet.followUp("x"), nimlet.interrupt(), nimlet.request("stats", {})]) {
          assert.strictEqual(await name(late), "ClientClosed")
        }
        await nimlet.close()
        const other = await startNimlet({ bin, args: ["--ends"] })
        const turn = other.prompt("hi")
        await other.request("stats", {})
        await other.close()
        assert.deepStrictEqual(await turn, { success: false, text: "", error: "interrupted" })
      })
    }).pipe(Effect.scoped))
})

describe("the process of a client", () => {
  it.effect("is given 6 s after the end of its input, and again after SIGTERM, then killed", () =>
    Effect.gen(function*() {
      const { bin } = yield* program("stubborn.mjs", `process.on("SIGTERM", () => console.log("term")); setInterval(() => {}, 1000); console.log(process.argv.slice(2).join(" "))`)
      const scope = yield* Scope.make()
      const nimlet = yield* Scope.provide(openProcess({ bin, args: ["--x"] }), scope)
      assert.strictEqual(yield* live(Effect.map(Stream.runHead(nimlet.lines), (line) => line._tag === "Some" ? line.value : "")), "--mode rpc --x")
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* Effect.yieldNow
      for (const wait of ["6 seconds", "5900 millis"] as const) {
        yield* TestClock.adjust(wait)
        assert.isUndefined(closing.pollUnsafe())
      }
      yield* TestClock.adjust("100 millis")
      const { reason } = yield* live(nimlet.ended)
      assert.strictEqual(reason, "was ended by SIGKILL")
      yield* Fiber.join(closing)
    }).pipe(Effect.scoped))

  it.live("that cannot be started, or ends at once, is told with what it said", () =>
    Effect.gen(function*() {
      assert.include((yield* Effect.flip(Effect.scoped(startClient({ bin: "/nowhere/nimlet" })))).message, "could not be started")
      const nowhere = yield* Effect.flip(Effect.scoped(startClient({ bin: "node", cwd: "/nowhere" })))
      assert.include(nowhere.message, "/nowhere, the folder to work in")
      const { bin } = yield* program("quits.mjs", `console.error("no key found"); process.exitCode = 1`)
      const { message } = yield* Effect.flip(Effect.scoped(startClient({ bin })))
      assert.strictEqual(message, "nimlet ended with code 1: no key found")
    }).pipe(Effect.scoped))
})
