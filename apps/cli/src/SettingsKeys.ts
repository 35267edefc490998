/** Settings as a flat list of keys, for people. Pure. */
import type { Settings } from "@nimlet/agent"

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

const flat = (value: unknown, path: ReadonlyArray<string>): ReadonlyArray<readonly [ReadonlyArray<string>, unknown]> =>
  isObject(value) ? Object.entries(value).flatMap(([key, inner]) => flat(inner, [...path, key])) : [[path, value]]

/** In the file, extensions by name stand beside `required` and `families`. */
const written = (path: ReadonlyArray<string>): string =>
  (path[0] === "extensions" && path[1] === "named" ? ["extensions", ...path.slice(2)] : path).join(".")

/** Dotted keys with their values as JSON. What is sent to a provider unseen (`providers.NAME.options`) is not shown. */
export const keysInForce = (settings: Settings): ReadonlyArray<{ readonly key: string; readonly value: string }> =>
  flat(settings, []).map(([path, value]) => ({
    key: written(path),
    value: path[0] === "providers" && path[2] === "options" ? "" : JSON.stringify(value) ?? ""
  }))
