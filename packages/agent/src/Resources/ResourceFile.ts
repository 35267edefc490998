/** How files of resources are read: regular ones, bounded, in the order of their paths. */
import { Effect, FileSystem, Option, Path } from "effect"

/** A folder that resources come from, and whether it is the workspace's. */
export interface ResourceRoot {
  readonly path: string
  readonly project: boolean
}

/** The roots of one kind, in the order in which later ones win. */
export const rootsIn = (path: Path.Path, where: { readonly home: string; readonly workspace: string; readonly trusted: boolean }, own: ReadonlyArray<string>, theirs: ReadonlyArray<string>): ReadonlyArray<ResourceRoot> => [
  ...own.map((root) => ({ path: path.join(where.home, root), project: false })),
  ...(where.trusted ? theirs.map((root) => ({ path: path.join(where.workspace, root), project: true })) : [])
]

/** The text of a regular file of at most `most` bytes; none for anything else. */
export const textIn = Effect.fnUntraced(function*(file: string, most: number) {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.stat(file).pipe(
    Effect.flatMap((info) => info.type === "File" && Number(info.size) <= most ? Effect.asSome(fs.readFileString(file)) : Effect.succeedNone),
    Effect.orElseSucceed(() => Option.none<string>())
  )
})

/** Paths in a folder, sorted; none when it is not there. */
export const pathsIn = Effect.fnUntraced(function*(folder: string): Effect.fn.Return<ReadonlyArray<string>, never, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const names = yield* Effect.orElseSucceed(fs.readDirectory(folder), () => [])
  return names.toSorted().map((name) => path.join(folder, name))
})

/** The last of each name, in any case, at the place of the first. */
export const lastOfEach = <A extends { readonly name: string }>(all: ReadonlyArray<A>): ReadonlyArray<A> =>
  [...new Map(all.map((one) => [one.name.toLowerCase(), one])).values()]
