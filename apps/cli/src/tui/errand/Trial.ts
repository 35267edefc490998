/** A trial of who answers: one short question, outside of the conversation. */
import { Clock, Effect, Stream } from "effect"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import { accountOf, Offline, RequestLimits, Thinking } from "@nimlet/provider"
import type { ErrandRoom } from "./ErrandRoom.ts"

/** How long an answer may take. */
const patience = "30 seconds"
/** Enough for a word or two, and for what some models take to say it. */
const most = 256

const question = Prompt.fromMessages([Prompt.userMessage({ content: [Prompt.textPart({ text: "Answer with the word ok.", options: Offline.typed(false) })] })])

/** Asks the present model, and tells how long it took or what went wrong. */
export const makeTrial = ({ company, tell }: Pick<ErrandRoom, "company" | "tell">) =>
  Effect.gen(function*() {
    const given = yield* company
    const { model, provider } = yield* given.agent.selection
    const name = `${provider}/${model}`
    const began = yield* Clock.currentTimeMillis
    yield* Effect.gen(function*() {
      const choice = yield* given.model({ provider, model })
      yield* LanguageModel.streamText({ prompt: question }).pipe(
        Stream.runDrain,
        Effect.provide(choice.layer),
        Effect.provideService(RequestLimits, { maxOutputTokens: most }),
        Effect.provideService(Thinking, undefined),
        Effect.mapError((error) => ({ message: accountOf(error) }))
      )
    }).pipe(
      Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.fail({ message: `no answer within ${patience}` }) }),
      Effect.flatMap(() => Effect.flatMap(Clock.currentTimeMillis, (now) => tell(`${name} answered in ${((now - began) / 1_000).toFixed(1)} s.`))),
      Effect.catch(({ message }) => tell(`${name}: ${message}`, "error"))
    )
  })
