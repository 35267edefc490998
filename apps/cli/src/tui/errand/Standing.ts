/** How things stand with the agent: who answers, in which mode, what of the session is shown; and changing it. */
import { Effect } from "effect"
import { presets, thinkingLevelOf, thinkingLevels } from "@nimlet/provider"
import { titleOf, wordsOf } from "@nimlet/session"
import { saveSetting } from "../../SettingsFile.ts"
import { itemsOf } from "../Item.ts"
import type { Company, ErrandRoom } from "./ErrandRoom.ts"

/** The errands about how things stand. */
export const makeStanding = ({ company, ids, remember, settingsFile, show, tell }: ErrandRoom) => {
  const selected = Effect.fnUntraced(function*({ agent }: Company) {
    const { contextWindow, model, provider } = yield* agent.selection
    const { level } = yield* agent.thinking
    yield* show({ type: "ready", answering: { provider, model, ...(level === undefined ? {} : { thinking: level }), ...(contextWindow === undefined ? {} : { window: contextWindow }) } })
  })

  const standing = Effect.fnUntraced(function*({ agent }: Company) {
    const { id, label } = yield* agent.mode
    const { cost } = yield* agent.totals
    yield* show({
      type: "working",
      working: { mode: id === "act" ? undefined : label, yolo: yield* agent.yolo, commands: yield* agent.fileCommands, ...(cost === undefined ? {} : { cost }) }
    })
  })

  const cycleMode = Effect.fnUntraced(function*(given: Company) {
    const [all, { id }] = [yield* given.agent.modes, yield* given.agent.mode]
    const next = all[(all.findIndex((mode) => mode.id === id) + 1) % all.length]
    if (next !== undefined) yield* given.agent.setMode(next.id)
    yield* standing(given)
  }, Effect.catch((error) => tell(error.message, "warning")))

  /** Shows the session that is open. */
  const load = Effect.fnUntraced(function*(given: Company) {
    const entries = yield* (yield* given.agent.session).entries
    for (const entry of entries) if (entry.type === "user" && "role" in entry) remember(wordsOf(entry))
    // What extensions offer is known from the first key on, not with the next look.
    yield* show({ type: "figures", figures: yield* given.extensions.figures })
    yield* show({ type: "loaded", items: itemsOf(entries, ids), title: titleOf(entries) })
    yield* selected(given)
    yield* standing(given)
  })

  /** All that was said in it, to be searched. */
  const gather = Effect.fnUntraced(function*({ agent }: Company) {
    yield* show({ type: "gathered", items: itemsOf(yield* (yield* agent.session).entries, ids) })
  })

  const answerWith = Effect.fnUntraced(function*(name: { readonly provider: string; readonly model: string }) {
    const given = yield* company
    const choice = yield* given.model(name)
    yield* given.agent.select(choice)
    yield* selected(given)
    yield* tell(`${choice.provider}/${choice.model} answers from now on.`)
  }, Effect.catch((error) => tell(error.message, "error")))

  const select = Effect.fnUntraced(function*(value: string) {
    const given = yield* company
    const models = yield* given.models
    const [head = "", ...rest] = value.split("/")
    const isProvider = rest.length > 0 && models.some(({ provider }) => provider === head)
    const provider = isProvider ? head : (yield* given.agent.selection).provider
    yield* answerWith({ provider, model: isProvider ? rest.join("/") : value })
  })

  /** Has the model that a provider answers with by itself answer. */
  const provide = Effect.fnUntraced(function*(provider: string) {
    const model = presets[provider]?.defaultModel ?? (yield* (yield* company).models).find((one) => one.provider === provider)?.model
    if (model === undefined) return yield* tell(`No model of '${provider}' is known; /model ${provider}/MODEL names one.`, "warning")
    yield* answerWith({ provider, model })
  })

  const think = Effect.fnUntraced(function*(wanted: string) {
    const given = yield* company
    const level = thinkingLevelOf(wanted)
    if (level === undefined) return yield* tell(`There is no level '${wanted}'; there are ${thinkingLevels.join(", ")}.`, "warning")
    const state = yield* given.agent.setThinking(level)
    yield* selected(given)
    yield* tell(state.level === level ? `Thinking: ${level}.` : `This model has no level ${level}: it thinks ${state.level ?? "as it does by itself"}.`)
  })

  const keepTheme = (theme: string) => Effect.catch(saveSetting(settingsFile, ["theme"], theme), (error) => tell(error.message, "warning"))

  return { standing, cycleMode, load, gather, select, answerWith, provide, think, keepTheme }
}

/** The errands about how things stand. */
export type Standing = ReturnType<typeof makeStanding>
