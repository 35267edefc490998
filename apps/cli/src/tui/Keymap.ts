/** The keys of the screen and of the composer: what each action is called, what it does, and which keys do it. Pure. */
import { TUI_KEYBINDINGS } from "@earendil-works/pi-tui"

/** An action of the screen that keys can be bound to. */
export type Action =
  | "interrupt" | "clear" | "leave" | "details" | "followUp" | "takeBack" | "suspend" | "editor" | "mode" | "search" | "image" | "copy"

/** An action in the list of sessions. */
export type SessionKey = "rename" | "discard"

/** An action's name in settings, the keys that do it, and what it does. */
export interface Binding {
  readonly name: string
  readonly keys: ReadonlyArray<string>
  readonly about: string
}

interface Bound<A> extends Binding {
  readonly action: A
}

/** The actions of the screen as they are bound when nobody says otherwise. Of two with one key the earlier has it. */
const defaultKeys: ReadonlyArray<Bound<Action>> = [
  { action: "interrupt", name: "app.interrupt", keys: ["escape"], about: "interrupt; dismiss a question; clear the composer" },
  { action: "clear", name: "app.clear", keys: ["ctrl+c"], about: "clear the composer; interrupt; twice: leave" },
  { action: "leave", name: "app.quit", keys: ["ctrl+d"], about: "leave, with nothing in the composer" },
  { action: "details", name: "app.tools.expand", keys: ["ctrl+o"], about: "show calls and thinking at length, or in short" },
  { action: "search", name: "app.search", keys: ["ctrl+f"], about: "search the conversation" },
  { action: "followUp", name: "app.message.followUp", keys: ["alt+enter"], about: "say it when the run has ended" },
  { action: "takeBack", name: "app.message.dequeue", keys: ["alt+up"], about: "take back what waits to be said" },
  { action: "suspend", name: "app.suspend", keys: ["ctrl+z"], about: "go to the background; `fg` comes back" },
  { action: "editor", name: "app.editor.external", keys: ["ctrl+g"], about: "write in your own editor" },
  { action: "image", name: "app.image.paste", keys: ["ctrl+v"], about: "attach the picture in the clipboard" },
  { action: "copy", name: "app.message.copy", keys: ["ctrl+shift+c"], about: "copy the last answer, where the terminal leaves us that key" },
  { action: "mode", name: "app.thinking.cycle", keys: ["shift+tab"], about: "the next way of working: act, plan, those of extensions" }
]

/** The actions in the list of sessions. */
const sessionKeys: ReadonlyArray<Bound<SessionKey>> = [
  { action: "rename", name: "app.session.rename", keys: ["ctrl+r"], about: "in the list of sessions: give one a title" },
  { action: "discard", name: "app.session.delete", keys: ["ctrl+d"], about: "in the list of sessions: move one to the trash" }
]

/** What a key means in lists and questions, by the names that extensions know; ctrl+c is the screen's everywhere. */
const listBindings: ReadonlyArray<Binding & { readonly means: string }> = [
  { means: "enter", name: "tui.select.confirm", keys: ["enter"], about: "in lists and questions: pick, answer" },
  { means: "escape", name: "tui.select.cancel", keys: ["escape"], about: "in lists and questions: close, dismiss" },
  { means: "up", name: "tui.select.up", keys: ["up", "ctrl+p"], about: "in lists and questions: the one before" },
  { means: "down", name: "tui.select.down", keys: ["down", "ctrl+n"], about: "in lists and questions: the next one" },
  { means: "pageUp", name: "tui.select.pageUp", keys: ["pageup"], about: "in lists: a page before" },
  { means: "pageDown", name: "tui.select.pageDown", keys: ["pagedown"], about: "in lists: a page on" }
]

/** Keys of the composer that differ from the terminal library's own. */
export const composerKeys: Readonly<Record<string, ReadonlyArray<string>>> = {
  "tui.editor.undo": ["ctrl+-", "ctrl+_"],
  "tui.input.newLine": ["shift+enter", "alt+j", "ctrl+j"],
  "tui.editor.historyPrevious": ["ctrl+p"],
  "tui.editor.historyNext": ["ctrl+n"]
}

/** What the composer does, where the library's own words would not tell it. */
const composerAbout: Readonly<Record<string, string>> = {
  "tui.input.submit": "send; while the agent works: say it before its next step",
  "tui.input.newLine": "new line; a backslash before enter does it, too",
  "tui.input.tab": "complete; with nothing typed: to the buttons of extensions",
  "tui.editor.historyPrevious": "the prompt before",
  "tui.editor.historyNext": "the prompt after",
  "tui.editor.cursorUp": "move cursor up; on the first line: the prompt before",
  "tui.editor.cursorDown": "move cursor down; on the last line: the prompt after",
  "tui.editor.yank": "put back what was cut",
  "tui.editor.yankPop": "put back what was cut before it"
}

const composerBindings: ReadonlyArray<Binding> = Object.entries(TUI_KEYBINDINGS).flatMap(([name, { defaultKeys: own, description }]): ReadonlyArray<Binding> =>
  !/^tui\.(editor|input)\./.test(name) || name === "tui.input.copy"
    ? []
    : [{ name, keys: composerKeys[name] ?? (typeof own === "string" ? [own] : own), about: composerAbout[name] ?? description.toLowerCase() }])

