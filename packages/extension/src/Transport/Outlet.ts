/** Lines into a pipe, bounded in bytes: a peer that does not read fills it and is told no more. */
import type { Writable } from "node:stream"
import { Effect } from "effect"
import type { Sent } from "../Transport.ts"
import { backlogBytes, isTooLong, maxOutboundBytes } from "./Outbox.ts"

/**
 * Writes lines to `pipe` at once; what the system does not take waits in the pipe's own buffer. Overflow policy: `reject`,
 * with a backlog of 16 MiB and one line more. `broken` completes when the peer closes its end before we have ended ours.
 */
export const outlet = (pipe: Writable, maxLineBytes: number = maxOutboundBytes) => {
  let ended = false
  return {
    send: (line: string): Effect.Effect<Sent> =>
      Effect.sync(() => {
        if (isTooLong(line, maxLineBytes)) return "too_large"
        if (!pipe.writable) return "closed"
        if (pipe.writableLength > backlogBytes) return "full"
        pipe.write(`${line}\n`)
        return "accepted"
      }),
    end: Effect.sync(() => {
      ended = true
      pipe.end()
    }),
    broken: Effect.callback<void>((resume) => {
      const told = () => ended ? undefined : resume(Effect.void)
      if (pipe.closed) told()
      else pipe.once("close", told)
    })
  }
}
