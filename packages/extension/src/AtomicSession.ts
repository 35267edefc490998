/** The session as extensions of seed 004 see and use it. The agent provides it, over what the screen can do. */
import { Context, Effect } from "effect"
import type { JsonObject, ScreenAspect, SessionCall } from "@nimlet/protocol"
import { EntrySink } from "./Diagnostics.ts"
import { HostRequestFailed, SessionAccess } from "./SessionAccess.ts"

/**
 * What extensions may read at once, by name. A value that has changed must be another object: that is how a change is seen.
 *
 * - `session` `{id, file?, name?, dir?, at?}`; `entries`, of one line of history, in the shapes of seed 004; `labels` id → text
 * - `model`, `models` (each with `available`), `scoped_models`, `thinking`, `usage` `{tokens, contextWindow, percent}`
 * - `tools`, `active_tools` (names), `commands`, `skills`, `flags`, `system_prompt`, `prompt_options`
 * - `idle`, `pending`
 * - `ui.editor_text`, `ui.themes` (each with `name`), `ui.tools_expanded`
 */
export type StateKey = string

/** The session as extensions of this family see and use it. Methods are called from several fibers at once. */
export interface AtomicSessionShape {
  /** Called when an extension that may read is brought to life, before it can: what takes effort to know is found out from then on. */
  readonly joined?: (extension: string) => void
  /** What holds now; undefined where nothing is known. Called often: it must be a look-up. */
  readonly read: (key: StateKey, extension: string) => unknown
  /** Does what `SessionCall` says, but for what the host does by itself (`exec`, `search.programs`, `file.lock`, `file.unlock`). */
  readonly call: (extension: string, method: SessionCall, params: JsonObject) => Effect.Effect<JsonObject, HostRequestFailed>
  /** Sets a part of the screen; null gives it back. Must not wait for a person. */
  readonly show: (extension: string, aspect: ScreenAspect, value: unknown) => Effect.Effect<void>
}

const unavailable = Effect.fail(new HostRequestFailed({ reason: "host request is unavailable", cancelled: true }))
const textIn = (value: unknown): string =>
  typeof value === "string"
    ? value
    : Array.isArray(value) ? value.flatMap((part) => isObject(part) && typeof part.text === "string" ? [part.text] : []).join("\n") : ""
const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value)
const optionsIn = ({ options }: JsonObject): JsonObject => isObject(options) ? options : {}

/** What can be done of a call by what every extension may use: the session's title, its queue of messages, its entries, its model. */
const byAccess: AtomicSessionShape["call"] = Effect.fnUntraced(function*(extension, method, params) {
  const session = yield* SessionAccess
  switch (method) {
    case "message.user": {
      const { deliverAs } = optionsIn(params)
      const deliver_as = deliverAs === "steer" ? "steer" : deliverAs === "followUp" ? "follow_up" : "now"
      yield* session.say(extension, { content: textIn(params.content), deliver_as })
      return {}
    }
    case "entry.append":
      yield* (yield* EntrySink)({ extension, data: params.data, custom_type: String(params.custom_type) })
      return {}
    case "session.set_name":
      return { name: yield* session.name(String(params.name)) }
    case "model.ask": {
      const context = isObject(params.context) ? params.context : {}
      const messages = Array.isArray(context.messages) ? context.messages.filter(isObject) : []
      const { maxTokens } = optionsIn(params)
      const { finishReason, model, text } = yield* session.complete(extension, {
        prompt: messages.map(({ content }) => textIn(content)).join("\n\n"),
        systemPrompt: textIn(context.systemPrompt),
        maxTokens: typeof maxTokens === "number" ? maxTokens : 4096,
        readOnlyTools: false
      })
      return { message: { role: "assistant", content: [{ type: "text", text }], model, stopReason: finishReason } }
    }
    default:
      return yield* unavailable
  }
})

/**
 * The session in force where the extensions were started. Default: nothing is known, and of the calls those are served that
 * `SessionAccess` and `EntrySink` have an answer to.
 */
export const AtomicSession: Context.Reference<AtomicSessionShape> = Context.Reference("@nimlet/extension/AtomicSession", {
  defaultValue: (): AtomicSessionShape => ({ read: () => undefined, call: byAccess, show: () => Effect.void })
})
