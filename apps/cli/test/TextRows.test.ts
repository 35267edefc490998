import { assert, describe, it } from "@effect/vitest"
import { palette, statusLine, widgetLines } from "../src/modes/TextRows.ts"

const plain = palette(false)
const widget = { title: "", position: "above_composer" as const, content: [], actions: [] }

describe("a status in a terminal", () => {
  it("is one line under its key, each segment in its style", () => {
    const segments = [{ text: "ok ", style: "success" as const }, { text: "2\nfailed", style: "error" as const }, { text: " of 3" }]
    assert.strictEqual(statusLine("ci:runs", segments, plain), "[ci:runs] ok 2 failed of 3")
    const coloured = statusLine("ci:runs", segments, palette(true))
    for (const piece of ["\u001b[32mok \u001b[0m", "\u001b[31m2 failed\u001b[0m", "\u001b[2m of 3\u001b[0m"]) assert.include(coloured, piece)
  })

  it("moves no cursor, whatever is in it", () => {
    assert.strictEqual(statusLine("a\u001b[A", [{ text: "x\u001b[2Jy\r" }], plain), "[a[A] x[2Jy ")
  })
})

describe("a widget in a terminal", () => {
  it("is its elements as lines, each under its key", () => {
    const lines = widgetLines("plan:steps", {
      ...widget,
      title: "Plan",
      content: [
        { type: "text", text: "one\ntwo", style: "accent" },
        { type: "list", items: [{ text: "read", state: "done" }, { text: "write", state: "active" }, { text: "test" }] },
        { type: "progress", value: 1, max: 4, label: "done" }
      ],
      actions: [{ id: "close", label: "Close" }]
    }, plain)
    assert.deepStrictEqual(lines, [
      "Plan", "one", "two", "[x] read", "[>] write", "[ ] test", "done [#####---------------] 25%"
    ].map((line) => `[plan:steps] ${line}`))
  })

  it("shows no more of a long text than its height, which has bounds", () => {
    const text = Array.from({ length: 30 }, (_, k) => `line ${k}`).join("\n")
    const heights = [undefined, 2, 6, 99].map((height) =>
      widgetLines("k", { ...widget, content: [{ type: "markdown", text, ...(height === undefined ? {} : { height }) }] }, plain))
    assert.deepStrictEqual(heights.map((lines) => lines.length - 1), [10, 4, 6, 24])
    assert.strictEqual(heights[0]!.at(-1), "[k] … 20 more lines")
  })

  it("keeps a progress beyond its bounds within them", () => {
    const [low, high] = [-1, 9].map((value) => widgetLines("k", { ...widget, content: [{ type: "progress", value, max: 4 }] }, plain)[0])
    assert.deepStrictEqual([low, high], ["[k] [--------------------] 0%", "[k] [####################] 100%"])
  })
})
