import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { Effect, FileSystem } from "effect"
import { discover, niminal, nimlet, rootsOf } from "../src/index.ts"

const put = Effect.fnUntraced(function*(folder: string, manifest: unknown) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.makeDirectory(folder, { recursive: true })
  yield* fs.writeFileString(`${folder}/extension.json`, typeof manifest === "string" ? manifest : JSON.stringify(manifest))
})
const temp = Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.flatMap(fs.makeTempDirectoryScoped(), fs.realPath))
const program = (name: string) => ({ name, command: ["x"] })

describe("discover", () => {
  // E-012 E-013 E-313
  it.effect("finds all roots of all families in startup order, names sorted bytewise", () =>
    Effect.gen(function*() {
      const home = yield* temp
      const workspace = yield* temp
      for (const [folder, name] of [
        [`${workspace}/.niminal/extensions/p3`, "p3"],
        [`${workspace}/.nimlet/extensions/p2`, "p2"],
        [`${workspace}/.agents/extensions/p1`, "p1"],
        [`${workspace}/.agent/extensions/never`, "never"],
        [`${home}/.niminal/extensions/g3`, "g3"],
        [`${home}/.nimlet/extensions/b`, "b"],
        [`${home}/.nimlet/extensions/Z`, "Z"],
        [`${home}/.nimlet/extensions/é`, "é"],
        [`${home}/.agents/extensions/g1`, "g1"]
      ] as const) yield* put(folder, program(name))
      const all = yield* discover({ roots: rootsOf({ home, workspace, trusted: true }), paths: [] })
      assert.deepStrictEqual(all.warnings, [])
      assert.deepStrictEqual(all.found.map(({ key }) => key), ["g1", "Z", "b", "é", "g3", "p1", "p2", "p3"])
      assert.deepStrictEqual(all.found.map(({ family }) => family.name).filter((name) => name === "niminal").length, 2)
      const untrusted = yield* discover({ roots: rootsOf({ home, workspace, trusted: false }), paths: [] })
      assert.deepStrictEqual(untrusted.found.map(({ key }) => key), ["g1", "Z", "b", "é", "g3"])
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("names guards that were meant to block and have a manifest that is no good", () =>
    Effect.gen(function*() {
      const root = yield* temp
      const guard = { ...program("g"), on_failure: "block" }
      yield* put(`${root}/comma`, '{"name": "comma", "command": ["x"], "on_failure": "block",}')
      yield* put(`${root}/seconds`, { ...guard, name: "seconds", response_timeout_seconds: "5" })
      yield* put(`${root}/typo`, { ...guard, name: "typo", on_failure: "blok" })
      yield* put(`${root}/nameless`, { on_failure: "block" })
      yield* put(`${root}/set`, { name: "set" })
      yield* put(`${root}/open`, '{"name": "open", "on_failure": "open",}')
      yield* put(`${root}/plain`, { name: "plain" })
      yield* put(`${root}/off`, { name: "off", on_failure: "block" })
      yield* put(`${root}/fine`, guard)
      const roots = [{ path: root, family: nimlet, project: false }]
      const { closedGuards } = yield* discover({ roots, paths: [], settings: { set: { on_failure: "block" }, off: { disabled: true } } })
      assert.deepStrictEqual(closedGuards, ["comma", "nameless", "seconds", "set", "typo"])
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("gives each a key of its own, though a name looks like another's key", () =>
    Effect.gen(function*() {
      const root = yield* temp
      for (const [folder, name] of [["a", "dup"], ["b", "dup"], ["c", "dup#2"], ["d", "one#2"], ["e", "one"], ["f", "one"], ["g", "one"]] as const) {
        yield* put(`${root}/${folder}`, program(name))
      }
      const { found } = yield* discover({ roots: [{ path: root, family: nimlet, project: false }], paths: [] })
      assert.deepStrictEqual(found.map(({ key }) => key), ["dup", "dup#2", "dup#2#2", "one#2", "one", "one#3", "one#4"])
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("waits for no pipe that stands where a manifest should", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const home = yield* temp
      for (const [folder, name] of [[".nimlet/extensions/a", "extension.json"], [".pi/agent/extensions/b", "package.json"], [".pi/agent/extensions", "c.ts"]] as const) {
        yield* fs.makeDirectory(`${home}/${folder}`, { recursive: true })
        execFileSync("mkfifo", [`${home}/${folder}/${name}`])
      }
      const { found, warnings } = yield* discover({ roots: rootsOf({ home, workspace: home, trusted: false }), paths: [] })
      assert.deepStrictEqual([found, warnings], [[], [`skipping ${home}/.nimlet/extensions/a: cannot read manifest`]])
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("takes a project's word for the project's own extensions and for no other, and says what it passes over", () =>
    Effect.gen(function*() {
      const home = yield* temp
      const workspace = yield* temp
      const guard = { ...program("guard"), on_failure: "block" }
      yield* put(`${home}/.agents/extensions/guard`, guard)
      yield* put(`${home}/.nimlet/extensions/broken`, '{"name": "broken", "command": ["x"], "on_failure": "block",}')
      yield* put(`${workspace}/.agents/extensions/guard`, guard)
      yield* put(`${workspace}/.agents/extensions/theirs`, program("theirs"))
      yield* put(`${workspace}/.agents/extensions/off`, program("off"))
      const projectSettings = {
        file: "config.json",
        named: { guard: { on_failure: "open" as const, disabled: false }, broken: { disabled: true }, theirs: { restart: false, response_timeout_seconds: 5 }, off: { disabled: true }, gurad: { on_failure: "block" as const } }
      }
      const { closedGuards, disabled, found, warnings } = yield* discover({
        roots: rootsOf({ home, workspace, trusted: true }),
        paths: [],
        settings: { theirs: { response_timeout_seconds: 9 } },
        projectSettings
      })
      assert.deepStrictEqual(found.map(({ key, manifest: { on_failure, response_timeout_seconds } }) => [key, on_failure, response_timeout_seconds]), [
        ["guard", "block", undefined], ["guard#2", "open", undefined], ["theirs", undefined, 5]
      ])
      assert.deepStrictEqual([closedGuards, disabled.map(({ key }) => key)], [["broken"], ["off"]])
      const passed = (key: string) => `config.json: extensions.${key} is ignored; a project may not set it for an extension that is not its own`
      assert.isTrue(warnings.some((warning) => warning.startsWith("config.json: extensions.gurad")), warnings.join("\n"))
      assert.includeMembers([...warnings], ["guard.on_failure", "guard.disabled", "broken.disabled"].map(passed))
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("tells of keys and names that are nearly some that mean something, of closed guards that are not there, and of what is off though it was named", () =>
    Effect.gen(function*() {
      const root = yield* temp
      const fs = yield* FileSystem.FileSystem
      yield* put(`${root}/guard`, { ...program("guard"), on_failiure: "block", Restart: false, description: "of its author", version: 1 })
      yield* put(`${root}/off`, program("off"))
      yield* fs.makeDirectory(`${root}/pack`)
      yield* fs.writeFileString(`${root}/pack/a.js`, "")
      yield* fs.writeFileString(`${root}/pack/package.json`, JSON.stringify({ name: "pack", pi: { extensions: ["./a.js"], backgruond: true } }))
      const settings = { gaurd: { on_failure: "open" }, elsewhere: { restart: false }, wall: { on_failure: "block" }, off: { disabled: true } } as const
      const { warnings } = yield* discover({ roots: [{ path: root, family: nimlet, project: false }], paths: [`${root}/off`], settings, settingsFile: "config.json" })
      assert.deepStrictEqual(warnings, [
        `${root}/guard/extension.json: on_failiure is ignored, there is no such key; on_failure is meant, it seems`,
        `${root}/guard/extension.json: Restart is ignored, there is no such key; restart is meant, it seems`,
        `${root}/pack/package.json: backgruond is ignored, there is no such key; background is meant, it seems`,
        "config.json: extensions.gaurd is ignored, no extension of that name was found; guard is meant, it seems",
        "config.json: extensions.wall is ignored, no extension of that name was found"
      ])
      const named = yield* discover({ roots: [], paths: [`${root}/off`], settings: { off: { disabled: true } }, settingsFile: "config.json" })
      assert.deepStrictEqual(named.warnings, ["extension 'off' is not started, though it was named by path: extensions.off.disabled is set in config.json"])
    }).pipe(Effect.provide(NodeServices.layer)))

  // E-036 E-037 E-038 E-039 E-040
  it.effect("skips bad manifests with `skipping <folder>: <reason>` and goes on", () =>
    Effect.gen(function*() {
      const root = yield* temp
      const fs = yield* FileSystem.FileSystem
      yield* put(`${root}/a`, '{\n  "name": "a",\n  oops\n}')
      yield* put(`${root}/b`, { command: ["x"] })
      yield* put(`${root}/c`, program("c"))
      yield* put(`${root}/d`, { name: "d" })
      yield* fs.makeDirectory(`${root}/no-manifest`)
      yield* fs.writeFileString(`${root}/file`, "")
      const roots = [{ path: root, family: nimlet, project: false }, { path: `${root}/missing`, family: niminal, project: false }]
      const { found, warnings } = yield* discover({ roots, paths: [`${root}/nowhere`] })
      assert.deepStrictEqual(found.map(({ key }) => key), ["c"])
      assert.strictEqual(warnings.length, 4)
      assert.match(warnings[0]!, new RegExp(`^skipping ${root}/a: invalid JSON in extension.json: [^\n]+$`))
      assert.strictEqual(warnings[1], `skipping ${root}/b: missing name`)
      assert.strictEqual(warnings[2], `skipping ${root}/d: command must be an array`)
      assert.strictEqual(warnings[3], `skipping ${root}/nowhere: there is no such file or folder`)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("says of which named paths nothing can be started, and what in a root is no extension", () =>
    Effect.gen(function*() {
      const root = yield* temp
      const fs = yield* FileSystem.FileSystem
      for (const folder of ["empty", "shouted", ".hidden"]) yield* fs.makeDirectory(`${root}/${folder}`)
      yield* fs.writeFileString(`${root}/shouted/Extension.json`, JSON.stringify(program("shouted")))
      yield* fs.writeFileString(`${root}/notes.txt`, "")
      yield* fs.symlink(`${root}/gone`, `${root}/link`)
      yield* put(`${root}/bad`, { name: "bad" })
      yield* put(`${root}/good`, program("good"))
      const inRoot = yield* discover({ roots: [{ path: root, family: niminal, project: false }], paths: [] })
      assert.deepStrictEqual(inRoot.passedOver, [
        { path: `${root}/empty`, why: "it has no extension.json" },
        { path: `${root}/link`, why: "it is a link to something that is not there" },
        { path: `${root}/shouted`, why: "it has no extension.json; Extension.json must be named so, in small letters" }
      ])
      assert.deepStrictEqual([inRoot.unusable, inRoot.warnings], [[], [`skipping ${root}/bad: command must be an array`]])
      const named = yield* discover({ roots: [], paths: ["good", "bad", "empty", "notes.txt", "nothing", "link"].map((name) => `${root}/${name}`) })
      assert.deepStrictEqual(named.found.map(({ key }) => key), ["good"])
      assert.deepStrictEqual(named.unusable, [
        { path: `${root}/bad`, why: "command must be an array" },
        { path: `${root}/empty`, why: "it has no extension.json, no package.json that lists extensions and no index.ts or index.js" },
        { path: `${root}/notes.txt`, why: "it is no extension: that is a folder with an extension.json, or a module in TypeScript or JavaScript" },
        { path: `${root}/nothing`, why: "there is no such file or folder" },
        { path: `${root}/link`, why: "it is a link to something that is not there" }
      ])
    }).pipe(Effect.provide(NodeServices.layer)))

  // E-013
  it.effect("starts one real folder once, however it is reached, and counts equal names", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const one = yield* temp
      const two = yield* temp
      yield* put(`${one}/a`, program("same"))
      yield* put(`${two}/b`, program("same"))
      yield* fs.symlink(`${one}/a`, `${two}/a`)
      const roots = [one, two].map((path) => ({ path, family: nimlet, project: false }))
      const { found } = yield* discover({ roots, paths: [`${one}/a/extension.json`] })
      assert.deepStrictEqual(found.map(({ folder, key }) => [key, folder]), [["same", `${one}/a`], ["same#2", `${two}/b`]])
    }).pipe(Effect.provide(NodeServices.layer)))

  // E-313
  it.effect("puts extensions named by path last, and hints at a budget that looks like milliseconds", () =>
    Effect.gen(function*() {
      const root = yield* temp
      yield* put(`${root}/roots/z`, program("z"))
      yield* put(`${root}/a`, { ...program("a"), response_timeout_seconds: 30_000 })
      const roots = [{ path: `${root}/roots`, family: nimlet, project: false }]
      const { found, warnings } = yield* discover({ roots, paths: [`${root}/a`] })
      assert.deepStrictEqual(found.map(({ key }) => key), ["z", "a"])
      assert.deepStrictEqual(warnings, ["extension 'a': response_timeout_seconds is 30000; the unit is seconds"])
    }).pipe(Effect.provide(NodeServices.layer)))
})
