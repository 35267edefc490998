import { assert, describe, it } from "@effect/vitest"
import { nimlet } from "@nimlet/extension"
import type { AgentEvent } from "@nimlet/protocol"
import type { Item } from "../../src/tui/Item.ts"
import type { Command } from "../../src/tui/Command.ts"
import { empty, place, Rig } from "./Rig.ts"

const submitted = (text: string, as: "steer" | "followUp" = "steer") => ({ type: "submitted", text, as }) as const
const agent = (event: AgentEvent) => ({ type: "agent", event }) as const
const delta = (text: string) => agent({ type: "message_delta", ...place, step: 0, delta: text, model: "m" })
const user = (content: string) => agent({ type: "message", role: "user", content, session_id: "s", turn_id: "t" })
const answer = (content: string) => agent({ type: "message", role: "assistant", content, session_id: "s", turn_id: "t", model: "m", final: true })
const call = (id: string, name = "bash") => agent({ type: "tool_call", ...place, step: 0, tool_id: id, tool_name: name, input: {} })
const result = (id: string, output = "out", is_error = false) =>
  agent({ type: "tool_result", ...place, step: 0, tool_id: id, tool_name: "bash", output, is_error, duration_ms: 5 })
const ended = { type: "ended", back: "", editorText: "" } as const
const items = ({ state }: Rig): ReadonlyArray<Item> => [...state.settled, ...state.live]
const texts = (rig: Rig) => items(rig).map((item) => "text" in item ? `${item.kind} ${item.text}` : item.kind === "call" ? `${item.id} ${item.state}` : item.kind)
const approval = { kind: "approval", request: { tool: "bash", arguments: { command: "ls" }, summary: "ls", canRemember: true } } as const

const running = () => {
  const rig = new Rig()
  rig.on(submitted("go"), user("go"))
  void rig.done
  return rig
}

describe("the transcript", () => {
  it("joins what is streamed, and takes the finished answer in its place", () => {
    const rig = running()
    rig.on(delta("Hel"), delta("lo"))
    assert.deepStrictEqual(texts(rig), ["user go", "answer Hello"])
    rig.on(answer("Hello, changed by a hook"))
    assert.deepStrictEqual(texts(rig), ["user go", "answer Hello, changed by a hook"])
    assert.deepStrictEqual(rig.state.live, [])
  })

  it("drops an answer of which hooks left nothing", () => {
    const rig = running()
    rig.on(delta("secret"), answer(""))
    assert.deepStrictEqual(texts(rig), ["user go"])
  })

  it("keeps calls in their order while they end in another", () => {
    const rig = running()
    rig.on(call("a"), call("b"), result("b"), delta("x"))
    assert.deepStrictEqual(texts(rig), ["user go", "a running", "b done", "answer x"])
    rig.on(result("a", "no", true), ended)
    assert.deepStrictEqual(texts(rig), ["user go", "a failed", "b done", "answer x"])
    assert.deepStrictEqual(rig.state.live, [])
  })

  it("has no call running when the run has ended", () => {
    const rig = running()
    rig.on(call("a"), ended)
    assert.deepStrictEqual(texts(rig), ["user go", "a failed"])
  })

  it("keeps the end of a call's output, however much comes", () => {
    const rig = running()
    rig.on(call("a"))
    for (let n = 0; n < 100; n++) rig.on(agent({ type: "tool_output_delta", ...place, step: 0, tool_id: "a", tool_name: "bash", delta: `${"z".repeat(10_000)}${n}` }))
    const item = items(rig).at(-1)
    assert.isTrue(item?.kind === "call" && item.output.endsWith("99") && item.output.length < 200_000)
  })

  it("stays bounded over many turns and says how much it forgot", () => {
    const rig = running()
    for (let n = 0; n < 6_000; n++) rig.on(user(`n${n}`))
    assert.isAtMost(rig.state.settled.length, 2_500)
    assert.strictEqual(rig.state.forgotten + rig.state.settled.length, 6_001)
    assert.strictEqual(texts(rig).at(-1), "user n5999")
  })

  it("shows a shell command as it goes and sends what it gave", () => {
    const rig = new Rig()
    rig.on(submitted("!ls -l"))
    const [command] = rig.done
    assert.deepInclude(command, { type: "shell", command: "ls -l", share: true })
    assert.isDefined(rig.state.run)
    if (command?.type === "shell") rig.on({ type: "shell", id: command.id, output: "a\nb", code: 0 })
    rig.on(ended, { type: "said", words: { text: "$ ls -l\na\nb", literal: true } })
    assert.deepStrictEqual(rig.done, [{ type: "prompt", words: { text: "$ ls -l\na\nb", literal: true } }])
  })
})

