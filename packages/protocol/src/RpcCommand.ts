/**
 * Commands of RPC mode, one JSON object a line of our standard input, each with an `id` of the client's choice that every
 * reply to it carries.
 */
import { Result, Schema } from "effect"
import { wholeCharacters } from "./WholeCharacters.ts"

const text = Schema.String
/** Empty would mean the usual one, and name something else than the client meant. */
const name = text.check(Schema.isNonEmpty({ message: "Expected a text that is not empty" }))
const optionalName = Schema.optionalKey(name)
const message = { message: text }
const queueMode = { mode: Schema.Literals(["all", "one-at-a-time"]) }
const optionalText = Schema.optionalKey(text)

/**
 * The fields of each command beside `id` and `type`.
 * - `initialize` comes first if at all: `ui` says that the client shows and answers what a person would.
 * - `prompt`, `command` (a slash command without its slash) begin a turn; `steer`, `follow_up` say something within one.
 * - `new`, `resume`, `fork` (`message` is the number of the user's message it stands before), `compact`, `reload`,
 *   `set_model`, `set_thinking`, `set_mode`, `trust` change the session or how it goes on.
 * - `approve` and `answer` answer a record with that `request_id`; `ui_action` presses an action of a widget.
 */
export const RpcCommandFields = {
  initialize: { ui: Schema.optionalKey(Schema.Boolean) },
  prompt: { ...message, streamingBehavior: Schema.optionalKey(Schema.Literals(["steer", "followUp"])) },
  steer: message,
  follow_up: message,
  interrupt: {},
  command: { name: text, arguments: optionalText },
  new: {},
  resume: { session: optionalName },
  fork: { message: Schema.Int.check(Schema.isGreaterThan(0)) },
  compact: { instruction: optionalText },
  reload: {},
  set_mode: { mode: text },
  set_model: { provider: optionalName, model: name },
  set_thinking: { level: text },
  trust: { on: Schema.Boolean },
  get_state: {},
  clear_queue: {},
  set_steering_mode: queueMode,
  set_follow_up_mode: queueMode,
  extensions: {},
  list_sessions: { query: optionalText },
  list_models: { query: optionalText },
  stats: {},
  approve: { request_id: text, decision: Schema.Literals(["once", "session", "project", "deny"]), reason: optionalText },
  answer: {
    request_id: text,
    answer: optionalText,
    confirmed: Schema.optionalKey(Schema.Boolean),
    cancelled: Schema.optionalKey(Schema.Boolean)
  },
  ui_action: { key: text, action: text, text: optionalText },
  shutdown: {}
} as const

/** The names of commands. */
export type RpcCommandName = keyof typeof RpcCommandFields

/** What a command says beside its `id` and `type`. */
export type RpcCommandBody<N extends RpcCommandName> = Schema.Struct.Type<(typeof RpcCommandFields)[N]>

const member = <N extends RpcCommandName, F extends Schema.Struct.Fields>(type: N, fields: F) =>
  Schema.Struct({ id: name, type: Schema.Literal(type), ...fields })

/** A command of RPC mode. */
export const RpcCommand = Schema.Union([
  member("initialize", RpcCommandFields.initialize),
  member("prompt", RpcCommandFields.prompt),
  member("steer", RpcCommandFields.steer),
  member("follow_up", RpcCommandFields.follow_up),
  member("interrupt", RpcCommandFields.interrupt),
  member("command", RpcCommandFields.command),
  member("new", RpcCommandFields.new),
  member("resume", RpcCommandFields.resume),
  member("fork", RpcCommandFields.fork),
  member("compact", RpcCommandFields.compact),
  member("reload", RpcCommandFields.reload),
  member("set_mode", RpcCommandFields.set_mode),
  member("set_model", RpcCommandFields.set_model),
  member("set_thinking", RpcCommandFields.set_thinking),
  member("trust", RpcCommandFields.trust),
  member("get_state", RpcCommandFields.get_state),
  member("clear_queue", RpcCommandFields.clear_queue),
  member("set_steering_mode", RpcCommandFields.set_steering_mode),
  member("set_follow_up_mode", RpcCommandFields.set_follow_up_mode),
  member("extensions", RpcCommandFields.extensions),
  member("list_sessions", RpcCommandFields.list_sessions),
  member("list_models", RpcCommandFields.list_models),
  member("stats", RpcCommandFields.stats),
  member("approve", RpcCommandFields.approve),
  member("answer", RpcCommandFields.answer),
  member("ui_action", RpcCommandFields.ui_action),
  member("shutdown", RpcCommandFields.shutdown)
])
/** A command of RPC mode. */
export type RpcCommand = typeof RpcCommand.Type

/** Why a line is no command; `id` is empty where none could be read. */
export interface RpcRefusal {
  readonly id: string
  readonly error: string
}

const messages = new Set<RpcCommandName>(["prompt", "steer", "follow_up"])
const problems: { readonly [N in RpcCommandName]?: string } = {
  set_steering_mode: "mode must be all or one-at-a-time.",
  set_follow_up_mode: "mode must be all or one-at-a-time."
}
const names: ReadonlyArray<string> = Object.keys(RpcCommandFields)
const isName = (type: string): type is RpcCommandName => names.includes(type)
const decode = Schema.decodeUnknownResult(RpcCommand)

const isObject = (value: unknown): value is { readonly [key: string]: unknown } => typeof value === "object" && value !== null && !Array.isArray(value)

const parse = (line: string): Result.Result<unknown, string> =>
  Result.try({ try: (): unknown => JSON.parse(wholeCharacters(line)), catch: (error) => error instanceof Error ? error.message : String(error) })

/** Reads one line. Pure. */
export const decodeRpcCommand = (line: string): Result.Result<RpcCommand, RpcRefusal> => {
  const refuse = (error: string, id = "") => Result.fail({ id, error })
  const parsed = parse(line)
  if (Result.isFailure(parsed)) return refuse(`Invalid JSON: ${parsed.failure}`)
  const value = parsed.success
  if (!isObject(value)) return refuse("Command must be a JSON object.")
  const { id, message, type } = value
  if (typeof id !== "string" || typeof type !== "string") return refuse("Command requires string id and type fields.", typeof id === "string" ? id : "")
  if (id === "") return refuse("id must not be empty: the reply to a command carries it.")
  if (!isName(type)) return refuse(`Unknown RPC command: ${type}`, id)
  if (messages.has(type) && (typeof message !== "string" || message.trim() === "")) return refuse(`${type} requires message.`, id)
  return Result.mapError(decode(value), (error) => ({ id, error: problems[type] ?? `${type}: ${error.message.replaceAll(/\s+/g, " ")}` }))
}
