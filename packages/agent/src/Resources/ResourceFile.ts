/** How files of resources are read: regular ones, bounded, in the order of their paths. */
import { Effect, FileSystem, Option, Path, type PlatformError, Result } from "effect"

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

/** The text of a regular file of at most `most` bytes, else what is to be done about it; none where nothing stands there. */
export const sheetIn = Effect.fnUntraced(function*(file: string, most: number): Effect.fn.Return<Option.Option<Result.Result<string, string>>, never, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const read: Effect.Effect<Result.Result<string, string>, PlatformError.PlatformError> = Effect.flatMap(fs.stat(file), ({ size, type }) =>
    type !== "File"
      ? Effect.succeed(Result.fail("is no regular file; take it away"))
      : Number(size) > most
      ? Effect.succeed(Result.fail(`has more than ${most} bytes; shorten it`))
      : Effect.map(fs.readFileString(file), (text) => text.includes("\0") ? Result.fail("is binary; write it as text in UTF-8") : Result.succeed(text)))
  return yield* Effect.match(read, {
    onFailure: ({ reason }): Option.Option<Result.Result<string, string>> => /^(NotFound|BadResource)$/.test(reason._tag) ? Option.none() : Option.some(Result.fail(`cannot be read (${reason._tag}); make it readable, or take it away`)),
    onSuccess: Option.some
  })
})

/** The text of such a file; none for anything else. */
export const textIn = (file: string, most: number) => Effect.map(sheetIn(file, most), Option.flatMap(Result.getSuccess))

/** Sentences on what is wrong with a file. */
export const about = (file: string, faults: ReadonlyArray<string>): ReadonlyArray<string> => faults.map((fault) => `${file}: ${fault}`)

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
