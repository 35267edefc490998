/**
 * What the protocol has beyond seeds 000 and 001 for extensions that run as modules of ours on a worker thread (seed 004).
 * The lines, ids, replies and budgets are the same; a program may use the fields on `register` too.
 *
 * Host to worker, beside `HostMessage`:
 * - `state`: what the host knows and the worker keeps a copy of; always before the message that needs it.
 * - `bus`: something another extension of the session said on the event bus.
 *
 * Worker to host, beside `ExtensionMessage`:
 * - `register` again: everything it offers from now on.
 * - `ui_cancel {id}`: a question is withdrawn.
 * - `bus {channel, data}`: something for the other extensions' listeners; `data` is plain JSON.
 * - `show {aspect, value}`: something of the screen that is no status, widget or notice; see `ScreenAspect`.
 * - `tell {method, params}`: a session call whose outcome nobody waits for; methods as below.
 * - `scoped {key}`: it holds an object that is to outlast a reload; a new generation is loaded into the same worker.
 * - `failed {message}`: that generation could not be loaded.
 * - `fault {event, message}`: a handler failed and the others went on.
 * - `response` with `failed`, the text of what the asked handler threw, where the host decides what that means.
 * - `host_request` with `params` and one of the methods of `SessionCall`.
 *
 * Functions stay in the worker. The host knows them by the number under which they were registered and calls them with
 * `invoke`. JSON has no undefined and no Infinity: where a tool definition needs them they are said by name.
 */
import { Schema } from "effect"
import { Sampling } from "./ConstrainedSampling.ts"
import { JsonObject } from "./Content.ts"

/** Number of a function that stayed in the worker. */
export const Handle = Schema.Int

/** A function that an extension gives in a reply; it can be called once. */
export const HeldFunction = Schema.Struct({ extension: Schema.String, handle: Handle })
/** A function that an extension gives in a reply. */
export type HeldFunction = typeof HeldFunction.Type

/** What a tool of a module says beside name, description and schema. */
export const ToolExtras = Schema.Struct({
  label: Schema.optionalKey(Schema.String),
  /** One line for "Available tools" of the system prompt; without it the tool is left out there. */
  prompt_snippet: Schema.optionalKey(Schema.String),
  /** Bullets for "Guidelines", while the tool is active. */
  prompt_guidelines: Schema.optionalKey(Schema.Array(Schema.String)),
  constrained_sampling: Schema.optionalKey(Sampling),
  /** Runs alone even where its neighbours would run beside it. */
  sequential: Schema.optionalKey(Schema.Boolean),
  /** It wants the model's arguments before they are validated; see `PrepareRequest`. */
  prepares: Schema.optionalKey(Schema.Boolean),
  /** Its result is the answer of print mode. */
  structured_output: Schema.optionalKey(Schema.Boolean),
  /** Longest result in characters, or `unlimited`. */
  max_result_chars: Schema.optionalKey(Schema.Union([Schema.Number, Schema.Literal("unlimited")]))
})
/** What a tool of a module says beside name, description and schema. */
export type ToolExtras = typeof ToolExtras.Type

/** A flag on our command line. */
export const RegisteredFlag = Schema.Struct({
  name: Schema.String,
  description: Schema.optionalKey(Schema.String),
  type: Schema.Literals(["boolean", "string"]),
  default: Schema.optionalKey(Schema.Union([Schema.Boolean, Schema.String]))
})
/** A flag on our command line. */
export type RegisteredFlag = typeof RegisteredFlag.Type

/** A key that calls the function `handle`. */
export const RegisteredShortcut = Schema.Struct({
  key: Schema.String,
  description: Schema.optionalKey(Schema.String),
  handle: Handle
})
/** A key that calls a function. */
export type RegisteredShortcut = typeof RegisteredShortcut.Type

/** What a module registers beside tools, commands and events. */
export const RegistrationExtras = Schema.Struct({
  flags: Schema.Array(RegisteredFlag),
  shortcuts: Schema.Array(RegisteredShortcut),
  /** Command name → function that completes its argument: `invoke(prefix)` gives `{value, label?, description?}[]` or null. */
  completions: Schema.Record(Schema.String, Handle),
  /** Providers as `pi.registerProvider` takes them, without functions; `apiKey: "$NAME"` is resolved by the host. */
  model_providers: Schema.Array(Schema.Struct({ name: Schema.String, config: JsonObject })),
  /** Custom types it has renderers for; they are drawn as text until it can draw them. */
  renderers: Schema.Array(Schema.String)
})
/** What a module registers beside tools, commands and events. */
export type RegistrationExtras = typeof RegistrationExtras.Type

/** The model's raw arguments for a tool that `prepares`; the reply's `arguments` are what is validated. */
export const PrepareRequest = Schema.Struct({
  type: Schema.Literal("prepare"),
  id: Schema.String,
  name: Schema.String,
  arguments: Schema.Unknown
})

/** Calls a function that stayed in the worker; the reply's `value` is what it returned. `tool_update`s may come before it. */
export const InvokeRequest = Schema.Struct({
  type: Schema.Literal("invoke"),
  id: Schema.String,
  handle: Handle,
  arguments: Schema.Array(Schema.Unknown)
})

/** Parts of the screen a module may set, with what `value` is; null gives the part back to us. */
export const ScreenAspect = Schema.Literals([
  /** Text. */
  "title", "working_message", "hidden_thinking_label", "theme", "editor_text", "editor_paste",
  /** Boolean. */
  "working_visible", "tools_expanded",
  /** `{frames?, intervalMs?}`. */
  "working_indicator"
])
/** A part of the screen a module may set. */
export type ScreenAspect = typeof ScreenAspect.Type

/**
 * What a module may ask of its session, as `host_request {method, params}` or `tell`. Results are objects.
 *
 * - `exec {command, args, cwd?, timeout?, max_buffer?}` → `{stdout, stderr, code, killed, truncated}`
 * - `search.programs` → `{programs}`: where ripgrep may be, the best first
 * - `file.lock {path}` → `{lease}`, waits for its turn; `file.unlock {lease}` only by `tell`
 * - `message.send {messages, options}`: messages of the pi API with `customType`, `content`, `display`, `details`
 * - `message.user {content, options}`
 * - `entry.append {custom_type, data}`; `entry.label {id, label}`
 * - `session.set_name {name}`; `session.new {options, entries}`, `session.fork {id, position}`, `session.switch {path}`,
 *   `session.navigate {id, options}` → `{cancelled}`; `session.wait_idle`; `session.reload`; `session.abort`;
 *   `session.shutdown`; `session.compact {options}` → `{result}`
 * - `tools.set_active {names}`
 * - `model.set {provider, id}` → `{ok}`; `model.thinking {level}`; `model.ask {provider, id, context, options}` → `{message}`
 * - `provider.remove {name}`
 */
export const SessionCall = Schema.Literals([
  "exec", "search.programs", "file.lock", "file.unlock", "message.send", "message.user", "entry.append", "entry.label", "session.set_name",
  "session.new", "session.fork", "session.switch", "session.navigate", "session.wait_idle", "session.reload", "session.abort",
  "session.shutdown", "session.compact", "tools.set_active", "model.set", "model.thinking", "model.ask", "provider.remove"
])
/** The name of something a module may ask of its session. */
export type SessionCall = typeof SessionCall.Type
