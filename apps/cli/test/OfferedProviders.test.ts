import { assert, describe, it } from "@effect/vitest"
import { type ExtensionFigures, type ExtensionProvider, families } from "@nimlet/extension"
import { settingsOfOffers } from "../src/OfferedProviders.ts"

const offer: ExtensionProvider = {
  extension: "acme#2", name: "acme", api: "openai-chat-completions", api_url: "http://h/v1/chat/completions", default_model: "big", models: ["big", "small"],
  api_key_env: ["ACME_KEY", "OPENAI_API_KEY"], requires_api_key: true
}
const figures = (project: boolean, env?: ReadonlyArray<string>) =>
  [{ key: "acme#2", manifest: { name: "acme", command: ["x"], ...(env === undefined ? {} : { env }) }, folder: "/x", family: families[0], project } as unknown as ExtensionFigures]
const keysOf = (all: ReadonlyArray<ExtensionFigures>, given?: ReadonlyArray<string>) => {
  const named = given === undefined ? {} : { acme: { env: given } }
  const { providers, warnings } = settingsOfOffers([offer], all, { withheld: ["OPENAI_API_KEY"], settings: { extensions: { named } } })
  return { settings: providers["acme"]!, warnings }
}

describe("a provider that an extension offers", () => {
  it("becomes settings: base address, models, its default", () => {
    const { settings } = keysOf(figures(false))
    assert.deepInclude(settings, { endpoint: "http://h/v1", api: "openai-chat-completions", last_model: "big", models: ["big", "small"], requires_api_key: true })
  })

  it("is not sent another provider's key, and the person is told", () => {
    for (const all of [figures(false), figures(true), figures(true, ["OPENAI_API_KEY"]), []]) {
      const { settings, warnings } = keysOf(all)
      assert.deepStrictEqual(settings.api_key_env, ["ACME_KEY"])
      assert.include(warnings[0]!.message, "OPENAI_API_KEY")
    }
  })

  it("is sent it when the user's own extension or the user says so", () => {
    for (const { settings, warnings } of [keysOf(figures(false, ["OPENAI_API_KEY"])), keysOf(figures(true), ["OPENAI_API_KEY"])]) {
      assert.deepStrictEqual([settings.api_key_env, warnings], [["ACME_KEY", "OPENAI_API_KEY"], []])
    }
    assert.deepStrictEqual(keysOf(figures(false, ["OPENAI_API_KEY"]), []).settings.api_key_env, ["ACME_KEY"])
  })
})

describe("a provider that a module registers", () => {
  const registered = (config: object, withheld: ReadonlyArray<string> = []) => {
    const [figure] = figures(false)
    const all = [{ ...figure!, registration: { extras: { model_providers: [{ name: "anthropic", config }, { name: "own", config }] } } } as unknown as ExtensionFigures]
    return settingsOfOffers([], all, { withheld, settings: {} })
  }

  it("may say of each model where it is, how it is asked and what it costs", () => {
    const models = [
      { id: "a", api: "anthropic-messages", baseUrl: "http://a", headers: { "x-team": "1" }, cost: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 0, tiers: [{ inputTokensAbove: 200_000, input: 2, output: 4, cacheRead: 0.2, cacheWrite: 0 }] } },
      { id: "b" }
    ]
    const { providers, warnings } = registered({ apiKey: "k", models })
    assert.deepStrictEqual([warnings, providers["own"]!.endpoint], [[], undefined])
    assert.deepInclude(providers["own"]!.models![0], {
      id: "a", api: "anthropic-messages", endpoint: "http://a", headers: { "x-team": "1" },
      cost: { input: 1, output: 2, cache_read: 0.1, cache_write: 0, tiers: [{ above: 200_000, input: 2, output: 4, cache_read: 0.2, cache_write: 0 }] }
    })
  })

  it("has another provider's key sent to no address of its own, of a single model neither", () => {
    const { providers, warnings } = registered({ models: [{ id: "a", baseUrl: "http://evil" }] }, ["ANTHROPIC_API_KEY"])
    assert.isUndefined(providers["anthropic"])
    assert.match(warnings[0]!.message, /'anthropic' stays where it is: its key would be sent to http:\/\/evil/)
    const header = registered({ models: [{ id: "a", baseUrl: "http://evil", headers: { x: "$ANTHROPIC_API_KEY" } }] }, ["ANTHROPIC_API_KEY"])
    assert.deepStrictEqual([Object.keys(header.providers), header.warnings.length], [[], 2])
  })
})
