/** What an extension asks of the session it runs in, or of the editor in front (`host_request`). */
import { Cause, Effect } from "effect"
import { HostRequestFields, type HostRequestMethod, type HostResponse, type JsonObject } from "@nimlet/protocol"
import type { Companion } from "./Companion.ts"
import { fieldsOf } from "./Fields.ts"
import { Frontend } from "./Frontend.ts"
import { HostRequestFailed, SessionAccess } from "./SessionAccess.ts"
import { faultOf } from "./UiRequests.ts"

type Answer = Pick<typeof HostResponse.Type, "result" | "error" | "cancelled">

/** Output limit of a completion where none, or none above zero, is given. */
const usualTokens = 4096

const completion = fieldsOf(HostRequestFields["model.complete"])
const editor = fieldsOf(HostRequestFields["ui.editor"])
const title = fieldsOf(HostRequestFields["session.name"])

type Serve = (key: string, line: JsonObject) => Effect.Effect<Answer, HostRequestFailed>

const refused = (error: string): Effect.Effect<Answer> => Effect.succeed({ error })
const cancelled: Answer = { cancelled: true }

const methods: { readonly [M in HostRequestMethod]: Serve } = {
  "model.complete": (key, line) => {
    const { max_tokens = 0, prompt, read_only_tools = false, system_prompt = "" } = completion(line).values
    if (prompt === undefined) return refused("prompt is required")
    return Effect.flatMap(SessionAccess, (session) =>
      session.complete(key, {
        prompt,
        systemPrompt: system_prompt,
        maxTokens: max_tokens > 0 ? max_tokens : usualTokens,
        readOnlyTools: read_only_tools
      })).pipe(
        Effect.map(({ finishReason, model, text }) => ({ result: { text, model, finish_reason: finishReason } }))
      )
  },
  "ui.editor": (key, line) =>
    Effect.flatMap(Frontend, (frontend) => {
      if (!frontend.interactive) return Effect.succeed<Answer>({ ...cancelled, error: "interactive editor is unavailable" })
      const { text = "", title = "" } = editor(line).values
      return Effect.map(frontend.editor({ asker: key, title, text }), (reply) =>
        reply.cancelled ? cancelled : { result: { text: reply.answer } })
    }),
  "session.info": () =>
    Effect.flatMap(SessionAccess, ({ info }) =>
      Effect.map(info, ({ eventCount, id, name, path, workspace }) => ({
        result: { id, name, path, workspace, event_count: eventCount }
      }))),
  "session.name": (_, line) => {
    const { bad, values } = title(line)
    if (bad.length > 0) return refused("name must be a string")
    return Effect.flatMap(SessionAccess, (session) => Effect.map(session.name(values.name), (name) => ({ result: { name } })))
  },
  "context.usage": () =>
    Effect.flatMap(SessionAccess, ({ usage }) =>
      Effect.map(usage, ({ limit, percent, tokens }) => ({ result: { tokens, limit, percent } })))
}

const isMethod = (method: unknown): method is HostRequestMethod =>
  typeof method === "string" && Object.hasOwn(HostRequestFields, method)

const answering = (id: string, answer: Answer): typeof HostResponse.Type => ({ type: "host_response", id, ...answer })

/** The answer to a request that nobody wants answered any more. */
export const cancelledHost = (id: string): typeof HostResponse.Type => answering(id, cancelled)

/** The answer to a request beyond what one extension may have waiting. */
export const overcrowdedHost = (id: string): typeof HostResponse.Type => answering(id, { error: "too many host requests are open" })

/**
 * The answer to a `host_request` line of the extension `key`: what was asked for, or why not. Provider events that come
 * of a completion may reach the one that waits for it.
 */
export const answerHost = (
  key: string,
  id: string,
  line: JsonObject,
  companion?: Companion
): Effect.Effect<typeof HostResponse.Type> => {
  const { method } = line
  const others = typeof method === "string" && !isMethod(method) ? companion?.serve(method, line) : undefined
  const served = isMethod(method)
    ? methods[method](key, line)
    : others === undefined
    ? refused(`unknown host request: ${String(method)}`)
    : Effect.map(others, (result): Answer => ({ result }))
  return served.pipe(
    Effect.catchTag("HostRequestFailed", ({ cancelled, reason }) =>
      Effect.succeed<Answer>({
        ...(reason === "" ? {} : { error: reason }),
        ...(cancelled || reason === "" ? { cancelled: true } : {})
      })),
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : Effect.succeed<Answer>({ error: faultOf(cause) })
    ),
    Effect.map((answer) => answering(id, answer))
  )
}
