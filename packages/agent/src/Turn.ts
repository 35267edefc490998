/**
 * One model request: send the transcript, fold the stream of parts, hand deltas on as they come. What the model said is
 * returned only when the stream came to its true end; until then nothing of it is kept.
 */
import { Clock, Effect, Stream } from "effect"
import type { AiError } from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import { type AnswerDelta, type ContentPart, endsInHalf, type JsonObject, type RunPlace, type Usage } from "@nimlet/protocol"
import { Thinking, type ThinkingLevel, toolCallParseError } from "@nimlet/provider"
import { EventSink } from "./EventSink.ts"
import type { AnswerWatch } from "./ModuleEvents.ts"
import type { ToolSet } from "./ToolSet.ts"

/** A piece of an answer as it comes. */
export interface Piece {
  readonly kind: "text" | "thinking"
  readonly delta: string
}

/** What a request is made of. `step` counts the requests of a run from 0. */
export interface TurnRequest {
  readonly place: RunPlace
  readonly step: number
  readonly model: string
  /** How much it is to think; absent for as much as it does by itself. */
  readonly thinking?: ThinkingLevel | undefined
  readonly system: string
  readonly messages: ReadonlyArray<Prompt.Message>
  readonly tools: Pick<ToolSet, "toolkit">
  /** Tools are shown, since earlier messages speak of them, but none may be called. */
  readonly withoutCalls?: boolean
  /** Given each piece as it comes. */
  readonly came?: (piece: Piece) => void
  /** Given what had come of an answer that did not come to its end. */
  readonly left?: (content: ReadonlyArray<ContentPart>) => void
  /** Told of the answer as it comes. */
  readonly watch?: AnswerWatch | undefined
}

/** A finished answer. `model` is who answered; `duration_ms` is the time from request to end. */
export interface Answer {
  readonly content: ReadonlyArray<ContentPart>
  readonly model: string
  readonly usage: Usage | undefined
  readonly finish: Response.FinishReason
  readonly duration_ms: number
}

type Parts = ReadonlyArray<Response.AnyPart>
type Block = { readonly kind: "text" | "thinking"; readonly index: number; text: string; half: string; data: JsonObject | undefined }

const usageOf = (usage: Response.Usage): Usage | undefined => {
  const { inputTokens, outputTokens } = usage
  if (inputTokens.total === undefined && outputTokens.total === undefined) return undefined
  return {
    input_tokens: inputTokens.total ?? 0,
    output_tokens: outputTokens.total ?? 0,
    ...(inputTokens.cacheRead === undefined ? {} : { cache_read_tokens: inputTokens.cacheRead }),
    ...(inputTokens.cacheWrite === undefined ? {} : { cache_write_tokens: inputTokens.cacheWrite })
  }
}

const dataOf = (metadata: object | undefined): JsonObject | undefined =>
  metadata === undefined || Object.keys(metadata).length === 0 ? undefined : metadata as JsonObject

const signatureOf = (data: JsonObject | undefined): string => {
  for (const value of Object.values(data ?? {})) {
    if (typeof value === "object" && value !== null && "signature" in value && typeof value.signature === "string") return value.signature
  }
  return ""
}

const partOf = (block: Block): ReadonlyArray<ContentPart> => {
  const kept = block.data === undefined ? {} : { provider_data: block.data }
  if (block.kind === "thinking") return [{ type: "thinking", thinking: block.text, signature: signatureOf(block.data), ...kept }]
  return block.text === "" ? [] : [{ type: "text", text: block.text, ...kept }]
}

const isBlank = (input: unknown): boolean =>
  input === undefined || input === null || input === "" || (typeof input === "object" && Object.keys(input).length === 0)

/**
 * Folds the parts of one answer. `fold` takes a chunk, as one network read brought it, and returns what of it is worth
 * telling at once: neighbouring deltas of one kind are one delta, and a character whose halves come apart is told whole.
 */
