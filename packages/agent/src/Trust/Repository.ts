/**
 * Which git repository a folder is a checkout of. A worktree says so itself, and may lie: it is believed only when the
 * repository it names has a record of it, too.
 */
import { Effect, FileSystem, Option, Path } from "effect"
import { textIn } from "../Resources/ResourceFile.ts"

/** A place in a repository, the same in each of its worktrees. */
export interface Place {
  /** Real path of the repository's own folder, which all its worktrees share. */
  readonly repository: string
  /** The folder, relative to the top of its worktree; empty for the top itself. */
  readonly within: string
}

/** The place of `folder`, a real path; undefined where it is in no repository, or in none that knows of it. */
export const placeOf = Effect.fnUntraced(function*(folder: string): Effect.fn.Return<Place | undefined, never, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const real = (file: string) => Effect.orElseSucceed(fs.realPath(file), () => undefined)
  const read = (file: string) => Effect.map(textIn(file, 4096), Option.match({ onNone: () => "", onSome: (text) => text.trim() }))

  const repositoryAt = Effect.fnUntraced(function*(top: string) {
    const git = path.join(top, ".git")
    const info = yield* Effect.option(fs.stat(git))
    if (info._tag === "None") return undefined
    // Named as it stands here, not where a link leads: that repository knows nothing of this folder.
    if (info.value.type === "Directory") return git
    if (info.value.type !== "File") return ""
    const named = /^gitdir: (.+)$/.exec(yield* read(git))?.[1]
    const own = named === undefined ? undefined : yield* real(path.resolve(top, named))
    if (own === undefined || path.basename(path.dirname(own)) !== "worktrees") return ""
    const record = yield* read(path.join(own, "gitdir"))
    const known = record === "" ? undefined : yield* real(path.resolve(own, record))
    return known === git ? path.dirname(path.dirname(own)) : ""
  })

  for (let top = folder;; top = path.dirname(top)) {
    const repository = yield* repositoryAt(top)
    if (repository !== undefined) return repository === "" ? undefined : { repository, within: path.relative(top, folder).replaceAll(path.sep, "/") }
    if (path.dirname(top) === top) return undefined
  }
})
