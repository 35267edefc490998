/** The product as people live in it: a real terminal, the scripted model, an extension as a process of its own. */
import { describe, expect, it } from "vitest"
import { startTmux, type TmuxSession } from "../kit/TmuxSession.ts"
import { lastingSurvivors, makeWorkspace, type Workspace } from "../kit/Workspace.ts"

/** Asks, shows a status and a widget with a button, opens a modal, crashes; `SLOW` holds its registration back. */
const companion = `#!/usr/bin/env node
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

const makeSpace = async (steps: ReadonlyArray<object> = [{ text: "Hello, **you**." }]) => {
  const space = await makeWorkspace()
  await space.extension("companion", { manifest: { name: "companion", command: ["./companion.mjs"] }, files: { "companion.mjs": companion } })
  await space.file("script.json", JSON.stringify({ steps }))
  return space
}

const begin = async (space: Workspace, options: { readonly columns?: number; readonly rows?: number; readonly env?: Record<string, string>; readonly args?: string } = {}) => {
  const terminal = await startTmux({ cwd: space.work, home: space.home, ...options })
  say(terminal, options.args ?? "nimlet --script script.json")
  await terminal.until("scripted/script")
  return terminal
}

const say = (terminal: TmuxSession, text: string) => {
  terminal.type(text)
  terminal.keys("Enter")
}

/** Commands do not wait in the queue: the agent must have done. */
const command = async (terminal: TmuxSession, text: string) => {
  await idle(terminal)
  say(terminal, text)
}

/** A question takes keys when the keyboard has rested. */
const answer = async (terminal: TmuxSession, question: string, key: string) => {
  await terminal.until(question)
  await new Promise((done) => setTimeout(done, 500))
  terminal.keys(key)
  await terminal.until((screen) => !screen.includes(question))
}

/** What a terminal in its usual state says of itself. */
const isUsual = async (terminal: TmuxSession) => {
  say(terminal, "clear; stty -a")
  const modes = await terminal.until((seen) => seen.includes("icanon"))
  expect(modes).toMatch(/ icanon[\s\S]* echo /)
}

const nothingLeft = async (terminal: TmuxSession, space: Workspace) => {
  terminal.close()
  expect(await lastingSurvivors(space.root)).toEqual([])
}

const idle = (terminal: TmuxSession) => terminal.until((screen) => !/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] |^starting/m.test(screen))

const leave = async (terminal: TmuxSession) => {
  await command(terminal, "/quit")
  await terminal.until((screen) => screen.endsWith("\n$"))
}

describe("a session at a terminal", () => {
  it("from the first prompt over an approval and a denial to the end, and is gone on with", async () => {
    await using space = await makeSpace([
      { text: "Hello, **you**.", usage: { input: 100, output: 20 } },
      { thinking: "I wonder", text: "I run it.", tools: [{ name: "bash", args: { command: "echo from the shell" } }] },
      { text: "It ran." },
      { tools: [{ name: "bash", args: { command: "rm -r everything" } }] },
      { text: "Then not." }
    ])
    await using terminal = await begin(space)
    say(terminal, "hi there")
    await terminal.until("Hello, you.")
    say(terminal, "run something")
    const asked = await terminal.until("Allow bash?")
    expect(asked).toContain("echo from the shell")
    await answer(terminal, "Allow bash?", "y")
    await terminal.until("It ran.")
    expect(terminal.screen()).toContain("✓ bash echo from the shell")
    say(terminal, "more")
    await answer(terminal, "Allow bash?", "n")
    await terminal.until("Then not.")
    expect(terminal.screen()).toContain("✗ bash rm -r everything")
    await leave(terminal)
    const [, session] = /Go on with this session: nimlet --session (\S+)/.exec(terminal.screen())!
    say(terminal, `clear; nimlet --script script.json --session ${session}`)
    const back = await terminal.until((seen) => !seen.includes("Go on with") && seen.includes("scripted/script"))
    for (const text of ["> more", "✗ bash rm -r everything", "Then not."]) expect(back).toContain(text)
    await leave(terminal)
    await nothingLeft(terminal, space)
  })

  it("what is said while the model works waits, and comes back with what is half typed when it is interrupted", async () => {
    await using space = await makeSpace([{ tools: [{ name: "bash", args: { command: "echo begun; sleep 60" } }] }, { text: "Second answer." }])
    await using terminal = await begin(space, { args: "nimlet --yolo --script script.json" })
    say(terminal, "go")
    await terminal.until("    begun")
    say(terminal, "steer this way")
    await terminal.until("next: steer this way")
    terminal.type("and then")
    terminal.keys("M-Enter")
    await terminal.until("after: and then")
    terminal.type("half a thou")
    terminal.keys("Escape")
    await terminal.until((seen) => /steer this way\n\nand then\n\nhalf a thou\n/.test(seen))
    expect(await idle(terminal)).toContain("! Interrupted")
    terminal.keys("Enter")
    await terminal.until("Second answer.")
    await leave(terminal)
  })

  // E-074 E-253 E-256 X-084 X-085
  it("an extension asks under its name, shows things, has buttons and a modal, and takes them along when it dies", async () => {
    await using space = await makeSpace()
    await using terminal = await begin(space, { columns: 100, rows: 40 })
    await command(terminal, "/ask")
    const asked = await terminal.until("Which colour?")
    expect(asked).toContain("companion asks")
    await answer(terminal, "Which colour?", "2")
    await terminal.until("heard green")
    await command(terminal, "/show")
    const shown = await terminal.until("companion all red")
    expect(shown).toMatch(/a plain line[\s\S]*companion all red\nwork .*scripted\/script$/)
    for (const text of ["The plan · companion", "☑ read", "▸ write", "25%", "[Go]"]) expect(shown).toContain(text)
    await idle(terminal)
    terminal.keys("Tab", "Enter")
    await terminal.until("companion: pressed go")
    await command(terminal, "/modal")
    await terminal.until("ask me")
    await idle(terminal)
    say(terminal, "in private")
    await terminal.until("you said in private")
    terminal.keys("Escape")
    await terminal.until((screen) => !screen.includes("Side chat"))
    await command(terminal, "/crash")
    const after = await terminal.until("exited with code 3")
    expect(after).not.toContain("The plan")
    expect(after).not.toContain("all red")
    await idle(terminal)
    await command(terminal, "/extensions")
    await terminal.until("running · nimlet · 1 restart")
    terminal.keys("l")
    await terminal.until("a line of the log")
    terminal.keys("r")
    await terminal.until("2 restarts")
    terminal.keys("Escape")
    await terminal.until((screen) => !screen.includes("Extensions: 1"))
    await leave(terminal)
    await nothingLeft(terminal, space)
  })

  it("stands before its extensions do, says whom the first prompt waits for, and goes on without by Escape", async () => {
    await using space = await makeSpace()
    await using terminal = await startTmux({ cwd: space.work, home: space.home, env: { SLOW: "60000" } })
    say(terminal, "nimlet --script script.json")
    await terminal.until("starting: companion")
    say(terminal, "hi")
    await terminal.until("waiting for companion")
    terminal.keys("Escape")
    const answered = await terminal.until("Hello, you.")
    expect(answered).toContain("Going on without companion")
    await leave(terminal)
    await nothingLeft(terminal, space)
  })

  it("commands: help, a new session, a title, a reload, an earlier session from a list, and one before a message", async () => {
    await using space = await makeSpace([{ text: "First answer." }, { text: "Second answer." }])
    await using terminal = await begin(space, { columns: 120, rows: 50 })
    say(terminal, "remember the blue door")
    await terminal.until("First answer.")
    await command(terminal, "/name doors")
    await terminal.until("work · doors")
    await command(terminal, "/new")
    await terminal.until("New session")
    await idle(terminal)
    say(terminal, "another matter")
    await terminal.until("Second answer.")
    await command(terminal, "/reload")
    await terminal.until("Extensions were started anew")
    await idle(terminal)
    await command(terminal, "/resume")
    await terminal.until("Which session?")
    terminal.type("doo")
    await terminal.until("1 of 1")
    terminal.keys("Enter")
    await terminal.until("Resumed session")
    await terminal.until("work · doors")
    await idle(terminal)
    await command(terminal, "/fork")
    await terminal.until("Before which of your messages?")
    terminal.keys("Enter")
    await terminal.until("Forked into session")
    await terminal.until((screen) => /─\nremember the blue door\n─/.test(screen))
    await idle(terminal)
    terminal.keys("C-c")
    await command(terminal, "/help")
    await terminal.until("/crash")
    await leave(terminal)
  })

  it("plans, acts, and asks nothing where the person said so, each plainly marked", async () => {
    await using space = await makeSpace([
      { tools: [{ name: "bash", args: { command: "echo planned" } }] }, { text: "A plan." },
      { tools: [{ name: "bash", args: { command: "echo acted" } }] }, { text: "Acted." }
    ])
    await using terminal = await begin(space)
    terminal.keys("BTab")
    await terminal.until("[plan]")
    say(terminal, "think")
    await terminal.until("A plan.")
    expect(terminal.screen()).toContain("✗ bash echo planned")
    terminal.keys("BTab")
    await terminal.until((screen) => !screen.includes("[plan]"))
    await command(terminal, "/yolo on")
    await terminal.until("[yolo: nothing is asked]")
    await idle(terminal)
    say(terminal, "do it")
    await terminal.until("Acted.")
    expect(terminal.screen()).toContain("✓ bash echo acted")
    await leave(terminal)
  })

  it("asks before a project's own files are loaded, and names them", async () => {
    await using space = await makeSpace()
    await space.extension("helper", { manifest: { name: "helper", command: ["./companion.mjs"] }, files: { "companion.mjs": companion }, root: ".nimlet/extensions" })
    await using terminal = await startTmux({ cwd: space.work, home: space.home, columns: 100, rows: 30 })
    say(terminal, "nimlet --script script.json")
    const asked = await terminal.until("Load them?")
    expect(asked).toContain(".nimlet/extensions/helper/extension.json")
    await answer(terminal, "Load them?", "2")
    await terminal.until("scripted/script")
    await command(terminal, "/extensions")
    await terminal.until("helper  running · nimlet · project")
    terminal.keys("Escape")
    await terminal.until((screen) => !screen.includes("Extensions:"))
    await leave(terminal)
  })

  it("narrow and wide again in the middle of an answer", async () => {
    await using space = await makeSpace([{ deltas: Array.from({ length: 40 }, (_, n) => `Line ${n} 日本語.\n\n`), delay_ms: 300 }])
    await using terminal = await begin(space)
    say(terminal, "go")
    await terminal.until("working")
    terminal.resize(30, 12)
    await terminal.until("Line 39")
    terminal.resize(100, 30)
    const screen = await terminal.until((seen) => seen.includes("Line 39 日本語.") && seen.includes("─".repeat(100)))
    expect(screen.split("─".repeat(100))).toHaveLength(3)
    expect(terminal.history().match(/^Line \d+ 日本語\.$/gm)).toHaveLength(40)
    await leave(terminal)
  })
})

describe("the terminal is given back", () => {
  it("when it is suspended, with the draft kept, and after ctrl+c twice", async () => {
    await using space = await makeSpace()
    await using terminal = await begin(space)
    terminal.type("a draft")
    await terminal.until("a draft")
    terminal.keys("C-z")
    await terminal.until("Stopped")
    await isUsual(terminal)
    say(terminal, "fg")
    await terminal.until((screen) => /─\na draft\n─/.test(screen))
    terminal.keys("C-c")
    await terminal.until((screen) => !screen.includes("a draft"))
    terminal.keys("C-c", "C-c")
    await terminal.until((screen) => screen.endsWith("\n$"))
    say(terminal, "echo code $?")
    await terminal.until("code 0")
    await nothingLeft(terminal, space)
  })

  it.each([["SIGTERM", 143], ["SIGHUP", 129]] as const)("after %s, with the session named", async (signal, code) => {
    await using space = await makeSpace()
    await using terminal = await begin(space)
    say(terminal, "hi")
    await terminal.until("Hello, you.")
    process.kill(terminal.foreground(), signal)
    await terminal.until("Go on with this session: nimlet --session")
    await terminal.until((screen) => screen.endsWith("\n$"))
    say(terminal, "echo code $?")
    await terminal.until(`code ${code}`)
    await isUsual(terminal)
  })
})

describe("a newcomer", () => {
  it("without a key has a first answer by what the screen says", async () => {
    await using space = await makeWorkspace()
    await space.file("README.md", "# A heading of ours\n")
    await using terminal = await startTmux({ cwd: space.work, home: space.home })
    say(terminal, "nimlet")
    const first = await terminal.until("offline/offline")
    for (const text of ["ANTHROPIC_API_KEY", "auth.json", "read README.md", "/help"]) expect(first).toContain(text)
    say(terminal, "read README.md")
    await terminal.until("A heading of ours")
    await leave(terminal)
  })
})