describe("what is typed", () => {
  it("goes to the agent when it is idle, and to its queue while it works", () => {
    const rig = new Rig()
    rig.on(submitted(" first \n"))
    assert.deepStrictEqual(rig.done, [{ type: "prompt", words: { text: "first", literal: false } }])
    rig.on(submitted("second"), submitted("third", "followUp"))
    assert.deepStrictEqual(rig.done, [{ type: "steer", text: "second" }, { type: "followUp", text: "third" }])
  })

  it("is given back when it cannot wait in the queue", () => {
    const rig = running()
    for (const text of ["/new", "!ls"]) {
      rig.on(submitted(text))
      assert.deepStrictEqual(rig.done, [{ type: "compose", text, instead: true }])
    }
  })

  it("a command that may run beside a turn does, and an interrupt is for it, too, when the turn is over", () => {
    const offers = (key: string, ...commands: ReadonlyArray<object>) => ({ key, state: "Running", family: nimlet, manifest: {}, registration: { commands } } as never)
    const busy = running()
    const rig = new Rig({ ...busy.state, figures: [offers("a", { name: "Btw", while_busy: true }, { name: "later" }, { name: "new", while_busy: true }), offers("b", { name: "later", while_busy: true })] })
    rig.on(submitted(" /btw who? "))
    assert.deepStrictEqual(rig.done, [{ type: "aside", text: "/btw who?" }])
    for (const text of ["/later", "/new", "/nobody"]) {
      rig.on(submitted(text))
      assert.deepStrictEqual(rig.done, [{ type: "compose", text, instead: true }])
    }
    rig.on({ type: "aside", text: "/btw who?", over: false }, ended)
    void rig.done
    rig.key("escape")
    assert.deepStrictEqual(rig.done, [{ type: "interrupt" }])
    rig.on({ type: "aside", text: "/btw who?", over: true })
    rig.key("escape")
    assert.deepStrictEqual(rig.done, [])
  })

  it("nothing is sent for nothing", () => {
    const rig = new Rig()
    rig.on(submitted("  \n "))
    assert.deepStrictEqual(rig.done, [])
    assert.isUndefined(rig.state.run)
  })

  it("a path is no command", () => {
    const rig = new Rig()
    rig.on(submitted("/etc/hosts what is it?"))
    assert.deepStrictEqual(rig.done.map(({ type }) => type), ["prompt"])
  })

  it("is not lost when the agent never took it up", () => {
    const rig = new Rig()
    rig.on(submitted("precious"))
    rig.key("escape")
    assert.deepStrictEqual(rig.done.map(({ type }) => type), ["prompt", "interrupt"])
    rig.on(ended)
    assert.deepStrictEqual(rig.done, [{ type: "compose", text: "precious", instead: false }])
  })
})

describe("the interrupt", () => {
  it("comes once, and what waited goes back to the composer in its order", () => {
    const rig = running()
    rig.key("escape")
    rig.key("escape")
    assert.deepStrictEqual(rig.done, [{ type: "interrupt" }])
    rig.on({ type: "ended", back: "one\n\ntwo", editorText: "" })
    assert.deepStrictEqual(rig.done, [{ type: "compose", text: "one\n\ntwo", instead: false }])
    assert.isUndefined(rig.state.run)
  })

  it("at the start goes on without the extensions that are missing, and only then breaks off", () => {
    const rig = new Rig({ ...new Rig().state, answering: undefined, figures: [{ key: "slow", state: "Starting", manifest: {} } as never] })
    rig.on(submitted("hi"))
    void rig.done
    rig.key("escape")
    assert.deepStrictEqual(rig.done, [{ type: "proceed" }])
    assert.include(texts(rig).join(), "slow")
    rig.on({ type: "ready", answering: { provider: "p", model: "m" } })
    rig.key("escape")
    assert.deepStrictEqual(rig.done, [{ type: "interrupt" }])
  })

  it("leaves to the composer an Escape that closes its completions", () => {
    const rig = running()
    assert.isFalse(rig.key("escape", { composer: { empty: false, completing: true } }))
    assert.deepStrictEqual(rig.done, [])
  })

  it("drops what extensions said in between only when the person broke off", () => {
    const said = { type: "said", words: { text: "from an extension", literal: true } } as const
    const rig = running()
    rig.on(said, ended)
    assert.deepStrictEqual(rig.done, [{ type: "prompt", words: said.words }])
    const broken = running()
    broken.on(said)
    broken.key("escape")
    broken.on(ended)
    assert.deepStrictEqual(broken.done, [{ type: "interrupt" }])
  })
})

