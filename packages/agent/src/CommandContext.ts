/** What a command of an extension is told of the session it was typed in (seed 001, "command"). */
import { Effect } from "effect"
import type { CommandContext } from "@nimlet/protocol"
import type { Session } from "@nimlet/session"
import { chatMessages } from "./ChatMessages.ts"
import type { Selection } from "./Selection.ts"

/** The context of a command that is run now; `mode` is how we run. */
export const commandContext = Effect.fnUntraced(function*(session: Session, { model, provider }: Selection, mode: string) {
  const messages = chatMessages(yield* session.entries)
  return { mode, workspace: session.workspace, session_id: session.id, provider, model, messages } satisfies CommandContext
})
