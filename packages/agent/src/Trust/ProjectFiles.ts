/**
 * The files of a project that can act: what they say changes what runs, or what the model is told to do. Each is known by
 * its path in the project and the SHA-256 of its bytes. Modules that such a file imports are not among them.
 */
import { Effect, FileSystem, Path, Predicate, Result } from "effect"
import * as Digest from "effect/crypto/Digest"

/** A file, relative to the workspace with `/`, and the hash of its bytes in hex; no hash where it is no regular file. */
export interface ProjectFile {
  readonly path: string
  readonly sha256: string
}

/** Folders of a project whose contents act, relative to the workspace, by what is looked for in them. */
export interface ProjectFolders {
  /** Folders that hold extensions. */
  readonly extensions: ReadonlyArray<string>
}

/** Files and folders that act by themselves; the seeds' own order of roots. */
export const projectRoots = {
  files: [".nimlet/config.json", ".nimlet/permissions.json", ".nimlet/SYSTEM.md", ".nimlet/APPEND_SYSTEM.md"],
  skills: [".agent/skills", ".agents/skills", ".nimlet/skills"],
  prompts: [".agent/prompts", ".agents/prompts", ".nimlet/prompts"],
  tools: [".agent/tools", ".nimlet/tools"]
} as const

const isModule = (name: string): boolean => /\.[cm]?[jt]s$/.test(name)
const manifests = ["extension.json", "package.json", "tool.json"]
/** As many folders and files are looked at, at once. */
const concurrency = 16

/** All strings in a JSON value, object keys left out. */
const stringsIn = (value: unknown): ReadonlyArray<string> =>
  typeof value === "string" ? [value] : typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : []

/** The files of `workspace`, a real path, that can act, sorted by path. What cannot be looked at is left out, as it is when it would be loaded. */
export const findProjectFiles = Effect.fnUntraced(function*(workspace: string, folders: ProjectFolders) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { digestHex } = yield* Digest.Digest

  const at = (relative: string) => path.join(workspace, relative)
  const kind = (relative: string) => Effect.match(fs.stat(at(relative)), { onFailure: () => undefined, onSuccess: ({ type }) => type })
  const names = (relative: string): Effect.Effect<ReadonlyArray<string>> => Effect.orElseSucceed(fs.readDirectory(at(relative)), () => [])
  const under = (relative: string) => Effect.map(names(relative), (all) => all.map((name) => `${relative}/${name}`))
  const each = <A>(all: ReadonlyArray<string>, look: (one: string) => Effect.Effect<ReadonlyArray<A>>) =>
    Effect.map(Effect.forEach(all, look, { concurrency }), (found) => found.flat())

  const hashed = Effect.fnUntraced(function*(relative: string): Effect.fn.Return<ReadonlyArray<ProjectFile>> {
    const type = yield* kind(relative)
    if (type === undefined || type === "Directory") return []
    if (type !== "File") return [{ path: relative, sha256: "" }]
    const bytes = yield* Effect.result(fs.readFile(at(relative)))
    return [{ path: relative, sha256: Result.isSuccess(bytes) ? yield* digestHex(Digest.sha256, bytes.success) : "" }]
  })

  /** A path in the project as it is told; undefined for the project itself and what lies outside. */
  const inProject = (file: string): ReadonlyArray<string> => {
    const relative = path.relative(workspace, file)
    return relative === "" || path.isAbsolute(relative) || relative.split(path.sep)[0] === ".." ? [] : [relative.replaceAll(path.sep, "/")]
  }
  /**
   * A manifest, and the files of the project that it names anywhere: its program, its arguments, its modules. A command runs in the
   * project, so that its words may be files from there, too.
   */
  const withNamed = Effect.fnUntraced(function*(folder: string, name: string) {
    const text = yield* Effect.orElseSucceed(fs.readFileString(at(`${folder}/${name}`)), () => "")
    const parsed = Result.try(() => JSON.parse(text) as unknown)
    const manifest = Result.isSuccess(parsed) ? parsed.success : undefined
    const files = (words: ReadonlyArray<string>, from: string) =>
      words.filter((word) => word !== "" && word.length < 1024 && !word.includes("\0")).flatMap((word) => inProject(path.resolve(from, word)))
    const inside = files(stringsIn(manifest), at(folder))
    const run = Predicate.hasProperty(manifest, "command") ? files(stringsIn(manifest.command), workspace) : []
    const own = inside.filter((one) => one.startsWith(`${folder}/`))
    const modules = yield* each([...new Set(own)], (one) => Effect.map(under(one), (all) => all.filter(isModule)))
    return [`${folder}/${name}`, ...inside, ...run, ...modules]
  })

  const inFolder = Effect.fnUntraced(function*(folder: string) {
    const files = yield* names(folder)
    const told = yield* each(manifests.filter((name) => files.includes(name)), (name) =>
      Effect.flatMap(kind(`${folder}/${name}`), (type) => type === "File" ? withNamed(folder, name) : Effect.succeed([`${folder}/${name}`])))
    return [...told, ...files.filter(isModule).map((name) => `${folder}/${name}`)]
  })

  const { files, prompts, skills, tools } = projectRoots
  const top = (one: string) => one.split("/")[0] ?? one
  const roots = [...new Set([...files, ...skills, ...prompts, ...tools, ...folders.extensions].map(top))]
  const there = new Set(yield* Effect.filter(roots, (root) => Effect.map(kind(root), (type) => type !== undefined), { concurrency }))
  if (there.size === 0) return []
  const present = (all: ReadonlyArray<string>) => all.filter((one) => there.has(top(one)))
  const paths = (yield* Effect.all([
    Effect.succeed(present(files)),
    each(present(skills), (root) => Effect.map(under(root), (all) => all.map((skill) => `${skill}/SKILL.md`))),
    each(present(prompts), (root) => Effect.map(under(root), (all) => all.filter((file) => file.endsWith(".md")))),
    each(present(tools), (root) => Effect.flatMap(under(root), (all) => each(all, inFolder))),
    each(present(folders.extensions), (root) =>
      Effect.flatMap(under(root), (found) => Effect.map(each(found, inFolder), (inside) => [...inside, ...found.filter(isModule)])))
  ], { concurrency })).flat()
  const found = yield* each([...new Set(paths)], hashed)
  return found.toSorted((a, b) => a.path < b.path ? -1 : a.path > b.path ? 1 : 0)
})
