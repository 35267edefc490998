/**
 * What happens in a run, as the agent publishes it to whoever shows or records it. Machine modes turn each event into
 * one record; a screen folds them into its state. Deltas are what one network read brought, already joined.
 */
import type { JsonObject } from "./Content.ts"
import type { StepUsage } from "./SessionEntry.ts"

/** Where in a session an event belongs. `turn_id` names the user's turn, `step` the model request, from 0. */
export interface RunPlace {
  readonly session_id: string
  readonly turn_id: string
  readonly run_id: string
}

/** An event of a run (seed 002, "Event records"); `duration_ms` is whole milliseconds. */
export type AgentEvent =
  | { readonly type: "message"; readonly session_id: string; readonly turn_id: string; readonly role: "user"; readonly content: string }
  | {
    readonly type: "message"
    readonly session_id: string
    readonly turn_id: string
    readonly role: "assistant"
    readonly content: string
    readonly model?: string
    readonly final: boolean
  }
  | RunPlace & { readonly type: "run_start"; readonly prompt: string }
  // `answer`: the call whose output is the run's answer, where it has no final message. `followed`: a command's own run has
  // ended, and what it wants said to the model is run next.
  | RunPlace & { readonly type: "run_end"; readonly model?: string; readonly answer?: string; readonly followed?: boolean }
  | RunPlace & { readonly type: "step_start"; readonly step: number; readonly model: string }
  | RunPlace & {
    readonly type: "step_end"
    readonly step: number
    readonly model: string
    readonly usage?: StepUsage
    readonly duration_ms: number
  }
  | RunPlace & { readonly type: "message_delta"; readonly step: number; readonly delta: string; readonly model: string }
  | RunPlace & { readonly type: "thinking_delta"; readonly step: number; readonly delta: string; readonly model: string }
  | RunPlace & {
    readonly type: "tool_call"
    readonly step: number
    readonly tool_id: string
    readonly tool_name: string
    readonly input?: unknown
  }
  | RunPlace & {
    readonly type: "approval_required"
    readonly step: number
    readonly tool_id: string
    readonly tool_name: string
    readonly input?: unknown
    readonly can_remember: boolean
  }
  | RunPlace & {
    readonly type: "tool_output_delta"
    readonly step: number
    readonly tool_id: string
    readonly tool_name: string
    readonly delta: string
    readonly details?: JsonObject
  }
  | RunPlace & {
    readonly type: "tool_result"
    readonly step: number
    readonly tool_id: string
    readonly tool_name: string
    readonly output: string
    readonly is_error: boolean
    readonly duration_ms: number
    readonly details?: JsonObject
    /** The tool wants no further model request; none is made where all results of the step say so. */
    readonly terminate?: true
  }
  | RunPlace & { readonly type: "error"; readonly step: number; readonly message: string }
  | {
    readonly type: "queue"
    readonly session_id: string
    readonly action: "enqueue" | "dequeue" | "clear"
    readonly content?: string
    readonly request_id?: string
    readonly mode?: "steer" | "follow_up"
    readonly depth: number
  }
  | {
    readonly type: "diagnostic"
    readonly level: "info" | "warning" | "error"
    readonly message: string
    readonly extension?: string
  }
