/** Settings: shown with what holds, changed by picking or typing, kept in the person's file. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { decodeSettings } from "@nimlet/agent"
import { withSetting } from "../../src/SettingsFile.ts"
import type { Event } from "../../src/tui/Event.ts"
import { type ErrandNeeds, type ErrandsOptions, makeErrandRoom } from "../../src/tui/errand/ErrandRoom.ts"
import { makePreferences } from "../../src/tui/errand/Preferences.ts"
import type { Standing } from "../../src/tui/errand/Standing.ts"
import { screenSettings, valueOf } from "../../src/tui/Setting.ts"
import type { Pickable } from "../../src/tui/State.ts"
import { Rig } from "./Rig.ts"

const submitted = (text: string) => ({ type: "submitted", text, as: "steer" }) as const

interface Room {
  readonly set: (key: string, word?: string) => Effect.Effect<unknown, never, ErrandNeeds>
  readonly content: Effect.Effect<unknown, unknown, ErrandNeeds>
  /** What was told since the last look. */
  readonly told: () => string
  readonly rows: () => ReadonlyArray<Pickable>
  readonly thought: ReadonlyArray<string>
}

const withFile = <A>(text: string | undefined, answer: string, use: (room: Room) => Effect.Effect<A, unknown, ErrandNeeds>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const file = `${yield* fs.makeTempDirectoryScoped()}/config.json`
    if (text !== undefined) yield* fs.writeFileString(file, text)
    const shown: Array<Event> = []
    const thought: Array<string> = []
    const room = makeErrandRoom({
      dispatch: (event: Event) => void shown.push(event),
      settingsFile: file,
      company: Effect.succeed({ models: Effect.succeed([{ provider: "openai", model: "gpt/5" }, { provider: "mistral", model: "small" }]) }),
      frontend: { input: () => Effect.succeed({ answer, cancelled: answer === "" }) }
    } as unknown as ErrandsOptions)
    const { set } = makePreferences(room, { think: (level: string) => Effect.sync(() => void thought.push(level)) } as unknown as Standing)
    return yield* use({
      set,
      content: Effect.map(fs.readFileString(file), (text): unknown => JSON.parse(text)),
      told: () => shown.splice(0).flatMap((event) => event.type === "notice" ? [event.text] : []).join("\n"),
      rows: () => shown.flatMap((event) => event.type === "items" ? [event.items] : []).at(-1) ?? [],
      thought
    })
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

describe("/settings", () => {
  const picker = (rig: Rig) => rig.state.overlay?.kind === "picker" ? rig.state.overlay : assert.fail("no list")

  it("lists them, asks what the picked one shall be, and lists them again where one was", () => {
    const rig = new Rig()
    rig.on(submitted("/settings"))
    assert.deepStrictEqual(rig.done, [{ type: "list", what: "settings" }])
    rig.on({ type: "items", what: "settings", items: screenSettings.map(({ key }) => ({ value: key, label: key, about: "" })) })
    const at = screenSettings.findIndex(({ key }) => key === "theme")
    for (let n = 0; n < at; n++) rig.key("down")
    rig.key("enter")
    assert.include(picker(rig).title, "theme")
    assert.deepStrictEqual(picker(rig).items?.map(({ label }) => label), ["auto", "dark", "light", "usual"])
    rig.key("down")
    rig.key("down")
    rig.key("enter")
    assert.deepStrictEqual(rig.done, [{ type: "setting", key: "theme", value: "light" }])
    assert.strictEqual(rig.state.appearance.theme, "light")
    assert.deepStrictEqual([picker(rig).what, picker(rig).selected], ["settings", at])
  })

  it("takes a key and a value, and asks for what is typed or is a model", () => {
    const rig = new Rig()
    rig.on(submitted("/settings Agent.Max_Steps 20"), submitted("/settings agent.max_steps"))
    assert.deepStrictEqual(rig.done, [{ type: "setting", key: "agent.max_steps", value: "20" }, { type: "setting", key: "agent.max_steps" }])
    rig.on(submitted("/settings default_model"))
    assert.deepStrictEqual([rig.done, picker(rig).what], [[{ type: "list", what: "defaultModel" }], "defaultModel"])
    rig.on({ type: "items", what: "defaultModel", items: [{ value: "openai/gpt/5", label: "gpt/5", about: "" }] })
    rig.key("enter")
    assert.deepStrictEqual(rig.done, [{ type: "setting", key: "default_model", value: "openai/gpt/5" }])
  })

  it("offers only values that the file may have", () => {
    for (const setting of screenSettings) {
      const words = typeof setting.takes === "string" ? ["7"] : setting.takes
      for (const word of words) {
        const content = withSetting({}, setting.key.split("."), valueOf(setting, word))
        assert.strictEqual(decodeSettings(content)._tag, "Success", `${setting.key} ${word}`)
      }
    }
  })

  it.effect("keeps what else the file says, nested or unknown, and tells from when on it holds", () =>
    withFile(`{"theirs":[1],"agent":{"odd":true,"max_tokens":5}}`, "", ({ content, set, thought, told }) =>
      Effect.gen(function*() {
        yield* set("agent.max_steps", "20")
        assert.match(told(), /agent\.max_steps is 20 from the next start on/)
        yield* set("agent.thinking", "high")
        assert.match(told(), /agent\.thinking is high;/)
        yield* set("mouse", "false")
        assert.deepStrictEqual(yield* content, { theirs: [1], agent: { odd: true, max_tokens: 5, max_steps: 20, thinking: "high" }, mouse: false })
        assert.deepStrictEqual(thought, ["high"])
      })))

  it.effect("shows what holds, and the usual where the file says nothing; that can be had again", () =>
    withFile(undefined, "", ({ content, rows, set, told }) =>
      Effect.gen(function*() {
        const about = (key: string) => rows().find(({ value }) => value === key)?.about ?? ""
        yield* set("theme", "dark")
        assert.match(about("theme"), /^dark · /)
        assert.match(about("mouse"), /^true \(usual\) · /)
        yield* set("theme", "usual")
        assert.match(about("theme"), /^auto \(usual\) · /)
        assert.match(told(), /theme is auto; .* says nothing of it/)
        assert.deepStrictEqual(yield* content, {})
      })))

  it.effect("names a model with its provider, however many slashes it has", () =>
    withFile("{}", "", ({ content, rows, set }) =>
      Effect.gen(function*() {
        yield* set("default_model", "openai/gpt/5")
        assert.deepStrictEqual(yield* content, { default_provider: "openai", default_model: "gpt/5" })
        assert.match(rows()[0]?.about ?? "", /^openai\/gpt\/5 · /)
        yield* set("default_model", "small")
        assert.deepStrictEqual(yield* content, { default_provider: "mistral", default_model: "small" })
        yield* set("default_model", "usual")
        assert.deepStrictEqual(yield* content, {})
      })))

  it.effect("asks for what is typed, and changes nothing when nothing is", () =>
    Effect.gen(function*() {
      yield* withFile("{}", " 12 ", ({ content, set }) => Effect.andThen(set("agent.max_steps"), Effect.map(content, (now) => assert.deepStrictEqual(now, { agent: { max_steps: 12 } }))))
      yield* withFile("{}", "", ({ content, set }) => Effect.andThen(set("agent.max_steps"), Effect.map(content, (now) => assert.deepStrictEqual(now, {}))))
    }))

  it.effect("refuses what the file may not have, settings there are not, and a file that is broken", () =>
    Effect.gen(function*() {
      yield* withFile("{}", "", ({ content, set, told }) =>
        Effect.gen(function*() {
          for (const [key, word] of [["agent.max_steps", "many"], ["agent.max_steps", "-1"], ["theme", "plaid"], ["mouse", "maybe"], ["agent.thinking", "a lot"]] as const) {
            yield* set(key, word)
            const text = told()
            assert.include(text, "Nothing was changed", key)
            assert.include(text, key)
          }
          yield* set("providers.openai.endpoint", "http://x")
          assert.include(told(), "/settings lists")
          assert.deepStrictEqual(yield* content, {})
        }))
      yield* withFile("{ oops", "", ({ set, told }) => Effect.andThen(set("theme", "dark"), Effect.sync(() => assert.match(told(), /config\.json.*not valid JSON/))))
    }))
})
