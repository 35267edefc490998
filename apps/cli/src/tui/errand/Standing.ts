/** How things stand with the agent: who answers, in which mode, what of the session is shown; and changing it. */
import { Effect } from "effect"
import { titleOf, wordsOf } from "@nimlet/session"
import { saveSetting } from "../../SettingsFile.ts"
import { itemsOf } from "../Item.ts"
import type { Company, ErrandRoom } from "./ErrandRoom.ts"

/** The errands about how things stand. */
export const makeStanding = ({ company, ids, remember, settingsFile, show, tell }: ErrandRoom) => {
  const selected = Effect.fnUntraced(function*({ agent }: Company) {
    const { contextWindow, model, provider } = yield* agent.selection
    yield* show({ type: "ready", answering: { provider, model, ...(contextWindow === undefined ? {} : { window: contextWindow }) } })
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
    yield* show({ type: "loaded", items: itemsOf(entries, ids), title: titleOf(entries) })
    yield* selected(given)
    yield* standing(given)
  })

  /** All that was said in it, to be searched. */
  const gather = Effect.fnUntraced(function*({ agent }: Company) {
    yield* show({ type: "gathered", items: itemsOf(yield* (yield* agent.session).entries, ids) })
  })

  const select = Effect.fnUntraced(function*(value: string) {
    const given = yield* company
    const models = yield* given.models
    const [head = "", ...rest] = value.split("/")
    const isProvider = rest.length > 0 && models.some(({ provider }) => provider === head)
    const provider = isProvider ? head : (yield* given.agent.selection).provider
    const choice = yield* given.model({ provider, model: isProvider ? rest.join("/") : value })
    yield* given.agent.select(choice)
    yield* selected(given)
    yield* tell(`${choice.provider}/${choice.model} answers from now on.`)
  }, Effect.catch((error) => tell(error.message, "error")))

  const keepTheme = (theme: string) => Effect.catch(saveSetting(settingsFile, ["theme"], theme), (error) => tell(error.message, "warning"))

  return { standing, cycleMode, load, gather, select, keepTheme }
}

/** The errands about how things stand. */
export type Standing = ReturnType<typeof makeStanding>
