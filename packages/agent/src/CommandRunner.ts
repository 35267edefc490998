/**
 * Runs a slash command: a run of its own without a model. Built-in names come first, then those of extensions, whose
 * replies are carried out in the order message, session, reload, prompt (seed 000, "command"; side effects are the
 * host's). A session action that is refused ends the command there.
 */
import { Deferred, Effect, Latch, Result } from "effect"
import { type CommandReply, Extensions, type SessionAccessShape } from "@nimlet/extension"
import type { ContentPart, RunPlace, SessionAction } from "@nimlet/protocol"
import { Sessions, titleOf } from "@nimlet/session"
import type { Files } from "@nimlet/tools"
import type { SwitchRefused } from "./AgentError.ts"
import { commandContext } from "./CommandContext.ts"
import { type BuiltinName, builtinNamed, helpText, initPrompt, type TypedCommand } from "./Commands.ts"
import { EventSink } from "./EventSink.ts"
import { extensionList } from "./ExtensionList.ts"
import type { RunResult } from "./Loop.ts"
import type { ModeChoice } from "./ModeChoice.ts"
import type { Resources } from "./Resources.ts"
import { makeRewind, type RewindPlan } from "./Rewind.ts"
import type { Selection } from "./Selection.ts"
import type { Destination, Switching, Target } from "./Switching.ts"
import { sessionCommand } from "./SessionCommand.ts"
import { type SessionTotals, totalsText } from "./Totals.ts"
import type { Trust, TrustState } from "./Trust.ts"

/** The models that are known by name, for `/models`. */
export interface ModelCommands {
  /** Those with all the words, as a person reads them. */
  readonly list: (words: ReadonlyArray<string>) => Effect.Effect<string>
  /** Fetches what is new, and says what came of it. */
  readonly refresh: Effect.Effect<string, { readonly message: string }>
}

/** What commands work with. */
export interface CommandRunnerOptions {
  readonly switching: Switching
  readonly selection: () => Selection
  /** How we run, for a command's `context`. */
  readonly mode: string
  /** The files of the workspace, for those that go back with the conversation; absent where they cannot. */
  readonly files?: Files
  readonly resources: () => Resources
  readonly totals: Effect.Effect<SessionTotals>
  /** What is known of models; absent where nobody can say. */
  readonly modelCommands?: ModelCommands
  readonly modes: ModeChoice
  /** Whether calls run without a question; with an argument, changes it. */
  readonly yolo: (on?: boolean) => boolean
  /** Trust in the project; absent where there is no such question. */
  readonly trust?: Trust
  /** Runs words as the user's next ones, with what goes along with them. */
  readonly say: (words: string, attached?: ReadonlyArray<ContentPart>) => Effect.Effect<RunResult>
}

/** What became of a command; `prompt` is what it wants said to the model, `attached` goes along with it. */
type Outcome = RunResult & { readonly prompt?: string; readonly attached?: ReadonlyArray<ContentPart> }

/** Speaks for a command: its one answer, what it did otherwise, its failure (after the end of its run, too), and that end, which comes once. */
interface Voice {
  readonly tell: (text: string) => Effect.Effect<Outcome>
  readonly note: (text: string) => Effect.Effect<void>
  readonly fail: (text: string) => Effect.Effect<Outcome>
  readonly end: Effect.Effect<void>
  /** What the command wants said is run next, unless it fails yet. */
  readonly follow: () => void
}

/** A change that an extension's command makes by itself. The command is over when it has answered and the change is `over`. */
export interface Change<E> {
  readonly going: Effect.Effect<unknown, E>
  readonly over: Effect.Effect<unknown>
}

/** Runs what was typed. */
export interface CommandRunner {
  readonly run: (typed: string, command: TypedCommand) => Effect.Effect<RunResult>
  /** Changes the session for an extension's command under way, whose run ends with the session that it began in; undefined when none is. */
  readonly changing: (target: Target, entering: (destination: Destination) => Effect.Effect<void>) => Change<SwitchRefused> | undefined
  /** Starts the extensions anew for a command under way; undefined when none is. */
  readonly reloading: () => Change<never> | undefined
  /** Returns when no command of an extension is under way. */
  readonly quiet: Effect.Effect<void>
  /** Takes what an extension's command under way wants said when it is over; false when none is. */
  readonly follow: (words: string, attached?: ReadonlyArray<ContentPart>) => boolean
}

