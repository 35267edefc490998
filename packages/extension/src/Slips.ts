/** Slips of the pen: words that mean nothing and are nearly one that does. Pure. */
import { Manifest } from "@nimlet/protocol"
import type { JsonObject } from "@nimlet/protocol"

/** How many letters are to be added, left out, changed or swapped with the next. */
const distance = (a: string, b: string): number => {
  let [before, last] = [[] as ReadonlyArray<number>, Array.from({ length: b.length + 1 }, (_, at) => at) as ReadonlyArray<number>]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] ?? 0) + 1 : Infinity
      row.push(Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1), swapped))
    }
    ;[before, last] = [last, row]
  }
  return last[b.length] ?? 0
}

const plain = (word: string): string => word.toLowerCase().replaceAll(/[-_ ]/g, "")

/** The word that was most likely meant; undefined where none is near. */
export const nearest = (word: string, among: Iterable<string>): string | undefined => {
  const most = Math.max(1, Math.floor(word.length / 4))
  let found: { readonly name: string; readonly off: number } | undefined
  for (const name of among) {
    const off = distance(plain(word), plain(name))
    if (off <= most && (found === undefined || off < found.off)) found = { name, off }
  }
  return found?.name
}

const manifestKeys = Object.keys(Manifest.fields)

/** A sentence for each key of a manifest in `file` that means nothing and is nearly one that does; other keys are its author's own. */
export const slipsIn = (manifest: JsonObject, file: string): ReadonlyArray<string> =>
  Object.keys(manifest).filter((key) => !manifestKeys.includes(key)).flatMap((key) => {
    const meant = nearest(key, manifestKeys)
    return meant === undefined ? [] : [`${file}: ${key} is ignored, there is no such key; ${meant} is meant, it seems`]
  })

/**
 * A sentence for each extension that the settings in `file` speak of and that was not found, where one that was found has nearly its
 * name, or where a guard was to be closed.
 */
export const strangersIn = (
  settings: Readonly<Record<string, { readonly on_failure?: string }>>,
  file: string,
  found: ReadonlySet<string>
): ReadonlyArray<string> =>
  Object.entries(settings).filter(([name]) => !found.has(name)).flatMap(([name, { on_failure }]) => {
    const meant = nearest(name, found)
    if (meant === undefined && on_failure !== "block") return []
    return [`${file}: extensions.${name} is ignored, no extension of that name was found${meant === undefined ? "" : `; ${meant} is meant, it seems`}`]
  })
