import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, FileSystem, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { fileURLToPath } from "node:url"
import { type Frame, FrameTap, Frontend, headless } from "../src/index.ts"
import { alive, type Json, processes, startAll } from "./kit.ts"

/** Real processes on a busy machine. */
const limit = 30_000

const fixture = (name: string, ...args: ReadonlyArray<string>) => ({
  command: [process.execPath, fileURLToPath(new URL(`fixtures/${name}.mjs`, import.meta.url)), ...args]
})
const textOf = (reply: { readonly content: ReadonlyArray<{ readonly type: string; readonly text?: string }> }) =>
  reply.content[0]?.text ?? ""
const gone = (pids: ReadonlyArray<number>) =>
  Effect.repeat(Effect.andThen(Effect.sleep(50), Effect.sync(() => !pids.some(alive))), { until: (all) => all, times: 100 })
const timed = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  const from = yield* Clock.currentTimeMillis
  const value = yield* effect
  return [value, (yield* Clock.currentTimeMillis) - from] as const
})
const pidsIn = (file: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.map(fs.readFileString(file), (text) => text.split(" ").map(Number)))

describe("extensions as processes", () => {
  // E-026 E-031 E-043 E-044 E-050
  it.live("run in the workspace with the given environment, without withheld keys", () =>
    Effect.gen(function*() {
      const odd = ["--flag", "a b", "$HOME", "*", "'\"", "./here", "back\\slash", "ü\n2"]
      const environment = { PATH: process.env.PATH ?? "", SECRET_KEY: "1", OTHER_KEY: "2", NIMLET_MODEL: "stale" }
      const host = yield* startAll({
        manifests: { a: { ...fixture("echo", ...odd), env: ["OTHER_KEY"] } },
        start: { environment, withheld: ["SECRET_KEY", "OTHER_KEY"], session: { model: "m1" }, trusted: false }
      })
      assert.deepStrictEqual(yield* host.start, { started: ["a"], warnings: [], missing: [] })
      const { argv, cwd, env }: { argv: ReadonlyArray<string>; cwd: string; env: Json } = JSON.parse(textOf(yield* host.extensions.callTool("echo", { env: true })))
      assert.strictEqual(cwd, host.folder)
      assert.deepStrictEqual(argv, odd)
      assert.deepStrictEqual(
        [env.SECRET_KEY, env.OTHER_KEY, env.NIMLET_MODEL, env.NIMINAL_MODEL, env.NIMLET_TRUSTED, env.NIMINAL_SESSION_ID],
        [undefined, "2", "m1", "m1", "0", "s1"]
      )
    }).pipe(Effect.provide(processes)), limit)

  // E-003 E-024 E-032
  it.live("finds a program named with a slash in the extension's folder", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const host = yield* startAll({ manifests: { a: { command: ["./run.sh"] } } })
      const script = `${host.folder}/extensions/a/run.sh`
      yield* fs.writeFileString(script, "#!/bin/sh\necho '{\"type\":\"register\",\"commands\":[]}'\nread line\nread line\n")
      yield* fs.chmod(script, 0o755)
      assert.deepStrictEqual(yield* host.start, { started: ["a"], warnings: [], missing: [] })
    }).pipe(Effect.provide(processes)), limit)

  // E-049
  it.live("keeps standard error in a bounded log of its own and out of the protocol", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const host = yield* startAll({ manifests: { a: fixture("echo") } })
      yield* host.start
      yield* host.extensions.callTool("echo", { log: "x".repeat(3 << 20) })
      yield* host.extensions.stop
      const { size } = yield* fs.stat(`${host.folder}/logs/a.log`)
      assert.strictEqual(Number(size), 1 << 20)
    }).pipe(Effect.provide(processes)), limit)

  it.live("one whose register line has no end is told so", () =>
    Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { command: ["node", "-e", "process.stdout.write('{\"type\":\"register\",\"commands\":[]}'); process.stdin.resume()"], response_timeout_seconds: 1 } } })
      assert.deepStrictEqual((yield* host.start).warnings, [
        "extension 'a' has written a line without its end; each line ends with a newline, and counts once that has come",
        "extension 'a' failed to start: extension response timed out"
      ])
    }).pipe(Effect.provide(processes)), limit)

  it.live("one that exits at once, one that never registers and one that is missing cost one warning each, and leave nothing", () =>
    Effect.gen(function*() {
      const host = yield* startAll({
        manifests: {
          a: fixture("exits"),
          b: { ...fixture("mute"), response_timeout_seconds: 1 },
          c: { command: ["./missing"] },
          d: fixture("echo")
        }
      })
      const [report, millis] = yield* timed(host.start)
      assert.deepStrictEqual(report.started, ["d"])
      assert.deepStrictEqual([...report.warnings].sort(), [
        "extension 'a' failed to start: it exited with code 3 before it registered",
        "extension 'b' failed to start: extension response timed out",
        `extension 'c' failed to start: cannot find ${host.folder}/extensions/c/missing; check "command" in extension.json`
      ])
      assert.isBelow(millis, 3_000)
      assert.isFalse((yield* host.extensions.callTool("echo", {})).isError)
      assert.deepStrictEqual(host.diagnostics, [])
    }).pipe(Effect.provide(processes)), limit)

  // E-277
  it.live("a crash fails the request at once, and the next one meets a fresh process", () =>
    Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: fixture("echo") } })
      yield* host.start
      const [failed, millis] = yield* timed(Effect.flip(host.extensions.callTool("echo", { exit: 0 })))
      assert.strictEqual(failed.message, "extension 'a' exited before responding")
      assert.isBelow(millis, 1_000)
      const again: Json = JSON.parse(textOf(yield* host.extensions.callTool("echo", { n: 1 })))
      assert.deepStrictEqual([again.id, again.arguments], ["1", { n: 1 }])
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), ["extension 'a' exited with code 0 unexpectedly"])
    }).pipe(Effect.provide(processes)), limit)

  it.live("one that closes its input is a crash, though it lives on", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* fs.makeTempDirectoryScoped()}/closed`
      const host = yield* startAll({ manifests: { a: { ...fixture("shy", file), restart: false } } })
      yield* host.start
      yield* Effect.repeat(Effect.andThen(Effect.sleep(10), fs.exists(file)), { until: (there) => there, times: 200 })
      const failed = yield* Effect.flip(host.extensions.callTool("go", {}))
      assert.include(["crashed", "unavailable"], failed.reason)
      yield* Effect.repeat(Effect.sleep(10), { until: () => host.diagnostics.length > 0, times: 200 })
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), ["extension 'a' closed its input unexpectedly"])
    }).pipe(Effect.provide(processes)), limit)

  it.live("what waits for one that closes its input fails at once, and the next request meets a fresh process", () =>
    Effect.gen(function*() {
      const file = `${yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())}/closed`
      const host = yield* startAll({ manifests: { a: fixture("shy", file, "tool"), b: fixture("echo") } })
      yield* host.start
      const crash = Effect.gen(function*() {
        const [failed, millis] = yield* timed(Effect.flip(host.extensions.callTool("go", {})))
        assert.strictEqual(failed.message, "extension 'a' exited before responding")
        // Far from its budget of 30 s; the second waits for the new process, which a loaded machine takes long to start.
        assert.isBelow(millis, 5_000)
      })
      yield* crash
      yield* crash
      assert.isFalse((yield* host.extensions.callTool("echo", {})).isError)
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), ["extension 'a' closed its input unexpectedly"])
    }).pipe(Effect.provide(processes)), limit)

  it.live("an exit is noticed though a grandchild holds the output open, and the grandchild goes too", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* fs.makeTempDirectoryScoped()}/pids`
      const host = yield* startAll({ manifests: { a: { ...fixture("leaves", file), restart: false } } })
      yield* host.start
      const [failed, millis] = yield* timed(Effect.flip(host.extensions.callTool("go", {})))
      assert.strictEqual(failed.reason, "crashed")
      assert.isBelow(millis, 1_500)
      assert.isTrue(yield* gone(yield* pidsIn(file)))
    }).pipe(Effect.provide(processes)), limit)

  // E-301
  it.live("stops one that ignores everything, with its grandchild, within 4.5 s, and others at once", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* fs.makeTempDirectoryScoped()}/pids`
      const host = yield* startAll({ manifests: { a: fixture("stubborn", file), b: fixture("deaf"), c: fixture("echo") } })
      yield* host.start
      const pids = yield* pidsIn(file)
      assert.isTrue(pids.every(alive))
      const [, millis] = yield* timed(host.extensions.stop)
      assert.isAtLeast(millis, 2_000)
      assert.isBelow(millis, 4_500)
      assert.isTrue(yield* gone(pids))
    }).pipe(Effect.provide(processes)), limit)

  // E-116 X-021
  it.live("a polite one is not made to wait: stop takes no longer than its goodbye", () =>
    Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: fixture("echo") } })
      yield* host.start
      const [, millis] = yield* timed(host.extensions.stop)
      assert.isBelow(millis, 1_500)
      assert.strictEqual(yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFileString(`${host.folder}/logs/a.log`)), "goodbye\n")
    }).pipe(Effect.provide(processes)), limit)

  // E-006 E-138 E-139 X-083
  it.live("a flood of updates holds back only the one that pours, and it still answers", () =>
    Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: fixture("floods", "200000"), b: fixture("echo") } })
      let last = ""
      const frontend = { ...headless, status: (_: string, [{ text } = { text: "" }]: ReadonlyArray<{ readonly text: string }>) => Effect.sync(() => {
        last = text
      }) }
      yield* host.start.pipe(Effect.provideService(Frontend, frontend))
      const [, millis] = yield* timed(host.extensions.callTool("echo", {}))
      assert.isBelow(millis, 2_000)
      assert.strictEqual(textOf(yield* host.extensions.callTool("ping", {})), "pong")
      yield* Effect.repeat(Effect.andThen(Effect.sleep(20), Effect.sync(() => last)), { until: (text) => text === "0", times: 500 })
      assert.strictEqual(last, "0")
    }).pipe(Effect.provide(processes)), limit)

  // E-141
  it.live("takes whole lines that other threads of the extension write, each in its order, while it answers", () =>
    Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: fixture("threads") } })
      yield* host.start
      assert.strictEqual(textOf(yield* host.extensions.callTool("go", {})), "poured")
      assert.deepStrictEqual(host.diagnostics, [])
      const entries = host.entries.map(({ data }) => data as { readonly thread: number; readonly count: number })
      for (const thread of [1, 2, 3, 4]) {
        const counts = entries.filter((entry) => entry.thread === thread).map(({ count }) => count)
        assert.deepStrictEqual(counts, Array.from({ length: 250 }, (_, n) => n))
      }
    }).pipe(Effect.provide(processes)), limit)

  // E-293
  it.live("one that acknowledges events only: its tool and its command end with the timeout's text, and it leaves by itself", () =>
    Effect.gen(function*() {
      const host = yield* startAll({ manifests: { a: { ...fixture("silent"), response_timeout_seconds: 1 } } })
      const frames: Array<Frame> = []
      yield* host.start.pipe(Effect.provideService(FrameTap, (frame) => Effect.sync(() => void frames.push(frame))))
      yield* host.hooks.run("turn_end", { session_id: "s1", workspace: host.folder })
      const ended = yield* Effect.all([
        Effect.flip(host.extensions.callTool("list_todos", {})),
        Effect.flip(host.extensions.runCommand("todos", ""))
      ], { concurrency: "unbounded" })
      assert.deepStrictEqual(ended.map(({ message }) => message), Array.from({ length: 2 }, () => "extension response timed out"))
      const [, millis] = yield* timed(host.extensions.stop)
      assert.isBelow(millis, 1_500)
      assert.deepStrictEqual(frames.filter(({ direction }) => direction === "in").map(({ line }) => JSON.parse(line).type), ["register", "response"])
    }).pipe(Effect.provide(processes)), limit)

  const byHand = Effect.fnUntraced(function*(name: string, ...lines: ReadonlyArray<Json>) {
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("")
    const [program, ...args] = fixture(name).command
    const run = yield* ChildProcess.make(program!, args, { stdin: Stream.make(new TextEncoder().encode(text)) })
    const out = yield* Stream.mkString(Stream.decodeText(run.stdout))
    return { code: yield* run.exitCode, out: out.trim().split("\n").map((line): Json => JSON.parse(line)) }
  }, Effect.scoped, Effect.provide(NodeServices.layer))

  // E-304
  it.live("an extension runs by hand with its input at its end: it registers and leaves", () =>
    Effect.map(byHand("echo"), ({ code, out }) => {
      assert.deepStrictEqual([Number(code), out.map(({ type }) => type)], [0, ["register"]])
    }), limit)

  // E-295
  it.live("one that ends itself on shutdown does so with code 0", () =>
    Effect.map(byHand("silent", { type: "event", id: "1", event: "turn_end", payload: {} }, { type: "shutdown" }, { type: "event", id: "2" }), ({ code, out }) => {
      assert.deepStrictEqual([Number(code), out.map(({ id }) => id)], [0, [undefined, "1"]])
    }), limit)

  // E-305
  it.live("lines piped in by hand get the answers they would get from nimlet", () =>
    Effect.map(
      byHand(
        "echo",
        { type: "initialize", version: 1, workspace: "/w", session_id: "test" },
        { type: "command", id: "1", name: "note", arguments: "hello" },
        { type: "shutdown" }
      ),
      ({ code, out }) => {
        assert.deepStrictEqual([Number(code), out.map(({ id, type }) => [type, id])], [0, [["register", undefined], ["response", "1"]]])
      }
    ), limit)

  it.live("started anew again and again behind a wrapper, there is one process of it, and none at the end", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* fs.makeTempDirectoryScoped()}/pid`
      const [node, program] = fixture("pid").command
      const host = yield* startAll({ manifests: { a: { command: ["sh", "-c", "exec 3<&0; \"$0\" \"$1\" \"$2\" <&3 & wait", node!, program!, file] } } })
      const lives: Array<number> = []
      for (let n = 0; n < 5; n++) {
        assert.deepStrictEqual((yield* host.start).started, ["a"])
        assert.isTrue(yield* gone(lives))
        lives.push(...(yield* pidsIn(file)))
        assert.isTrue(alive(lives.at(-1)!))
      }
      assert.strictEqual(new Set(lives).size, 5)
      yield* host.extensions.stop
      assert.isTrue(yield* gone(lives))
    }).pipe(Effect.provide(processes)), limit)

  it.live("closing the layer stops what runs", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* fs.makeTempDirectoryScoped()}/pids`
      yield* Effect.gen(function*() {
        const host = yield* startAll({ manifests: { a: fixture("leaves", file) } })
        yield* host.start
        assert.isTrue((yield* pidsIn(file)).every(alive))
      }).pipe(Effect.scoped, Effect.provide(processes))
      assert.isTrue(yield* gone(yield* pidsIn(file)))
    }).pipe(Effect.provide(NodeServices.layer)), limit)

  it.live("ends by end-of-file within 2 s when the host is killed", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const manifest = { name: "a", ...fixture("pid", `${folder}/pid`) }
      yield* fs.writeFileString(`${folder}/extension.json`, JSON.stringify(manifest))
      const host = yield* ChildProcess.make(process.execPath, [
        fileURLToPath(new URL("fixtures/host.ts", import.meta.url)),
        folder
      ])
      yield* Stream.runHead(host.stdout)
      const pids = yield* pidsIn(`${folder}/pid`)
      assert.isTrue(pids.every(alive))
      process.kill(host.pid, "SIGKILL")
      const [ended, millis] = yield* timed(gone(pids))
      assert.isTrue(ended)
      assert.isBelow(millis, 2_000)
    }).pipe(Effect.provide(NodeServices.layer)), limit)

  it.live("hooks go through child processes, in order and in parallel starts", () =>
    Effect.gen(function*() {
      const names = Array.from({ length: 8 }, (_, n) => `e${n}`)
      const host = yield* startAll({ manifests: Object.fromEntries(names.map((name) => [name, fixture("echo")])) })
      const { started } = yield* host.start
      assert.deepStrictEqual(started, names)
      const outcome = yield* host.hooks.run("tool_call", { tool: "bash", arguments: { command: "ls" } })
      assert.strictEqual(outcome._tag, "Continue")
      assert.strictEqual((yield* host.hooks.run("turn_start", { session_id: "s1", workspace: host.folder }))._tag, "Continue")
    }).pipe(Effect.provide(processes)), limit)
})
