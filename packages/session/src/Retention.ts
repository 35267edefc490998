/**
 * How long things are kept that nobody needs at once: deleted sessions, and what files held before sessions changed them. What is
 * old, or too much, is thrown away, the oldest first; a snapshot also when its session is gone for good.
 */
import { Clock, Duration, Effect, FileSystem, Option, Path } from "effect"
import { trashedCopy, trashFolder } from "./Trash.ts"

/** How much may be kept. */
export interface Retention {
  readonly age: Duration.Duration
  readonly count: number
  readonly bytes: number
}

/** What holds for deleted sessions and for snapshots, each. */
export const retention: Retention = { age: Duration.days(30), count: 200, bytes: 1024 * 1024 * 1024 }

/** Something that may be thrown away; `modified` is when it was last put to, in milliseconds of the epoch. */
export interface Keepsake {
  readonly path: string
  readonly modified: number
  readonly bytes: number
}

/** Those that go. Pure. */
export const outlived = <K extends Keepsake>(all: ReadonlyArray<K>, { age, bytes, count }: Retention, now: number): ReadonlyArray<K> => {
  let sum = 0
  return all.toSorted((a, b) => b.modified - a.modified).filter((one, at) => {
    sum += one.bytes
    return at >= count || sum > bytes || now - one.modified > Duration.toMillis(age)
  })
}

const namesIn = (folder: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.orElseSucceed(fs.readDirectory(folder), (): Array<string> => []))

/** A file or a folder of files with its size; none when it is gone meanwhile. */
const weigh = Effect.fnUntraced(function*(at: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const info = yield* fs.stat(at)
  const parts = info.type === "Directory" ? yield* namesIn(at) : []
  const sizes = yield* Effect.forEach(parts, (name) => Effect.orElseSucceed(Effect.map(fs.stat(path.join(at, name)), ({ size }) => Number(size)), () => 0))
  const modified = Option.match(info.mtime, { onNone: () => 0, onSome: (date) => date.getTime() })
  return { path: at, modified, bytes: info.type === "Directory" ? sizes.reduce((sum, size) => sum + size, 0) : Number(info.size) } satisfies Keepsake
}, Effect.option)

const discard = (all: ReadonlyArray<Keepsake>) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.forEach(all, (one) => Effect.ignore(fs.remove(one.path, { recursive: true, force: true })), { discard: true }))

const weighAll = (paths: ReadonlyArray<string>) => Effect.map(Effect.forEach(paths, weigh), (found) => found.flatMap(Option.toArray))

/** Throws away deleted sessions that were kept long enough, in the session folder `folder`. Never fails. */
export const pruneTrash = Effect.fnUntraced(function*(folder: string, limits = retention) {
  const path = yield* Path.Path
  const trash = trashFolder(path, folder)
  const deleted = (yield* namesIn(trash)).filter((name) => trashedCopy(name) !== undefined)
  // A file that is moved keeps its time: what counts is when it was deleted, which its name says.
  const found = (yield* weighAll(deleted.map((name) => path.join(trash, name)))).map((one) => ({
    ...one,
    modified: Number(trashedCopy(path.basename(one.path))?.micros ?? 0n) / 1000
  }))
  yield* discard(outlived(found, limits, yield* Clock.currentTimeMillis))
})

/** The same for the folders of snapshots in `snapshots`, but for that of the session `present`. Never fails. */
export const pruneSnapshots = Effect.fnUntraced(function*(folder: string, snapshots: string, present: string, limits = retention) {
  const path = yield* Path.Path
  const sessions = new Set((yield* namesIn(folder)).flatMap((name) => name.endsWith(".jsonl") ? [name.slice(0, -".jsonl".length)] : []))
  for (const name of yield* namesIn(trashFolder(path, folder))) sessions.add(trashedCopy(name)?.id ?? "")
  const found = yield* weighAll((yield* namesIn(snapshots)).filter((name) => name !== present).map((name) => path.join(snapshots, name)))
  const gone = found.filter((one) => !sessions.has(path.basename(one.path)))
  const held = found.filter((one) => !gone.includes(one))
  yield* discard([...gone, ...outlived(held, limits, yield* Clock.currentTimeMillis)])
})
