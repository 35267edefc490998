/** What a handler of an extension sees and may do beside its answer. */
import { Effect } from "effect"
import type { DeliverAs, JsonObject, Segment, Widget } from "@nimlet/protocol"
import type { HostLink, HostRefused } from "./HostLink.ts"

/** A question to the model, outside the conversation. */
export interface Completion {
  readonly prompt: string
  readonly system_prompt?: string
  /** Output limit in tokens; default 4096. */
  readonly max_tokens?: number
  /** Whether the model may look around with read-only tools first. */
  readonly read_only_tools?: boolean
}

/** What is known from the start. */
export interface ExtensionPlace {
  readonly workspace: string
  readonly sessionId: string
  readonly trusted: boolean
  /** How the host runs: `tui`, `text`, `print`, `json` or `rpc`. */
  readonly mode: string
  /** Whether anybody can answer questions. */
  readonly ui: boolean
  /** What this extension had stored in the session when it was started, oldest first. */
  readonly entries: ReadonlyArray<unknown>
}

/** What a handler is given. Its methods are effects; `run` makes a promise of one. */
export interface ExtensionContext extends ExtensionPlace {
  /** Aborts when the host gives the request up; an effect is interrupted then. */
  readonly signal: AbortSignal
  /** Runs an effect for a handler that is written in promises; it is rejected with what the effect fails with. */
  readonly run: <A, E>(effect: Effect.Effect<A, E>) => Promise<A>
  /** Asks a person to choose of 2 to 4 options, or to say something else; undefined when nobody answers. */
  readonly question: (prompt: string, options: ReadonlyArray<string>) => Effect.Effect<string | undefined>
  /** Asks yes or no; false when nobody answers. */
  readonly confirm: (prompt: string) => Effect.Effect<boolean>
  /** Asks for a line; undefined when nobody answers. */
  readonly input: (prompt: string) => Effect.Effect<string | undefined>
  /** Asks for a secret; undefined when nobody answers. */
  readonly password: (prompt: string) => Effect.Effect<string | undefined>
  /** Lets a person edit a text. */
  readonly editor: (title: string, text: string) => Effect.Effect<string, HostRefused>
  /** Says something in the transcript; `warning` and `error` are styled. */
  readonly notify: (message: string, level?: "info" | "warning" | "error") => Effect.Effect<void>
  /** Sets a text of the footer; an empty one removes it. */
  readonly status: (key: string, text: string | ReadonlyArray<Segment>) => Effect.Effect<void>
  /** Shows a widget; one with nothing in it is removed. */
  readonly widget: (widget: Widget) => Effect.Effect<void>
  /** Keeps data in the session; the model never sees it, and the next life has it in `entries`. */
  readonly store: (entry: unknown) => Effect.Effect<void>
  /** Says words to the model, as if the user had. */
  readonly say: (content: string, deliverAs?: DeliverAs) => Effect.Effect<void>
  /** Asks the model. */
  readonly complete: (completion: Completion) => Effect.Effect<{ readonly text: string; readonly model: string; readonly finish_reason: string }, HostRefused>
  /** Any other request of the protocol: `session.info`, `session.name`, `context.usage`. */
  readonly request: (method: string, fields?: JsonObject) => Effect.Effect<JsonObject, HostRefused>
}

/** What a tool is given. */
export interface ToolContext extends ExtensionContext {
  /** The model's id of the call. */
  readonly callId: string
  /** Tells how it is getting on; the budget of the call starts afresh. */
  readonly progress: (text: string) => Effect.Effect<void>
}

const textIn = (answer: JsonObject | undefined, field: string): string | undefined => {
  const value = answer?.[field]
  return typeof value === "string" ? value : undefined
}

/** Makes the context of one request. `runPromise` runs effects with the services the extension is served with. */
export const makeContext = (
  place: ExtensionPlace,
  link: HostLink,
  controller: AbortController,
  runPromise: <A, E>(effect: Effect.Effect<A, E>, options: { readonly signal: AbortSignal }) => Promise<A>
): ExtensionContext => {
  const update = (fields: JsonObject) => link.send({ type: "update", ...fields })
  const ask = (method: string, prompt: string, more: JsonObject = {}) => link.question({ method, prompt, ...more })
  const answer = (method: string, prompt: string, more?: JsonObject) => Effect.map(ask(method, prompt, more), (reply) => textIn(reply, "answer"))
  return {
    ...place,
    signal: controller.signal,
    run: (effect) => runPromise(effect, { signal: controller.signal }),
    question: (prompt, options) => answer("question", prompt, { options }),
    confirm: (prompt) => Effect.map(ask("confirm", prompt), (reply) => reply?.["confirmed"] === true),
    input: (prompt) => answer("input", prompt),
    password: (prompt) => answer("password", prompt),
    editor: (title, text) => Effect.map(link.request("ui.editor", { title, text }), (result) => textIn(result, "text") ?? ""),
    notify: (message, level = "info") => update({ notification: { level, message } }),
    status: (key, text) => update({ status: typeof text === "string" ? { key, text } : { key, segments: text } }),
    widget: (widget) => update({ widget }),
    store: (entry) => update({ entry }),
    say: (content, deliver_as = "now") => update({ user_message: { content, deliver_as } }),
    complete: (completion) =>
      Effect.map(link.request("model.complete", { ...completion }), (result) => ({
        text: textIn(result, "text") ?? "",
        model: textIn(result, "model") ?? "",
        finish_reason: textIn(result, "finish_reason") ?? "stop"
      })),
    request: (method, fields = {}) => link.request(method, fields)
  }
}
