/** A model that plays a script: deterministic answers for tests, demonstrations and benchmarks. */
import { Array as Arr, Cause, Clock, Effect, FileSystem, Layer, Ref, Stream } from "effect"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Response from "effect/ai/Response"
import { reasonFromStatus } from "./AiSdk/Failure.ts"
import { ScriptInvalid } from "./ProviderError.ts"
import { parseScript, type Script, type ScriptStep } from "./Scripted/Script.ts"
import * as StreamedModel from "./StreamedModel.ts"

type Part = Response.StreamPartEncoded
type Parts = Stream.Stream<Part, AiError.AiError>

const deltasOf = (step: ScriptStep): ReadonlyArray<string> => {
  if (step.deltas === undefined) return step.text === undefined ? [] : [step.text]
  return typeof step.deltas === "number" ? Array.from({ length: step.deltas }, () => step.text ?? "word ") : step.deltas
}

/** Chunks handed on one by one, with a pause between two. */
const paced = (chunks: ReadonlyArray<Arr.NonEmptyReadonlyArray<Part>>, pause: number): Stream.Stream<Part> =>
  Stream.fromPull(Effect.sync(() => {
    let at = 0
    return Effect.suspend(() => {
      const chunk = chunks[at++]
      if (chunk === undefined) return Cause.done()
      return at > 1 && pause > 0 ? Effect.as(Effect.sleep(pause), chunk) : Effect.succeed(chunk)
    })
  }))

const block = (type: "text" | "reasoning", deltas: ReadonlyArray<string>, size: number, pause: number): Stream.Stream<Part> => {
  if (deltas.length === 0) return Stream.empty
  const chunks = Arr.chunksOf(deltas.map((delta): Part => ({ type: `${type}-delta`, id: type, delta })), size)
  return Stream.make<Array<Part>>({ type: `${type}-start`, id: type }).pipe(
    Stream.concat(paced(chunks, pause)),
    Stream.concat(Stream.make<Array<Part>>({ type: `${type}-end`, id: type }))
  )
}

const callsOf = (step: ScriptStep, request: number): ReadonlyArray<Part> =>
  [...(step.tool === undefined ? [] : [{ name: step.tool, args: step.args }]), ...(step.tools ?? [])].map((call, index): Part => ({
    type: "tool-call",
    id: "id" in call && call.id !== undefined ? call.id : `script_${request}_${index + 1}`,
    name: call.name,
    params: call.args ?? {},
    ...(typeof call.args === "string" ? { metadata: { nimlet: { parseError: "not a JSON object" } } } : {})
  }))

const usageOf = (step: ScriptStep): typeof Response.Usage.Encoded => {
  const { cache_read = 0, cache_write = 0, input = 0, output = 0 } = step.usage ?? {}
  return {
    inputTokens: { total: input, uncached: Math.max(0, input - cache_read - cache_write), cacheRead: cache_read, cacheWrite: cache_write },
    outputTokens: { total: output }
  }
}

const failure = (error: NonNullable<ScriptStep["error"]>): Effect.Effect<never, AiError.AiError> =>
  Clock.clockWith((clock) => {
    const { message, retry_after = undefined, status = undefined } = typeof error === "string" ? { message: error } : error
    const reason = status === undefined
      ? new AiError.UnknownError({ description: message })
      : reasonFromStatus({
        status,
        description: message,
        headers: retry_after === undefined ? {} : { "retry-after": String(retry_after) },
        now: clock.currentTimeMillisUnsafe()
      })
    return Effect.fail(AiError.make({ module: "scripted", method: "streamText", reason }))
  })

const play = (step: ScriptStep, request: number): Parts => {
  const calls = callsOf(step, request)
  const finish: Part = { type: "finish", reason: step.finish ?? (calls.length > 0 ? "tool-calls" : "stop"), usage: usageOf(step) }
  const answer = block("reasoning", step.thinking === undefined ? [] : [step.thinking], 1, 0).pipe(
    Stream.concat(block("text", deltasOf(step), step.chunk ?? 1, step.chunk_delay_ms ?? 0)),
    // As with a real provider, the calls of an answer that fails never come out.
    Stream.concat(step.error === undefined ? Stream.fromArray([...calls, finish]) : Stream.fromEffect(failure(step.error)))
  )
  return step.delay_ms === undefined ? answer : Stream.concat(Stream.drain(Stream.fromEffect(Effect.sleep(step.delay_ms))), answer)
}

const ended = (steps: number, request: number): string =>
  `the script has ended: it has ${steps === 1 ? "1 step" : `${steps} steps`}, one a request, and this is request ${request}`

const written = (script: Script): ReadonlyArray<ScriptStep> =>
  script.steps.flatMap((step) => Array.from({ length: step.repeat ?? 1 }, () => step))

/**
 * A model that plays `script`, one step a request, from its start. Retries are requests too, and a request after the last
 * step fails, for good.
 */
export const make = Effect.fnUntraced(function*(script: Script) {
  const steps = written(script)
  const requests = yield* Ref.make(0)
  const streamText = (): Parts =>
    Stream.unwrap(Effect.map(Ref.updateAndGet(requests, (n) => n + 1), (request) => play(steps[request - 1] ?? { error: ended(steps.length, request) }, request)))
  return yield* StreamedModel.make(streamText)
})

/** Reads a script from a file. Fails with `ScriptInvalid`. */
export const readScript = Effect.fnUntraced(function*(file: string): Effect.fn.Return<Script, ScriptInvalid, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const text = yield* Effect.mapError(
    fs.readFileString(file),
    (error) => new ScriptInvalid({ file, problem: `cannot be read: ${error.reason._tag}` })
  )
  return yield* parseScript(text, file)
})

/** `make` as a layer. */
export const layer = (script: Script): Layer.Layer<LanguageModel.LanguageModel> => Layer.effect(LanguageModel.LanguageModel, make(script))
