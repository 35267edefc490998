/**
 * A language model of the AI SDK as an `effect/ai` `LanguageModel`. The SDK's own loop, retries and tools are
 * not used: one request in, one stream of parts out.
 */
import { Cause, Clock, Duration, Effect, Layer, type Result, Stream } from "effect"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Response from "effect/ai/Response"
import { cutShort, toAiError } from "./AiSdk/Failure.ts"
import type { AiPrompt, AiProviderOptions, AiSdkModel, AiStream, AiStreamPart, AiTool, CallOptions, Fetch } from "./AiSdk/Model.ts"
import { makePartsDecoder } from "./AiSdk/Parts.ts"
import { makeAiPrompt, type PromptStyle, withGrammars } from "./AiSdk/Prompt.ts"
import { makeAiTools, type SaidTools, toAiToolChoice, type ToolStyle } from "./AiSdk/Tools.ts"
import { makeHookedFetch } from "./HookedFetch.ts"
import type { ModelCompat } from "./ModelInfo.ts"
import { RequestLimits } from "./RequestLimits.ts"
import * as StreamedModel from "./StreamedModel.ts"
import { clampThinking, Thinking, type ThinkingLevel, thinkingLevels } from "./Thinking.ts"

/** A prompt and the tools beside it, as they are sent. */
export interface Said {
  readonly prompt: AiPrompt
  readonly tools: Array<AiTool>
}

/** One provider of the AI SDK, loaded: `providers/*.ts` make these. */
export interface Connection extends Pick<ToolStyle, "strictness" | "grammarTool"> {
  /** Makes the SDK's model around the `fetch` of one request. */
  readonly model: (fetch: Fetch) => AiSdkModel
  readonly toolImages?: PromptStyle["toolImages"]
  readonly laterSystem?: PromptStyle["laterSystem"]
  /** A last change of what is sent, such as cache marks. */
  readonly decorate?: (said: Said) => Said
  /** Errors inside a stream that are only events of a kind this version of the SDK does not know. */
  readonly ignore?: (error: unknown) => boolean
  readonly providerOptions?: AiProviderOptions
}

/** An AI SDK model and how to speak to it. */
export interface AiSdkOptions {
  /** Names for errors and hooks. */
  readonly provider: string
  readonly model: string
  /** The way to the provider; run with the first request. */
  readonly connect: Effect.Effect<Connection>
  /** Whether the model takes images; default true. */
  readonly images?: boolean
  /** Longest silence on the connection; default 300 s. */
  readonly requestTimeout?: Duration.Input
  readonly maxOutputTokens?: number
  /** The levels of thinking it has; default all, and the provider makes of it what it can. */
  readonly thinkingLevels?: ReadonlyArray<ThinkingLevel>
  /** Special tools that the model takes; default none. */
  readonly compat?: ModelCompat
  readonly providerOptions?: AiProviderOptions
  /** What sends requests; default the platform's `fetch`. */
  readonly fetch?: Fetch
}

/** No more than this many parts are handed on at once. */
const CHUNK = 1024

/** How long the end of the body is waited for once the answer is whole. */
const DRAIN = Duration.seconds(1)

interface Chunk {
  readonly parts: ReadonlyArray<AiStreamPart>
  readonly done: boolean
}

/**
 * Reads a stream a macrotask at a time: everything that one network read brings has passed the SDK's transforms before
 * `setImmediate` runs. Reads only when asked, but for the one read left open, so a slow taker slows the connection.
 */
// Foreign edge: the SDK's stream is a web stream, read by promises.
const chunkReader = (stream: AiStream): () => Promise<Chunk> => {
  const reader = stream.getReader()
  let open: ReturnType<typeof reader.read> | undefined
  return () =>
    new Promise((resolve, reject) => {
      const parts: Array<AiStreamPart> = []
      let settled = false
      const settle = (done: boolean) => {
        if (settled) return
        settled = true
        resolve({ parts, done })
      }
      const take = (): void => {
        open ??= reader.read()
        open.then((result) => {
          // The read came too late for this chunk: it stays open for the next.
          if (settled) return
          open = undefined
          if (result.done) return settle(true)
          if (parts.push(result.value) === 1) setImmediate(settle, false)
          if (parts.length >= CHUNK) settle(false)
          else take()
        }, (error) => {
          if (settled) return
          // What came before the error is handed on first; the open read fails again at the next call.
          if (parts.length > 0) return settle(false)
          settled = true
          reject(error)
        })
      }
      take()
    })
}

