/** Lines into a pipe, bounded in bytes: a peer that does not read fills it and is told no more. */
import type { Writable } from "node:stream"
import { Effect } from "effect"
import type { Sent } from "../Transport.ts"
import { backlogBytes, isTooLong, maxOutboundBytes } from "./Outbox.ts"

/**
 * Writes lines to `pipe` at once; what the system does not take waits in the pipe's own buffer. Overflow policy: `reject`,
 * with a backlog of 16 MiB and one line more. `broken` completes when the peer has closed its end.
 */
export const outlet = (pipe: Writable, maxLineBytes: number = maxOutboundBytes) => ({
  send: (line: string): Effect.Effect<Sent> =>
    Effect.sync(() => {
      if (isTooLong(line, maxLineBytes)) return "too_large"
      if (!pipe.writable) return "closed"
      if (pipe.writableLength > backlogBytes) return "full"
      pipe.write(`${line}\n`)
      return "accepted"
    }),
  end: Effect.sync(() => void pipe.end()),
  broken: Effect.callback<void>((resume) => {
    if (pipe.destroyed) resume(Effect.void)
    pipe.once("error", () => resume(Effect.void))
  })
})
