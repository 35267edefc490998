/**
 * The embedded model that needs no key: it maps plain requests to real tool calls by rules, and says what it
 * is. It keeps no state: where it is in a request follows from the prompt, so a resumed session goes on rightly.
 */
import { Effect, Layer, Predicate, Stream } from "effect"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import { readPrompt, type Step } from "./Offline/Grammar.ts"
import { finalAnswer, helpText, type Outcome } from "./Offline/Report.ts"
import * as StreamedModel from "./StreamedModel.ts"

/** One line for the start of a run without a real model. */
export const offlineNotice =
  "offline: no API key found, answering by fixed rules. For a real model set ANTHROPIC_API_KEY, OPENAI_API_KEY or OPENROUTER_API_KEY, or put a key into ~/.nimlet/auth.json."

/**
 * Options for a text part of a user message: whether a person typed it (or gave it on the command line), as against
 * piped text, file contents and the like. The offline model matches typed text only. In a message without any such
 * mark the first text part counts as typed.
 */
export const typed = (byHand: boolean): Prompt.ProviderOptions => ({ nimlet: { typed: byHand } })

const mark = (part: Prompt.TextPart): boolean | undefined => {
  const own = part.options["nimlet"]
  return Predicate.hasProperty(own, "typed") && typeof own.typed === "boolean" ? own.typed : undefined
}

/**
 * The user message that is being worked on: the last one in which something may have been typed, with no answer to it yet.
 * What programs add after it is no request. -1 when there is none.
 */
const lastTyped = (prompt: Prompt.Prompt): number => {
  const answered = prompt.content.findLastIndex((message) => message.role === "assistant" && message.content.every((part) => part.type !== "tool-call"))
  const typed = prompt.content.findLastIndex((message) => message.role === "user" && message.content.some((part) => part.type === "text" && mark(part) !== false))
  return typed > answered ? typed : -1
}

/** The typed text that is being worked on; empty when there is none. */
export const typedText = (prompt: Prompt.Prompt): string => {
  const last = prompt.content[lastTyped(prompt)]
  const parts = last?.role === "user" ? last.content.filter((part) => part.type === "text") : []
  const marked = parts.filter((part) => mark(part) === true)
  if (marked.length > 0) return marked.map((part) => part.text).join("\n")
  return parts.find((part) => mark(part) === undefined)?.text ?? ""
}

const outcome = (part: Prompt.ToolResultPart): Outcome => ({
  failed: part.isFailure,
  text: part.modelOutput !== undefined
    ? part.modelOutput.map((item) => item.type === "text" ? item.text : `[${item.mediaType}]`).join("\n")
    : typeof part.result === "string" ? part.result : JSON.stringify(part.result ?? null)
})

/** The results that came after it. */
const outcomes = (prompt: Prompt.Prompt): ReadonlyArray<Outcome> => {
  return prompt.content.slice(lastTyped(prompt) + 1).flatMap((message) =>
    message.role === "tool" ? message.content.flatMap((part) => part.type === "tool-result" ? [outcome(part)] : []) : [])
}

const callsSoFar = (prompt: Prompt.Prompt): number =>
  prompt.content.reduce((sum, message) =>
    sum + (message.role === "assistant" ? message.content.filter((part) => part.type === "tool-call").length : 0), 0)

/** What it does next: one call, or the answer that ends the turn. */
export type Move =
  | { readonly _tag: "Call"; readonly step: Step; readonly id: string }
  | { readonly _tag: "Say"; readonly text: string }

/** Decides the next move from the prompt and the names of the tools on offer. Pure. */
export const nextMove = (prompt: Prompt.Prompt, tools: ReadonlyArray<string>): Move => {
  const reading = readPrompt(typedText(prompt))
  if (reading._tag === "Unknown") return { _tag: "Say", text: helpText(reading.clause) }
  const { steps } = reading
  const done = outcomes(prompt)
  const next = steps[done.length]
  if (next === undefined || done.at(-1)?.failed === true) return { _tag: "Say", text: finalAnswer(steps, done) }
  return tools.includes(next.tool)
    ? { _tag: "Call", step: next, id: `offline_${callsSoFar(prompt) + 1}` }
    : { _tag: "Say", text: finalAnswer(steps, done, next.tool) }
}

const PIECES = 6

/** A text in a few pieces, cut at line ends. */
const pieces = (text: string): ReadonlyArray<string> => {
  const lines = text.split(/(?<=\n)/)
  const size = Math.ceil(lines.length / PIECES)
  return Array.from({ length: Math.ceil(lines.length / size) }, (_, index) => lines.slice(index * size, (index + 1) * size).join(""))
}

const finish = (reason: Response.FinishReason): Response.StreamPartEncoded => ({
  type: "finish",
  reason,
  usage: { inputTokens: { total: 0 }, outputTokens: { total: 0 } }
})

const respond = (move: Move): Stream.Stream<Response.StreamPartEncoded> =>
  move._tag === "Call"
    ? Stream.make<Array<Response.StreamPartEncoded>>(
      { type: "tool-call", id: move.id, name: move.step.tool, params: move.step.args },
      finish("tool-calls")
    )
    : Stream.fromArrays<Array<Array<Response.StreamPartEncoded>>>(
      [{ type: "text-start", id: "0" }],
      ...pieces(move.text).map((delta): Array<Response.StreamPartEncoded> => [{ type: "text-delta", id: "0", delta }]),
      [{ type: "text-end", id: "0" }, finish("stop")]
    )

/** The model. It never fails; tools it would need and is not offered it names in its answer. */
export const make: Effect.Effect<LanguageModel.LanguageModel> = Effect.suspend(() => {
  const streamText = ({ prompt, tools }: LanguageModel.ProviderOptions) =>
    Stream.suspend(() => respond(nextMove(prompt, tools.map((tool) => tool.name))))
  return StreamedModel.make(streamText)
})

/** `make` as a layer. */
export const layer: Layer.Layer<LanguageModel.LanguageModel> = Layer.effect(LanguageModel.LanguageModel, make)
