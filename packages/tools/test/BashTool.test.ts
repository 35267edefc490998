import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, type FileSystem, Schedule } from "effect"
import { TestClock } from "effect/testing"
import { readFileSync } from "node:fs"
import { bashTool } from "../src/index.ts"
import type { BashOptions, LeftProcess, ProcessRequest, ToolResult } from "../src/index.ts"
import { call, fakeOperations, inWorkspace, textOf } from "./Rig.ts"

const bash = (command: string, more: { timeout_seconds?: number } = {}, options: BashOptions = {}) =>
  call(bashTool(options), { command, ...more })

const leftOf = (details: ToolResult["details"]) => (details?.["left_running"] ?? []) as ReadonlyArray<LeftProcess>

/** Shell: waits until the last background process has become this program; before, it is one of the shell's group. */
const untilRuns = (program: string) => `while ! grep -qa '^${program}' /proc/$!/cmdline; do :; done`

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

  for (const [what, command] of [
    ["in the background", "sleep 600 & echo done"],
    ["without a terminal to lose", "nohup sleep 600 >/dev/null 2>&1 & echo done"],
    ["in a session of its own, holding the output", `setsid sleep 600 & ${untilRuns("sleep")}; echo done`],
    ["in a session of its own, printing", `setsid sh -c 'while :; do echo x; sleep 0.02; done' & ${untilRuns("sh")}; echo done`]
  ] as const) {
    it.live(`a process ${what} is named, does not hold the call, and ends with the session`, () =>
      Effect.gen(function*() {
        const left = yield* inWorkspace(() => Effect.gen(function*() {
          const result = yield* bash(command)
          assert.match(result.text, /stdout:\n(x\n)*done\n/)
          // Some 450 ms where nothing else runs.
          assert.isBelow(Number(result.details?.["duration_ms"]), 2000)
          const left = leftOf(result.details)
          assert.include(result.text, `[still running in the background, until the session ends: ${left[0]!.pid} ${left[0]!.command}`)
          assert.strictEqual(left.some(({ escaped }) => escaped), command.startsWith("setsid"))
          assert.strictEqual(result.text.includes("in a process group of its own"), command.startsWith("setsid"))
          // The others, if any, are its short-lived children.
          assert.isFalse(isGone(left[0]!.pid))
          return left[0]!
        }))
        yield* waitUntilGone(left.pid)
      }))
  }

  for (const [what, command] of [
    ["in a session of its own", `env -i setsid sleep 603 & ${untilRuns("sleep")}; echo done`],
    ["behind a shell that is gone, printing nowhere", "(env -i setsid sh -c 'touch up; exec sleep 603' >/dev/null 2>&1 &); while [ ! -e up ]; do sleep 0.01; done; echo done"],
    ["of a command that fails", `env -i setsid sleep 603 & ${untilRuns("sleep")}; exit 3`]
  ] as const) {
    it.live(`a process that threw its environment away, ${what}, is named as one that outlives the session`, () =>
      Effect.gen(function*() {
        const left = yield* inWorkspace(() => Effect.gen(function*() {
          const result = yield* bash(command)
          const [left, ...others] = leftOf(result.details)
          assert.deepStrictEqual([others, left!.escaped, left!.outlives], [[], true, true])
          assert.include(result.text, `[still running, and out of reach: it goes on when the session has ended, unless you end it: ${left!.pid} `)
          assert.notInclude(result.text, "until the session ends")
          return left!
        }))
        assert.isFalse(isGone(left.pid))
        process.kill(left.pid)
        yield* waitUntilGone(left.pid)
      }))
  }

  it.live("what left its group is ended before the session is over, also on a machine that is slow to say what runs", () =>
    Effect.gen(function*() {
      const slow = (fs: FileSystem.FileSystem) => ({
        readDirectory: (path: string, options?: Parameters<typeof fs.readDirectory>[1]) => Effect.delay(fs.readDirectory(path, options), path === "/proc" ? "400 millis" : 0)
      })
      const pid = yield* inWorkspace(() => Effect.map(bash(`setsid sleep 600 & ${untilRuns("sleep")}; echo done`), ({ details }) => leftOf(details)[0]!.pid), {}, slow)
      assert.isTrue(isGone(pid))
    }))

  it.live("what a failed command left outside its group is named, and nothing that ended with it", () =>
    inWorkspace((w) => Effect.gen(function*() {
      const command = `sleep 600 & setsid sleep 601 & ${untilRuns("sleep")}; exit 3`
      const { details } = yield* bash(command)
      assert.strictEqual(details?.["exit_code"], 3)
      assert.deepStrictEqual(leftOf(details).map(({ command }) => command), ["sleep 601"])
      assert.deepStrictEqual(yield* w.names("."), [])
    })))

  it.live("a process in the background neither holds the call nor is ended by it, but by the end of the session", () =>
    Effect.gen(function*() {
      const pid = yield* inWorkspace(() => Effect.gen(function*() {
        const result = yield* bash("(while :; do echo x; sleep 0.02; done) & echo pid $!")
        const pid = Number(/pid (\d+)/.exec(result.text)?.[1])
        assert.match(result.text, new RegExp(`\\[still running in the background, until the session ends: (.*; )?${pid} `))
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

  it.live("interruption ends the whole tree, what left the group too, and hands over what was printed", () =>
    inWorkspace((w) => Effect.gen(function*() {
      let partial: ToolResult | undefined
      const live: Array<string> = []
      const context = {
        output: (delta: string) => Effect.sync(() => { live.push(delta) }),
        interrupted: (result: ToolResult) => Effect.sync(() => { partial = result })
      }
      const command = "echo begun; setsid sleep 300 & echo $! > outer; sleep 300 & echo more; echo $! > pid; sleep 300"
      const fiber = yield* Effect.forkChild(bashTool().run({ command }, context))
      const number = (name: string) =>
        w.text(name).pipe(Effect.flatMap((text) => text === "" ? Effect.fail("empty") : Effect.succeed(Number(text))), Effect.eventually)
      const pids = [yield* number("pid"), yield* number("outer")]
      yield* Effect.repeat(Effect.yieldNow, { until: () => live.length > 0 })
      yield* Fiber.interrupt(fiber)
      for (const pid of pids) yield* waitUntilGone(pid)
      assert.match(textOf(partial!), /^INTERRUPTED \(\d+ ms\)\n\nstdout:\nbegun\n/)
      assert.isTrue(partial?.isError)
      assert.isTrue(partial?.details?.["interrupted"])
    })))

  it.live("a command longer than the system takes is an error result, and so is an environment", () =>
    inWorkspace(() => Effect.gen(function*() {
      assert.include((yield* bash(`: ${"x".repeat(200_000)}`)).text, "command has more than 131071 bytes")
      assert.include((yield* bash("true", {}, { env: { LONG: "x".repeat(200_000) } })).text, "E2BIG")
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

  it.live("of much output little stays in memory", () =>
    inWorkspace(() => Effect.gen(function*() {
      const before = process.memoryUsage.rss()
      const peak = { bytes: before }
      const context = { output: () => Effect.sync(() => { peak.bytes = Math.max(peak.bytes, process.memoryUsage.rss()) }) }
      const result = yield* bashTool().run({ command: "yes | head -c 200M" }, context)
      assert.include(textOf(result), `the first ${64 * 1024 * 1024} of ${200 * 1024 * 1024} bytes are in`)
      assert.isBelow(Math.max(peak.bytes, process.memoryUsage.rss()) - before, 100_000_000)
    })), 30_000)

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
    }).pipe(Effect.provide(fakeOperations((request) => Effect.as(say(request, "word\n".repeat(50_000)), { code: 0, background: false, left: [] })))))

  it.effect("both streams share the limit: neither is cut while they fit together", () =>
    Effect.gen(function*() {
      const { details, text } = yield* bash("x")
      assert.notInclude(text, "dropped")
      assert.isUndefined(details?.["output_file"])
      assert.strictEqual(text.split("\n").filter((line) => line === "out" || line === "err").length, 1900)
    }).pipe(Effect.provide(fakeOperations((request) =>
      Effect.as(
        Effect.andThen(say(request, "out\n".repeat(300)), request.onOutput("stderr", new TextEncoder().encode("err\n".repeat(1600)))),
        { code: 0, background: false, left: [] }
      )))))
})
