/** What is typed into the composer: words, slash commands that the screen answers itself, commands for the shell. Pure. */
import { builtinCommands, commandIn, usageOf } from "@nimlet/agent"
import { commandsOf, type ExtensionCommand } from "@nimlet/extension"
import { keyTable } from "../Keymap.ts"
import { themeChoices } from "../Palette.ts"
import type { State } from "../State.ts"
import { step, type Step } from "../Step.ts"
import { callFor } from "./Buttons.ts"
import { askSetting, changeSetting, chooseTheme, pickFrom, showSettings } from "./Picker.ts"
import { send, wordsOf } from "./Send.ts"
import { copyAnswer, tell } from "./Transcript.ts"

/** Commands of the screen itself, beside those of the agent. */
export const screenCommands: ReadonlyArray<{ readonly name: string; readonly usage: string; readonly description: string }> = [
  { name: "model", usage: "[PROVIDER/MODEL]", description: "Have another model answer" },
  { name: "provider", usage: "[NAME]", description: "Have the usual model of another provider answer" },
  { name: "thinking", usage: "[LEVEL]", description: "Have the model think more or less" },
  { name: "login", usage: "[PROVIDER]", description: "Give nimlet the key of a provider" },
  { name: "logout", usage: "PROVIDER", description: "Forget the key that /login kept" },
  { name: "auth", usage: "", description: "Tell where each provider has its key from" },
  { name: "context", usage: "", description: "Tell how full the model's window is" },
  { name: "copy", usage: "", description: "Copy the last answer" },
  { name: "settings", usage: "[KEY [VALUE]]", description: "Show and change your settings" },
  { name: "theme", usage: "[auto|dark|light]", description: "Colours for a dark or a light ground" },
  { name: "doctor", usage: "[test]", description: "Tell how nimlet is set up here, and what is wrong; with test: ask the model for a word" },
  { name: "keys", usage: "", description: "List the keys" },
  { name: "version", usage: "", description: "Tell the version" },
  { name: "quit", usage: "", description: "Leave" }
]

/** Commands that extensions offer, in startup order, by the names they are called by. */
export const offeredCommands = ({ figures }: State): ReadonlyArray<ExtensionCommand> =>
  commandsOf(figures.flatMap(({ family, key, registration }) => registration === undefined ? [] : [{ family, key, registration }]))

/** The command of an extension that a name means: ours come before. */
const offeredCommand = (state: State, name: string) =>
  builtinCommands.some((command) => command.name === name.toLowerCase())
    ? undefined
    : offeredCommands(state).find((command) => command.name.toLowerCase() === name.toLowerCase())

/** Where what is told of a command begins. */
const column = 26

const row = (head: string, about: string): string => head.length < column ? `${head.padEnd(column)} ${about}`.trimEnd() : `${head}\n${" ".repeat(column)} ${about}`

const helpText = (state: State): string =>
  [
    ...[...builtinCommands.map((command) => [usageOf(command), command.description] as const), ...screenCommands.map(({ description, name, usage }) => [`/${name} ${usage}`.trim(), description] as const)]
      .toSorted(([a], [b]) => a < b ? -1 : 1)
      .map(([usage, about]) => row(usage, about)),
    ...state.working.commands.map(({ description, name }) => row(`/${name}`, description)),
    ...offeredCommands(state).map(({ description, extension, name }) => row(`/${name}`, `${description === "" ? "" : `${description} `}(${extension})`)),
    row("!COMMAND", "Run a command of the shell and tell the model; !!COMMAND tells it nothing"),
    row("@FILE", "Send a file, a folder or a picture along")
  ].join("\n")

const count = (n: number): string => n.toLocaleString("en-US")

const contextText = ({ answering, tokens }: State): string => {
  const { window } = answering ?? {}
  if (window === undefined) return `${count(tokens.context)} tokens; how many the model can hold is not known`
  const part = Math.min(1, tokens.context / window)
  const filled = Math.round(part * 30)
  return `[${"#".repeat(filled)}${"-".repeat(30 - filled)}] ${Math.round(part * 100)}% of ${count(window)} tokens`
}

