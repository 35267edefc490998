/** An agent in memory: a model that plays prepared answers, extensions that answer as told, and what came of it. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, Ref, Stream } from "effect"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Response from "effect/ai/Response"
import { CallFailed, Extensions, type ExtensionTool, Frontend, type FrontendShape, headless, Hooks } from "@nimlet/extension"
import type { AgentEvent, SessionEntry } from "@nimlet/protocol"
import { type Session, Sessions } from "@nimlet/session"
import { type Tool, textResult } from "@nimlet/tools"
import { Agent, EventSink, type UserInput } from "../src/index.ts"

type Part = Response.StreamPartEncoded
/** What the model does when it is asked: it answers, fails, or hangs after what it said. */
export type Reply = ReadonlyArray<Part> | AiError.AiError | { readonly hangAfter: ReadonlyArray<Part> }

const finish = (reason: "stop" | "tool-calls" | "length"): Part => ({
  type: "finish",
  reason,
  usage: { inputTokens: { uncached: 3, total: 5, cacheRead: 2, cacheWrite: undefined }, outputTokens: { total: 7, text: undefined, reasoning: undefined } },
  response: undefined
})
const words = (text: string): ReadonlyArray<Part> => [
  { type: "text-start", id: "t" },
  { type: "text-delta", id: "t", delta: text },
  { type: "text-end", id: "t" }
]

/** An answer of text. */
export const says = (text: string): Reply => [...words(text), finish("stop")]
/** An answer that calls tools, one after the other; `id` defaults to the tool's name. */
export const calls = (...made: Array<{ readonly name: string; readonly args?: unknown; readonly id?: string }>): Reply => [
  ...made.map(({ args = {}, id, name }): Part => ({ type: "tool-call", id: id ?? name, name, params: args })),
  finish("tool-calls")
]
/** A model that says something and then nothing more. */
export const hangsAfter = (text: string): Reply => ({ hangAfter: words(text).slice(0, 2) })
/** A request the provider refuses. */
export const refuses = (reason: AiError.AiErrorReason): Reply => AiError.make({ module: "Test", method: "streamText", reason })

const playing = (replies: ReadonlyArray<Reply>, asked: Array<LanguageModel.ProviderOptions>) =>
  LanguageModel.make({
    generateText: () => Effect.die("not asked for"),
    streamText: (options) => {
      const reply = replies[asked.length] ?? says("(nothing prepared)")
      asked.push(options)
      if (AiError.isAiError(reply)) return Stream.fail(reply)
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

/** What a test sets. */
export interface RigOptions {
  readonly replies: ReadonlyArray<Reply>
  readonly tools?: ReadonlyArray<Tool>
  readonly only?: ReadonlyArray<string>
  readonly extensionTools?: ReadonlyArray<ExtensionTool>
  readonly frontend?: Partial<FrontendShape>
  readonly commands?: { readonly [name: string]: { readonly message?: string; readonly prompt?: string } }
  /** Replaces hooks; the default lets everything pass. `fired` gathers the names of all events. */
  readonly hooks?: Partial<Hooks["Service"]>
}

/** What a test sees. */
export interface Rig {
  readonly prompt: (typed: string, piped?: string) => Effect.Effect<{ readonly success: boolean; readonly text: string }>
  readonly agent: Agent["Service"]
  readonly session: Session
  readonly events: Array<AgentEvent>
  readonly asked: Array<LanguageModel.ProviderOptions>
  readonly fired: Array<{ readonly event: string; readonly payload: object }>
  readonly entries: Effect.Effect<ReadonlyArray<SessionEntry>>
}

/** Runs `body` with an agent as described. */
export const withAgent = <A, E>(options: RigOptions, body: (rig: Rig) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.scoped(Effect.gen(function*() {
    const events: Array<AgentEvent> = []
    const asked: Array<LanguageModel.ProviderOptions> = []
    const fired: Array<{ readonly event: string; readonly payload: object }> = []
    const session = yield* (yield* Sessions).create({ workspace: "/w", persist: false })

    const hooks = Hooks.of({
      subscribed: () => true,
      run: (event, payload) =>
        Effect.sync(() => {
          fired.push({ event, payload })
          return { _tag: "Continue", payload, changedBy: [] } as never
        }),
      ...options.hooks
    })
    const commands = options.commands ?? {}
    const extensions = Extensions.of({
      start: () => Effect.succeed({ started: [], warnings: [], missing: [] }),
      stop: Effect.void,
      restart: () => Effect.succeed(false),
      tools: Effect.succeed(options.extensionTools ?? []),
      commands: Effect.succeed(Object.keys(commands).map((name) => ({ name, description: "", whileBusy: false, extension: "test" }))),
      modes: Effect.succeed([]),
      providers: Effect.succeed([]),
      act: () => Effect.succeed(false),
      figures: Effect.succeed([]),
      changes: Stream.empty,
      callTool: (name) => Effect.succeed({ content: [{ type: "text", text: `${name} of an extension` }], isError: false }),
      prepare: (_, args) => Effect.succeed(args),
      invoke: () => Effect.void,
      runCommand: (name) => {
        const reply = commands[name.toLowerCase()]
        return reply === undefined ? Effect.fail(new CallFailed({ extension: "test", reason: "unknown" })) : Effect.succeed(reply)
      },
      subscribers: () => []
    })
    const layer = Agent.layer({
      session,
      provider: "test",
      model: "model-1",
      system: "be good",
      tools: options.tools ?? [],
      ...(options.only === undefined ? {} : { only: options.only })
    }).pipe(
      Layer.provide(Layer.succeed(Hooks, hooks)),
      Layer.provide(Layer.succeed(Extensions, extensions)),
      Layer.provide(Layer.effect(LanguageModel.LanguageModel, playing(options.replies, asked)))
    )
    const sink = EventSink.of({ publish: (event) => Effect.sync(() => void events.push(event)) })
    return yield* Effect.gen(function*() {
      const agent = yield* Agent
      const prompt = (typed: string, piped?: string) => {
        const input: UserInput = piped === undefined ? { typed } : { typed, piped }
        return agent.prompt(input).pipe(
          Effect.provideService(EventSink, sink),
          Effect.provideService(Frontend, { ...headless, ...options.frontend })
        )
      }
      const entries = Effect.map(session.entries, (all) => all as ReadonlyArray<SessionEntry>)
      return yield* body({ prompt, agent, session, events, asked, fired, entries })
    }).pipe(Effect.provide(layer))
  })).pipe(Effect.provide(Layer.provide(Sessions.layer("/nowhere"), NodeServices.layer)))

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
