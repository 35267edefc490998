/** An agent in memory: a model that plays prepared answers, extensions that answer as told, and what came of it. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, FileSystem, Layer, Ref, Stream } from "effect"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Response from "effect/ai/Response"
import {
  CallFailed, type CommandReply, Diagnostics, Extensions, type ExtensionMode, type ExtensionTool, Frontend, type FrontendShape, headless, type HookOptions, type HookOutcome, Hooks,
  SessionAccess, type SessionAccessShape, type StartOptions, type StartReport
} from "@nimlet/extension"
import { type AgentEvent, type CommandContext, type HookName, type HookPayload, moduleEvents, type SessionEntry } from "@nimlet/protocol"
import { type Session, Sessions } from "@nimlet/session"
import { type Tool, textResult } from "@nimlet/tools"
import { Agent, type AgentOptions, type Compacted, type CompactionSettings, EventSink, type ModelChoice, type RequiredExtensionMissing, type RunResult, type UserInput } from "../src/index.ts"

type Part = Response.StreamPartEncoded
/** What the model does when it is asked: it answers, fails, or hangs after what it said. */
export type Reply = ReadonlyArray<Part> | AiError.AiError | { readonly hangAfter: ReadonlyArray<Part> } | { readonly breakAfter: ReadonlyArray<Part>; readonly error: AiError.AiError }

const finish = (reason: "stop" | "tool-calls" | "length" | "content-filter" | "pause", input = 5): Part => ({
  type: "finish",
  reason,
  usage: { inputTokens: { uncached: input - 2, total: input, cacheRead: 2, cacheWrite: undefined }, outputTokens: { total: 7, text: undefined, reasoning: undefined } },
  response: undefined
})
const words = (text: string): ReadonlyArray<Part> => [
  { type: "text-start", id: "t" },
  { type: "text-delta", id: "t", delta: text },
  { type: "text-end", id: "t" }
]

/** An answer of text; the provider counts `input` tokens for its request. */
export const says = (text: string, input?: number): Reply => [...words(text), finish("stop", input)]
/** An answer of text that does not end by itself. */
export const cutShort = (text: string, reason: "length" | "content-filter" | "pause"): Reply => [...words(text), finish(reason)]
/** An answer that breaks off behind its text. */
export const breaksAfter = (text: string, reason: AiError.AiErrorReason): Reply => ({ breakAfter: words(text).slice(0, 2), error: AiError.make({ module: "Test", method: "streamText", reason }) })
/** An answer that calls tools, one after the other; `id` defaults to the tool's name. */
export const calls = (...made: Array<{ readonly name: string; readonly args?: unknown; readonly id?: string }>): Reply => [
  ...made.map(({ args = {}, id, name }): Part => ({ type: "tool-call", id: id ?? name, name, params: args })),
  finish("tool-calls")
]
/** An answer that says something and then calls tools. */
export const saysAndCalls = (text: string, ...names: ReadonlyArray<string>): Reply => [
  ...words(text),
  ...names.map((name): Part => ({ type: "tool-call", id: name, name, params: {} })),
  finish("tool-calls")
]
/** A model that says something and then nothing more. */
export const hangsAfter = (text: string): Reply => ({ hangAfter: words(text).slice(0, 2) })
/** A request the provider refuses. */
export const refuses = (reason: AiError.AiErrorReason): Reply => AiError.make({ module: "Test", method: "streamText", reason })

/** The answers in order, or one for each request. */
export type Replies = ReadonlyArray<Reply> | ((request: LanguageModel.ProviderOptions) => Reply)

const playing = (replies: Replies, asked: Array<LanguageModel.ProviderOptions>) =>
  LanguageModel.make({
    generateText: () => Effect.die("not asked for"),
    streamText: (options) => {
      const reply = typeof replies === "function" ? replies(options) : replies[asked.length] ?? says("(nothing prepared)")
      asked.push(options)
      if (AiError.isAiError(reply)) return Stream.fail(reply)
      if ("breakAfter" in reply) return Stream.concat(Stream.fromIterable(reply.breakAfter), Stream.fail(reply.error))
      return "hangAfter" in reply ? Stream.concat(Stream.fromIterable(reply.hangAfter), Stream.never) : Stream.fromIterable(reply)
    }
  })

/** A tool for tests; by default it changes something and answers its name. */
export const tool = (name: string, overrides: Partial<Tool> = {}): Tool => ({
  name,
  description: name,
  inputSchema: { type: "object" },
  capabilities: ["write"],
  run: () => Effect.succeed(textResult(`${name} ran`)),
  ...overrides
})

/** What an extension answers to one event, in place of letting it pass. */
export type Answers = { readonly [N in HookName]?: (payload: HookPayload<N>) => Partial<HookOutcome<N>> | Effect.Effect<Partial<HookOutcome<N>>> }

