/** The README as a new user reads it: its extensions are saved as they stand and run. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { makeWorkspace } from "../kit/Workspace.ts"

const readme = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8")
const block = (language: string): string => {
  const found = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(readme)
  if (found === null) throw new Error(`the README has no ${language} block`)
  return found[1]!
}

describe("README", () => {
  it("has a Python extension that works as written", async () => {
    await using space = await makeWorkspace()
    await space.extension("clock", { manifest: { name: "clock", command: ["./clock.py"] }, files: { "clock.py": block("python") } })
    const run = await space.nimlet(["call now {}"])
    expect(run.stdout).toMatch(/\d\d:\d\d/)
  })

  it("has a JavaScript extension that works as written", async () => {
    await using space = await makeWorkspace()
    await space.extension("nopush", { manifest: { name: "nopush", command: ["./nopush.mjs"] }, files: { "nopush.mjs": block("js") } })
    expect((await space.nimlet(["run `git push`"])).stdout).toContain("pushing is done by people")
    expect((await space.nimlet(["run `echo fine`"])).stdout).toContain("fine")
  })

  it("shows what is really printed for its first command", async () => {
    await using space = await makeWorkspace()
    await space.file("README.md", readme)
    const run = await space.nimlet(["read README.md and tell me its first heading"], { tty: true, env: { TERM: "xterm", NO_COLOR: "1" } })
    const shown = /\$ npm start -- "read README\.md[^\n]*\n([\s\S]*?)```/.exec(readme)![1]!
    expect(run.stdout.replaceAll("\r", "").trim()).toBe(shown.trim())
  })
})
