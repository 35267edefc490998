/**
 * The agent: it takes what the user says, in words or as a slash command, and runs it in the session it has open. It knows
 * no terminal: events go to `EventSink`, questions to `Frontend`, and the model is whatever `LanguageModel` is provided.
 */
import { Context, Deferred, Effect, Layer, Scope, Semaphore, type Stream } from "effect"
import * as LanguageModel from "effect/ai/LanguageModel"
import { Extensions, type ExtensionTool, Hooks } from "@nimlet/extension"
import type { ContentPart, RunPlace } from "@nimlet/protocol"
import type { Session, Sessions, SessionUnwritable } from "@nimlet/session"
import { errorResult, type Files, type Tool } from "@nimlet/tools"
import type { RequiredExtensionMissing, SwitchRefused } from "./AgentError.ts"
import { makeCommandRunner } from "./CommandRunner.ts"
import { commandIn } from "./Commands.ts"
import type { Compacted, CompactionOptions } from "./Compaction.ts"
import { EventSink } from "./EventSink.ts"
import type { RunResult } from "./Loop.ts"
import type { Offer, QueueChange, Queued, QueueModes } from "./Queues.ts"
import { promptOf, untypedText } from "./RunEvents.ts"
import { aboutSelection, type ChosenModel, type Selection } from "./Selection.ts"
import { type Destination, makeSwitching, type SwitchingOptions } from "./Switching.ts"
import { type OfferedTool, toolSet, type ToolSet } from "./ToolSet.ts"

/**
 * What the user said: `typed` by hand, `piped` from another program or a file. Only typed words can be a command, and
 * those of an extension, which are `literal`, cannot.
 */
export interface UserInput {
  readonly typed: string
  readonly piped?: string
  readonly literal?: boolean
}

/** A model to change to. */
export interface ModelChoice extends Selection {
  readonly layer: Layer.Layer<LanguageModel.LanguageModel>
}

/** What an agent is made of. */
export interface AgentOptions extends Selection, Pick<CompactionOptions, "compaction">, Pick<SwitchingOptions, "extensions" | "onSwitch"> {
  /** The session to begin in. It is closed when another takes its place, else with its own scope. */
  readonly session: Session
  /** The base system text. */
  readonly system: string
  /** System text that stands after it, whatever extensions make of the base. */
  readonly appended?: ReadonlyArray<string>
  /** The built-in tools, in the order the model sees them. */
  readonly tools: ReadonlyArray<Tool>
  /** The files that the tools change, for `/rewind`; without them it leads back in the conversation alone. */
  readonly files?: Files
  /** The only tools to offer, by name in any case; absent for all. */
  readonly only?: ReadonlyArray<string>
  /** How we run, for commands of extensions: `tui`, `text`, `print`, `json` or `rpc`; default `text`. */
  readonly mode?: string
  readonly queues?: QueueModes
  /** Who is to answer in a session that is gone on with, when its extensions have started; the present one where it is absent or says nothing. */
  readonly modelOf?: (session: Session) => Effect.Effect<ModelChoice | undefined>
  /**
   * Takes words of an extension that came when no run was under way, to run them. It must not wait for that run. Without
   * it such words, and those a failed run left, are dropped with a diagnostic.
   */
  readonly onIdleInput?: (input: UserInput, extension: string) => Effect.Effect<void>
}

const runnable = (extensions: Extensions["Service"], { capabilities, description, extension, inputSchema, name, unasked }: ExtensionTool): OfferedTool => ({
  extension,
  unasked,
  tool: {
    name,
    description,
    inputSchema,
    capabilities,
    run: (args, context) =>
      extensions.callTool(name, args, context.output).pipe(
        Effect.catch((error) => Effect.succeed(errorResult(error.message)))
      )
  }
})

const selectionOf = ({ contextWindow, model, provider, thinking }: Selection): Selection => ({
  provider,
  model,
  ...(thinking === undefined ? {} : { thinking }),
  ...(contextWindow === undefined ? {} : { contextWindow })
})

const isSame = (some: ReadonlyArray<ExtensionTool>, others: ReadonlyArray<ExtensionTool>): boolean =>
  some.length === others.length &&
  some.every((tool, index) =>
    tool.name === others[index]?.name && tool.extension === others[index].extension && tool.inputSchema === others[index].inputSchema)