describe("leaving", () => {
  it("takes two ctrl+c within two seconds", () => {
    const rig = new Rig()
    rig.key("ctrl+c")
    rig.wait(2_001)
    rig.key("ctrl+c")
    assert.deepStrictEqual(rig.done, [])
    rig.wait(2_000)
    rig.key("ctrl+c")
    assert.deepStrictEqual(rig.done, [{ type: "quit" }])
  })

  it("clears the composer first, and interrupts", () => {
    const rig = running()
    rig.key("ctrl+c", { composer: { empty: false, completing: false } })
    assert.deepStrictEqual(rig.done, [{ type: "compose", text: "", instead: true }])
    rig.key("ctrl+c")
    assert.deepStrictEqual(rig.done, [{ type: "interrupt" }])
  })
})

describe("questions", () => {
  it("are asked one after another and answered under their number", () => {
    const rig = running()
    rig.on({ type: "asked", id: 1, question: { kind: "choice", asker: "a", prompt: "?", options: ["x", "y"] } }, { type: "asked", id: 2, question: approval })
    rig.wait(301)
    rig.key("down")
    rig.key("enter")
    assert.deepStrictEqual(rig.done, [{ type: "answer", id: 1, outcome: { kind: "text", text: "y" } }])
    rig.wait(301)
    rig.letter("s")
    assert.deepStrictEqual(rig.done, [{ type: "answer", id: 2, outcome: { kind: "approval", approval: { decision: "session" } } }])
    assert.deepStrictEqual(rig.state.dialogs, [])
  })

  it("take no key of somebody who is still typing", () => {
    const rig = running()
    rig.on({ type: "asked", id: 1, question: approval })
    for (const key of ["y", "e", "s", "enter"]) {
      rig.wait(200)
      assert.isFalse(rig.key(key))
    }
    assert.deepStrictEqual(rig.done, [])
    rig.wait(301)
    assert.isTrue(rig.letter("y"))
    assert.deepStrictEqual(rig.done.map(({ type }) => type), ["answer"])
  })

  it("take no letter of a prompt that is begun while they stand there: it goes into the composer from its first letter on", () => {
    const rig = running()
    rig.on({ type: "asked", id: 1, question: approval })
    rig.wait(5_000)
    for (const key of "go on, yes") {
      assert.isFalse(rig.key(key), key)
      rig.wait(100)
    }
    assert.deepStrictEqual(rig.done, [])
    rig.wait(301)
    rig.letter("y")
    assert.deepStrictEqual(rig.done.map(({ type }) => type), ["answer"])
  })

  it.each(["yes, but quietly", "no, wait", "you"])("take no letter of a prompt that begins with one that would answer: %s", (words) => {
    const rig = running()
    rig.on({ type: "asked", id: 1, question: approval })
    rig.wait(5_000)
    assert.deepStrictEqual([...words].map((key, index) => {
      const taken = rig.key(key, { composer: { ...empty, empty: index < 2 } })
      rig.wait(120)
      rig.on({ type: "tick" })
      return taken
    }), [...words].map((_, index) => index === 0))
    assert.deepStrictEqual(rig.done, [{ type: "insert", text: words.charAt(0) }])
    // Nor does a pause in the middle of it make an answer of the rest, and of its end.
    const full = { composer: { ...empty, empty: false } }
    rig.wait(5_000)
    assert.deepStrictEqual(["y", "enter"].map((key) => rig.key(key, full)), [false, false])
    rig.wait(5_000)
    rig.on({ type: "tick" })
    assert.deepStrictEqual(rig.done, [])
    // Once it is sent, or the person turns to the question, the keys are the question's.
    rig.key("down", full)
    rig.letter("n")
    assert.deepStrictEqual(rig.done.map(({ type }) => type), ["answer"])
  })

  it("are answered at once by a letter and Enter, and not by a letter that was taken back", () => {
    const rig = running()
    rig.on({ type: "asked", id: 1, question: approval })
    rig.wait(301)
    rig.key("y")
    rig.key("backspace")
    rig.wait(301)
    rig.on({ type: "tick" })
    assert.deepStrictEqual(rig.done, [])
    rig.key("s")
    rig.key("enter")
    assert.deepStrictEqual(rig.done, [{ type: "answer", id: 1, outcome: { kind: "approval", approval: { decision: "session" } } }])
  })

  it("the second one rests as the first did", () => {
    const rig = running()
    rig.on({ type: "asked", id: 1, question: approval }, { type: "asked", id: 2, question: approval })
    rig.wait(301)
    rig.letter("y")
    rig.letter("y")
    assert.deepStrictEqual(rig.done.length, 1)
  })

  it("a denial says why", () => {
    const rig = running()
    rig.on({ type: "asked", id: 1, question: approval })
    rig.wait(301)
    rig.key("r")
    for (const key of "not ") rig.key(key)
    rig.key("paste", { typed: "that\none" })
    rig.key("enter")
    assert.deepStrictEqual(rig.done, [{ type: "answer", id: 1, outcome: { kind: "approval", approval: { decision: "deny", reason: "not that\none" } } }])
  })

  it("Escape denies, and dismisses others", () => {
    const rig = running()
    rig.on({ type: "asked", id: 1, question: approval })
    rig.wait(301)
    rig.key("escape")
    rig.on({ type: "asked", id: 2, question: { kind: "text", asker: "a", prompt: "?", secret: true, initial: "" } })
    rig.wait(301)
    rig.key("x")
    rig.key("escape")
    const outcomes = rig.done.map((command: Command) => command.type === "answer" ? command.outcome.kind : command.type)
    assert.deepStrictEqual(outcomes, ["approval", "cancelled"])
    assert.isFalse(rig.state.run?.interrupted)
  })

  it("are withdrawn wherever they stand in the queue", () => {
    const rig = running()
    for (const id of [1, 2, 3]) rig.on({ type: "asked", id, question: approval })
    rig.on({ type: "withdrawn", id: 2 }, { type: "withdrawn", id: 1 })
    assert.deepStrictEqual(rig.state.dialogs.map(({ id, since }) => [id, since]), [[3, 1_000]])
  })

  it("that may not be remembered offer no more than once", () => {
    const rig = running()
    rig.on({ type: "asked", id: 1, question: { ...approval, request: { ...approval.request, canRemember: false } } })
    rig.wait(301)
    rig.letter("s")
    rig.letter("p")
    assert.deepStrictEqual(rig.done, [])
    rig.wait(301)
    rig.key("escape")
    rig.on({ type: "asked", id: 2, question: approval })
    void rig.done
    rig.wait(301)
    rig.letter("p")
    assert.deepStrictEqual(rig.done, [], "not where it cannot be remembered")
    rig.on({ type: "withdrawn", id: 2 }, { type: "asked", id: 3, question: { ...approval, request: { ...approval.request, project: true } } })
    rig.wait(301)
    rig.letter("p")
    assert.deepStrictEqual(rig.done, [{ type: "answer", id: 3, outcome: { kind: "approval", approval: { decision: "project" } } }])
  })
})

