import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { atomic, type ExtensionFigures } from "@nimlet/extension"
import { filesBelow, makeCompletion } from "../../src/tui/Completion.ts"
import { hostile, Rig } from "./Rig.ts"

const signal = new AbortController().signal
const module = (key: string, commands: ReadonlyArray<{ readonly name: string; readonly description?: string }>, completions: Readonly<Record<string, number>>) =>
  ({ key, state: "Running", family: atomic, manifest: { name: key }, registration: { commands, tools: [], events: [], extras: { shortcuts: [], completions } } }) as unknown as ExtensionFigures

const offers = async (typed: string, { figures = [], files = [], given }: { readonly figures?: ReadonlyArray<ExtensionFigures>; readonly files?: ReadonlyArray<string>; readonly given?: unknown } = {}) => {
  const rig = new Rig()
  rig.on({ type: "figures", figures })
  const asked: Array<unknown> = []
  const completion = makeCompletion({ state: () => rig.state, files: () => Promise.resolve(files), invoke: (...call) => Promise.resolve(asked.push(call)).then(() => given) })
  const found = await completion.getSuggestions([typed], 0, typed.length, { signal })
  const items = found?.items ?? []
  const [first] = items
  const line = first === undefined || found === null ? typed : completion.applyCompletion([typed], 0, typed.length, first, found.prefix).lines[0]
  return { items, labels: items.map(({ label }) => label), line, asked }
}

describe("completion", () => {
  it("offers commands of ours and of extensions, and names the extension", async () => {
    const figures = [module("helper", [{ name: "fixit", description: "mends" }], {})]
    const { items, line } = await offers("/fix", { figures })
    assert.deepStrictEqual(items.map(({ description, label }) => [label, description]), [["/fixit", "mends (helper)"]])
    assert.strictEqual(line, "/fixit ")
    assert.include((await offers("/thi")).labels, "/thinking")
  })

  it("offers what a command of ours takes", async () => {
    assert.deepStrictEqual((await offers("/theme l")).line, "/theme light ")
    assert.deepStrictEqual((await offers("/yolo ")).labels, ["on", "off"])
    for (const typed of ["/compact ", "/yolo on", "/theme light"]) assert.deepStrictEqual((await offers(typed)).labels, [], typed)
  })

  it("asks a module for what its command takes, and leaves out what is no completion", async () => {
    const figures = [module("helper", [{ name: "deploy" }], { deploy: 4 })]
    const { asked, items, line } = await offers("/deploy st", { figures, given: [{ value: "staging", label: "Staging", description: "the test one" }, { value: "stop" }] })
    assert.deepStrictEqual(asked, [["helper", 4, ["st"]]])
    assert.deepStrictEqual(items.map(({ description, label }) => [label, description]), [["Staging", "the test one (helper)"], ["stop", "(helper)"]])
    assert.strictEqual(line, "/deploy staging ")
    for (const given of [null, undefined, "x", [{ value: 3 }]]) assert.deepStrictEqual((await offers("/deploy st", { figures, given })).labels, [])
  })

  it("offers commands of one name as they are called, and asks the module whose it is", async () => {
    const figures = [module("a", [{ name: "deploy" }], { deploy: 1 }), module("b", [{ name: "deploy" }], { deploy: 2 })]
    assert.deepStrictEqual((await offers("/deploy", { figures })).labels, ["/deploy:1", "/deploy:2"])
    assert.deepStrictEqual((await offers("/deploy:2 st", { figures, given: [] })).asked, [["b", 2, ["st"]]])
  })

  it("offers files after an at sign, behind a command too", async () => {
    const files = ["src/", "src/main.ts", "README.md"]
    assert.strictEqual((await offers("see @main", { files })).line, "see @src/main.ts ")
    assert.strictEqual((await offers("/plan look at @READ", { files })).line, "/plan look at @README.md ")
    assert.strictEqual((await offers("@sr", { files })).line, "@src/")
    for (const typed of ["@not", "@\"not"]) assert.strictEqual((await offers(typed, { files: ["my notes.txt"] })).line, "@\"my notes.txt\" ")
  })

  it.each(hostile)("offers nothing that would leave its place: %s", async (_, text) => {
    const figures = [module("x", [{ name: text, description: text }, { name: "c" }], { c: 1 })]
    for (const { items } of [await offers("/", { figures }), await offers("@", { files: [text] }), await offers("/c ", { figures, given: [{ value: text, label: text, description: text }] })]) {
      for (const { description = "", label, value } of items) assert.notMatch(`${value}${label}${description}`, /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
    }
  })

  it.effect("finds the files of a folder, the nearest first, without what nobody wants to see", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      for (const path of ["b/c", ".git", "node_modules/x"]) yield* fs.makeDirectory(`${folder}/${path}`, { recursive: true })
      for (const path of ["a.txt", "b/c/d.txt", ".git/config", "node_modules/x/y.js"]) yield* fs.writeFileString(`${folder}/${path}`, "")
      assert.deepStrictEqual(yield* filesBelow(folder), ["a.txt", "b/", "b/c/", "b/c/d.txt"])
      assert.deepStrictEqual(yield* filesBelow(`${folder}/none`), [])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
})
