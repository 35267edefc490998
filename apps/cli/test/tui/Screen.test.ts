/** What is drawn, on a grid of cells. */
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { vi } from "vitest"
import { makeCompletion } from "../../src/tui/Completion.ts"
import { composerKeys } from "../../src/tui/Keymap.ts"
import { makePalette } from "../../src/tui/Palette.ts"
import { Screen } from "../../src/tui/Screen.ts"
import { type Command, initial, type State } from "../../src/tui/State.ts"
import { Glass } from "./Glass.ts"
import { hostile, place } from "./Rig.ts"

const open: Array<Screen> = []
beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  for (const screen of open.splice(0)) screen.stop()
})

const makeScreen = ({ columns = 80, rows = 24, state = {}, step = 1_000 }: { readonly step?: number; readonly columns?: number; readonly rows?: number; readonly state?: Partial<State> } = {}) => {
  const glass = new Glass(columns, rows)
  const commands: Array<Command> = []
  const crashes: Array<unknown> = []
  let now = 0
  const screen = new Screen({
    terminal: glass,
    palette: makePalette({ colours: false, theme: "dark" }),
    state: { ...initial({ version: "1.2.3", folder: "/home/me/work", now }), answering: { provider: "p", model: "m" }, ...state },
    keys: composerKeys as Record<string, Array<"enter">>,
    now: () => now += step,
    perform: (command) => void commands.push(command),
    changed: () => undefined,
    crashed: (error) => void crashes.push(error)
  })
  open.push(screen)
  screen.start()
  const delta = (text: string) => screen.dispatch({ type: "agent", event: { type: "message_delta", ...place, step: 0, delta: text, model: "m" } })
  return { glass, screen, commands, crashes, delta }
}

const ruled = (lines: ReadonlyArray<string>) => lines.filter((line) => /^─+$/.test(line)).length

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
    const figures = [{ key: "helper", state: "Running", manifest: {}, registration: { commands: [{ name: "greet", description: "Says hello to\u001b[2J you" }, { name: "grow" }] } } as never]
    const { glass, screen } = makeScreen({ state: { figures } })
    screen.completion = makeCompletion(() => screen.state, () => Promise.resolve([]))
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
