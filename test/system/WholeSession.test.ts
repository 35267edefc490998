/** A whole session at a real terminal, from the first prompt to the shell; its ends, wanted or not; and a newcomer's first hour. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { answer, asked, atShell, begin, command, idle, isUsual, leave, makeSpace, nothingLeft, say, shut } from "../kit/AtTerminal.ts"
import { startTmux } from "../kit/TmuxSession.ts"
import { makeWorkspace } from "../kit/Workspace.ts"

describe("a whole session", () => {
  it("prompt, approval, an extension's question, plan to act, interrupt, resume, reload, rewind with files, quit", async () => {
    await using space = await makeSpace([
      { text: "First answer." },
      { tools: [{ name: "bash", args: { command: "echo first" } }, { name: "write", args: { path: "made.txt", content: "made\n" } }] }, { text: "It is written." },
      { text: "A plan." },
      { tools: [{ name: "bash", args: { command: "echo begun; sleep 60" } }] }
    ])
    await using terminal = await begin(space, { columns: 100, rows: 50 })
    say(terminal, "remember the blue door")
    await terminal.until("First answer.")

    say(terminal, "write a file")
    await answer(terminal, "Allow bash?", "y")
    expect(await terminal.until("It is written.")).toContain("+made")
    expect(readFileSync(join(space.work, "made.txt"), "utf8")).toBe("made\n")

    await command(terminal, "/ask")
    await answer(terminal, "Which colour?", "1")
    await terminal.until("heard red")

    await idle(terminal)
    terminal.keys("BTab")
    await terminal.until("[plan]")
    say(terminal, "think about it")
    await terminal.until("A plan.")
    await command(terminal, "/act")
    await terminal.until((screen) => !screen.includes("[plan]"))

    await idle(terminal)
    say(terminal, "now do it")
    await answer(terminal, "Allow bash?", "s")
    await terminal.until("    begun")
    say(terminal, "another way")
    await terminal.until("next: another way")
    terminal.keys("Escape")
    await terminal.until((screen) => /─\nanother way\n─/.test(screen))
    await terminal.until("! Interrupted")
    await idle(terminal)
    terminal.keys("C-c")

    await command(terminal, "/new")
    await terminal.until("New session")
    await command(terminal, "/resume")
    await terminal.until("Which session?")
    terminal.type("blue")
    await terminal.until("1 of 1")
    terminal.keys("Enter")
    await terminal.until("Resumed session")

    await command(terminal, "/reload")
    await terminal.until("Extensions were started anew")

    // Nothing to bring back: nothing is put before the person.
    await command(terminal, "/rewind 3 files")
    await terminal.until("No file was changed")
    expect(await idle(terminal)).toMatch(/─\n\n─/)

    await command(terminal, "/rewind")
    await terminal.until("Back to before which")
    terminal.type("write a file")
    await terminal.until("❯ write a file")
    terminal.keys("Enter")
    await terminal.until("What goes back")
    terminal.keys("Down", "Enter")
    await terminal.until("made.txt: would be taken away")
    await idle(terminal)
    await terminal.until((screen) => /─\n\/rewind 2 files now\n─/.test(screen))
    terminal.keys("Enter")
    await terminal.until("made.txt: taken away")
    expect(existsSync(join(space.work, "made.txt"))).toBe(false)
    await terminal.until((screen) => /─\nwrite a file\n─/.test(screen))
    await idle(terminal)
    terminal.keys("C-c")

    await leave(terminal)
    expect(terminal.screen()).toContain("Go on with this session: nimlet --session")
    await isUsual(terminal)
    await nothingLeft(terminal, space)
  })

  it("finds what was said, writes in an editor, runs a command of the shell, and remembers prompts in the next session", async () => {
    await using space = await makeSpace([{ text: "The blue door is red now." }, { text: "Second answer." }])
    await space.file("edit.sh", "echo 'from the editor' > \"$1\"\n")
    await using terminal = await begin(space, { columns: 100, rows: 40, env: { EDITOR: "sh edit.sh" } })
    say(terminal, "what of the door")
    await terminal.until("The blue door is red now.")
    await idle(terminal)
    terminal.keys("C-f")
    await terminal.until("Search the conversation")
    terminal.type("red now")
    await terminal.until("1 of 1")
    terminal.keys("Enter")
    await terminal.until("answer, lines 1 to 1 of 1")
    terminal.keys("Escape")
    await terminal.until("Search the conversation")
    await shut(terminal, "Search the conversation")
    say(terminal, "!!echo only $((6 * 7))")
    await terminal.until("only 42")
    await idle(terminal)
    terminal.keys("C-g")
    await terminal.until((screen) => /─\nfrom the editor\n─/.test(screen))
    terminal.keys("Enter")
    await terminal.until("Second answer.")
    await leave(terminal)
    say(terminal, "clear; nimlet --script script.json")
    await terminal.until((screen) => screen.includes("scripted/script") && !screen.includes("Go on with"))
    terminal.keys("Up", "Up", "Up")
    await terminal.until((screen) => /─\nwhat of the door\n─/.test(screen))
    terminal.keys("C-c")
    await leave(terminal)
  })

  it("clicks a button of an extension, switches the extension off for good, and has the mouse back", async () => {
    await using space = await makeSpace()
    await using terminal = await begin(space, { columns: 100, rows: 40 })
    await command(terminal, "/show")
    await terminal.until("[Go]")
    await idle(terminal)
    expect(terminal.modes().mouse).toBe(true)
    const row = terminal.screen().split("\n").findIndex((line) => line.includes("[Go]"))
    terminal.click(terminal.screen().split("\n")[row]!.indexOf("[Go]") + 1, row)
    await terminal.until("companion: pressed go")
    await command(terminal, "/extensions")
    await terminal.until("❯ companion  running")
    terminal.keys("d")
    await terminal.until("companion is switched off")
    const after = await terminal.until((screen) => /companion {2}stopped/.test(screen) && !screen.includes("The plan"))
    expect(after).not.toContain("all red")
    expect(terminal.modes().mouse).toBe(false)
    expect(JSON.parse(readFileSync(join(space.home, ".nimlet/config.json"), "utf8"))).toMatchObject({ extensions: { companion: { disabled: true } } })
    terminal.keys("r")
    await terminal.until("❯ companion  running")
    await shut(terminal, "Extensions:")
    await leave(terminal)
  })
})

describe("text that tries to leave its place", () => {
  const evil = "\u001b]0;evil\u0007\u009d2;evil\u009c\u001b]52;c;ZXZpbA==\u0007\u001b[2J\u001b[H\u001b[?1049h\u001b[31mred\u202eturned"

  it("of a model, a tool, a session's title and a file's name changes neither title nor clipboard nor screen; a copy that was asked for does", async () => {
    await using space = await makeSpace([
      { text: `before ${evil} after`, tools: [{ name: "bash", args: { command: "cat evil.txt; head -c 1000000 /dev/zero | tr '\\0' x" } }] },
      { text: "The end." }
    ])
    await space.file("evil.txt", evil)
    await space.file(`nasty${evil.replaceAll("/", "")}.md`, "x")
    await space.file("nasty-no-more.md", "x")
    await using terminal = await begin(space, { columns: 100, rows: 40, args: "nimlet --yolo --script script.json" })
    say(terminal, "go")
    await terminal.until("The end.")
    terminal.keys("C-o")
    await terminal.until("bytes dropped")
    terminal.keys("C-o")
    await command(terminal, `/name ${evil.replaceAll(/[\u0000-\u001f]/g, "")}`)
    await idle(terminal)
    terminal.type("@nasty")
    const seen = await terminal.until("→ nasty-no-more.md")
    expect(seen.split("\n").filter((line) => /^─{100}$/.test(line))).toHaveLength(2)
    expect(seen).toContain("The end.")
    expect(terminal.title()).toBe("nimlet · work")
    expect(terminal.clipboard()).toBe("")
    expect(terminal.modes()).toEqual({ alternate: false, cursor: false, mouse: false })
    terminal.keys("C-c")
    await command(terminal, "/copy")
    await terminal.until("handed to the terminal's clipboard")
    expect(terminal.clipboard()).toBe("The end.")
    await leave(terminal)
  })
})

describe("for a screen reader", () => {
  it("says in words what marks say, after a prompt of the command line, and stays", async () => {
    await using space = await makeSpace([{ tools: [{ name: "bash", args: { command: "echo by hand" } }] }, { text: "It ran." }])
    await using terminal = await begin(space, { args: "nimlet --screen-reader --script script.json -i run it" })
    await answer(terminal, "Allow bash?", "y")
    const seen = await terminal.until("It ran.")
    for (const text of ["You: run it", "Done: bash echo by hand", "Answer:"]) expect(seen).toContain(text)
    expect(seen).not.toMatch(/[─│✓⠋-⠿]/)
    say(terminal, "/quit")
    await atShell(terminal)
    await isUsual(terminal)
  })
})

/** Throws where nobody catches it, at a signal. */
const bomb = `process.on("SIGUSR2", () => setImmediate(() => { throw new Error("boom") }))\n`

