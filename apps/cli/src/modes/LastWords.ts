/** The record that closes a stream (seed 002), said even when the process has to end before its run has. */
import { Effect } from "effect"
import { encodeRecord } from "@nimlet/protocol"
import type { Mode } from "./Mode.ts"

const closing = (session_id: string): string => `${encodeRecord({ type: "session_end", session_id, success: false })}\n`

/** A machine mode that keeps in `lastWords` what is to be written if nothing else can be any more: the end of the session at hand. */
export const withLastWords = (mode: Mode, lastWords: Set<string>): Mode => {
  const keep = (session: string) => Effect.sync(() => lastWords.add(closing(session)))
  const forget = (session: string) => Effect.sync(() => lastWords.delete(closing(session)))
  return {
    ...mode,
    opened: (session) => Effect.andThen(keep(session), mode.opened(session)),
    switched: (from, to) => forget(from).pipe(Effect.andThen(keep(to)), Effect.andThen(mode.switched(from, to))),
    closed: (session, result) => Effect.andThen(forget(session), mode.closed(session, result))
  }
}
