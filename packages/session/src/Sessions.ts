/**
 * The sessions of a folder: start, open, read, follow, list, fork, name, delete and restore them. Files are
 * `<folder>/<id>.jsonl`; ids sort by time.
 */
import { Clock, Context, Effect, FileSystem, Layer, Option, Path, type PlatformError, Random, type Scope, Stream } from "effect"
import type { SessionEntry } from "@nimlet/protocol"
import { followSession } from "./Follow.ts"
import { cutBefore, writeSession } from "./Fork.ts"
import { isoTime, openSession, type Session } from "./Session.ts"
import {
  type MessageNotFound,
  SessionExists,
  type SessionLocked,
  SessionNotFound,
  SessionUnreadable,
  SessionUnwritable,
  systemWord
} from "./SessionError.ts"
import { readSession } from "./SessionFile.ts"
import type { SessionText, UnknownEntry } from "./SessionLines.ts"
import { lockSession, type Owner } from "./SessionLock.ts"
import { matches, readSummary, type SessionSummary } from "./SessionSummary.ts"
import { moveBack, moveToTrash, newestTrashed } from "./Trash.ts"

/** Where a new session belongs and whether it goes to disk. */
export interface NewSession {
  readonly workspace: string
  readonly persist: boolean
}

/** Which sessions to list: those of exactly this workspace, those that have every word of the query. */
export interface SessionFilter {
  readonly workspace?: string
  readonly query?: string
}

/** Where to fork: before this message of the user, the first is 1. */
export interface ForkPoint {
  readonly message: number
}

const extension = ".jsonl"
const validId = /^[A-Za-z0-9_-]+$/
const filesAtOnce = 16

/** Microseconds and four random digits: decimal, sorts by time, and two runs of one moment differ. */
const newId = Effect.gen(function*() {
  const nanos = yield* Clock.currentTimeNanos
  const tail = yield* Random.nextIntBetween(0, 9999)
  return `${nanos / 1000n}${String(tail).padStart(4, "0")}`
})

