import { assert, describe, it } from "@effect/vitest"
import type { UserEntry } from "@nimlet/protocol"
import { itemsOf } from "../../src/tui/Item.ts"
import { accountIn, accountText, typedFor } from "../../src/tui/ShellAccount.ts"
import { place, Rig } from "./Rig.ts"

const told = accountText({ command: "echo hallo", output: "hallo\n", code: "0" })
const entry = (...content: UserEntry["content"]): UserEntry => ({ type: "user", role: "user", content })
const text = (words: string) => ({ type: "text", text: words, provider_data: { nimlet: { typed: false } } }) as const
const heard = (content: string) => ({ type: "agent", event: { type: "message", role: "user", content, session_id: place.session_id, turn_id: place.turn_id } }) as const

describe("a command of the person's own", () => {
  it.each([
    { command: "ls", output: "a\nb\n", code: "0" },
    { command: "cat <<E\nx\nE", output: "", code: "1" },
    { command: "grep x", output: "$ ls\n(exit 0)\n", code: "130" }
  ])("is known again in what the model is told: %o", (account) => {
    assert.deepStrictEqual(accountIn(accountText(account)), account)
    assert.strictEqual(typedFor(accountText(account)), `!${account.command}`)
  })

  it("is no other text", () => {
    for (const other of ["", "$ 5 is too much", "look:\n$ ls\n(exit 0)", "$ ls\n(exit 0) and so on"]) assert.strictEqual(typedFor(other), other)
  })

  it("stands in the transcript once, as it ran, now and when the session is gone on with", () => {
    const rig = new Rig()
    rig.on({ type: "submitted", text: "!echo hallo", as: "steer" })
    const [run] = rig.done
    assert.strictEqual(run?.type, "shell")
    rig.on({ type: "shell", id: run?.type === "shell" ? run.id : "", output: "hallo\n", code: 0 }, { type: "ended", back: "", editorText: "" })
    rig.on({ type: "said", words: { text: told, literal: true } }, heard(told))
    const shown = [...rig.state.settled, ...rig.state.live]
    assert.deepStrictEqual(shown.map((item) => item.kind === "call" ? [item.name, item.output, item.state] : item), [["!", "hallo\n", "done"]])
    assert.deepStrictEqual(itemsOf([entry(text(told))], () => 0).map((item) => item.kind === "call" ? [item.name, item.output, item.state] : item), [["!", "hallo\n", "done"]])
  })
})

describe("files that words name", () => {
  it("go along and are not shown as said, now and when the session is gone on with", () => {
    const rig = new Rig()
    rig.on({ type: "submitted", text: "read @a.txt", as: "steer" }, heard(`read @a.txt\n\n<file path="a.txt">\nsecret\n</file>`))
    assert.deepStrictEqual(rig.state.settled, [{ kind: "user", text: "read @a.txt" }])
    assert.deepStrictEqual(itemsOf([entry({ type: "text", text: "read @a.txt" }, text("<file>x</file>"))], () => 0), [{ kind: "user", text: "read @a.txt" }])
  })

  it("leave what an extension made of the words as it is", () => {
    const rig = new Rig()
    rig.on({ type: "submitted", text: "fix it", as: "steer" }, heard("Task: fix it"))
    assert.deepStrictEqual(rig.state.settled, [{ kind: "user", text: "Task: fix it" }])
  })
})
