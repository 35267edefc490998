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
