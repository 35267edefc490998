import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import type { Host } from "../../src/Host.ts"
import { readScreenSettings } from "../../src/tui/ScreenSettings.ts"

const read = (files: Readonly<Record<string, string>>, environment: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const home = yield* fs.makeTempDirectoryScoped()
    yield* fs.makeDirectory(`${home}/.nimlet`)
    for (const [name, text] of Object.entries(files)) yield* fs.writeFileString(`${home}/.nimlet/${name}`, text)
    return yield* readScreenSettings({ home, environment } as Host, false)
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

describe("what a person says of their screen", () => {
  it.effect("is nothing by default", () =>
    Effect.map(read({}), (settings) =>
      assert.deepStrictEqual(settings, { keys: {}, appearance: { theme: "auto", ground: "dark", plain: false }, mouse: true, problems: [] })))

  it.effect("stands in config.json, keys in a file of their own over it", () =>
    Effect.map(
      read({
        "config.json": JSON.stringify({ theme: "light", mouse: false, screen_reader: true, keybindings: { "app.suspend": "ctrl+x", "app.search": ["f3"] } }),
        "keybindings.json": JSON.stringify({ "app.search": "f4" })
      }, { COLORFGBG: "0;15" }),
      (settings) =>
        assert.deepStrictEqual(settings, { keys: { "app.suspend": ["ctrl+x"], "app.search": ["f4"] }, appearance: { theme: "light", ground: "light", plain: true }, mouse: false, problems: [] })
    ))

  it.effect.each([["1", true], ["0", false], ["", false]] as const)("the environment wins: NIMLET_SCREEN_READER=%j is %j", ([value, plain]) =>
    Effect.map(read({ "config.json": JSON.stringify({ screen_reader: !plain }) }, { NIMLET_SCREEN_READER: value }), ({ appearance }) => assert.strictEqual(appearance.plain, plain)))

  it.effect("is told of when it is no good, and left aside", () =>
    Effect.map(read({ "config.json": "{ no json", "keybindings.json": "[1]" }), ({ keys, problems }) => {
      assert.deepStrictEqual(keys, {})
      assert.match(problems.join("\n"), /^~\/\.nimlet\/keybindings\.json was left aside/)
    }))

  it.effect("keys that mean nothing are told of", () =>
    Effect.map(read({ "keybindings.json": JSON.stringify({ "app.sleep": "f1" }) }), ({ problems }) => assert.match(problems.join("\n"), /app\.sleep/)))
})
