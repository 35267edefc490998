/**
 * The sessions of a folder: start, open, read, follow, list, fork, copy, name, delete and restore them. Files are
 * `<folder>/<id>.jsonl`; ids sort by time.
 */
import { Clock, Context, Effect, Exit, FileSystem, Layer, Option, Path, type PlatformError, Random, Scope, Stream } from "effect"
import type { SessionEntry, SessionHeader } from "@nimlet/protocol"
import { clearDraft, leftDraft } from "./Draft.ts"
import { aboutFile, aboutSession, defaultPageName, exportEntries, exportFile, writePage } from "./Export.ts"
import { followSession } from "./Follow.ts"
import { cutBefore, writeSession } from "./Fork.ts"
import { isoTime, openSession, type Session } from "./Session.ts"
import {
  type ExportRefused,
  type MessageNotFound,
  SessionExists,
  type SessionLocked,
  SessionNotFound,
  SessionUnreadable,
  SessionUnwritable,
  systemWord
} from "./SessionError.ts"
import { readSession } from "./SessionFile.ts"
import { encodeLine, type SessionText, type UnknownEntry } from "./SessionLines.ts"
import { pruneSnapshots, pruneTrash } from "./Retention.ts"
import { lockSession, type Owner } from "./SessionLock.ts"
import { matches, readSummary, type SessionSummary } from "./SessionSummary.ts"
import { makeSnapshots, type Snapshots } from "./Snapshots.ts"
import { moveBack, moveToTrash, newestTrashed } from "./Trash.ts"

/** Where a new session belongs and whether it goes to disk. */
export interface NewSession {
  readonly workspace: string
  readonly persist: boolean
}

/** Which sessions to list: those of exactly this workspace, with `unheaded` those too whose header is lost, so that no workspace has them; those that have every word of the query. */
export interface SessionFilter {
  readonly workspace?: string
  readonly unheaded?: boolean
  readonly query?: string
}

/** Where a page goes: to `file`, from `folder` on, by default to one named for the session in it. */
export interface PagePlace {
  readonly folder: string
  readonly file?: string
}

/** How far to copy: to before this message of the user, the first is 1. */
export interface CopyPoint {
  readonly message: number
}

