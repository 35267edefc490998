/** What each command does that is built in. */
import { Effect, Result } from "effect"
import { Extensions, type SessionAccessShape } from "@nimlet/extension"
import { Sessions, titleOf } from "@nimlet/session"
import type { Files } from "@nimlet/tools"
import { type BuiltinName, helpText, initPrompt } from "../Commands.ts"
import { extensionList } from "../ExtensionList.ts"
import type { ModeChoice } from "../ModeChoice.ts"
import type { Resources } from "../Resources.ts"
import { sessionCommand } from "../SessionCommand.ts"
import type { Switching } from "../Switching.ts"
import { type SessionTotals, totalsText } from "../Totals.ts"
import type { Trust, TrustState } from "../Trust.ts"
import { makeRewindCommand } from "./RewindCommand.ts"
import type { SessionChange } from "./SessionChange.ts"
import type { Outcome, Voice } from "./Voice.ts"

/** The models that are known by name, for `/models`. */
export interface ModelCommands {
  /** Those with all the words, as a person reads them. */
  readonly list: (words: ReadonlyArray<string>) => Effect.Effect<string>
  /** Fetches what is new, and says what came of it. */
  readonly refresh: Effect.Effect<string, { readonly message: string }>
}

/** What they work with. */
export interface BuiltinsOptions {
  readonly switching: Switching
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
  readonly change: SessionChange
  /** Starts the extensions anew; gives why nothing may run then, if so. */
  readonly reload: Effect.Effect<string | undefined>
}

/** Each by its name, run with what was typed behind it. */
export type Builtins = { readonly [N in BuiltinName]: (args: string, voice: Voice) => Effect.Effect<Outcome> }

const standing = ({ files, trusted }: TrustState): string => {
  if (files.length === 0) return `${trusted ? "Trusted" : "Not trusted"}: this project has no files of its own that act.`
  const which = `${files.length} ${files.length === 1 ? "file" : "files"} of this project`
  return `${trusted ? `Loaded: ${which}` : `Left out: ${which}`}\n${files.map(({ path }) => `  ${path}`).join("\n")}`
}

/** The built-in commands of an agent. */
export const makeBuiltins = Effect.fnUntraced(function*(options: BuiltinsOptions) {
  const { change: { goAndSay }, change, reload, switching } = options
  const extensions = yield* Extensions
  const sessions = yield* Sessions

  /** Changes the way of working; words that stand behind it are the first said in it. */
  const work = Effect.fnUntraced(function*(id: string, prompt: string, voice: Voice) {
    const { label } = yield* options.modes.choose(id)
    const told = yield* voice.tell(`Mode: ${label}.`)
    return prompt === "" ? told : { ...told, prompt }
  }, (effect, _id, _prompt, voice) => Effect.catch(effect, (error) => voice.fail(error.message)))

  const builtins: Builtins = {
    new: (_, voice) => goAndSay(voice, { kind: "new" }),
    resume: (id, voice) => goAndSay(voice, { kind: "resume", id }),
    fork: (args, voice) =>
      /^\d+$/.test(args) ? goAndSay(voice, { kind: "fork", message: Number(args) }) : voice.fail("/fork wants the number of one of your messages: /fork 2"),
    rewind: makeRewindCommand({ files: options.files, snapshots: sessions.snapshots, switching, change }),
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
  return builtins
})
