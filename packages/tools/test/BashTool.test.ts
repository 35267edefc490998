import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Schedule } from "effect"
import { TestClock } from "effect/testing"
import { readFileSync } from "node:fs"
import { bashTool } from "../src/index.ts"
import type { BashOptions, ProcessRequest } from "../src/index.ts"
import { call, fakeOperations, inWorkspace } from "./Rig.ts"

const bash = (command: string, more: { timeout_seconds?: number } = {}, options: BashOptions = {}) =>
  call(bashTool(options), { command, ...more })

const timed = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const start = yield* Clock.currentTimeMillis
    const value = yield* self
    return [value, (yield* Clock.currentTimeMillis) - start] as const
  })

const isGone = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    // A dead process that nobody has reaped yet still has its number.
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"))
  } catch {
    return true
  }
}

const waitUntilGone = (pid: number) => Effect.repeat(Effect.sync(() => isGone(pid)), { until: (dead) => dead, schedule: Schedule.spaced("10 millis") })

describe("bash on this machine", () => {
  it.live("gives exit code, duration and both streams, and its error flag is the exit code", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("here", "")
      const good = yield* bash("ls; echo warn >&2")
      assert.match(good.text, /^exit_code: 0\nduration_ms: \d+\n\nstdout:\nhere\n\nstderr:\nwarn\n$/)
      assert.isFalse(good.isError)
      assert.strictEqual(good.details?.["exit_code"], 0)
      const bad = yield* bash("exit 3")
      assert.isTrue(bad.isError)
      assert.match(bad.text, /^exit_code: 3\n/)
      assert.strictEqual((yield* bash("kill -9 $$")).details?.["exit_code"], 137)
    })))

  it.live("its stdin is empty and not ours", () =>
    inWorkspace(() => Effect.gen(function*() {
      assert.include((yield* bash("cat; read x; echo end")).text, "stdout:\nend\n")
    })))

  it.live("has the environment it was given and no other", () =>
    inWorkspace(() => Effect.gen(function*() {
      const { text } = yield* bash("env", {}, { env: { PATH: process.env["PATH"] ?? "", ONLY: "this" } })
      assert.include(text, "ONLY=this")
      assert.notInclude(text, "VITEST")
    })))

  it.live("publishes output while the command runs, by the chunk and with whole characters", () =>
    inWorkspace((w) => Effect.gen(function*() {
      const live: Array<string> = []
      const command = "printf 'a\\nb\\n'; while [ ! -e go ]; do sleep 0.01; done; printf '\\344\\275'; sleep 0.05; printf '\\240'"
      // The command only goes on once its first output was seen.
      const output = (delta: string) => Effect.andThen(Effect.sync(() => { live.push(delta) }), Effect.orDie(w.put("go", "")))
      const result = yield* bashTool().run({ command }, { output })
      assert.isFalse(result.isError)
      assert.deepStrictEqual(live, ["a\nb\n", "你"])
    })))

  it.live("a process in the background neither holds the call nor is ended by it, but by the end of the session", () =>
    Effect.gen(function*() {
      const pid = yield* inWorkspace(() => Effect.gen(function*() {
        const [result, took] = yield* timed(bash("(while :; do echo x; sleep 0.02; done) & echo pid $!"))
        assert.isBelow(took, 2000)
        assert.include(result.text, "a background process is still running")
        const pid = Number(/pid (\d+)/.exec(result.text)?.[1])
        assert.isFalse(isGone(pid))
        return pid
      }))
      yield* waitUntilGone(pid)
    }))

  it.live("what a background process prints after the call is not published", () =>
    inWorkspace(() => Effect.gen(function*() {
      const result = yield* bash("(while :; do echo x; echo x >> ticks; sleep 0.01; done) & echo begun")
      const published = result.live.length
      yield* bash("start=$(wc -l < ticks); while [ $(wc -l < ticks) -lt $((start + 10)) ]; do sleep 0.01; done")
      assert.strictEqual(result.live.length, published)
    })))

  it.live("a timeout ends the whole tree, keeps what was printed and says so", () =>
    inWorkspace((w) => Effect.gen(function*() {
      const [result, took] = yield* timed(bash("trap '' TERM; sleep 300 & echo $! > pid; echo begun; sleep 300", { timeout_seconds: 1 }))
      assert.isBelow(took, 3000)
      assert.match(result.text, /^TIMEOUT after 1s \(\d+ ms\)\n\nstdout:\nbegun\n/)
      assert.isTrue(result.isError)
      assert.isTrue(result.details?.["timed_out"])
      yield* waitUntilGone(Number(yield* w.text("pid")))
    })))

  it.live("interruption ends the whole tree", () =>
    inWorkspace((w) => Effect.gen(function*() {
      const fiber = yield* Effect.forkChild(bash("sleep 300 & echo $! > pid; sleep 300"))
      const pid = yield* w.text("pid").pipe(Effect.flatMap((text) => text === "" ? Effect.fail("empty") : Effect.succeed(Number(text))), Effect.eventually)
      yield* Fiber.interrupt(fiber)
      yield* waitUntilGone(pid)
    })))

  it.live("too much output loses its middle for the model and is whole in a file", () =>
    inWorkspace((w) => Effect.gen(function*() {
      const result = yield* bash("seq 1 200000; echo problem >&2")
      assert.isAtMost(Buffer.byteLength(result.text), 51_200)
      assert.match(result.text, /stdout:\n1\n2\n3\n/)
      assert.match(result.text, /bytes dropped[^]*\n199999\n200000\n\nstderr:\nproblem\n/)
      const file = String(result.details?.["output_file"])
      assert.include(result.text, `bytes are in ${file}`)
      const whole = yield* w.fs.readFileString(file)
      assert.strictEqual(whole.split("\n").length, 200_002)
    })))

  it.live("the limit can be moved, and no character is cut", () =>
    inWorkspace(() => Effect.gen(function*() {
      const { text } = yield* bash("i=0; while [ $i -lt 3000 ]; do printf 你好; i=$((i+1)); done", {}, { maxOutputBytes: 4000 })
      assert.isAtMost(Buffer.byteLength(text), 4000)
      assert.notInclude(text, "\ufffd")
      assert.include(text, "bytes dropped")
    })))

  it.live("a flood until the timeout stays bounded", () =>
    inWorkspace((w) => Effect.gen(function*() {
      const result = yield* bash("yes", { timeout_seconds: 1 })
      assert.isAtMost(Buffer.byteLength(result.text), 51_200)
      assert.isBelow(result.live.join("").length, 3_000_000)
      const { size } = yield* w.fs.stat(String(result.details?.["output_file"]))
      assert.isAtMost(Number(size), 64 * 1024 * 1024)
    })))

  it.live("a shell that is not there is an error result", () =>
    inWorkspace(() => Effect.gen(function*() {
      const result = yield* bash("true", {}, { shell: "/no/such/shell" })
      assert.isTrue(result.isError)
      assert.include(result.text, "/no/such/shell is not installed")
    })))
})

