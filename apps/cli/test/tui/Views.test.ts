/** Every view on a grid of cells, narrow, usual and wide, and drawn anew when the size changes in its middle. */
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import type { ExtensionFigures } from "@nimlet/extension"
import { vi } from "vitest"
import type { Event } from "../../src/tui/Event.ts"
import { fieldOf } from "../../src/tui/Field.ts"
import type { Item } from "../../src/tui/Item.ts"
import { composerKeys } from "../../src/tui/Keymap.ts"
import { Screen } from "../../src/tui/Screen.ts"
import { initial, type State } from "../../src/tui/State.ts"
import { makeMarkdown } from "../../src/tui/view/MarkdownLibrary.ts"
import { Glass } from "./Glass.ts"
import { place } from "./Rig.ts"

const open: Array<Screen> = []
beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  for (const screen of open.splice(0)) screen.stop()
})

const agent = (event: Record<string, unknown>): Event => ({ type: "agent", event: { ...place, step: 0, ...event } as never })
const submitted = (text: string): Event => ({ type: "submitted", text, as: "steer" })
const asked = (question: Extract<Event, { readonly type: "asked" }>["question"]): Event => ({ type: "asked", id: 1, question })
const diff = "--- a/x.ts\n+++ b/x.ts\n@@ -1,2 +1,2 @@\n same\n-old 日本\n+new 日本\n"
const figures = [
  { key: "guard", state: "Running", fault: undefined, manifest: { name: "guard" }, family: { name: "nimlet" }, project: false, pid: 7, restarts: 1, startMillis: 20, memoryBytes: 3_000_000, lateReplies: 2, droppedLines: 4,
    requests: { open: 0, answered: 3, failed: 0 }, hookMillis: { p50: 5, p95: 10, latest: [0, 5, 10] }, registration: { tools: [{ name: "t" }], commands: [{ name: "ask" }], events: ["tool_call"] } },
  { key: "broken", state: "Quarantined", fault: "exited with code 3", manifest: { name: "broken" }, family: { name: "niminal" }, project: true, restarts: 3, startMillis: undefined, lateReplies: 0, droppedLines: 0, requests: { open: 0, answered: 0, failed: 2 }, hookMillis: undefined, registration: undefined }
] as unknown as ReadonlyArray<ExtensionFigures>
const widget = (position: "above_composer" | "modal", actions: ReadonlyArray<{ readonly id: string; readonly label: string }>): Event => ({
  type: "widget",
  key: "planner:plan",
  widget: { title: "The plan", position, actions, content: [
    { type: "text", text: "two steps", style: "emphasis" },
    { type: "list", items: [{ text: "read", state: "done" }, { text: "書く", state: "active" }] },
    { type: "progress", value: 1, max: 2 },
    { type: "markdown", text: "**bold** and `code`" }
  ] }
})

const found: ReadonlyArray<Item> = [{ kind: "user", text: "the 青い door" }, { kind: "answer", id: 1, text: "the 青い door\na window", done: true }]
const searching = { kind: "search", items: found, filter: fieldOf("青い door"), selected: 0, reading: undefined } as const

interface View {
  readonly name: string
  readonly state?: Partial<State>
  readonly events: ReadonlyArray<Event>
  readonly keys?: ReadonlyArray<string>
  /** What is seen, however narrow it is. */
  readonly shows: ReadonlyArray<string>
  readonly hides?: ReadonlyArray<string>
}

