/** What runs unasked, what is asked, and what is refused where nobody can be asked: the real program. */
import { existsSync, readFileSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { makeWorkspace, records, startNimlet, type Workspace } from "../kit/Workspace.ts"

const script = (space: Workspace, ...calls: ReadonlyArray<object>) =>
  space.file("script.json", JSON.stringify({ steps: [...calls, { text: "done" }] }))
const bash = (command: string) => ({ tool: "bash", args: { command } })

/** Types each answer when the question for it is on the screen. */
const answering = async (space: Workspace, answers: ReadonlyArray<string>) => {
  const run = startNimlet({ args: ["--script", "script.json", "go"], cwd: space.work, home: space.home, tty: true, holdStdin: true, env: { TERM: "xterm", NO_COLOR: "1" } })
  for (const [index, answer] of answers.entries()) {
    await run.until((screen) => screen.split("\n> ").length > index + 1)
    run.child.stdin!.write(answer)
  }
  return run.ended
}

describe("a machine mode", () => {
  // J-023
  it("asks nobody and runs commands, but changes no file that decides what runs later", async () => {
    await using space = await makeWorkspace()
    await script(space, bash("touch ran"), { tool: "write", args: { path: ".nimlet/extensions/x/extension.json", content: "{}" } })
    for (const args of [["--mode", "json"], ["-p"]]) {
      const run = await space.nimlet([...args, "--script", "script.json", "go"])
      expect([args, run.code]).toEqual([args, 0])
      expect(run.stdout).not.toContain("approval_required")
    }
    const run = await space.nimlet(["--mode", "json", "--script", "script.json", "go"])
    const outputs = records(run.stdout).filter((record) => record["type"] === "tool_result").map((record) => String(record["output"]))
    expect(outputs[1]).toMatch(/^approval_denied: \.nimlet\/extensions\/x\/extension\.json is protected/)
    expect(existsSync(join(space.work, "ran"))).toBe(true)
    expect(existsSync(join(space.work, ".nimlet"))).toBe(false)
  })

  it("runs no command that is seen to change such a file, in any spelling, and every other", async () => {
    await using space = await makeWorkspace()
    await space.file(".git/HEAD", "x")
    await space.file(".agents/notes.md", "x")
    symlinkSync(".git", join(space.work, "link"))
    symlinkSync(".agents", join(space.work, "roots"))
    const riding = [
      "echo y > .git/HEAD", "git status; tee .git/HEAD </dev/null", "cd .git && rm HEAD", "sh -c 'rm .git/HEAD'", "ln -s .git at; echo y > at/HEAD", "touch ~/.nimlet/config.json", "cp .git/HEAD .agents/extensions/x",
      "echo y > link/HEAD", "f() { echo y > \"$1\"; }; f .git/HEAD", "for f in .git/*; do echo y > $f; done", "node -e 'fs.writeFileSync(process.argv[1], String())' .git/HEAD", "ls -d .git/* | xargs rm", "tar cf .git/HEAD copy",
      "mkdir -p pack/extensions; cp -r pack ~/.agents", "mkdir -p pack/extensions; cp -r pack/. roots", "echo y > $NONE.git/HEAD", "x='rm .git/HEAD'; $x", "env -C .git rm HEAD", "git config --global core.hooksPath /x"
    ]
    await script(space, ...riding.map(bash), bash("cp .git/HEAD copy"))
    const run = await space.nimlet(["--mode", "json", "--script", "script.json", "go"])
    const outputs = records(run.stdout).filter((record) => record["type"] === "tool_result").map((record) => String(record["output"]))
    expect(outputs.map((output) => output.startsWith("approval_denied"))).toEqual([...riding.map(() => true), false])
    expect(readFileSync(join(space.work, ".git/HEAD"), "utf8")).toBe("x")
    expect(readFileSync(join(space.work, "copy"), "utf8")).toBe(readFileSync(join(space.work, ".git/HEAD"), "utf8"))
    for (const gone of [join(space.work, ".agents/extensions"), join(space.home, ".agents"), join(space.home, ".nimlet/config.json")]) expect(existsSync(gone)).toBe(false)
  })

  it("is not led to a protected file by a link", async () => {
    await using space = await makeWorkspace()
    await space.file(".git/HEAD", "x")
    symlinkSync(".git", join(space.work, "link"))
    await script(space, { tool: "write", args: { path: "link/hooks/pre-commit", content: "x" } }, { tool: "edit", args: { path: "@link/HEAD", old_text: "x", new_text: "y" } })
    await space.nimlet(["--mode", "json", "--script", "script.json", "go"])
    expect(existsSync(join(space.work, ".git/hooks"))).toBe(false)
    expect(readFileSync(join(space.work, ".git/HEAD"), "utf8")).toBe("x")
  })

  it("offers and runs only what --tools names", async () => {
    await using space = await makeWorkspace()
    await script(space, bash("touch ran"))
    const run = await space.nimlet(["--mode", "json", "--tools", "read", "--script", "script.json", "go"])
    expect(records(run.stdout).find((record) => record["type"] === "tool_result")).toMatchObject({ is_error: true, output: "Unknown tool: bash" })
    const none = await space.nimlet(["--mode", "json", "--no-builtin-tools", "--script", "script.json", "go"])
    expect(records(none.stdout).find((record) => record["type"] === "tool_result")).toMatchObject({ is_error: true, output: "Unknown tool: bash" })
    expect(existsSync(join(space.work, "ran"))).toBe(false)
    await space.file("~/.nimlet/skills/ship/SKILL.md", "---\ndescription: x\n---\nPush the button.\n")
    await script(space, { tool: "read_skill", args: { name: "ship" } })
    const skill = await space.nimlet(["--mode", "json", "--tools", "skill", "--script", "script.json", "go"])
    expect(records(skill.stdout).find((record) => record["type"] === "tool_result")!["output"]).toContain("Push the button.")
    expect((await space.nimlet(["--tools", "skil", "--script", "script.json", "go"])).code).toBe(2)
  })
})

describe("a person at a terminal", () => {
  it("can allow a command for the project; the next run asks about anything else", async () => {
    await using space = await makeWorkspace()
    await space.nimlet(["--provider", "offline", "/trust on"])
    await script(space, bash("echo one"))
    await answering(space, ["p\n"])
    expect(JSON.parse(readFileSync(join(space.work, ".nimlet/permissions.json"), "utf8"))).toEqual({ allow: ["bash:echo one"] })
    await script(space, bash("echo one"), bash("echo one; touch ran"))
    const run = await answering(space, ["n\n"])
    expect(run.stdout.split("Allow bash")).toHaveLength(2)
    expect(run.stdout).toContain("Allow bash: echo one; touch ran")
    expect(existsSync(join(space.work, "ran"))).toBe(false)
  })

  // E-272 E-273 X-091 X-092
  it("is asked about a tool of an extension the first time, by its name; one that only reads is asked about by the first protocol alone", async () => {
    await using space = await makeWorkspace()
    const program = (name: string) => `#!/usr/bin/env node
import { createInterface } from "node:readline"
const tool = (name, capabilities) => ({ name, description: "d", input_schema: { type: "object" }, ...capabilities })
console.log(JSON.stringify({ type: "register", commands: [], tools: [tool("${name}_any"), tool("${name}_read", { capabilities: ["read"] })] }))
for await (const line of createInterface({ input: process.stdin })) {
  const { id, name, type } = JSON.parse(line)
  if (type === "tool") console.log(JSON.stringify({ type: "response", id, content: name + " ran" }))
}
`
    for (const name of ["nimlet", "niminal"]) {
      await space.extension(name, { manifest: { name, command: ["./x.mjs"] }, root: `~/.${name}/extensions`, files: { "x.mjs": program(name) } })
    }
    await space.nimlet(["--provider", "offline", "/trust on"])
    const names = ["nimlet_any", "nimlet_read", "niminal_any", "niminal_read"]
    await script(space, ...[...names, ...names].map((tool) => ({ tool, args: {} })))
    const run = await answering(space, ["p\n", "s\n", "s\n"])
    expect([...run.stdout.matchAll(/Allow (\w+): /g)].map(([, name]) => name)).toEqual(["nimlet_any", "nimlet_read", "niminal_any"])
    expect(run.stdout).not.toContain("approval_denied")
    expect(JSON.parse(readFileSync(join(space.work, ".nimlet/permissions.json"), "utf8"))).toEqual({ allow: ["tool:nimlet_any"] })
  })

  it("sees what would change in a protected file, and is asked each time", async () => {
    await using space = await makeWorkspace()
    await script(space, { tool: "write", args: { path: ".nimlet/SYSTEM.md", content: "be careful\n" } }, { tool: "edit", args: { path: ".nimlet/SYSTEM.md", old_text: "careful", new_text: "quick" } })
    const run = await answering(space, ["y\n", "n\n"])
    expect(run.stdout).toMatch(/Allow write: \.nimlet\/SYSTEM\.md .*\r\n {2}\+be careful\r\n/)
    expect(run.stdout).toMatch(/ {2}-careful\r\n {2}\+quick/)
    expect(readFileSync(join(space.work, ".nimlet/SYSTEM.md"), "utf8")).toBe("be careful\n")
  })

  it("is asked about a command that would change one although it was allowed for good", async () => {
    await using space = await makeWorkspace()
    await space.file(".nimlet/permissions.json", JSON.stringify({ allow: ["bash:touch .git/x", "bash:touch ran"] }))
    await space.nimlet(["--provider", "offline", "/trust on"])
    await script(space, bash("touch ran"), bash("touch .git/x"))
    const run = await answering(space, ["n\n"])
    expect([...run.stdout.matchAll(/Allow bash: (.+?) \(/g)].map(([, command]) => command)).toEqual(["touch .git/x"])
    expect(run.stdout).toContain("it changes .git/x, a protected file")
    expect([existsSync(join(space.work, "ran")), existsSync(join(space.work, ".git/x"))]).toEqual([true, false])
  })

  it("is asked nothing with --yolo", async () => {
    await using space = await makeWorkspace()
    await script(space, bash("touch ran"))
    const run = await space.nimlet(["--yolo", "--script", "script.json", "go"], { tty: true, env: { TERM: "xterm" } })
    expect(run.code).toBe(0)
    expect(existsSync(join(space.work, "ran"))).toBe(true)
  })
})
