/** What is drawn, on a grid of cells. */
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { nimlet } from "@nimlet/extension"
import { vi } from "vitest"
import { makeCompletion } from "../../src/tui/Completion.ts"
import { composerKeys } from "../../src/tui/Keymap.ts"
import { Screen } from "../../src/tui/Screen.ts"
import type { Command } from "../../src/tui/Command.ts"
import { initial, type State } from "../../src/tui/State.ts"
import { makeMarkdown } from "../../src/tui/view/MarkdownLibrary.ts"
import { Glass } from "./Glass.ts"
import { hostile, place } from "./Rig.ts"

const open: Array<Screen> = []
beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  for (const screen of open.splice(0)) screen.stop()
})

interface MakeOptions {
  readonly step?: number
  readonly columns?: number
  readonly rows?: number
  readonly state?: Partial<State>
  readonly colours?: boolean
  readonly mouse?: boolean
  /** What stands on the terminal already. */
  readonly before?: string
}

const makeScreen = ({ before = "", colours = false, columns = 80, mouse = true, rows = 24, state = {}, step = 1_000 }: MakeOptions = {}) => {
  const glass = new Glass(columns, rows)
  glass.write(before)
  const commands: Array<Command> = []
  const crashes: Array<unknown> = []
  let now = 0
  const screen = new Screen({
    terminal: glass,
    colours,
    mouse,
    state: { ...initial({ version: "1.2.3", folder: "/home/me/work", now }), answering: { provider: "p", model: "m" }, ...state },
    keys: composerKeys as Record<string, Array<"enter">>,
    now: () => now += step,
    perform: (command) => void commands.push(command),
    submitted: () => undefined,
    changed: () => undefined,
    crashed: (error) => void crashes.push(error)
  })
  open.push(screen)
  screen.start()
  screen.markdown = makeMarkdown
  const delta = (text: string) => screen.dispatch({ type: "agent", event: { type: "message_delta", ...place, step: 0, delta: text, model: "m" } })
  return { glass, screen, commands, crashes, delta }
}

const ruled = (lines: ReadonlyArray<string>) => lines.filter((line) => /^─+$/.test(line)).length

/** A press and its release, column and row from 0. */
const click = (column: number, row: number) => [`\u001b[<0;${column + 1};${row + 1}M`, `\u001b[<0;${column + 1};${row + 1}m`]
const button = { type: "widget", key: "planner:plan", widget: { title: "Plan", position: "above_composer", content: [], actions: [{ id: "go", label: "Go" }, { id: "stop", label: "止める" }] } } as const

