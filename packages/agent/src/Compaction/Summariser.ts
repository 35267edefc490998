/** The model as summariser: one request without tools and with a short answer, tried again where that can help. */
import { Effect, Option, Result, Stream } from "effect"
import type { AiError } from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Toolkit from "effect/ai/Toolkit"
import { textOf } from "@nimlet/protocol"
import { accountOf, isContextOverflow, Offline, RequestLimits, retryDelay, Thinking } from "@nimlet/provider"
import { EventSink } from "../EventSink.ts"
import { makeFold } from "../Turn.ts"
import { textTokens } from "./Estimate.ts"
import { summaryTokens } from "./Limits.ts"
import { summaryRequest, type SummaryRequest, summarySystem } from "./Summary.ts"

/** How often a request that is too long for the model is halved. */
const halvings = 3

/** What a window leaves for the request's text. Counted at three bytes a token, since it has to fit. */
const requestBytes = (window: number): number => Math.max(8_000, (window - summaryTokens(window) - textTokens(summarySystem) - 500) * 3)

const ask = (text: string, maxOutputTokens: number) => {
  const { answer, fold } = makeFold("")
  return LanguageModel.streamText({
    prompt: Prompt.fromMessages([
      Prompt.systemMessage({ content: summarySystem }),
      Prompt.userMessage({ content: [Prompt.textPart({ text, options: Offline.typed(false) })] })
    ]),
    toolkit: Toolkit.empty,
    disableToolCallResolution: true,
    toolCallValidation: "deferred"
  }).pipe(
    Stream.runForEachArray((parts) => Effect.sync(() => void fold(parts as ReadonlyArray<Response.AnyPart>))),
    Effect.provideService(RequestLimits, { maxOutputTokens }),
    // A short answer is not to be spent on thinking.
    Effect.provideService(Thinking, undefined),
    Effect.map(() => textOf(answer().content).trim())
  )
}

/**
 * Has entries summarised by a model with a context of `window` tokens. The summary may be empty. Fails with the last
 * `AiError`. A request the model finds too long is halved and sent again.
 */
export const summarise = Effect.fnUntraced(function*(
  window: number,
  request: Omit<SummaryRequest, "maxBytes">
): Effect.fn.Return<string, AiError, LanguageModel.LanguageModel> {
  const { publish } = yield* EventSink
  let maxBytes = requestBytes(window)
  for (let failures = 0, halved = 0;;) {
    const text = summaryRequest({ ...request, maxBytes })
    const outcome = yield* Effect.result(ask(text, summaryTokens(window)))
    if (Result.isSuccess(outcome)) return outcome.success
    const error = outcome.failure
    if (isContextOverflow(error) && halved++ < halvings) {
      maxBytes = Math.floor(Math.min(maxBytes, Buffer.byteLength(text)) / 2)
      continue
    }
    const delay = yield* retryDelay(error, ++failures)
    if (Option.isNone(delay)) return yield* Effect.fail(error)
    yield* publish({ type: "diagnostic", level: "warning", message: `${accountOf(error)}; trying again to compact` })
    yield* Effect.sleep(delay.value)
  }
})
