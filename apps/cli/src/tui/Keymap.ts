/** The keys of the screen: what each action is called, what it does, and which keys do it. Pure. */

/** An action that keys can be bound to. */
export type Action = "interrupt" | "clear" | "leave" | "details" | "followUp" | "takeBack" | "suspend" | "editor" | "mode"

/** An action's name in settings, its keys, and what it does. */
export interface Binding {
  readonly name: string
  readonly keys: ReadonlyArray<string>
  readonly about: string
}

/** The actions of the screen as they are bound when nobody says otherwise. */
export const defaultKeys: { readonly [A in Action]: Binding } = {
  interrupt: { name: "app.interrupt", keys: ["escape"], about: "interrupt; dismiss a question; clear the composer" },
  clear: { name: "app.clear", keys: ["ctrl+c"], about: "clear the composer; interrupt; twice: leave" },
  leave: { name: "app.quit", keys: ["ctrl+d"], about: "leave, with nothing in the composer" },
  details: { name: "app.details", keys: ["ctrl+o"], about: "show calls and thinking at length, or in short" },
  followUp: { name: "app.message.followUp", keys: ["alt+enter"], about: "say it when the run has ended" },
  takeBack: { name: "app.message.dequeue", keys: ["alt+up"], about: "take back what waits to be said" },
  suspend: { name: "app.suspend", keys: ["ctrl+z"], about: "go to the background; `fg` comes back" },
  editor: { name: "app.editor.external", keys: ["ctrl+g"], about: "write in your own editor" },
  mode: { name: "app.thinking.cycle", keys: ["shift+tab"], about: "the next way of working: act, plan, those of extensions" }
}

/** Keys of the composer that differ from the terminal library's own. */
export const composerKeys: Readonly<Record<string, ReadonlyArray<string>>> = {
  "tui.editor.undo": ["ctrl+-", "ctrl+_"],
  "tui.input.newLine": ["shift+enter", "alt+j", "ctrl+j"],
  "tui.editor.historyPrevious": ["ctrl+p"],
  "tui.editor.historyNext": ["ctrl+n"]
}

/** What the composer does, for the table. */
const composerTable: ReadonlyArray<readonly [string, string]> = [
  ["enter", "send; while the agent works: say it before its next step"],
  ["shift+enter, alt+j, ctrl+j", "new line; a backslash before enter does it, too"],
  ["up, down, ctrl+p, ctrl+n", "earlier prompts"],
  ["tab", "complete; with nothing typed: to the buttons of extensions"],
  ["ctrl+-", "undo"],
  ["ctrl+w, ctrl+u, ctrl+k", "cut a word, to the line's start, to its end"],
  ["ctrl+y, alt+y", "put back what was cut, or what was cut before it"],
  ["@", "names of files"],
  ["/", "commands"]
]

/** Which keys do what. */
export type Keymap = { readonly [A in Action]: ReadonlyArray<string> }

const actions: ReadonlyArray<Action> = ["interrupt", "clear", "leave", "details", "followUp", "takeBack", "suspend", "editor", "mode"]

/** The keys in force. What a person says of an action takes the place of its own keys; names nobody knows mean nothing. */
export const makeKeymap = (chosen: Readonly<Record<string, ReadonlyArray<string>>> = {}): Keymap => {
  const keys = (action: Action) => chosen[defaultKeys[action].name]?.map((key) => key.toLowerCase()) ?? defaultKeys[action].keys
  return {
    interrupt: keys("interrupt"),
    clear: keys("clear"),
    leave: keys("leave"),
    details: keys("details"),
    followUp: keys("followUp"),
    takeBack: keys("takeBack"),
    suspend: keys("suspend"),
    editor: keys("editor"),
    mode: keys("mode")
  }
}

/** The action a key does. */
export const actionOf = (keymap: Keymap, key: string): Action | undefined => actions.find((action) => keymap[action].includes(key))

/** All keys, one a line. */
export const keyTable = (keymap: Keymap): string =>
  [...actions.map((action) => [keymap[action].join(", "), defaultKeys[action].about] as const), ...composerTable]
    .map(([keys, about]) => `${keys.padEnd(28)} ${about}`)
    .join("\n")
