import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { optionsOf, screen, startAll, workers } from "./kit.ts"

const run = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.scoped(effect).pipe(Effect.provide(workers()))
const saying = (word: string) => `let calls = 0; export default (pi) => { pi.registerCommand("say", { handler: async (_, ctx) => ctx.ui.notify("${word} " + ++calls) }) }`

describe("starting anew in the same session", () => {
  // A-017 A-018 A-062
  it.live("takes what was edited; a new one that fails leaves the old one, with its state, until the next", () =>
    run(Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const front = screen()
      const { again, extensions, folder } = yield* startAll({ screen: front, files: { "a.mjs": saying("one"), "b.mjs": "export default () => {}" } })
      const file = `${folder}/extensions/a.mjs`
      yield* extensions.runCommand("say", "")
      yield* fs.writeFileString(file, "export default () => { throw new Error('broken') }")
      const kept = yield* again
      assert.deepStrictEqual(kept.started, ["a", "b"])
      assert.match(kept.warnings[0]!, /'a' failed to start: it threw Error: broken/)
      assert.strictEqual(kept.warnings[1], "extension 'a' goes on as it was")
      yield* extensions.runCommand("say", "")
      yield* fs.writeFileString(file, saying("two"))
      assert.deepStrictEqual((yield* again).warnings, [])
      yield* extensions.runCommand("say", "")
      assert.deepStrictEqual(front.notices(), ["one 1", "one 2", "two 1"])
      assert.deepStrictEqual((yield* extensions.figures).map(({ key, restarts }) => [key, restarts]), [["a", 0], ["b", 0]])
      yield* extensions.stop
      assert.deepStrictEqual(yield* extensions.commands, [])
    })))

  it.live("in another session nothing of the old one stays", () =>
    run(Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { extensions, folder, watched } = yield* startAll({ files: { "a.mjs": saying("one") } })
      yield* fs.writeFileString(`${folder}/extensions/a.mjs`, "export default () => { throw new Error('broken') }")
      const report = yield* watched(extensions.start({ ...optionsOf(folder), sessionId: "s2" }))
      assert.deepStrictEqual(report.started, [])
      assert.deepStrictEqual(yield* extensions.commands, [])
    })))

  it.live("twenty times with a live timer holds no more memory than once", () =>
    run(Effect.gen(function*() {
      const { again, extensions } = yield* startAll({
        files: { "a.mjs": "export default (pi) => { const held = new Array(1_000_000).fill(pi); setInterval(() => held.length, 10) }" }
      })
      for (let n = 0; n < 5; n++) yield* again
      const before = process.memoryUsage().rss
      for (let n = 0; n < 20; n++) yield* again
      assert.isBelow((process.memoryUsage().rss - before) / (1 << 20), 60)
      assert.strictEqual((yield* extensions.figures).length, 1)
    })), 60_000)
})
