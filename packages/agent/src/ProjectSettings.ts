/** Settings of a project over those of the person: objects are merged key by key, everything else takes the place of what stood there. */
import { Effect, type FileSystem, Result } from "effect"
import type { ProjectExtensionSettings } from "@nimlet/extension"
import { decodeSettings, readSettings, type Settings, SettingsInvalid } from "./Settings.ts"
import { slipsTold } from "./SettingsSlips.ts"

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/**
 * Keys that a project may not say: they would send conversations and keys to places of its choosing, give keys to its
 * extensions, or leave the person's own extensions out. `*` is any key.
 */
const withheld: ReadonlyArray<ReadonlyArray<string>> = [
  ["agent", "session_dir"],
  ["models", "catalogue_url"],
  ["providers", "*", "endpoint"],
  ["providers", "*", "api"],
  ["providers", "*", "api_key_env"],
  ["providers", "*", "headers"],
  ["extensions", "families"],
  ["extensions", "*", "env"]
]

const without = (value: Json, [key = "", ...rest]: ReadonlyArray<string>, at: string): { readonly left: Json; readonly dropped: ReadonlyArray<string> } => {
  const keys = (key === "*" ? Object.keys(value) : [key]).filter((one) => Object.hasOwn(value, one))
  if (rest.length === 0) {
    return { left: Object.fromEntries(Object.entries(value).filter(([one]) => !keys.includes(one))), dropped: keys.map((one) => `${at}${one}`) }
  }
  const inner = keys.flatMap((one) => {
    const below = value[one]
    return isObject(below) ? [[one, without(below, rest, `${at}${one}.`)] as const] : []
  })
  return {
    left: { ...value, ...Object.fromEntries(inner.map(([one, { left }]) => [one, left])) },
    dropped: inner.flatMap(([, { dropped }]) => dropped)
  }
}

/** A project's settings without what it may not say, and the keys of that. Pure. */
export const permitted = (content: unknown): { readonly left: unknown; readonly dropped: ReadonlyArray<string> } =>
  isObject(content)
    ? withheld.reduce<{ readonly left: Json; readonly dropped: ReadonlyArray<string> }>((done, keys) => {
      const { dropped, left } = without(done.left, keys, "")
      return { left, dropped: [...done.dropped, ...dropped] }
    }, { left: content, dropped: [] })
    : { left: content, dropped: [] }

/** `over` laid over `base`. Pure. */
export const merged = (base: unknown, over: unknown): unknown =>
  isObject(base) && isObject(over)
    ? Object.fromEntries([...new Set([...Object.keys(base), ...Object.keys(over)])].map((key) =>
      [key, Object.hasOwn(base, key) && Object.hasOwn(over, key) ? merged(base[key], over[key]) : Object.hasOwn(over, key) ? over[key] : base[key]]))
    : over

/** A project's settings without what it says of single extensions, and with what a person requires added to what it does. Pure. */
const shared = (own: Settings, left: unknown): unknown => {
  if (!isObject(left)) return left
  const { extensions, ...rest } = left
  const theirs = isObject(extensions) && Array.isArray(extensions["required"]) ? extensions["required"] : []
  const required = [...new Set([...own.extensions?.required ?? [], ...theirs])]
  return required.length === 0 ? rest : { ...rest, extensions: { required } }
}

/** Settings of a person and of a project in force together. */
export interface ProjectSettings {
  /** Those of both, but for what the project says of single extensions. */
  readonly settings: Settings
  /** What it says of them. */
  readonly extensions: ProjectExtensionSettings
  /** The keys that the project sets. */
  readonly keys: ReadonlyArray<string>
  /** A sentence for each key that the project may not set, and for each that means nothing. */
  readonly warnings: ReadonlyArray<string>
}

/**
 * The person's settings with those of the trusted project in `project` over them. What it requires of extensions comes
 * to what the person does, and what it says of one is kept apart: it is for the project's own alone. Fails with
 * `SettingsInvalid`, which names the one of the two files that is wrong.
 */
export const loadProjectSettings = Effect.fnUntraced(function*(
  file: string,
  project: string
): Effect.fn.Return<ProjectSettings, SettingsInvalid, FileSystem.FileSystem> {
  const [own, theirs] = yield* Effect.all([readSettings(file), readSettings(project)], { concurrency: 2 })
  const { dropped, left } = permitted(theirs.content)
  const both = Result.all([decodeSettings(merged(own.content, shared(own.settings, left))), decodeSettings(left)])
  if (Result.isFailure(both)) return yield* new SettingsInvalid({ file: project, problems: both.failure })
  const [settings, { extensions }] = both.success
  return {
    settings,
    keys: isObject(left) ? Object.keys(left) : [],
    extensions: { file: project, named: extensions?.named ?? {} },
    warnings: [...slipsTold(own.content, file), ...slipsTold(theirs.content, project), ...dropped.map((key) => `${project}: ${key} is ignored; a project may not set it`)]
  }
})
