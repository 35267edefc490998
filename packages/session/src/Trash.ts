/** Sessions that were deleted: moved into a folder beside the others, from where they can be brought back. */
import { Clock, Effect, FileSystem, Path } from "effect"

/** The folder of deleted sessions in a session folder. */
export const trashFolder = (path: Path.Path, folder: string): string => path.join(folder, ".trash")

/** What the name of a file there says: the session it is a copy of, and when that was deleted, in microseconds of the epoch. */
export const trashedCopy = (name: string): { readonly id: string; readonly micros: bigint } | undefined => {
  const [, id, micros] = /^(.+)\.(\d+)\.jsonl$/.exec(name) ?? []
  return id === undefined || micros === undefined ? undefined : { id, micros: BigInt(micros) }
}

/** Moves the session file `<folder>/<id>.jsonl` away, to `.trash/<id>.<microseconds>.jsonl`. */
export const moveToTrash = Effect.fnUntraced(function*(folder: string, id: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const trash = trashFolder(path, folder)
  const micros = (yield* Clock.currentTimeNanos) / 1000n
  yield* fs.makeDirectory(trash, { recursive: true })
  yield* fs.rename(path.join(folder, `${id}.jsonl`), path.join(trash, `${id}.${micros}.jsonl`))
})

/** The copy of `id` that was deleted last, `undefined` when there is none. */
export const newestTrashed = Effect.fnUntraced(function*(folder: string, id: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const trash = trashFolder(path, folder)
  const names = yield* fs.readDirectory(trash).pipe(Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed<Array<string>>([])))
  const newest = names
    .flatMap((name) => {
      const copy = trashedCopy(name)
      return copy?.id === id ? [{ name, micros: copy.micros }] : []
    })
    .reduce<{ name: string; micros: bigint } | undefined>((best, one) => best === undefined || one.micros > best.micros ? one : best, undefined)
  return newest === undefined ? undefined : path.join(trash, newest.name)
})

/** Moves the file `from` to `to`; fails with `AlreadyExists` when something stands there. */
export const moveBack = Effect.fnUntraced(function*(from: string, to: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.link(from, to).pipe(
    Effect.andThen(fs.remove(from)),
    // Where the file system has no links, the two steps are not one.
    Effect.catchIf((error) => error.reason._tag !== "AlreadyExists", (error) =>
      Effect.flatMap(fs.exists(to), (taken) => taken ? Effect.fail(error) : fs.rename(from, to)))
  )
})
