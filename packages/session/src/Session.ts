/**
 * One open session: its entries in memory and, unless it is kept in memory only, its append-only file. Each entry is
 * one `write`, finished before `append` returns; the file and its header appear with the first entry (seed 000,
 * "Session entries").
 */
import { Clock, Effect, FileSystem, Option, type Path, Random, Result, type Scope, Semaphore } from "effect"
import type { NameEntry, SessionEntry, SessionHeader } from "@nimlet/protocol"
import { type Answering, type Draft, lastAnswerId, makeDrafts, noDrafts } from "./Draft.ts"
import { type SessionLocked, SessionUnwritable } from "./SessionError.ts"
import { type DamagedLine, encodeLine, type SessionText, type UnknownEntry } from "./SessionLines.ts"
import { isNameInReach } from "./SessionSummary.ts"
import { makeWriter } from "./SessionWriter.ts"

/** An entry as a caller gives it: `entry_id` and `at` are added when it is appended. */
export type NewEntry = SessionEntry

/** An open session. */
export interface Session {
  readonly id: string
  readonly workspace: string
  /** What stands above its entries; a file that has lost its header is given one, with less in it, with the next entry. */
  readonly header: SessionHeader
  /** The file, none for a session kept in memory. */
  readonly path: Option.Option<string>
  /** Lines of the file that could not be read when it was opened. */
  readonly damaged: ReadonlyArray<DamagedLine>
  /** All entries so far, oldest first. */
  readonly entries: Effect.Effect<ReadonlyArray<SessionEntry | UnknownEntry>>
  /**
   * Adds one entry and returns it as stored. Fails with `SessionUnwritable` when the disk refuses; the entry is in the
   * session then, and is written, in its order, with the next append, `sync` or at the end, as soon as the disk lets it.
   * Only an entry that cannot be said in JSON is left out.
   */
  readonly append: (entry: NewEntry) => Effect.Effect<SessionEntry, SessionUnwritable>
  /** Returns when everything appended so far is on the disk, not only with the system. */
  readonly sync: Effect.Effect<void, SessionUnwritable>
  /** Keeps an answer while it comes, in place of an earlier draft. It is gone when an answer is appended. */
  readonly draft: (answering: Answering) => Draft
  /** Begins to bring everything to the disk. What goes wrong with that is told by the next `sync`. */
  readonly startSync: Effect.Effect<void, SessionUnwritable>
  /** How many entries the disk has refused so far and that are still to be written. */
  readonly unsaved: Effect.Effect<number>
  /** Gives file and lock back before the scope would; nothing can be appended after it. */
  readonly close: Effect.Effect<void>
}

/** What `openSession` needs to know: where, and what the file held already. */
export interface SessionOptions {
  readonly id: string
  readonly workspace: string
  readonly path: Option.Option<string>
  readonly existing: Option.Option<SessionText>
  /** Takes the lock, before the first entry is written; absent when it is had already. */
  readonly claim?: Effect.Effect<void, SessionLocked | SessionUnwritable, Scope.Scope>
}

/** Now, as entries and headers say it. */
export const isoTime = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis).toISOString())

const entryId = (taken: ReadonlySet<string>): Effect.Effect<string> =>
  Effect.flatMap(Random.nextIntBetween(0, 0xffffffff), (n) => {
    const id = n.toString(16).padStart(8, "0")
    return taken.has(id) ? entryId(taken) : Effect.succeed(id)
  })

const isName = (entry: SessionEntry | UnknownEntry): entry is NameEntry => entry.type === "name"

/** Opens a session over its file; the file is closed with the scope, after which nothing can be appended. */
export const openSession = Effect.fnUntraced(function*(
  options: SessionOptions
): Effect.fn.Return<Omit<Session, "close">, never, FileSystem.FileSystem | Path.Path | Scope.Scope> {
  const turn = yield* Semaphore.make(1)
  const entries: Array<SessionEntry | UnknownEntry> = Option.match(options.existing, {
    onNone: () => [],
    onSome: (text) => [...text.entries]
  })
  const read = entries.length
  const ids = new Set(entries.flatMap((entry) => entry.entry_id === undefined ? [] : [entry.entry_id]))
  const path = Option.getOrUndefined(options.path)
  const fs = yield* FileSystem.FileSystem
  const { id, workspace } = options
  const fresh: SessionHeader = { type: "session", version: 1, id, workspace, at: yield* isoTime }
  const header = Option.match(options.existing, {
    onNone: () => fresh,
    onSome: (text) => Option.getOrElse(text.header, (): SessionHeader => ({ type: "session", version: 1, id, workspace }))
  })
  const headed = Option.isSome(Option.flatMap(options.existing, (text) => text.header))
  const writer = path === undefined ? undefined : yield* makeWriter({
    path,
    ...(options.claim === undefined ? {} : { claim: options.claim }),
    all: () => [header, ...entries].map(encodeLine),
    fresh: Option.isNone(options.existing),
    torn: Option.exists(options.existing, ({ torn }) => torn),
    ...(headed || workspace === "" ? {} : { header: encodeLine(header) })
  })
  const drafts = path === undefined ? noDrafts : yield* makeDrafts(path)
  const refused = (error: unknown) =>
    new SessionUnwritable({ path: path ?? options.id, cause: error instanceof Error ? error.message : String(error), unsaved: 0 })

  const stamp = Effect.fnUntraced(function*(entry: NewEntry) {
    const stored: SessionEntry = { ...entry, entry_id: yield* entryId(ids), at: yield* isoTime }
    if (stored.type !== "compaction") return stored
    const first_kept_id = entries[stored.first_kept_index]?.entry_id
    return first_kept_id === undefined ? stored : { ...stored, first_kept_id }
  })

  // The number of a closed file may be another file's by now.
  let closed = false
  yield* Effect.addFinalizer(() => Effect.sync(() => {
    closed = true
  }))

  const append = Effect.fnUntraced(function*(entry: NewEntry) {
    if (closed) return yield* refused("the session is closed")
    const stored = yield* stamp(entry)
    const line = writer === undefined ? "" : yield* Effect.fromResult(Result.try({ try: () => encodeLine(stored), catch: refused }))
    ids.add(stored.entry_id ?? "")
    entries.push(stored)
    if (writer !== undefined) yield* writer.write(line)
    if (stored.type === "assistant") yield* drafts.drop
    return stored
  }, turn.withPermits(1), Effect.uninterruptible)

  /** A list of sessions reads their ends only, so a name that has got out of sight is said again. */
  const repeatName = Effect.gen(function*() {
    const name = entries.findLast(isName)
    if (path === undefined || name === undefined || entries.length === read) return
    if (!(yield* isNameInReach(path))) yield* append({ type: "name", name: name.name })
  }).pipe(Effect.ignore, Effect.provideService(FileSystem.FileSystem, fs))
  yield* Effect.addFinalizer(() => repeatName)

  return {
    id,
    workspace,
    header,
    path: options.path,
    damaged: Option.match(options.existing, { onNone: () => [], onSome: (text) => text.damaged }),
    entries: Effect.sync(() => entries.slice()),
    append,
    draft: (answering) => drafts.begin(answering, lastAnswerId(entries)),
    sync: writer === undefined ? Effect.void : turn.withPermits(1)(writer.sync),
    startSync: writer === undefined ? Effect.void : turn.withPermits(1)(writer.startSync),
    unsaved: writer === undefined ? Effect.succeed(0) : writer.waiting
  }
})
