import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openProcess } from "../src/ClientProcess.ts"
import { startClient } from "../src/Client.ts"

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
      const { bin } = yield* program("quits.mjs", `console.error("no key found"); process.exitCode = 1`)
      const { message } = yield* Effect.flip(Effect.scoped(startClient({ bin })))
      assert.strictEqual(message, "nimlet ended with code 1: no key found")
    }).pipe(Effect.scoped))
})
