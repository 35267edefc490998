import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, type Path } from "effect"
import { dropKey, keySources, saveKey } from "../src/KeyFile.ts"

const atHome = <A, E>(use: (home: string, file: string) => Effect.Effect<A, E, FileSystem.FileSystem | Path.Path>) =>
  Effect.gen(function*() {
    const home = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
    return yield* use(home, `${home}/.nimlet/auth.json`)
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

const sourceOf = (home: string, provider: string, environment: Readonly<Record<string, string>> = {}) =>
  Effect.map(keySources(home, environment), (all) => all.find((one) => one.provider === provider)?.source)

describe("the file of keys", () => {
  it.effect("keeps a key that only its owner can read, beside the others, and forgets it", () =>
    atHome((home, file) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        yield* saveKey(home, "anthropic", "a-key")
        yield* saveKey(home, "openai", "another")
        assert.strictEqual((yield* fs.stat(file)).mode & 0o077, 0)
        assert.deepStrictEqual(JSON.parse(yield* fs.readFileString(file)), { anthropic: { type: "api_key", key: "a-key" }, openai: { type: "api_key", key: "another" } })
        assert.strictEqual(yield* sourceOf(home, "anthropic"), "auth.json")
        assert.isTrue(yield* dropKey(home, "anthropic"))
        assert.isFalse(yield* dropKey(home, "anthropic"))
        assert.isUndefined(yield* sourceOf(home, "anthropic"))
        assert.strictEqual(yield* sourceOf(home, "anthropic", { ANTHROPIC_API_KEY: "x" }), "ANTHROPIC_API_KEY")
        assert.isUndefined(yield* sourceOf(home, "ollama"))
      })))

  it.effect("is left as it is when it is no good", () =>
    atHome((home, file) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        yield* fs.makeDirectory(`${home}/.nimlet`)
        yield* fs.writeFileString(file, "{ secret")
        const failure = yield* Effect.flip(saveKey(home, "anthropic", "a-key"))
        assert.include(failure.message, "auth.json")
        assert.strictEqual(yield* fs.readFileString(file), "{ secret")
      })))
})
