/** What extensions offer, and what using it gives back. */
import type { Capability, JsonObject, RegisteredMode, RegisteredProvider, SessionAction, ToolContent, ToolExtras } from "@nimlet/protocol"

/** A tool an extension offers the model. */
export interface ExtensionTool {
  readonly name: string
  readonly description: string
  /** JSON Schema, as registered. */
  readonly inputSchema: JsonObject
  readonly capabilities: ReadonlyArray<Capability>
  /** Only reads, and its family lets such tools run without asking. */
  readonly unasked: boolean
  /** Whether calls of it may run beside their neighbours; absent: when it only reads. */
  readonly parallel?: boolean
  /** What else its extension says of it (seed 004). */
  readonly extras?: ToolExtras
  /** Key of the extension. */
  readonly extension: string
}

/** A slash command an extension offers. */
export interface ExtensionCommand {
  readonly name: string
  /** The name its extension knows it by, where that is another. */
  readonly registered?: string
  readonly description: string
  /** May be run while the agent works. */
  readonly whileBusy: boolean
  /** Key of the extension. */
  readonly extension: string
}

/** A way of working an extension offers; of two with one id the first. */
export interface ExtensionMode extends RegisteredMode {
  /** Key of the extension. */
  readonly extension: string
}

/** A provider of models an extension offers; of two with one name the first. */
export interface ExtensionProvider extends RegisteredProvider {
  /** Key of the extension. */
  readonly extension: string
}

/** What a tool of an extension gave back. */
export interface ToolReply {
  readonly content: ReadonlyArray<ToolContent>
  readonly isError: boolean
  /** For people and programs, never for the model. */
  readonly details?: JsonObject
  /** No further model request, if all results of the step say so. */
  readonly terminate?: boolean
}

/** What a command gave back, carried out in this order; `prompt` starts a turn. */
export interface CommandReply {
  readonly message?: string
  readonly session?: SessionAction
  readonly reload?: boolean
  readonly prompt?: string
}
