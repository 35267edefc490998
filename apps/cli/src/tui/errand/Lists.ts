/** What can be picked from, and what is done with sessions in their list. */
import { Effect } from "effect"
import { type ListedModel, presets } from "@nimlet/provider"
import { saidIn, unsaid } from "@nimlet/session"
import { remedyOf } from "../../Remedy.ts"
import type { SessionDeed } from "../Command.ts"
import type { ListName, Pickable } from "../State.ts"
import { typedFor } from "../ShellAccount.ts"
import type { ErrandRoom } from "./ErrandRoom.ts"

const ago = (millis: number): string => {
  const minutes = Math.max(0, Math.round(millis / 60_000))
  return minutes < 1 ? "now" : minutes < 60 ? `${minutes} min ago` : minutes < 48 * 60 ? `${Math.round(minutes / 60)} h ago` : `${Math.round(minutes / 1_440)} days ago`
}

const many = (tokens: number): string => tokens >= 1_000_000 ? `${Number((tokens / 1_000_000).toFixed(1))}M` : `${Math.round(tokens / 1_000)}k`

const aboutModel = ({ contextWindow, images, model, prices, provider, ready, thinkingLevels }: ListedModel): Pickable => ({
  value: `${provider}/${model}`,
  label: model,
  about: [
    provider,
    ...(ready ? [] : ["no key"]),
    `${many(contextWindow)} tokens`,
    ...(images ? ["images"] : []),
    ...(thinkingLevels.some((level) => level !== "off") ? ["thinks"] : []),
    ...(prices === undefined ? [] : [`$${prices.input} in, $${prices.output} out`])
  ].join(" · ")
})

/** The errands of lists. */
export const makeLists = ({ company, show, state, tell }: ErrandRoom) => {
  const itemsFor = Effect.fnUntraced(function*(what: ListName): Effect.fn.Return<ReadonlyArray<Pickable>> {
    const given = yield* company
    const { agent, sessions } = given
    const session = yield* agent.session
    switch (what) {
      case "model":
      case "defaultModel":
        // Those that can answer come first.
        return (yield* given.models).toSorted((a, b) => Number(b.ready) - Number(a.ready)).map(aboutModel)
      case "thinking": {
        const { level, levels } = yield* agent.thinking
        return levels.map((one): Pickable => ({ value: one, label: one, about: one === level ? "in force" : "" }))
      }
      case "provider":
        return [...new Set((yield* given.models).map(({ provider }) => provider))].map((value): Pickable => ({ value, label: value, about: presets[value]?.defaultModel ?? "" }))
      case "fork":
      case "rewind": {
        const said = (yield* session.entries).flatMap((entry) => entry.type === "user" && "role" in entry ? [typedFor(saidIn(entry))] : [])
        return said.map((text, index): Pickable => ({ value: String(index + 1), label: text, about: `message ${index + 1}` })).toReversed()
      }
      case "resume": {
        const all = yield* sessions.list({ workspace: session.workspace, unheaded: true })
        return all.filter(({ id }) => id !== session.id)
          .map(({ firstText, id, modified, name, parent, workspace }): Pickable => ({ value: id, label: name ?? (firstText === "" ? unsaid(parent) : typedFor(firstText)), about: `${ago(state().now - modified)} · ${id}${workspace === "" ? " · no known folder: header lost" : ""}` }))
      }
      case "login":
      case "theme":
      case "settings":
      case "setting":
      case "rewindHow":
        return []
    }
  })

  const list = (what: ListName) => Effect.flatMap(itemsFor(what), (items) => show({ type: "items", what, items }))

  const done = (deed: SessionDeed): string =>
    deed.deed === "rename" ? `Session ${deed.id} is now called: ${deed.title}` : `Session ${deed.id} is in the trash; /session restore ${deed.id} brings it back.`

  const perform = Effect.fnUntraced(function*(deed: SessionDeed) {
    const { agent, sessions } = yield* company
    if (deed.id === (yield* agent.session).id) return yield* tell(deed.deed === "rename" ? "/name TITLE gives this session a title." : "That is the session that is open.", "warning")
    yield* deed.deed === "rename" ? sessions.name(deed.id, deed.title) : sessions.delete(deed.id)
    yield* tell(done(deed))
    yield* list("resume")
  }, Effect.catch((error) => tell([error.message, remedyOf(error)].filter((text) => text !== "").join("; "), "warning")))

  return { list, session: perform }
}
