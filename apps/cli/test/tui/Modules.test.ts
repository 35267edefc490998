/** What modules have on the screen beside statuses, widgets and questions: keys, and parts of the screen they set. */
import { assert, describe, it } from "@effect/vitest"
import type { ExtensionFigures } from "@nimlet/extension"
import { aspectOf } from "../../src/tui/reduce/Aspects.ts"
import { Rig } from "./Rig.ts"

const figures = (key: string, state: ExtensionFigures["state"], shortcut = "ctrl+x") =>
  ({ key, state, manifest: { name: key }, fault: undefined, registration: { commands: [], tools: [], events: [], extras: { shortcuts: [{ key: shortcut, handle: 7 }], completions: {} } } }) as unknown as ExtensionFigures
const set = (aspect: string, value: unknown, extension = "m") => ({ type: "aspect", extension, aspect, value }) as const

describe("a key that a module asked for", () => {
  it("calls its function while it runs, and is the composer's otherwise", () => {
    const rig = new Rig()
    rig.on({ type: "figures", figures: [figures("m", "Running")] })
    assert.isTrue(rig.key("ctrl+x"))
    assert.deepStrictEqual(rig.done, [{ type: "shortcut", extension: "m", handle: 7 }])
    rig.on({ type: "figures", figures: [figures("m", "Restarting")] })
    assert.isFalse(rig.key("ctrl+x"))
  })

  it("takes no key of ours", () => {
    const rig = new Rig()
    rig.on({ type: "figures", figures: [figures("m", "Running", "ctrl+c")] })
    rig.key("ctrl+c")
    assert.deepStrictEqual(rig.done, [])
    assert.isDefined(rig.state.leaving)
  })
})

describe("a part of the screen that a module sets", () => {
  it("writes into the composer, in its place or where the cursor is", () => {
    const rig = new Rig()
    rig.on(set("editor_text", "all new"), set("editor_paste", "more"), set("editor_text", 5))
    assert.deepStrictEqual(rig.done, [{ type: "compose", text: "all new", instead: true }, { type: "insert", text: "more" }])
  })

  it("shows calls at length, and chooses a theme there is", () => {
    const rig = new Rig()
    rig.on(set("tools_expanded", true), set("tools_expanded", true), set("theme", "light"), set("theme", "plaid"))
    assert.deepStrictEqual([rig.state.open, rig.state.appearance.theme, rig.done], [true, "light", [{ type: "redraw" }]])
  })

  it("goes back to what it was when it is given back, and when the module dies", () => {
    const rig = new Rig()
    rig.on(set("title", "one"), set("title", "two", "other"), set("working_message", "digging"))
    assert.strictEqual(aspectOf(rig.state, "title")?.value, "two")
    rig.on(set("title", null, "other"))
    assert.deepStrictEqual(rig.done.at(-1), { type: "title", text: "one" })
    rig.on({ type: "figures", figures: [figures("m", "Restarting")] })
    assert.deepStrictEqual(rig.done, [{ type: "title", text: "" }])
    assert.deepStrictEqual(rig.state.aspects, [])
  })
})

describe("the tree of extensions", () => {
  it("starts one afresh, switches it off, and shows its log", () => {
    const rig = new Rig()
    rig.on({ type: "figures", figures: [figures("a", "Running"), figures("b", "Running")] }, { type: "submitted", text: "/extensions", as: "steer" })
    for (const key of ["down", "r", "d", "l"]) rig.key(key)
    assert.deepStrictEqual(rig.done, [{ type: "restart", key: "b" }, { type: "disable", key: "b" }, { type: "log", key: "b" }])
  })
})

describe("a picture", () => {
  const png = { mimeType: "image/png", data: "AAAA" }

  it("is named where the cursor is and goes along with the words that name it", () => {
    const rig = new Rig()
    rig.key("ctrl+v")
    rig.on({ type: "pictured", picture: png }, { type: "pictured", picture: { ...png, data: "BBBB" } })
    assert.deepStrictEqual(rig.done, [{ type: "picture" }, { type: "insert", text: "[image 1] " }, { type: "insert", text: "[image 2] " }])
    rig.on({ type: "submitted", text: "what is [image 2]?", as: "steer" })
    assert.deepStrictEqual(rig.done, [{ type: "prompt", words: { text: "what is [image 2]?", literal: false, pictures: [{ ...png, id: 2, data: "BBBB" }] } }])
  })

  it("waits for the end of the run, and comes back with its words when that is broken off", () => {
    const rig = new Rig()
    rig.on({ type: "pictured", picture: png }, { type: "submitted", text: "go", as: "steer" }, { type: "submitted", text: "see [image 1]", as: "steer" })
    void rig.done
    rig.on({ type: "ended", back: "", editorText: "" })
    assert.deepStrictEqual(rig.done, [{ type: "prompt", words: { text: "see [image 1]", literal: false, pictures: [{ ...png, id: 1 }] } }])
    rig.on({ type: "submitted", text: "again [image 1]", as: "steer" })
    rig.key("escape")
    rig.on({ type: "returned", text: "" })
    assert.deepStrictEqual(rig.done, [{ type: "interrupt" }, { type: "compose", text: "again [image 1]", instead: false }])
  })

  it.each([
    ["/tmp/a b.png", "/tmp/a b.png"],
    ["/tmp/a\\ b.PNG ", "/tmp/a b.PNG"],
    ["'/tmp/a b.jpeg'", "/tmp/a b.jpeg"],
    ["file:///tmp/a%20b.webp", "/tmp/a b.webp"]
  ])("is taken from the path %s that a terminal pastes for a dragged file", (text, path) => {
    const rig = new Rig()
    assert.isTrue(rig.on({ type: "pasted", text }))
    assert.deepStrictEqual(rig.done, [{ type: "picture", file: { path, text } }])
  })

  it.each(["see /tmp/a.png", "/tmp/a.txt", "a.png", "/tmp/a.png\n/tmp/b.png", "file:///tmp/%.png"])("is not taken from %j", (text) => {
    const rig = new Rig()
    assert.isFalse(rig.on({ type: "pasted", text }))
    assert.deepStrictEqual(rig.done, [])
  })
})
