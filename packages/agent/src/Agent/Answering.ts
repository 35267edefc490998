/** Who answers in an agent: a model that is chosen when extensions have started, and may be another later. */
import { Context, Deferred, Effect, Layer, Scope } from "effect"
import * as LanguageModel from "effect/ai/LanguageModel"
import type { Hooks } from "@nimlet/extension"
import type { ThinkingLevel } from "@nimlet/provider"
import type { Conversation } from "../Conversation.ts"
import { aboutSelection, type ChosenModel, type ModelChoice, type Selection } from "../Selection.ts"

/** A selection alone, out of what holds more. */
export const selectionOf = ({ contextWindow, model, prices, provider, thinking, thinkingLevels }: Selection): Selection => ({
  provider,
  model,
  ...(thinking === undefined ? {} : { thinking }),
  ...(thinkingLevels === undefined ? {} : { thinkingLevels }),
  ...(contextWindow === undefined ? {} : { contextWindow }),
  ...(prices === undefined ? {} : { prices })
})

/** A choice with its model at hand, as long as the scope is open. */
export const opened = (choice: ModelChoice): Effect.Effect<ChosenModel, never, Scope.Scope> =>
  Effect.map(Layer.build(choice.layer), (services) => ({
    selection: selectionOf(choice),
    languageModel: Context.get(services, LanguageModel.LanguageModel)
  }))

/** What it depends on. */
export interface AnsweringOptions<E, R> {
  /** What is said of who answers before the first choice. */
  readonly announced: Selection
  readonly first: Effect.Effect<ChosenModel, E, R>
  readonly hooks: Hooks["Service"]
  /** How long chosen models are kept at hand. */
  readonly scope: Scope.Scope
}

/** Who answers in an agent. */
export interface Answering<E, R> {
  readonly selection: () => Selection
  /** The model, once the first choice is made. */
  readonly model: Effect.Effect<LanguageModel.LanguageModel>
  /** Makes the first choice. */
  readonly settle: Effect.Effect<void, E, R>
  /** Has another model answer, which nobody is told. */
  readonly choose: (choice: ModelChoice) => Effect.Effect<void>
  /** The same, written into the session and told to extensions. It thinks as the one before where it says nothing of that. */
  readonly select: (at: Conversation, choice: ModelChoice) => Effect.Effect<void>
  /** Has it think so much from the next request on, which is written and told the same way. */
  readonly setThinking: (at: Conversation, level: ThinkingLevel) => Effect.Effect<void>
}

/** Nobody answers until `settle` has run. */
export const makeAnswering = <E, R>({ announced, first, hooks, scope }: AnsweringOptions<E, R>): Answering<E, R> => {
  const settled = Deferred.makeUnsafe<void>()
  let chosen: ChosenModel | undefined
  const selection = () => chosen?.selection ?? announced
  const present = Effect.suspend(() => chosen === undefined ? Effect.die("no model was chosen") : Effect.succeed(chosen.languageModel))
  const choose = (choice: ModelChoice) => Effect.map(Scope.provide(opened(choice), scope), (model) => void (chosen = model))
  /** A choice can always be said in JSON, and the session is open. */
  const record = ({ ledger }: Conversation, { model, provider, thinking }: Selection) =>
    Effect.orDie(ledger.append({ type: "selection", provider, model, ...(thinking === undefined ? {} : { thinking }) }))
  const changed = ({ session }: Conversation) => Effect.suspend(() => hooks.run("session_settings_changed", aboutSelection(session, selection())))
  return {
    selection,
    model: Effect.andThen(Deferred.await(settled), present),
    settle: Effect.flatMap(first, (model) => {
      chosen = model
      return Effect.asVoid(Deferred.succeed(settled, undefined))
    }),
    choose,
    select: Effect.fnUntraced(function*(at, { thinking = selection().thinking, ...choice }) {
      const next = { ...choice, ...(thinking === undefined ? {} : { thinking }) }
      yield* record(at, next)
      yield* choose(next)
      yield* changed(at)
    }),
    setThinking: Effect.fnUntraced(function*(at, thinking) {
      yield* record(at, { ...selection(), thinking })
      if (chosen !== undefined) chosen = { ...chosen, selection: { ...chosen.selection, thinking } }
      yield* changed(at)
    })
  }
}
