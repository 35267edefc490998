import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, Ref, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { Sessions, type SessionText } from "../src/index.ts"

const program = `${import.meta.dirname}/write-process.mjs`
const sessionsIn = (folder: string) =>
  Effect.provide(Sessions, Layer.provide(
    Sessions.layer(folder, {
      pid: process.pid,
      isAlive: (pid) => {
        try {
          return process.kill(pid, 0)
        } catch {
          return false
        }
      }
    }),
    NodeServices.layer
  ))

const inFolder = <A, E>(body: (folder: string) => Effect.Effect<A, E, NodeServices.NodeServices>) =>
  Effect.gen(function*() {
    return yield* body(yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped())
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

const numbersOf = (session: SessionText) =>
  session.entries.map((entry) => entry.type === "user" && "content" in entry && entry.content[0]?.type === "text" ? Number.parseInt(entry.content[0].text) : NaN)

/** What a writing process said, and what it did, by `command`; `stop` is asked after every line whether to kill it. */
const lines = Effect.fnUntraced(function*(command: readonly [string, ReadonlyArray<string>], stop: (said: number) => boolean) {
  const said = yield* Ref.make<ReadonlyArray<string>>([])
  const child = yield* ChildProcess.make(...command)
  yield* child.stdout.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.runForEach((line) =>
      Ref.updateAndGet(said, (all) => [...all, line]).pipe(
        Effect.flatMap((all) => stop(all.length) ? Effect.ignore(child.kill({ killSignal: "SIGKILL" })) : Effect.void)
      ))
  )
  yield* Effect.exit(child.exitCode)
  return yield* Ref.get(said)
}, Effect.scoped)

describe("a process that is killed while it writes", () => {
  it.live("has lost nothing that it was told is written, and its session can be gone on with", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        for (const after of [2, 40, 150]) {
          const [id = "", ...written] = yield* lines([process.execPath, [program, folder, "1000000"]], (said) => said === after)
          assert.isAtLeast(written.length, after - 1)
          const sessions = yield* sessionsIn(folder)
          yield* Effect.scoped(Effect.gen(function*() {
            const session = yield* sessions.open(id)
            yield* session.append({ type: "user", role: "user", content: [{ type: "text", text: "-1" }] })
          }))
          const numbers = numbersOf(yield* sessions.read(id))
          assert.isAtLeast(numbers.length, written.length + 1)
          assert.deepStrictEqual(numbers, [...numbers.slice(0, -1).keys(), -1])
        }
      })
    ), 60_000)
})

describe("a process whose file may not grow", () => {
  it.live("is told by every entry, goes on, and leaves whole lines", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        // The shell's limit on the size of files: a write goes as far as the limit and then fails.
        const limited = `trap '' XFSZ; ulimit -f 32; exec "$0" "$@"`
        const [id = "", ...said] = yield* lines(["sh", ["-c", limited, process.execPath, program, folder, "100"]], () => false)
        assert.strictEqual(said.length, 100)
        const written = said.findIndex((line) => line.startsWith("EFBIG: file too large, write (1)"))
        assert.isAtLeast(written, 5)
        assert.strictEqual(said.at(-1), `EFBIG: file too large, write (${100 - written})`)
        const sessions = yield* sessionsIn(folder)
        const read = yield* sessions.read(id)
        assert.deepStrictEqual(numbersOf(read), [...numbersOf(read).keys()])
        assert.strictEqual(read.entries.length, written)
        assert.deepStrictEqual([read.damaged, read.torn], [[], false])
      })
    ), 30_000)
})
