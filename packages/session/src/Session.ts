/**
 * One open session: its entries in memory and, unless it is kept in memory only, its append-only file. Each entry is
 * one `write`, finished before `append` returns; the file and its header appear with the first entry (seed 000,
 * "Session entries").
 */
import { Clock, Effect, FileSystem, Option, Path, Random, Scope, Semaphore } from "effect"
import type { SessionEntry, SessionHeader } from "@nimlet/protocol"
import { SessionUnwritable } from "./SessionError.ts"
import { type DamagedLine, encodeLine, type SessionText, type UnknownEntry } from "./SessionLines.ts"

/** An entry as a caller gives it: `entry_id` and `at` are added when it is appended. */
export type NewEntry = SessionEntry

/** An open session. */
export interface Session {
  readonly id: string
  readonly workspace: string
  /** The file, none for a session kept in memory. */
  readonly path: Option.Option<string>
  /** Lines of the file that could not be read when it was opened. */
  readonly damaged: ReadonlyArray<DamagedLine>
  /** All entries so far, oldest first. */
  readonly entries: Effect.Effect<ReadonlyArray<SessionEntry | UnknownEntry>>
  /** Adds one entry and returns it as stored. Fails with `SessionUnwritable` when the disk refuses; the entry is then not in the session. */
  readonly append: (entry: NewEntry) => Effect.Effect<SessionEntry, SessionUnwritable>
  /** Returns when everything appended so far is on the disk, not only with the system. */
  readonly sync: Effect.Effect<void, SessionUnwritable>
}

/** What `openSession` needs to know: where, and what the file held already. */
export interface SessionOptions {
  readonly id: string
  readonly workspace: string
  readonly path: Option.Option<string>
  readonly existing: Option.Option<SessionText>
  /** Run before the file of a new session is made: its lock. */
  readonly claim: Effect.Effect<void, { readonly message: string }, Scope.Scope>
}

const isoTime = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis).toISOString())

const entryId = (taken: ReadonlySet<string>): Effect.Effect<string> =>
  Effect.flatMap(Random.nextIntBetween(0, 0xffffffff), (n) => {
    const id = n.toString(16).padStart(8, "0")
    return taken.has(id) ? entryId(taken) : Effect.succeed(id)
  })

/** Opens a session over its file; the file is closed with the scope. */
export const openSession = Effect.fnUntraced(function*(
  options: SessionOptions
): Effect.fn.Return<Session, never, FileSystem.FileSystem | Path.Path | Scope.Scope> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const scope = yield* Effect.scope
  const turn = yield* Semaphore.make(1)
  const encoder = new TextEncoder()
  const entries: Array<SessionEntry | UnknownEntry> = Option.match(options.existing, {
    onNone: () => [],
    onSome: (text) => [...text.entries]
  })
  const ids = new Set(entries.flatMap((entry) => entry.entry_id === undefined ? [] : [entry.entry_id]))
  let file: FileSystem.File | undefined

  const refused = (file: string) =>
    Effect.mapError((error: { readonly message: string }) => new SessionUnwritable({ path: file, cause: error.message }))

  const start = Effect.fnUntraced(function*(target: string) {
    yield* fs.makeDirectory(path.dirname(target), { recursive: true })
    if (Option.isNone(options.existing)) yield* Scope.provide(options.claim, scope)
    const opened = yield* fs.open(target, { flag: "a", mode: 0o600 }).pipe(Scope.provide(scope))
    if (Option.isNone(options.existing)) {
      const header: SessionHeader = {
        type: "session",
        version: 1,
        id: options.id,
        workspace: options.workspace,
        at: yield* isoTime
      }
      yield* opened.writeAll(encoder.encode(encodeLine(header)))
    } else if (options.existing.value.torn) {
      yield* opened.writeAll(encoder.encode("\n"))
    }
    file = opened
    return opened
  })

  const append = Effect.fnUntraced(function*(entry: NewEntry) {
    const stored: SessionEntry = { ...entry, entry_id: yield* entryId(ids), at: yield* isoTime }
    if (Option.isSome(options.path)) {
      const target = options.path.value
      yield* Effect.suspend(() => file === undefined ? start(target) : Effect.succeed(file)).pipe(
        Effect.flatMap((opened) => opened.writeAll(encoder.encode(encodeLine(stored)))),
        refused(target)
      )
    }
    ids.add(stored.entry_id ?? "")
    entries.push(stored)
    return stored
  }, turn.withPermits(1), Effect.uninterruptible)

  return {
    id: options.id,
    workspace: options.workspace,
    path: options.path,
    damaged: Option.match(options.existing, { onNone: () => [], onSome: (text) => text.damaged }),
    entries: Effect.sync(() => entries.slice()),
    append,
    sync: Effect.suspend(() =>
      file === undefined ? Effect.void : file.sync.pipe(refused(Option.getOrElse(options.path, () => "")))
    )
  }
})
