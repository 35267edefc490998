import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { optionsOf, place, screen, startAll, workers } from "./kit.ts"

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

  // A-028 A-042 A-043 A-249
  it.live("loads the new one, then lets the old one end, then tells the new one of the session; one that fails changes nothing", () =>
    run(Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const writing = (word: string) => `import { appendFileSync } from "node:fs"
        const say = (text) => appendFileSync("FILE", "${word} " + text + "\\n")
        export default async (pi) => {
          await new Promise((done) => setTimeout(done, 20))
          say("is ready")
          pi.on("session_start", ({ reason }) => say("starts " + reason))
          pi.on("session_shutdown", async ({ reason }) => { await new Promise((done) => setTimeout(done, 20)); say("ends " + reason) })
        }`
      const { again, extensions, folder, hooks } = yield* startAll({ files: { "a.mjs": "export default () => {}" } })
      const write = (word: string) => fs.writeFileString(`${folder}/extensions/a.mjs`, writing(word).replace("FILE", `${folder}/heard`))
      const told = (reason: "startup" | "reload") => hooks.run("session_start", { ...place, provider: "p", model: "m", thinking: "", reason }, { reloading: reason === "reload" })
      yield* write("one")
      yield* again
      yield* told("startup")
      yield* write("two")
      yield* again
      yield* told("reload")
      yield* fs.writeFileString(`${folder}/extensions/a.mjs`, "export default () => { throw new Error('broken') }")
      yield* again
      yield* told("reload")
      yield* hooks.run("session_shutdown", { ...place, reason: "quit" })
      yield* extensions.stop
      assert.deepStrictEqual((yield* fs.readFileString(`${folder}/heard`)).trim().split("\n"), [
        "one is ready", "one starts startup",
        "two is ready", "one ends reload", "two starts reload",
        "two ends quit"
      ])
    })))

  //
  it.live("a class of ours that an object of the session was made with is the same after a reload, by either name", () =>
    run(Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const front = screen()
      const text = (from: string) => `import { DynamicBorder, sessionScopedExtensionState } from "${from}"
        export default (pi) => {
          class Own extends DynamicBorder {}
          const state = sessionScopedExtensionState(pi.events, "x:class:v1", () => ({ made: DynamicBorder, line: Object.create(Own.prototype) }))
          pi.registerCommand("say", { handler: async (_, ctx) => ctx.ui.notify([state.made === DynamicBorder, state.line instanceof DynamicBorder, state.line instanceof Own].join()) })
        }`
      const { again, extensions, folder } = yield* startAll({ screen: front, files: { "a.mjs": text("@bastani/atomic") } })
      yield* extensions.runCommand("say", "")
      yield* fs.writeFileString(`${folder}/extensions/a.mjs`, text("@earendil-works/pi-coding-agent"))
      yield* again
      yield* extensions.runCommand("say", "")
      assert.deepStrictEqual(front.notices(), ["true,true,true", "true,true,false"])
    })))

  //
  it.live("two sessions in one process have objects of their own", () => {
    const front = screen()
    const files = { "a.mjs": `import { sessionScopedExtensionState } from "@bastani/atomic"
      export default (pi) => {
        const state = sessionScopedExtensionState(pi.events, "x:n:v1", () => ({ n: 0 }))
        pi.registerCommand("count", { handler: async (_, ctx) => ctx.ui.notify(String(++state.n)) })
      }` }
    const session = (times: number) =>
      run(Effect.gen(function*() {
        const { again, extensions } = yield* startAll({ screen: front, files })
        for (let n = 0; n < times; n++) yield* extensions.runCommand("count", "")
        yield* again
        yield* extensions.runCommand("count", "")
      }))
    return Effect.andThen(Effect.all([session(1), session(4)], { concurrency: 2 }), Effect.sync(() =>
      assert.deepStrictEqual(front.notices().toSorted(), ["1", "1", "2", "2", "3", "4", "5"])))
  })

  // A-059 A-060 A-074 A-075 A-083 A-084 A-085 A-086 A-088 A-090 A-091 A-092
  it.live("an object of the session's scope is the same after a reload, live, and gone with the session", () =>
    run(Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const front = screen()
      const counter = (word: string) => `import { sessionScopedExtensionState } from "@bastani/atomic"
        import { helper } from "./helper.ts"
        let ofModule = 0
        export default (pi) => {
          const state = sessionScopedExtensionState(pi.events, "x:counter:v1", () => ({ count: 0, controller: new AbortController() }))
          pi.on("session_shutdown", () => { state.controller.abort() })
          pi.registerCommand("bump", { handler: async (_, ctx) => ctx.ui.notify(["${word}", helper, ++state.count, ++ofModule, state.controller.signal.aborted].join()) })
        }`
      const { again, extensions, folder, watched } = yield* startAll({
        screen: front,
        files: { "a/index.ts": counter("one"), "a/helper.ts": "export const helper: string = 'h1'" }
      })
      yield* extensions.runCommand("bump", "")
      yield* fs.writeFileString(`${folder}/extensions/a/index.ts`, counter("two"))
      yield* fs.writeFileString(`${folder}/extensions/a/helper.ts`, "export const helper: string = 'h2'")
      yield* again
      yield* extensions.runCommand("bump", "")
      yield* fs.writeFileString(`${folder}/extensions/a/index.ts`, "export default () => { throw new Error('broken') }")
      assert.deepStrictEqual((yield* again).warnings, [
        "extension 'a' failed to start: it threw Error: broken before it registered",
        "extension 'a' goes on as it was"
      ])
      yield* extensions.runCommand("bump", "")
      yield* fs.writeFileString(`${folder}/extensions/a/index.ts`, counter("three"))
      assert.deepStrictEqual((yield* again).warnings, [])
      yield* extensions.runCommand("bump", "")
      yield* watched(extensions.start({ ...optionsOf(folder), sessionId: "s2" }))
      yield* extensions.runCommand("bump", "")
      assert.deepStrictEqual(front.notices(), ["one,h1,1,1,false", "two,h2,2,1,true", "two,h2,3,2,true", "three,h2,4,1,true", "three,h2,1,1,false"])
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
