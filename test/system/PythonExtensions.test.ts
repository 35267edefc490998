/** Extensions in Python: notes (tool, command, status) and a guard (`tool_call`, `turn_end`, widget). */
import { cpSync, existsSync, readFileSync } from "node:fs"
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
