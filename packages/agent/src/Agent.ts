/**
 * The agent: it takes what the user says, in words or as a slash command, and runs it in the session it has open. It knows
 * no terminal: events go to `EventSink`, questions to `Frontend`, and the model is whatever `LanguageModel` is provided.
 */
import { Context, Deferred, Effect, Layer, Option, Scope, Semaphore, type Stream } from "effect"
import * as LanguageModel from "effect/ai/LanguageModel"
import { AtomicSession, Extensions, Hooks } from "@nimlet/extension"
import type { AgentEvent, ContentPart } from "@nimlet/protocol"
import type { Prices, ThinkingLevel } from "@nimlet/provider"
import type { Session, Sessions } from "@nimlet/session"
import type { Files, Tool } from "@nimlet/tools"
import { makeActiveTools } from "./ActiveTools.ts"
import type { RequiredExtensionMissing, SwitchRefused } from "./AgentError.ts"
import { AsideFailed, makeAsides } from "./Aside.ts"
import { makeCommandRunner, type ModelCommands } from "./CommandRunner.ts"
import type { Compacted, CompactionOptions } from "./Compaction.ts"
import type { Conversation } from "./Conversation.ts"
import { EventSink } from "./EventSink.ts"
import type { Origin, RunResult } from "./Loop.ts"
import { makeModeChoice, planningHooks } from "./ModeChoice.ts"
import type { Mode, ModeUnknown } from "./Modes.ts"
import { type Leaving, makeModules, type ModuleWishes } from "./Modules.ts"
import type { Offered } from "./ModuleState.ts"
import { makeOffering } from "./Offering.ts"
import type { Offer, QueueChange, Queued, QueuedText, QueueModes } from "./Queues.ts"
import type { PermissionOptions } from "./Permissions.ts"
import { makeRunControl } from "./RunControl.ts"
import { refuseRun } from "./RefusedRun.ts"
import { noResources, type ResourcePaths, type Resources } from "./Resources.ts"
import { withScopedContext } from "./ScopedRead.ts"
import { aboutSelection, aboutSession, type ChosenModel, type ModelChoice, type Selection, thinkingOf, type ThinkingState } from "./Selection.ts"
import { type Destination, makeSwitching, type SwitchingOptions } from "./Switching.ts"
import { answeringIn, makePriceList, type SessionTotals, totalsOf } from "./Totals.ts"
import type { Trust } from "./Trust.ts"
import { type PromptTool, type SystemPrompt, type SystemText } from "./SystemPrompt.ts"
import type { OfferedTool } from "./ToolSet.ts"
import { askUserBash, type UserBash } from "./UserBash.ts"
import { makeWording, originOf, type UserInput } from "./Wording.ts"

/** What an agent is made of. */
export interface AgentOptions extends Selection, ModuleWishes, Pick<CompactionOptions, "compaction">, Pick<SwitchingOptions, "extensions" | "onSwitch"> {
  /** The session to begin in. It is closed when another takes its place, else with its own scope. */
  readonly session: Session
  /** The base system text; one that is made of the tools on offer follows them. */
  readonly system: string | SystemPrompt
  /** System text that stands after it, whatever extensions make of the base. */
  readonly appended?: ReadonlyArray<string>
  /** The built-in tools, in the order the model sees them. */
  readonly tools: ReadonlyArray<Tool>
  /** The files that the tools change, for `/rewind`, and where long results are kept; without them it leads back in the conversation alone. */
  readonly files?: Files
  /** Nobody can be asked: `ask_user` is not offered then. */
  readonly questions?: boolean
  /** Instructions, skills, templates and tools that are looked for when a session is entered and on `reload`. */
  readonly resources?: (more?: ResourcePaths) => Effect.Effect<Resources>
  /** Finds the files that typed words mention. */
  readonly mentions?: (text: string) => Effect.Effect<ReadonlyArray<ContentPart>>
  /** The only tools to offer, by name in any case; absent for all. */
  readonly only?: ReadonlyArray<string>
  /** How we run, for commands of extensions: `tui`, `text`, `print`, `json` or `rpc`; default `text`. */
  readonly mode?: string
  /** What permissions depend on beside the calls themselves. */
  readonly permissions?: Pick<PermissionOptions, "grants" | "protectedPath" | "mayBeProtected">
  /** What models cost that have answered in the session before, for `totals`; looked up once each. */
  readonly pricesOf?: (provider: string, model: string) => Effect.Effect<Prices | undefined>
  /** What is known of models, for `/models`. */
  readonly modelCommands?: ModelCommands
  /** The most requests to the model a run may make; absent for no limit. */
  readonly maxSteps?: number
  /** Calls run without a question at first; `/yolo` changes it. */
  readonly yolo?: boolean
  /** Trust in the project, for `/trust`. */
  readonly trust?: Trust
  readonly queues?: QueueModes
  /** Who is to answer in a session that is gone on with, when its extensions have started; the present one where it is absent or says nothing. */
  readonly modelOf?: (session: Session) => Effect.Effect<ModelChoice | undefined>
  /**
   * Takes words of an extension that came when no run was under way, to run them. It must not wait for that run. Without
   * it such words, and those a failed run left, are dropped with a diagnostic.
   */
  readonly onIdleInput?: (input: UserInput, extension: string) => Effect.Effect<void>
}