const views: ReadonlyArray<View> = [
  { name: "the first frame", state: { answering: undefined }, events: [{ type: "figures", figures: [{ ...figures[0]!, state: "Starting" }] }], shows: ["nimlet 1.2.3", "/help lists commands", "starting: guard"] },
  { name: "an answer that streams, with code, a list and folded thinking", events: [submitted("go"), agent({ type: "thinking_delta", delta: "hm, well" }), agent({ type: "message_delta", delta: "# Title\n\nSome **words**.\n\n- one\n- two\n\n```js\nconst 日 = 1\n```\n\nand mo", model: "m" })],
    shows: ["Title", "Some words.", "- one", "const 日 = 1", "and mo", "∴ thought for a while", "working", "esc interrupts"], hides: ["hm, well", "**"] },
  { name: "calls in short", events: [submitted("go"), agent({ type: "tool_call", tool_id: "a", tool_name: "read", input: { path: "a.txt", start_line: 7 } }), agent({ type: "tool_result", tool_id: "a", tool_name: "read", output: "one\ntwo", is_error: false, duration_ms: 1 }),
    agent({ type: "tool_call", tool_id: "b", tool_name: "bash", input: { command: "make" } }), agent({ type: "tool_output_delta", tool_id: "b", tool_name: "bash", delta: "compiling 日本\n" })], shows: ["✓ read a.txt", "2 lines", "◌ bash make", "compiling 日本"], hides: ["start_line"] },
  { name: "calls at length, with a change", events: [submitted("go"), agent({ type: "tool_call", tool_id: "a", tool_name: "edit", input: { path: "x.ts" } }), agent({ type: "tool_result", tool_id: "a", tool_name: "edit", output: "OK", is_error: false, duration_ms: 1, details: { diff } })], keys: ["\u000f"],
    shows: ["✓ edit x.ts", "\"path\": \"x.ts\"", "@@ -1,2 +1,2 @@", "-old 日本", "+new 日本"] },
  { name: "the approval of a command", events: [asked({ kind: "approval", request: { tool: "bash", arguments: { command: "rm -r build" }, summary: "rm -r build", canRemember: true, project: true } })], shows: ["Allow bash?", "rm -r build", "y  Yes, this once", "s  Yes", "p  Yes", "n  No", "r  No, and say why"] },
  { name: "the approval of a change", events: [asked({ kind: "approval", request: { tool: "edit", arguments: { path: "x.ts", old_text: "old", new_text: "new 日本" }, summary: "x.ts", canRemember: false } })], shows: ["Allow edit?", "x.ts", "-old", "+new 日本", "y  Yes, this once"], hides: ["session"] },
  { name: "the reason of a denial", events: [asked({ kind: "approval", request: { tool: "bash", arguments: { command: "ls" }, summary: "ls", canRemember: false } })], keys: ["r", "n", "o", "t"], shows: ["Why not?", "> not", "enter answers"] },
  { name: "a choice, another question behind it", events: [asked({ kind: "choice", asker: "guard", prompt: "Which 色?", options: ["red", "緑"] }), { type: "asked", id: 2, question: { kind: "confirm", asker: "guard", prompt: "Sure?" } }], shows: ["guard asks", "1 more waits", "Which 色?", "1  red", "2  緑"] },
  { name: "a yes or no", events: [asked({ kind: "confirm", asker: "guard", prompt: "Sure?" })], shows: ["guard asks", "Sure?", "y  Yes", "n  No"] },
  { name: "a password", events: [asked({ kind: "text", asker: "vault", prompt: "Key?", secret: true, initial: "" })], keys: ["a", "b"], shows: ["vault asks", "Key?", "••", "not shown while you type", "dismisses"], hides: ["> ab"] },
  { name: "a text to be edited", events: [asked({ kind: "editor", asker: "notes", title: "The note", text: "x", program: "vi" })], shows: ["notes wants a text edited", "The note", "y  Open it in vi"] },
  { name: "a widget with buttons", events: [widget("above_composer", [{ id: "go", label: "Go" }, { id: "stop", label: "止める" }])], keys: ["\t"], shows: ["The plan · planner", "two steps", "☑ read", "▸ 書く", "50%", "bold and code", "[Go] [止める]"] },
  { name: "a modal with its own composer", events: [widget("modal", [{ id: "submit", label: "Send" }])], keys: ["h", "i"], shows: ["The plan · planner", "> hi", "[Send]", "enter sends it to the extension"] },
  { name: "statuses", events: [{ type: "status", key: "ci:build", segments: [{ text: "red", style: "error" }, { text: "3 of 4" }] }], shows: ["ci", "red", "3 of 4"] },
  { name: "what waits", events: [submitted("go"), agent({ type: "message", role: "user", content: "go" }), { type: "waiting", waiting: { steering: ["this way"], followUp: ["and then"] } }], shows: ["next: this way", "after: and then", "alt+up"] },
  { name: "what waits, at length", events: [submitted("go"), { type: "waiting", waiting: { steering: ["a message that is far too long for one line of any of these terminals ".repeat(4)], followUp: [] } }], shows: ["next: a", "…", "(alt+up takes it"] },
  { name: "a mode and yolo", events: [{ type: "working", working: { mode: "plan", yolo: true, commands: [] } }], shows: ["[plan]", "[yolo: nothing is asked]"] },
  { name: "the list of sessions", events: [submitted("/resume"), { type: "items", what: "resume", items: [{ value: "1", label: "fix the parser", about: "now" }, { value: "2", label: "write docs", about: "1 h ago" }] }], keys: ["d", "o", "c"], shows: ["Which session?", "> doc", "❯ write docs", "1 of 1", "delete", "closes"], hides: ["fix the parser"] },
  { name: "the list of models", events: [submitted("/model"), { type: "items", what: "model", items: [{ value: "p/m1", label: "m1", about: "p" }, { value: "p/m2", label: "m2", about: "p" }] }], shows: ["Which model", "❯ m1", "m2", "1 of 2"] },
  { name: "a search that begins", events: [], keys: ["\u0006", "x"], shows: ["Search the conversation", "> x"] },
  { name: "a search that found something", state: { overlay: searching }, events: [], shows: ["> 青い door", "❯ answer: the 青い door", "you: the 青い door", "1 of 2", "closes"], hides: ["a window"] },
  { name: "reading where something was found", state: { overlay: { ...searching, reading: { item: found[1]!, line: 0 } } }, events: [], shows: ["answer, lines 1 to 2 of 2", "the 青い door", "a window", "esc back", "copies"] },
  { name: "the tree of extensions", events: [{ type: "figures", figures }, submitted("/extensions"), { type: "log", key: "guard", lines: ["a line of its log"] }], shows: ["Extensions: 2", "❯ guard", "running", "1 restart", "pid 7", "3 MB", "3 answered", "late", "dropped", "▁▅█", "p95", "a line of its log", "broken", "quarantined", "closes"] },
  { name: "its own commands", events: [submitted("/context"), submitted("/version")], shows: ["nimlet 1.2.3"] }
]

