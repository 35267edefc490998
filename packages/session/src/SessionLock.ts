/** One writer a session: a lock file beside it names the process that has it. A lock whose owner is gone is taken over. */
import { Effect, FileSystem, Option, type PlatformError, Schema, type Scope } from "effect"
import { SessionLocked, SessionUnreadable } from "./SessionError.ts"

/** Who wants to write: a process of this machine, and how to tell whether another one still lives. */
export interface Owner {
  readonly pid: number
  readonly isAlive: (pid: number) => boolean
}

const Holder = Schema.fromJsonString(Schema.Struct({ pid: Schema.Int }))
const decodeHolder = Schema.decodeUnknownOption(Holder)

/**
 * Locks the session file `path` for as long as the scope lives. Fails with `SessionLocked` while another living process (or
 * this one, a second time) has it, and with `SessionUnreadable` when the lock file can be neither made nor read.
 */
export const lockSession = Effect.fnUntraced(function*(
  path: string,
  owner: Owner
): Effect.fn.Return<void, SessionLocked | SessionUnreadable, FileSystem.FileSystem | Scope.Scope> {
  const fs = yield* FileSystem.FileSystem
  const file = `${path}.lock`
  const unreadable = (error: PlatformError.PlatformError) => new SessionUnreadable({ path: file, cause: error.message })
  const take = fs.writeFileString(file, JSON.stringify({ pid: owner.pid }), { flag: "wx", mode: 0o600 })

  const takeOver = Effect.fnUntraced(function*() {
    const text = yield* fs.readFileString(file).pipe(
      Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed("")),
      Effect.mapError(unreadable)
    )
    const holder = decodeHolder(text)
    if (Option.isSome(holder) && owner.isAlive(holder.value.pid)) return yield* new SessionLocked({ path, pid: holder.value.pid })
    yield* Effect.ignore(fs.remove(file))
    yield* Effect.mapError(take, unreadable)
  })

  yield* Effect.acquireRelease(
    take.pipe(
      Effect.catchReason("PlatformError", "AlreadyExists", () => takeOver()),
      Effect.catchTag("PlatformError", (error) => Effect.fail(unreadable(error)))
    ),
    () => Effect.ignore(fs.remove(file))
  )
})