const selectionOf = ({ contextWindow, model, prices, provider, thinking, thinkingLevels }: Selection): Selection => ({
  provider,
  model,
  ...(thinking === undefined ? {} : { thinking }),
  ...(thinkingLevels === undefined ? {} : { thinkingLevels }),
  ...(contextWindow === undefined ? {} : { contextWindow }),
  ...(prices === undefined ? {} : { prices })
})

const queuedText = (content: string, requestId: string | undefined): QueuedText => ({ content, ...(requestId === undefined ? {} : { requestId }) })

const noQuestions = "User questions are unavailable in this interface."

const promptTool = ({ extension, guidelines, snippet, tool, unasked }: OfferedTool): PromptTool => ({
  name: tool.name,
  custom: extension !== undefined || unasked !== undefined,
  ...(snippet === undefined ? {} : { snippet }),
  ...(guidelines === undefined ? {} : { guidelines })
})

/** An agent and the session it has open. What changes the session or asks the model runs one after another. */
export class Agent extends Context.Service<Agent, {
  /** Runs one input to its end. Interrupting it is the user's interrupt: calls are cancelled, the session stays whole. */
  readonly prompt: (input: UserInput) => Effect.Effect<RunResult>
  /** Runs words to their end: `prompt` for a program that has no more to say of them. */
  readonly send: (text: string) => Effect.Effect<RunResult>
  /**
   * The command in what was typed, if it is one of an extension that may run beside a turn: running it gives its message.
   * What it wants said waits in the queue. Undefined for all else, which `prompt` runs when its turn comes.
   */
  readonly aside: (typed: string) => Effect.Effect<Effect.Effect<string, AsideFailed> | undefined>
  /** Stops what runs, all that waits behind it and goes on beside it, as interrupting their fibers does, and returns when it is over. */
  readonly interrupt: Effect.Effect<void>
  /** What extensions want done with a shell command that the user typed for themselves; `excluded`: the model is not to see it. */
  readonly userBash: (command: string, excluded: boolean) => Effect.Effect<UserBash>
  /** What happens from now on. A slow taker slows the run, and nothing is lost. */
  readonly events: Stream.Stream<AgentEvent>
  /** Says something before the next model step of the run under way; `requestId` is told when it is queued and delivered. */
  readonly steer: (text: string, requestId?: string) => Effect.Effect<Offer>
  /** Says something when the run under way would end. */
  readonly followUp: (text: string, requestId?: string) => Effect.Effect<Offer>
  /** What was said so and waits. After a run that failed or was interrupted, some may be left. */
  readonly queued: Effect.Effect<Queued>
  /** Takes the oldest of what was left, steering first, for a run of its own. */
  readonly takeLeft: Effect.Effect<QueuedText | undefined>
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
  /** Has another model answer from the next run on. A session that cannot be written keeps the choice, which is told. */
  readonly select: (choice: ModelChoice) => Effect.Effect<void>
  /** How much it thinks, and what levels there are. */
  readonly thinking: Effect.Effect<ThinkingState>
  /**
   * Has it, and whoever answers after it, think so much from the next request on; a model without that level thinks as
   * `ThinkingState.level` says. A session that cannot be written keeps the choice, which is told.
   */
  readonly setThinking: (level: ThinkingLevel) => Effect.Effect<ThinkingState>
  /** What the session has used so far. */
  readonly totals: Effect.Effect<SessionTotals>
  /** The way of working, and all there are. */
  readonly mode: Effect.Effect<Mode>
  readonly modes: Effect.Effect<ReadonlyArray<Mode>>
  /** Works another way from the next run on. */
  readonly setMode: (id: string) => Effect.Effect<Mode, ModeUnknown>
  /** Whether every call runs without a question. */
  readonly yolo: Effect.Effect<boolean>
  /** Commands that are files: templates by their name, skills as `skill:NAME`. */
  readonly fileCommands: Effect.Effect<ReadonlyArray<{ readonly name: string; readonly description: string }>>
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
  const extensions = yield* Extensions
  const modes = makeModeChoice(extensions)
  const hooks = planningHooks(yield* Hooks, () => modes.active().planning === true)
  const turn = yield* Semaphore.make(1)
  const settled = yield* Deferred.make<void>()
  let chosen: ChosenModel | undefined
  let yolo = options.yolo ?? false
  const selection = () => chosen?.selection ?? selectionOf(options)
  const present = Effect.suspend(() => chosen === undefined ? Effect.die("no model was chosen") : Effect.succeed(chosen.languageModel))
  const choose = (choice: ModelChoice) => Effect.map(Scope.provide(opened(choice), scope), (model) => void (chosen = model))
  const settle = Effect.flatMap(first, (model) => {
    chosen = model
    return Deferred.succeed(settled, undefined)
  })

