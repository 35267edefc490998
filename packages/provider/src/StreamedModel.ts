/**
 * A `LanguageModel` from a stream of parts: what every model of this package is made with. It is `LanguageModel.make`
 * with a short way for how an agent asks, since that is the way of every step.
 */
import { Effect, Predicate, Stream } from "effect"
import type * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import * as Response from "effect/ai/Response"
import type * as Tool from "effect/ai/Tool"
import { collectAnswer } from "./Answer.ts"

/** One request in, the parts of one answer out. */
export type PartStream = (
  request: LanguageModel.ProviderOptions
) => Stream.Stream<Response.StreamPartEncoded, AiError.AiError>

type Tools = Record<string, Tool.Any>
type AgentRequest = LanguageModel.GenerateTextOptions<Tools> & { readonly toolkit: { readonly tools: Tools } }

const isAgentRequest = (options: LanguageModel.GenerateTextOptions<Tools>): options is AgentRequest =>
  options.disableToolCallResolution === true && options.toolCallValidation === "deferred" &&
  Predicate.hasProperty(options.toolkit, "tools") && (options.toolChoice === undefined || typeof options.toolChoice === "string")

/** Its constructor would read the schema first, which with cold code takes longer than all else of an answer's last part. */
const usageOf = (usage: typeof Response.Usage.Encoded): Response.Usage => Object.assign(Object.create(Response.Usage.prototype), usage)

/** A part as a decoder would give it. The parts are our own, so nothing in them has to be checked. */
const decoded = (part: Response.StreamPartEncoded): Response.AnyPart => {
  switch (part.type) {
    case "finish":
      return Response.makePart("finish", { reason: part.reason, usage: usageOf(part.usage), metadata: part.metadata })
    case "source":
      return { ...Response.makePart("source", part), ...(part.sourceType === "url" ? { url: new URL(part.url) } : {}) }
    case "response-metadata":
      return Response.makePart("response-metadata", { id: part.id, modelId: part.modelId, timestamp: undefined, metadata: part.metadata })
    case "tool-params-start":
      return Response.makePart("tool-params-start", { ...part, providerExecuted: false, metadata: part.metadata })
    case "tool-call":
      return Response.makePart("tool-call", { ...part, providerExecuted: false, metadata: part.metadata })
    default:
      return Response.makePart(part.type, part)
  }
}

/**
 * Makes the model. Asked with `disableToolCallResolution: true`, `toolCallValidation: "deferred"` and a toolkit, it hands
 * the parts on as they were made; asked otherwise, it does what `LanguageModel.make` does, decoding by Schema included.
 */
export const make = Effect.fnUntraced(function*(streamParts: PartStream): Effect.fn.Return<LanguageModel.LanguageModel> {
  const model = yield* LanguageModel.make({ streamText: streamParts, generateText: (asked) => collectAnswer(streamParts(asked)) })
  const direct = (options: AgentRequest) =>
    Stream.unwrap(Effect.map(Effect.makeSpanScoped("LanguageModel.streamText", { kind: "client" }), (span) =>
      streamParts({
        prompt: Prompt.make(options.prompt),
        tools: Object.values(options.toolkit.tools),
        toolChoice: options.toolChoice ?? "auto",
        toolCallValidation: "deferred",
        responseFormat: { type: "text" },
        span,
        previousResponseId: undefined,
        incrementalPrompt: undefined
      })
    )).pipe(Stream.map(decoded))
  const otherwise = model.streamText as (options: LanguageModel.GenerateTextOptions<Tools>) => Stream.Stream<Response.AnyPart, AiError.AiError>
  const streamText = (options: LanguageModel.GenerateTextOptions<Tools>) => isAgentRequest(options) ? direct(options) : otherwise(options)
  return { ...model, streamText: streamText as LanguageModel.LanguageModel["streamText"] }
})
