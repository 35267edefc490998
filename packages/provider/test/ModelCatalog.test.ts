import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { type ModelCatalog, makeModelCatalog } from "../src/ModelCatalog.ts"

const use = <A>(f: (catalog: ModelCatalog) => Effect.Effect<A>, home = "/nowhere") => Effect.flatMap(makeModelCatalog(home), f)

it.layer(NodeServices.layer)("the catalogue", (it) => {
  it.effect("knows limits, prices, thinking and what a model takes", () =>
    use(Effect.fnUntraced(function*(catalog) {
      assert.deepStrictEqual(yield* catalog.find("anthropic", "claude-opus-4-6"), {
        provider: "anthropic", model: "claude-opus-4-6", contextWindow: 1_000_000, maxOutput: 128_000, images: true,
        thinkingLevels: ["off", "low", "medium", "high", "max"],
        prices: { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 },
        compat: { strictTools: true }
      })
      const old = yield* catalog.find("openai", "gpt-4o")
      assert.deepStrictEqual([old.thinkingLevels, old.prices], [["off"], { input: 2.5, output: 10, cacheRead: 1.25 }])
    })))

  //
  it.effect("knows a model by its date, and at a gateway, whose prices are its own unless it passes them on", () =>
    use(Effect.fnUntraced(function*(catalog) {
      const dated = yield* catalog.find("anthropic", "claude-sonnet-4-5-20250929")
      assert.deepStrictEqual([dated.model, dated.contextWindow, dated.prices?.input], ["claude-sonnet-4-5-20250929", 200_000, 3])
      const routed = yield* catalog.find("openrouter", "anthropic/claude-sonnet-5.5")
      assert.deepStrictEqual([routed.maxOutput, routed.prices?.input, routed.compat], [128_000, 2, {}])
      const elsewhere = yield* catalog.find("house", "claude-sonnet-5-5")
      const compats = yield* Effect.forEach([["openai", "gpt-5.2"], ["openrouter", "openai/gpt-5.2"], ["openai", "gpt-4.1"]] as const, ([provider, model]) => Effect.map(catalog.find(provider, model), ({ compat }) => compat.grammarTools))
      assert.deepStrictEqual(compats, [true, undefined, undefined])
      assert.deepStrictEqual([elsewhere.maxOutput, elsewhere.prices, elsewhere.compat], [128_000, undefined, {}])
    })))

  it.effect("guesses by name, and else assumes little", () =>
    use(Effect.fnUntraced(function*(catalog) {
      const windows = yield* Effect.forEach(["claude-9", "gpt-5-mega", "o3-nano", "llama-7", "toString"], (model) => Effect.map(catalog.find("house", model), (info) => info.contextWindow))
      assert.deepStrictEqual(windows, [200_000, 400_000, 200_000, 128_000, 128_000])
      assert.deepStrictEqual(yield* catalog.find("house", "llama-7"), {
        provider: "house", model: "llama-7", contextWindow: 128_000, images: false, thinkingLevels: ["off", "low", "medium", "high"], compat: {}
      })
      assert.strictEqual((yield* catalog.find("constructor", "x")).contextWindow, 128_000)
    })))

  it.effect("lets what was refreshed win, entry by entry, and lives with a file that is none", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const home = yield* fs.makeTempDirectoryScoped()
      yield* fs.makeDirectory(`${home}/.nimlet`)
      const file = `${home}/.nimlet/models.json`
      yield* fs.writeFileString(file, JSON.stringify({
        source: "s", fetched_at: "t",
        providers: { anthropic: [{ id: "claude-opus-5-5", context_window: 2_000_000, cost: { input: 1, output: 2 } }, { id: "claude-new", thinking: ["low"] }, { id: "claude-opus-5", context_window: "big" }, 7] }
      }))
      yield* use(Effect.fnUntraced(function*(catalog) {
        const known = yield* catalog.find("anthropic", "claude-opus-5-5")
        assert.deepStrictEqual([known.contextWindow, known.maxOutput, known.prices], [2_000_000, 128_000, { input: 1, output: 2 }])
        const fresh = yield* catalog.find("anthropic", "claude-new")
        assert.deepStrictEqual([fresh.contextWindow, fresh.thinkingLevels], [200_000, ["low"]])
        assert.strictEqual((yield* catalog.find("anthropic", "claude-opus-5")).contextWindow, 1_000_000)
        const ids = (yield* catalog.list("anthropic")).map(({ model }) => model)
        assert.include(ids, "claude-new")
        assert.strictEqual(new Set(ids).size, ids.length)
      }), home)
      yield* fs.writeFileString(file, "{ half")
      yield* use(Effect.fnUntraced(function*(catalog) {
        assert.strictEqual((yield* catalog.find("anthropic", "claude-opus-5-5")).contextWindow, 1_000_000)
      }), home)
    }))

  it.effect("tells what cannot be used of what was refreshed, each with its key: of a model, or all", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const home = yield* fs.makeTempDirectoryScoped()
      yield* fs.makeDirectory(`${home}/.nimlet`)
      const file = `${home}/.nimlet/models.json`
      const faults = (of?: { readonly provider: string; readonly model: string }) => use((catalog) => catalog.faults(of), home)
      const problems = Effect.map(faults(), (all) => all.map(({ problem }) => problem))
      assert.deepStrictEqual(yield* faults(), [])
      const cases: ReadonlyArray<readonly [text: string, told: ReadonlyArray<RegExp>]> = [
        ["{ half", [/^is not valid JSON/]],
        ["[]", [/^providers: must be an object/]],
        [`{"providers": []}`, [/^providers: must be an object/]],
        [`{"providers": {"openai": {}, "x": [{"id": "a"}, {"id": "b", "context_window": "big"}, 7, {"id": "c", "cost": {"input": -1, "output": 0}}]}}`, [/^providers\.openai: must be a list/, /^providers\.x\[1\]\.context_window: /, /^providers\.x\[2\]: /, /^providers\.x\[3\]\.cost\.input: /]],
        [`{"providers": {}}`, []]
      ]
      for (const [text, told] of cases) {
        yield* fs.writeFileString(file, text)
        const found = yield* problems
        assert.lengthOf(found, told.length, text)
        told.forEach((pattern, at) => assert.match(found[at]!, pattern))
      }
      yield* fs.writeFileString(file, cases[3]![0])
      const of = (provider: string, model: string) => Effect.map(faults({ provider, model }), (all) => all.length)
      assert.deepStrictEqual(yield* Effect.all([of("x", "a"), of("x", "b"), of("openai", "gpt-5"), of("anthropic", "claude")]), [0, 1, 1, 0])
      yield* fs.remove(file)
      yield* fs.makeDirectory(file)
      const [folder] = yield* faults()
      assert.include(folder!.message, file)
      assert.include(folder!.message, "nimlet models refresh")
    }))
})
