/** What the reducer wants done: with the agent, the extensions, the sessions. What comes of it goes back as an event. */
import { Cause, Effect, Fiber, FileSystem, Path, Stream } from "effect"
import { logNameOf } from "@nimlet/extension"
import { titleOf, wordsOf } from "@nimlet/session"
import type { Conversing } from "../modes/Mode.ts"
import { itemsOf } from "./Item.ts"
import type { Command, Event, Pickable, State, Words } from "./State.ts"

/** Whom there is to do it with. */
export interface Company extends Conversing {
  /** Runs something where the agent lives: its events and questions come to the screen. */
  readonly within: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** What errands work with. */
export interface ErrandsOptions {
  readonly dispatch: (event: Event) => void
  readonly state: () => State
  /** There once the extensions have started. */
  readonly company: Effect.Effect<Company>
  /** The same where it is there already. */
  readonly present: () => Company | undefined
  /** Takes up earlier prompts. */
  readonly remember: (text: string) => void
  readonly ids: () => number
}

/** What an errand needs of this machine. */
export type ErrandNeeds = FileSystem.FileSystem | Path.Path

const logLines = 12

const ago = (millis: number): string => {
  const minutes = Math.max(0, Math.round(millis / 60_000))
  return minutes < 1 ? "now" : minutes < 60 ? `${minutes} min ago` : minutes < 48 * 60 ? `${Math.round(minutes / 60)} h ago` : `${Math.round(minutes / 1_440)} days ago`
}

/** Makes the errands. */
export const makeErrands = ({ company, dispatch, ids, present, remember, state }: ErrandsOptions) => {
  let running: Fiber.Fiber<void> | undefined
  const show = (event: Event): Effect.Effect<void> => Effect.sync(() => void dispatch(event))
  const tell = (text: string, level: "info" | "warning" | "error" = "info") => show({ type: "notice", level, text })

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

  const watchQueue = Effect.fnUntraced(function*({ agent }: Company) {
    const changes = yield* agent.queueChanges
    yield* Stream.runForEach(changes, () =>
      Effect.flatMap(agent.queued, ({ followUp, steering }) =>
        show({ type: "waiting", waiting: { steering: steering.map(({ content }) => content), followUp: followUp.map(({ content }) => content) } })))
  })

  /** Takes back what waits, as one text. */
  const takeBack = Effect.fnUntraced(function*({ agent }: Company) {
    const { followUp, steering } = yield* agent.clearQueued
    yield* show({ type: "waiting", waiting: { steering: [], followUp: [] } })
    return [...steering, ...followUp].filter(({ extension }) => extension === undefined).map(({ content }) => content).join("\n\n")
  })

  /** The same, into the composer at once. */
  const giveBack = Effect.suspend(() => {
    const given = present()
    return given === undefined ? show({ type: "returned", text: "" }) : Effect.flatMap(takeBack(given), (text) => show({ type: "returned", text }))
  })

  const say = Effect.fnUntraced(function*({ literal, text }: Words) {
    let editorText = ""
    let back = ""
    yield* Effect.gen(function*() {
      const given = yield* company
      const result = yield* Effect.raceFirst(given.within(given.agent.prompt({ typed: text, literal })), Effect.andThen(watchQueue(given), Effect.never)).pipe(
        Effect.ensuring(Effect.flatMap(takeBack(given), (left) => Effect.sync(() => (back = left))))
      )
      editorText = result.editorText ?? ""
      const title = titleOf(yield* (yield* given.agent.session).entries)
      yield* show({ type: "titled", title })
      yield* standing(given)
      // A session of its own has extensions of its own; what they offer is known at once, not with the next look.
      yield* show({ type: "figures", figures: yield* given.extensions.figures })
    }).pipe(
      Effect.catchCause((cause) => Cause.hasInterruptsOnly(cause) ? Effect.void : tell(Cause.pretty(cause), "error")),
      Effect.ensuring(Effect.suspend(() => show({ type: "ended", back, editorText })))
    )
  })

  const queue = Effect.fnUntraced(function*(as: "steer" | "followUp", text: string) {
    const { agent } = yield* company
    const offer = yield* as === "steer" ? agent.steer(text) : agent.followUp(text)
    if (offer === "accepted") return
    if (offer === "idle") return yield* show({ type: "said", words: { text, literal: false } })
    yield* tell("Too many messages wait already; this one was not queued.", "warning")
    yield* show({ type: "returned", text })
  })

  const itemsFor = Effect.fnUntraced(function*(what: "resume" | "model" | "fork") {
    const { agent, models, sessions } = yield* company
    const session = yield* agent.session
    switch (what) {
      case "model":
        return (yield* models).map(({ model, provider }): Pickable => ({ value: `${provider}/${model}`, label: model, about: provider }))
      case "fork": {
        const said = (yield* session.entries).flatMap((entry) => entry.type === "user" && "role" in entry ? [wordsOf(entry)] : [])
        return said.map((text, index): Pickable => ({ value: String(index + 1), label: text, about: `message ${index + 1}` })).toReversed()
      }
      case "resume": {
        const all = yield* sessions.list({ workspace: session.workspace })
        return all.filter(({ id }) => id !== session.id)
          .map(({ firstText, id, modified, name }): Pickable => ({ value: id, label: name ?? (firstText === "" ? "(nothing said)" : firstText), about: `${ago(state().now - modified)} · ${id}` }))
      }
    }
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

  const readLog = Effect.fnUntraced(function*(key: string) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const { logs } = yield* company
    const text = yield* Effect.orElseSucceed(fs.readFileString(path.join(logs, logNameOf(key))), () => "")
    yield* show({ type: "log", key, lines: text.trimEnd() === "" ? [] : text.trimEnd().split("\n").slice(-logLines) })
  })

  const shell = Effect.fnUntraced(function*({ command, id, share }: Extract<Command, { readonly type: "shell" }>) {
    let output = ""
    const given = yield* company
    const run = given.shell?.run({ command }, {
      output: (delta) => Effect.suspend(() => show({ type: "shell", id, output: output = `${output}${delta}`.slice(-64 * 1024), code: undefined }))
    })
    const result = run === undefined ? undefined : yield* Effect.onInterrupt(run, () => show({ type: "shell", id, output: `${output}\ninterrupted`, code: 130 }))
    const text = result === undefined ? "There is no shell." : result.content.flatMap((part) => part.type === "text" ? [part.text] : []).join("\n")
    yield* show({ type: "shell", id, output: output === "" ? text : output, code: result?.isError === false ? 0 : 1 })
    if (!share) return ""
    const [, code = "1", printed = text] = /^exit_code: (\d+)\nduration_ms: \d+\n\n(?:stdout:\n)?([\s\S]*)$/.exec(text) ?? []
    return `$ ${command}\n${printed}${printed.endsWith("\n") ? "" : "\n"}(exit ${code})`
  })

  const runShell = (command: Extract<Command, { readonly type: "shell" }>) => {
    let words = ""
    return Effect.flatMap(shell(command), (text) => Effect.sync(() => (words = text))).pipe(
      Effect.ensuring(Effect.suspend(() => Effect.andThen(show({ type: "ended", back: "", editorText: "" }), words === "" ? Effect.void : show({ type: "said", words: { text: words, literal: true } }))))
    )
  }

  /** Runs what the person may interrupt. */
  const interruptible = (effect: Effect.Effect<void>) =>
    Effect.flatMap(Effect.forkChild(effect, { startImmediately: true }), (fiber) => {
      running = fiber
      return Fiber.await(fiber)
    })

  const withAgent = (command: Command): Effect.Effect<unknown, never, ErrandNeeds> => {
    switch (command.type) {
      case "steer":
      case "followUp":
        return queue(command.type, command.text)
      case "takeBack":
        return giveBack
      case "act":
        return Effect.flatMap(company, ({ extensions }) => extensions.act(command.key, command.action, command.text)).pipe(
          Effect.flatMap((done) => done ? Effect.void : tell(`That is no longer offered by ${command.key.split(":")[0] ?? command.key}.`, "warning"))
        )
      case "restart":
        return Effect.flatMap(company, ({ extensions }) => extensions.restart(command.key))
      case "log":
        return readLog(command.key)
      case "list":
        return Effect.flatMap(itemsFor(command.what), (items) => show({ type: "items", what: command.what, items }))
      case "select":
        return select(command.value)
      case "cycleMode":
        return Effect.flatMap(company, cycleMode)
      case "load":
        return Effect.flatMap(company, load)
      default:
        return Effect.void
    }
  }
  const errand = (command: Command): Effect.Effect<unknown, never, ErrandNeeds> => {
    switch (command.type) {
      case "prompt":
        return interruptible(say(command.words))
      case "shell":
        return interruptible(Effect.asVoid(runShell(command)))
      case "interrupt":
        return Effect.andThen(giveBack, Effect.suspend(() => running === undefined ? Effect.void : Fiber.interrupt(running)))
      default:
        return Effect.flatMap(company, ({ within }) => within(withAgent(command)))
    }
  }
  return { errand, load }
}
