/**
 * What an agent writes into its session, whatever the disk says. One that refuses does not stop the work: the session keeps
 * the entries and tries again with each next one; that is told once, and whoever ends asks whether anything is still unsaved.
 */
import { Effect } from "effect"
import type { SessionEntry } from "@nimlet/protocol"
import type { Session, SessionUnwritable } from "@nimlet/session"
import { EventSink } from "./EventSink.ts"

/** Writes into one session. */
export interface Ledger {
  /** Adds an entry. Fails only for what cannot even be kept in memory. */
  readonly append: (entry: SessionEntry) => Effect.Effect<void, SessionUnwritable>
  /** Brings everything to the disk, where that is possible. */
  readonly sync: Effect.Effect<void>
  /** Begins to bring everything to the disk; where that is refused, the next `sync` tells of it. */
  readonly startSync: Effect.Effect<void>
  /** Why something is not on the disk; undefined when all is. */
  readonly unsaved: Effect.Effect<string | undefined>
}

/** The ledger of a session. */
export const makeLedger = (session: Session): Ledger => {
  let why: string | undefined
  const refused = Effect.fnUntraced(function*(error: SessionUnwritable) {
    const { publish } = yield* EventSink
    const known = why !== undefined
    why = error.message
    if (!known) yield* publish({ type: "diagnostic", level: "error", message: `${error.message}; going on with the session in memory` })
  })
  return {
    append: (entry) =>
      session.append(entry).pipe(
        Effect.andThen(Effect.sync(() => void (why = undefined))),
        // Without an entry that waits, it was not even kept.
        Effect.catch((error) => error.unsaved === 0 ? Effect.fail(error) : refused(error))
      ),
    sync: Effect.catch(session.sync, refused),
    startSync: Effect.catch(session.startSync, refused),
    unsaved: Effect.map(session.unsaved, (count) => count === 0 ? undefined : why ?? `${count} entries of the session are not saved`)
  }
}