/** An agent and the session it has open. What changes the session or asks the model runs one after another. */
export class Agent extends Context.Service<Agent, {
  /** Runs one input to its end. Interrupting it is the user's interrupt: calls are cancelled, the session stays whole. */
  readonly prompt: (input: UserInput) => Effect.Effect<RunResult>
  /** Says something before the next model step of the run under way. */
  readonly steer: (text: string) => Effect.Effect<Offer>
  /** Says something when the run under way would end. */
  readonly followUp: (text: string) => Effect.Effect<Offer>
  /** What was said so and waits. After a run that failed or was interrupted, some may be left. */
  readonly queued: Effect.Effect<Queued>
  /** Takes all of it back. */
  readonly clearQueued: Effect.Effect<Queued>
  /** What happens to it in the session that is open now. */
  readonly queueChanges: Effect.Effect<Stream.Stream<QueueChange>>
  /** Compacts the conversation, `instruction` telling what its summary should heed, and says what came of it. Interrupting it changes nothing. */
  readonly compact: (instruction: string) => Effect.Effect<Compacted>
  /** The session that is open. */
  readonly session: Effect.Effect<Session>
  /** Leaves the session for a new one, for one by its id (without: the latest other one), for one forked before a message. */
  readonly newSession: Effect.Effect<Destination, SwitchRefused>
  readonly resume: (id?: string) => Effect.Effect<Destination, SwitchRefused>
  readonly fork: (message: number) => Effect.Effect<Destination, SwitchRefused>
  /** Starts the extensions anew. Fails when one that is required does not run then; nothing else runs either until it does. */
  readonly reload: Effect.Effect<void, RequiredExtensionMissing>
  /** Who answers. */
  readonly selection: Effect.Effect<Selection>
  /** Has another model answer from the next run on. Fails when the session cannot be written; nothing is changed then. */
  readonly select: (choice: ModelChoice) => Effect.Effect<void, SessionUnwritable>
  /** Names of the tools the model is offered now. */
  readonly toolNames: Effect.Effect<ReadonlyArray<string>>
}>()("@nimlet/agent/Agent") {
  /**
   * An agent that begins in a session. The extensions are started, told of the session, and of its end when the scope
   * closes (seed 000, `session_start` and `session_end`). Fails, before any tool ran, when a required one does not run.
   */
  static readonly layer = (
    options: AgentOptions
  ): Layer.Layer<Agent, RequiredExtensionMissing, Extensions | Hooks | LanguageModel.LanguageModel | Sessions> =>
    Layer.effect(Agent, makeAgent(options, Effect.map(LanguageModel.LanguageModel, (languageModel) => ({ selection: selectionOf(options), languageModel }))))

  /**
   * The same with a model that is chosen when the extensions have started, since one of them may offer it. Until then
   * they read `provider` and `model` of the options. Fails as `choose` does, too.
   */
  static readonly layerChoosing = <E, R>(
    options: AgentOptions,
    choose: Effect.Effect<ModelChoice, E, R>
  ): Layer.Layer<Agent, RequiredExtensionMissing | E, Exclude<Extensions | Hooks | Sessions | R, Scope.Scope>> =>
    Layer.effect(Agent, makeAgent(options, Effect.flatMap(choose, opened)))
}

const opened = (choice: ModelChoice): Effect.Effect<ChosenModel, never, Scope.Scope> =>
  Effect.map(Layer.build(choice.layer), (services) => ({
    selection: selectionOf(choice),
    languageModel: Context.get(services, LanguageModel.LanguageModel)
  }))