/** What the screen does by itself; undefined for what the agent is to be told. */
const ownCommand = (state: State, name: string, args: string): Step | undefined => {
  switch (name) {
    case "quit":
    case "exit":
      return step(state, { type: "quit" })
    case "help":
      return step(tell(state, helpText(state)))
    case "keys":
      return step(tell(state, keyTable(state.keymap)))
    case "version":
      return step(tell(state, `nimlet ${state.version}`))
    case "context":
      return step(tell(state, contextText(state)))
    case "copy":
      return copyAnswer(state)
    case "doctor":
      if (args.toLowerCase() === "test") return step(tell(state, "Asking the model for a word …"), { type: "trial" })
      return args === "" ? step(state, { type: "doctor" }) : step(tell(state, "Usage: /doctor [test]; `nimlet doctor --start` starts the extensions, too.", "warning"))
    case "theme":
      return args === "" ? pickFrom(state, "theme", "Which ground do the colours stand on?", themeChoices.map((value) => ({ value, label: value, about: value === "auto" ? "what the terminal says" : "" }))) : chooseTheme(state, args)
    case "settings": {
      const [key = "", ...words] = args.split(/\s+/)
      return key === "" ? showSettings(state) : words.length === 0 ? askSetting(state, key) : changeSetting(state, key.toLowerCase(), words.join(" "))
    }
    case "web":
      return step(tell(state, "nimlet does not search the web by itself; an extension may offer that as a tool.", "warning"))
    case "extensions":
      if (args.startsWith("new ")) return step(state, { type: "makeExtension", name: args.slice(4).trim() })
      if (args !== "" && !/^restart\s+\S+$/i.test(args)) return step(tell(state, "Usage: /extensions [restart NAME | new NAME]; alone it opens a list, where d switches one off.", "warning"))
      return args === "" ? step({ ...state, overlay: { kind: "extensions", selected: 0, log: undefined } }) : undefined
    case "model":
      return args === "" ? pickFrom(state, "model", "Which model shall answer?") : step(state, { type: "select", value: args })
    case "provider":
      return args === "" ? pickFrom(state, "provider", "Which provider?") : step(state, { type: "provide", provider: args })
    case "thinking":
      return args === "" ? pickFrom(state, "thinking", "How much shall it think?") : step(state, { type: "think", level: args })
    case "login":
      return args === "" ? pickFrom(state, "login", "The key of which provider?") : step(state, { type: "login", provider: args })
    case "logout":
      return args === "" ? step(tell(state, "/logout wants the name of a provider; /auth lists them.", "warning")) : step(state, { type: "logout", provider: args })
    case "auth":
      return step(state, { type: "auth" })
    case "resume":
      return args === "" && state.run === undefined ? pickFrom(state, "resume", "Which session?") : undefined
    case "fork":
      return args === "" && state.run === undefined ? pickFrom(state, "fork", "Before which of your messages?") : undefined
    case "rewind":
      return args === "" && state.run === undefined ? pickFrom(state, "rewind", "Back to before which of your messages?") : undefined
    default:
      return undefined
  }
}

/** The state after something was submitted; while the agent works, words are queued, and what cannot be queued is given back. */
export const submit = (before: State, text: string, as: "steer" | "followUp"): Step => {
  const words = text.trim()
  if (words === "") return step(before)
  const command = commandIn(words)
  const own = command === undefined ? undefined : ownCommand(before, command.name.toLowerCase(), command.args)
  if (own !== undefined) return own
  const offered = command === undefined ? undefined : offeredCommand(before, command.name)
  const state = offered === undefined ? before : callFor(before, offered.extension)
  const shell = /^(!!?)\s*(\S[\s\S]*)$/.exec(words)
  if (state.run !== undefined) {
    const pictured = wordsOf(state, words)
    // The queue of a run holds words alone.
    if (pictured.pictures !== undefined) return step({ ...state, later: [...state.later, pictured] })
    if (command === undefined && shell === null) return step(state, { type: as, text: words })
    if (offered?.whileBusy === true) return step(state, { type: "aside", text: words })
    return step(tell(state, "A command cannot wait in the queue: run it when the agent has done, or press Esc first.", "warning"), { type: "compose", text, instead: true })
  }
  if (shell === null) return send(state, words)
  const id = `shell-${state.nextId}`
  const [, mark = "", line = ""] = shell
  return step(
    {
      ...state,
      nextId: state.nextId + 1,
      run: { since: state.now, interrupted: false },
      live: [...state.live, { kind: "call", id, name: mark, input: { command: line }, output: "", state: "running" }]
    },
    { type: "shell", id, command: line, share: mark === "!" }
  )
}
