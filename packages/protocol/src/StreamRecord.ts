/**
 * The records of machine modes as a client reads them, one JSON object a line (seed 002). JSON mode writes those of
 * `StreamRecord`; RPC mode writes those, and those of `RpcRecord.ts`. Clients ignore fields they do not know.
 */
import { Schema } from "effect"
import { StepUsage } from "./SessionEntry.ts"

const version = { version: Schema.Literal(1) }
const session = { session_id: Schema.String }
const turn = { ...session, turn_id: Schema.String }
const run = { ...turn, run_id: Schema.String }
const step = { ...run, step: Schema.Int }
const model = { model: Schema.optionalKey(Schema.String) }
const duration = { duration_ms: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0))) }
const call = { ...step, tool_id: Schema.NonEmptyString, tool_name: Schema.String }
const called = { ...call, input: Schema.optionalKey(Schema.Unknown) }
const request = { request_id: Schema.optionalKey(Schema.NonEmptyString) }

/** A session begins: the first record, and in a process that changes its session the first of each. */
export const SessionStartRecord = Schema.Struct({ ...version, type: Schema.Literal("session_start"), ...session })
/** A session ends. `success` is false when something of it failed. */
export const SessionEndRecord = Schema.Struct({ ...version, type: Schema.Literal("session_end"), ...session, success: Schema.Boolean })
/** What the user said: the prompt, before its `run_start`, or a text that was delivered within a run. */
export const UserMessageRecord = Schema.Struct({ ...version, type: Schema.Literal("message"), role: Schema.Literal("user"), content: Schema.String, ...turn })
/** What the assistant said. `final` ends the turn; false is text before tool calls. Without a `model` a command speaks. */
export const AssistantMessageRecord = Schema.Struct({
  ...version,
  type: Schema.Literal("message"),
  role: Schema.Literal("assistant"),
  content: Schema.String,
  ...turn,
  ...model,
  final: Schema.Boolean
})
/** A turn begins; an empty prompt is left out. */
export const RunStartRecord = Schema.Struct({ ...version, type: Schema.Literal("run_start"), ...run, prompt: Schema.optionalKey(Schema.NonEmptyString) })
/**
 * A turn has ended; every `run_start` has one, also after an error. `answer` is the `tool_id` of a structured answer: the output of
 * that call is the turn's answer, there is no final message then. RPC mode adds `success`, and `error` when it failed.
 * `request_id` is the id of the command that began it, on the last turn that came of it; `request_ids` are those of commands whose
 * words waited in the queue and were said within it.
 */
export const RunEndRecord = Schema.Struct({
  ...version,
  type: Schema.Literal("run_end"),
  ...run,
  ...model,
  answer: Schema.optionalKey(Schema.NonEmptyString),
  ...request,
  request_ids: Schema.optionalKey(Schema.Array(Schema.NonEmptyString)),
  success: Schema.optionalKey(Schema.Boolean),
  error: Schema.optionalKey(Schema.String)
})
/** A request to the model begins; `step` counts them from 0. */
export const StepStartRecord = Schema.Struct({ ...version, type: Schema.Literal("step_start"), ...step, ...model })
/** A request and the calls it asked for are done. `usage` is what the provider counted. */
export const StepEndRecord = Schema.Struct({ ...version, type: Schema.Literal("step_end"), ...step, ...model, usage: Schema.optionalKey(StepUsage), ...duration })
/** A piece of the answer. Pieces in order are its text. */
export const MessageDeltaRecord = Schema.Struct({ ...version, type: Schema.Literal("message_delta"), ...step, delta: Schema.String, ...model })
/** A piece of the model's reasoning. */
export const ThinkingDeltaRecord = Schema.Struct({ ...version, type: Schema.Literal("thinking_delta"), ...step, delta: Schema.String, ...model })
/** The model calls a tool; `input` is what it sent, before any extension changed it. */
export const ToolCallRecord = Schema.Struct({ ...version, type: Schema.Literal("tool_call"), ...called })
/**
 * A call waits for the client's `approve`; only in RPC mode with `ui`. `arguments` are what will really run, `preview` what
 * that would change, as lines with `-` and `+`. With `project` the decision can be for the project.
 */
export const ApprovalRequiredRecord = Schema.Struct({
  ...version,
  type: Schema.Literal("approval_required"),
  ...called,
  can_remember: Schema.Boolean,
  ...request,
  arguments: Schema.optionalKey(Schema.Unknown),
  summary: Schema.optionalKey(Schema.String),
  preview: Schema.optionalKey(Schema.String),
  project: Schema.optionalKey(Schema.Boolean),
  reason: Schema.optionalKey(Schema.String)
})
/** A piece of a tool's output while it runs. */
export const ToolOutputDeltaRecord = Schema.Struct({ ...version, type: Schema.Literal("tool_output_delta"), ...call, delta: Schema.String })
/**
 * What the model reads of a call. Every `tool_call` has one. Where all of a step have `terminate`, the turn ends with them, and
 * there is no final message.
 */
export const ToolResultRecord = Schema.Struct({
  ...version,
  type: Schema.Literal("tool_result"),
  ...call,
  output: Schema.String,
  is_error: Schema.Boolean,
  terminate: Schema.optionalKey(Schema.Literal(true)),
  ...duration
})
/** The turn failed; `step` is -1 before the first, or where no step is to blame. */
export const ErrorRecord = Schema.Struct({ ...version, type: Schema.Literal("error"), ...step, message: Schema.String })
/** A warning, or an error that no `error` record tells. `extension` is who it is about. */
export const DiagnosticRecord = Schema.Struct({
  ...version,
  type: Schema.Literal("diagnostic"),
  level: Schema.Literals(["warning", "error"]),
  message: Schema.String,
  extension: Schema.optionalKey(Schema.String)
})
/** Something happened to the texts that wait for the model; `depth` is how many there are now. Not in JSON mode. */
export const QueueRecord = Schema.Struct({
  ...version,
  type: Schema.Literal("queue"),
  ...session,
  action: Schema.Literals(["enqueue", "dequeue", "clear"]),
  content: Schema.optionalKey(Schema.NonEmptyString),
  ...request,
  mode: Schema.optionalKey(Schema.Literals(["steer", "follow_up"])),
  depth: Schema.Int
})

/** Every record of seed 002. */
export const StreamRecord = Schema.Union([
  SessionStartRecord, SessionEndRecord, UserMessageRecord, AssistantMessageRecord, RunStartRecord, RunEndRecord, StepStartRecord, StepEndRecord,
  MessageDeltaRecord, ThinkingDeltaRecord, ToolCallRecord, ApprovalRequiredRecord, ToolOutputDeltaRecord, ToolResultRecord, ErrorRecord,
  DiagnosticRecord, QueueRecord
])
/** Every record of seed 002. */
export type StreamRecord = typeof StreamRecord.Type
/** A turn has ended. */
export type RunEndRecord = typeof RunEndRecord.Type
