/** The parts of an AI SDK answer stream, turned into Effect's, a chunk at a time. No I/O. */
import { Result } from "effect"
import type * as Response from "effect/ai/Response"
import type { AiStreamPart } from "./Model.ts"

type Part = Response.StreamPartEncoded
type Metadata = Response.ProviderMetadata
type Finish = Extract<AiStreamPart, { type: "finish" }>
type Draft<P> = { -readonly [K in keyof P]: P[K] }

/** How the stream ended, as far as it has. */
export type Ending =
  | { readonly _tag: "Finished" }
  | { readonly _tag: "Failed"; readonly error: unknown }
  | { readonly _tag: "Cut" }

/** Takes the parts of one answer in order. */
export interface PartsDecoder {
  /** The Effect parts of a chunk; may be empty. After an ending nothing more comes out. */
  readonly push: (parts: ReadonlyArray<AiStreamPart>) => Array<Part>
  /** Whether, and how, the answer has ended. */
  readonly ending: () => Ending | undefined
}

/** JSON only: what cannot be stored in a session (`undefined`, functions) is dropped. */
const json = (metadata: object | undefined): Metadata | undefined =>
  metadata === undefined ? undefined : JSON.parse(JSON.stringify(metadata)) as Metadata

const withMetadata = (metadata: Metadata | undefined) =>
  metadata === undefined || Object.keys(metadata).length === 0 ? {} : { metadata }

/** Two records of options by provider; the second wins key by key. */
const merge = (left: Metadata | undefined, right: Metadata | undefined): Metadata | undefined => {
  if (left === undefined || right === undefined) return left ?? right
  const merged = { ...left }
  for (const [provider, options] of Object.entries(right)) {
    const before = merged[provider]
    merged[provider] = isRecord(before) && isRecord(options) ? { ...before, ...options } : options
  }
  return merged as Metadata
}

const isRecord = (value: unknown): value is Metadata[string] & object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const count = (tokens: number | undefined): number | undefined =>
  tokens !== undefined && Number.isSafeInteger(tokens) ? tokens : undefined

const usage = ({ inputTokens, outputTokens }: Finish["usage"]): typeof Response.Usage.Encoded => ({
  inputTokens: {
    uncached: count(inputTokens.noCache),
    total: count(inputTokens.total),
    cacheRead: count(inputTokens.cacheRead),
    cacheWrite: count(inputTokens.cacheWrite)
  },
  outputTokens: { total: count(outputTokens.total), text: count(outputTokens.text), reasoning: count(outputTokens.reasoning) }
})

/** The parameters of a call: parsed, or the text as it came together with why it is not JSON. */
const parameters = (input: string): { readonly params: unknown; readonly problem?: string } => {
  if (input.trim() === "") return { params: {} }
  const parsed = Result.try(() => JSON.parse(input) as unknown)
  return Result.isSuccess(parsed)
    ? { params: parsed.success }
    : { params: input, problem: parsed.failure instanceof Error ? parsed.failure.message : String(parsed.failure) }
}

const toolCall = (part: Extract<AiStreamPart, { type: "tool-call" }>, grammars: ReadonlyMap<string, string>): Part => {
  const property = grammars.get(part.toolName)
  const { params: sent, problem } = parameters(part.input)
  const params = property !== undefined && typeof sent === "string" ? { [property]: sent } : sent
  const metadata = merge(json(part.providerMetadata), problem === undefined ? undefined : { nimlet: { parseError: problem } })
  return { type: "tool-call", id: part.toolCallId, name: part.toolName, params, ...withMetadata(metadata) }
}

/**
 * Why the arguments of a tool call are not JSON, or `undefined` when they are. Such a call carries the text the model
 * sent as its `params`, a string; it must get an error result and never run.
 */
export const toolCallParseError = (call: { readonly metadata: { readonly [key: string]: unknown } }): string | undefined => {
  const own = call.metadata["nimlet"]
  return isRecord(own) && "parseError" in own && typeof own.parseError === "string" ? own.parseError : undefined
}

/**
 * Makes a decoder for one answer. Rules:
 * - neighbouring deltas of one block in a chunk become one; empty ones vanish; a block's metadata (thinking signatures,
 *   item ids) is gathered and stands on its `-end` part;
 * - tool calls are held until a `finish` that is neither an error nor interrupted, then come right before it;
 * - an `error` part ends the answer, unless `ignore` takes it; parts of a kind not known here are skipped, and so is
 *   what a provider ran by itself.
 */
