/**
 * What people write for agents: `AGENTS.md` and its kin, from the person's own through the repository's top down to the
 * workspace. Below it they are told when something there is read. They need no trust: they act only through the model.
 */
import { Effect, FileSystem, Option, Path } from "effect"

/** A file and how the model is told of it. */
export interface ContextFile {
  readonly label: string
  readonly text: string
}

/** One of these a folder, the first that is there. */
const names = ["AGENTS.override.md", "AGENTS.md", "CLAUDE.md"]
const mostBytes = 64 * 1024

/** A file in the model's words. Pure. */
export const contextText = ({ label, text }: ContextFile): string => `<file path="${label}">\n${text.trim()}\n</file>`

/** The beginning of a file, with a word about what does not fit. */
const bounded = (bytes: Uint8Array): string =>
  bytes.length <= mostBytes
    ? new TextDecoder().decode(bytes)
    : `${new TextDecoder().decode(bytes.subarray(0, mostBytes)).replace(/\uFFFD+$/, "")}\n[${bytes.length - mostBytes} bytes left out]`

/** The context file of a folder, unless a link leads out of that: what lies elsewhere is nobody's word about this folder. */
export const contextIn = Effect.fnUntraced(function*(folder: string, label?: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  for (const name of names) {
    const file = path.join(folder, name)
    const found = yield* fs.realPath(file).pipe(
      Effect.flatMap((real) => Effect.map(fs.stat(real), ({ type }) => ({ real, type }))),
      Effect.option
    )
    if (Option.isNone(found) || found.value.type !== "File") continue
    if (label === undefined && !found.value.real.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep)) continue
    const bytes = yield* Effect.option(fs.readFile(found.value.real))
    if (Option.isSome(bytes) && bytes.value.length > 0) return Option.some<ContextFile>({ label: label ?? file, text: bounded(bytes.value) })
  }
  return Option.none<ContextFile>()
})

/** The folders whose context holds in a workspace: from the repository's top down, or, outside one, from the home folder down. */
const chain = Effect.fnUntraced(function*(home: string, workspace: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const above = (folder: string): ReadonlyArray<string> => path.dirname(folder) === folder ? [folder] : [folder, ...above(path.dirname(folder))]
  const all = above(workspace)
  const tops = yield* Effect.forEach(all, (folder) => Effect.orElseSucceed(fs.exists(path.join(folder, ".git")), () => false), { concurrency: "unbounded" })
  const top = tops.indexOf(true)
  const last = top >= 0 ? top : Math.max(0, all.indexOf(home))
  return all.slice(0, last + 1).toReversed()
})

/** The context files of a workspace, the most general first. Both folders are real paths. */
export const loadContext = Effect.fnUntraced(function*({ home, workspace }: { readonly home: string; readonly workspace: string }) {
  const path = yield* Path.Path
  const folders = yield* chain(home, workspace)
  const found = yield* Effect.all([contextIn(path.join(home, ".nimlet"), "global"), ...folders.map((folder) => contextIn(folder))], { concurrency: 16 })
  return found.flatMap((file) => Option.toArray(file))
})

/** The context that a file below the workspace brings with it: that of each folder on the way which was not told yet. */
export const makeScopedContext = (workspace: string): (file: string) => Effect.Effect<ReadonlyArray<ContextFile>, never, FileSystem.FileSystem | Path.Path> => {
  const told = new Set<string>()
  return Effect.fnUntraced(function*(file) {
    const path = yield* Path.Path
    const steps = path.relative(workspace, path.dirname(file)).split(path.sep)
    if (steps[0] === ".." || steps[0] === "") return []
    const folders = steps.map((_, index) => path.join(workspace, ...steps.slice(0, index + 1))).filter((folder) => !told.has(folder))
    for (const folder of folders) told.add(folder)
    const found = yield* Effect.forEach(folders, (folder) => contextIn(folder))
    return found.flatMap((one) => Option.toArray(one))
  })
}
