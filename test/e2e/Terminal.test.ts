/** What an extension asks a person at a real terminal. */
import { chmodSync, readdirSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { lastingSurvivors, makeWorkspace, startNimlet, type Workspace } from "../kit/Workspace.ts"

/** Sends the request that stands behind `/ask` as JSON, and gives the answer back as its message. `/race` asks, and answers before it is answered. */
const asker = `#!/usr/bin/env node
import { createInterface } from "node:readline"
const send = (message) => console.log(JSON.stringify(message))
send({ type: "register", commands: [{ name: "ask" }, { name: "race" }] })
let command
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line)
  if (message.type === "command") {
    command = message.id
    for (const [index, request] of JSON.parse(message.arguments).entries()) send({ id: "q" + index, ...request })
    if (message.name === "race") process.exit(1)
  }
  const { id, type, ...rest } = message
  if (type.endsWith("_response")) send({ type: "response", id: command, message: "heard " + JSON.stringify(rest, Object.keys(rest).concat("text").sort()) })
}
`

const ui = (method: string, prompt = "Well?") => ({ type: "ui_request", method, prompt })
const editor = { type: "host_request", method: "ui.editor", title: "A plan", text: "one\n" }

const makeSpace = async () => {
  const space = await makeWorkspace()
  await space.extension("asker", { manifest: { name: "asker", command: ["./asker.mjs"] }, files: { "asker.mjs": asker } })
  return space
}

/** Runs a command of the asker; each answer is typed when its prompt is on the screen. */
const asking = async (space: Workspace, command: string, answers: ReadonlyArray<string>, env: Record<string, string> = {}) => {
  const run = startNimlet({ args: [command], cwd: space.work, home: space.home, tty: true, holdStdin: true, env: { TERM: "xterm", NO_COLOR: "1", ...env } })
  for (const [index, answer] of answers.entries()) {
    await run.until((screen) => screen.split("\n> ").length > index + 1)
    run.child.stdin!.write(answer)
  }
  return run.ended
}
const ask = (...requests: ReadonlyArray<object>) => `/ask ${JSON.stringify(requests)}`

/** An editor as a program of its own: says what it was given, reads a line from the terminal, puts it into the file. */
const makeEditor = async (space: Workspace, then = "") => {
  const path = await space.file("~/bin/my editor", `#!/bin/sh\nprintf 'editing %s\\n# ' "$(cat "$1")"\nread line\necho "$line" >> "$1"\n${then}\n`)
  chmodSync(path, 0o755)
  return `"${path}"`
}

describe("an extension asks a person at a terminal", () => {
  it("yes or no, under its name", async () => {
    await using space = await makeSpace()
    const run = await asking(space, ask(ui("confirm", "Ship it?")), ["maybe\n", "y\n"])
    expect(run.code).toBe(0)
    expect(run.stdout.split("asker asks: Ship it?")).toHaveLength(3)
    expect(run.stdout).toContain(`heard {"cancelled":false,"confirmed":true}`)
  })

  it("a line of text, or none", async () => {
    await using space = await makeSpace()
    expect((await asking(space, ask(ui("input")), ["two words\n"])).stdout).toContain(`heard {"answer":"two words","cancelled":false}`)
    expect((await asking(space, ask(ui("input")), ["\n"])).stdout).toContain(`heard {"answer":"","cancelled":true}`)
  })

  it("a password, which is on the screen at no time", async () => {
    await using space = await makeSpace()
    const run = await asking(space, ask(ui("password")), ["hunteR3\u007f2\r"])
    expect(run.code).toBe(0)
    expect(run.stdout.split("heard")[0]).not.toContain("hunteR")
    expect(run.stdout).toContain(`heard {"answer":"hunteR2","cancelled":false}`)
  })

  it("a password, and Ctrl-C ends the run as ever", async () => {
    await using space = await makeSpace()
    const run = await asking(space, ask(ui("password")), ["abc\u0003"])
    expect(run.code).toBe(130)
    expect(await lastingSurvivors(space.root)).toEqual([])
  })

  it("to edit a text in the editor they have named, which has the terminal meanwhile; questions come after", async () => {
    await using space = await makeSpace()
    const command = await makeEditor(space)
    const run = startNimlet({
      args: [ask(editor, ui("confirm", "Ship it?"))], cwd: space.work, home: space.home, tty: true, holdStdin: true,
      env: { TERM: "xterm", NO_COLOR: "1", EDITOR: command, TMPDIR: space.root }
    })
    await run.until((screen) => screen.includes("editing one\r\n# "))
    expect(run.stdout()).not.toContain("Ship it?")
    run.child.stdin!.write("two\n")
    await run.until((screen) => screen.includes("\n> "))
    run.child.stdin!.write("y\n")
    const { code, stdout } = await run.ended
    expect(code).toBe(0)
    expect(stdout).toContain("asker opens “A plan” in my")
    expect(stdout).toContain(`heard {"result":{"text":"one\\ntwo\\n"}}`)
    expect(readdirSync(space.root).filter((name) => name.startsWith("nimlet-edit"))).toEqual([])
  })

  it("to edit a text, and reads why that failed", async () => {
    await using space = await makeSpace()
    expect((await asking(space, ask(editor), [])).stdout).toContain(`heard {"error":"interactive editor is unavailable"`)
    const failing = await makeEditor(space, "exit 3")
    const run = startNimlet({ args: [ask(editor)], cwd: space.work, home: space.home, tty: true, holdStdin: true, env: { TERM: "xterm", NO_COLOR: "1", VISUAL: failing, EDITOR: "false" } })
    await run.until((screen) => screen.includes("\n# "))
    run.child.stdin!.write("x\n")
    expect((await run.ended).stdout).toMatch(/heard \{"error":".*exited with code 3"/)
  })

  it("and goes away: the question is withdrawn with a word", async () => {
    await using space = await makeSpace()
    const run = await asking(space, `/race ${JSON.stringify([ui("question")])}`, [])
    expect(run.stdout).toContain("asker no longer asks")
  })
})

describe("what an extension shows at a terminal", () => {
  it("is said once, when it changes, and not when it is taken away", async () => {
    await using space = await makeWorkspace()
    const source = `#!/usr/bin/env node
import { createInterface } from "node:readline"
const send = (message) => console.log(JSON.stringify(message))
send({ type: "register", commands: [{ name: "show" }] })
for await (const line of createInterface({ input: process.stdin })) {
  const { id, type } = JSON.parse(line)
  if (type !== "command") continue
  const status = (...segments) => send({ type: "update", status: { key: "ci", segments } })
  const widget = (...content) => send({ type: "update", widget: { key: "plan", title: "Plan", content } })
  status({ text: "red", style: "error" })
  status({ text: "red", style: "error" })
  status()
  widget({ type: "list", items: [{ text: "read", state: "done" }, { text: "write" }] })
  widget({ type: "list", items: [{ text: "read", state: "done" }, { text: "write" }] })
  send({ type: "update", widget: { key: "plan", content: [] } })
  send({ type: "response", id, message: "shown" })
}
`
    await space.extension("shows", { manifest: { name: "shows", command: ["./x.mjs"] }, files: { "x.mjs": source } })
    const run = await space.nimlet(["/show"], { tty: true, env: { TERM: "xterm" } })
    const lines = run.stdout.split("\r\n").filter((line) => line.includes("shows:"))
    expect(lines).toEqual([
      "\u001b[2m[shows:ci]\u001b[0m \u001b[31mred\u001b[0m",
      "\u001b[2m[shows:plan]\u001b[0m \u001b[1mPlan\u001b[0m",
      "\u001b[2m[shows:plan]\u001b[0m [x] read",
      "\u001b[2m[shows:plan]\u001b[0m [ ] write"
    ])
  })
})
