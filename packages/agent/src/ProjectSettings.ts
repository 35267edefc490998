/** Settings of a project over those of the person: objects are merged key by key, everything else takes the place of what stood there. */
import { Effect, type FileSystem, Result } from "effect"
import { decodeSettings, readSettings, type Settings, SettingsInvalid } from "./Settings.ts"

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/**
 * Keys that a project may not say: they would send conversations and keys to places of its choosing, or give keys to its
 * extensions. `*` is any key.
 */
const withheld: ReadonlyArray<ReadonlyArray<string>> = [
  ["agent", "session_dir"],
  ["providers", "*", "endpoint"],
  ["providers", "*", "api"],
  ["providers", "*", "api_key_env"],
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

/**
 * The person's settings with those of the trusted project in `project` over them, and a sentence for each key that the
 * project may not set. Fails with `SettingsInvalid`, which names the one of the two files that is wrong.
 */
export const loadProjectSettings = Effect.fnUntraced(function*(
  file: string,
  project: string
): Effect.fn.Return<{ readonly settings: Settings; readonly warnings: ReadonlyArray<string> }, SettingsInvalid, FileSystem.FileSystem> {
  const [own, theirs] = yield* Effect.all([readSettings(file), readSettings(project)], { concurrency: 2 })
  const { dropped, left } = permitted(theirs.content)
  const both = decodeSettings(merged(own.content, left))
  if (Result.isFailure(both)) return yield* new SettingsInvalid({ file: project, problems: both.failure })
  return { settings: both.success, warnings: dropped.map((key) => `${project}: ${key} is ignored; a project may not set it`) }
})
