/** TypeScript and JavaScript modules as extensions: what counts, and what they are called (seed 004, "Extension Styles"). */
import { Effect, FileSystem, Option, Path, Result, Schema } from "effect"
import { Manifest } from "@nimlet/protocol"
import { isJsonObject, parseJson } from "./Json.ts"
import { manifestText } from "./ManifestFile.ts"
import { slipsIn } from "./Slips.ts"

/** Files that can be an extension by themselves. */
const isModule = (name: string): boolean => /^[^.].*\.m?[jt]s$/.test(name) && !/\.d\.m?ts$/.test(name)
const indexes = ["index.ts", "index.mts", "index.js", "index.mjs"]

/** A module to be loaded: its name, its absolute path, and what `package.json` says of it beside. */
export interface ModuleFound {
  readonly manifest: Manifest
  readonly entry: string
  /** What in `package.json` looks like a slip of the pen, a sentence each. */
  readonly slips: ReadonlyArray<string>
}

const { command: _command, name: _name, ...described } = Manifest.fields
const decodeDescribed = Schema.decodeUnknownResult(Schema.Struct(described))

const stemOf = (file: string): string => file.replace(/\.m?[jt]s$/, "")

const named = (name: string, entry: string, more: object = {}, slips: ReadonlyArray<string> = []): ModuleFound => ({ manifest: { name, command: [entry], ...more }, entry, slips })

/**
 * What lies at a place in a root, or was named by path: a module, a package that lists its modules under one of `keys`, or a
 * folder with an index. Empty when it is none of these; the failure is the reason in `skipping <place>: <reason>`.
 */
export const modulesAt = Effect.fnUntraced(function*(place: string, keys: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const name = path.basename(place)
  const kindOf = (at: string) => Effect.map(Effect.option(fs.stat(at)), (info) => Option.isSome(info) ? info.value.type : undefined)
  const kind = yield* kindOf(place)
  if (kind === "File") return Result.succeed(isModule(name) ? [named(stemOf(name), place)] : [])
  if (kind !== "Directory") return Result.succeed([])

  const indexOf = Effect.fnUntraced(function*(folder: string) {
    for (const index of indexes) {
      const entry = path.join(folder, index)
      if ((yield* kindOf(entry)) === "File") return entry
    }
    return undefined
  })
  const text = yield* Effect.option(manifestText(path.join(place, "package.json")))
  const parsed = Option.isSome(text) ? parseJson(text.value) : undefined
  const pack = parsed !== undefined && Result.isSuccess(parsed) && isJsonObject(parsed.success) ? parsed.success : {}
  const about = keys.map((key) => pack[key]).find(isJsonObject)
  const listed = about?.["extensions"]
  if (about === undefined || listed === undefined) {
    const entry = yield* indexOf(place)
    return Result.succeed(entry === undefined ? [] : [named(name, entry)])
  }
  if (!Array.isArray(listed) || !listed.every((each) => typeof each === "string")) {
    return Result.fail("package.json: extensions must be an array of paths")
  }
  const settings = decodeDescribed(about)
  if (Result.isFailure(settings)) return Result.fail(`package.json: ${settings.failure.message}`)
  const { extensions: _, ...rest } = about
  const slips = slipsIn(rest, path.join(place, "package.json"))
  const found: Array<ModuleFound> = []
  for (const each of listed) {
    const given = path.resolve(place, each)
    const entry = (yield* kindOf(given)) === "Directory" ? yield* indexOf(given) : given
    if (entry === undefined || (yield* kindOf(entry)) !== "File") return Result.fail(`package.json: there is no ${each}`)
    found.push(named(listed.length === 1 ? name : `${name}/${stemOf(path.basename(entry))}`, entry, settings.success, slips))
  }
  return Result.succeed(found)
})