  const builtins = options.tools.map((tool): OfferedTool => tool.name === "ask_user" && options.questions === false ? { tool, unavailable: noQuestions } : { tool })
  let resources = noResources
  let own: ReadonlyArray<OfferedTool> = builtins
  const load = (more?: ResourcePaths) => Effect.map(options.resources?.(more) ?? Effect.succeed(noResources), (found) => {
    resources = found
    const scoped = builtins.map((offered) => ({ ...offered, tool: withScopedContext(offered.tool, found.scoped) }))
    own = [...scoped, ...found.builtins.map((tool) => ({ tool })), ...found.tools.map((tool) => ({ tool, unasked: false }))]
    return found.warnings
  })
  const wording = makeWording({ extensions, resources: () => resources, mentions: options.mentions ?? (() => Effect.succeed([])) })
  const active = makeActiveTools()
  const offering = makeOffering({ extensions, own: () => own, mode: modes.active, active, ...(options.files === undefined ? {} : { files: options.files }), ...(options.only === undefined ? {} : { only: options.only }) })
  let offered: Offered = { known: offering.known, tools: undefined, commands: [], models: [], system: undefined }
  const tools = Effect.tap(offering.tools, (set) => {
    if (offered.tools !== set) offered = { ...offered, tools: set }
    return Effect.void
  })
  const system = Effect.map(tools, (set): SystemText => ({
    base: Option.getOrElse(resources.system, () => typeof options.system === "string" ? options.system : options.system(set.tools.map(promptTool))),
    appended: [...resources.appended, ...options.appended ?? [], modes.active().prompt]
  }))

