/** Extensions in Python: notes (tool, command, status) and a guard (`tool_call`, `turn_end`, widget). */
import { chmodSync, cpSync, existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { startModelStub } from "../kit/ModelStub.ts"
import { anthropic } from "../kit/Providers.ts"
import { checkRecords } from "@nimlet/protocol"
import { lastingSurvivors, makeWorkspace, records, startNimlet, type Workspace } from "../kit/Workspace.ts"

const fixtures = join(import.meta.dirname, "../fixtures/extensions")
const install = (space: Workspace, ...names: ReadonlyArray<string>) => {
  for (const name of names) cpSync(join(fixtures, name), join(space.home, ".nimlet/extensions", name), { recursive: true })
}

const terminal = { tty: true, env: { TERM: "xterm", NO_COLOR: "1" } }
const results = (stdout: string) => records(stdout).filter((record) => record["type"] === "tool_result")

describe("the notes extension", () => {
  // E-003 E-032 E-283
  it("is called by the model and writes the file", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ tools: [{ name: "save_note", args: { text: "mind the cache" } }] }, { text: "Saved." }])
    install(space, "notes", "guard")
    const run = await space.nimlet(["--mode", "json", ...anthropic.args, "remember this"], { env: anthropic.env(stub.url) })
    expect(run.code).toBe(0)
    expect(checkRecords(records(run.stdout))).toEqual([])
    expect(readFileSync(join(space.work, "NOTES.md"), "utf8")).toBe("mind the cache\n")
    expect(JSON.stringify(stub.requests[1]!.body)).toContain("Saved the note.")
    expect(await lastingSurvivors(space.root)).toEqual([])
  })

  // E-284
  it("sets a status that reaches the terminal", async () => {
    await using space = await makeWorkspace()
    install(space, "notes")
    const run = startNimlet({ args: [`call save_note {"text":"x"}`], cwd: space.work, home: space.home, holdStdin: true, ...terminal })
    await run.until((screen) => screen.includes("\n> "))
    run.child.stdin!.write("y\n")
    expect((await run.ended).stdout).toContain("[notes:notes] NOTES.md updated")
  })

  // E-003 E-102 E-252 E-281 E-282 E-285
  it("answers its command", async () => {
    await using space = await makeWorkspace()
    install(space, "notes")
    const run = await space.nimlet(["/note remember the cache bug"], terminal)
    expect(run.stdout).toContain("Noted.")
    expect(readFileSync(join(space.work, "NOTES.md"), "utf8")).toBe("remember the cache bug\n")
  })
})

describe("the guard extension", () => {
  // E-123 E-186 E-287 E-289 E-290 E-291
  it("keeps network commands from running and tells the model why, lets others pass, and its answers to nothing do no harm", async () => {
    await using space = await makeWorkspace()
    const commands = ["curl x; touch ran", "wget x; touch ran", "nc x; touch ran", "ssh x; touch ran", "touch fine"]
    await using stub = await startModelStub([{ tools: commands.map((command) => ({ name: "bash", args: { command } })) }, { text: "Some of it." }])
    install(space, "guard")
    const run = await space.nimlet(["--mode", "json", ...anthropic.args, "fetch it"], { env: anthropic.env(stub.url) })
    expect(run.code).toBe(0)
    expect(results(run.stdout).map((result) => result["is_error"])).toEqual([true, true, true, true, false])
    expect(results(run.stdout)[0]!["output"]).toBe("approval_denied: network commands are blocked in this project")
    expect(JSON.stringify(stub.requests[1]!.body)).toContain("approval_denied: network commands are blocked in this project")
    expect(records(run.stdout).filter((record) => record["type"] === "diagnostic")).toEqual([])
    expect([existsSync(join(space.work, "ran")), existsSync(join(space.work, "fine"))]).toEqual([false, true])
  })

  // E-288
  it("shows how many it blocked", async () => {
    await using space = await makeWorkspace()
    install(space, "guard")
    expect((await space.nimlet(["run `curl x`"], terminal)).stdout).toContain("[guard:guard] blocked 1")
  })
})

describe("the hello extension", () => {
  // X-017 X-018 X-019
  it("greets by its command, with what stands after it or nothing, and by its tool", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ tools: [{ name: "hello_tool" }] }, { text: "It greets." }])
    install(space, "hello")
    expect((await space.nimlet(["-p", "/hello Ann"])).stdout).toBe("Hello Ann\n")
    expect((await space.nimlet(["-p", "/hello"])).stdout).toBe("Hello \n")
    const run = await space.nimlet(["--mode", "json", ...anthropic.args, "greet"], { env: anthropic.env(stub.url) })
    expect(results(run.stdout)).toMatchObject([{ tool_name: "hello_tool", output: "Hello", is_error: false }])
    expect(JSON.stringify(stub.requests[1]!.body)).toContain("\"Hello\"")
  })
})

