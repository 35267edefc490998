/**
 * Lines of a session file: a header, then one entry a line (seed 000, "Session entries"). Every line we write has
 * `entry_id` and `at`; lines of older or other writers may lack them, and readers keep kinds they do not know.
 */
import { Schema } from "effect"
import { ContentPart, ImagePart, JsonObject } from "./Content.ts"

/** First line of a session file. It is not an entry: entry 0 is the line after it. */
export const SessionHeader = Schema.Struct({
  type: Schema.Literal("session"),
  workspace: Schema.String,
  version: Schema.optionalKey(Schema.Number),
  id: Schema.optionalKey(Schema.String),
  at: Schema.optionalKey(Schema.String),
  parent: Schema.optionalKey(Schema.String)
})
/** First line of a session file. */
export type SessionHeader = typeof SessionHeader.Type

/** Tokens of one model answer, as the provider counted them; cache tokens are part of `input_tokens`. */
export const Usage = Schema.Struct({
  input_tokens: Schema.Number,
  output_tokens: Schema.Number,
  cache_read_tokens: Schema.optionalKey(Schema.Number),
  cache_write_tokens: Schema.optionalKey(Schema.Number)
})
/** Tokens of one model answer. */
export type Usage = typeof Usage.Type

/** The same with what they cost, in dollars, where that is known. */
export const StepUsage = Schema.Struct({ ...Usage.fields, cost: Schema.optionalKey(Schema.Number) })
/** The same with what they cost, in dollars, where that is known. */
export type StepUsage = typeof StepUsage.Type

/** `entry_id` (unique in its file) and `at` (ISO 8601 time) of every line we write. */
const stamp = {
  entry_id: Schema.optionalKey(Schema.String),
  at: Schema.optionalKey(Schema.String)
}

/** What the user said. */
export const UserEntry = Schema.Struct({
  type: Schema.Literal("user"),
  role: Schema.Literal("user"),
  content: Schema.Array(ContentPart),
  ...stamp
})

/**
 * What the model answered: text, thinking and tool calls. `model` answered, `requested_model` was asked. `cut` marks what
 * had come when the answer was interrupted or broke off: text to keep, no calls to run.
 */
export const AssistantEntry = Schema.Struct({
  type: Schema.Literal("assistant"),
  role: Schema.Literal("assistant"),
  content: Schema.Array(ContentPart),
  model: Schema.optionalKey(Schema.String),
  provider: Schema.optionalKey(Schema.String),
  requested_model: Schema.optionalKey(Schema.String),
  usage: Schema.optionalKey(Usage),
  cut: Schema.optionalKey(Schema.Boolean),
  /** From the request to the end of the answer. */
  duration_ms: Schema.optionalKey(Schema.Number),
  ...stamp
})

/**
 * A file that a call changed: its path from the workspace on, its version before (null: there was none; absent: not known) and
 * after. `snapshot` is where what it held before is kept.
 */
export const ChangedFile = Schema.Struct({
  path: Schema.String,
  before: Schema.optionalKey(Schema.NullOr(Schema.String)),
  after: Schema.String,
  snapshot: Schema.optionalKey(Schema.String)
})
/** A file that a call changed. */
export type ChangedFile = typeof ChangedFile.Type

/** The one result of the tool call `id`. `details` is for people and programs, never for the model. */
export const ToolResultEntry = Schema.Struct({
  type: Schema.Literal("tool_result"),
  id: Schema.String,
  output: Schema.String,
  is_error: Schema.Boolean,
  images: Schema.optionalKey(Schema.Array(ImagePart)),
  tool: Schema.optionalKey(Schema.String),
  details: Schema.optionalKey(JsonObject),
  terminate: Schema.optionalKey(Schema.Boolean),
  /** The extensions that changed the arguments, where the tool did not run with those of the model. */
  changed_by: Schema.optionalKey(Schema.Array(Schema.String)),
  /** How long the call took, hooks and questions included, and how much of that extensions' hooks took. */
  duration_ms: Schema.optionalKey(Schema.Number),
  hooks_ms: Schema.optionalKey(Schema.Number),
  /** The files it changed, in order; one may be there several times. */
  files: Schema.optionalKey(Schema.Array(ChangedFile)),
  ...stamp
})

/**
 * A compaction: what came before entry `first_kept_index` is told to the model as `summary`. `first_kept_id` is that
 * entry's `entry_id`; it holds when a line before it is damaged and the index does not.
 */
export const CompactionEntry = Schema.Struct({
  type: Schema.Literal("compaction"),
  summary: Schema.String,
  first_kept_index: Schema.Number,
  tokens_before: Schema.Number,
  details: Schema.optionalKey(Schema.Unknown),
  first_kept_id: Schema.optionalKey(Schema.String),
  ...stamp
})

/** State an extension keeps in the session; never sent to the model. */
export const ExtensionEntry = Schema.Struct({
  type: Schema.Literal("extension"),
  extension: Schema.String,
  data: Schema.Unknown,
  custom_type: Schema.optionalKey(Schema.String),
  ...stamp
})

/** A title given to the session. */
export const NameEntry = Schema.Struct({ type: Schema.Literal("name"), name: Schema.String, ...stamp })

/** A choice of provider and model, and of the level of thinking where one was chosen. */
export const SelectionEntry = Schema.Struct({
  type: Schema.Literal("selection"),
  provider: Schema.String,
  model: Schema.String,
  thinking: Schema.optionalKey(Schema.String),
  ...stamp
})

/**
 * What an extension said in the conversation: the model reads it as a user's message, people see it when `display` is set.
 * `details` is for programs alone (seed 004). With the `role` system it is the host's word, here that other tools are on offer.
 */
export const CustomMessageEntry = Schema.Struct({
  type: Schema.Literal("custom_message"),
  custom_type: Schema.String,
  role: Schema.optionalKey(Schema.Literal("system")),
  content: Schema.Array(ContentPart),
  display: Schema.Boolean,
  extension: Schema.optionalKey(Schema.String),
  details: Schema.optionalKey(Schema.Unknown),
  ...stamp
})

/** A bookmark at the entry whose `entry_id` is `target_id`; without a `label` the bookmark is taken away (seed 004). */
export const LabelEntry = Schema.Struct({
  type: Schema.Literal("label"),
  target_id: Schema.String,
  label: Schema.optionalKey(Schema.String),
  ...stamp
})

/** One entry of a session. */
export const SessionEntry = Schema.Union([
  UserEntry,
  AssistantEntry,
  ToolResultEntry,
  CompactionEntry,
  ExtensionEntry,
  NameEntry,
  SelectionEntry,
  CustomMessageEntry,
  LabelEntry
])
/** One entry of a session. */
export type SessionEntry = typeof SessionEntry.Type
/** What the user said. */
export type UserEntry = typeof UserEntry.Type
/** What the model answered. */
export type AssistantEntry = typeof AssistantEntry.Type
/** The one result of a tool call. */
export type ToolResultEntry = typeof ToolResultEntry.Type
/** A compaction. */
export type CompactionEntry = typeof CompactionEntry.Type
/** What an extension said in the conversation. */
export type CustomMessageEntry = typeof CustomMessageEntry.Type
/** A title given to the session. */
export type NameEntry = typeof NameEntry.Type
/** State an extension keeps in the session. */
export type ExtensionEntry = typeof ExtensionEntry.Type
/** A choice of provider and model. */
export type SelectionEntry = typeof SelectionEntry.Type
/** A bookmark. */
export type LabelEntry = typeof LabelEntry.Type
