/** Roots → extensions, in startup order (seed 000, "Layout and discovery"). */
import { Effect, FileSystem, Option, Path, Result } from "effect"
import type { Manifest } from "@nimlet/protocol"
import { atomic, type FamilyPolicy, modulesIn, nimlet, programsIn, type Root } from "./FamilyPolicy.ts"
import { isJsonObject, parseJson } from "./Json.ts"
import { decodeManifest, looksLikeMilliseconds, manifestText } from "./ManifestFile.ts"
import { modulesAt } from "./ModuleFile.ts"
import { slipsIn, strangersIn } from "./Slips.ts"
import type { ExtensionSettings, ProjectExtensionSettings } from "./Start.ts"

/** An extension that can be started. */
export interface Found {
  /** Unique in a run: the manifest's name, or `NAME#2` for the second of that name; where another goes by that, the next number. */
  readonly key: string
  /** With what the settings say in place of the file's. */
  readonly manifest: Manifest
  /** Real path of the folder that holds the manifest, or the module. */
  readonly folder: string
  readonly family: FamilyPolicy
  /** Comes from the workspace. */
  readonly project: boolean
}

/** What was found, and a sentence for each thing that was skipped or looks wrong. */
export interface Discovered {
  readonly found: ReadonlyArray<Found>
  /** Those that settings switch off. */
  readonly disabled: ReadonlyArray<Found>
  readonly warnings: ReadonlyArray<string>
  /** Guards that are to block when they cannot start, and cannot: their manifest is no good. By name, else by folder. */
  readonly closedGuards: ReadonlyArray<string>
  /** Named paths of which nothing can be started. */
  readonly unusable: ReadonlyArray<Refused>
  /** What lies in a root as if it were an extension, and is none. Nothing is warned of it. */
  readonly passedOver: ReadonlyArray<Refused>
}

/** A path of which nothing is started, and why. */
export interface Refused {
  readonly path: string
  readonly why: string
}

const manifestName = "extension.json"

const compareBytes = (a: string, b: string): number => {
  const encoder = new TextEncoder()
  const [left, right] = [encoder.encode(a), encoder.encode(b)]
  const differs = left.findIndex((byte, at) => byte !== right[at])
  return differs === -1 ? left.length - right.length : (left[differs] ?? 0) - (right[differs] ?? -1)
}

interface Candidate {
  /** As reached, for warnings. */
  readonly folder: string
  readonly programs: FamilyPolicy
  readonly modules: FamilyPolicy | undefined
  readonly project: boolean
  /** Something is expected here: its absence is a fault. */
  readonly named: boolean
}

/** Something to start: a program or a module, told apart by what lies there. */
interface Read {
  readonly folder: string
  readonly family: FamilyPolicy
  readonly project: boolean
  /** What makes it one and the same: the folder of a program, the file of a module. */
  readonly real: string
  readonly manifest: Result.Result<Manifest, string>
  readonly home: string
  /** It was named by path. */
  readonly named: boolean
  readonly slips?: ReadonlyArray<string>
  /** The manifest's text, where there is one. */
  readonly text?: string
}

/** A name may look like the key of another's namesake. */
const freeKey = (name: string, taken: ReadonlySet<string>): string => {
  let key = name
  for (let count = 2; taken.has(key); count++) key = `${name}#${count}`
  return key
}

/** What can be read of a manifest that is no good: its name, and whether it was meant to close (anything but a readable `open` counts). */
const remainsOf = (text: string): { readonly name?: string; readonly closes: boolean } => {
  const parsed = parseJson(text)
  if (Result.isFailure(parsed)) return { closes: /"on_failure"\s*:(?!\s*"open")/.test(text) }
  if (!isJsonObject(parsed.success)) return { closes: false }
  const { name, on_failure } = parsed.success
  const closes = on_failure !== undefined && on_failure !== "open"
  return typeof name === "string" && name.trim() !== "" ? { name: name.trim(), closes } : { closes }
}