  const { compaction, extensions: start, modelOf, onIdleInput, onSwitch } = options
  /** What extensions may read at once is looked up ahead of them. */
  let hasModules = false
  const lookUp = Effect.suspend(() => Effect.all([system, extensions.commands, (hasModules ? options.models : undefined) ?? Effect.succeed(offered.models)])).pipe(
    Effect.map(([text, commands, models]) => void (offered = { ...offered, system: text, commands, models }))
  )
  const control = yield* makeRunControl
  /** Complete when the agent is: the session cannot be left before. */
  const whole = yield* Deferred.make<Leaving>()
  let leaving: Leaving | undefined
  /** One after another, and not before the extensions of the session have started. */
  const inTurn = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.flatMap(Deferred.await(whole), ({ switching }) => turn.withPermits(1)(Effect.andThen(switching.ready, effect)))
  /** A choice can always be said in JSON, and the session is open. */
  const record = ({ ledger }: Conversation, { model, provider, thinking }: Selection) =>
    Effect.orDie(ledger.append({ type: "selection", provider, model, ...(thinking === undefined ? {} : { thinking }) }))
  const changed = ({ session }: Conversation) => Effect.suspend(() => hooks.run("session_settings_changed", aboutSelection(session, selection())))
  const select = Effect.fnUntraced(function*(at: Conversation, { thinking = selection().thinking, ...choice }: ModelChoice) {
    const next = { ...choice, ...(thinking === undefined ? {} : { thinking }) }
    yield* record(at, next)
    yield* choose(next)
    yield* changed(at)
  })
  const setThinking = Effect.fnUntraced(function*(at: Conversation, thinking: ThinkingLevel) {
    yield* record(at, { ...selection(), thinking })
    if (chosen !== undefined) chosen = { ...chosen, selection: { ...chosen.selection, thinking } }
    yield* changed(at)
  })
  const outer = yield* AtomicSession
  const modules = (current: () => Conversation) =>
    makeModules({
      current,
      outer,
      options,
      selection,
      select: (choice) => Effect.suspend(() => select(current(), choice)),
      setThinking: (level) => Effect.suspend(() => setThinking(current(), level)),
      resources: () => resources,
      offered: () => offered,
      activate: (names) => Effect.andThen(Effect.sync(() => active.choose(names, offering.known().map(({ tool }) => tool.name))), lookUp),
      whole: Deferred.await(whole),
      present: () => leaving,
      inTurn,
      scope,
      interrupt: control.interrupt,
      begin: (input) => Effect.asVoid(Effect.forkIn(submit(input), scope)),
      joined: () => void (hasModules = true)
    })
  const onResumed = Effect.fnUntraced(function*(session: Session) {
    const choice = modelOf === undefined ? undefined : yield* modelOf(session)
    const { model, provider, thinking } = selection()
    if (choice !== undefined && (choice.provider !== provider || choice.model !== model || choice.thinking !== thinking)) yield* choose(choice)
  })
  const switching = yield* makeSwitching({
    selection,
    onLeave: control.interruptBeside,
    languageModel: Effect.andThen(Deferred.await(settled), present),
    system,
    builtins: options.tools,
    tools,
    toolNews: active.news,
    queues: options.queues ?? {},
    permissions: { ...options.permissions, unasked: () => yolo || modes.active().permissions !== "ask" },
    ...(compaction === undefined ? {} : { compaction }),
    ...(start === undefined ? {} : { extensions: start }),
    prepare: load(),
    onDiscovered: load,
    modules,
    onStarted: lookUp,
    lastWords: Effect.suspend(() => leaving?.commands.quiet ?? Effect.void),
    ...(options.maxSteps === undefined ? {} : { maxSteps: options.maxSteps }),
    onSwitch: (to, from) => Effect.andThen(Effect.sync(active.reset), onSwitch?.(to, from) ?? Effect.void),
    onResumed,
    ...(onIdleInput === undefined ? {} : { onIdleText: (text, extension) => onIdleInput({ typed: text, literal: true }, extension) })
  }, options.session, Effect.asVoid(settle)).pipe(Effect.provideService(Hooks, hooks))
  const conversation = Effect.sync(switching.current)

  /** What a run that did not go well has left, where nobody can take it back. */
  const dropLeft = Effect.gen(function*() {
    const { followUp, steering } = yield* switching.current().queues.clear
    const left = followUp.length + steering.length
    if (left === 0) return
    const { publish } = yield* EventSink
    yield* publish({ type: "diagnostic", level: "warning", message: `queued messages that were not delivered: ${left}` })
  })

