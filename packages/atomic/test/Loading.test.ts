import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { screen, startAll, workers } from "./kit.ts"

const run = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.scoped(effect).pipe(Effect.provide(workers()))

/** An extension that says something when its command `say` is run. */
const saying = (value: string, head = "") => `${head}
export default (pi) => { pi.registerCommand("say", { handler: async (_, ctx) => ctx.ui.notify(String(${value})) }) }`

const said = (files: Record<string, string>, times = 1) =>
  Effect.gen(function*() {
    const front = screen()
    const world = yield* startAll({ files, screen: front })
    assert.deepStrictEqual(world.report.warnings, [])
    for (let n = 0; n < times; n++) yield* world.extensions.runCommand("say", "")
    return { ...world, notices: front.notices() }
  })

describe("loading", () => {
  // A-004 A-015 A-022 A-023
  it.live("TypeScript, what stripping cannot do too, and one module behind all names of the API", () =>
    run(Effect.gen(function*() {
      const { notices } = yield* said({
        "a.ts": saying("[Kind.B, new Box(3).n, Space.x, A.defineTool === P.defineTool, P.defineTool === M.defineTool, A.CustomEditor === P.CustomEditor].join()", `
import type { ExtensionAPI } from "@bastani/atomic"
import * as A from "@bastani/atomic"
import * as P from "@earendil-works/pi-coding-agent"
import * as M from "@mariozechner/pi-coding-agent"
enum Kind { A, B }
class Box { constructor(public n: number) {} }
namespace Space { export const x = "space" }`)
      })
      assert.deepStrictEqual(notices, ["1,3,space,true,true,true"])
    })))

  // A-045 A-046 A-047
  it.live("a folder with index.ts, helpers beside it, imports without ending, of folders and of `.js` that is TypeScript", () =>
    run(Effect.gen(function*() {
      const { notices, report } = yield* said({
        "mine/index.ts": saying("[one, two, three, four].join()", `
import { one } from "./tools.ts"
import { two } from "./utils"
import { three } from "./deep"
import { four } from "./four.js"`),
        "mine/tools.ts": "export const one: string = 'one'",
        "mine/utils.ts": "export const two: string = 'two'",
        "mine/deep/index.ts": "export const three: string = 'three'",
        "mine/four.ts": "export const four: string = 'four'"
      })
      assert.deepStrictEqual(report.started, ["mine"])
      assert.deepStrictEqual(notices, ["one,two,three,four"])
    })))

  // A-048 A-049 A-050 A-052 A-053
  it.live.each(["atomic", "pi", "nimlet"])("a package that lists its entries under %s, with packages of its own, TypeScript among them", (key) =>
    run(Effect.gen(function*() {
      const { notices, report } = yield* said({
        "pack/package.json": JSON.stringify({ name: "other-name", [key]: { extensions: ["./src/index.ts"] } }),
        "pack/src/index.ts": saying("js + ts", "import { js } from 'dep-js'\nimport { ts } from 'dep-ts'"),
        "pack/node_modules/dep-js/package.json": JSON.stringify({ name: "dep-js", type: "module", exports: "./index.js" }),
        "pack/node_modules/dep-js/index.js": "export const js = 'js'",
        "pack/node_modules/dep-ts/package.json": JSON.stringify({ name: "dep-ts", type: "module", exports: "./index.ts" }),
        "pack/node_modules/dep-ts/index.ts": "export const ts: string = 'ts'"
      })
      assert.deepStrictEqual(report.started, ["pack"])
      assert.deepStrictEqual(notices, ["jsts"])
    })))

  // A-003 A-027 A-028 A-031
  it.live("an async factory is waited for", () =>
    run(Effect.gen(function*() {
      const { notices } = yield* said({
        "late.ts": `export default async (pi) => {
  await new Promise((done) => setTimeout(done, 20))
  const text = await (await fetch("data:text/plain,fetched")).text()
  pi.registerCommand("say", { handler: async (_, ctx) => ctx.ui.notify(text) })
}`
      })
      assert.deepStrictEqual(notices, ["fetched"])
    })))

  // A-123 A-124 A-125 A-153
  it.live("typebox, StringEnum within its types, and Text of pi-tui", () =>
    run(Effect.gen(function*() {
      const { extensions, notices } = yield* said({
        "types.ts": `import { Type } from "typebox"
import { Type as Again } from "@sinclair/typebox"
import { StringEnum } from "@bastani/atomic"
import { Text } from "@earendil-works/pi-tui"
const parameters = Type.Object({ action: StringEnum(["list", "add"] as const), text: Type.Optional(Type.String()) })
export default (pi) => {
  pi.registerTool({ name: "t", label: "T", description: "d", parameters, execute: async () => ({ content: [] }) })
  pi.registerCommand("say", { handler: async (_, ctx) => ctx.ui.notify(new Text("drawn", 0, 0).render(10)[0].trim() + (Type === Again)) })
}`
      })
      assert.deepStrictEqual(notices, ["drawntrue"])
      assert.deepStrictEqual((yield* extensions.tools)[0]?.inputSchema, {
        type: "object",
        required: ["action"],
        properties: { action: { type: "string", enum: ["list", "add"] }, text: { type: "string" } }
      })
    })))

  it.live("types imported without the word `type`, alone, beside values, under another name, and spoken of in comments", () =>
    run(Effect.gen(function*() {
      const { notices } = yield* said({
        "a/index.ts": `// ExtensionAPI is only a type, and so is Options.
import { ExtensionAPI } from "@earendil-works/pi-coding-agent"
import { ExtensionContext as Context, isToolCallEventType } from "@earendil-works/pi-coding-agent"
import { Type, Static } from "typebox"
import Shape, {
  Options,
  word
} from "./h"
const Params = Type.Object({ text: Type.String() })
type Given = Static<typeof Params>
const code = \`
import { kept } from "somewhere"\`
export default (pi: ExtensionAPI) => {
  const options: Options & Partial<Shape> & Partial<Given> = { word }
  pi.registerCommand("say", { handler: async (_: string, ctx: Context) => ctx.ui.notify(options.word + typeof isToolCallEventType + Params.type + code.trim()) })
}`,
        "a/h.ts": "export interface Options { word: string }\nexport default interface Shape { size: number }\nexport const word = 'word'"
      })
      assert.deepStrictEqual(notices, ['wordfunctionobjectimport { kept } from "somewhere"'])
    })))

  it.live("types exported without the word `type`: from a helper, through others, imported before, declared beside, and of the API", () =>
    run(Effect.gen(function*() {
      const { notices } = yield* said({
        "a/index.ts": saying("[f, g, Both, late(), h, typeof defineTool, typeof Again, Object.keys(all).sort()].join()", `
import { f, g, Both, Deep, late, h, defineTool } from './bar'
import * as all from './t'
import { ToolDefinition as Again } from './bar'
const typed = (value: Deep): Deep => value`),
        "a/bar.ts": `import { One as Uno, h } from './t'
interface Here { n: number }
type There = Here
export { One, f,
  Two as Second } from "./t.ts"
export { Uno, Here, There, h }
export { Deep, g, late } from './through'
export { Both } from './t'
export { defineTool, ToolDefinition } from "@earendil-works/pi-coding-agent"`,
        "a/through.ts": "// There is no type g = here, nor an interface late {\nexport const text = \"export { text }\"\nexport * from './t'\nexport { g, late } from './cycle'\nexport { One as Deep } from './t'",
        "a/cycle.ts": "import { f } from './bar'\nexport const g = 'g'\nexport const late = () => f",
        "a/t.ts": "export interface One { a: number }\nexport type Two<T> = T\nexport const f = 'f'\nexport const h = 'h'\nexport const Both = 'both'\nexport type Both = string"
      })
      assert.deepStrictEqual(notices, ["f,g,both,f,h,function,undefined,Both,f,h"])
    })))

  it.live("JSON without an attribute, and what CommonJS gives, in modules", () =>
    run(Effect.gen(function*() {
      const { notices } = yield* said({
        "a/index.ts": saying("[data.n, again.n, path.sep, os.EOL.length, here, basename(__filename)].join()", `
import data from "./data.json"
import again from "./data.json" with { type: "json" }
import os = require("node:os")
const path = require("node:path")
const { basename } = require("node:path")
const here = await Promise.resolve(typeof import.meta.url + require("./data.json").n + require("./old").old)
const __dirname = path.dirname(__filename)`),
        "a/data.json": '{"n":7}',
        "a/old.cts": "const old: string = 'old'; exports.old = old"
      })
      assert.deepStrictEqual(notices, ["7,7,/,1,string7old,index.ts"])
    })))

  it.live("turns a text once, keeps it, and reads an edited helper afresh at the next start", () =>
    run(Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const front = screen()
      const { again, extensions, folder } = yield* startAll({
        files: { "a/index.ts": saying("word", "import { word } from './word'"), "a/word.ts": "export const word: string = 'before'" },
        screen: front
      })
      yield* extensions.runCommand("say", "")
      yield* fs.writeFileString(`${folder}/extensions/a/word.ts`, "export const word: string = 'after'")
      yield* again
      yield* extensions.runCommand("say", "")
      assert.deepStrictEqual(front.notices(), ["before", "after"])
    })))

  const failing: ReadonlyArray<readonly [string, RegExp, Record<string, string>]> = [
    ["TypeScript that does not parse", /Unexpected token.* \(index\.ts:2\)/, { "index.ts": "export default (pi) => {\n  const = 1\n}" }],
    ["a helper that does not parse", /Expression expected \(h\.ts:3\)/, { "index.ts": "import { x } from './h'\nexport default () => x", "h.ts": "\n\nexport const x = = 1" }],
    ["JavaScript that does not parse", /Unexpected token '=' \(h\.js:3\)/, { "index.ts": "import { x } from './h.js'\nexport default () => x", "h.js": "\n\nexport const x = = 1" }],
    ["a decorator", /\(index\.ts:3; decorators are not run, call the function instead\)/, { "index.ts": "const d = (x: unknown) => x\n\n@d\nclass A {}\nexport default () => A" }],
    ["a name that a helper lacks", /not provide an export named 'y' \(index\.ts:2\)/, { "index.ts": "\nimport { y } from './h'\nexport default () => y", "h.ts": "export const x = 1" }],
    ["a name that the API lacks", /export named 'nothingLike' \(index\.ts:2\)/, { "index.ts": "\nimport { nothingLike } from '@bastani/atomic'\nexport default () => nothingLike" }],
    ["a helper that is not there", /Cannot find module .* \(h\.ts:2\)/, { "index.ts": "import './h'\nexport default () => {}", "h.ts": "\nimport './gone'" }],
    ["a package that is not there", /Cannot find package 'not-installed' .* \(index\.ts:2\)/, { "index.ts": "\nimport x from 'not-installed'\nexport default () => x" }],
    ["a factory that throws", /Error: mine \(index\.ts:3\)/, { "index.ts": "\n\nexport default () => { throw new Error('mine') }" }]
  ]
  it.live.each(failing)("%s is told with the file and the line of its author", ([, expected, files]) =>
    run(Effect.gen(function*() {
      const { report } = yield* startAll({ files: Object.fromEntries(Object.entries(files).map(([name, text]) => [`a/${name}`, text])) })
      assert.match(report.warnings.join(), expected)
    })))

  it.live("an extension.json beside modules makes the folder a program; hidden files, types and node_modules are none", () =>
    run(Effect.gen(function*() {
      const { report } = yield* startAll({
        files: {
          "prog/extension.json": JSON.stringify({ name: "prog", command: ["node", "-e", "console.log(JSON.stringify({type:'register',commands:[]}));process.stdin.resume()"] }),
          "prog/index.ts": "throw new Error('not me')",
          ".hidden.ts": "throw new Error('not me')",
          "types.d.ts": "export {}",
          "notes.md": "",
          "empty/readme.txt": "",
          "node_modules/x/index.ts": "throw new Error('not me')",
          "z.mjs": "export default () => {}"
        }
      })
      assert.deepStrictEqual(report, { started: ["prog", "z"], warnings: [], missing: [] })
    })))
})
