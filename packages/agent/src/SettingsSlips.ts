/** Keys of a settings file that nothing looks at, and the one that was most likely meant. Pure. */
import { nearest } from "@nimlet/extension"
import { ModelEntry } from "@nimlet/provider"
import { AgentSettings, BashSettings, ModelsSettings, ProviderSettings, Settings, ToolsSettings } from "./Settings.ts"

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** A key that means nothing, dotted; `meant` is one beside it that has nearly its name. */
export interface Slip {
  readonly key: string
  readonly meant?: string
}

/** The objects whose keys are known, by the path that leads to them; `*` is any key. What is said of single extensions is looked at where it is decoded. */
const known: ReadonlyArray<readonly [path: ReadonlyArray<string>, keys: ReadonlyArray<string>]> = [
  [[], Object.keys(Settings.fields)],
  [["agent"], Object.keys(AgentSettings.fields)],
  [["models"], Object.keys(ModelsSettings.fields)],
  [["tools"], Object.keys(ToolsSettings.fields)],
  [["tools", "bash"], Object.keys(BashSettings.fields)],
  [["providers", "*"], Object.keys(ProviderSettings.fields)],
  [["providers", "*", "models", "*"], Object.keys(ModelEntry.fields)]
]

/** The values that a path leads to, with the keys it took. */
const reached = (value: unknown, [step, ...rest]: ReadonlyArray<string>, at: string): ReadonlyArray<readonly [at: string, value: unknown]> => {
  if (step === undefined) return [[at, value]]
  if (Array.isArray(value)) return value.flatMap((inner, index) => reached(inner, rest, `${at.slice(0, -1)}[${index}].`))
  const object = isObject(value) ? value : {}
  return Object.keys(object).filter((key) => step === "*" || key === step).flatMap((key) => reached(object[key], rest, `${at}${key}.`))
}

/** The slips in a file's content. A key that begins with `$` or `_` (`$schema`, `_comment`) is nobody's business. */
export const settingsSlips = (content: unknown): ReadonlyArray<Slip> =>
  known.flatMap(([path, keys]) =>
    reached(content, path, "").flatMap(([at, value]) =>
      Object.keys(isObject(value) ? value : {}).filter((key) => !keys.includes(key) && !/^[$_]/.test(key)).map((key): Slip => {
        const meant = nearest(key, keys)
        return { key: `${at}${key}`, ...(meant === undefined ? {} : { meant: `${at}${meant}` }) }
      })))

/** A sentence for each slip in the content of `file`. */
export const slipsTold = (content: unknown, file: string): ReadonlyArray<string> =>
  settingsSlips(content).map(({ key, meant }) => `${file}: ${key} is ignored, there is no such key; ${meant === undefined ? "take it out" : `${meant} is meant, it seems`}`)
