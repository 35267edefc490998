/**
 * The agent: it takes what the user says, in words or as a slash command, and runs it in the session it has open. It knows
 * no terminal: events go to `EventSink`, questions to `Frontend`, and the model is whatever `LanguageModel` is provided.
 */
import { Context, Deferred, Effect, Layer, Scope, Semaphore } from "effect"
import * as LanguageModel from "effect/ai/LanguageModel"
import { AtomicSession, Extensions, Hooks } from "@nimlet/extension"
import type { ContentPart } from "@nimlet/protocol"
import type { ThinkingLevel } from "@nimlet/provider"
import type { Session, Sessions } from "@nimlet/session"
import { makeActiveTools } from "./ActiveTools.ts"
import type { AgentOptions } from "./Agent/AgentOptions.ts"
import type { AgentShape } from "./Agent/AgentShape.ts"
import { makeAnswering, opened, selectionOf } from "./Agent/Answering.ts"
import { makeEquipment } from "./Agent/Equipment.ts"
import type { RequiredExtensionMissing } from "./AgentError.ts"
import { AsideFailed, makeAsides } from "./Aside.ts"
import { makeCommandRunner } from "./CommandRunner.ts"
import type { Conversation } from "./Conversation.ts"
import { EventSink } from "./EventSink.ts"
import type { Origin, RunResult } from "./Loop.ts"
import { makeModeChoice, planningHooks } from "./ModeChoice.ts"
import { type Leaving, makeModules } from "./Modules.ts"
import type { QueuedText } from "./Queues.ts"
import { makeRunControl } from "./RunControl.ts"
import { refuseRun } from "./RefusedRun.ts"
import type { Resources } from "./Resources.ts"
import { aboutSession, type ChosenModel, type ModelChoice, thinkingOf } from "./Selection.ts"
import { makeSwitching } from "./Switching.ts"
import { answeringIn, makePriceList, totalsOf } from "./Totals.ts"
import { askUserBash } from "./UserBash.ts"
import { makeWording, originOf, type UserInput } from "./Wording.ts"

const queuedText = (content: string, requestId: string | undefined): QueuedText => ({ content, ...(requestId === undefined ? {} : { requestId }) })

/** An agent and the session it has open. What changes the session or asks the model runs one after another. */
export class Agent extends Context.Service<Agent, AgentShape>()("@nimlet/agent/Agent") {
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

const fileCommandsOf = ({ skills, templates }: Resources): ReadonlyArray<{ readonly name: string; readonly description: string }> =>
  [...templates, ...skills.map(({ description, name }) => ({ name: `skill:${name}`, description }))].map(({ description, name }) => ({ name, description }))

const makeAgent = Effect.fnUntraced(function*<E, R>(
  options: AgentOptions,
  first: Effect.Effect<ChosenModel, E, R>
): Effect.fn.Return<AgentShape, RequiredExtensionMissing | E, Extensions | Hooks | Scope.Scope | Sessions | R> {
  const scope = yield* Effect.scope
  const extensions = yield* Extensions
  const modes = makeModeChoice(extensions)
  const hooks = planningHooks(yield* Hooks, () => modes.active().planning === true)
  const turn = yield* Semaphore.make(1)
  const answering = makeAnswering({ announced: selectionOf(options), first, hooks, scope })
  const { choose, select, selection, setThinking } = answering
  const { compaction, extensions: start, mentions = () => Effect.succeed({ content: [], warnings: [] }), modelOf, onIdleInput, onSwitch } = options
  let yolo = options.yolo ?? false
  const active = makeActiveTools()
  const equipment = makeEquipment({ ...options, find: options.resources, active, extensions, modes })
  const { lookUp, resources, system, tools } = equipment
  const wording = makeWording({ extensions, resources, mentions })
  const control = yield* makeRunControl
  /** Complete when the agent is: the session cannot be left before. */
  const whole = yield* Deferred.make<Leaving>()
  let leaving: Leaving | undefined
  /** One after another, and not before the extensions of the session have started. */
  const inTurn = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.flatMap(Deferred.await(whole), ({ switching }) => turn.withPermits(1)(Effect.andThen(switching.ready, effect)))
  const outer = yield* AtomicSession
  const modules = (current: () => Conversation) =>
    makeModules({
      current,
      outer,
      options,
      selection,
      select: (choice) => Effect.suspend(() => select(current(), choice)),
      setThinking: (level) => Effect.suspend(() => setThinking(current(), level)),
      resources,
      offered: equipment.offered,
      activate: (names) => Effect.andThen(Effect.sync(() => active.choose(names, equipment.known().map(({ tool }) => tool.name))), lookUp),
      whole: Deferred.await(whole),
      present: () => leaving,
      inTurn,
      scope,
      interrupt: control.interruptRuns,
      joined: equipment.modulesJoined
    })
  const onResumed = Effect.fnUntraced(function*(session: Session) {
    const choice = modelOf === undefined ? undefined : yield* modelOf(session)
    const { model, provider, thinking } = selection()
    if (choice !== undefined && (choice.provider !== provider || choice.model !== model || choice.thinking !== thinking)) yield* choose(choice)
  })
  const switching = yield* makeSwitching({
    selection,
    onLeave: control.interruptBeside,
    languageModel: answering.model,
    system,
    builtins: options.tools,
    tools,
    toolNews: active.news,
    queues: options.queues ?? {},
    permissions: { ...options.permissions, unasked: () => yolo || modes.active().permissions !== "ask" },
    ...(compaction === undefined ? {} : { compaction }),
    ...(start === undefined ? {} : { extensions: start }),
    prepare: equipment.load(),
    onDiscovered: equipment.load,
    modules,
    onStarted: lookUp,
    lastWords: Effect.suspend(() => leaving?.commands.quiet ?? Effect.void),
    ...(options.maxSteps === undefined ? {} : { maxSteps: options.maxSteps }),
    onSwitch: (to, from) => Effect.andThen(Effect.sync(active.reset), onSwitch?.(to, from) ?? Effect.void),
    onResumed,
    ...(onIdleInput === undefined ? {} : { onIdleText: (text, extension) => onIdleInput({ typed: text, literal: true }, extension) })
  }, options.session, answering.settle).pipe(Effect.provideService(Hooks, hooks))
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
    resources,
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
    userBash: (command, excluded) => Effect.suspend(() => askUserBash({ hooks, extensions }, aboutSession(switching.current().session), command, excluded)),
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
      yield* Effect.andThen(answering.model, setThinking(switching.current(), thinking))
      return thinkingOf(selection())
    }),
    totals,
    mode: Effect.sync(modes.chosen),
    modes: modes.all,
    setMode: modes.choose,
    yolo: Effect.sync(() => yolo),
    fileCommands: Effect.sync(() => fileCommandsOf(resources())),
    toolNames: Effect.map(tools, (set) => set.tools.map(({ tool }) => tool.name))
  }
})
