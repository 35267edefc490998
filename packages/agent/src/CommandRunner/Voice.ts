/** How a command's run speaks: records of its one answer, of what else it did, and of its end. */
import { Effect } from "effect"
import type { ContentPart, RunPlace } from "@nimlet/protocol"
import { EventSink } from "../EventSink.ts"
import type { RunResult } from "../Loop.ts"

/** What became of a command; `prompt` is what it wants said to the model, `attached` goes along with it. */
export interface Outcome extends RunResult {
  readonly prompt?: string
  readonly attached?: ReadonlyArray<ContentPart>
}

/** Speaks for a command: its one answer, what it did otherwise, its failure (after the end of its run, too), and that end, which comes once. */
export interface Voice {
  readonly tell: (text: string) => Effect.Effect<Outcome>
  readonly note: (text: string) => Effect.Effect<void>
  readonly fail: (text: string) => Effect.Effect<Outcome>
  readonly end: Effect.Effect<void>
  /** What the command wants said is run next, unless it fails yet. */
  readonly follow: () => void
}

/** The voice of a run of a command. */
export const voiceOf = Effect.fnUntraced(function*(place: RunPlace) {
  const { publish } = yield* EventSink
  let ended = false
  let followed = false
  const voice: Voice = {
    tell: (text) =>
      publish({ type: "message", session_id: place.session_id, turn_id: place.turn_id, role: "assistant", content: text, final: true }).pipe(
        Effect.as({ success: true, text })
      ),
    note: (message) => publish({ type: "diagnostic", level: "info", message }),
    fail: (message) =>
      Effect.suspend(() => {
        followed = false
        return publish(ended ? { type: "diagnostic", level: "error", message } : { type: "error", ...place, step: -1, message })
      }).pipe(Effect.as({ success: false, text: "" })),
    follow: () => void (followed = true),
    end: Effect.suspend(() => {
      if (ended) return Effect.void
      ended = true
      return publish({ type: "run_end", ...place, ...(followed ? { followed } : {}) })
    })
  }
  return voice
})
