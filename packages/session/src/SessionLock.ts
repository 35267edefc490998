/**
 * One writer a session: a lock file beside it names the process that has it, and since when. A lock whose owner is gone is
 * taken over, by one of those who try. All writers are processes of one machine.
 */
import { Clock, Effect, FileSystem, Option, type PlatformError, Random, Schema, type Scope } from "effect"
import { isReadOnly, SessionLocked, SessionUnwritable, systemWord } from "./SessionError.ts"

/** Who wants to write: a process of this machine, and how to tell whether another one still lives. */
export interface Owner {
  readonly pid: number
  readonly isAlive: (pid: number) => boolean
}

/** What a lock file says. `started` tells a process from a later one that was given its number, where the platform knows. */
const Holder = Schema.fromJsonString(Schema.Struct({
  pid: Schema.Int,
  since: Schema.optionalKey(Schema.String),
  started: Schema.optionalKey(Schema.String)
}))
const decodeHolder = Schema.decodeUnknownOption(Holder)

/** A lock that changes hands this often while one looks at it is given up on. */
const patience = 10

/** When a process was started, in the kernel's own count; `undefined` where the platform has no such file. */
const startOf = Effect.fnUntraced(function*(pid: number) {
  const fs = yield* FileSystem.FileSystem
  const stat = yield* fs.readFileString(`/proc/${pid}/stat`).pipe(Effect.orElseSucceed(() => ""))
  // The name of the program comes second, in brackets, and may hold spaces and brackets itself.
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]
})

const lives = Effect.fnUntraced(function*(holder: { readonly pid: number; readonly started?: string }, owner: Owner) {
  if (!owner.isAlive(holder.pid)) return false
  const started = holder.started === undefined ? undefined : yield* startOf(holder.pid)
  return started === undefined || started === holder.started
})

/** Puts `text` into a file of its own and hands that to `use`, so that nobody ever sees half of a lock. */
const withDraft = Effect.fnUntraced(function*<A, E, R>(file: string, text: string, use: (draft: string) => Effect.Effect<A, E, R>) {
  const fs = yield* FileSystem.FileSystem
  const draft = `${file}.${(yield* Random.nextIntBetween(0, 0xffffffff)).toString(16)}`
  return yield* fs.writeFileString(draft, text, { flag: "wx", mode: 0o600 }).pipe(
    Effect.andThen(use(draft)),
    Effect.ensuring(Effect.ignore(fs.remove(draft)))
  )
})

/** Makes the lock file; fails with `AlreadyExists` when there is one. */
const place = Effect.fnUntraced(function*(file: string, text: string) {
  const fs = yield* FileSystem.FileSystem
  yield* withDraft(file, text, (draft) =>
    fs.link(draft, file).pipe(
      // Some file systems have no links. There a lock can be seen before it says whose it is, for a moment.
      Effect.catchIf((error) => error.reason._tag !== "AlreadyExists", () => fs.writeFileString(file, text, { flag: "wx", mode: 0o600 }))
    ))
})

type Refused = SessionLocked | PlatformError.PlatformError

/**
 * Takes the lock `file`. To replace the lock of a dead owner one must have the lock of that lock, and find the dead one
 * still there: so of two who saw it die, the later finds the lock of the other.
 */
const take = (
  path: string,
  file: string,
  text: string,
  owner: Owner,
  left: number
): Effect.Effect<void, Refused, FileSystem.FileSystem> =>
  place(file, text).pipe(Effect.catchReason("PlatformError", "AlreadyExists", (_, error) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const again = left > 0 ? take(path, file, text, owner, left - 1) : Effect.fail(error)
      const read = fs.readFileString(file).pipe(Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed(undefined)))
      const found = yield* read
      if (found === undefined) return yield* again
      const holder = decodeHolder(found)
      if (Option.isSome(holder) && (yield* lives(holder.value, owner))) {
        const { pid, since } = holder.value
        return yield* new SessionLocked({ path, pid, ...(since === undefined ? {} : { since }) })
      }
      const guard = `${file}.lock`
      const taken = yield* Effect.acquireUseRelease(
        take(path, guard, text, owner, left - 1),
        () =>
          Effect.flatMap(read, (now) =>
            now === found ? Effect.as(withDraft(file, text, (draft) => fs.rename(draft, file)), true) : Effect.succeed(false)),
        () => Effect.ignore(fs.remove(guard))
      )
      if (!taken) yield* again
    })))

/**
 * Locks the session file `path` for as long as the scope lives. Fails with `SessionLocked` while another living process (or
 * this one, a second time) has it, and with `SessionUnwritable` when the lock file can be neither made nor read.
 */
export const lockSession = Effect.fnUntraced(function*(
  path: string,
  owner: Owner
): Effect.fn.Return<void, SessionLocked | SessionUnwritable, FileSystem.FileSystem | Scope.Scope> {
  const fs = yield* FileSystem.FileSystem
  const file = `${path}.lock`
  const started = yield* startOf(owner.pid)
  const since = new Date(yield* Clock.currentTimeMillis).toISOString()
  const text = JSON.stringify({ pid: owner.pid, since, ...(started === undefined ? {} : { started }) })
  yield* Effect.acquireRelease(
    take(path, file, text, owner, patience).pipe(
      Effect.catchTag("PlatformError", (error) => Effect.fail(new SessionUnwritable({ path: file, cause: systemWord(error), unsaved: 0, read_only: isReadOnly(error) })))
    ),
    // Not when somebody removed it by hand and another took its place.
    () => Effect.ignore(Effect.flatMap(fs.readFileString(file), (now) => now === text ? fs.remove(file) : Effect.void))
  )
})
