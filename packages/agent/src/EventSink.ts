/** Where the events of a run go: a writer of records, a screen, nothing. */
import { Context, Effect } from "effect"
import type { AgentEvent } from "@nimlet/protocol"

/** Takes each event in order; the run goes on when it returns, so a slow taker slows the run and nothing is lost. */
export interface EventSink {
  readonly publish: (event: AgentEvent) => Effect.Effect<void>
}

/** The sink of the run. The default forgets everything, so that a program which only wants the answer provides nothing. */
export const EventSink: Context.Reference<EventSink> = Context.Reference("@nimlet/agent/EventSink", {
  defaultValue: (): EventSink => ({ publish: () => Effect.void })
})
