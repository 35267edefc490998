import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, FileSystem } from "effect"
import { fileURLToPath } from "node:url"
import { alive, processes, startAll } from "./kit.ts"

/** Real processes on a busy machine. */
const limit = 30_000

const fixture = (name: string, ...args: ReadonlyArray<string>) => ({
  command: [process.execPath, fileURLToPath(new URL(`fixtures/${name}.mjs`, import.meta.url)), ...args]
})
const quote = (word: string) => `'${word}'`
/** The same behind a shell that is the only one the host knows. */
const wrapped = (name: string, ...args: ReadonlyArray<string>) => ({
  command: ["sh", "-c", `${fixture(name, ...args).command.map(quote).join(" ")} & wait`]
})
const registers = "{\"type\":\"register\",\"commands\":[]}"
const timed = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  const from = yield* Clock.currentTimeMillis
  const value = yield* effect
  return [value, (yield* Clock.currentTimeMillis) - from] as const
})
const temp = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
const pidsIn = (file: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.map(Effect.orElseSucceed(fs.readFileString(file), () => ""), (text) => text.trim().split(" ").filter((pid) => pid !== "").map(Number)))
const untilGone = (file: string) =>
  Effect.repeat(Effect.andThen(Effect.sleep(20), Effect.map(pidsIn(file), (pids) => !pids.some(alive))), { until: (gone) => gone, times: 200 })

describe("stopping processes", () => {
  // E-114 E-301
  it.live("waits for one that leaves in order and ends one that does not, both at once and within 4.5 s", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* temp
      const host = yield* startAll({
        manifests: { a: fixture("leaver", `${folder}/left`), b: fixture("stubborn", `${folder}/pids`), c: fixture("leaver", `${folder}/left-too`) }
      })
      yield* host.start
      const [, millis] = yield* timed(host.extensions.stop)
      assert.isBelow(millis, 4_500)
      assert.isTrue(yield* fs.exists(`${folder}/left`))
      assert.isTrue(yield* fs.exists(`${folder}/left-too`))
      assert.strictEqual((yield* pidsIn(`${folder}/pids`)).length, 2)
      assert.isTrue(yield* untilGone(`${folder}/pids`))
    }).pipe(Effect.provide(processes)), limit)

  // E-301
  it.live("ends the program behind a wrapper, at each new start and in the end", () =>
    Effect.gen(function*() {
      const pids = `${yield* temp}/pids`
      const host = yield* startAll({ manifests: { a: wrapped("stays", pids, registers) } })
      for (let n = 1; n <= 3; n++) {
        yield* host.start
        const all = yield* pidsIn(pids)
        assert.strictEqual(all.length, n)
        assert.deepStrictEqual(all.filter(alive), all.slice(-1))
      }
      yield* host.extensions.stop
      assert.isTrue(yield* untilGone(pids))
    }).pipe(Effect.provide(processes)), limit)

  // E-087
  it.live("one that did not register as it must is ended promptly, and the way out does not wait for it", () =>
    Effect.gen(function*() {
      const folder = yield* temp
      const host = yield* startAll({
        manifests: { a: wrapped("stays", `${folder}/a`, "{\"type\":\"register\"}"), b: fixture("stays", `${folder}/b`, "{\"type\":\"update\"}"), c: fixture("echo") }
      })
      const report = yield* host.start
      assert.deepStrictEqual(report.started, ["c"])
      const [, millis] = yield* timed(Effect.andThen(untilGone(`${folder}/a`), untilGone(`${folder}/b`)))
      assert.isBelow(millis, 1_500)
      const [, stopMillis] = yield* timed(host.extensions.stop)
      assert.isBelow(stopMillis, 1_500)
    }).pipe(Effect.provide(processes)), limit)

  it.live("one that crashes takes what it started with it before it starts again", () =>
    Effect.gen(function*() {
      const folder = yield* temp
      const script = `${fixture("stays", `${folder}/pids`, registers).command.map(quote).join(" ")} & sleep 0.3; exit 3`
      const host = yield* startAll({ manifests: { a: { command: ["sh", "-c", script], restart: false } } })
      assert.deepStrictEqual((yield* host.start).started, ["a"])
      assert.isTrue(yield* untilGone(`${folder}/pids`))
      yield* Effect.repeat(Effect.sleep(20), { until: () => host.diagnostics.length > 0, times: 200 })
      assert.deepStrictEqual(host.diagnostics.map(({ message }) => message), ["extension 'a' exited with code 3 unexpectedly"])
    }).pipe(Effect.provide(processes)), limit)

  it.live("ten that are deaf to everything take no longer than one", () =>
    Effect.gen(function*() {
      const folder = yield* temp
      const names = Array.from({ length: 10 }, (_, n) => `e${n}`)
      const host = yield* startAll({ manifests: Object.fromEntries(names.map((name) => [name, fixture("stays", `${folder}/pids`, registers)])) })
      assert.strictEqual((yield* host.start).started.length, 10)
      const [, millis] = yield* timed(host.extensions.stop)
      assert.isBelow(millis, 4_500)
      assert.isTrue(yield* untilGone(`${folder}/pids`))
    }).pipe(Effect.provide(processes)), limit)
})