const makeAgent = Effect.fnUntraced(function*<E, R>(
  options: AgentOptions,
  first: Effect.Effect<ChosenModel, E, R>
): Effect.fn.Return<Agent["Service"], RequiredExtensionMissing | E, Extensions | Hooks | Scope.Scope | Sessions | R> {
  const scope = yield* Effect.scope
  const hooks = yield* Hooks
  const extensions = yield* Extensions
  const turn = yield* Semaphore.make(1)
  const builtins = options.tools.map((tool): OfferedTool => ({ tool }))
  const settled = yield* Deferred.make<void>()
  let chosen: ChosenModel | undefined
  const selection = () => chosen?.selection ?? selectionOf(options)
  const present = Effect.suspend(() => chosen === undefined ? Effect.die("no model was chosen") : Effect.succeed(chosen.languageModel))
  const choose = (choice: ModelChoice) => Effect.map(Scope.provide(opened(choice), scope), (model) => void (chosen = model))
  const settle = Effect.flatMap(first, (model) => {
    chosen = model
    return Deferred.succeed(settled, undefined)
  })

  // Frozen anew only when an extension came, went or registered anew: providers remember what they said of a tool.
  let offered: ReadonlyArray<ExtensionTool> = []
  let current: ToolSet = toolSet(builtins, options.only)
  const tools = Effect.map(extensions.tools, (registered) => {
    if (!isSame(registered, offered)) {
      offered = registered
      current = toolSet([...builtins, ...registered.map((tool) => runnable(extensions, tool))], options.only)
    }
    return current
  })

  const { compaction, extensions: start, modelOf, onIdleInput, onSwitch } = options
  const onResumed = Effect.fnUntraced(function*(session: Session) {
    const choice = modelOf === undefined ? undefined : yield* modelOf(session)
    if (choice !== undefined && (choice.provider !== selection().provider || choice.model !== selection().model)) yield* choose(choice)
  })
  const switching = yield* makeSwitching({
    selection,
    languageModel: Effect.andThen(Deferred.await(settled), present),
    system: options.system,
    appended: options.appended ?? [],
    builtins: options.tools,
    tools,
    queues: options.queues ?? {},
    ...(compaction === undefined ? {} : { compaction }),
    ...(start === undefined ? {} : { extensions: start }),
    ...(onSwitch === undefined ? {} : { onSwitch }),
    onResumed,
    ...(onIdleInput === undefined ? {} : { onIdleText: (text, extension) => onIdleInput({ typed: text, literal: true }, extension) })
  }, options.session, Effect.asVoid(settle))
  const conversation = Effect.sync(switching.current)

  /** What a run that did not go well has left, where nobody can take it back. */
  const dropLeft = Effect.gen(function*() {
    const { followUp, steering } = yield* switching.current().queues.clear
    const left = followUp.length + steering.length
    if (left === 0) return
    const { publish } = yield* EventSink
    yield* publish({ type: "diagnostic", level: "warning", message: `queued messages that were not delivered: ${left}` })
  })

  /** The records of a run that may not be one. */
  const refuse = Effect.fnUntraced(function*(content: ReadonlyArray<ContentPart>, message: string) {
    const { publish } = yield* EventSink
    const { id } = switching.current().session
    const place: RunPlace = { session_id: id, turn_id: `${id}:refused`, run_id: `${id}:refused` }
    const prompt = promptOf(content)
    yield* publish({ type: "message", role: "user", content: prompt, session_id: id, turn_id: place.turn_id })
    yield* publish({ type: "run_start", ...place, prompt })
    yield* publish({ type: "error", ...place, step: -1, message })
    yield* publish({ type: "run_end", ...place })
    return { success: false, text: "" }
  }, Effect.uninterruptible)

  const say = (content: ReadonlyArray<ContentPart>): Effect.Effect<RunResult> =>
    Effect.suspend(() => {
      const missing = switching.unready()
      if (missing !== undefined) return refuse(content, missing.message)
      const running = switching.current().run(content)
      return onIdleInput === undefined ? Effect.ensuring(running, dropLeft) : running
    })
  const words = (text: string): ReadonlyArray<ContentPart> => [{ type: "text", text }]
  const runCommand = yield* makeCommandRunner({ switching, selection, mode: options.mode ?? "text", ...(options.files === undefined ? {} : { files: options.files }), say: (text) => say(words(text)) })

  const prompt = ({ literal = false, piped = "", typed }: UserInput): Effect.Effect<RunResult> => {
    const command = piped === "" && !literal ? commandIn(typed) : undefined
    if (command !== undefined) return runCommand(typed, command)
    if (literal) return say([untypedText(typed)])
    return say([...(piped === "" ? [] : [untypedText(piped)]), ...(typed === "" ? [] : words(typed))])
  }

  /** One after another, and not before the extensions of the session have started. */
  const inTurn = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> => turn.withPermits(1)(Effect.andThen(switching.ready, effect))
  const go = (target: Parameters<typeof switching.go>[0]) => inTurn(switching.go(target, () => Effect.void))

  return {
    prompt: (input) => inTurn(prompt(input)),
    steer: (content) => Effect.flatMap(conversation, ({ queues }) => queues.offer("steer", { content })),
    followUp: (content) => Effect.flatMap(conversation, ({ queues }) => queues.offer("follow_up", { content })),
    queued: Effect.flatMap(conversation, ({ queues }) => queues.queued),
    clearQueued: Effect.flatMap(conversation, ({ queues }) => queues.clear),
    queueChanges: Effect.map(conversation, ({ queues }) => queues.changes),
    compact: (instruction) => inTurn(Effect.flatMap(conversation, ({ compact }) => compact(instruction))),
    session: Effect.map(conversation, ({ session }) => session),
    newSession: go({ kind: "new" }),
    resume: (id) => go({ kind: "resume", ...(id === undefined ? {} : { id }) }),
    fork: (message) => go({ kind: "fork", message }),
    reload: inTurn(Effect.flatMap(switching.reload, () => {
      const missing = switching.unready()
      return missing === undefined ? Effect.void : Effect.fail(missing)
    })),
    selection: Effect.sync(selection),
    select: Effect.fnUntraced(function*(choice: ModelChoice) {
      const { session } = switching.current()
      yield* session.append({ type: "selection", provider: choice.provider, model: choice.model })
      yield* choose(choice)
      yield* hooks.run("session_settings_changed", aboutSelection(session, choice))
    }, inTurn),
    toolNames: Effect.map(tools, (set) => set.tools.map(({ tool }) => tool.name))
  }
})