/** What a test sets. */
export interface RigOptions {
  readonly replies: Replies
  readonly tools?: ReadonlyArray<Tool>
  readonly only?: ReadonlyArray<string>
  readonly contextWindow?: number
  readonly compaction?: CompactionSettings
  /** What they all give back; a word of their own where it is not said. */
  readonly extensionText?: string
  readonly extensionTools?: ReadonlyArray<ExtensionTool>
  /** What becomes of calls of theirs, in place of `extensionText`. */
  readonly extensionCalls?: Partial<Pick<Extensions["Service"], "callTool" | "invoke" | "prepare">>
  readonly modes?: () => ReadonlyArray<ExtensionMode>
  readonly frontend?: Partial<FrontendShape>
  readonly commands?: { readonly [name: string]: CommandReply | Effect.Effect<CommandReply> }
  /** Those of them that may run beside a turn. */
  readonly whileBusy?: ReadonlyArray<string>
  /** Keeps sessions on a disk of their own, so that one can be gone on with. */
  readonly persist?: boolean
  /** More of the agent's options. With `extensions`, each start and stop is in `log`. */
  readonly agent?: Partial<AgentOptions>
  /** Chooses the model when extensions have started, in place of the one that plays `replies`. */
  readonly choose?: Effect.Effect<ModelChoice>
  /** What a start reports; default: nothing. Run for each start with its options. */
  readonly start?: (options: StartOptions) => Effect.Effect<Partial<StartReport>>
  readonly answers?: Answers
  /** Which events have a subscriber; default all but those of modules alone. */
  readonly subscribed?: (event: HookName) => boolean
  /** Replaces hooks; the default lets everything pass. `fired` gathers the names of all events. */
  readonly hooks?: Partial<Hooks["Service"]>
}

/** What a test sees. */
export interface Rig {
  readonly prompt: (typed: string, piped?: string) => Effect.Effect<RunResult>
  readonly compact: (instruction: string) => Effect.Effect<Compacted>
  readonly agent: Agent["Service"]
  readonly session: Session
  readonly events: Array<AgentEvent>
  readonly asked: Array<LanguageModel.ProviderOptions>
  readonly fired: Array<{ readonly event: string; readonly payload: object }>
  /** Names of events and `start`, `stop` of extensions, in order. */
  readonly log: Array<string>
  readonly hookOptions: Array<HookOptions | undefined>
  readonly contexts: Array<CommandContext | undefined>
  readonly diagnostics: Array<string>
  /** What the extensions that were started last may ask. */
  readonly access: () => SessionAccessShape
  /** Of the session that is open. */
  readonly entries: Effect.Effect<ReadonlyArray<SessionEntry>>
}

/** What starts extensions, for `agent.extensions`: none are found. */
export const noExtensions: StartOptions = {
  roots: [],
  paths: [],
  workspace: "",
  sessionId: "",
  trusted: false,
  mode: "text",
  logs: "/nowhere",
  environment: {},
  reservedTools: []
}

/** Runs `body` with an agent as described. */
export const withAgent = <A, E>(options: RigOptions, body: (rig: Rig) => Effect.Effect<A, E>): Effect.Effect<A, E | RequiredExtensionMissing> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => options.persist === true ? fs.makeTempDirectoryScoped().pipe(Effect.orDie) : Effect.succeed("/nowhere")).pipe(
    Effect.flatMap((folder) => Effect.provide(rigIn(options, body), Sessions.layer(folder))),
    Effect.scoped,
    Effect.provide(NodeServices.layer)
  )