describe("the mouse", () => {
  it("presses buttons where they are seen, also when much has scrolled away, and nothing else", async () => {
    const { commands, delta, glass, screen } = makeScreen()
    for (let n = 0; n < 2_000; n++) {
      delta(`line ${n}\n\n`)
      if (n % 200 === 0) await glass.settled()
    }
    screen.dispatch(button)
    const seen = await glass.seen()
    const row = seen.findIndex((line) => line.includes("[Go] [止める]"))
    for (const [column, at] of [[3, row], [8, row], [6, row], [30, row], [3, row - 1]] as const) {
      glass.type(...click(column, at))
      await glass.settled()
    }
    assert.deepStrictEqual(commands, [{ type: "act", key: "planner:plan", action: "go" }, { type: "act", key: "planner:plan", action: "stop" }])
    assert.strictEqual(screen.composed, "")
  })

  it("finds them below what the shell had written", async () => {
    const { commands, glass, screen } = makeScreen({ before: "$ one\r\n$ two\r\n$ nimlet\r\n" })
    screen.dispatch(button)
    const row = (await glass.seen()).findIndex((line) => line.includes("[Go]"))
    assert.strictEqual((await glass.seen())[0], "$ one")
    glass.type(...click(3, row))
    await glass.settled()
    assert.deepStrictEqual(commands, [{ type: "act", key: "planner:plan", action: "go" }])
  })

  it("sends what is typed into a modal by its button", async () => {
    const { commands, glass, screen } = makeScreen()
    screen.dispatch({ ...button, key: "x:chat", widget: { ...button.widget, position: "modal", actions: [{ id: "submit", label: "Send" }] } })
    glass.type("h", "i")
    const row = (await glass.seen()).findIndex((line) => line.includes("[Send]"))
    glass.type(...click(3, row))
    await glass.settled()
    assert.deepStrictEqual(commands, [{ type: "act", key: "x:chat", action: "submit", text: "hi" }])
  })

  it("is the terminal's while there is nothing to click, from a turn of the wheel to the next key, and in the end", async () => {
    const { glass, screen } = makeScreen()
    const has = () => {
      const written = glass.writes.join("")
      return written.lastIndexOf("\u001b[?1000h") > written.lastIndexOf("\u001b[?1000l")
    }
    assert.isFalse(has())
    screen.dispatch(button)
    assert.isTrue(has())
    glass.type("\u001b[<64;1;1M")
    assert.isFalse(has())
    glass.type("x")
    assert.isTrue(has())
    screen.dispatch({ ...button, widget: undefined })
    assert.isFalse(has())
    screen.dispatch(button)
    screen.stop()
    assert.isFalse(has())
    assert.strictEqual(screen.composed, "x")
  })

  it("is never taken where the person does not want that", () => {
    const { glass, screen } = makeScreen({ mouse: false })
    screen.dispatch(button)
    assert.notInclude(glass.writes.join(""), "\u001b[?1000h")
  })
})