  const say = (content: ReadonlyArray<ContentPart>, origin?: Origin): Effect.Effect<RunResult> =>
    Effect.suspend(() => {
      const missing = switching.unready()
      if (missing !== undefined) return refuseRun(switching.current().session.id, content, missing.message)
      const running = modes.during(switching.current().run(content, origin))
      return onIdleInput === undefined ? Effect.ensuring(running, dropLeft) : running
    })
  const reload = Effect.flatMap(switching.reload, () => {
    const missing = switching.unready()
    return missing === undefined ? Effect.void : Effect.fail(missing)
  })
  const prices = yield* makePriceList(options.pricesOf ?? (() => Effect.undefined))
  const totals = Effect.gen(function*() {
    const entries = yield* switching.current().session.entries
    return totalsOf(entries, yield* prices(answeringIn(entries), selection()))
  })
  const runCommand = yield* makeCommandRunner({
    switching,
    selection,
    mode: options.mode ?? "text",
    say: (text, attached = []) => Effect.flatMap(wording.words(text), (words) => say([...(text === "" && attached.length > 0 ? [] : words), ...attached])),
    resources: () => resources,
    totals,
    ...(options.modelCommands === undefined ? {} : { modelCommands: options.modelCommands }),
    modes,
    yolo: (on) => yolo = on ?? yolo,
    ...(options.files === undefined ? {} : { files: options.files }),
    ...(options.trust === undefined ? {} : { trust: options.trust })
  })

  const prompt = (input: UserInput): Effect.Effect<RunResult> =>
    Effect.flatMap(wording.meaning(input), (meaning) => meaning._tag === "Command" ? runCommand.run(input.typed, meaning.command) : say(meaning.content, originOf(input, options.mode)))

  const go = (target: Parameters<typeof switching.go>[0]) => inTurn(switching.go(target, () => Effect.void))

  const asides = yield* makeAsides({ switching, selection, mode: options.mode ?? "text" })
  const submit = (input: UserInput) => control.during(inTurn(prompt(input)))

  leaving = { commands: runCommand, switching }
  yield* Deferred.succeed(whole, leaving)

  return {
    prompt: submit,
    send: (typed) => submit({ typed }),
    aside: (typed) =>
      Effect.map(asides(typed), (run) => run === undefined ? undefined : control.beside(run, new AsideFailed({ command: typed.trim().slice(1), why: "Interrupted" }))),
    interrupt: control.interrupt,
    userBash: (command, excluded) => Effect.suspend(() => askUserBash(hooks, aboutSession(switching.current().session), command, excluded)),
    events: control.events,
    steer: (content, requestId) => Effect.flatMap(conversation, ({ queues }) => queues.offer("steer", queuedText(content, requestId))),
    followUp: (content, requestId) => Effect.flatMap(conversation, ({ queues }) => queues.offer("follow_up", queuedText(content, requestId))),
    takeLeft: Effect.flatMap(conversation, ({ queues }) => queues.takeLeft),
    queued: Effect.flatMap(conversation, ({ queues }) => queues.queued),
    clearQueued: Effect.flatMap(conversation, ({ queues }) => queues.clear),
    queueChanges: Effect.map(conversation, ({ queues }) => queues.changes),
    compact: (instruction) => inTurn(Effect.flatMap(conversation, ({ compact }) => compact(instruction))),
    session: Effect.map(conversation, ({ session }) => session),
    newSession: go({ kind: "new" }),
    resume: (id) => go({ kind: "resume", ...(id === undefined ? {} : { id }) }),
    fork: (message) => go({ kind: "fork", message }),
    reload: inTurn(reload),
    selection: Effect.sync(selection),
    select: (choice) => inTurn(Effect.suspend(() => select(switching.current(), choice))),
    thinking: Effect.sync(() => thinkingOf(selection())),
    setThinking: Effect.fnUntraced(function*(thinking: ThinkingLevel) {
      yield* Effect.andThen(Deferred.await(settled), setThinking(switching.current(), thinking))
      return thinkingOf(selection())
    }),
    totals,
    mode: Effect.sync(modes.chosen),
    modes: modes.all,
    setMode: modes.choose,
    yolo: Effect.sync(() => yolo),
    fileCommands: Effect.sync(() => [...resources.templates, ...resources.skills.map(({ description, name }) => ({ name: `skill:${name}`, description }))].map(({ description, name }) => ({ name, description }))),
    toolNames: Effect.map(tools, (set) => set.tools.map(({ tool }) => tool.name))
  }
})