export const makePartsDecoder = ({ grammars = new Map(), ignore = () => false }: {
  /** Errors that are only events of a kind the SDK does not know. */
  readonly ignore?: ((error: unknown) => boolean) | undefined
  /** Name of a tool with a grammar → the property that what it wrote becomes. */
  readonly grammars?: ReadonlyMap<string, string>
} = {}): PartsDecoder => {
  const held: Array<Part> = []
  const gathered = new Map<string, Metadata>()
  const hosted = new Set<string>()
  let ending: Ending | undefined

  const gather = (key: string, metadata: object | undefined): void => {
    const merged = merge(gathered.get(key), json(metadata))
    if (merged !== undefined) gathered.set(key, merged)
  }
  const take = (key: string): Metadata | undefined => {
    const metadata = gathered.get(key)
    gathered.delete(key)
    return metadata
  }
  const delta = (out: Array<Draft<Part>>, type: "text-delta" | "reasoning-delta" | "tool-params-delta", id: string, text: string): void => {
    if (text === "") return
    const last = out.at(-1)
    if (last?.type === type && last.id === id) last.delta += text
    else out.push({ type, id, delta: text })
  }
  const finish = (part: Finish, out: Array<Part>): void => {
    const { raw, unified } = part.finishReason
    if (unified === "error") {
      ending = { _tag: "Failed", error: undefined }
      return
    }
    if (unified === "interrupted") {
      ending = { _tag: "Cut" }
      return
    }
    ending = { _tag: "Finished" }
    out.push(...held, {
      type: "finish",
      // The SDK takes it for an end, and the model would have gone on.
      reason: raw === "pause_turn" ? "pause" : unified,
      usage: usage(part.usage),
      ...(raw === undefined ? {} : { metadata: { nimlet: { reason: raw } } })
    })
  }
  const one = (part: AiStreamPart, out: Array<Draft<Part>>): void => {
    switch (part.type) {
      case "text-start":
        gather(`text ${part.id}`, part.providerMetadata)
        out.push({ type: "text-start", id: part.id })
        return
      case "text-delta":
        return delta(out, "text-delta", part.id, part.delta)
      case "text-end":
        gather(`text ${part.id}`, part.providerMetadata)
        out.push({ type: "text-end", id: part.id, ...withMetadata(take(`text ${part.id}`)) })
        return
      case "reasoning-start":
        gather(`reasoning ${part.id}`, part.providerMetadata)
        out.push({ type: "reasoning-start", id: part.id })
        return
      case "reasoning-delta":
        gather(`reasoning ${part.id}`, part.providerMetadata)
        return delta(out, "reasoning-delta", part.id, part.delta)
      case "reasoning-end":
        gather(`reasoning ${part.id}`, part.providerMetadata)
        out.push({ type: "reasoning-end", id: part.id, ...withMetadata(take(`reasoning ${part.id}`)) })
        return
      case "tool-input-start":
        if (part.providerExecuted === true) hosted.add(part.id)
        else out.push({ type: "tool-params-start", id: part.id, name: part.toolName })
        return
      case "tool-input-delta":
        return hosted.has(part.id) ? undefined : delta(out, "tool-params-delta", part.id, part.delta)
      case "tool-input-end":
        if (!hosted.has(part.id)) out.push({ type: "tool-params-end", id: part.id })
        return
      case "tool-call":
        if (part.providerExecuted !== true) held.push(toolCall(part, grammars))
        return
      case "source":
        if (part.sourceType === "url") {
          out.push({ type: "source", sourceType: "url", id: part.id, url: part.url, title: part.title ?? part.url })
        }
        return
      case "response-metadata":
        out.push({ type: "response-metadata", id: part.id, modelId: part.modelId })
        return
      case "error":
        if (!ignore(part.error)) ending = { _tag: "Failed", error: part.error }
        return
      case "finish":
        return finish(part, out)
      default:
        return
    }
  }
  return {
    ending: () => ending,
    push: (parts) => {
      const out: Array<Part> = []
      for (const part of parts) {
        if (ending !== undefined) break
        one(part, out)
      }
      return out
    }
  }
}