export const makeFold = (asked: string) => {
  const blocks = new Map<string, Block>()
  const content: Array<Block | ContentPart> = []
  let model = asked
  let usage: Usage | undefined
  let finish: Response.FinishReason = "unknown"

  const open = (key: string, kind: Block["kind"], data: JsonObject | undefined): Block => {
    const block: Block = { kind, index: content.length, text: "", half: "", data }
    blocks.set(key, block)
    content.push(block)
    return block
  }
  const close = (key: string, data: JsonObject | undefined) => {
    const block = blocks.get(key)
    if (block !== undefined && data !== undefined) block.data = { ...block.data, ...data }
  }

  const fold = (parts: Parts): ReadonlyArray<AnswerDelta> => {
    const told: Array<AnswerDelta> = []
    const say = (kind: Block["kind"], key: string, delta: string) => {
      if (delta === "") return
      const block = blocks.get(key) ?? open(key, kind, undefined)
      const come = block.half + delta
      block.half = endsInHalf(come) ? come.slice(-1) : ""
      tell(block, come.slice(0, come.length - block.half.length).toWellFormed())
    }
    /** The half of a character that nothing more follows. */
    const end = (block: Block | undefined) => {
      if (block === undefined || block.half === "") return
      block.half = ""
      tell(block, "\ufffd")
    }
    const tell = (block: Block, delta: string) => {
      const { index, kind } = block
      if (delta === "") return
      block.text += delta
      const last = told.at(-1)
      if (last?.kind === kind && last.index === index) told[told.length - 1] = { ...last, delta: last.delta + delta }
      else told.push({ kind, index, delta })
    }
    for (const part of parts) {
      switch (part.type) {
        case "response-metadata":
          model = part.modelId ?? model
          break
        case "text-start":
          open(`text ${part.id}`, "text", dataOf(part.metadata))
          break
        case "text-delta":
          say("text", `text ${part.id}`, part.delta)
          break
        case "text-end":
          end(blocks.get(`text ${part.id}`))
          close(`text ${part.id}`, dataOf(part.metadata))
          break
        case "reasoning-start":
          open(`thinking ${part.id}`, "thinking", dataOf(part.metadata))
          break
        case "reasoning-delta":
          say("thinking", `thinking ${part.id}`, part.delta)
          close(`thinking ${part.id}`, dataOf(part.metadata))
          break
        case "reasoning-end":
          end(blocks.get(`thinking ${part.id}`))
          close(`thinking ${part.id}`, dataOf(part.metadata))
          break
        case "tool-call": {
          const data = dataOf(part.metadata)
          const problem = toolCallParseError(part)
          told.push({ kind: "tool_call", index: content.length, id: part.id, name: part.name, arguments: part.params })
          content.push({
            type: "tool_use",
            id: part.id,
            name: part.name,
            input: part.params,
            ...(problem === undefined ? {} : { parse_error: problem }),
            ...(part.providerExecuted === true ? { hosted: true } : {}),
            ...(data === undefined ? {} : { provider_data: data })
          })
          break
        }
        case "finish":
          for (const block of blocks.values()) end(block)
          usage = usageOf(part.usage)
          finish = part.reason
          break
        default:
          break
      }
    }
    return told
  }

  /** A call that the output limit cut before its arguments came looks like one without any. */
  const withoutHalf = (parts: ReadonlyArray<ContentPart>): ReadonlyArray<ContentPart> => {
    const last = parts.at(-1)
    if (finish !== "length" || last?.type !== "tool_use" || last.parse_error !== undefined || !isBlank(last.input)) return parts
    return [...parts.slice(0, -1), { ...last, parse_error: "the answer was cut off at the output limit before they came" }]
  }
  const answer = (): Omit<Answer, "duration_ms"> => ({
    content: withoutHalf(content.flatMap((item) => "kind" in item ? partOf(item) : [item])),
    model,
    usage,
    finish
  })
  return { fold, answer }
}

/**
 * Asks the model once. Fails with `AiError` when the provider refuses or the stream breaks off; deltas told until then
 * belong to no answer.
 */
export const askModel = Effect.fnUntraced(function*(
  request: TurnRequest
): Effect.fn.Return<Answer, AiError, LanguageModel.LanguageModel> {
  const { publish } = yield* EventSink
  const started = yield* Clock.currentTimeMillis
  const { answer, fold } = makeFold(request.model)
  const { model, place, step, watch } = request
  let begun = watch === undefined
  yield* LanguageModel.streamText({
    prompt: Prompt.fromMessages([Prompt.systemMessage({ content: request.system }), ...request.messages]),
    toolkit: request.tools.toolkit,
    ...(request.withoutCalls === true ? { toolChoice: "none" as const } : {}),
    disableToolCallResolution: true,
    toolCallValidation: "deferred"
  }).pipe(
    Stream.runForEachArray((parts) => {
      const deltas = fold(parts as Parts)
      const published = Effect.forEach(
        deltas,
        (one) => {
          if (one.kind === "tool_call") return Effect.void
          request.came?.({ kind: one.kind, delta: one.delta })
          return publish({ type: one.kind === "text" ? "message_delta" : "thinking_delta", ...place, step, delta: one.delta, model })
        },
        { discard: true }
      )
      if (watch === undefined) return published
      const watched = begun ? watch.grown(deltas) : Effect.andThen(watch.begun, watch.grown(deltas))
      begun = true
      return Effect.andThen(published, watched)
    }),
    Effect.provideService(Thinking, request.thinking),
    Effect.onError(() => Effect.sync(() => request.left?.(answer().content)))
  )
  return { ...answer(), duration_ms: (yield* Clock.currentTimeMillis) - started }
})
