/** Answers made from parts, and parts made from answers. */
import { Effect, Stream } from "effect"
import type * as AiError from "effect/ai/AiError"
import type * as Response from "effect/ai/Response"

/** Joins a stream's parts to the parts of a whole answer, for `generateText`. */
export const collectAnswer = <R>(
  stream: Stream.Stream<Response.StreamPartEncoded, AiError.AiError, R>
): Effect.Effect<Array<Response.PartEncoded>, AiError.AiError, R> =>
  Effect.map(Stream.runCollect(stream), (parts) => {
    const open = new Map<string, string>()
    const whole: Array<Response.PartEncoded> = []
    for (const part of parts) {
      switch (part.type) {
        case "text-delta":
        case "reasoning-delta":
          open.set(part.id, (open.get(part.id) ?? "") + part.delta)
          break
        case "text-end":
        case "reasoning-end":
          whole.push({
            type: part.type === "text-end" ? "text" : "reasoning",
            text: open.get(part.id) ?? "",
            ...(part.metadata === undefined ? {} : { metadata: part.metadata })
          })
          open.delete(part.id)
          break
        case "tool-call":
        case "source":
        case "finish":
        case "response-metadata":
          whole.push(part)
          break
        default:
          break
      }
    }
    return whole
  })
