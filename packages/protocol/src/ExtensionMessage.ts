/** The lines an extension writes to the host (seed 000, "register", "Messages from your extension"). */
import { Schema } from "effect"
import { Capability, JsonObject, ToolContent } from "./Content.ts"

/** A slash command; matched without regard to case. */
export const RegisteredCommand = Schema.Struct({
  name: Schema.String,
  description: Schema.optionalKey(Schema.String)
})
/** A slash command. */
export type RegisteredCommand = typeof RegisteredCommand.Type

/** A tool for the model. `input_schema` is JSON Schema, passed on unchanged. */
export const RegisteredTool = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  input_schema: JsonObject,
  capabilities: Schema.Array(Capability)
})
/** A tool for the model. */
export type RegisteredTool = typeof RegisteredTool.Type

/** What an extension offers, after validation: names trimmed, nothing absent. */
export const Registration = Schema.Struct({
  commands: Schema.Array(RegisteredCommand),
  tools: Schema.Array(RegisteredTool),
  events: Schema.Array(Schema.String)
})
/** What an extension offers. */
export type Registration = typeof Registration.Type

/** What a tool counts as when it declares nothing (an empty list is nothing, too). */
export const defaultCapabilities: ReadonlyArray<Capability> = ["write", "shell", "network"]

/** Any line: an object with a `type`. The fields beside it are decoded by whoever asked. */
export const ExtensionLine = Schema.StructWithRest(Schema.Struct({ type: Schema.String }), [JsonObject])
/** Any line. */
export type ExtensionLine = typeof ExtensionLine.Type

/** A question to the user. Options that are not strings are dropped. */
export const UiRequest = Schema.Struct({
  type: Schema.Literal("ui_request"),
  id: Schema.String,
  method: Schema.String,
  prompt: Schema.optionalKey(Schema.String),
  options: Schema.optionalKey(Schema.Array(Schema.Unknown))
})
/** A question to the user. */
export type UiRequest = typeof UiRequest.Type

/** Fields of a reply to `tool`, each decoded alone. `content` is a text (seed 000) or parts (seed 001). */
export const ToolReplyFields = {
  content: Schema.Union([Schema.String, Schema.Array(ToolContent)]),
  is_error: Schema.Boolean
} as const

/** Fields of a reply to `command`, each decoded alone. */
export const CommandReplyFields = { message: Schema.String, prompt: Schema.String } as const
