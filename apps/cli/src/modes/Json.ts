/** JSON mode (seed 002): every event of the run is one record on a line of standard output, and nothing else is. */
import { Effect } from "effect"
import { headless } from "@nimlet/extension"
import { type AgentEvent, encodeRecord, type SessionRecord } from "@nimlet/protocol"
import type { Output } from "../Output.ts"
import type { Mode } from "./Mode.ts"

/** JSON mode over our output. There is nobody to ask: questions are cancelled, calls run. */
export const jsonMode = (output: Output["Service"]): Mode => {
  let faulted = false
  const write = (event: AgentEvent | SessionRecord): Effect.Effect<void> =>
    Effect.suspend(() => {
      faulted ||= event.type === "error" || event.type === "diagnostic" && event.level === "error"
      const record = encodeRecord(event)
      return record === undefined ? Effect.void : output.out(`${record}\n`)
    })
  const opened = (session_id: string) => write({ type: "session_start", session_id })
  return {
    name: "json",
    // There is no queue that a client could fill; what extensions say meanwhile shows as a message when it is delivered.
    sink: { publish: (event) => event.type === "queue" ? Effect.void : write(event) },
    frontend: {
      ...headless,
      notify: (level, message, extension) =>
        write({ type: "diagnostic", level, message, ...(extension === undefined ? {} : { extension }) })
    },
    notice: (text) => output.err(`${text}\n`),
    opened,
    switched: (from, to) => Effect.andThen(write({ type: "session_end", session_id: from, success: true }), opened(to)),
    refused: (message) => write({ type: "diagnostic", level: "error", message }),
    closed: (session_id, { success }) =>
      Effect.suspend(() => success || faulted ? Effect.void : write({ type: "diagnostic", level: "error", message: "Interrupted" })).pipe(
        Effect.andThen(write({ type: "session_end", session_id, success }))
      )
  }
}
