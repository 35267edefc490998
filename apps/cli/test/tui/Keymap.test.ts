import { parseKey } from "@earendil-works/pi-tui"
import { assert, describe, it } from "@effect/vitest"
import type { ExtensionFigures } from "@nimlet/extension"
import { actionOf, keyOf, keyProblems, keyTable, listKeyOf, makeKeymap } from "../../src/tui/Keymap.ts"
import { Rig } from "./Rig.ts"
import { fieldKey, fieldOf } from "../../src/tui/Field.ts"

describe("keys of the screen", () => {
  it("a person's own take the place of those an action has", () => {
    const keymap = makeKeymap({ "app.suspend": ["ctrl+x"], "app.message.followUp": ["Alt+Enter", "ctrl+q"], "app.nothing": ["ctrl+c"] })
    assert.strictEqual(actionOf(keymap, "ctrl+x"), "suspend")
    assert.isUndefined(actionOf(keymap, "ctrl+z"))
    assert.strictEqual(actionOf(keymap, "ctrl+q"), "followUp")
    assert.strictEqual(actionOf(keymap, "alt+enter"), "followUp")
    assert.strictEqual(actionOf(keymap, "ctrl+c"), "clear")
    assert.match(keyTable(keymap), /^ctrl\+x +go to the background/m)
  })
})

describe("a person's own keys", () => {
  it("do what they are for, in whatever order and by whichever name they are written; so do those of modules", () => {
    const chosen = makeKeymap({ "app.search": ["Shift+Ctrl+F"], "app.interrupt": ["esc"], "app.message.followUp": ["alt+return"], "tui.select.confirm": ["shift+alt+y"], "app.suspend": ["ctrl++"] })
    // As the terminal library names what a terminal sent.
    const sent = (data: string) => parseKey(data) ?? assert.fail(data)
    assert.strictEqual(actionOf(chosen, sent("\u001b[102;6u")), "search")
    assert.strictEqual(actionOf(chosen, sent("\u001b")), "interrupt")
    assert.strictEqual(actionOf(chosen, sent("\u001b\r")), "followUp")
    assert.strictEqual(actionOf(chosen, "ctrl++"), "suspend")
    assert.strictEqual(listKeyOf(chosen, sent("\u001b[121;4u")), "enter")
    assert.strictEqual(listKeyOf(chosen, "enter"), "")
    assert.match(keyProblems({ "app.search": ["shift+ctrl+c"] }).join(), /does app\.message\.copy, too/)
    const rig = new Rig()
    rig.on({ type: "figures", figures: [{ key: "m", state: "Running", registration: { extras: { shortcuts: [{ key: "ctrl+shift+x", handle: 7 }] } } }] as unknown as ReadonlyArray<ExtensionFigures> })
    rig.key(sent("\u001b[120;6u"))
    assert.deepStrictEqual(rig.done, [{ type: "shortcut", extension: "m", handle: 7 }])
  })

  it("are told of when they mean nothing, are none, or do something else already", () => {
    assert.deepStrictEqual(keyProblems({ "app.suspend": ["ctrl+x"], "tui.editor.undo": ["ctrl+u", "f5"], "app.tools.expand": [] }), [])
    assert.deepStrictEqual(keyProblems({ "app.sleep": ["f1"], "app.search": ["ctrl+", "ctrl+o"], "tui.editor.undo": ["Ctrl+Z"] }), [
      "there is no action 'app.sleep' (/keys lists them)",
      "app.search: 'ctrl+' is no key",
      "app.search: ctrl+o does app.tools.expand, too",
      "tui.editor.undo: Ctrl+Z does app.suspend, too"
    ])
  })

  // A-273 A-274 A-275
  it("have the names that extensions know, in lists and for the session too", () => {
    const rig = new Rig({ ...new Rig().state, keymap: makeKeymap({ "app.tools.expand": ["f2"], "tui.select.confirm": ["f3"], "tui.select.cancel": ["f4"], "tui.input.tab": ["f6"], "app.session.rename": ["f5"], "app.editor.external": ["f7"] }) })
    rig.key("f7")
    rig.key("f2")
    assert.isTrue(rig.state.open)
    rig.on({ type: "submitted", text: "/resume", as: "steer" }, { type: "items", what: "resume", items: [{ value: "1", label: "one", about: "" }] })
    void rig.done
    for (const key of ["enter", "escape", "ctrl+r", "f5", "x", "f3"]) rig.key(key)
    assert.deepStrictEqual(rig.done, [{ type: "session", deed: { deed: "rename", id: "1", title: "x" } }])
    rig.key("f4")
    assert.isUndefined(rig.state.overlay)
    const table = keyTable(makeKeymap())
    for (const name of ["app.tools.expand", "app.session.rename", "app.session.delete", "tui.select.confirm", "tui.select.cancel", "tui.input.tab"]) assert.include(table, ` · ${name}`)
  })

  it("stand in hints and in the table, which has every action by its name", () => {
    const keymap = makeKeymap({ "app.interrupt": ["f2"], "app.tools.expand": [], "tui.editor.yank": ["f3"] })
    assert.deepStrictEqual([keyOf(keymap, "interrupt"), keyOf(keymap, "details"), keyOf(makeKeymap(), "interrupt")], ["f2", undefined, "esc"])
    const table = keyTable(keymap)
    assert.match(table, /^f2 +interrupt.* · app\.interrupt$/m)
    assert.match(table, /^f3 .* · tui\.editor\.yank$/m)
    assert.match(table, /^\(no key\) .* · app\.tools\.expand$/m)
    const names = ["app.editor.external", "app.interrupt", "app.clear", "app.message.followUp", "app.message.dequeue", "app.thinking.cycle", "tui.input.submit", "tui.input.newLine", "tui.input.tab",
      ...["undo", "deleteCharBackward", "deleteCharForward", "deleteWordBackward", "deleteWordForward", "deleteToLineStart", "deleteToLineEnd", "yank", "cursorLeft", "cursorRight", "cursorWordLeft",
        "cursorWordRight", "cursorLineStart", "cursorLineEnd", "cursorUp", "cursorDown", "historyPrevious", "historyNext"].map((name) => `tui.editor.${name}`)]
    for (const name of names) assert.include(table, ` · ${name}`, name)
  })
})

describe("a short text that is typed", () => {
  const after = (text: string, ...keys: ReadonlyArray<string>) => keys.reduce((field, key) => fieldKey(field, key, key.length === 1 ? key : "") ?? field, fieldOf(text))

  it("is edited by characters, not by halves of them", () => {
    assert.deepStrictEqual(after("a👩‍💻b", "left", "backspace"), { text: "ab", cursor: 1 })
    assert.deepStrictEqual(after("日本", "home", "right", "delete"), { text: "日", cursor: 1 })
    assert.deepStrictEqual(after("e\u0301x", "left", "left", "delete"), { text: "x", cursor: 0 })
  })

  it("is cut by words and lines, and typed into where the cursor stands", () => {
    assert.strictEqual(after("one two  ", "ctrl+w").text, "one ")
    assert.strictEqual(after("one two", "ctrl+u").text, "")
    assert.strictEqual(after("one two", "left", "left", "left", "ctrl+k").text, "one ")
    assert.strictEqual(after("oe", "left", "n").text, "one")
    assert.strictEqual(after("", "ctrl+w").text, "")
  })

  it("does not know other keys", () => assert.isUndefined(fieldKey(fieldOf("x"), "f5", "")))
})
