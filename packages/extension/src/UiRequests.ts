/** Requests an extension makes of the host (seed 000, "ui_request and ui_response"). */
import { Effect, Schema } from "effect"
import { type HostMessage, type JsonObject, UiRequest } from "@nimlet/protocol"
import type { Stopwatch } from "@nimlet/actor"
import { type Answer, Frontend } from "./Frontend.ts"

/** Questions of one extension that may be open at once; more are cancelled. */
export const maxOpenQuestions = 16

const isUiRequest = Schema.is(UiRequest)

const cancelled = (id: string): HostMessage => ({ type: "ui_response", id, answer: "", cancelled: true })

/**
 * The answer to a `ui_request` line; undefined when it has no id to answer to. While a person is asked, the extension's
 * stopwatch stands still. Anything that is no question is answered `cancelled: true` at once.
 */
export const answerUiRequest = Effect.fnUntraced(function*(key: string, line: JsonObject, stopwatch: Stopwatch) {
  if (!isUiRequest(line) || line.method !== "question" || line.prompt === undefined) {
    return typeof line.id === "string" ? cancelled(line.id) : undefined
  }
  const { id, options = [], prompt } = line
  const frontend = yield* Frontend
  if (!frontend.interactive) return cancelled(id)
  const choices = options.filter((option) => typeof option === "string")
  // A frontend that breaks must not leave the extension waiting.
  const asked = Effect.catchDefect(frontend.question({ asker: key, prompt, options: choices }), () =>
    Effect.succeed<Answer>({ cancelled: true }))
  const reply = yield* stopwatch.hold(asked)
  return reply.cancelled
    ? cancelled(id)
    : { type: "ui_response" as const, id, answer: reply.answer, cancelled: false }
})

/** The answer to a `host_request` line: none is served yet. */
export const answerHostRequest = (line: JsonObject): HostMessage | undefined =>
  typeof line.id === "string"
    ? { type: "host_response", id: line.id, cancelled: true, error: "host request is unavailable" }
    : undefined