const plan = { title: "Plan", position: "above_composer", content: [], actions: [{ id: "go", label: "Go" }, { id: "close", label: "Close" }] } as const

describe("widgets", () => {
  it("are pressed by keys from an empty composer, in the order of their keys", () => {
    const rig = new Rig()
    rig.on({ type: "widget", key: "b:plan", widget: plan }, { type: "widget", key: "a:one", widget: { ...plan, actions: [{ id: "first", label: "First" }] } })
    assert.isFalse(rig.key("tab", { composer: { empty: false, completing: false } }))
    rig.key("tab")
    rig.key("enter")
    rig.key("right")
    rig.key("enter")
    assert.deepStrictEqual(rig.done, [{ type: "act", key: "a:one", action: "first" }, { type: "act", key: "b:plan", action: "go" }])
    rig.key("escape")
    assert.deepStrictEqual(rig.done, [{ type: "act", key: "b:plan", action: "close" }])
    assert.isFalse(rig.key("x"))
  })

  it("that are gone are pressed no more", () => {
    const rig = new Rig()
    rig.on({ type: "widget", key: "b:plan", widget: plan })
    rig.key("tab")
    rig.on({ type: "widget", key: "b:plan", widget: undefined }, { type: "status", key: "b:x", segments: [{ text: "1" }] }, { type: "status", key: "b:x", segments: [] })
    assert.isFalse(rig.key("enter"))
    assert.deepStrictEqual(rig.done, [])
    assert.deepStrictEqual([rig.state.widgets, rig.state.statuses], [[], []])
  })

  it("a modal has a composer of its own, whose text goes to the extension alone", () => {
    const modal = { ...plan, position: "modal", actions: [{ id: "submit", label: "Send" }, { id: "close", label: "Close" }] } as const
    const rig = new Rig()
    rig.on({ type: "widget", key: "x:chat", widget: modal })
    rig.key("enter")
    for (const key of "hi") assert.isTrue(rig.key(key))
    rig.key("enter")
    rig.key("escape")
    assert.deepStrictEqual(rig.done, [{ type: "act", key: "x:chat", action: "submit", text: "hi" }, { type: "act", key: "x:chat", action: "close" }])
  })

  it.each([["offers to be closed", [{ id: "close", label: "Close" }]], ["does not", []]])("a modal goes at an escape, whatever its extension makes of it: one that %s", (_, actions) => {
    const rig = new Rig()
    const modal = { type: "widget", key: "x:chat", widget: { ...plan, position: "modal", actions } } as const
    rig.on(modal)
    rig.key("escape")
    assert.deepStrictEqual(rig.done, [{ type: "act", key: "x:chat", action: "close" }])
    assert.isFalse(rig.key("x"))
    // A stream of updates does not bring it back, nor does the next modal that is closed.
    rig.on(modal, { ...modal, key: "y:chat" })
    assert.isTrue(rig.key("x"))
    rig.key("escape")
    assert.isFalse(rig.key("x"))
  })

  it.each([
    ["calls for its extension and it speaks", (rig: Rig) => void rig.on({ type: "figures", figures: [{ key: "x", state: "Running", family: nimlet, manifest: {}, registration: { commands: [{ name: "chat" }] } } as never] }, submitted("/chat"))],
    ["presses another button of its extension and it speaks", (rig: Rig) => void rig.on({ type: "clicked", key: "x:plan", action: "go" })],
    ["saw it go", (rig: Rig) => void rig.on({ type: "widget", key: "x:chat", widget: undefined })]
  ])("a modal that was closed comes back when the person %s", (_, calls) => {
    const rig = new Rig()
    const modal = { type: "widget", key: "x:chat", widget: { ...plan, position: "modal", actions: [] } } as const
    rig.on(modal)
    rig.key("escape")
    calls(rig)
    assert.isFalse(rig.key("x"))
    rig.on(modal)
    assert.isTrue(rig.key("x"))
  })
})

describe("lists to pick from", () => {
  it("are searched by typing and picked by Enter", () => {
    const rig = new Rig()
    rig.on(submitted("/resume"), { type: "items", what: "resume", items: [{ value: "1", label: "fix the parser", about: "now" }, { value: "2", label: "write docs", about: "now" }] })
    for (const key of "docs") rig.key(key)
    rig.key("enter")
    assert.deepStrictEqual(rig.done, [{ type: "list", what: "resume" }, { type: "prompt", words: { text: "/resume 2", literal: false } }])
    assert.isUndefined(rig.state.overlay)
  })

  it("items that come late for a list that was closed change nothing", () => {
    const rig = new Rig()
    rig.on(submitted("/model"))
    rig.key("escape")
    rig.on({ type: "items", what: "model", items: [] })
    assert.isUndefined(rig.state.overlay)
  })
})

describe("keys", () => {
  it("unfocused, the end of a run rings, and a question does", () => {
    const rig = running()
    rig.on({ type: "focus", focused: false }, { type: "asked", id: 1, question: approval }, ended)
    assert.deepStrictEqual(rig.done, [{ type: "ring" }, { type: "ring" }])
  })
})