/** Starts, opens, finds and arranges sessions. Reading, following, listing and forking need no lock and take none. */
export class Sessions extends Context.Service<Sessions, {
  /** A new session; nothing is on disk before its first entry. */
  readonly create: (options: NewSession) => Effect.Effect<Session, never, Scope.Scope>
  /** The session of this id with all that it holds. Fails with `SessionNotFound`, `SessionUnreadable`, or `SessionLocked` while another process writes it. */
  readonly open: (id: string) => Effect.Effect<Session, SessionNotFound | SessionUnreadable | SessionLocked, Scope.Scope>
  /** What the session holds now, to read only. */
  readonly read: (id: string) => Effect.Effect<SessionText, SessionNotFound | SessionUnreadable>
  /** The session's entries, and then those that its writer appends, until it is removed. */
  readonly follow: (id: string) => Stream.Stream<SessionEntry | UnknownEntry, SessionNotFound | SessionUnreadable>
  /** The id of the session of `workspace` that was written last. */
  readonly latest: (workspace: string) => Effect.Effect<Option.Option<string>>
  /** Sessions, the one written last first. Files that cannot be read are passed over. */
  readonly list: (filter?: SessionFilter) => Effect.Effect<ReadonlyArray<SessionSummary>>
  /**
   * A new session with the entries before a message of the user, whose text is returned too; without a point all entries
   * and no text. It is on disk at once and not open; the first session is left as it is.
   */
  readonly fork: (
    id: string,
    point?: ForkPoint
  ) => Effect.Effect<{ readonly id: string; readonly text: string }, SessionNotFound | SessionUnreadable | SessionUnwritable | MessageNotFound>
  /** Gives a session that is not open a title. One that is open is given an entry `name` instead. */
  readonly name: (
    id: string,
    name: string
  ) => Effect.Effect<void, SessionNotFound | SessionUnreadable | SessionUnwritable | SessionLocked>
  /** Moves a session to the trash. Fails with `SessionLocked` while a process writes it. */
  readonly delete: (id: string) => Effect.Effect<void, SessionNotFound | SessionUnreadable | SessionUnwritable | SessionLocked>
  /** Brings back the copy that was deleted last. Fails with `SessionExists` when there is a session of this id. */
  readonly restore: (id: string) => Effect.Effect<void, SessionNotFound | SessionExists | SessionUnwritable>
}>()("@nimlet/session/Sessions") {
  /**
   * Sessions in `folder`, an absolute path that need not exist yet. With an `owner`, a session has one writer at a time;
   * without one, whoever calls sees to that.
   */
  static readonly layer = (folder: string, owner?: Owner): Layer.Layer<Sessions, never, FileSystem.FileSystem | Path.Path> =>
    Layer.effect(Sessions, Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const context = Context.make(FileSystem.FileSystem, fs).pipe(Context.add(Path.Path, path))
      const fileOf = (id: string) => path.join(folder, `${id}${extension}`)
      const provided = Effect.provide(context)

      const lock = (file: string) => owner === undefined ? Effect.void : provided(lockSession(file, owner))
      const unwritable = (file: string) => (error: PlatformError.PlatformError) =>
        new SessionUnwritable({ path: file, cause: systemWord(error), unsaved: 0 })

      /** The file of a session that is there. */
      const find = Effect.fnUntraced(function*(id: string) {
        const file = fileOf(id)
        const info = validId.test(id) ? yield* Effect.option(fs.stat(file)) : Option.none()
        if (Option.isNone(info)) return yield* new SessionNotFound({ id, folder })
        if (info.value.type !== "File") return yield* new SessionUnreadable({ path: file, cause: "it is no regular file" })
        return file
      })

      const create = Effect.fnUntraced(function*(options: NewSession) {
        const id = yield* newId
        return yield* openSession({
          id,
          workspace: options.workspace,
          path: options.persist ? Option.some(fileOf(id)) : Option.none(),
          existing: Option.none(),
          claim: lock(fileOf(id))
        })
      }, provided)

      const open = Effect.fnUntraced(function*(id: string) {
        const file = yield* find(id)
        yield* lock(file)
        const existing = yield* readSession(file)
        const workspace = Option.match(existing.header, { onNone: () => "", onSome: (header) => header.workspace })
        return yield* openSession({ id, workspace, path: Option.some(file), existing: Option.some(existing), claim: Effect.void })
      }, provided)

      /** Ids of the folder with what the system says of their files, the one written last first. */
      const dated = Effect.gen(function*() {
        const names = yield* fs.readDirectory(folder).pipe(Effect.orElseSucceed((): Array<string> => []))
        const found = yield* Effect.forEach(names.filter((name) => name.endsWith(extension)), (name) =>
          fs.stat(path.join(folder, name)).pipe(
            Effect.map((info) => info.type !== "File" ? [] : [{
              id: name.slice(0, -extension.length),
              modified: Option.match(info.mtime, { onNone: () => 0, onSome: (date) => date.getTime() }),
              bytes: Number(info.size)
            }]),
            Effect.orElseSucceed(() => [])
          ), { concurrency: filesAtOnce })
        return found.flat().toSorted((a, b) => b.modified - a.modified || (a.id < b.id ? 1 : -1))
      })

      const summaryOf = ({ id, ...info }: { readonly id: string; readonly modified: number; readonly bytes: number }) =>
        provided(Effect.option(readSummary(id, fileOf(id), info)))

      const latest = Effect.fnUntraced(function*(workspace: string) {
        for (const one of yield* dated) {
          const summary = yield* summaryOf(one)
          if (Option.isSome(summary) && summary.value.workspace === workspace) return Option.some(one.id)
        }
        return Option.none()
      })

      const list = Effect.fnUntraced(function*({ query = "", workspace }: SessionFilter = {}) {
        const found = yield* Effect.forEach(yield* dated, summaryOf, { concurrency: filesAtOnce })
        return found.flatMap(Option.toArray).filter((summary) =>
          (workspace === undefined || summary.workspace === workspace) && matches(summary, query)
        )
      })

      const fork = Effect.fnUntraced(function*(id: string, point?: ForkPoint) {
        const file = yield* find(id)
        const { header, lines, text } = yield* cutBefore(file, id, point?.message)
        const forked = yield* newId
        yield* writeSession(fileOf(forked), {
          type: "session",
          version: 1,
          id: forked,
          workspace: header?.workspace ?? "",
          at: yield* isoTime,
          parent: id
        }, lines)
        return { id: forked, text }
      }, provided)

      const name = Effect.fnUntraced(function*(id: string, title: string) {
        yield* (yield* open(id)).append({ type: "name", name: title })
      }, Effect.scoped)

      const remove = Effect.fnUntraced(function*(id: string) {
        const file = yield* find(id)
        yield* lock(file)
        yield* moveToTrash(folder, id).pipe(Effect.mapError(unwritable(file)))
      }, Effect.scoped, provided)

      const restore = Effect.fnUntraced(function*(id: string) {
        const file = fileOf(id)
        const trashed = validId.test(id) ? yield* newestTrashed(folder, id).pipe(Effect.mapError(unwritable(file))) : undefined
        if (trashed === undefined) return yield* new SessionNotFound({ id, folder: path.join(folder, ".trash") })
        yield* moveBack(trashed, file).pipe(
          Effect.mapError((error) => error.reason._tag === "AlreadyExists" ? new SessionExists({ id, folder }) : unwritable(file)(error))
        )
      }, provided)

      return {
        create,
        open,
        read: (id) => provided(Effect.flatMap(find(id), readSession)),
        follow: (id) => Stream.unwrap(Effect.map(find(id), (file) => followSession(file))).pipe(Stream.provideContext(context)),
        latest,
        list,
        fork,
        name,
        delete: remove,
        restore
      }
    }))
}
