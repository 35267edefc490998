/**
 * The shape of a tool, whoever provides it: built in, an extension, a `tool.json`. A tool knows nothing of hooks,
 * permission or sessions; those stand around it in the agent.
 */
import type { Effect } from "effect"
import type { Capability, ConstrainedSampling, JsonObject, ToolContent } from "@nimlet/protocol"

/** What a call gives back. `details` is for people and programs (diffs, exit codes), never for the model. */
export interface ToolResult {
  readonly content: ReadonlyArray<ToolContent>
  readonly isError: boolean
  readonly details?: JsonObject
  /** No further model request, if all results of the step say so (seed 004). */
  readonly terminate?: boolean
}

/** A change of one file that a call is about to make. */
export interface FileChange {
  /** As the model reads it. */
  readonly path: string
  /** What the file holds, `missing` where there is none, `unknown` where it could not be read. */
  readonly before: Uint8Array | "missing" | "unknown"
  /** The version of what it will hold. */
  readonly after: string
}

/** What a running call may use beside its arguments. */
export interface ToolContext {
  /** The model's id of the call; absent where no model made it. */
  readonly callId?: string
  /** Publishes live output as it comes, a chunk at a time; `details` is what people and programs see beside all of it so far. */
  readonly output: (delta: string, details?: JsonObject) => Effect.Effect<void>
  /** Told, when the call is interrupted, what it had to show by then; the caller may make it the call's result. */
  readonly interrupted?: (result: ToolResult) => Effect.Effect<void>
  /** Told of each change of a file right before it is made. */
  readonly changing?: (change: FileChange) => Effect.Effect<void>
}

/**
 * A tool the model can call. `inputSchema` is JSON Schema and goes to the provider unchanged; the caller has validated
 * `args` against it. What goes wrong in the call is a result with `isError`, not a failure: the model shall see it.
 * Interruption is cancel.
 */
export interface Tool<out R = never> {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly capabilities: ReadonlyArray<Capability>
  /** A hint to the provider; a key that is there but undefined is kept apart from none (seed 004). */
  readonly constrainedSampling?: ConstrainedSampling | undefined
  readonly run: (args: JsonObject, context: ToolContext) => Effect.Effect<ToolResult, never, R>
}

/** The wish of tools whose arguments are often long: held to their schema where that can be had. */
export const preferStrict: ConstrainedSampling = { type: "json_schema", strict: "prefer" }

/** A result of one text. */
export const textResult = (text: string, details?: JsonObject): ToolResult =>
  ({ content: [{ type: "text", text }], isError: false, ...(details === undefined ? {} : { details }) })

/** A failed result of one text, which the model reads as the reason. */
export const errorResult = (text: string, details?: JsonObject): ToolResult => ({ ...textResult(text, details), isError: true })
