/** What extensions may ask of their session (`host_request`, `user_message`); given to them when they are started. */
import { Effect, Option } from "effect"
import { HostRequestFailed, type SessionAccessShape } from "@nimlet/extension"
import { type Session, titleOf } from "@nimlet/session"
import type { Compaction } from "./Compaction.ts"
import type { Ledger } from "./Ledger.ts"
import { mostUnprompted, type Queues } from "./Queues.ts"

/** What is asked for. */
export interface SessionRequestsOptions {
  readonly session: Session
  readonly ledger: Ledger
  readonly queues: Queues
  readonly usage: Compaction["usage"]
  readonly complete: SessionAccessShape["complete"]
  /** Takes a text that came when no run was under way, to start one with; absent where nobody does. */
  readonly onIdleText?: (text: string, extension: string) => Effect.Effect<void>
}

const tooMany = "too many wait already"

/** The requests of one session. */
export const sessionRequests = ({ complete, ledger, onIdleText, queues, session, usage }: SessionRequestsOptions): SessionAccessShape => {
  const title = Effect.map(session.entries, titleOf)
  return {
    complete,
    info: Effect.gen(function*() {
      const entries = yield* session.entries
      return {
        id: session.id,
        name: titleOf(entries),
        path: Option.getOrElse(session.path, () => ""),
        workspace: session.workspace,
        eventCount: entries.length
      }
    }),
    name: Effect.fnUntraced(function*(given) {
      if (given !== undefined) {
        yield* ledger.append({ type: "name", name: given }).pipe(
          Effect.mapError((error) => new HostRequestFailed({ reason: error.message, cancelled: false }))
        )
      }
      return yield* title
    }),
    usage: Effect.map(usage, ({ tokens, window }) => ({
      tokens,
      limit: window,
      percent: Math.min(100, Math.round(tokens / window * 100))
    })),
    say: Effect.fnUntraced(function*(extension, { content, deliver_as }) {
      switch (yield* queues.offer(deliver_as === "follow_up" ? "follow_up" : "steer", { content, extension })) {
        case "accepted":
          return undefined
        case "full":
          return tooMany
        case "spent":
          return `extensions have said ${mostUnprompted} things in this run`
        case "idle":
          if (onIdleText === undefined) return "no run was under way"
          if (!(yield* queues.holdEarly)) return tooMany
          yield* onIdleText(content, extension)
          return undefined
      }
    })
  }
}
