/** What an extension asks the person in front (seed 000, "ui_request and ui_response"; seed 001 and later: four methods). */
import { Cause, Effect, Schema } from "effect"
import { type JsonObject, UiRequest, type UiResponse } from "@nimlet/protocol"
import { Frontend } from "./Frontend.ts"

const isUiRequest = Schema.is(UiRequest)

type Fields = Pick<typeof UiResponse.Type, "answer" | "confirmed" | "error" | "cancelled">

const answering = (id: string, fields: Fields): typeof UiResponse.Type => ({ type: "ui_response", id, ...fields })

const nobody = (method: unknown): Fields =>
  method === "confirm" ? { confirmed: false, cancelled: true } : { answer: "", cancelled: true }

/** The answer to a request that nobody will answer any more: dismissed, withdrawn, or nobody is there. */
export const cancelledUi = (id: string, line: JsonObject): typeof UiResponse.Type => answering(id, nobody(line.method))

/**
 * The answer to a `ui_request` line of the extension `key`. Without a person, without a prompt, or with a method there
 * is not, it is `cancelled: true` at once; a frontend that breaks adds an `error`.
 */
export const answerUi = Effect.fnUntraced(function*(key: string, id: string, line: JsonObject) {
  const frontend = yield* Frontend
  if (!isUiRequest(line) || line.prompt === undefined || !frontend.interactive) return cancelledUi(id, line)
  const { method, prompt } = line
  const asked = Effect.suspend((): Effect.Effect<Fields> => {
    switch (method) {
      case "question": {
        const options = (line.options ?? []).filter((option) => typeof option === "string")
        return Effect.map(frontend.question({ asker: key, prompt, options }), (reply) => reply.cancelled ? nobody(method) : reply)
      }
      case "confirm":
        return Effect.map(frontend.confirm({ asker: key, prompt }), (reply) => reply.cancelled ? nobody(method) : reply)
      case "input":
      case "password":
        return Effect.map(frontend.input({ asker: key, prompt, secret: method === "password" }), (reply) =>
          reply.cancelled ? nobody(method) : reply)
      default:
        return Effect.succeed(nobody(method))
    }
  })
  const fields = yield* Effect.catchCause(asked, (cause) =>
    Cause.hasInterruptsOnly(cause)
      ? Effect.failCause(cause)
      : Effect.succeed({ ...nobody(method), error: faultOf(cause) }))
  return answering(id, fields)
})

/** What an extension is told of a fault on our side. */
export const faultOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  return error instanceof Error ? error.message : String(error)
}
