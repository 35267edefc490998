/** The lines an extension writes to the host (seed 000, "register", "Messages from your extension"). */
import { Schema } from "effect"
import { Capability, JsonObject, ToolContent } from "./Content.ts"
import { RegistrationExtras, ToolExtras } from "./WorkerMessage.ts"

/** A slash command; matched without regard to case. With `while_busy` it may be run while the agent works. */
export const RegisteredCommand = Schema.Struct({
  name: Schema.String,
  description: Schema.optionalKey(Schema.String),
  while_busy: Schema.optionalKey(Schema.Boolean)
})
/** A slash command. */
export type RegisteredCommand = typeof RegisteredCommand.Type

/** A tool for the model. `input_schema` is JSON Schema, passed on unchanged. */
export const RegisteredTool = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  input_schema: JsonObject,
  capabilities: Schema.Array(Capability),
  extras: Schema.optionalKey(ToolExtras)
})
/** A tool for the model. */
export type RegisteredTool = typeof RegisteredTool.Type

/**
 * A way the agent works: `prompt` takes the place of the mode text in the system prompt, `tools` are the only ones
 * offered, and with `read_only` and `yolo` nothing is asked. The ids `act` and `plan` are ours.
 */
export const RegisteredMode = Schema.Struct({
  id: Schema.String,
  label: Schema.String,
  prompt: Schema.String,
  permissions: Schema.Literals(["read_only", "ask", "yolo"]),
  tools: Schema.Array(Schema.String)
})
/** A way the agent works. */
export type RegisteredMode = typeof RegisteredMode.Type

/** A provider of models that speaks OpenAI chat completions; without a key variable that is set, none is sent. */
export const RegisteredProvider = Schema.Struct({
  name: Schema.String,
  api: Schema.Literal("openai-chat-completions"),
  api_url: Schema.String,
  default_model: Schema.String,
  models: Schema.Array(Schema.String),
  api_key_env: Schema.Array(Schema.String),
  requires_api_key: Schema.Boolean
})
/** A provider of models that speaks OpenAI chat completions. */
export type RegisteredProvider = typeof RegisteredProvider.Type

/** What an extension offers, after validation: names trimmed, nothing absent. */
export const Registration = Schema.Struct({
  commands: Schema.Array(RegisteredCommand),
  tools: Schema.Array(RegisteredTool),
  events: Schema.Array(Schema.String),
  modes: Schema.Array(RegisteredMode),
  providers: Schema.Array(RegisteredProvider),
  extras: Schema.optionalKey(RegistrationExtras)
})
/** What an extension offers. */
export type Registration = typeof Registration.Type

/** What a tool counts as when it declares nothing (an empty list is nothing, too). */
export const defaultCapabilities: ReadonlyArray<Capability> = ["write", "shell", "network"]

/** Any line: an object with a `type`. The fields beside it are decoded by whoever asked. */
export const ExtensionLine = Schema.StructWithRest(Schema.Struct({ type: Schema.String }), [JsonObject])
/** Any line. */
export type ExtensionLine = typeof ExtensionLine.Type

/**
 * Something the user is asked: `question` (with `options`; those that are not strings are dropped), `confirm`, `input`,
 * `password`. Any other method is answered `cancelled: true`.
 */
export const UiRequest = Schema.Struct({
  type: Schema.Literal("ui_request"),
  id: Schema.String,
  method: Schema.String,
  prompt: Schema.optionalKey(Schema.String),
  options: Schema.optionalKey(Schema.Array(Schema.Unknown))
})
/** Something the user is asked. */
export type UiRequest = typeof UiRequest.Type

/** Method → its fields, of a `host_request` (each decoded alone; `prompt` of `model.complete` is required). */
export const HostRequestFields = {
  "model.complete": {
    prompt: Schema.NonEmptyString,
    system_prompt: Schema.String,
    max_tokens: Schema.Int,
    read_only_tools: Schema.Boolean
  },
  "ui.editor": { title: Schema.String, text: Schema.String },
  "session.info": {},
  "session.name": { name: Schema.String },
  "context.usage": {}
} as const
/** What an extension may ask of the host. */
export type HostRequestMethod = keyof typeof HostRequestFields

/** Fields of a reply to `tool`, each decoded alone. `content` is a text (seed 000) or parts (seed 001). */
export const ToolReplyFields = {
  content: Schema.Union([Schema.String, Schema.Array(ToolContent)]),
  is_error: Schema.Boolean,
  /** For people and programs, never for the model. */
  details: JsonObject,
  /** No further model request, if all results of the step say so. */
  terminate: Schema.Boolean
} as const

/** What a command wants done with the session; `switch` wants an `id`. `editor_text` goes into the composer, unsent. */
export const SessionAction = Schema.Struct({
  action: Schema.optionalKey(Schema.Literals(["new", "switch", "fork", "compact"])),
  id: Schema.optionalKey(Schema.String),
  /** `fork` only: the number of the user message, from 1. */
  message: Schema.optionalKey(Schema.Int),
  instruction: Schema.optionalKey(Schema.String),
  editor_text: Schema.optionalKey(Schema.String)
})
/** What a command wants done with the session. */
export type SessionAction = typeof SessionAction.Type

/** Fields of a reply to `command`, each decoded alone and carried out in this order. */
export const CommandReplyFields = {
  message: Schema.String,
  session: SessionAction,
  reload: Schema.Boolean,
  prompt: Schema.String
} as const
