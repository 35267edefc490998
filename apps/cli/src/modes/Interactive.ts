/** Interactive mode: nimlet on a terminal without a prompt. The first frame stands before anything else is begun. */
import { type KeyId, ProcessTerminal } from "@earendil-works/pi-tui"
import { Clock, Deferred, Effect, FiberSet, type FileSystem, Path, type Stdio, Stream } from "effect"
import type { ChildProcessSpawner } from "effect/process"
import manifest from "../../package.json" with { type: "json" }
import { Extensions } from "@nimlet/extension"
import { editText } from "../ExternalEditor.ts"
import type { Invocation } from "../Flags.ts"
import { editorOf, type Host, wantsColours } from "../Host.ts"
import { Output } from "../Output.ts"
import { run } from "../Run.ts"
import type { Command } from "../tui/Command.ts"
import { filesBelow, makeCompletion } from "../tui/Completion.ts"
import { makeDesk } from "../tui/Desk.ts"
import { makeErrands } from "../tui/Errands.ts"
import type { Company } from "../tui/errand/ErrandRoom.ts"
import { makeHistory } from "../tui/History.ts"
import { composerKeys, makeKeymap } from "../tui/Keymap.ts"
import { themeChoices } from "../tui/Palette.ts"
import { Screen } from "../tui/Screen.ts"
import { readScreenSettings } from "../tui/ScreenSettings.ts"
import { initial, isMoving } from "../tui/State.ts"
import type { Mode } from "./Mode.ts"

type Needs = ChildProcessSpawner.ChildProcessSpawner | FileSystem.FileSystem | Path.Path

/** What somebody who has no key may do next. */
const firstSteps = "/login gives nimlet the key of a provider, here and now. Without one, try: read README.md · run ls · grep TODO"

/** What modules may choose from. */
const themes = themeChoices.map((name) => ({ name }))

const sinceWhen = "100 millis"
/** How long extensions may take to stop before the person is told what is waited for. */
const patience = "700 millis"

/** Stays until the person leaves. Fails as `run` does when it cannot start. */
export const interact = Effect.fnUntraced(function*(invocation: Invocation, host: Host) {
  const output = yield* Output
  const clock = yield* Clock.Clock
  const fork = yield* FiberSet.makeRuntime<Needs>()
  const path = yield* Path.Path
  const { appearance, keys, mouse, problems } = yield* readScreenSettings(host, invocation.screenReader)
  const history = yield* makeHistory(path.join(host.home, ".nimlet", "history"))
  const quit = yield* Deferred.make<void>()
  const proceed = yield* Deferred.make<void>()
  const company = yield* Deferred.make<Company>()
  let present: Company | undefined
  let ticking = false
  let code = 0

  const tick = Effect.gen(function*() {
    while (isMoving(screen.state)) {
      yield* Effect.sleep(sinceWhen)
      screen.dispatch({ type: "tick" })
    }
  }).pipe(Effect.ensuring(Effect.sync(() => (ticking = false))))

  const screen = new Screen({
    terminal: new ProcessTerminal(),
    colours: wantsColours(host),
    mouse,
    state: initial({ version: manifest.version, folder: host.cwd, now: clock.currentTimeMillisUnsafe(), keymap: makeKeymap(keys), appearance }),
    keys: { ...composerKeys, ...keys } as Record<string, Array<KeyId>>,
    now: () => clock.currentTimeMillisUnsafe(),
    perform: (command) => perform(command),
    submitted: (text) => {
      if (invocation.persist) fork(history.add(text))
    },
    crashed: (error) => void Deferred.doneUnsafe(quit, Effect.die(error)),
    changed: (state) => {
      if (ticking || !isMoving(state)) return
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
  const stdio = yield* Effect.context<Stdio.Stdio>()
  // Looked up by code that nothing else needs.
  const diagnosis = Effect.promise(() => import("../Doctor.ts")).pipe(
    Effect.flatMap(({ diagnose }) => diagnose(invocation, host)),
    Effect.provideContext(stdio)
  )
  const errands = makeErrands({
    dispatch: (event) => void screen.dispatch(event),
    state: () => screen.state,
    company: Deferred.await(company),
    present: () => present,
    remember: (text) => screen.remember(text),
    ids: () => saidId++,
    frontend: desk.frontend,
    home: host.home,
    settingsFile: path.join(host.home, ".nimlet", "config.json"),
    diagnosis,
    environment: host.environment,
    platform: host.platform
  })
  const tell = (text: string, level: "info" | "warning" = "info") => Effect.sync(() => void screen.dispatch({ type: "notice", level, text }))

  const begin = (text: string) => Effect.sync(() => void screen.dispatch({ type: "submitted", text, as: "steer" }))
  // With flags of extensions it is known when those have registered them which words are the prompt.
  const saysAtOnce = invocation.foreign.length === 0

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
  screen.completion = makeCompletion({
    state: () => screen.state,
    files: () => {
      const now = clock.currentTimeMillisUnsafe()
      if (files === undefined || files.until < now) files = { until: now + 10_000, names: Effect.runPromise(Effect.provideContext(filesBelow(host.cwd), needs)) }
      return files.names
    },
    invoke: (extension, handle, args) =>
      present === undefined ? Promise.resolve(undefined) : Effect.runPromise(Effect.orElseSucceed(present.extensions.invoke(extension, handle, args), () => undefined))
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
    leave: Effect.sync(() => void Deferred.doneUnsafe(quit, Effect.void)),
    screen: {
      read: (key) => key === "ui.editor_text" ? screen.composed : key === "ui.themes" ? themes : key === "ui.tools_expanded" ? screen.state.open : undefined,
      show: (extension, aspect, value) => Effect.sync(() => void screen.dispatch({ type: "aspect", extension, aspect, value }))
    },
    onIdleInput: ({ attached = [], saved = false, typed }) =>
      Effect.sync(() => {
        const pictures = attached.flatMap((part, id) => part.type === "image" && part.data !== undefined ? [{ id, mimeType: part.mimeType, data: part.data }] : [])
        screen.dispatch({ type: "said", words: { text: typed, literal: true, saved, ...(pictures.length === 0 ? {} : { pictures }) } })
      }),
    converse: Effect.fnUntraced(function*(conversing) {
      const here = yield* Effect.context()
      const given: Company = { ...conversing, within: Effect.provideContext(here) }
      yield* errands.load(given)
      if (screen.state.answering?.provider === "offline") yield* tell(firstSteps)
      present = given
      yield* Deferred.succeed(company, given)
      if (!saysAtOnce && given.typed !== "") yield* begin(given.typed)
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
  screen.askGround()
  const { makeMarkdown } = yield* Effect.promise(() => import("../tui/view/MarkdownLibrary.ts"))
  screen.markdown = makeMarkdown
  for (const problem of problems) yield* tell(problem, "warning")
  for (const text of yield* history.read) screen.remember(text)
  if (saysAtOnce && invocation.prompt !== "") yield* begin(invocation.prompt)
  const left = Effect.andThen(Deferred.await(quit), Effect.sync(() => {
    screen.stop()
    // Mostly they are gone before anybody could read it.
    fork(Effect.delay(output.err("Waiting for extensions to stop.\n"), patience))
  }))
  yield* Effect.raceFirst(run(invocation, host, mode, { typed: invocation.prompt, piped: { text: "", silent: false, garbled: false, excessive: false } }), left)
  return code
}, Effect.scoped)
