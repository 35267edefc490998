/** A person at the product's terminal, for tests: what they type, what they wait for, and an extension that has something of everything. */
import { expect } from "vitest"
import { startTmux, type TmuxSession } from "./TmuxSession.ts"
import { lastingSurvivors, makeWorkspace, type Workspace } from "./Workspace.ts"

/** Asks, shows a status and a widget with a button, opens a modal, crashes; `SLOW` holds its registration back. */
export const companion = `#!/usr/bin/env node
import { createInterface } from "node:readline"
import { setTimeout } from "node:timers/promises"
const send = (message) => console.log(JSON.stringify(message))
console.error("a line of the log")
await setTimeout(Number(process.env.SLOW ?? 0))
send({ type: "register", commands: ["ask", "show", "modal", "crash"].map((name) => ({ name, description: "does " + name })), events: ["turn_start"] })
let command
const modal = (text) => send({ type: "update", widget: { key: "chat", position: "modal", title: "Side chat", content: [{ type: "text", text }], actions: [{ id: "submit", label: "Send" }, { id: "close", label: "Close" }] } })
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line)
  if (message.type === "event") send({ type: "response", id: message.id })
  if (message.type === "ui_response") send({ type: "response", id: command, message: "heard " + (message.answer ?? message.confirmed) })
  if (message.type === "ui_action" && message.widget === "plan") send({ type: "update", notification: { message: "pressed " + message.action } })
  if (message.type === "ui_action" && message.widget === "chat") message.action === "close" ? send({ type: "update", widget: { key: "chat", content: [] } }) : modal("you said " + message.text)
  if (message.type !== "command") continue
  command = message.id
  if (message.name === "ask") send({ type: "ui_request", id: "q", method: "question", prompt: "Which colour?", options: ["red", "green"] })
  if (message.name === "crash") process.exit(3)
  if (message.name === "modal") modal("ask me")
  if (message.name === "show") {
    send({ type: "update", status: { key: "ci", text: "all red" } })
    send({ type: "update", widget: { key: "notes", lines: ["a plain line"] } })
    send({ type: "update", widget: { key: "plan", title: "The plan", content: [{ type: "list", items: [{ text: "read", state: "done" }, { text: "write", state: "active" }] }, { type: "progress", value: 1, max: 4 }], actions: [{ id: "go", label: "Go" }] } })
  }
  if (message.name !== "ask") send({ type: "response", id: command })
}
`

/** A workspace with the companion in it and a script for the model. */
export const makeSpace = async (steps: ReadonlyArray<object> = [{ text: "Hello, **you**." }]): Promise<Workspace> => {
  const space = await makeWorkspace()
  await space.extension("companion", { manifest: { name: "companion", command: ["./companion.mjs"] }, files: { "companion.mjs": companion } })
  await space.file("script.json", JSON.stringify({ steps }))
  return space
}

/** Types a line. */
export const say = (terminal: TmuxSession, text: string): void => {
  terminal.type(text)
  terminal.keys("Enter")
}

/** Starts the product in a terminal, and waits until the script answers. */
export const begin = async (space: Workspace, options: { readonly columns?: number; readonly rows?: number; readonly env?: Record<string, string>; readonly args?: string } = {}): Promise<TmuxSession> => {
  const terminal = await startTmux({ cwd: space.work, home: space.home, ...options })
  say(terminal, options.args ?? "nimlet --script script.json")
  await terminal.until("scripted/script")
  return terminal
}

/** Nothing is under way. */
export const idle = (terminal: TmuxSession): Promise<string> => terminal.until((screen) => !/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] |^starting/m.test(screen))

/** Commands do not wait in the queue: the agent must have done. */
export const command = async (terminal: TmuxSession, text: string): Promise<void> => {
  await idle(terminal)
  say(terminal, text)
}

/** A question takes keys when the keyboard has rested, and says so. */
export const asked = (terminal: TmuxSession, question: string): Promise<string> =>
  terminal.until((screen) => screen.includes(question) && /^ [❯*] |enter answers/m.test(screen.slice(screen.indexOf(question))))

/** Answers one by a key. */
export const answer = async (terminal: TmuxSession, question: string, key: string): Promise<void> => {
  await asked(terminal, question)
  terminal.keys(key)
  await terminal.until((screen) => !screen.includes(question))
}

/** Leaves a view that shows `words`. What is typed right behind an escape would be taken for one key with it. */
export const shut = async (terminal: TmuxSession, words: string): Promise<void> => {
  terminal.keys("Escape")
  await terminal.until((screen) => !screen.includes(words))
}

/** The shell has its prompt again. */
export const atShell = (terminal: TmuxSession): Promise<string> => terminal.until((screen) => screen.endsWith("\n$"))

/** Leaves as a person does. */
export const leave = async (terminal: TmuxSession): Promise<void> => {
  await command(terminal, "/quit")
  await atShell(terminal)
}

/** What a terminal in its usual state says of itself, and that it sends keys and nothing else. */
export const isUsual = async (terminal: TmuxSession): Promise<void> => {
  say(terminal, "clear; stty -a")
  const modes = await terminal.until((seen) => seen.includes("icanon"))
  expect(modes).toMatch(/ icanon[\s\S]* echo /)
  expect(terminal.modes()).toEqual({ alternate: false, cursor: true, mouse: false })
}

/** No program that was started lives on. */
export const nothingLeft = async (terminal: TmuxSession, space: Workspace): Promise<void> => {
  terminal.close()
  expect(await lastingSurvivors(space.root)).toEqual([])
}
