/**
 * What an extension may ask of the session it runs in (`host_request`, `user_message`). The agent provides it; without
 * one, requests are unavailable and messages are dropped.
 */
import { Context, Effect, Schema } from "effect"
import type { UserMessage } from "@nimlet/protocol"

/** One question to the model, outside the conversation: nothing of it is shown or saved. */
export interface Completion {
  readonly prompt: string
  readonly systemPrompt: string
  /** Output limit in tokens. */
  readonly maxTokens: number
  /** Whether the model may use glob, grep, ls and read, in a few rounds. */
  readonly readOnlyTools: boolean
}

/** What the model said. `finishReason` is `stop` unless the answer was cut. */
export interface CompletionResult {
  readonly text: string
  readonly model: string
  readonly finishReason: string
}

/** About the session. `path` is empty when nothing is stored. */
export interface SessionInfo {
  readonly id: string
  readonly name: string
  readonly path: string
  readonly workspace: string
  readonly eventCount: number
}

/** How full the model's context is, in tokens; `percent` is whole and at most 100. */
export interface ContextUsage {
  readonly tokens: number
  readonly limit: number
  readonly percent: number
}

/** Why a request of an extension got no result; `reason` is what it reads. */
export class HostRequestFailed extends Schema.TaggedError<HostRequestFailed>()("HostRequestFailed", {
  reason: Schema.String,
  /** The user stopped it, or nobody is there to do it. */
  cancelled: Schema.Boolean
}) {}

/** The session as its extensions may use it. Interrupting a method gives the work up. */
export interface SessionAccessShape {
  readonly complete: (extension: string, completion: Completion) => Effect.Effect<CompletionResult, HostRequestFailed>
  readonly info: Effect.Effect<SessionInfo, HostRequestFailed>
  /** The title, after setting it when one is given. */
  readonly name: (title: string | undefined) => Effect.Effect<string, HostRequestFailed>
  readonly usage: Effect.Effect<ContextUsage, HostRequestFailed>
  /** Takes a message at once, or gives why it was dropped; when it reaches the model is the agent's business. */
  readonly say: (extension: string, message: UserMessage) => Effect.Effect<string | undefined>
}

const unavailable = Effect.fail(new HostRequestFailed({ reason: "host request is unavailable", cancelled: true }))

/** The session in force where the extensions were started. */
export const SessionAccess: Context.Reference<SessionAccessShape> = Context.Reference("@nimlet/extension/SessionAccess", {
  defaultValue: (): SessionAccessShape => ({
    complete: () => unavailable,
    info: unavailable,
    name: () => unavailable,
    usage: unavailable,
    say: () => Effect.undefined
  })
})