const slipsOf = (text: string | undefined, file: string): ReadonlyArray<string> => {
  const manifest = text === undefined ? undefined : Result.getOrUndefined(parseJson(text))
  return isJsonObject(manifest) ? slipsIn(manifest, file) : []
}

/**
 * Every extension in the roots, then those named by path. Missing roots are no fault; a missing named path is one.
 * `settings` are by name, for all of that name; those of a project only for the ones that lie in it, so that no project
 * switches off or opens a guard of the person's own.
 */
export const discover = Effect.fnUntraced(function*(where: {
  readonly roots: ReadonlyArray<Root>
  readonly paths: ReadonlyArray<string>
  readonly settings?: Readonly<Record<string, ExtensionSettings>>
  readonly projectSettings?: ProjectExtensionSettings
  /** The file of the settings, for warnings. */
  readonly settingsFile?: string
}) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const warnings: Array<string> = []
  const { settingsFile = "the settings" } = where

  const inRoot = Effect.fnUntraced(function*(root: Root) {
    const names = yield* fs.readDirectory(root.path).pipe(
      Effect.catch((error) => {
        if (error.reason._tag !== "NotFound") warnings.push(`skipping ${root.path}: ${error.message}`)
        return Effect.succeed<Array<string>>([])
      })
    )
    return names.sort(compareBytes).filter((name) => name !== "node_modules").map((name): Candidate => ({
      folder: path.join(root.path, name),
      programs: programsIn(root.family),
      modules: modulesIn(root.family),
      project: root.project,
      named: false
    }))
  })
  const named = (given: string): Candidate => {
    const whole = path.resolve(given)
    const folder = path.basename(whole) === manifestName ? path.dirname(whole) : whole
    return { folder, programs: nimlet, modules: atomic, project: false, named: true }
  }
  const inRoots = yield* Effect.forEach(where.roots, inRoot, { concurrency: "unbounded" })
  const candidates = [...inRoots.flat(), ...where.paths.map(named)]

  const passedOver: Array<Refused> = []
  /** Why a place holds nothing to start; undefined for a file that only happens to lie there. */
  const whyNothing = Effect.fnUntraced(function*(place: string, modules: FamilyPolicy | undefined) {
    const kind = yield* Effect.option(fs.stat(place))
    if (Option.isNone(kind)) {
      return (yield* Effect.isSuccess(fs.readLink(place))) ? "it is a link to something that is not there" : "there is no such file or folder"
    }
    if (kind.value.type !== "Directory") return undefined
    const names = yield* Effect.orElseSucceed(fs.readDirectory(place), () => [])
    const almost = names.find((name) => name !== manifestName && name.toLowerCase() === manifestName)
    if (almost !== undefined) return `it has no extension.json; ${almost} must be named so, in small letters`
    return `it has no extension.json${modules === undefined ? "" : ", no package.json that lists extensions and no index.ts or index.js"}`
  })

  const realOf = (at: string) => Effect.orElseSucceed(fs.realPath(at), () => at)
  const read = Effect.fnUntraced(function*({ folder, modules, named, programs, project }: Candidate) {
    const real = yield* realOf(folder)
    const text = yield* Effect.result(manifestText(path.join(real, manifestName)))
    const program = (manifest: Read["manifest"]): ReadonlyArray<Read> =>
      [{ family: programs, folder, project, real, home: real, manifest, named, ...(Result.isSuccess(text) ? { text: text.success } : {}) }]
    if (Result.isSuccess(text)) return program(decodeManifest(text.success))
    const at = { folder, project, home: real, named }
    const why = text.failure.reason._tag
    // Nothing, or a file where there should be a folder, is no manifest; anything else is one that cannot be read.
    if (why !== "NotFound" && why !== "BadResource") return program(Result.fail("cannot read manifest"))
    const found = modules === undefined ? Result.succeed([]) : yield* modulesAt(real, modules.packageKeys)
    if (modules !== undefined && Result.isFailure(found)) return [{ ...at, family: modules, real, manifest: Result.fail(found.failure) }]
    const list = Result.getOrElse(found, () => [])
    if (modules !== undefined && list.length > 0) {
      return yield* Effect.forEach(list, ({ entry, manifest, slips }) =>
        Effect.map(realOf(entry), (file): Read => ({
          ...at,
          slips,
          family: modules,
          real: file,
          home: path.dirname(file),
          manifest: Result.succeed({ ...manifest, command: [file] })
        })))
    }
    if (!named && path.basename(folder).startsWith(".")) return []
    const nothing = yield* whyNothing(folder, modules)
    if (named) return program(Result.fail(nothing ?? "it is no extension: that is a folder with an extension.json, or a module in TypeScript or JavaScript"))
    if (nothing !== undefined) passedOver.push({ path: folder, why: nothing })
    return []
  })
  const said = (project: boolean, name: string): ExtensionSettings => {
    const theirs = settingsOf(where.projectSettings?.named, name)
    if (project) return { ...settingsOf(where.settings, name), ...theirs }
    for (const key of Object.keys(theirs)) {
      const warning = `${where.projectSettings?.file}: extensions.${name}.${key} is ignored; a project may not set it for an extension that is not its own`
      if (!warnings.includes(warning)) warnings.push(warning)
    }
    return settingsOf(where.settings, name)
  }
  const seen = new Set<string>()
  const keys = new Set<string>()
  const found: Array<Found> = []
  const disabled: Array<Found> = []
  const closedGuards: Array<string> = []
  const unusable: Array<Refused> = []
  for (const each of (yield* Effect.forEach(candidates, read, { concurrency: 16 })).flat()) {
    if (seen.has(each.real)) continue
    seen.add(each.real)
    if (Result.isFailure(each.manifest)) {
      warnings.push(`skipping ${each.folder}: ${each.manifest.failure}`)
      if (each.named) unusable.push({ path: each.folder, why: each.manifest.failure })
      const { closes, name = path.basename(each.folder) } = remainsOf(each.text ?? "")
      const { disabled: off = false, on_failure } = said(each.project, name)
      if (!off && (on_failure === undefined ? closes : on_failure === "block")) closedGuards.push(name)
      continue
    }
    const { name } = each.manifest.success
    const slips = each.slips ?? slipsOf(each.text, path.join(each.folder, manifestName))
    for (const slip of slips) if (!warnings.includes(slip)) warnings.push(slip)
    const { disabled: off = false, ...settings } = said(each.project, name)
    const manifest = { ...each.manifest.success, ...settings }
    const key = freeKey(name, keys)
    keys.add(key)
    const one: Found = { key, manifest, folder: each.home, family: each.family, project: each.project }
    if (off) {
      disabled.push(one)
      if (each.named) warnings.push(`extension '${key}' is not started, though it was named by path: extensions.${name}.disabled is set in ${settingsFile}`)
      continue
    }
    if (looksLikeMilliseconds(manifest)) {
      warnings.push(
        `extension '${key}': response_timeout_seconds is ${manifest.response_timeout_seconds}; the unit is seconds`
      )
    }
    found.push(one)
  }
  const names = new Set([...found, ...disabled].map(({ manifest }) => manifest.name).concat(closedGuards))
  warnings.push(...strangersIn(where.settings ?? {}, settingsFile, names))
  if (where.projectSettings !== undefined) warnings.push(...strangersIn(where.projectSettings.named, where.projectSettings.file, names))
  const discovered: Discovered = { found, disabled, warnings, closedGuards, unusable, passedOver: passedOver.sort((a, b) => compareBytes(a.path, b.path)) }
  return discovered
})

/** What settings say of the extension `name`; names are someone else's words, so only own keys count. */
export const settingsOf = (settings: Readonly<Record<string, ExtensionSettings>> = {}, name: string): ExtensionSettings =>
  (Object.hasOwn(settings, name) ? settings[name] : undefined) ?? {}
