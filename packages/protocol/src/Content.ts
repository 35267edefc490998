/**
 * Typed parts of message content, as they stand in session files, on the extension wire and in events
 * (seed 000, "Session entries"). Wire names stay in snake_case; there is no second set of names.
 */
import { Schema } from "effect"

/** Any JSON object, keys unchecked: tool arguments, schemas, payloads. */
export const JsonObject = Schema.Record(Schema.String, Schema.Unknown)
/** Any JSON object, keys unchecked. */
export type JsonObject = { readonly [key: string]: unknown }

/** What a provider wants back unchanged with a part (item ids, encrypted reasoning), keyed by provider. */
const providerData = { provider_data: Schema.optionalKey(JsonObject) }

/** Plain text. */
export const TextPart = Schema.Struct({ type: Schema.Literal("text"), text: Schema.String, ...providerData })
/** Plain text. */
export type TextPart = typeof TextPart.Type

/** An image, by workspace path or as base64 `data`; exactly one of the two is expected. */
export const ImagePart = Schema.Struct({
  type: Schema.Literal("image"),
  mimeType: Schema.String,
  path: Schema.optionalKey(Schema.String),
  data: Schema.optionalKey(Schema.String)
})
/** An image, by workspace path or as base64 `data`. */
export type ImagePart = typeof ImagePart.Type

/** A file other than an image. */
export const FilePart = Schema.Struct({
  type: Schema.Literal("file"),
  mimeType: Schema.String,
  path: Schema.optionalKey(Schema.String),
  data: Schema.optionalKey(Schema.String),
  filename: Schema.optionalKey(Schema.String)
})
/** A file other than an image. */
export type FilePart = typeof FilePart.Type

/** The model's reasoning; `signature` goes back to the provider unchanged. */
export const ThinkingPart = Schema.Struct({
  type: Schema.Literal("thinking"),
  thinking: Schema.String,
  signature: Schema.String,
  ...providerData
})
/** The model's reasoning. */
export type ThinkingPart = typeof ThinkingPart.Type

/** A tool call the model made. `parse_error` holds why its arguments were not valid JSON. */
export const ToolUsePart = Schema.Struct({
  type: Schema.Literal("tool_use"),
  id: Schema.String,
  name: Schema.String,
  input: Schema.Unknown,
  parse_error: Schema.optionalKey(Schema.String),
  hosted: Schema.optionalKey(Schema.Boolean),
  thought_signature: Schema.optionalKey(Schema.String),
  ...providerData
})
/** A tool call the model made. */
export type ToolUsePart = typeof ToolUsePart.Type

/** A tool result inside message content (provider-hosted tools only; ours are entries of their own). */
export const ToolResultPart = Schema.Struct({
  type: Schema.Literal("tool_result"),
  tool_use_id: Schema.String,
  content: Schema.String,
  is_error: Schema.Boolean,
  images: Schema.optionalKey(Schema.Array(ImagePart))
})
/** A tool result inside message content. */
export type ToolResultPart = typeof ToolResultPart.Type

/** A cited source. */
export const SourcePart = Schema.Struct({
  type: Schema.Literal("source"),
  url: Schema.String,
  title: Schema.String,
  id: Schema.optionalKey(Schema.String),
  cited_text: Schema.optionalKey(Schema.String),
  raw: Schema.optionalKey(Schema.Unknown)
})
/** A cited source. */
export type SourcePart = typeof SourcePart.Type

/** One part of a user or assistant message. */
export const ContentPart = Schema.Union([TextPart, ImagePart, FilePart, ThinkingPart, ToolUsePart, ToolResultPart, SourcePart])
/** One part of a user or assistant message. */
export type ContentPart = typeof ContentPart.Type

/** What a tool can return: text and images. */
export const ToolContent = Schema.Union([TextPart, ImagePart])
/** What a tool can return. */
export type ToolContent = typeof ToolContent.Type

/** What a tool may touch; decides plan mode, parallel calls and prompts (seed 000, "Tool capabilities"). */
export const Capability = Schema.Literals(["read", "user", "write", "shell", "network"])
/** What a tool may touch. */
export type Capability = typeof Capability.Type

/** The text of parts that have any, joined by newlines. */
export const textOf = (parts: ReadonlyArray<ContentPart>): string =>
  parts.flatMap((part) => part.type === "text" ? [part.text] : []).join("\n")
