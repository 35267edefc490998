/** How a run is shown. Each way of running is one value of this shape; the rest of the program knows no difference. */
import type { Effect } from "effect"
import type { EventSink, RunResult } from "@nimlet/agent"
import type { FrontendShape } from "@nimlet/extension"
import type { Sitting } from "./Sitting.ts"

/** What shows a run, and who answers its questions. */
export interface Mode {
  /** Its name on the wire. */
  readonly name: "tui" | "text" | "print" | "json"
  /** Present where a person stays; without it one prompt is run. */
  readonly sitting?: Sitting
  readonly sink: EventSink
  readonly frontend: FrontendShape
  /** Tells the person something that is no part of the run: which model answers, what was skipped. */
  readonly notice: (text: string) => Effect.Effect<void>
  /** The session is known; everything of it is told after this. */
  readonly opened: (sessionId: string) => Effect.Effect<void>
  /** The session `to` has taken the place of `from`. */
  readonly switched: (from: string, to: string) => Effect.Effect<void>
  /** It cannot start after all; whoever started us is told on standard error, too. */
  readonly refused: (why: string) => Effect.Effect<void>
  /** The run has ended and its session with it. */
  readonly closed: (sessionId: string, result: RunResult) => Effect.Effect<void>
}
