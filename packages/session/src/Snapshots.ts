/**
 * What files held before they were changed, kept beside the sessions: `<folder>/<session>/<name>`. Each session has a share of
 * the disk and no more; what does not fit is not kept, which whoever wants it back is told. The first one of a process makes
 * room for it (`Retention`).
 */
import { Effect, FileSystem, Option, Path, Random } from "effect"

/** Keeps contents and gives them back. A reference stands in entries of sessions, also of such as were forked since. */
export interface Snapshots {
  /** Keeps contents for a session and gives the reference; none when its share is used up or the disk refuses. */
  readonly keep: (session: string, bytes: Uint8Array) => Effect.Effect<Option.Option<string>>
  /** What was kept, none when it is gone or the reference is none. */
  readonly load: (reference: string) => Effect.Effect<Option.Option<Uint8Array>>
  /** A note of a session, in place of an earlier one; false when the disk refuses. Empty takes it away. */
  readonly note: (session: string, text: string) => Effect.Effect<boolean>
  /** The note of a session, empty when it has none. */
  readonly noted: (session: string) => Effect.Effect<string>
}

/** The share of one session, in bytes. */
const share = 128 * 1024 * 1024
const noteName = "note"
const reference = /^[A-Za-z0-9_-]+\/[0-9a-f]{8,16}$/

/** Snapshots in an absolute folder that need not exist yet. `prune` is run behind the back of a session's first one. */
export const makeSnapshots = Effect.fnUntraced(function*(
  folder: string,
  limit = share,
  prune: (session: string) => Effect.Effect<void> = () => Effect.void
): Effect.fn.Return<Snapshots, never, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const used = new Map<string, number>()

  const usedBy = Effect.fnUntraced(function*(session: string) {
    const known = used.get(session)
    if (known !== undefined) return known
    const names = yield* fs.readDirectory(path.join(folder, session)).pipe(Effect.orElseSucceed((): Array<string> => []))
    const sizes = yield* Effect.forEach(names, (name) =>
      fs.stat(path.join(folder, session, name)).pipe(Effect.map(({ size }) => Number(size)), Effect.orElseSucceed(() => 0)))
    return sizes.reduce((sum, size) => sum + size, 0)
  })

  const put = (session: string, name: string, bytes: Uint8Array, flag: "wx" | "w") =>
    fs.makeDirectory(path.join(folder, session), { recursive: true, mode: 0o700 }).pipe(
      Effect.andThen(fs.writeFile(path.join(folder, session, name), bytes, { flag, mode: 0o600 }))
    )

  return {
    keep: Effect.fnUntraced(function*(session: string, bytes: Uint8Array) {
      if (!used.has(session)) yield* prune(session)
      const before = yield* usedBy(session)
      if (before + bytes.length > limit) return Option.none()
      const name = (yield* Random.nextIntBetween(0, 0xffffffff)).toString(16).padStart(8, "0")
      yield* put(session, name, bytes, "wx")
      used.set(session, (used.get(session) ?? before) + bytes.length)
      return Option.some(`${session}/${name}`)
    }, Effect.orElseSucceed(() => Option.none<string>())),
    load: (kept) => reference.test(kept) ? Effect.option(fs.readFile(path.join(folder, kept))) : Effect.succeed(Option.none()),
    note: (session, text) =>
      (text === "" ? fs.remove(path.join(folder, session, noteName), { force: true }) : put(session, noteName, new TextEncoder().encode(text), "w")).pipe(
        Effect.as(true),
        Effect.orElseSucceed(() => false)
      ),
    noted: (session) => fs.readFileString(path.join(folder, session, noteName)).pipe(Effect.orElseSucceed(() => ""))
  }
})