const voiceOf = Effect.fnUntraced(function*(place: RunPlace) {
  const { publish } = yield* EventSink
  let ended = false
  let followed = false
  const voice: Voice = {
    tell: (text) =>
      publish({ type: "message", session_id: place.session_id, turn_id: place.turn_id, role: "assistant", content: text, final: true }).pipe(
        Effect.as({ success: true, text })
      ),
    note: (message) => publish({ type: "diagnostic", level: "info", message }),
    fail: (message) =>
      Effect.suspend(() => {
        followed = false
        return publish(ended ? { type: "diagnostic", level: "error", message } : { type: "error", ...place, step: -1, message })
      }).pipe(Effect.as({ success: false, text: "" })),
    follow: () => void (followed = true),
    end: Effect.suspend(() => {
      if (ended) return Effect.void
      ended = true
      return publish({ type: "run_end", ...place, ...(followed ? { followed } : {}) })
    })
  }
  return voice
})

const entered = (kind: Target["kind"], { session, title }: Destination): string => {
  const named = `${session.id}${title === "" ? "" : ` (${title})`}`
  return kind === "new" ? `New session ${named}.` : kind === "resume" ? `Resumed session ${named}.` : `Forked into session ${named}.`
}

const rewindUsage = "Usage: /rewind N [files [now]], or /rewind undo"

/** What a plan would do, a line a file. */
const planText = ({ moves, refusals }: RewindPlan): string =>
  [...moves.map(({ path, removes }) => `${path}: ${removes ? "would be taken away" : "would be as it was"}`), ...refusals.map(({ path, why }) => `${path}: ${why}`)].join("\n")

const standing = ({ files, trusted }: TrustState): string => {
  if (files.length === 0) return `${trusted ? "Trusted" : "Not trusted"}: this project has no files of its own that act.`
  const which = `${files.length} ${files.length === 1 ? "file" : "files"} of this project`
  return `${trusted ? `Loaded: ${which}` : `Left out: ${which}`}\n${files.map(({ path }) => `  ${path}`).join("\n")}`
}