describe("an end that nobody wanted", () => {
  it("a crash gives the terminal back, names the session and leaves no program behind", async () => {
    await using space = await makeSpace()
    await space.file("bomb.mjs", bomb)
    await using terminal = await begin(space, { args: "NODE_OPTIONS=--import=./bomb.mjs nimlet --script script.json" })
    say(terminal, "hi")
    await terminal.until("Hello, you.")
    await command(terminal, "/show")
    await terminal.until("[Go]")
    await idle(terminal)
    process.kill(terminal.foreground(), "SIGUSR2")
    const seen = await atShell(terminal)
    expect(seen).toMatch(/Go on with this session: nimlet --session \S+\nnimlet crashed: Error: boom/)
    say(terminal, "echo code $?")
    await terminal.until("code 1")
    await isUsual(terminal)
    await nothingLeft(terminal, space)
  })
})

describe("a newcomer", () => {
  it("comes from an empty home to an answer, an extension, a denied call and an exported session by what the screen says", async () => {
    await using space = await makeWorkspace()
    await space.file("README.md", "# A heading of ours\n")
    await using terminal = await startTmux({ cwd: space.work, home: space.home, columns: 100, rows: 50 })
    say(terminal, "nimlet")
    const first = await terminal.until("offline/offline")
    for (const text of ["/login", "read README.md", "run ls", "/help lists commands", "ctrl+c twice leaves"]) expect(first).toContain(text)
    say(terminal, "read README.md")
    await terminal.until("A heading of ours")

    await command(terminal, "/help")
    const help = await terminal.until("/export")
    expect(help).toContain("/extensions")
    await command(terminal, "/extensions")
    await terminal.until("/extensions new NAME")
    await shut(terminal, "Extensions: 0")
    await command(terminal, "/extensions new hello")
    expect(await terminal.until("/reload starts it")).toContain("/hello is its command")
    await command(terminal, "/reload")
    await terminal.until("Extensions were started anew")
    await command(terminal, "/hello")
    await terminal.until("Hello from hello.")

    await idle(terminal)
    say(terminal, "run ls")
    expect(await terminal.until("Allow bash?")).toContain("n  No")
    await answer(terminal, "Allow bash?", "n")
    await terminal.until("✗ bash ls")
    await idle(terminal)
    say(terminal, "run rm -rf everything")
    await terminal.until("hello lets nobody remove whole folders")

    await command(terminal, "/export")
    await terminal.until("The session is written to")
    const page = readdirSync(space.work).find((name) => name.endsWith(".html"))
    expect(readFileSync(join(space.work, page!), "utf8")).toContain("A heading of ours")
    terminal.keys("C-c")
    await idle(terminal)
    terminal.keys("C-c", "C-c")
    await atShell(terminal)
    await isUsual(terminal)
    await nothingLeft(terminal, space)
  })

  it("gives a key on the screen, which is never shown, and is answered by that provider from then on", async () => {
    await using space = await makeWorkspace()
    await using terminal = await startTmux({ cwd: space.work, home: space.home, columns: 100, rows: 40, env: { ANTHROPIC_BASE_URL: "http://127.0.0.1:1" } })
    say(terminal, "nimlet")
    await terminal.until("offline/offline")
    say(terminal, "/login")
    await terminal.until("The key of which provider?")
    terminal.type("anthropic")
    await terminal.until("1 of 1")
    terminal.keys("Enter")
    await asked(terminal, "The key for anthropic?")
    say(terminal, "sk-secret-words")
    await terminal.until("answers from now on")
    expect(terminal.history()).not.toContain("secret-words")
    const file = join(space.home, ".nimlet/auth.json")
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ anthropic: { type: "api_key", key: "sk-secret-words" } })
    say(terminal, "/auth")
    await terminal.until("key from auth.json")
    say(terminal, "/logout anthropic")
    await terminal.until("is forgotten")
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({})
    say(terminal, "/quit")
    await atShell(terminal)
    await nothingLeft(terminal, space)
  })
})