describe("an extension that is repaired while nimlet runs", () => {
  // E-286
  it("is loaded by a reload once its program is executable", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ tools: [{ name: "save_note", args: { text: "remember the cache bug" } }] }, { text: "Kept." }])
    install(space, "notes")
    const program = join(space.home, ".nimlet/extensions/notes/notes.py")
    chmodSync(program, 0o644)
    await space.extension("fixer", {
      manifest: { name: "fixer", command: ["./fixer.mjs"] },
      files: {
        "fixer.mjs": `#!/usr/bin/env node
import { chmodSync } from "node:fs"
import { createInterface } from "node:readline"
console.log(JSON.stringify({ type: "register", commands: [{ name: "fix" }] }))
for await (const line of createInterface({ input: process.stdin })) {
  const { id, type } = JSON.parse(line)
  if (type !== "command") continue
  chmodSync(${JSON.stringify(program)}, 0o755)
  console.log(JSON.stringify({ type: "response", id, reload: true, prompt: "keep that" }))
}
`
      }
    })
    const run = await space.nimlet(["--mode", "json", ...anthropic.args, "/fix"], { env: anthropic.env(stub.url) })
    expect(run.code).toBe(0)
    const warnings = records(run.stdout).filter((record) => record["type"] === "diagnostic" && record["level"] === "warning")
    expect(warnings).toMatchObject([{ message: expect.stringMatching(/'notes' failed to start.*chmod \+x/) }])
    expect(readFileSync(join(space.work, "NOTES.md"), "utf8")).toBe("remember the cache bug\n")
    expect(await lastingSurvivors(space.root)).toEqual([])
  })
})

describe("the message shapes of published extensions", () => {
  it("a status in one text, and system text while it is switched on (shanty)", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ text: "At sea, matey." }])
    install(space, "shanty")
    const run = await space.nimlet([...anthropic.args, "/shanty"], { tty: true, env: { ...terminal.env, ...anthropic.env(stub.url) } })
    expect(run.code).toBe(0)
    expect(run.stdout).toContain("Ahoy.")
    expect(run.stdout).toContain("[shanty:mode] sailor")
    expect(run.stdout).toContain("At sea, matey.")
    expect(JSON.stringify(stub.requests[0]!.body)).toContain("Answer as a sailor.")
  })

  it("answers to what wants none, without an id (pane)", async () => {
    await using space = await makeWorkspace()
    install(space, "pane")
    const run = await space.nimlet(["--mode", "json", "--provider", "offline", "list the files"])
    expect(run.code).toBe(0)
    expect(records(run.stdout).filter((record) => record["type"] === "diagnostic")).toEqual([])
    expect(readFileSync(join(space.work, "pane.log"), "utf8").trim().split("\n")).toEqual(["initialize", "session_start", "turn_start", "turn_end", "shutdown"])
  })

  it("a summary by the model, edited by the person, into a new session, however long both take (relay)", async () => {
    await using space = await makeWorkspace()
    // Its limit is 2 s: the model takes longer than that, and so does the person.
    await using stub = await startModelStub([{ text: "We spoke of ships." }, { text: "SUMMARY", delayMs: 2_500 }])
    install(space, "relay")
    const env = { ...terminal.env, ...anthropic.env(stub.url) }
    const editor = await space.file("~/editor", `#!/bin/sh\nsleep 2.5\nprintf ' and more' >> "$1"\n`)
    chmodSync(editor, 0o755)
    const first = records((await space.nimlet(["--mode", "json", ...anthropic.args, "ships"], { env })).stdout)[0]!["session_id"]
    expect((await space.nimlet(["/relay"], terminal)).stdout).toContain("Usage: /relay GOAL")
    expect((await space.nimlet(["/relay the goal"], terminal)).stdout).toContain("There is nothing to hand over.")
    expect((await space.nimlet(["--resume", "-p", ...anthropic.args, "/relay the goal"], { env })).stdout).toContain("needs a person")
    const run = await space.nimlet(["--session", String(first), ...anthropic.args, "/relay the goal"], { tty: true, env: { ...env, EDITOR: editor } })
    expect(run.code).toBe(0)
    expect(run.stdout).toContain("[relay:relay] summing up")
    expect(run.stdout).toContain("The work was handed over.")
    expect(run.stdout).toContain("Left to be sent:\r\nSUMMARY and more")
    const asked = JSON.stringify(stub.requests[1]!.body)
    for (const word of ["You hand work over.", "Sum this up for: the goal", "user: ships", "assistant: We spoke of ships."]) expect(asked).toContain(word)
    expect(stub.requests).toHaveLength(2)
    expect(await lastingSurvivors(space.root)).toEqual([])
  })
})
