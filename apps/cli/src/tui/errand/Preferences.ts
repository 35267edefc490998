/** The person's settings: what their file says, and changing it. What a project says for itself is not touched. */
import { Effect, Result } from "effect"
import { decodeSettings, readSettings } from "@nimlet/agent"
import { saveSetting, withSetting } from "../../SettingsFile.ts"
import { type Setting, screenSettings, settingNamed, usualWord, valueOf } from "../Setting.ts"
import type { Pickable } from "../State.ts"
import type { ErrandRoom } from "./ErrandRoom.ts"
import type { Standing } from "./Standing.ts"

type Json = Readonly<Record<string, unknown>>

const said = (content: unknown, key: string): unknown =>
  key.split(".").reduce<unknown>((inner, name) => typeof inner === "object" && inner !== null ? (inner as Json)[name] : undefined, content)

const written = (value: unknown): string => typeof value === "string" ? value : JSON.stringify(value)

const row = (content: unknown, { about, key, usual }: Setting): Pickable => {
  const value = said(content, key)
  const provider = key === "default_model" ? said(content, "default_provider") : undefined
  const shown = value === undefined ? `${usual} (${usualWord})` : `${provider === undefined ? "" : `${written(provider)}/`}${written(value)}`
  return { value: key, label: key, about: `${shown} · ${about}` }
}

/** The errands of settings. */
export const makePreferences = ({ company, frontend, settingsFile, show, tell }: ErrandRoom, { think }: Standing) => {
  const told = Effect.catch((error: { readonly message: string }) => tell(error.message, "warning"))

  const list = Effect.gen(function*() {
    const { content } = yield* readSettings(settingsFile)
    yield* show({ type: "items", what: "settings", items: screenSettings.map((setting) => row(content, setting)) })
  }).pipe(told)

  /** The keys that are changed for a word, with their values. */
  const changesFor = Effect.fnUntraced(function*(setting: Setting, word: string) {
    if (setting.takes !== "model") return [[setting.key, valueOf(setting, word)]] as const
    if (word === usualWord) return [["default_provider", undefined], ["default_model", undefined]] as const
    const models = yield* (yield* company).models
    const [head = "", ...rest] = word.split("/")
    const isProvider = rest.length > 0 && models.some(({ provider }) => provider === head)
    const model = isProvider ? rest.join("/") : word
    const provider = isProvider ? head : models.find((one) => one.model === word)?.provider
    return [...(provider === undefined ? [] : [["default_provider", provider] as const]), ["default_model", model] as const]
  })

  const change = Effect.fnUntraced(function*(setting: Setting, word: string) {
    const { content } = yield* readSettings(settingsFile)
    const changes = yield* changesFor(setting, word)
    const next = changes.reduce<unknown>((all, [key, value]) => withSetting(all as Json, key.split("."), value), content)
    const decoded = decodeSettings(next)
    if (Result.isFailure(decoded)) return yield* tell(`Nothing was changed: ${decoded.failure.join("; ")}`, "warning")
    for (const [key, value] of changes) yield* saveSetting(settingsFile, key.split("."), value)
    const isUsual = word === usualWord
    const since = setting.key === "theme" || (setting.atOnce === true && !isUsual) ? "" : " from the next start on"
    yield* tell(`${setting.key} is ${isUsual ? setting.usual : word}${since}; ~/.nimlet/config.json says ${isUsual ? "nothing of it" : "so"}.`)
    if (setting.key === "agent.thinking" && !isUsual) yield* think(word)
  })

  /** Changes a setting; without a word it is asked for. */
  const set = Effect.fnUntraced(function*(key: string, word: string | undefined) {
    const setting = settingNamed(key)
    if (setting === undefined) return yield* tell(`There is no setting '${key}' here; /settings lists those there are, and ~/.nimlet/config.json may hold more.`, "warning")
    if (word !== undefined) return yield* change(setting, word)
    const answer = yield* frontend.input({ asker: "nimlet", prompt: `${setting.key}: ${setting.about}? It is ${setting.usual} as a rule; '${usualWord}' makes it so again.`, secret: false })
    if (!answer.cancelled && answer.answer.trim() !== "") yield* change(setting, answer.answer.trim())
  }, told)

  return { list, set: (key: string, word: string | undefined) => Effect.andThen(set(key, word), list) }
}