/** Runs the commands of an agent. */
export const makeCommandRunner = (options: CommandRunnerOptions): Effect.Effect<CommandRunner, never, Extensions | Sessions> =>
  Effect.gen(function*() {
    const { say, switching } = options
    const extensions = yield* Extensions
    const sessions = yield* Sessions

    /** Changes the session. The command's run ends with the session that it began in. */
    const go = (voice: Voice, target: Target, answer: (destination: Destination) => Effect.Effect<unknown>) =>
      switching.go(target, (destination) => Effect.andThen(answer(destination), voice.end))

    const goAndSay = Effect.fnUntraced(function*(voice: Voice, target: Target) {
      const { text, ...destination } = yield* go(voice, target, (there) => voice.tell(entered(target.kind, there)))
      const done: Outcome = { success: true, text: entered(target.kind, { ...destination, text }) }
      return text === "" ? done : { ...done, editorText: text }
    }, (effect, voice) => Effect.catch(effect, (error: SwitchRefused) => voice.fail(error.message)))

    const rewind = options.files === undefined ? undefined : makeRewind(options.files, sessions.snapshots)

    /** Changes the session and, on the way, files. */
    const goWith = Effect.fnUntraced(function*(voice: Voice, target: Target, plan: RewindPlan, hint: string) {
      if (plan.refusals.length > 0) return yield* voice.fail(`Nothing was changed:\n${planText(plan)}`)
      let told = ""
      const { text } = yield* go(voice, target, Effect.fnUntraced(function*(there) {
        told = [entered(target.kind, there), ...(yield* plan.carryOut(there.session)), ...(hint === "" ? [] : [hint])].join("\n")
        yield* voice.tell(told)
      }))
      const done: Outcome = { success: true, text: told }
      return text === "" ? done : { ...done, editorText: text }
    }, (effect, voice) => Effect.catch(effect, (error: SwitchRefused) => voice.fail(error.message)))

    const rewindFiles = Effect.fnUntraced(function*(message: number, now: boolean, voice: Voice) {
      const plan = yield* rewind?.plan(switching.current().session, message) ?? Effect.undefined
      if (rewind === undefined) return yield* voice.fail("Files cannot be brought back here.")
      if (plan === undefined) return yield* voice.fail(`There is no message ${message} of yours in this session.`)
      if (now) return yield* goWith(voice, { kind: "fork", message }, plan, "/rewind undo takes all of it back.")
      if (plan.moves.length + plan.refusals.length === 0) return yield* voice.tell(`No file was changed by edit or write since. /rewind ${message} goes back.`)
      const next = plan.refusals.length === 0 ? `/rewind ${message} files now does it.` : `So no file would go back; /rewind ${message} goes back without them.`
      return yield* voice.tell(`${planText(plan)}\n${next}`)
    })

    const undoRewind = Effect.fnUntraced(function*(voice: Voice) {
      const undo = yield* rewind?.undo(switching.current().session) ?? Effect.undefined
      if (undo === undefined) return yield* voice.fail("This session was not entered by a rewind of files that can be taken back.")
      return yield* goWith(voice, { kind: "resume", id: undo.from }, undo.plan, "")
    })

    const reload = Effect.gen(function*() {
      yield* switching.reload
      return switching.unready()?.message
    })

    /** Changes the way of working; words that stand behind it are the first said in it. */
    const work = Effect.fnUntraced(function*(id: string, prompt: string, voice: Voice) {
      const { label } = yield* options.modes.choose(id)
      const told = yield* voice.tell(`Mode: ${label}.`)
      return prompt === "" ? told : { ...told, prompt }
    }, (effect, _id, _prompt, voice) => Effect.catch(effect, (error) => voice.fail(error.message)))

    const builtins: { readonly [N in BuiltinName]: (args: string, voice: Voice) => Effect.Effect<Outcome> } = {
      new: (_, voice) => goAndSay(voice, { kind: "new" }),
      resume: (id, voice) => goAndSay(voice, { kind: "resume", id }),
      fork: (args, voice) =>
        /^\d+$/.test(args) ? goAndSay(voice, { kind: "fork", message: Number(args) }) : voice.fail("/fork wants the number of one of your messages: /fork 2"),
      rewind: (args, voice) => {
        const [what = "", files, now, ...more] = args.toLowerCase().split(/\s+/)
        if (what === "undo" && files === undefined) return undoRewind(voice)
        if (!/^\d+$/.test(what) || (files ?? "files") !== "files" || (now ?? "now") !== "now" || more.length > 0) return voice.fail(rewindUsage)
        return files === undefined ? goAndSay(voice, { kind: "fork", message: Number(what) }) : rewindFiles(Number(what), now !== undefined, voice)
      },
      name: Effect.fnUntraced(function*(title, voice) {
        const { access, session } = switching.current()
        if (title === "") {
          const present = titleOf(yield* session.entries)
          return yield* voice.tell(present === "" ? "The session has no title." : present)
        }
        const named: Effect.Success<ReturnType<SessionAccessShape["name"]>> | undefined = yield* access.name(title).pipe(
          Effect.catch((error) => Effect.as(voice.fail(error.reason), undefined))
        )
        return named === undefined ? { success: false, text: "" } : yield* voice.tell(`The session is now called: ${named}`)
      }),
      session: Effect.fnUntraced(function*(args, voice) {
        const { ledger, session } = switching.current()
        const { done, text } = yield* sessionCommand({ sessions, session, ledger }, args)
        return yield* done ? voice.tell(text) : voice.fail(text)
      }),
      export: Effect.fnUntraced(function*(file, voice) {
        const { session } = switching.current()
        const written = yield* Effect.result(sessions.export(session, { folder: session.workspace, file }))
        return yield* Result.match(written, {
          onFailure: (error) => voice.fail(error._tag === "ExportRefused" ? `${error.message}; name another file: /export FILE` : error.message),
          onSuccess: (path) => voice.tell(`The session is written to ${path}.`)
        })
      }),
      compact: (instruction, voice) => Effect.flatMap(switching.current().compact(instruction), ({ failed, message }) => failed ? voice.fail(message) : voice.tell(message)),
      reload: (_, voice) =>
        Effect.flatMap(reload, (missing) =>
          missing === undefined
            ? Effect.flatMap(extensions.figures, (figures) => voice.tell(`Extensions were started anew.\n${extensionList(figures)}`))
            : voice.fail(missing)),
      extensions: Effect.fnUntraced(function*(args, voice) {
        const [what, name, ...more] = args.split(/\s+/).filter((word) => word !== "")
        if (what === undefined) return yield* voice.tell(extensionList(yield* extensions.figures))
        if (what.toLowerCase() !== "restart" || name === undefined || more.length > 0) return yield* voice.fail("Usage: /extensions [restart NAME]")
        return (yield* extensions.restart(name)) ? yield* voice.tell(`Extension '${name}' is started afresh.`) : yield* voice.fail(`There is no extension '${name}' to restart.`)
      }),
      plan: (prompt, voice) => work("plan", prompt, voice),
      act: (prompt, voice) => work("act", prompt, voice),
      mode: Effect.fnUntraced(function*(id, voice) {
        if (id !== "") return yield* work(id, "", voice)
        const all = yield* options.modes.all
        const rows = all.map((mode) => `${mode.id === options.modes.chosen().id ? "*" : " "} ${mode.id}${mode.label === mode.id ? "" : `: ${mode.label}`}`)
        return yield* voice.tell(rows.join("\n"))
      }),
      trust: Effect.fnUntraced(function*(args, voice) {
        const { trust } = options
        const wish = args.toLowerCase()
        if (trust === undefined) return yield* voice.fail("Projects are not asked about here.")
        if (wish === "") return yield* voice.tell(standing(trust.current()))
        if (wish !== "on" && wish !== "off") return yield* voice.fail("Usage: /trust [on|off]")
        yield* trust.set(wish === "on")
        const missing = yield* reload
        return missing === undefined ? yield* voice.tell(standing(trust.current())) : yield* voice.fail(missing)
      }, (effect, _, voice) => Effect.catch(effect, (error) => voice.fail(error.message))),
      permissions: Effect.fnUntraced(function*(args, voice) {
        const { clear, remembered } = switching.current().permissions
        if (args !== "" && args.toLowerCase() !== "clear") return yield* voice.fail("Usage: /permissions [clear]")
        if (args !== "") yield* clear
        const keys = yield* remembered
        return yield* voice.tell(keys.length === 0 ? "Nothing is remembered." : `Runs without a question:\n${keys.map((key) => `  ${key}`).join("\n")}`)
      }),
      yolo: (args, voice) => {
        const wish = args.toLowerCase()
        if (wish !== "" && wish !== "on" && wish !== "off") return voice.fail("Usage: /yolo [on|off]")
        const on = options.yolo(wish === "" ? undefined : wish === "on")
        return voice.tell(on ? "Calls run without a question." : "Calls are asked about.")
      },
      models: (args, voice) => {
        const { modelCommands: models } = options
        const words = args.split(/\s+/).filter((word) => word !== "")
        if (models === undefined) return voice.fail("No models are known by name here.")
        return words.length === 1 && words[0]?.toLowerCase() === "refresh"
          ? Effect.matchEffect(models.refresh, { onFailure: ({ message }) => voice.fail(message), onSuccess: voice.tell })
          : Effect.flatMap(models.list(words), voice.tell)
      },
      stats: (_, voice) => Effect.flatMap(options.totals, (totals) => voice.tell(totalsText(totals))),
      init: (wish, voice) =>
        Effect.sync(() => {
          voice.follow()
          return { success: true, text: "", prompt: initPrompt(wish) }
        }),
      help: (_, voice) =>
        Effect.flatMap(extensions.commands, (others) => {
          const { skills, templates } = options.resources()
          return voice.tell(helpText(others, [...templates, ...skills.map(({ description, name }) => ({ name: `skill:${name}`, description }))]))
        })
    }

    const context = Effect.suspend(() => commandContext(switching.current().session, options.selection(), options.mode))

    const targetOf = ({ action, id, message }: SessionAction): Target | string => {
      if (action === "switch") return id === undefined || id === "" ? "a switch wants the id of a session" : { kind: "resume", id }
      if (action === "fork") return message === undefined ? "a fork wants the number of a message" : { kind: "fork", message }
      return { kind: "new" }
    }

    /** Does what a reply wants done with the session. Undefined when that was refused, which has been told then. */
    const act = Effect.fnUntraced(function*(voice: Voice, session: SessionAction) {
      const { action, editor_text = "" } = session
      if (action === undefined) return { switched: false, editorText: editor_text }
      if (action === "compact") {
        const { failed, message } = yield* switching.current().compact(session.instruction ?? "")
        if (failed) return yield* Effect.as(voice.fail(message), undefined)
        yield* voice.note(message)
        return { switched: false, editorText: editor_text }
      }
      const target = targetOf(session)
      if (typeof target === "string") return yield* Effect.as(voice.fail(`Extension command failed: ${target}`), undefined)
      return yield* go(voice, target, () => Effect.void).pipe(
        Effect.map(({ text }) => ({ switched: true, editorText: editor_text === "" ? text : editor_text })),
        Effect.catch((error) => Effect.as(voice.fail(error.message), undefined))
      )
    })

    const quiet = yield* Latch.make(true)
    let underWay: { readonly voice: Voice; readonly over: Deferred.Deferred<void>; said: ReadonlyArray<{ readonly words: string; readonly attached: ReadonlyArray<ContentPart> }>; changed: boolean } | undefined

    /** A command of an extension. When it has changed the session by itself, its old self may be gone before it answers. */
    const ask = Effect.fnUntraced(function*(name: string, args: string, voice: Voice) {
      const present: NonNullable<typeof underWay> = { voice, over: yield* Deferred.make<void>(), said: [], changed: false }
      const asked = yield* Effect.acquireUseRelease(
        Effect.sync(() => {
          underWay = present
          quiet.closeUnsafe()
        }),
        () =>
          Effect.flatMap(context, (known) => Effect.result(extensions.runCommand(name, args, known))).pipe(
            Effect.tap(Effect.sync(() => quiet.openUnsafe())),
            Effect.tap(Effect.suspend(() => present.changed ? Deferred.await(present.over) : Effect.void))
          ),
        () =>
          Effect.sync(() => {
            underWay = undefined
            quiet.openUnsafe()
          })
      )
      if (Result.isFailure(asked) && !present.changed) return yield* asked.failure
      const reply: CommandReply = Result.getOrElse(asked, () => ({}))
      const prompt = [reply.prompt ?? "", ...present.said.map(({ words }) => words)].filter((text) => text !== "").join("\n\n")
      return { ...reply, prompt, attached: present.said.flatMap(({ attached }) => attached) }
    })

    const extensionCommand = Effect.fnUntraced(function*(name: string, args: string, voice: Voice) {
      const { attached, message = "", prompt, reload: wanted = false, session = {} } = yield* ask(name, args, voice)
      if (prompt !== "" || attached.length > 0) voice.follow()
      if (message !== "") yield* voice.tell(message)
      const done = yield* act(voice, session)
      if (done === undefined) return { success: false, text: message }
      const missing = wanted && !done.switched ? yield* reload : undefined
      if (missing !== undefined) return yield* voice.fail(missing)
      const outcome: Outcome = { success: true, text: message, prompt, attached }
      return done.editorText === "" ? outcome : { ...outcome, editorText: done.editorText }
    }, (effect, _name, _args, voice) => Effect.catch(effect, (error) => voice.fail(`Extension command failed: ${error.message}`)))

    const run = Effect.fnUntraced(function*(typed: string, { args, name }: TypedCommand) {
      const { publish } = yield* EventSink
      const { session } = switching.current()
      const turn_id = `${session.id}:turn:${(yield* session.entries).length}`
      const place: RunPlace = { session_id: session.id, turn_id, run_id: turn_id }
      const voice = yield* voiceOf(place)
      yield* publish({ type: "message", session_id: session.id, turn_id, role: "user", content: typed })
      yield* publish({ type: "run_start", ...place, prompt: typed })
      const { attached = [], prompt = "", ...result } = yield* Effect.gen(function*() {
        const builtin = builtinNamed(name)
        if (builtin !== undefined) return yield* builtins[builtin.name](args, voice)
        const known = yield* extensions.commands
        return known.some((one) => one.name.toLowerCase() === name.toLowerCase())
          ? yield* extensionCommand(name, args, voice)
          : yield* voice.fail(`Unknown command '/${name}'; /help lists what there is.`)
      }).pipe(
        Effect.onInterrupt(() => voice.fail("Interrupted")),
        Effect.ensuring(voice.end)
      )
      if (prompt === "" && attached.length === 0) return result
      const answer = yield* say(prompt, attached)
      return { ...answer, text: [result.text, answer.text].filter((text) => text !== "").join("\n\n") }
    })
    const runner: CommandRunner = {
      run,
      changing: (target, entering) => {
        const present = underWay
        if (present === undefined) return undefined
        const going = go(present.voice, target, (destination) =>
          Effect.andThen(Effect.sync(() => void (present.changed = true)), entering(destination)))
        return { going, over: Deferred.succeed(present.over, undefined) }
      },
      reloading: () => {
        if (underWay === undefined) return undefined
        underWay.changed = true
        return { going: switching.reload, over: Deferred.succeed(underWay.over, undefined) }
      },
      quiet: quiet.await,
      follow: (words, attached = []) => {
        if (underWay === undefined) return false
        underWay.said = [...underWay.said, { words, attached }]
        return true
      }
    }
    return runner
  })
