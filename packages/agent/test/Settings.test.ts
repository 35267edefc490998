import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeSettings } from "../src/Settings.ts"
import { settingsSlips, slipsTold } from "../src/SettingsSlips.ts"

const read = (content: unknown) => Result.getOrThrow(decodeSettings(content))
const problems = (content: unknown): ReadonlyArray<string> =>
  Result.match(decodeSettings(content), { onFailure: (all) => all, onSuccess: () => [] })

describe("settings", () => {
  it("say of an extension, by its name, what its manifest may say, and whether it is off", () => {
    const guard = {
      disabled: true, response_timeout_seconds: null, on_failure: "block", env: ["TOKEN"], restart: false, background: true, max_line_bytes: 1024
    }
    const extensions = { required: ["guard", "notes"], families: { niminal: false }, guard, notes: {} }
    assert.deepStrictEqual(read({ extensions, skin: "dark" }), {
      extensions: { required: ["guard", "notes"], families: { niminal: false }, named: { guard, notes: {} } }
    } as never)
    assert.deepStrictEqual(read({}), {})
  })

  it("that are wrong are told with their key, what is wanted and what stands there, all of them", () => {
    const found = problems({
      agent: { max_tokens: "many" },
      extensions: { required: "guard", guard: { on_failure: "blok", response_timeout_seconds: 0, env: ["A", 3], disabled: "yes" }, other: 5 }
    })
    const about = (key: string) => found.find((problem) => problem.startsWith(`${key}: `)) ?? ""
    assert.include(about("agent.max_tokens"), `"many"`)
    assert.include(about("extensions.required"), `"guard"`)
    assert.include(about("extensions.guard.on_failure"), `"open"`)
    assert.include(about("extensions.guard.on_failure"), `not "blok"`)
    assert.include(about("extensions.guard.response_timeout_seconds"), "not 0")
    assert.include(about("extensions.guard.env.1"), "string")
    assert.include(about("extensions.guard.disabled"), "boolean")
    assert.include(about("extensions.other"), "object")
    assert.lengthOf(found, 7)
  })

  it("with a slip of the pen in a key of an extension or the name of a family are refused", () => {
    assert.match(problems({ extensions: { guard: { on_failur: "block" } } }).join(), /^extensions\.guard\.on_failur .*on_failure/)
    assert.match(problems({ extensions: { families: { nimlett: false } } }).join(), /^extensions\.families\.nimlett .*nimlet/)
    assert.deepStrictEqual(problems({ agnet: {} }), [])
  })

  it("never show what stands under providers, which may be a key", () => {
    const [problem] = problems({ providers: { mine: { endpoint: 5, api_key_env: ["sk-secret"] } } })
    assert.include(problem, "providers.mine.endpoint")
    assert.notInclude(problems({ providers: { mine: { api_key_env: ["sk-secret"] } } }).join(), "sk-secret")
  })

  it("are an object", () => {
    for (const content of [null, [], "x", 3]) assert.lengthOf(problems(content), 1)
  })

  it("of a provider name an interface that is spoken", () => {
    assert.deepStrictEqual(problems({ providers: { mine: { api: "anthropic-messages" }, other: { api: "openai-chat" } } }), [])
    assert.match(problems({ providers: { mine: { api: "opanai" } } })[0]!, /^providers\.mine\.api: .*"openai-chat"/)
  })

  it("that mean nothing are told with their key, and with the one that was meant where there is one", () => {
    const content = {
      $schema: "x", _note: "x", theme: "dark", agnet: {}, skin: "dark", default_modle: "m", agent: { "max-tokens": 5, web_search: true }, tools: { bash: { max_output: 3 }, bahs: {} },
      providers: { mine: { endpoint: "http://x", api_key: "k", options: { any: 1 }, headers: { x: "y" }, models: ["a", { id: "b", contextWindow: 5 }] } }, extensions: { guard: { on_failure: "block" } }, keybindings: { any: "x" }
    }
    assert.deepStrictEqual(settingsSlips(content).map(({ key, meant = "" }) => [key, meant]), [
      ["agnet", "agent"], ["skin", ""], ["default_modle", "default_model"], ["agent.max-tokens", "agent.max_tokens"], ["agent.web_search", ""], ["tools.bahs", "tools.bash"], ["tools.bash.max_output", ""],
      ["providers.mine.api_key", ""], ["providers.mine.models[1].contextWindow", "providers.mine.models[1].context_window"]
    ])
    assert.deepStrictEqual(slipsTold({ agnet: 1 }, "/h/config.json"), ["/h/config.json: agnet is ignored, there is no such key; agent is meant, it seems"])
    for (const none of [undefined, null, 5, [], { agent: 5, providers: [], tools: null }]) assert.deepStrictEqual(settingsSlips(none), [], JSON.stringify(none))
  })
})
