/** What is typed into the composer: words, slash commands that the screen answers itself, commands for the shell. Pure. */
import { builtinCommands, commandIn, usageOf } from "@nimlet/agent"
import { fieldOf } from "../Field.ts"
import type { Command, State, Step } from "../State.ts"
import { keyTable } from "../Keymap.ts"
import { tell } from "./Transcript.ts"

/** Commands of the screen itself, beside those of the agent. */
export const screenCommands: ReadonlyArray<{ readonly name: string; readonly usage: string; readonly description: string }> = [
  { name: "model", usage: "[PROVIDER/MODEL]", description: "Have another model answer" },
  { name: "context", usage: "", description: "Tell how full the model's window is" },
  { name: "copy", usage: "", description: "Copy the last answer" },
  { name: "keys", usage: "", description: "List the keys" },
  { name: "quit", usage: "", description: "Leave" }
]

/** Commands that extensions offer, in startup order. */
export const offeredCommands = ({ figures }: State): ReadonlyArray<{ readonly name: string; readonly description: string; readonly extension: string; readonly whileBusy: boolean }> =>
  figures.flatMap(({ key, registration }) => (registration?.commands ?? []).map(({ description = "", name, while_busy = false }) => ({ name, description, extension: key, whileBusy: while_busy })))

/** Whether the agent runs a command beside a turn: of two with one name the first counts, and ours come before. */
const runsBeside = (state: State, name: string): boolean =>
  !builtinCommands.some((command) => command.name === name.toLowerCase()) &&
  offeredCommands(state).find((command) => command.name.toLowerCase() === name.toLowerCase())?.whileBusy === true

const step = (state: State, ...commands: ReadonlyArray<Command>): Step => ({ state, commands, taken: true })

const helpText = (state: State): string =>
  [
    ...[...builtinCommands.map((command) => [usageOf(command), command.description] as const), ...screenCommands.map(({ description, name, usage }) => [`/${name} ${usage}`.trim(), description] as const)]
      .toSorted(([a], [b]) => a < b ? -1 : 1)
      .map(([usage, about]) => `${usage.padEnd(26)} ${about}`),
    ...state.working.commands.map(({ description, name }) => `${`/${name}`.padEnd(26)} ${description}`.trimEnd()),
    ...offeredCommands(state).map(({ description, extension, name }) => `${`/${name}`.padEnd(26)} ${description === "" ? "" : `${description} `}(${extension})`),
    `${"!COMMAND".padEnd(26)} Run a command of the shell and tell the model; !!COMMAND tells it nothing`
  ].join("\n")

const count = (n: number): string => n.toLocaleString("en-US")

const contextText = ({ answering, tokens }: State): string => {
  const { window } = answering ?? {}
  if (window === undefined) return `${count(tokens.context)} tokens; how many the model can hold is not known`
  const part = Math.min(1, tokens.context / window)
  const filled = Math.round(part * 30)
  return `[${"#".repeat(filled)}${"-".repeat(30 - filled)}] ${Math.round(part * 100)}% of ${count(window)} tokens`
}

const picker = (state: State, what: "resume" | "model" | "fork", title: string): Step =>
  step({ ...state, overlay: { kind: "picker", what, title, items: undefined, filter: fieldOf(), selected: 0 } }, { type: "list", what })

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
    case "context":
      return step(tell(state, contextText(state)))
    case "copy": {
      const answer = state.settled.findLast((item) => item.kind === "answer")
      return answer?.kind !== "answer" ? step(tell(state, "There is no answer to copy yet.")) : step(tell(state, "The last answer was handed to the terminal's clipboard."), { type: "copy", text: answer.text })
    }
    case "extensions":
      return args === "" ? step({ ...state, overlay: { kind: "extensions", selected: 0, log: undefined } }) : undefined
    case "model":
      return args === "" ? picker(state, "model", "Which model shall answer?") : step(state, { type: "select", value: args })
    case "resume":
      return args === "" && state.run === undefined ? picker(state, "resume", "Which session?") : undefined
    case "fork":
      return args === "" && state.run === undefined ? picker(state, "fork", "Before which of your messages?") : undefined
    default:
      return undefined
  }
}

/** Sends words to the agent, which is idle. */
export const send = (state: State, text: string, literal = false): Step =>
  step(
    { ...state, run: { since: state.now, interrupted: false }, sent: text, tokens: { ...state.tokens, run: 0 } },
    { type: "prompt", words: { text, literal } }
  )

/** The state after something was submitted; while the agent works, words are queued, and what cannot be queued is given back. */
export const submit = (state: State, text: string, as: "steer" | "followUp"): Step => {
  const words = text.trim()
  if (words === "") return step(state)
  const command = commandIn(words)
  const own = command === undefined ? undefined : ownCommand(state, command.name.toLowerCase(), command.args)
  if (own !== undefined) return own
  const shell = /^(!!?)\s*(\S[\s\S]*)$/.exec(words)
  if (state.run !== undefined) {
    if (command === undefined && shell === null) return step(state, { type: as, text: words })
    if (command !== undefined && runsBeside(state, command.name)) return step(state, { type: "aside", text: words })
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
