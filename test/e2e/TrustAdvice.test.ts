/** Modules of the person's own say whether a project is to be trusted, before a file of it is loaded. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { checkRecords } from "@nimlet/protocol"
import { makeWorkspace, records, startNimlet, type Workspace } from "../kit/Workspace.ts"

const offline = ["--provider", "offline"]
const notice = "Project-local resources skipped"

/** A file of the project that can act: its prompt would be offered as `/mark`. */
const acting = (space: Workspace) => space.file(".agents/prompts/mark.md", "Say marked.")
const adviser = (answer: string, more = "") =>
  `import { appendFileSync } from "node:fs"
export default (pi) => {
  pi.on("project_trust", async (event, ctx) => {
    appendFileSync(process.env.NOTE, JSON.stringify({ cwd: event.cwd, hasUI: ctx.hasUI, mode: ctx.mode }) + "\\n")
    ${more}
    return ${answer}
  })
}`
const noted = (space: Workspace) => {
  const file = join(space.root, "note")
  return { env: { NOTE: file }, lines: () => existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line)) : [] }
}
const store = (space: Workspace) => join(space.home, ".nimlet/trust.json")

describe("project_trust", () => {
  it("is asked of modules of the person's own and of -e, until one says yes or no; that holds for the run", async () => {
    await using space = await makeWorkspace()
    const { env, lines } = noted(space)
    await acting(space)
    await space.file("~/.pi/agent/extensions/a.ts", adviser(`{ trusted: "undecided" }`))
    await space.file("given.mjs", adviser(`{ trusted: "yes" }`))
    await space.file("~/.pi/agent/extensions/b.ts", "export default (pi) => { pi.on('project_trust', () => { throw new Error('no idea') }) }")
    await space.file(".pi/extensions/mine.ts", adviser(`{ trusted: "no" }`))
    const left = await space.nimlet(["--mode", "json", ...offline, "list the files"], { env })
    expect(left.stderr).toContain(notice)
    expect(left.stderr).toContain("extension 'b': project_trust: Error: no idea")
    expect(lines()).toEqual([{ cwd: space.work, hasUI: false, mode: "json" }])

    const loaded = await space.nimlet(["--mode", "json", ...offline, "-e", "given.mjs", "list the files"], { env })
    expect(loaded.stderr).not.toContain(notice)
    expect(checkRecords(records(loaded.stdout))).toEqual([])
    expect(lines()).toHaveLength(3)
    expect(existsSync(store(space))).toBe(false)

    // What the command line says is no question.
    await space.nimlet(["--no-approve", ...offline, "-e", "given.mjs", "x"], { env })
    await space.nimlet(["--approve", ...offline, "-e", "given.mjs", "x"], { env })
    expect(lines()).toHaveLength(3)
  })

  it("is answered once where the answer is to be remembered, and never comes up where the project has no files that act", async () => {
    await using space = await makeWorkspace()
    const { env, lines } = noted(space)
    await space.file("~/.pi/agent/extensions/a.ts", adviser(`{ trusted: "yes", remember: true }`))
    await space.nimlet([...offline, "list the files"], { env })
    expect(lines()).toEqual([])
    await acting(space)
    for (let n = 0; n < 2; n++) expect((await space.nimlet(["-p", ...offline, "list the files"], { env })).stderr).not.toContain(notice)
    expect(lines()).toHaveLength(1)
    expect(existsSync(store(space))).toBe(true)
  })

  it("may ask the person, who is not asked a second time; left open, they are asked as ever", async () => {
    await using space = await makeWorkspace()
    const { env } = noted(space)
    await acting(space)
    await space.file("~/.pi/agent/extensions/a.ts", adviser(
      `choice === "Yes" ? { trusted: "yes" } : choice === "No" ? { trusted: "no" } : { trusted: "undecided" }`,
      `const choice = await ctx.ui.select("Trust " + event.cwd + "?", ["No", "Yes", "Leave it"])`
    ))
    const atTerminal = async (answers: ReadonlyArray<string>) => {
      const run = startNimlet({ args: [...offline, "list the files"], cwd: space.work, home: space.home, tty: true, holdStdin: true, env: { ...env, TERM: "xterm", NO_COLOR: "1" } })
      for (const [index, answer] of answers.entries()) {
        await run.until((screen) => screen.split("\n> ").length > index + 1)
        run.child.stdin!.write(answer)
      }
      return run.ended
    }
    const yes = await atTerminal(["2\n"])
    expect(yes.stdout).toContain(`Trust ${space.work}?`)
    expect(yes.stdout).not.toContain("Files of this project")
    expect(yes.stdout + yes.stderr).not.toContain(notice)
    expect((await atTerminal(["1\n"])).stdout).toContain(notice)
    const open = await atTerminal(["3\n", "1\n"])
    expect(open.stdout).toContain("Files of this project")
  })
})
