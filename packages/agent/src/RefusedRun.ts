/** A run that may not be one: its records, so that whoever reads them sees why. */
import { Effect } from "effect"
import type { ContentPart, RunPlace } from "@nimlet/protocol"
import { EventSink } from "./EventSink.ts"
import type { RunResult } from "./Loop.ts"
import { promptOf } from "./RunEvents.ts"

/** Tells of words that were said and not run, because of `message`. */
export const refuseRun = Effect.fnUntraced(function*(session: string, content: ReadonlyArray<ContentPart>, message: string): Effect.fn.Return<RunResult> {
  const { publish } = yield* EventSink
  const place: RunPlace = { session_id: session, turn_id: `${session}:refused`, run_id: `${session}:refused` }
  const prompt = promptOf(content)
  yield* publish({ type: "message", role: "user", content: prompt, session_id: session, turn_id: place.turn_id })
  yield* publish({ type: "run_start", ...place, prompt })
  yield* publish({ type: "error", ...place, step: -1, message })
  yield* publish({ type: "run_end", ...place })
  return { success: false, text: "" }
}, Effect.uninterruptible)
