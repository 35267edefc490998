/**
 * The end of a session file: lines are added, in order, each with one `write`, and never half a line. What the disk refuses
 * waits here and goes first the next time.
 */
import { Effect, Exit, FileSystem, Option, Path, type PlatformError, Scope, Semaphore } from "effect"
import { restoreHeader } from "./LostHeader.ts"
import { type SessionLocked, SessionUnwritable, systemWord } from "./SessionError.ts"

/** Where lines go, and what must come before the first of them. */
export interface WriterOptions {
  readonly path: string
  /** Whether the file is to be made. */
  readonly fresh: boolean
  /** The header of a new file, or of one that has lost its own; any other has none to come. */
  readonly header?: string
  /** Whether the file ends in half a line. */
  readonly torn: boolean
  /** Takes the lock, before the first line; absent when it is had already. */
  readonly claim?: Effect.Effect<void, SessionLocked | SessionUnwritable, Scope.Scope>
  /** All lines there are by now, header first: a file that is deleted while it is open is made again of them. */
  readonly all: () => ReadonlyArray<string>
}

/** Adds lines to a session file. Not for several fibers at once, nor after its scope. */
export interface SessionWriter {
  /** Adds a line, newline included, after those that wait. When it fails, the line waits too. */
  readonly write: (line: string) => Effect.Effect<void, SessionUnwritable>
  /** Adds what waits, and returns when everything is on the disk, not only with the system. */
  readonly sync: Effect.Effect<void, SessionUnwritable>
  /** Adds what waits and begins to bring it to the disk; what goes wrong with that is told by the next `sync`. */
  readonly startSync: Effect.Effect<void, SessionUnwritable>
  /** How many lines wait. */
  readonly waiting: Effect.Effect<number>
}

/** The open file. `end` is where its whole lines end; `ragged` says that something else may stand there. */
interface Target {
  readonly handle: FileSystem.File
  end: number
  ragged: boolean
}

const encoder = new TextEncoder()

/**
 * A writer of the file, which is opened with the first line. When the scope closes, what waits is tried a last time and
 * all of it brought to the disk.
 */