/** The session that a folder is gone on with in, if there is one, and the ids of newer ones that may belong to any folder. */
export interface Latest {
  readonly id: Option.Option<string>
  readonly unheaded: ReadonlyArray<string>
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

/** The header of a session that begins with entries of another. */
const newHeader = Effect.fnUntraced(function*(parent: { readonly id: string; readonly workspace: string }) {
  const { id, workspace } = parent
  return { type: "session", version: 1, id: yield* newId, workspace, at: yield* isoTime, parent: id } satisfies SessionHeader
})

/** A session of its own scope inside the present one, so that it can be closed alone; at once when it cannot be opened. */
const closable = Effect.fnUntraced(function*<E, R>(open: Effect.Effect<Omit<Session, "close">, E, R | Scope.Scope>) {
  const inner = yield* Scope.fork(yield* Effect.scope)
  const session = yield* Scope.provide(open, inner).pipe(
    Effect.onExit((exit) => Exit.isSuccess(exit) ? Effect.void : Scope.close(inner, exit))
  )
  const closed: Session = { ...session, close: Scope.close(inner, Exit.void) }
  return closed
})

/** Starts, opens, finds and arranges sessions. Reading, following, listing and copying need no lock and take none. */
export class Sessions extends Context.Service<Sessions, {
  /** A new session; nothing is on disk before its first entry. */
  readonly create: (options: NewSession) => Effect.Effect<Session, never, Scope.Scope>
  /** The session of this id with all that it holds; what a killed process left of an answer is its last entry then. One whose header is lost belongs to `workspace` from its next entry on. Fails with `SessionNotFound`, `SessionUnreadable`, `SessionLocked` while another process writes it, or `SessionUnwritable` when the disk refuses the lock; where the place is read-only, its entries do. */
  readonly open: (id: string, workspace?: string) => Effect.Effect<Session, SessionNotFound | SessionUnreadable | SessionLocked | SessionUnwritable, Scope.Scope>
  /** What the session holds now, to read only. */
  readonly read: (id: string) => Effect.Effect<SessionText, SessionNotFound | SessionUnreadable>
  /** The session's entries, and then those that its writer appends, until it is removed. */
  readonly follow: (id: string) => Stream.Stream<SessionEntry | UnknownEntry, SessionNotFound | SessionUnreadable>
  /** The session of `workspace` that was written last, `except` left aside, and those written since whose header is lost. */
  readonly latest: (workspace: string, except?: string) => Effect.Effect<Latest>
  /** Sessions, the one written last first. Files that cannot be read are passed over. */
  readonly list: (filter?: SessionFilter) => Effect.Effect<ReadonlyArray<SessionSummary>>
  /**
   * A new session that begins with the first `count` entries of another, and names it as its parent. It is on disk at
   * once if the other is. Fails with `SessionUnwritable`.
   */
  readonly fork: (source: Session, count: number) => Effect.Effect<Session, SessionUnwritable, Scope.Scope>
  /**
   * The same for a session that is not open here, another process may write it: a new session with its lines before a
   * message of the user, whose text is returned too; without a point all of them and no text. The new one is on disk and
   * not open.
   */
  readonly copy: (
    id: string,
    point?: CopyPoint
  ) => Effect.Effect<{ readonly id: string; readonly text: string }, SessionNotFound | SessionUnreadable | SessionUnwritable | MessageNotFound>
  /** Gives a session that is not open a title. One that is open is given an entry `name` instead. */
  readonly name: (
    id: string,
    name: string
  ) => Effect.Effect<void, SessionNotFound | SessionUnreadable | SessionUnwritable | SessionLocked>
  /** Moves a session to the trash, from where it is gone for good in time (`Retention`). Fails with `SessionLocked` while a process writes it. */
  readonly delete: (id: string) => Effect.Effect<void, SessionNotFound | SessionUnreadable | SessionUnwritable | SessionLocked>
  /** Brings back the copy that was deleted last. Fails with `SessionExists` when there is a session of this id. */
  readonly restore: (id: string) => Effect.Effect<void, SessionNotFound | SessionExists | SessionUnwritable>
  /** What files held before sessions changed them. */
  readonly snapshots: Snapshots
  /** The session as one HTML page, in pieces. */
  readonly page: (id: string) => Stream.Stream<string, SessionNotFound | SessionUnreadable>
  /**
   * Writes that page, of a session by its id or of one that is open, and gives the path of its file. An earlier page is
   * replaced; any other file there is left alone, with `ExportRefused`.
   */
  readonly export: (
    source: string | Session,
    place: PagePlace
  ) => Effect.Effect<string, SessionNotFound | SessionUnreadable | SessionUnwritable | ExportRefused>
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
      const scope = yield* Effect.scope
      const snapshots = path.join(folder, ".snapshots")
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
      }, closable, provided)

      const open = Effect.fnUntraced(function*(id: string, adopting = "") {
        const file = yield* find(id)
        // Where nothing can be written it can be read; if that changes, the lock comes before the first entry.
        const locked = yield* Effect.as(lock(file), true).pipe(
          Effect.catchTag("SessionUnwritable", (error) => error.read_only === true ? Effect.succeed(false) : Effect.fail(error))
        )
        const existing = yield* readSession(file)
        const { version = 1 } = Option.getOrElse(existing.header, (): Partial<SessionHeader> => ({}))
        if (version > 1) {
          const cause = `it is of format ${version}, which a later version wrote; this one knows format 1. A copy of it by sessions fork can be opened`
          return yield* new SessionUnreadable({ path: file, cause })
        }
        const workspace = Option.match(existing.header, { onNone: () => adopting, onSome: (header) => header.workspace })
        const session = yield* openSession({
          id, workspace, path: Option.some(file), existing: Option.some(existing), ...(locked ? {} : { claim: lock(file) })
        })
        const left = yield* leftDraft(file, existing.entries)
        // Where the disk refuses, it is in the session all the same.
        if (Option.isSome(left)) yield* Effect.ignore(Effect.andThen(session.append(left.value), clearDraft(file)))
        return session
      }, closable, provided)

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

      const latest = Effect.fnUntraced(function*(workspace: string, except?: string) {
        const unheaded: Array<string> = []
        for (const one of yield* dated) {
          if (one.id === except) continue
          const summary = yield* summaryOf(one)
          if (Option.isNone(summary)) continue
          if (summary.value.workspace === workspace) return { id: Option.some(one.id), unheaded }
          if (summary.value.workspace === "") unheaded.push(one.id)
        }
        return { id: Option.none<string>(), unheaded }
      })

      const list = Effect.fnUntraced(function*({ query = "", unheaded = false, workspace }: SessionFilter = {}) {
        const found = yield* Effect.forEach(yield* dated, summaryOf, { concurrency: filesAtOnce })
        return found.flatMap(Option.toArray).filter((summary) =>
          (workspace === undefined || summary.workspace === workspace || (unheaded && summary.workspace === "")) && matches(summary, query)
        )
      })

      const fork = Effect.fnUntraced(function*(source: Session, count: number) {
        const header = yield* newHeader(source)
        const { id, workspace } = header
        const entries = (yield* source.entries).slice(0, count)
        const file = fileOf(id)
        const path = Option.map(source.path, () => file)
        if (Option.isSome(path)) {
          yield* writeSession(file, header, entries.map((entry) => encodeLine(entry).trimEnd()))
          yield* lock(file).pipe(Effect.mapError((error) => new SessionUnwritable({ path: file, cause: error.message, unsaved: 0 })))
        }
        const existing = Option.some({ header: Option.some(header), entries, damaged: [], torn: false })
        return yield* openSession({ id, workspace, path, existing })
      }, closable, provided)

      const copy = Effect.fnUntraced(function*(id: string, point?: CopyPoint) {
        const { header, lines, text } = yield* cutBefore(yield* find(id), id, point?.message)
        const copied = yield* newHeader({ id, workspace: header?.workspace ?? "" })
        yield* writeSession(fileOf(copied.id), copied, lines)
        return { id: copied.id, text }
      }, provided)

      const name = Effect.fnUntraced(function*(id: string, title: string) {
        yield* (yield* open(id)).append({ type: "name", name: title })
      }, Effect.scoped)

      const remove = Effect.fnUntraced(function*(id: string) {
        const file = yield* find(id)
        yield* lock(file)
        yield* moveToTrash(folder, id).pipe(Effect.mapError(unwritable(file)))
        yield* clearDraft(file)
        yield* pruneTrash(folder)
      }, Effect.scoped, provided)

      const restore = Effect.fnUntraced(function*(id: string) {
        const file = fileOf(id)
        const trashed = validId.test(id) ? yield* newestTrashed(folder, id).pipe(Effect.mapError(unwritable(file))) : undefined
        if (trashed === undefined) return yield* new SessionNotFound({ id, folder: path.join(folder, ".trash") })
        yield* moveBack(trashed, file).pipe(
          Effect.mapError((error) => error.reason._tag === "AlreadyExists" ? new SessionExists({ id, folder }) : unwritable(file)(error))
        )
      }, provided)

      const page = (id: string) =>
        Stream.unwrap(Effect.gen(function*() {
          const file = yield* find(id)
          return exportFile(file, yield* aboutFile(id, file))
        })).pipe(Stream.provideContext(context))

      const exportTo = Effect.fnUntraced(function*(source: string | Session, { file = "", folder }: PagePlace) {
        const id = typeof source === "string" ? source : source.id
        const target = path.resolve(folder, file === "" ? defaultPageName(id) : file)
        if (typeof source === "string") yield* writePage(target, page(source))
        else {
          const entries = yield* source.entries
          yield* writePage(target, exportEntries(aboutSession(source, entries), entries, source.damaged.length))
        }
        return target
      }, provided)

      return {
        snapshots: yield* makeSnapshots(snapshots, undefined, (present) =>
          Effect.asVoid(Effect.forkIn(provided(pruneSnapshots(folder, snapshots, present)), scope))),
        create,
        open,
        page,
        export: exportTo,
        read: (id) => provided(Effect.flatMap(find(id), readSession)),
        follow: (id) => Stream.unwrap(Effect.map(find(id), (file) => followSession(file))).pipe(Stream.provideContext(context)),
        latest,
        list,
        fork,
        copy,
        name,
        delete: remove,
        restore
      }
    }))
}