/** Options of one provider, the user's over ours, key by key. */
const mergeOptions = (ours: AiProviderOptions = {}, theirs: AiProviderOptions = {}): AiProviderOptions =>
  Object.fromEntries([...new Set([...Object.keys(ours), ...Object.keys(theirs)])].map((name) => [name, { ...ours[name], ...theirs[name] }]))

/** A connection that was made, and how prompts are said to it. */
interface Line extends Connection {
  readonly silence: Duration.Duration
  readonly say: (prompt: LanguageModel.ProviderOptions["prompt"]) => AiPrompt
  readonly offer: (tools: LanguageModel.ProviderOptions["tools"]) => Result.Result<SaidTools, string>
}

const openLine = (options: AiSdkOptions): Effect.Effect<Line> =>
  Effect.map(options.connect, (connection) => ({
    ...connection,
    silence: Duration.fromInputUnsafe(options.requestTimeout ?? "300 seconds"),
    say: makeAiPrompt({
      ...(options.images === undefined ? {} : { images: options.images }),
      ...(connection.toolImages === undefined ? {} : { toolImages: connection.toolImages }),
      ...(connection.laterSystem === undefined ? {} : { laterSystem: connection.laterSystem })
    }),
    offer: makeAiTools({ ...connection, ...(options.compat === undefined ? {} : { compat: options.compat }) })
  }))

/** The level in the SDK's words; nothing is said to a model that does not think. */
const reasoningOf = (wanted: ThinkingLevel | undefined, levels: ReadonlyArray<ThinkingLevel> = thinkingLevels): Pick<CallOptions, "reasoning"> => {
  if (wanted === undefined || levels.every((level) => level === "off")) return {}
  const level = clampThinking(wanted, levels)
  return { reasoning: level === "off" ? "none" : level }
}

const callOptions = (
  options: AiSdkOptions,
  connection: Line,
  request: LanguageModel.ProviderOptions,
  { grammars, tools: offered }: SaidTools,
  { limits, thinking }: { readonly limits: RequestLimits; readonly thinking: ThinkingLevel | undefined },
  signal: AbortSignal
): CallOptions => {
  const maxOutputTokens = Math.min(options.maxOutputTokens ?? Infinity, limits.maxOutputTokens ?? Infinity)
  const said = { prompt: withGrammars(connection.say(request.prompt), grammars), tools: offered }
  const { prompt, tools } = connection.decorate === undefined ? said : connection.decorate(said)
  return {
    prompt,
    abortSignal: signal,
    ...(tools.length === 0 ? {} : { tools, toolChoice: toAiToolChoice(request.toolChoice) }),
    ...(maxOutputTokens === Infinity ? {} : { maxOutputTokens }),
    ...reasoningOf(thinking, options.thinkingLevels),
    providerOptions: mergeOptions(connection.providerOptions, options.providerOptions)
  }
}

