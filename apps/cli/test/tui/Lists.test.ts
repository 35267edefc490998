/** Lists to pick from and the search through what was said. */
import { parseKey } from "@earendil-works/pi-tui"
import { assert, describe, it } from "@effect/vitest"
import type { Item } from "../../src/tui/Item.ts"
import { hitsOf } from "../../src/tui/reduce/Searching.ts"
import type { Search, State } from "../../src/tui/State.ts"
import { Rig } from "./Rig.ts"

const submitted = (text: string) => ({ type: "submitted", text, as: "steer" }) as const
const type = (rig: Rig, text: string) => {
  for (const key of text) rig.key(key === " " ? "space" : key, { typed: key })
}
const search = ({ overlay }: State): Search => {
  assert.strictEqual(overlay?.kind, "search")
  return overlay as Search
}

const said: ReadonlyArray<Item> = [
  { kind: "user", text: "where is the Blue door?" },
  { kind: "call", id: "a", name: "grep", input: { pattern: "door" }, output: "house.txt: a blue DOOR\nhouse.txt: a window", state: "done" },
  { kind: "answer", id: 1, text: "In the house.\nThe blue door is red now.", done: true },
  { kind: "user", text: "thanks" }
]

describe("a search", () => {
  const begun = () => {
    const rig = new Rig()
    rig.key("ctrl+f")
    assert.deepStrictEqual(rig.done, [{ type: "gather" }])
    rig.on({ type: "gathered", items: said })
    return rig
  }

  it("finds lines in any case, the latest first, and reads on where one of them stands", () => {
    const rig = begun()
    type(rig, "blue door")
    assert.deepStrictEqual(hitsOf(search(rig.state)).map(({ line, text }) => [line, text]), [[1, "The blue door is red now."], [3, "house.txt: a blue DOOR"], [0, "where is the Blue door?"]])
    rig.key("down")
    rig.key("enter")
    assert.deepStrictEqual(search(rig.state).reading, { item: said[1], line: 3 })
    rig.key("down")
    rig.key("down")
    rig.key("c")
    assert.strictEqual(search(rig.state).reading?.line, 4)
    assert.deepStrictEqual(rig.done.map((command) => command.type === "copy" && command.text.includes("a window")), [true])
    rig.key("escape")
    assert.isUndefined(search(rig.state).reading)
    rig.key("escape")
    assert.isUndefined(rig.state.overlay)
  })

  it("finds nothing before anything was typed, nor what was not said, and bounds what it finds", () => {
    const rig = begun()
    assert.deepStrictEqual(hitsOf(search(rig.state)), [])
    type(rig, "yellow")
    assert.deepStrictEqual(hitsOf(search(rig.state)), [])
    rig.key("enter")
    assert.isUndefined(search(rig.state).reading)
    rig.on({ type: "gathered", items: [{ kind: "answer", id: 1, text: "yellow\n".repeat(5_000), done: true }] })
    assert.strictEqual(hitsOf(search(rig.state)).length, 200)
    rig.on({ type: "gathered", items: [{ kind: "answer", id: 1, text: `${"x".repeat(1_000_000)}yellow${"x".repeat(1_000_000)}`, done: true }] })
    assert.isBelow(hitsOf(search(rig.state))[0]?.text.length ?? 0, 500)
  })
})

describe("the list of sessions", () => {
  const listed = () => {
    const rig = new Rig()
    rig.on(submitted("/resume"), { type: "items", what: "resume", items: [{ value: "1", label: "one", about: "" }, { value: "2", label: "two", about: "" }] })
    void rig.done
    return rig
  }

  it("gives one a title", () => {
    const rig = listed()
    rig.key("down")
    rig.key("ctrl+r")
    type(rig, "doors")
    rig.key("enter")
    assert.deepStrictEqual(rig.done, [{ type: "session", deed: { deed: "rename", id: "2", title: "doors" } }])
    rig.key("enter")
    assert.deepStrictEqual(rig.done.map((command) => command.type === "prompt" && command.words.text), ["/resume 2"])
  })

  it("moves one to the trash at the second key, and not when another came in between", () => {
    const rig = listed()
    rig.key("ctrl+d")
    rig.key("down")
    rig.key("ctrl+d")
    assert.deepStrictEqual(rig.done, [])
    rig.key("ctrl+d")
    assert.deepStrictEqual(rig.done, [{ type: "session", deed: { deed: "delete", id: "2" } }])
  })
})

describe("going back", () => {
  it("is chosen by the message and by what goes back", () => {
    const rig = new Rig()
    rig.on(submitted("/rewind"), { type: "items", what: "rewind", items: [{ value: "2", label: "two", about: "" }, { value: "1", label: "one", about: "" }] })
    rig.key("enter")
    rig.key("down")
    rig.key("enter")
    assert.deepStrictEqual(rig.done, [
      { type: "list", what: "rewind" },
      { type: "prompt", words: { text: "/rewind 2 files", literal: false } }
    ])
  })
})

describe("commands of the screen", () => {
  const told = (rig: Rig) => {
    const last = rig.state.settled.at(-1)
    return last?.kind === "notice" ? last.text : ""
  }

  it("choose a theme, which is remembered, and refuse one there is not", () => {
    const rig = new Rig()
    rig.on(submitted("/theme light"))
    assert.deepStrictEqual(rig.done, [{ type: "keepTheme", theme: "light" }])
    rig.on({ type: "ground", ground: "dark" }, submitted("/theme plaid"))
    assert.deepStrictEqual([rig.state.appearance.theme, rig.done], ["light", []])
    assert.include(told(rig), "auto, dark, light")
  })

  it("copy what the model said last, not what a command told since", () => {
    const rig = new Rig()
    const said = (content: string, model?: string) => ({ type: "agent", event: { type: "message", role: "assistant", content, session_id: "s", turn_id: "t", final: true, ...(model === undefined ? {} : { model }) } }) as const
    rig.on(submitted("/copy"))
    assert.deepStrictEqual(rig.done, [])
    rig.on(said("The answer.", "m"), said("The session is now called: x"), submitted("/copy"))
    assert.deepStrictEqual(rig.done, [{ type: "copy", text: "The answer." }])
    // As a terminal that tells modifiers sends ctrl+shift+c.
    rig.key(parseKey("\u001b[99;6u") ?? "")
    assert.deepStrictEqual(rig.done, [{ type: "copy", text: "The answer." }])
  })

  it("tell all that can be said of extensions to somebody who says something else", () => {
    const rig = new Rig()
    rig.on(submitted("/extensions disable x"))
    assert.include(told(rig), "Usage: /extensions [restart NAME | new NAME]")
    assert.deepStrictEqual(rig.done, [])
  })

  it("say that there is no search of the web, which some look for", () => {
    const rig = new Rig()
    rig.on(submitted("/web on"))
    assert.match(told(rig), /does not search the web/)
    assert.deepStrictEqual(rig.done, [])
  })

  it("tell the version, what is set up, and every command there is, once", () => {
    const rig = new Rig()
    rig.on(submitted("/version"))
    assert.include(told(rig), "nimlet 1")
    rig.on(submitted("/doctor"), submitted("/doctor test"), submitted("/help"))
    assert.deepStrictEqual(rig.done, [{ type: "doctor" }, { type: "trial" }])
    for (const name of ["init", "doctor", "theme", "rewind", "export", "stats", "context", "compact", "extensions", "model", "session"]) assert.strictEqual(told(rig).match(new RegExp(`^/${name}(?![a-z])`, "gm"))?.length, 1, name)
  })
})
