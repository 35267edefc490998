/** Interactive mode: nimlet on a terminal without a prompt. The first frame stands before anything else is begun. */
import { type KeyId, ProcessTerminal } from "@earendil-works/pi-tui"
import { Clock, Deferred, Effect, FiberSet, FileSystem, Path, Result, Schema, Stream } from "effect"
import type { ChildProcessSpawner } from "effect/process"
import manifest from "../../package.json" with { type: "json" }
import { Extensions } from "@nimlet/extension"
import { editText } from "../ExternalEditor.ts"
import type { Invocation } from "../Flags.ts"
import { editorOf, type Host, wantsColours } from "../Host.ts"
import { Output } from "../Output.ts"
import { run } from "../Run.ts"
import { filesBelow, makeCompletion } from "../tui/Completion.ts"
import { makeDesk } from "../tui/Desk.ts"
import { type Company, makeErrands } from "../tui/Errands.ts"
import { composerKeys, makeKeymap } from "../tui/Keymap.ts"
import { makePalette, type ThemeName } from "../tui/Palette.ts"
import { Screen } from "../tui/Screen.ts"
import { type Command, initial } from "../tui/State.ts"
import type { Mode } from "./Mode.ts"

type Needs = ChildProcessSpawner.ChildProcessSpawner | FileSystem.FileSystem | Path.Path

const KeyBindings = Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Array(Schema.String)]))
const OwnFile = Schema.fromJsonString(KeyBindings)
const SettingsFile = Schema.fromJsonString(Schema.Struct({ keybindings: Schema.optionalKey(KeyBindings) }))

/** The person's own keys, by action: those of the settings, and of a file of their own over them. A file that is wrong is left aside. */
const readKeys = Effect.fnUntraced(function*(host: Host) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const read = (name: string) => Effect.orElseSucceed(fs.readFileString(path.join(host.home, ".nimlet", name)), () => "{}")
  // What else is wrong with the settings is told by whoever reads all of them.
  const settings = Result.getOrElse(Schema.decodeResult(SettingsFile)(yield* read("config.json")), () => ({ keybindings: undefined }))
  const own = Schema.decodeResult(OwnFile)(yield* read("keybindings.json"))
  const chosen = { ...settings.keybindings, ...Result.getOrElse(own, () => ({})) }
  return {
    keys: Object.fromEntries(Object.entries(chosen).map(([action, keys]) => [action, typeof keys === "string" ? [keys] : keys])),
    problem: Result.isFailure(own) ? "~/.nimlet/keybindings.json was left aside: it must be an object of actions, each with a key or a list of keys." : undefined
  }
})

/** What the terminal says of its ground in `COLORFGBG`: dark where it says nothing. */
const themeOf = ({ environment }: Host): ThemeName => {
  const ground = Number(environment["COLORFGBG"]?.split(";").at(-1))
  return ground === 7 || (ground >= 9 && ground <= 15) ? "light" : "dark"
}

/** What somebody who has no key may do next. */
const firstSteps = "Without a key, try: read README.md · run ls · grep TODO. Leave with /quit to set one, then start again."

const sinceWhen = "100 millis"
/** How long extensions may take to stop before the person is told what is waited for. */
const patience = "700 millis"

