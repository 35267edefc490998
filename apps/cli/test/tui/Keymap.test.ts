import { assert, describe, it } from "@effect/vitest"
import { actionOf, keyTable, makeKeymap } from "../../src/tui/Keymap.ts"
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