/** A module that has something of what only modules have on the screen. */
const painter = `export default (pi) => {
  pi.registerShortcut("ctrl+x", { description: "paint", handler: (ctx) => ctx.ui.notify("painted by a key") })
  pi.registerCommand("paint", {
    description: "paint the screen",
    getArgumentCompletions: (prefix) => ["blue", "green"].filter((one) => one.startsWith(prefix)).map((value) => ({ value, label: value })),
    handler: async (args, ctx) => {
      ctx.ui.setTitle("a window in " + args)
      ctx.ui.setWorkingMessage("mixing colours")
      ctx.ui.setEditorText("from the painter")
    }
  })
}
`

describe("a module on the screen", () => {
  //
  it("has its flags read before the prompt behind them is said, which the terminal stays after", async () => {
    await using space = await makeWorkspace()
    await space.file("~/.pi/agent/extensions/flags.js", `export default (pi) => {
      pi.registerFlag("deep", { type: "string" })
      pi.registerFlag("wide", { type: "boolean" })
      pi.on("before_agent_start", (event, ctx) => ctx.ui.notify("deep " + pi.getFlag("deep") + ", wide " + pi.getFlag("wide") + ": " + event.prompt))
    }`)
    await space.file("script.json", JSON.stringify({ steps: [{ text: "First answer." }, { text: "Second answer." }] }))
    await using terminal = await startTmux({ cwd: space.work, home: space.home, columns: 100 })
    say(terminal, "nimlet -i --script script.json --deep sea --wide fix it")
    await terminal.until("First answer.")
    expect(terminal.screen()).toContain("> fix it")
    expect(terminal.screen()).toContain("deep sea, wide true: fix it")
    await idle(terminal)
    say(terminal, "and more")
    await terminal.until("Second answer.")
    await leave(terminal)
    say(terminal, "clear; nimlet -i --script script.json --nope fix it; echo code $?")
    await terminal.until("code 2")
    expect(terminal.history()).toContain("Unknown option: --nope")
    await isUsual(terminal)
  })

  //
  it("has a key, completions of its command, the title, the working message and the composer, until it is gone", async () => {
    await using space = await makeWorkspace()
    await space.file("~/.pi/agent/extensions/painter.js", painter)
    await space.file("script.json", JSON.stringify({ steps: [{ tools: [{ name: "bash", args: { command: "sleep 30" } }] }] }))
    await using terminal = await begin(space, { columns: 100, rows: 30, args: "nimlet --yolo --script script.json" })
    await idle(terminal)
    terminal.keys("C-x")
    await terminal.until("painter: painted by a key")
    terminal.type("/paint bl")
    await terminal.until("blue")
    terminal.keys("Tab")
    await terminal.until("/paint blue")
    terminal.keys("Enter")
    await terminal.until((screen) => /─\nfrom the painter\n─/.test(screen))
    expect(terminal.title()).toBe("a window in blue")
    await idle(terminal)
    terminal.keys("Enter")
    await terminal.until("mixing colours (painter)")
    terminal.keys("Escape")
    await terminal.until("! Interrupted")
    await command(terminal, "/extensions")
    await terminal.until("painter  running")
    terminal.keys("d")
    await terminal.until("painter is switched off")
    expect(terminal.title()).toBe("nimlet · work")
    await shut(terminal, "Extensions:")
    await leave(terminal)
  })
})