/** Stays until the person leaves. Fails as `run` does when it cannot start. */
export const interact = Effect.fnUntraced(function*(invocation: Invocation, host: Host) {
  const output = yield* Output
  const clock = yield* Clock.Clock
  const fork = yield* FiberSet.makeRuntime<Needs>()
  const { keys, problem } = yield* readKeys(host)
  const quit = yield* Deferred.make<void>()
  const proceed = yield* Deferred.make<void>()
  const company = yield* Deferred.make<Company>()
  let present: Company | undefined
  let ticking = false
  let code = 0

  const tick = Effect.gen(function*() {
    while (screen.state.run !== undefined || screen.state.leaving !== undefined) {
      yield* Effect.sleep(sinceWhen)
      screen.dispatch({ type: "tick" })
    }
  }).pipe(Effect.ensuring(Effect.sync(() => (ticking = false))))

  const screen = new Screen({
    terminal: new ProcessTerminal(),
    palette: makePalette({ colours: wantsColours(host), theme: themeOf(host) }),
    state: initial({ version: manifest.version, folder: host.cwd, now: clock.currentTimeMillisUnsafe(), keymap: makeKeymap(keys) }),
    keys: { ...composerKeys, ...keys } as Record<string, Array<KeyId>>,
    now: () => clock.currentTimeMillisUnsafe(),
    perform: (command) => perform(command),
    crashed: (error) => void Deferred.doneUnsafe(quit, Effect.die(error)),
    changed: ({ leaving, run }) => {
      if (ticking || (run === undefined && leaving === undefined)) return
      ticking = true
      fork(tick)
    }
  })

  /** Leaves the terminal to a program for as long as it runs. */
  const lend = <A, E, R>(program: Effect.Effect<A, E, R>) =>
    Effect.acquireUseRelease(
      Effect.andThen(Effect.sync(() => screen.stop()), Effect.promise(host.terminal.stopReading)),
      () => program,
      () => Effect.sync(() => screen.resume())
    )
  const command = editorOf(host)
  const needs = yield* Effect.context<Needs>()
  const { environment, platform } = host
  const edit = (editor: string) => (title: string, text: string) => Effect.provideContext(editText({ editor, title, text, environment, platform, lend }), needs)
  const desk = makeDesk({ dispatch: (event) => void screen.dispatch(event), editor: command === undefined ? undefined : { command, edit: edit(command) } })
  let saidId = 1_000_000
  const errands = makeErrands({
    dispatch: (event) => void screen.dispatch(event),
    state: () => screen.state,
    company: Deferred.await(company),
    present: () => present,
    remember: (text) => screen.remember(text),
    ids: () => saidId++
  })
  const tell = (text: string, level: "info" | "warning" = "info") => Effect.sync(() => void screen.dispatch({ type: "notice", level, text }))

  const editComposed = Effect.suspend(() =>
    command === undefined
      ? tell("Set VISUAL or EDITOR to write in your own editor.", "warning")
      : edit(command)("prompt", screen.composed).pipe(
        Effect.flatMap((text) => Effect.sync(() => screen.compose(text))),
        Effect.catch(({ message }) => tell(message, "warning"))
      ))

  const perform = (wanted: Command): void => {
    switch (wanted.type) {
      case "answer":
        return desk.answer(wanted.id, wanted.outcome)
      case "quit":
        return void Deferred.doneUnsafe(quit, Effect.void)
      case "proceed":
        return void Deferred.doneUnsafe(proceed, Effect.void)
      case "suspend":
        return void fork(lend(Effect.promise(host.terminal.suspend)))
      case "edit":
        return void fork(editComposed)
      default:
        return void fork(errands.errand(wanted))
    }
  }

  let files: { readonly until: number; readonly names: Promise<ReadonlyArray<string>> } | undefined
  screen.completion = makeCompletion(() => screen.state, () => {
    const now = clock.currentTimeMillisUnsafe()
    if (files === undefined || files.until < now) files = { until: now + 10_000, names: Effect.runPromise(Effect.provideContext(filesBelow(host.cwd), needs)) }
    return files.names
  })

  const mode: Mode = {
    name: "tui",
    sink: { publish: (event) => Effect.sync(() => void screen.dispatch({ type: "agent", event })) },
    frontend: desk.frontend,
    notice: (text) => tell(text),
    opened: (session) => Effect.sync(() => void screen.dispatch({ type: "opened", session })),
    switched: (_, session) => Effect.sync(() => void screen.dispatch({ type: "opened", session })),
    refused: () => Effect.void,
    unsaved: (message) => Effect.andThen(Effect.sync(() => void (code = 1)), output.err(`nimlet: ${message}\n`)),
    closed: () => Effect.void,
    onlooker: {
      watch: Effect.flatMap(Extensions, ({ changes }) => Stream.runForEach(changes, (figures) => Effect.sync(() => void screen.dispatch({ type: "figures", figures })))),
      proceed: Deferred.await(proceed)
    },
    onIdleInput: ({ typed }) => Effect.sync(() => void screen.dispatch({ type: "said", words: { text: typed, literal: true } })),
    converse: Effect.fnUntraced(function*(conversing) {
      const here = yield* Effect.context()
      const given: Company = { ...conversing, within: Effect.provideContext(here) }
      yield* errands.load(given)
      if (screen.state.answering?.provider === "offline") yield* tell(firstSteps)
      present = given
      yield* Deferred.succeed(company, given)
      return yield* Effect.never
    })
  }

  yield* Effect.addFinalizer(() => Effect.suspend(() => {
    screen.stop()
    const { session, tokens } = screen.state
    // Nothing was said: there is nothing to come back to.
    if (session.id === "" || !invocation.persist || (tokens.steps === 0 && !screen.state.settled.some(({ kind }) => kind === "user"))) return Effect.void
    return output.out(`Go on with this session: nimlet --session ${session.id}\n`)
  }))
  yield* Effect.sync(() => screen.start())
  if (problem !== undefined) yield* tell(problem, "warning")
  const left = Effect.andThen(Deferred.await(quit), Effect.sync(() => {
    screen.stop()
    // Mostly they are gone before anybody could read it.
    fork(Effect.delay(output.err("Waiting for extensions to stop.\n"), patience))
  }))
  yield* Effect.raceFirst(run(invocation, host, mode, { typed: "", piped: { text: "", silent: false, garbled: false, excessive: false } }), left)
  return code
}, Effect.scoped)