/** Its request: one HTTP exchange, aborted when the stream's scope closes, whether it ended, failed or was interrupted. */
const request = Effect.fnUntraced(function*(options: AiSdkOptions, line: Effect.Effect<Line>, asked: LanguageModel.ProviderOptions) {
  const controller = new AbortController()
  const abort = Effect.sync(() => controller.abort())
  // An exchange that was read to its end has nothing left to abort.
  let leave: Effect.Effect<unknown> = abort
  yield* Effect.addFinalizer(() => leave)
  const connection = yield* line
  const wishes = { limits: yield* RequestLimits, thinking: yield* Thinking }
  const hooked = yield* makeHookedFetch({
    provider: options.provider,
    model: options.model,
    requestTimeout: connection.silence,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch })
  })
  const clock = yield* Clock.Clock
  const fail = (error: unknown): AiError.AiError =>
    toAiError(error, { provider: options.provider, url: hooked.url(), answered: hooked.answered(), now: clock.currentTimeMillisUnsafe() })
  // A silent connection is aborted with the error as its reason; the SDK hands that on, and `toAiError` finds it again.
  yield* Effect.forkScoped(Effect.catch(hooked.watch, (error) => Effect.sync(() => controller.abort(error))))
  const offered = yield* Effect.mapError(Effect.fromResult(connection.offer(asked.tools)), (description) =>
    AiError.make({ module: options.provider, method: "streamText", reason: new AiError.UnsupportedSchemaError({ description }) }))
  const answer = yield* Effect.tryPromise({
    try: () => connection.model(hooked.fetch).doStream(callOptions(options, connection, asked, offered, wishes, controller.signal)),
    catch: fail
  })
  const next = chunkReader(answer.stream)
  const decoder = makePartsDecoder({ ignore: connection.ignore, grammars: offered.grammars })
  const read = Effect.tryPromise({ try: next, catch: fail })
  const cut = (what: string) => Effect.fail(AiError.make({ module: options.provider, method: "streamText", reason: cutShort(what) }))

  // The end of the body leaves the connection usable for the next step. It is read behind the answer's back, detached since
  // nobody waits for it, and for a limited time, since a server may keep it open.
  const drain: Effect.Effect<void, AiError.AiError> = Effect.flatMap(read, ({ done }) => done ? Effect.void : drain)
  const readOn = Effect.suspend(() => Effect.forkDetach(Effect.catch(Effect.timeout(drain, DRAIN), () => abort)))

  let over: Effect.Effect<never, AiError.AiError | Cause.Done> | undefined
  const ended = (done: boolean): Effect.Effect<never, AiError.AiError | Cause.Done> | undefined => {
    const ending = decoder.ending()
    switch (ending?._tag) {
      case undefined:
        return done ? cut("the answer ended before it was finished") : undefined
      case "Finished":
        leave = done ? Effect.void : readOn
        return Cause.done()
      case "Cut":
        return cut("the answer was cut off")
      case "Failed":
        return ending.error === undefined ? cut("the provider ended the answer with an error") : Effect.fail(fail(ending.error))
    }
  }
  const pull: Effect.Effect<Chunked, AiError.AiError | Cause.Done> = Effect.suspend(() =>
    over ?? Effect.flatMap(read, ({ done, parts }) => {
      const [first, ...rest] = decoder.push(parts)
      over = ended(done)
      return first === undefined ? pull : Effect.succeed([first, ...rest])
    })
  )
  return Stream.fromPull(Effect.succeed(pull))
})

type Chunked = readonly [Response.StreamPartEncoded, ...Array<Response.StreamPartEncoded>]

/**
 * Makes the model. What holds for its streams:
 * - parts of one network read come in one chunk, neighbouring deltas of one block joined (see `PartsDecoder`);
 * - interrupting the taker aborts the HTTP request; a slow taker slows the connection;
 * - the stream fails with `AiError` (`toAiError` has the table); an answer that ends without a true finish is an
 *   `InvalidOutputError`, and its tool calls never come out;
 * - nothing is retried here: see `Retry`.
 *
 * Ask it with `disableToolCallResolution: true, toolCallValidation: "deferred"`: calls then come out as the model made
 * them, undeclared names and text that is no JSON (`toolCallParseError`) included. Measured at 20,000 deltas,
 * decoding each part by Schema once more cost 1.7 us of 3.3: see `StreamedModel` for why it is left out.
 */
export const make = (options: AiSdkOptions): Effect.Effect<LanguageModel.LanguageModel> => {
  let opened: Line | undefined
  const line = Effect.suspend(() =>
    opened === undefined ? Effect.tap(openLine(options), (made) => Effect.sync(() => (opened = made))) : Effect.succeed(opened))
  const streamText = (asked: LanguageModel.ProviderOptions) => Stream.unwrap(request(options, line, asked))
  return StreamedModel.make(streamText)
}

/** `make` as a layer. */
export const layer = (options: AiSdkOptions): Layer.Layer<LanguageModel.LanguageModel> =>
  Layer.effect(LanguageModel.LanguageModel, make(options))