/** Which keys do what: `screen` comes before `composer`; `lists` and `sessions` hold where there are any. */
export interface Keymap {
  readonly screen: ReadonlyArray<Bound<Action>>
  readonly lists: typeof listBindings
  readonly sessions: ReadonlyArray<Bound<SessionKey>>
  readonly composer: ReadonlyArray<Binding>
}

/** What a person says of actions, by their names: the keys that take the place of an action's own, none to switch it off. */
export type ChosenKeys = Readonly<Record<string, ReadonlyArray<string>>>

/** The keys in force. */
export const makeKeymap = (chosen: ChosenKeys = {}): Keymap => {
  const bound = <B extends Binding>(binding: B): B => ({ ...binding, keys: (chosen[binding.name] ?? binding.keys).map((key) => key.toLowerCase()) })
  return { screen: defaultKeys.map(bound), lists: listBindings.map(bound), sessions: sessionKeys.map(bound), composer: composerBindings.map(bound) }
}

const shape = /^(?:(?:ctrl|shift|alt|super)\+)*(?:[^\s+]|\+|f\d{1,2}|escape|esc|enter|return|tab|space|backspace|delete|insert|clear|home|end|pageup|pagedown|up|down|left|right)$/i

const otherNames: Readonly<Record<string, string>> = { esc: "escape", return: "enter" }

/** A key by the one name that it is compared by, however it is written: `Shift+Ctrl+C` is `ctrl+shift+c`, `esc` is `escape`. */
export const nameOfKey = (key: string): string => {
  const [, modifiers = "", own = ""] = /^((?:(?:ctrl|shift|alt|super)\+)*)(.*)$/s.exec(key.toLowerCase()) ?? []
  return [...modifiers.split("+").filter((one) => one !== "").toSorted(), otherNames[own] ?? own].join("+")
}

const has = (keys: ReadonlyArray<string>, key: string): boolean => {
  const wanted = nameOfKey(key)
  return keys.some((one) => nameOfKey(one) === wanted)
}

/** What is wrong with what was chosen, a sentence each: names there are not, keys there are not, one key twice. */
export const keyProblems = (chosen: ChosenKeys): ReadonlyArray<string> => {
  const keymap = makeKeymap(chosen)
  const known = [...keymap.screen, ...keymap.lists, ...keymap.sessions, ...keymap.composer]
  const unknown = Object.keys(chosen).filter((name) => !known.some((binding) => binding.name === name))
  const odd = Object.entries(chosen).flatMap(([name, keys]) => keys.filter((key) => !shape.test(key)).map((key) => `${name}: '${key}' is no key`))
  const isElsewhere = (name: string) => /^(tui\.select|app\.session)\./.test(name)
  const twice = Object.entries(chosen).filter(([name]) => !isElsewhere(name)).flatMap(([name, keys]) => keys.flatMap((key) =>
    keymap.screen.filter((other) => other.name !== name && has(other.keys, key)).map((other) => `${name}: ${key} does ${other.name}, too`)))
  return [...unknown.map((name) => `there is no action '${name}' (/keys lists them)`), ...odd, ...twice]
}

/** The action of the screen that a key does. */
export const actionOf = ({ screen }: Keymap, key: string): Action | undefined => screen.find(({ keys }) => has(keys, key))?.action

/** What a key means in a list or a question: the usual key of what it does there, itself where it does nothing. */
export const listKeyOf = ({ lists }: Keymap, key: string): string => {
  const found = lists.find(({ keys }) => has(keys, key))
  if (found !== undefined) return found.means
  // One that was given another key does nothing by its own.
  return lists.some(({ means }) => has([means], key)) ? "" : key
}

/** What a key does with the selected session. */
export const sessionActionOf = ({ sessions }: Keymap, key: string): SessionKey | undefined => sessions.find(({ keys }) => has(keys, key))?.action

const short: Readonly<Record<string, string>> = { escape: "esc" }

/** The first key of an action, as a hint names it; undefined where none does it. */
export const keyOf = ({ screen, sessions }: Keymap, action: Action | SessionKey): string | undefined => {
  const key = [...screen, ...sessions].find((bound) => bound.action === action)?.keys[0]
  return key === undefined ? undefined : short[key] ?? key
}

/** The composer's keys that come to it: with something typed, what leaves is its own, too. */
const reached = (screen: Keymap["screen"], { keys, ...rest }: Binding): Binding => {
  const taken = screen.flatMap(({ action, keys: own }) => action === "leave" ? [] : own)
  return { ...rest, keys: keys.filter((key) => !has(taken, key)) }
}

const row = ({ about, keys, name }: Binding): string => {
  const head = keys.length === 0 ? "(no key)" : keys.join(", ")
  return `${head.length > 24 ? `${head}\n${" ".repeat(24)}` : head.padEnd(24)} ${about} · ${name}`
}

/** All keys, one action a line, its name in settings at the end. */
export const keyTable = ({ composer, lists, screen, sessions }: Keymap): string =>
  [
    ...[...screen, ...composer.map((binding) => reached(screen, binding)), ...lists, ...sessions].map(row),
    `${"@".padEnd(24)} names of files`,
    `${"/".padEnd(24)} commands`,
    "Other keys for an action: ~/.nimlet/keybindings.json, such as {\"app.suspend\": \"ctrl+x\"}"
  ].join("\n")