describe("how it looks", () => {
  const colourful = (screen: Screen) => {
    screen.dispatch({ type: "submitted", text: "go", as: "steer" })
    screen.dispatch({ type: "agent", event: { type: "message", role: "assistant", content: "# Title\n\n`code`\n\n```js\nconst a = 1\n```", session_id: "s", turn_id: "t", final: true } })
    screen.dispatch({ type: "notice", level: "error", text: "no" })
    screen.dispatch({ type: "status", key: "x:y", segments: [{ text: "red", style: "error" }] })
    screen.dispatch(button)
  }
  const codes = (glass: Glass) => [...new Set([...glass.writes.join("").matchAll(/\u001b\[([\d;]+)m/g)].flatMap(([, list = ""]) => list.split(";").map(Number)))]

  it("uses the sixteen colours of the terminal and no others", async () => {
    const { glass, screen } = makeScreen({ colours: true })
    colourful(screen)
    await glass.settled()
    const used = codes(glass)
    assert.include(used, 31)
    assert.deepStrictEqual(used.filter((code) => code === 38 || code === 48), [])
  })

  it("uses none with NO_COLOR, and is whole", async () => {
    const { glass, screen } = makeScreen()
    colourful(screen)
    assert.include((await glass.seen()).join("\n"), "Title")
    assert.deepStrictEqual(codes(glass).filter((code) => (code >= 30 && code <= 49 && code !== 39 && code !== 49) || code >= 90), [])
  })

  it("follows the ground that the terminal tells, and stays as it was chosen", async () => {
    const { glass, screen } = makeScreen({ colours: true })
    const yellow = async () => {
      glass.writes.length = 0
      screen.dispatch({ type: "notice", level: "warning", text: "careful" })
      await glass.settled()
      return /\u001b\[(\d+)m! /.exec(glass.writes.join(""))?.[1]
    }
    assert.strictEqual(await yellow(), "33")
    screen.dispatch({ type: "ground", ground: "light" })
    assert.strictEqual(await yellow(), "35")
    screen.dispatch({ type: "submitted", text: "/theme dark", as: "steer" })
    screen.dispatch({ type: "ground", ground: "light" })
    assert.strictEqual(await yellow(), "33")
  })

  it("asks the terminal for its ground and takes its answer for no key", async () => {
    const { glass, screen } = makeScreen({ colours: true })
    screen.askGround()
    assert.include(glass.writes.join(""), "\u001b]11;?")
    glass.type("\u001b]11;rgb:ffff/ffff/ffff\u0007")
    await vi.advanceTimersByTimeAsync(1_100)
    assert.strictEqual(screen.state.appearance.ground, "light")
    assert.strictEqual(screen.composed, "")
  })
})

describe("for a screen reader", () => {
  const plain = { appearance: { theme: "auto", ground: "dark", plain: true } } as const

  it("says in words what marks say, and draws no lines", async () => {
    const { delta, glass, screen } = makeScreen({ state: plain })
    screen.dispatch({ type: "submitted", text: "go", as: "steer" })
    screen.dispatch({ type: "agent", event: { type: "message", role: "user", content: "go", session_id: "s", turn_id: "t" } })
    screen.dispatch({ type: "agent", event: { type: "tool_call", ...place, step: 0, tool_id: "a", tool_name: "bash", input: { command: "make" } } })
    screen.dispatch({ type: "agent", event: { type: "tool_result", ...place, step: 0, tool_id: "a", tool_name: "bash", output: "no", is_error: true, duration_ms: 1 } })
    screen.dispatch({ type: "notice", level: "warning", text: "careful" })
    screen.dispatch({ ...button, widget: { ...button.widget, content: [{ type: "list", items: [{ text: "read", state: "done" }] }, { type: "progress", value: 1, max: 4 }] } })
    screen.dispatch({ type: "asked", id: 1, question: { kind: "confirm", asker: "guard", prompt: "Sure?" } })
    delta("One paragraph.\n\nAnd ha")
    const seen = (await glass.seen()).join("\n")
    for (const text of ["You: go", "Failed: bash make", "Warning: careful", "done: read", "25%", "guard asks", "* y  Yes", "Answer:\nOne paragraph."]) assert.include(seen, text)
    assert.notMatch(seen, /[─│❯✓✗◌⠋-⠿█░☑∴]/)
    assert.notInclude(seen, "And ha")
  })

  it("changes nothing on the screen while time passes", async () => {
    const { glass, screen } = makeScreen({ state: plain })
    screen.dispatch({ type: "submitted", text: "go", as: "steer" })
    await glass.settled()
    const before = await glass.seen()
    for (let n = 0; n < 30; n++) {
      screen.dispatch({ type: "tick" })
      await glass.settled()
    }
    assert.deepStrictEqual(await glass.seen(), before)
  })
})

describe("the screen", () => {
  it.each([[40, 12], [80, 24], [200, 50]])("has its first frame at %i columns and %i rows", async (columns, rows) => {
    const { glass } = makeScreen({ columns, rows })
    const seen = await glass.seen()
    assert.include(seen.join("\n"), "nimlet 1.2.3")
    assert.strictEqual(ruled(seen), 2)
    assert.include(seen.filter((line) => line !== "").at(-1), "p/m")
    assert.include(glass.title, "work")
  })

  it("loses and repeats no line of an answer that is longer than the screen", async () => {
    const { delta, glass, screen } = makeScreen()
    screen.dispatch({ type: "submitted", text: "go", as: "steer" })
    for (let n = 0; n < 3_000; n++) {
      delta(`line ${n} of it\n\n`)
      if (n % 300 === 0) await glass.settled()
    }
    screen.dispatch({ type: "ended", back: "", editorText: "" })
    const numbers = (await glass.all()).flatMap((line) => /^line (\d+) of it$/.exec(line)?.[1] ?? [])
    assert.deepStrictEqual(numbers, Array.from({ length: 3_000 }, (_, n) => String(n)))
  })

  it("keeps thousands of entries in the terminal's scrollback while it draws only what is in view", async () => {
    const { glass, screen } = makeScreen()
    for (let n = 0; n < 4_000; n++) {
      screen.dispatch({ type: "notice", level: "info", text: `entry ${n}` })
      if (n % 100 === 0) await glass.settled()
    }
    const numbers = (await glass.all()).flatMap((line) => /entry (\d+)$/.exec(line)?.[1] ?? [])
    assert.deepStrictEqual(numbers, Array.from({ length: 4_000 }, (_, n) => String(n)))
    glass.writes.length = 0
    glass.type("x")
    await glass.settled()
    assert.isBelow(glass.writes.join("").length, 500)
  })

  it("draws what takes the place of a long answer that a hook took back", async () => {
    const { delta, glass, screen } = makeScreen()
    for (let n = 0; n < 3_000; n++) {
      delta(`secret ${n}\n\n`)
      if (n % 100 === 0) await glass.settled()
    }
    screen.dispatch({ type: "agent", event: { type: "message", role: "assistant", content: "Nothing to see.", session_id: "s", turn_id: "t", final: true } })
    const all = (await glass.all()).join("\n")
    assert.include(all, "Nothing to see.")
    assert.notInclude(all, "secret")
  })

  it("writes an answer of many screens anew at another width, all of it", async () => {
    const { delta, glass } = makeScreen()
    for (let n = 0; n < 3_000; n++) {
      delta(`line ${n}\n\n`)
      if (n % 100 === 0) await glass.settled()
    }
    await glass.resize(81, 24)
    const numbers = (await glass.all()).flatMap((line) => /^line (\d+)$/.exec(line)?.[1] ?? [])
    assert.deepStrictEqual(numbers, Array.from({ length: 3_000 }, (_, n) => String(n)))
  })

  it("changes the screen in one piece each time and never clears it while things stream", async () => {
    const { delta, glass } = makeScreen()
    await glass.settled()
    glass.writes.length = 0
    for (let n = 0; n < 200; n++) {
      delta(`word${n} `)
      if (n % 10 === 0) await glass.settled()
    }
    const written = glass.writes.join("")
    assert.notInclude(written, "\u001b[2J")
    assert.notInclude(written, "\u001b[3J")
    const outside = written.replaceAll(/\u001b\[\?2026h[\s\S]*?\u001b\[\?2026l/g, "")
    assert.match(outside, /^(\u001b\[\d+[ABG])*$/)
    // Two hundred words came; far fewer frames were drawn.
    assert.isBelow(written.split("\u001b[?2026h").length, 60)
  })

  it("draws a change in one line as that line", async () => {
    const { delta, glass } = makeScreen()
    for (let n = 0; n < 100; n++) delta(`line ${n}\n\n`)
    await glass.settled()
    glass.writes.length = 0
    glass.type("h")
    await glass.settled()
    const written = glass.writes.join("")
    assert.include(written, "h")
    assert.notInclude(written, "line 99")
  })

  it("keeps what is typed while an answer streams", async () => {
    const { delta, glass } = makeScreen()
    for (const key of "half a thought") {
      glass.type(key)
      delta(`${key} streams `)
    }
    assert.isTrue((await glass.seen()).includes("half a thought"))
  })

  it.each([["marks that take room", `\u0915${"\u093e".repeat(300)}`], ["letters that are joined", `${"\u0915\u094d".repeat(300)}\u0915`], ["a real word of many", "\u0930\u094d\u0924\u094d\u0938\u094d\u0928\u094d\u092f"]])("goes on when a character of %s is typed, pasted or put there", async (_, wide) => {
    for (const put of ["type", "paste", "compose"] as const) {
      const { crashes, glass, screen } = makeScreen()
      if (put === "compose") screen.compose(`before ${wide} after`)
      else if (put === "paste") glass.type(`\u001b[200~before ${wide} after\u001b[201~`)
      else glass.type(..."before ", ...wide, ..." after")
      for (const columns of [80, 9, 5, 1, 40]) await glass.resize(columns, 24)
      assert.deepStrictEqual(crashes, [], put)
      assert.strictEqual(screen.composed.replaceAll(" ", ""), `before${wide}after`, put)
    }
  })

  it("draws all of it anew at another width, in the middle of an answer", async () => {
    const { delta, glass } = makeScreen()
    for (let n = 0; n < 60; n++) delta(`this is the line number ${n} of a long answer\n\n`)
    glass.type("d", "r", "a", "f", "t")
    for (const [columns, rows] of [[40, 12], [200, 50], [17, 8], [80, 24]] as const) {
      await glass.resize(columns, rows)
      const all = await glass.all()
      assert.isTrue(all.includes("draft"), `${columns}`)
      assert.strictEqual(all.filter((line) => line.startsWith("this is")).length, 60, `${columns}`)
      assert.strictEqual(ruled(await glass.seen()), 2, `${columns}`)
    }
  })

  it("goes on at any size, a question and wide characters on it", async () => {
    const { crashes, delta, glass, screen } = makeScreen()
    delta("日本語 and **more** of it\n\n```js\nconst a = 1\n```\n")
    screen.dispatch({ type: "asked", id: 1, question: { kind: "choice", asker: "日本", prompt: "どれ?", options: ["一", "二"] } })
    screen.dispatch({ type: "widget", key: "x:y", widget: { title: "題", position: "above_composer", content: [{ type: "progress", value: 1, max: 2 }], actions: [{ id: "a", label: "押す" }] } })
    glass.type("日", "本")
    for (const [columns, rows] of [[5, 3], [2, 2], [1, 1], [3, 40], [300, 2], [80, 24]] as const) {
      await glass.resize(columns, rows)
      await glass.settled()
    }
    assert.deepStrictEqual(crashes, [])
    assert.include((await glass.seen()).join("\n"), "どれ?")
  })

  // E-077
  it("completes the commands of extensions by tab, each with what it is for, and names those that go on beside", async () => {
    const figures = [{ key: "helper", state: "Running", family: nimlet, manifest: {}, registration: { commands: [{ name: "greet", description: "Says hello to\u001b[2J you" }, { name: "grow" }] } } as never]
    const { glass, screen } = makeScreen({ state: { figures } })
    screen.completion = makeCompletion({ state: () => screen.state, files: () => Promise.resolve([]), invoke: () => Promise.resolve(undefined) })
    glass.type(..."/gre")
    assert.include((await glass.seen()).find((line) => line.includes("/greet")), "Says hello to you (helper)")
    glass.type("\t")
    await glass.settled()
    assert.strictEqual(screen.composed, "/greet ")
    screen.dispatch({ type: "aside", text: "/greet me", over: false })
    assert.include((await glass.seen()).join("\n"), "beside: /greet me (esc ends it)")
    screen.dispatch({ type: "aside", text: "/greet me", over: true })
    assert.notInclude((await glass.seen()).join("\n"), "beside:")
  })

  it("opens calls and folds them again", async () => {
    const { glass, screen } = makeScreen()
    screen.dispatch({ type: "agent", event: { type: "tool_call", ...place, step: 0, tool_id: "a", tool_name: "read", input: { path: "a.txt", start_line: 3 } } })
    screen.dispatch({ type: "agent", event: { type: "tool_result", ...place, step: 0, tool_id: "a", tool_name: "read", output: "one\ntwo", is_error: false, duration_ms: 1 } })
    assert.notInclude((await glass.seen()).join("\n"), "start_line")
    glass.type("\u000f")
    assert.include((await glass.seen()).join("\n"), "start_line")
    glass.type("\u000f")
    const all = (await glass.all()).join("\n")
    assert.notInclude(all, "start_line")
    assert.strictEqual(all.split("read a.txt").length, 2)
  })

  it("sends what is typed and pasted, and takes it back by undo and history", async () => {
    const { commands, glass, screen } = makeScreen()
    glass.type("h", "i", "\u001bj", "\u001b[200~two\nlines\u001b[201~", "\r")
    assert.deepStrictEqual(commands, [{ type: "prompt", words: { text: "hi\ntwo\nlines", literal: false } }])
    screen.dispatch({ type: "ended", back: "", editorText: "" })
    glass.type("\u001b[A")
    assert.strictEqual(screen.composed, "hi\ntwo\nlines")
    glass.type("\u0003")
    assert.strictEqual(screen.composed, "")
    glass.type("\u001f")
    assert.strictEqual(screen.composed, "hi\ntwo\nlines")
  })

  it("takes Enter that was pressed before the terminal was ready for Enter, and later a line feed for a new line", () => {
    const { commands, glass, screen } = makeScreen({ step: 200 })
    glass.type("h", "i", "\n")
    assert.deepStrictEqual(commands, [{ type: "prompt", words: { text: "hi", literal: false } }])
    glass.type("a", "\n", "b")
    assert.strictEqual(screen.composed, "a\nb")
  })

  it("queues words for afterwards with alt+enter and puts returned ones before a draft", () => {
    const { commands, glass, screen } = makeScreen()
    screen.dispatch({ type: "submitted", text: "go", as: "steer" })
    screen.dispatch({ type: "agent", event: { type: "message", role: "user", content: "go", session_id: "s", turn_id: "t" } })
    glass.type("l", "a", "t", "e", "r", "\u001b\r", "n", "o", "w", "\r", "d", "\u001b")
    assert.deepStrictEqual(commands.map(({ type }) => type), ["prompt", "followUp", "steer", "interrupt"])
    screen.dispatch({ type: "ended", back: "now\n\nlater", editorText: "" })
    assert.strictEqual(screen.composed, "now\n\nlater\n\nd")
  })

  it("shows a question above the draft, answers it by key, and leaves the draft alone", async () => {
    const { commands, glass, screen } = makeScreen()
    glass.type("d", "r", "a", "f", "t")
    screen.dispatch({ type: "asked", id: 1, question: { kind: "approval", request: { tool: "bash", arguments: { command: "rm -r build" }, summary: "rm -r build", canRemember: true, project: true } } })
    const seen = (await glass.seen()).join("\n")
    for (const text of ["Allow bash?", "rm -r build", "this once", "again in this session", "in this project", "say why", "draft"]) assert.include(seen, text)
    glass.type("n")
    screen.dispatch({ type: "tick" })
    assert.deepStrictEqual(commands, [{ type: "answer", id: 1, outcome: { kind: "approval", approval: { decision: "deny", reason: "denied by the user" } } }])
    assert.notInclude((await glass.seen()).join("\n"), "Allow bash?")
    assert.strictEqual(screen.composed, "draft")
  })

  it("says plainly that a mode or yolo is in force, however narrow it is", async () => {
    const { commands, glass, screen } = makeScreen({ columns: 40 })
    screen.dispatch({ type: "working", working: { mode: "plan", yolo: true, commands: [] } })
    const footer = (await glass.seen()).filter((line) => line !== "").at(-1)
    assert.match(footer ?? "", /^\[plan\] \[yolo: nothing is asked\]/)
    glass.type("\u001b[Z")
    assert.deepStrictEqual(commands, [{ type: "cycleMode" }])
  })

  it("tells what the session cost where that is known", async () => {
    const { glass, screen } = makeScreen()
    screen.dispatch({ type: "working", working: { mode: undefined, yolo: false, cost: 0.0123, commands: [] } })
    assert.match((await glass.seen()).filter((line) => line !== "").at(-1) ?? "", /\$0\.0123 · p\/m$/)
  })

  it("shows what a protected change would do", async () => {
    const { glass, screen } = makeScreen()
    const request = { tool: "write", arguments: { path: ".nimlet/config.json" }, summary: ".nimlet/config.json", reason: "a protected file", preview: "-old\n+new", canRemember: false }
    screen.dispatch({ type: "asked", id: 1, question: { kind: "approval", request } })
    const seen = (await glass.seen()).join("\n")
    for (const text of [".nimlet/config.json", "-old", "+new", "a protected file"]) assert.include(seen, text)
    assert.notInclude(seen, "session")
  })

  it("never shows a password", async () => {
    const { commands, glass, screen } = makeScreen()
    screen.dispatch({ type: "asked", id: 1, question: { kind: "text", asker: "vault", prompt: "Key?", secret: true, initial: "" } })
    glass.type(..."hunter2")
    assert.include((await glass.seen()).join("\n"), "vault asks")
    glass.type("\r")
    assert.notInclude(glass.writes.join("").replaceAll(/\u001b\[[0-9;]*m/g, ""), "hunter")
    assert.deepStrictEqual(commands, [{ type: "answer", id: 1, outcome: { kind: "text", text: "hunter2" } }])
  })

  it.each(hostile.slice(0, 37))("is left alone by text that %s", async (_, text) => {
    const { glass, screen } = makeScreen({ columns: 60 })
    screen.dispatch({ type: "submitted", text: "go", as: "steer" })
    screen.dispatch({ type: "agent", event: { type: "message", role: "assistant", content: text, session_id: "s", turn_id: "t", final: true } })
    screen.dispatch({ type: "notice", level: "error", text, from: text })
    screen.dispatch({ type: "status", key: `x:${text}`, segments: [{ text }] })
    screen.dispatch({ type: "titled", title: text })
    const seen = await glass.seen()
    assert.strictEqual(ruled(seen), 2)
    assert.strictEqual(glass.title, "nimlet · work")
    assert.strictEqual(glass.bells, 0)
    assert.isTrue(glass.writes.every((data) => !/\u001b\]52|\u001b\[\?1049|\u001b\[6n|\u001bc/.test(data)))
  })

  it.each(hostile.slice(0, 37))("is left alone by what modules say and by what comes into the composer: %s", async (_, text) => {
    const { glass, screen } = makeScreen({ columns: 60 })
    for (const aspect of ["title", "working_message", "hidden_thinking_label", "editor_text", "editor_paste"]) screen.dispatch({ type: "aspect", extension: text, aspect, value: text })
    screen.dispatch({ type: "aspect", extension: "x", aspect: "working_indicator", value: { frames: [text], intervalMs: 1 } })
    screen.dispatch({ type: "submitted", text: "go", as: "steer" })
    screen.dispatch({ type: "agent", event: { type: "message", role: "user", content: "go", session_id: "s", turn_id: "t" } })
    screen.dispatch({ type: "agent", event: { type: "thinking_delta", ...place, step: 0, delta: text, model: "m" } })
    assert.notMatch(screen.composed, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
    screen.compose("")
    screen.remember(text)
    glass.type("\u001b[A")
    assert.notMatch(screen.composed, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
    glass.type("\u0003", `\u001b[200~${text}\u001b[201~`)
    assert.notMatch(screen.composed, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
    screen.compose("")
    const seen = await glass.seen()
    assert.strictEqual(ruled(seen), 2)
    assert.notInclude(glass.title, "\u001b")
    assert.strictEqual(glass.bells, 0)
    assert.isTrue(glass.writes.every((data) => !/\u001b\]52|\u001b\[\?1049|\u001b\[6n|\u001bc/.test(data)))
  })

  it("names what a module names the window, and goes back to its own name", async () => {
    const { glass, screen } = makeScreen()
    screen.dispatch({ type: "aspect", extension: "x", aspect: "title", value: "at work\u0007\u001b]0;evil\u0007" })
    await glass.settled()
    assert.strictEqual(glass.title, "at work")
    screen.dispatch({ type: "aspect", extension: "x", aspect: "title", value: null })
    await glass.settled()
    assert.strictEqual(glass.title, "nimlet · work")
  })

  it("tells of what cannot be drawn, so that the program ends in order", async () => {
    const broken = { kind: "notice", level: "info", get text(): string { throw new Error("broken") } } as const
    const { crashes, glass } = makeScreen({ state: { settled: [broken] } })
    await glass.settled()
    assert.match(String(crashes[0]), /broken/)
  })

  it("gives the terminal back as it was", async () => {
    const { glass, screen } = makeScreen()
    await glass.settled()
    screen.stop()
    const written = glass.writes.join("")
    assert.strictEqual(written.split("\u001b[?1004h").length, written.split("\u001b[?1004l").length)
    glass.writes.length = 0
    screen.dispatch({ type: "notice", level: "info", text: "late" })
    await glass.settled()
    assert.deepStrictEqual(glass.writes, [])
  })
})
