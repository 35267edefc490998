/** What a person says of their screen: in `config.json`, in `keybindings.json`, by the environment. */
import { Effect, FileSystem, Path, Result, Schema } from "effect"
import type { Host } from "../Host.ts"
import { type ChosenKeys, keyProblems } from "./Keymap.ts"
import { type ThemeChoice, themeChoices, type ThemeName } from "./Palette.ts"
import type { Appearance } from "./State.ts"

/** What a person says of their screen, and what of it was no good, a sentence each. */
export interface ScreenSettings {
  readonly keys: ChosenKeys
  readonly appearance: Appearance
  readonly mouse: boolean
  readonly problems: ReadonlyArray<string>
}

const KeyBindings = Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Array(Schema.String)]))
const OwnFile = Schema.fromJsonString(KeyBindings)
const isBindings = Schema.is(KeyBindings)
const Content = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown))

const choiceOf = (value: unknown): ThemeChoice => themeChoices.find((one) => one === value) ?? "auto"

/** What the terminal says of its ground in `COLORFGBG`: dark where it says nothing. Pure. */
const groundOf = ({ environment }: Pick<Host, "environment">): ThemeName => {
  const ground = Number(environment["COLORFGBG"]?.split(";").at(-1))
  return ground === 7 || (ground >= 9 && ground <= 15) ? "light" : "dark"
}

/** Reads them; `screenReader` says that the command line wants plain words. What is wrong is left aside and told; what else is wrong with the settings is told by whoever reads all of them. */
export const readScreenSettings = Effect.fnUntraced(function*(host: Host, screenReader: boolean): Effect.fn.Return<ScreenSettings, never, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const read = (name: string) => Effect.orElseSucceed(fs.readFileString(path.join(host.home, ".nimlet", name)), () => "{}")
  const settings = Result.getOrElse(Schema.decodeResult(Content)(yield* read("config.json")), (): Readonly<Record<string, unknown>> => ({}))
  const own = Schema.decodeResult(OwnFile)(yield* read("keybindings.json"))
  const named = settings["keybindings"]
  const chosen = { ...isBindings(named) ? named : {}, ...Result.getOrElse(own, () => ({})) }
  const keys = Object.fromEntries(Object.entries(chosen).map(([action, given]) => [action, typeof given === "string" ? [given] : given]))
  const reader = host.environment["NIMLET_SCREEN_READER"]
  return {
    keys,
    appearance: {
      theme: choiceOf(settings["theme"]),
      ground: groundOf(host),
      plain: screenReader || (reader === undefined ? settings["screen_reader"] === true : reader !== "" && reader !== "0")
    },
    mouse: settings["mouse"] !== false,
    problems: [
      ...(Result.isFailure(own) ? ["~/.nimlet/keybindings.json was left aside: it must be an object of actions, each with a key or a list of keys."] : []),
      ...keyProblems(keys).map((problem) => `Key bindings: ${problem}.`)
    ]
  }
})
