/** A person's own shell commands at the terminal, run where an extension says. */
import { describe, expect, it } from "vitest"
import { begin, idle, leave, nothingLeft, say } from "../kit/AtTerminal.ts"
import { makeWorkspace } from "../kit/Workspace.ts"

describe("a command behind ! and !!", () => {
  it("runs by an extension's operations, shown as it comes, with its code; Esc gives it up, and the model is told of one", async () => {
    await using space = await makeWorkspace()
    await space.file("script.json", JSON.stringify({ steps: [{ text: "I have seen it." }] }))
    await space.file("~/.pi/agent/extensions/far.ts", `export default (pi) => {
  pi.on("user_bash", ({ command }) => command.startsWith("here ") ? undefined : {
    operations: {
      exec: (given, cwd, { onData, signal }) => new Promise((resolve, reject) => {
        onData(Buffer.from("far away: " + given + "\\n"))
        if (given === "fail") return reject(new Error("the line is cut"))
        if (given !== "wait") return resolve({ exitCode: 4 })
        signal.addEventListener("abort", () => { pi.appendEntry("gave up"); resolve({ exitCode: null }) })
      })
    }
  })
}
`)
    await using terminal = await begin(space)
    say(terminal, "!!uptime")
    const shown = await terminal.until("far away: uptime")
    expect(shown).toContain("uptime")
    say(terminal, "!!fail")
    await terminal.until("the line is cut")
    await idle(terminal)
    say(terminal, "!!wait")
    await terminal.until("far away: wait")
    terminal.keys("Escape")
    await terminal.until("interrupted")
    say(terminal, "!date")
    await terminal.until("I have seen it.")
    expect(terminal.screen()).toContain("far away: date")
    await leave(terminal)
    await nothingLeft(terminal, space)
  })
})