const say = (request: ProcessRequest, text: string) => request.onOutput("stdout", new TextEncoder().encode(text))

describe("bash over any Operations", () => {
  it.effect("waits 120 s when no time is given, and gives what came by then", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.forkChild(bash("x"), { startImmediately: true })
      yield* TestClock.adjust("119 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(fiber)).text, "TIMEOUT after 120s (120000 ms)\n\nstdout:\npart\n")
    }).pipe(Effect.provide(fakeOperations((request) => Effect.andThen(say(request, "part"), Effect.never)))))

  it.effect("output that cannot be kept in a file is still bounded, and the reason is told", () =>
    Effect.gen(function*() {
      const { text } = yield* bash("x")
      assert.isAtMost(Buffer.byteLength(text), 51_200)
      assert.include(text, "could not be kept: spill: the disk is full")
    }).pipe(Effect.provide(fakeOperations((request) => Effect.as(say(request, "word\n".repeat(50_000)), { code: 0, background: false })))))

  it.effect("both streams share the limit: neither is cut while they fit together", () =>
    Effect.gen(function*() {
      const { details, text } = yield* bash("x")
      assert.notInclude(text, "dropped")
      assert.isUndefined(details?.["output_file"])
      assert.strictEqual(text.split("\n").filter((line) => line === "out" || line === "err").length, 1900)
    }).pipe(Effect.provide(fakeOperations((request) =>
      Effect.as(
        Effect.andThen(say(request, "out\n".repeat(300)), request.onOutput("stderr", new TextEncoder().encode("err\n".repeat(1600)))),
        { code: 0, background: false }
      )))))
})