export const makeWriter = Effect.fnUntraced(function*(
  options: WriterOptions
): Effect.fn.Return<SessionWriter, never, FileSystem.FileSystem | Path.Path | Scope.Scope> {
  const fs = yield* FileSystem.FileSystem
  const folder = (yield* Path.Path).dirname(options.path)
  const { all } = options
  // As the file is by now: one that is deleted is fresh again.
  let { fresh, header, torn } = options
  const waiting: Array<string> = fresh && header !== undefined ? [header] : []
  // A scope of its own: the lock and the file outlive the last try to write.
  const inner = yield* Scope.make()
  /** The lock and the open file. */
  let held = yield* Scope.fork(inner)
  let claimed = options.claim === undefined
  let target: Target | undefined
  // Lines with the system, and those of them that are on the disk.
  let saved = 0
  let synced = 0
  let late: SessionUnwritable | undefined
  const oneSync = Semaphore.makeUnsafe(1).withPermits(1)
  let named = !fresh

  const entriesWaiting = () => waiting.length - (fresh && waiting[0] === header ? 1 : 0)
  const refused = (cause: string) => new SessionUnwritable({ path: options.path, cause, unsaved: entriesWaiting() })

  const open = Effect.fnUntraced(function*() {
    yield* fs.makeDirectory(folder, { recursive: true })
    if (!claimed && options.claim !== undefined) yield* Scope.provide(options.claim, held)
    claimed = true
    if (!fresh && header !== undefined) yield* Effect.provideService(restoreHeader(options.path, header), FileSystem.FileSystem, fs)
    const handle = yield* Scope.provide(fs.open(options.path, { flag: fresh ? "ax" : "a", mode: 0o600 }), held)
    const end = fresh ? 0 : Number((yield* handle.stat).size)
    target = { handle, end, ragged: torn }
    return target
  })

  /** What is written to a file without a name is lost with the last who has it open: all of it is to be written again. */
  const seeDeleted = Effect.gen(function*() {
    if (target === undefined) return
    const links = yield* Effect.option(Effect.map(target.handle.stat, ({ nlink }) => Option.getOrElse(nlink, () => 1)))
    if (Option.isNone(links) || links.value > 0) return
    target = undefined
    // Our lock may have stayed, and would be in our own way.
    yield* Scope.close(held, Exit.void)
    held = yield* Scope.fork(inner)
    waiting.splice(0, waiting.length, ...all())
    header = waiting[0]
    fresh = true
    torn = false
    claimed = false
    named = false
  })

  /**
   * After a failed write: whether the line stands there after all, with or without its LF. Half of it is cut off again;
   * where that cannot be done or something else stands there, it stays and the next line starts on a fresh one.
   */
  const repair = Effect.fnUntraced(function*(to: Target, length: number) {
    const size = yield* Effect.option(Effect.map(to.handle.stat, (info) => Number(info.size)))
    const written = Option.match(size, { onNone: () => Infinity, onSome: (bytes) => bytes - to.end })
    if (written === 0) return false
    const whole = written === length || written === length - 1
    const cut = !whole && written > 0 && written < length && Exit.isSuccess(yield* Effect.exit(to.handle.truncate(to.end)))
    if (!cut) {
      to.ragged = written !== length
      to.end = Option.getOrElse(size, () => to.end)
    }
    return whole
  })

  /** Whoever cut the file or wrote into it meanwhile may have left half a line. */
  const look = Effect.fnUntraced(function*(to: Target) {
    const info = yield* Effect.option(to.handle.stat)
    if (Option.isNone(info) || Number(info.value.size) === to.end) return
    to.end = Number(info.value.size)
    to.ragged = to.end > 0
  })

  const put = Effect.fnUntraced(function*(to: Target, line: string) {
    yield* look(to)
    const bytes = encoder.encode(to.ragged ? `\n${line}` : line)
    const written = yield* Effect.exit(to.handle.writeAll(bytes))
    if (Exit.isSuccess(written)) {
      to.end += bytes.length
      to.ragged = false
    } else if (!(yield* repair(to, bytes.length))) yield* written
    saved++
  })

  const flush = Effect.gen(function*() {
    yield* seeDeleted
    const to = target ?? (yield* open())
    for (let line = waiting[0]; line !== undefined; line = waiting[0]) {
      yield* put(to, line)
      waiting.shift()
    }
  }).pipe(
    Effect.mapError((error: PlatformError.PlatformError | SessionLocked | SessionUnwritable) =>
      refused(error._tag === "PlatformError" ? systemWord(error) : error._tag === "SessionUnwritable" ? error.cause : error.message)
    ),
    Effect.uninterruptible
  )

  /** A new file is lost with its folder's entry, which has to be on the disk too; not every system can do that. */
  const syncName = Effect.suspend(() => {
    if (named) return Effect.void
    named = true
    return Effect.ignore(Effect.scoped(Effect.flatMap(fs.open(folder, { flag: "r" }), (handle) => handle.sync)))
  })

  const flushWaiting = Effect.andThen(seeDeleted, Effect.suspend(() => entriesWaiting() > 0 ? flush : Effect.void))
  const toDisk = oneSync(Effect.suspend(() => {
    if (target === undefined || synced === saved) return Effect.void
    const upTo = saved
    return target.handle.sync.pipe(
      Effect.mapError((error) => refused(systemWord(error))),
      Effect.andThen(syncName),
      Effect.map(() => {
        synced = upTo
      })
    )
  }))
  // A system that has refused once may call the same lines safe the next time.
  const tellLate = Effect.suspend(() => {
    const told = late
    late = undefined
    return told === undefined ? Effect.void : Effect.fail(told)
  })
  const sync = flushWaiting.pipe(Effect.andThen(toDisk), Effect.andThen(tellLate))
  const startSync = Effect.andThen(
    flushWaiting,
    Effect.forkIn(Effect.catch(toDisk, (error) => Effect.sync(() => void (late = error))), inner)
  )

  yield* Effect.addFinalizer(() => Effect.andThen(Effect.ignore(sync), Scope.close(inner, Exit.void)))

  return {
    write: (line) =>
      Effect.suspend(() => {
        waiting.push(line)
        return flush
      }),
    sync,
    startSync: Effect.asVoid(startSync),
    waiting: Effect.sync(entriesWaiting)
  }
})
