import { visibleWidth } from "@earendil-works/pi-tui"
import { assert, describe, it } from "@effect/vitest"
import type { ExtensionFigures } from "@nimlet/extension"
import type { JsonObject } from "@nimlet/protocol"
import { openDialog } from "../../src/tui/Dialog.ts"
import { fieldOf } from "../../src/tui/Field.ts"
import type { CallItem, Item } from "../../src/tui/Item.ts"
import { isMoving, type State } from "../../src/tui/State.ts"
import { pieceEnd } from "../../src/tui/view/Answer.ts"
import { changeOf } from "../../src/tui/view/Diff.ts"
import { aboveComposer, belowComposer, startFor, transcriptLines } from "../../src/tui/view/Frame.ts"
import { painted } from "../../src/tui/view/Highlight.ts"
import { ItemLines } from "../../src/tui/view/Items.ts"
import { wrap, wrapColumns } from "../../src/tui/view/Lines.ts"
import { sparkline } from "../../src/tui/view/Overlays.ts"
import { hostile, look, Rig } from "./Rig.ts"

const widths = [1, 2, 3, 5, 17, 40, 80, 200]

/** The text everywhere where text of others can stand. */
const everywhere = (text: string): ReadonlyArray<State> => {
  const short = text.slice(0, 60_000)
  const { state } = new Rig()
  const items: ReadonlyArray<Item> = [
    { kind: "user", text }, { kind: "answer", id: 1, text, done: true }, { kind: "answer", id: 2, text: `\`\`\`js\n${short}\n\`\`\`\n\n| a | ${short.slice(0, 500)} |\n| - | - |\n| b | c |`, done: true },
    { kind: "thinking", id: 3, text, done: false }, { kind: "notice", level: "warning", text, from: text }, { kind: "welcome", version: "1", folder: text },
    { kind: "call", id: "a", name: text.slice(0, 2_000), input: { command: text }, output: text, state: "running" },
    { kind: "call", id: "b", name: "edit", input: { path: text }, output: text, state: "done", millis: 2_000, diff: `--- a\n+++ b\n@@ -1 +1 @@\n-${text}\n+${text}` },
    { kind: "call", id: "c", name: "read", input: text, output: text, state: "failed" }
  ]
  const figures = [{ key: text, state: "Running", fault: text, manifest: {}, family: { name: "nimlet" }, restarts: 2, requests: { open: 0, answered: 1, failed: 0 }, lateReplies: 1, droppedLines: 1,
    hookMillis: { p50: 1, p95: 2, latest: [1, 2, 3] }, registration: { tools: [{ name: text }], commands: [{ name: text }], events: [text] } } as unknown as ExtensionFigures]
  const ask = (question: Parameters<typeof openDialog>[1]) => [{ ...openDialog(1, question), since: 0 }]
  const widget = (position: "modal" | "above_composer") => ({ title: short, position, actions: [{ id: "submit", label: short }], content: [
    { type: "text", text: short }, { type: "list", items: [{ text: short, state: "active" }] }, { type: "progress", value: 1, max: 3, label: short }, { type: "markdown", text: short }
  ] } as const)
  return [
    { ...state, settled: items },
    { ...state, folder: text, session: { id: "s", title: text }, answering: { provider: text, model: text }, statuses: [[text, [{ text, style: "error" }]]], widgets: [[short, widget("above_composer")], ["b", widget("modal")]],
      run: { since: 0, interrupted: false }, sent: text, waiting: { steering: [text], followUp: [text] }, later: [{ text, literal: true }] },
    { ...state, dialogs: ask({ kind: "choice", asker: text, prompt: text, options: [text, "b"] }) },
    { ...state, dialogs: ask({ kind: "text", asker: text, prompt: text, secret: true, initial: short.slice(0, 5_000) }) },
    { ...state, dialogs: ask({ kind: "editor", asker: text, title: text, text, program: "vi" }) },
    { ...state, dialogs: ask({ kind: "approval", request: { tool: text, arguments: { command: text }, summary: text, reason: text, canRemember: true } }) },
    { ...state, dialogs: ask({ kind: "approval", request: { tool: "edit", arguments: { path: text, old_text: text, new_text: text }, summary: text, canRemember: true } }) },
    { ...state, overlay: { kind: "picker", what: "model", title: "x", items: [{ value: "1", label: text, about: text }], filter: fieldOf(), selected: 0 } },
    { ...state, figures, overlay: { kind: "extensions", selected: 0, log: { key: text, lines: [text] } }, answering: undefined }
  ]
}

