/**
 * The sessions of a folder: start a new one, open one by its id, find the latest of a workspace. Files are
 * `<folder>/<id>.jsonl`; ids sort by time.
 */
import { Clock, Context, Effect, Exit, FileSystem, Layer, Option, Path, Random, Schema, Scope } from "effect"
import { SessionHeader } from "@nimlet/protocol"
import { openSession, type Session } from "./Session.ts"
import { type SessionLocked, SessionNotFound, SessionUnreadable, SessionUnwritable } from "./SessionError.ts"
import { encodeLine, parseSession } from "./SessionLines.ts"
import { lockSession, type Owner } from "./SessionLock.ts"

/** Where a new session belongs and whether it goes to disk. */
export interface NewSession {
  readonly workspace: string
  readonly persist: boolean
}

const headBytes = 64 * 1024
const decodeHead = Schema.decodeUnknownOption(Schema.fromJsonString(SessionHeader))
const validId = /^[A-Za-z0-9_-]+$/

/** Microseconds and four random digits: decimal, sorts by time, and two runs of one moment differ. */
const newId = Effect.gen(function*() {
  const nanos = yield* Clock.currentTimeNanos
  const tail = yield* Random.nextIntBetween(0, 9999)
  return `${nanos / 1000n}${String(tail).padStart(4, "0")}`
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

/** Starts, opens and finds sessions. */
export class Sessions extends Context.Service<Sessions, {
  /** A new session; nothing is on disk before its first entry. */
  readonly create: (options: NewSession) => Effect.Effect<Session, never, Scope.Scope>
  /** The session of this id with all that it holds. Fails with `SessionNotFound`, `SessionUnreadable`, or `SessionLocked` while another process writes it. */
  readonly open: (id: string) => Effect.Effect<Session, SessionNotFound | SessionUnreadable | SessionLocked, Scope.Scope>
  /**
   * A new session that begins with the first `count` entries of another, and names it as its parent. It is on disk at
   * once if the other is. Fails with `SessionUnwritable`.
   */
  readonly fork: (source: Session, count: number) => Effect.Effect<Session, SessionUnwritable, Scope.Scope>
  /** The id of the session of `workspace` that was written last, `except` left aside. */
  readonly latest: (workspace: string, except?: string) => Effect.Effect<Option.Option<string>>
}>()("@nimlet/session/Sessions") {
  /**
   * Sessions in `folder`, an absolute path that need not exist yet. With an `owner`, a session has one writer at a time;
   * without one, whoever calls sees to that.
   */
  static readonly layer = (folder: string, owner?: Owner): Layer.Layer<Sessions, never, FileSystem.FileSystem | Path.Path> =>
    Layer.effect(Sessions, Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const fileOf = (id: string) => path.join(folder, `${id}.jsonl`)
      const files = Effect.provideService(FileSystem.FileSystem, fs)
      const paths = Effect.provideService(Path.Path, path)

      const lock = (file: string) => owner === undefined ? Effect.void : files(lockSession(file, owner))

      const create = Effect.fnUntraced(function*(options: NewSession) {
        const id = yield* newId
        return yield* openSession({
          id,
          workspace: options.workspace,
          path: options.persist ? Option.some(fileOf(id)) : Option.none(),
          existing: Option.none(),
          claim: lock(fileOf(id))
        })
      }, closable, files, paths)

      const fork = Effect.fnUntraced(function*(source: Session, count: number) {
        const id = yield* newId
        const { workspace } = source
        const entries = (yield* source.entries).slice(0, count)
        const at = new Date(yield* Clock.currentTimeMillis).toISOString()
        const header: SessionHeader = { type: "session", version: 1, id, workspace, at, parent: source.id }
        if (Option.isSome(source.path)) {
          const file = fileOf(id)
          yield* fs.makeDirectory(folder, { recursive: true }).pipe(
            Effect.andThen(lock(file)),
            Effect.andThen(fs.writeFileString(file, [header, ...entries].map(encodeLine).join(""), { flag: "wx", mode: 0o600 })),
            Effect.mapError((error) => new SessionUnwritable({ path: file, cause: error.message }))
          )
        }
        const existing = Option.some({ header: Option.some(header), entries, damaged: [], torn: false })
        return yield* openSession({ id, workspace, path: Option.map(source.path, () => fileOf(id)), existing, claim: Effect.void })
      }, closable, files, paths)

      const open = Effect.fnUntraced(function*(id: string) {
        const file = fileOf(id)
        const type = validId.test(id) ? yield* typeOf(file) : undefined
        if (type === undefined) return yield* new SessionNotFound({ id, folder })
        // Opening a pipe would wait for a writer.
        if (type !== "File") return yield* new SessionUnreadable({ path: file, cause: "it is no regular file" })
        yield* lock(file)
        const text = yield* fs.readFileString(file).pipe(
          Effect.mapError((error) => new SessionUnreadable({ path: file, cause: error.message }))
        )
        const existing = parseSession(text)
        const workspace = Option.match(existing.header, { onNone: () => "", onSome: (header) => header.workspace })
        return yield* openSession({ id, workspace, path: Option.some(file), existing: Option.some(existing), claim: Effect.void })
      }, closable, files, paths)

      const typeOf = (file: string) => fs.stat(file).pipe(Effect.map((info) => info.type), Effect.orElseSucceed(() => undefined))

      const headOf = (file: string) =>
        Effect.scoped(Effect.gen(function*() {
          const handle = yield* fs.open(file, { flag: "r" })
          const bytes = yield* handle.readAlloc(headBytes)
          return Option.flatMap(bytes, (some) => decodeHead(new TextDecoder().decode(some).split("\n", 1)[0]))
        })).pipe(Effect.orElseSucceed(() => Option.none<SessionHeader>()))

      const latest = Effect.fnUntraced(function*(workspace: string, except?: string) {
        const names = yield* fs.readDirectory(folder).pipe(Effect.orElseSucceed((): Array<string> => []))
        const dated = yield* Effect.forEach(names.filter((name) => name.endsWith(".jsonl") && name !== `${except}.jsonl`), (name) =>
          fs.stat(path.join(folder, name)).pipe(
            Effect.map((info) => ({
              name,
              regular: info.type === "File",
              time: Option.match(info.mtime, { onNone: () => 0, onSome: (date) => date.getTime() })
            })),
            Effect.orElseSucceed(() => ({ name, regular: false, time: 0 }))
          ), { concurrency: 16 })
        const newestFirst = dated.filter(({ regular }) => regular).toSorted((a, b) => b.time - a.time || (a.name < b.name ? 1 : -1))
        for (const { name } of newestFirst) {
          const head = yield* headOf(path.join(folder, name))
          if (Option.isSome(head) && head.value.workspace === workspace) return Option.some(name.slice(0, -".jsonl".length))
        }
        return Option.none()
      })

      return { create, open, fork, latest }
    }))
}
