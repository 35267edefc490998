/** Extensions in Python: notes (tool, command, status) and a guard (`tool_call`, `turn_end`, widget). */
import { cpSync, existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { startModelStub } from "../kit/ModelStub.ts"
import { anthropic } from "../kit/Providers.ts"
import { checkRecords } from "../kit/RecordOrder.ts"
import { lastingSurvivors, makeWorkspace, records, type Workspace } from "../kit/Workspace.ts"

const fixtures = join(import.meta.dirname, "../fixtures/extensions")
const install = (space: Workspace, ...names: ReadonlyArray<string>) => {
  for (const name of names) cpSync(join(fixtures, name), join(space.home, ".nimlet/extensions", name), { recursive: true })
}

describe("the notes extension", () => {
  it("is called by the model and writes the file", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ tools: [{ name: "save_note", args: { text: "mind the cache" } }] }, { text: "Saved." }])
    install(space, "notes", "guard")
    const run = await space.nimlet(["--mode", "json", ...anthropic.args, "remember this"], { env: anthropic.env(stub.url) })
    expect(run.code).toBe(0)
    expect(checkRecords(records(run.stdout))).toEqual([])
    expect(readFileSync(join(space.work, "NOTES.md"), "utf8")).toBe("mind the cache\n")
    expect(JSON.stringify(stub.requests[1]!.body)).toContain("Noted.")
    expect(await lastingSurvivors(space.root)).toEqual([])
  })

  it("answers its command, and its status reaches the terminal", async () => {
    await using space = await makeWorkspace()
    install(space, "notes")
    const run = await space.nimlet(["/note buy milk"], { tty: true, env: { TERM: "xterm", NO_COLOR: "1" } })
    expect(run.stdout).toContain("Noted.")
    expect(run.stdout).toContain("[notes:count] 1 notes")
    expect(readFileSync(join(space.work, "NOTES.md"), "utf8")).toBe("buy milk\n")
  })
})

describe("the guard extension", () => {
  it("keeps a network command from running, tells the model, and shows its count", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([
      { tools: [{ name: "bash", args: { command: "curl x; touch ran" } }] },
      { text: "I was not allowed to." }
    ])
    install(space, "notes", "guard")
    const run = await space.nimlet(["--mode", "json", ...anthropic.args, "fetch it"], { env: anthropic.env(stub.url) })
    expect(run.code).toBe(0)
    expect(records(run.stdout).find((record) => record["type"] === "tool_result")).toMatchObject({
      output: "approval_denied: no network from the shell",
      is_error: true
    })
    expect(JSON.stringify(stub.requests[1]!.body)).toContain("approval_denied")
    expect(existsSync(join(space.work, "ran"))).toBe(false)
    const shown = await space.nimlet(["run `curl x`"], { tty: true, env: { TERM: "xterm", NO_COLOR: "1" } })
    expect(shown.stdout).toContain("[guard:refused] 1 refused")
  })
})