const linesOf = (state: State, width: number, open: boolean): ReadonlyArray<string> => {
  const seen = look(width, open)
  return [...transcriptLines({ ...state, open }, 0, new ItemLines(), seen), ...aboveComposer({ ...state, open }, seen), ...belowComposer({ ...state, open }, seen)]
}

// Our own styles, and what the terminal library itself needs.
const own = /\u001b\[[0-9;]*m/g
const control = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

describe("every view", () => {
  it.each(hostile)("stays within the width and leaves the terminal alone: %s", (_, text) => {
    const some = text.length > 10_000 ? [40] : widths
    for (const state of everywhere(text)) {
      for (const width of some) {
        for (const open of [false, true]) {
          const wrong = linesOf(state, width, open).filter((line) => visibleWidth(line) > width || control.test(line.replaceAll(own, "")))
          assert.deepStrictEqual(wrong.map((line) => ({ width, line: line.slice(0, 200) })), [])
        }
      }
    }
  }, 60_000)
})

describe("the transcript", () => {
  const plain = (lines: ReadonlyArray<string>) => lines.map((line) => line.replaceAll(own, "").trimEnd()).join("\n").trim()
  const shown = (item: Item, open = false) => plain(new ItemLines().of(item, look(60, open)))
  const diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n"

  it.each([["> ", 2_000], ["1. ", 5_000], ["**a **", 5_000]])("markdown that would hold everything up stands as it was written, what is before it does not: %s", (mark, times) => {
    const before = `**fine**${" word".repeat(300)}\n\n`
    const text = `${before}A list:\n\n${mark.repeat(times)}x\n\nAnd **more**`
    const items = new ItemLines()
    const growing = (end: number, done = false) => plain(items.of({ kind: "answer", id: 1, text: text.slice(0, end), done }, look(60)))
    assert.match(growing(before.length), /^fine word/)
    for (const lines of [growing(text.length - 20), growing(text.length), growing(text.length, true), shown({ kind: "answer", id: 2, text, done: true })]) {
      assert.match(lines, /^fine word/)
      assert.include(lines, mark.repeat(8).trim())
    }
    assert.include(shown({ kind: "answer", id: 3, text, done: true }), "And **more**")
    const content = [{ type: "markdown", text: mark.repeat(times) }] as const
    const state: State = { ...new Rig().state, widgets: [["a:b", { title: "", position: "above_composer", actions: [], content }]] }
    for (const _ of ["drawn first", "drawn again"]) assert.include(plain(aboveComposer(state, look(60))), mark.repeat(8).trim())
  })

  it("shows a call in one row, and at length when it is opened", () => {
    const call = { kind: "call", id: "a", name: "read", input: { path: "a.txt" }, output: "1 | one\n2 | two\n", state: "done", millis: 3 } as const
    assert.strictEqual(shown(call), "✓ read a.txt\n    2 lines")
    assert.strictEqual(shown(call, true), "✓ read a.txt\n    {\n      \"path\": \"a.txt\"\n    }\n    1 | one\n    2 | two")
  })

  // A-253 A-286 A-288
  it("shows a tool that does not draw itself by its name and the text of its result", () => {
    const call = { kind: "call", id: "a", name: "my_tool", input: {}, output: "raw\ntext", state: "done", millis: 3 } as const
    assert.match(shown(call), /^✓ my_tool\b/)
    assert.match(shown(call, true), /^✓ my_tool\b[^]*\n {4}raw\n {4}text$/)
  })

  it("shows of a command what it printed last", () => {
    const output = `exit_code: 0\nduration_ms: 1500\n\nstdout:\n${Array.from({ length: 30 }, (_, n) => `line ${n}`).join("\n")}\n`
    assert.strictEqual(shown({ kind: "call", id: "a", name: "bash", input: { command: "seq" }, output, state: "done", millis: 1_500 }), "✓ bash seq 1.5s\n    … 26 lines before\n    line 26\n    line 27\n    line 28\n    line 29")
  })

  it("shows a change with its lines coloured", () => {
    const lines = new ItemLines().of({ kind: "call", id: "a", name: "edit", input: { path: "x" }, output: "OK", state: "done", diff }, look(60))
    assert.include(lines, "    \u001b[31m-old\u001b[39m")
    assert.include(lines, "    \u001b[32m+new\u001b[39m")
  })

  it("folds thinking and shows it when opened", () => {
    const thinking = { kind: "thinking", id: 1, text: "first this\nthen that", done: true } as const
    assert.notInclude(shown(thinking), "then that")
    assert.include(shown(thinking, true), "then that")
  })

  it("draws an answer that grows as it draws the same at once", () => {
    const part = "# Title\n\nSome *words* and `code`.\n\n- one\n- two\n\n```js\nconst a = 1\n```\n\n| a | b |\n| - | - |\n| 1 | 2 |\n"
    const text = Array.from({ length: 12 }, (_, n) => `${part}\nParagraph ${n} of some length, so that there are pieces.\n\n1. one\n\n   still one\n\n2. two\n\n`).join("")
    const growing = new ItemLines()
    for (let end = 1; end < text.length; end += 7) growing.of({ kind: "answer", id: 1, text: text.slice(0, end), done: false }, look(40))
    const item = { kind: "answer", id: 1, text, done: true } as const
    assert.deepStrictEqual(growing.of(item, look(40)), new ItemLines().of(item, look(40)))
  })

  it("begins late enough for a long history and keeps its end", () => {
    const settled = Array.from({ length: 2_000 }, (_, n): Item => ({ kind: "user", text: `n${n}` }))
    const state = { ...new Rig().state, settled, forgotten: 500 }
    const drawing = new ItemLines()
    const from = startFor(state, 100, drawing, look(40))
    assert.strictEqual(from, 2_450)
    const lines = transcriptLines(state, from, drawing, look(40))
    assert.strictEqual(lines.length, 100)
    assert.include(lines.at(-1), "n1999")
  })
})

describe("parts of views", () => {
  it("an answer is cut only where nothing behind can change what stands before", () => {
    const long = `${"word ".repeat(250)}\n\n`
    assert.strictEqual(pieceEnd(`${long}Next`), long.length)
    for (const rest of ["", "- item", "1. item", "  indented", "| a |", "> quoted", "[1]: http://x", "\n"]) assert.isUndefined(pieceEnd(`${long}${rest}`), rest)
    assert.isUndefined(pieceEnd(`\`\`\`\n${long}Next`), "in code")
    assert.strictEqual(pieceEnd(`\`\`\`\n${long}\`\`\`\n\nNext`), long.length + 9)
    assert.isUndefined(pieceEnd("short\n\nNext"))
  })

  it("of an answer longer than what is shown nothing is drawn again as it grows, and how much more there is stands behind its code", () => {
    const drawn = new Set<string>()
    const { markdown: make, ...rest } = look(60)
    const seen = { ...rest, markdown: (...[theme]: Parameters<NonNullable<typeof make>>) => {
      const draw = make!(theme)
      return (text: string, width: number) => (drawn.add(text), draw(text, width))
    } }
    const items = new ItemLines()
    const text = `\`\`\`\n${"word ".repeat(20_000)}`
    const ends = [1, 2].map((times) => items.of({ kind: "answer", id: 1, text: text + "more ".repeat(times), done: false }, seen).at(-1))
    assert.deepStrictEqual(ends, ["… 9 more characters", "… 14 more characters"])
    assert.strictEqual(drawn.size, 1)
  })

  it("a call shows in short what came of it: the end of what a command printed, how it failed, which lines were read", () => {
    const shows = (call: Pick<CallItem, "name" | "input" | "output" | "state"> & Partial<CallItem>) => new ItemLines().of({ kind: "call", id: "a", millis: 9_000, ...call }, look(60)).map((line) => line.replaceAll(/\u001b\[[\d;]*m/g, "").trim()).filter((line) => line !== "")
    const bash = { name: "bash", input: { command: "make" } }
    const head = "exit_code: 2\nduration_ms: 1234\n\n"
    assert.deepStrictEqual(shows({ ...bash, state: "failed", output: `${head}stdout:\n1\n2\n3\n4\n5\n\nstderr:\nno rule` }), ["✗ bash make 1.2s", "… 2 lines before", "3", "4", "5", "no rule", "exit code 2"])
    assert.deepStrictEqual(shows({ ...bash, state: "failed", output: `${head}stderr:\nno rule\n` }), ["✗ bash make 1.2s", "no rule", "exit code 2"])
    assert.deepStrictEqual(shows({ ...bash, state: "failed", output: "Tool execution was denied." }), ["✗ bash make 9.0s", "Tool execution was denied."])
    assert.deepStrictEqual(shows({ ...bash, state: "done", output: `${head.replace("2", "0")}stdout:\nbuilt\n` }), ["✓ bash make 1.2s", "built"])
    assert.deepStrictEqual(shows({ ...bash, state: "done", output: head.replace("2", "0") }), ["✓ bash make 1.2s"])
    assert.deepStrictEqual(shows({ ...bash, state: "failed", output: "INTERRUPTED (2490 ms)\n\nstdout:\none\nhalf a line\n" }), ["✗ bash make 2.5s", "one", "half a line", "interrupted"])
    assert.deepStrictEqual(shows({ ...bash, state: "failed", output: "TIMEOUT after 3s (3001 ms)\n\nstderr:\nwaiting for\n" }), ["✗ bash make 3.0s", "waiting for", "ended after 3s"])
    assert.deepStrictEqual(shows({ ...bash, state: "failed", output: "INTERRUPTED (2490 ms)\n\n(no output)\n" }), ["✗ bash make 2.5s", "(no output)", "interrupted"])
    const read = "path: a.txt\nversion: 7\nlines: 1-300 of 300\n\n  1 | x\n"
    assert.deepStrictEqual(shows({ name: "read", input: { path: "a.txt" }, state: "done", output: read }), ["✓ read a.txt 9.0s", "lines 1-300 of 300"])
    assert.deepStrictEqual(shows({ name: "grep", input: { path: "src", pattern: "x" }, state: "done", output: "a\nb" }), ["✓ grep x src 9.0s", "2 lines"])
  })

  it("what is asked for is shown whole, in the narrowest terminal, too", () => {
    const rig = new Rig()
    const long = "a line that is longer than any narrow terminal and ends in danger"
    rig.on({ type: "asked", id: 1, question: { kind: "approval", request: { tool: "edit", arguments: { path: "some/deep/folder/of/the/project/file.txt", old_text: "x", new_text: `short\n${long}` }, summary: "file", reason: "a protected file: it can change what runs here", canRemember: false } } })
    const lines = aboveComposer(rig.state, look(30)).map((line) => line.replaceAll(/\u001b\[[\d;]*m/g, ""))
    const text = lines.map((line) => line.trim()).join(" ")
    for (const part of [`+${long}`, "it can change what runs here", "+short"]) assert.include(text, part)
    assert.include(text.replaceAll(" ", ""), "some/deep/folder/of/the/project/file.txt")
    assert.isFalse(lines.some((line) => line.includes("…")))
    rig.on({ type: "withdrawn", id: 1 }, { type: "asked", id: 2, question: { kind: "approval", request: { tool: "bash", arguments: { command: `echo ${"a ".repeat(2_000)}; rm -r everything` }, summary: "echo", canRemember: false } } })
    assert.include(aboveComposer(rig.state, look(80)).join(" "), "; rm -r everything")
    rig.on({ type: "withdrawn", id: 2 }, { type: "asked", id: 3, question: { kind: "approval", request: { tool: "bash", arguments: { command: "a".repeat(1_000_000) }, summary: "echo", canRemember: false } } })
    assert.include(aboveComposer(rig.state, look(80)).join(""), "980000 more characters")
  })

  it("what is asked for hides nothing behind a carriage return, blanks or characters without a shape", () => {
    const approval = (tool: string, args: JsonObject) => ({ kind: "approval", request: { tool, arguments: args, summary: tool, canRemember: false } } as const)
    const shown = (question: Parameters<typeof openDialog>[1], width: number) => {
      const rig = new Rig()
      rig.on({ type: "asked", id: 1, question })
      return aboveComposer(rig.state, look(width)).map((line) => line.replaceAll(/\u001b\[[\d;]*m/g, "").trim()).join(" ")
    }
    for (const width of [30, 80]) {
      assert.include(shown(approval("bash", { command: "touch HIDDEN #\recho safe" }), width), "touch HIDDEN #␍echo safe")
      assert.include(shown(approval("bash", { command: `echo hi${" ".repeat(3_000)}; touch X` }), width).replaceAll(/ +/g, " "), "echo hi⋯3000 blanks⋯; touch X")
      assert.include(shown(approval("write", { path: "a\rb\u200b\nc", content: "evil\rgood\u{e0041}\nend" }), width), "a␍b⟨U+200B⟩␊c")
      assert.include(shown(approval("write", { path: "a", content: "evil\rgood\u{e0041}\r\nend" }), width), "+evil␍good⟨U+E0041⟩ +end")
      assert.include(shown({ kind: "choice", asker: "x", prompt: "rm\rls\u2060", options: ["no\ryes"] }, width), "rm␍ls⟨U+2060⟩")
      assert.include(shown({ kind: "choice", asker: "x", prompt: "?", options: ["no\ryes"] }, width), "no␍yes")
    }
    assert.include(shown(approval("edit", { path: "a", old_text: "x", new_text: "first", replacements: [{ old_text: "y", new_text: "second" }] }), 80), "+first")
  })

  it("a change is told from what edit and write are asked to do", () => {
    assert.strictEqual(changeOf("edit", { path: "x", old_text: "a\nb", new_text: "c" }), "-a\n-b\n+c")
    assert.strictEqual(changeOf("edit", { path: "x", replacements: [{ old_text: "a", new_text: "b" }, { old_text: "c", new_text: "" }] }), "-a\n+b\n@@\n-c")
    assert.strictEqual(changeOf("write", { path: "x", content: "a\n" }), "+a")
    assert.isUndefined(changeOf("bash", { command: "ls" }))
  })

  it("what does not fit into the last column of a table goes on below it, and without room below all of it", () => {
    assert.deepStrictEqual(wrapColumns("tab      complete what is typed", 20), ["tab      complete", "         what is", "         typed"])
    assert.deepStrictEqual(wrapColumns("   set in here", 10), ["   set in", "   here"])
    assert.deepStrictEqual(wrapColumns("a long head     and some more", 12), ["a long head", "   and some", "   more"])
    assert.deepStrictEqual(wrapColumns(`${" ".repeat(30)}set in far`, 12), ["   set in", "   far"])
    assert.deepStrictEqual(wrapColumns("tab   fits", 12), ["tab   fits"])
    assert.deepStrictEqual(wrapColumns("Just two.  Spaces here", 12), wrap("Just two.  Spaces here", 12))
  })

  it("a question shows how it is answered once it takes keys, and not while something else is typed", () => {
    const rig = new Rig()
    const shows = () => aboveComposer(rig.state, look(60)).join("\n")
    rig.on({ type: "asked", id: 1, question: { kind: "confirm", asker: "planner", prompt: "Go on?" } })
    const height = shows().split("\n").length
    assert.include(shows(), "y  Yes")
    assert.notInclude(shows(), "❯")
    for (const millis of [200, 200]) {
      rig.wait(millis)
      rig.key("x")
      assert.notInclude(shows(), "❯")
    }
    assert.isTrue(isMoving(rig.state))
    rig.wait(300)
    rig.on({ type: "tick" })
    assert.notInclude(shows(), "❯")
    assert.include(shows(), "↑ turns to it")
    // The first key turns to the question as it stands.
    rig.key("down")
    assert.include(shows(), "❯ \u001b[39m\u001b[1my  Yes")
    assert.strictEqual(shows().split("\n").length, height)
    assert.isFalse(isMoving(rig.state))
    rig.letter("y")
    assert.deepStrictEqual(rig.done.map(({ type }) => type), ["answer"])
  })

  it("times are bars up to the longest", () => assert.strictEqual(sparkline([0, 5, 10], 8), "▁▅█"))

  it("colours of code begin and end on each line", () => {
    const { palette } = look(80)
    assert.deepStrictEqual(painted(`<span class="hljs-string">&quot;a\nb&quot;</span> &lt; c`, palette), ["\u001b[32m\"a\u001b[39m", "\u001b[32mb\"\u001b[39m < c"])
  })
})