const rigIn = <A, E>(options: RigOptions, body: (rig: Rig) => Effect.Effect<A, E>): Effect.Effect<A, E | RequiredExtensionMissing, Sessions> =>
  Effect.scoped(Effect.gen(function*() {
    const events: Array<AgentEvent> = []
    const asked: Array<LanguageModel.ProviderOptions> = []
    const fired: Array<{ readonly event: string; readonly payload: object }> = []
    const session = yield* (yield* Sessions).create({ workspace: "/w", persist: options.persist === true })
    const log: Array<string> = []
    const hookOptions: Array<HookOptions | undefined> = []
    const contexts: Array<CommandContext | undefined> = []
    const diagnostics: Array<string> = []
    let access = SessionAccess.defaultValue()

    const subscribed = options.subscribed ?? ((event: HookName) => !moduleEvents.includes(event))
    const hooks = Hooks.of({
      subscribed,
      run: <N extends HookName>(event: N, payload: HookPayload<N>, given?: HookOptions) =>
        Effect.suspend(() => {
          const pass = { _tag: "Continue", payload, changedBy: [] } as unknown as HookOutcome<N>
          if (!subscribed(event)) return Effect.succeed(pass)
          fired.push({ event, payload })
          log.push(event)
          hookOptions.push(given)
          const answer = options.answers?.[event]?.(payload)
          if (answer === undefined) return Effect.succeed(pass)
          return Effect.map(Effect.isEffect(answer) ? answer : Effect.succeed(answer), (changes) => ({ ...pass, ...changes }))
        }),
      ...options.hooks
    })
    const commands = options.commands ?? {}
    const extensions = Extensions.of({
      start: (given) =>
        Effect.gen(function*() {
          log.push("start")
          access = yield* SessionAccess
          return { started: [], warnings: [], missing: [], ...(yield* options.start?.(given) ?? Effect.succeed({})) }
        }),
      stop: Effect.sync(() => void log.push("stop")),
      restart: () => Effect.succeed(false),
  disable: () => Effect.succeed(false),
      tools: Effect.succeed(options.extensionTools ?? []),
      commands: Effect.succeed(Object.keys(commands).map((name) => ({ name, description: "", whileBusy: options.whileBusy?.includes(name) ?? false, extension: "test" }))),
      modes: Effect.sync(() => options.modes?.() ?? []),
      providers: Effect.succeed([]),
      act: () => Effect.succeed(false),
      figures: Effect.succeed([]),
      changes: Stream.empty,
      callTool: (name) => Effect.succeed({ content: [{ type: "text", text: options.extensionText ?? `${name} of an extension` }], isError: false }),
      prepare: (_, args) => Effect.succeed(args),
      invoke: () => Effect.void,
      runCommand: (name, _args, context) => {
        contexts.push(context)
        const reply = commands[name.toLowerCase()]
        if (reply === undefined) return Effect.fail(new CallFailed({ extension: "test", reason: "unknown" }))
        return Effect.isEffect(reply) ? reply : Effect.succeed(reply)
      },
      subscribers: () => [],
      ...options.extensionCalls
    })
    const agentOptions: AgentOptions = {
      session,
      provider: "test",
      model: "model-1",
      system: "be good",
      tools: options.tools ?? [],
      ...(options.contextWindow === undefined ? {} : { contextWindow: options.contextWindow }),
      ...(options.compaction === undefined ? {} : { compaction: options.compaction }),
      ...(options.only === undefined ? {} : { only: options.only }),
      ...options.agent
    }
    const layer = (options.choose === undefined ? Agent.layer(agentOptions) : Agent.layerChoosing(agentOptions, options.choose)).pipe(
      Layer.provide(Layer.succeed(Hooks, hooks)),
      Layer.provide(Layer.succeed(Extensions, extensions)),
      Layer.provide(Layer.effect(LanguageModel.LanguageModel, playing(options.replies, asked)))
    )
    const sink = EventSink.of({ publish: (event) => Effect.sync(() => void events.push(event)) })
    return yield* Effect.gen(function*() {
      const agent = yield* Agent
      const prompt = (typed: string, piped?: string) => {
        const input: UserInput = piped === undefined ? { typed } : { typed, piped }
        return agent.prompt(input)
      }
      const { compact } = agent
      const entries = agent.session.pipe(Effect.flatMap((open) => open.entries), Effect.map((all) => all as ReadonlyArray<SessionEntry>))
      return yield* body({
        prompt, compact, agent, session, events, asked, fired, log, hookOptions, contexts, diagnostics, access: () => access, entries
      })
    }).pipe(
      Effect.provide(layer),
      Effect.provideService(EventSink, sink),
      Effect.provideService(Frontend, { ...headless, interactive: options.frontend?.approve !== undefined, ...options.frontend }),
      Effect.provideService(Diagnostics, ({ message }) => Effect.sync(() => void diagnostics.push(message)))
    )
  }))

/** The types of events, in order, without deltas. */
export const shape = (events: ReadonlyArray<AgentEvent>): ReadonlyArray<string> =>
  events.map((event) => event.type).filter((type) => !type.endsWith("_delta"))

/** Lets forked fibers run until they wait for something. */
export const settle: Effect.Effect<void> = Effect.repeat(Effect.yieldNow, { times: 50 }).pipe(Effect.asVoid)

/** A counter of how many run at once, and the most there ever were. */
export const gauge = Effect.map(Ref.make({ now: 0, most: 0 }), (ref) => ({
  during: <A, E, R>(self: Effect.Effect<A, E, R>) =>
    Effect.acquireUseRelease(
      Ref.update(ref, ({ most, now }) => ({ now: now + 1, most: Math.max(most, now + 1) })),
      () => self,
      () => Ref.update(ref, ({ most, now }) => ({ now: now - 1, most }))
    ),
  most: Effect.map(Ref.get(ref), ({ most }) => most)
}))