describe("each view", () => {
  it.each(views)("stands whole at 40, 80 and 200 columns and through a change of size: $name", async ({ events, hides = [], keys = [], shows, state = {} }) => {
    for (const sizes of [[40, 200, 80], [80, 40, 200], [200, 80, 40]]) {
      const glass = new Glass(sizes[0]!, 40)
      const crashes: Array<unknown> = []
      let now = 0
      const screen = new Screen({
        terminal: glass,
        colours: false,
        mouse: true,
        state: { ...initial({ version: "1.2.3", folder: "/home/me/work", now }), answering: { provider: "p", model: "m", window: 1_000 }, ...state },
        keys: composerKeys as Record<string, Array<"enter">>,
        now: () => now += 400,
        perform: () => undefined,
        submitted: () => undefined,
        changed: () => undefined,
        crashed: (error) => void crashes.push(error)
      })
      open.push(screen)
      screen.start()
      screen.markdown = makeMarkdown
      for (const event of events) screen.dispatch(event)
      glass.type(...keys)
      for (const [at, columns] of sizes.entries()) {
        if (at > 0) await glass.resize(columns, 40)
        const seen = await glass.seen()
        const text = seen.join("\n")
        for (const part of shows) assert.include(text, part, `${columns} columns`)
        for (const part of hides) assert.notInclude(text, part, `${columns} columns`)
        // The composer stands under all of it, whole.
        const rules = seen.filter((line) => line === "─".repeat(columns)).length
        assert.isAtLeast(rules, 2, `${columns} columns\n${text}`)
        assert.match(seen.filter((line) => line !== "").at(-1) ?? "", /work|p\/m/, `${columns} columns`)
      }
      assert.deepStrictEqual(crashes, [])
    }
  })
})
