/** Files of a project that can act: nothing of them happens before a person has said yes to just these. */
import { existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { makeWorkspace, records, startNimlet, type Workspace } from "../kit/Workspace.ts"

const notice = "Project-local resources skipped"
const offline = ["--provider", "offline"]

/** Leaves a mark when it is started, and is no extension. */
const canary = async (space: Workspace) => {
  await space.extension("canary", { manifest: { name: "canary", command: ["./run.sh"] }, root: ".nimlet/extensions", files: { "run.sh": `#!/bin/sh\ntouch "${space.root}/PWNED"\n` } })
  return () => existsSync(join(space.root, "PWNED"))
}

const atTerminal = async (space: Workspace, answers: ReadonlyArray<string>, args: ReadonlyArray<string> = [...offline, "list the files"]) => {
  const run = startNimlet({ args, cwd: space.work, home: space.home, tty: true, holdStdin: true, env: { TERM: "xterm", NO_COLOR: "1" } })
  for (const [index, answer] of answers.entries()) {
    await run.until((screen) => screen.split("\n> ").length > index + 1)
    run.child.stdin!.write(answer)
  }
  return run.ended
}

describe("a project that nobody has trusted", () => {
  it("runs nothing in any way of running, also a failing one, and that is told once on stderr", async () => {
    await using space = await makeWorkspace()
    const pwned = await canary(space)
    await space.file(".nimlet/config.json", `{"default_provider":"nobody"}`)
    for (const args of [["--mode", "json", ...offline, "list the files"], ["-p", ...offline, "list the files"], ["--provider", "nobody", "x"], ["--mode", "json", ...offline, "/reload"]]) {
      const run = await space.nimlet(args)
      expect([args, run.stderr.split(notice).length]).toEqual([args, 2])
      expect(run.stdout).not.toContain(notice)
    }
    for (const args of [["--help"], ["--version"], ["--no-approve", ...offline, "list the files"]]) expect((await space.nimlet(args)).stderr).not.toContain(notice)
    expect((await space.nimlet(["--approve", "--no-approve", "x"])).code).toBe(2)
    expect(pwned()).toBe(false)
    expect(existsSync(join(space.home, ".nimlet/trust.json"))).toBe(false)
  })
})

describe("a project whose files a person has declined", () => {
  it("is left out without another word until one of them changes", async () => {
    await using space = await makeWorkspace()
    const pwned = await canary(space)
    await space.nimlet([...offline, "/trust off"])
    const notices = async (...args: ReadonlyArray<string>) => (await space.nimlet([...args, ...offline, "x"])).stderr.split(notice).length - 1
    expect([await notices("-p"), await notices("--mode", "json")]).toEqual([0, 0])
    expect((await space.nimlet([...offline, "/trust"])).stdout).toContain("Left out: 2 files of this project")
    await space.file(".nimlet/extensions/canary/run.sh", "#!/bin/sh\n")
    expect([await notices("-p"), await notices("-p")]).toEqual([1, 1])
    await space.nimlet([...offline, "/trust off"])
    expect([await notices("-p"), pwned()]).toEqual([0, false])
  })
})

describe("a person at a terminal", () => {
  it("is shown what is new or changed, and is not asked again about what they have said yes to", async () => {
    await using space = await makeWorkspace()
    const pwned = await canary(space)
    const first = await atTerminal(space, ["2\n"])
    expect(first.stdout).toContain(".nimlet/extensions/canary/run.sh")
    expect(pwned()).toBe(true)
    expect(statSync(join(space.home, ".nimlet/trust.json")).mode & 0o777).toBe(0o600)
    expect((await atTerminal(space, [])).stdout).not.toContain("Files of this project")
    expect((await space.nimlet(["--mode", "json", ...offline, "x"])).stderr).not.toContain(notice)

    await space.file(".nimlet/extensions/canary/run.sh", `#!/bin/sh\ntouch "${space.root}/AGAIN"\n`)
    const second = await atTerminal(space, ["1\n"])
    expect(second.stdout).toMatch(/changed +\.nimlet\/extensions\/canary\/run\.sh/)
    expect(second.stdout).not.toContain("canary/extension.json")
    expect(existsSync(join(space.root, "AGAIN"))).toBe(false)
  })

  it("who says nothing leaves all out, for this time", async () => {
    await using space = await makeWorkspace()
    const pwned = await canary(space)
    await atTerminal(space, ["\n"])
    expect(pwned()).toBe(false)
    expect(existsSync(join(space.home, ".nimlet/trust.json"))).toBe(false)
  })
})

describe("/trust", () => {
  // E-064
  it("tells how it stands; on loads the project's files at once and from then on, off leaves them out", async () => {
    await using space = await makeWorkspace()
    const pwned = await canary(space)
    const told = `#!/usr/bin/env node\nimport { appendFileSync } from "node:fs"\nimport { createInterface } from "node:readline"\n` +
      `console.log(JSON.stringify({ type: "register", commands: [] }))\nfor await (const line of createInterface({ input: process.stdin })) ` +
      `if (process.env.NOTE && JSON.parse(line).type === "initialize") appendFileSync(process.env.NOTE, line + "\\n")\n`
    await space.extension("notes", { manifest: { name: "notes", command: ["./x.mjs"] }, files: { "x.mjs": told } })
    expect((await space.nimlet([...offline, "/trust"])).stdout).toMatch(/Left out: 2 files.*canary\/extension\.json/s)
    const on = await space.nimlet(["--mode", "json", ...offline, "/trust on"], { env: { NOTE: join(space.root, "inits") } })
    expect(on.code).toBe(0)
    expect(pwned()).toBe(true)
    expect(readFileSync(join(space.root, "inits"), "utf8").trim().split("\n")).toEqual([expect.stringContaining(`"trusted":false`), expect.stringContaining(`"trusted":true`)])
    expect((await space.nimlet([...offline, "/trust"])).stdout).toContain("Loaded: 2 files")
    await space.nimlet([...offline, "/trust off"])
    const off = await space.nimlet([...offline, "/trust"])
    expect(off.stdout).toContain("Left out: 2 files")
  })
})

describe("settings of a trusted project", () => {
  it("hold over the person's, and what a project may not say is ignored with a word that names file and key", async () => {
    await using space = await makeWorkspace()
    await space.file("~/.nimlet/config.json", `{"agent":{"session_dir":"~/kept"}}`)
    const path = await space.file(".nimlet/config.json", `{"default_provider":"offline","agent":{"session_dir":"here"}}`)
    const run = await space.nimlet(["--approve", "--mode", "json", "list the files"])
    expect([run.code, records(run.stdout).at(-1)!["success"]]).toEqual([0, true])
    expect(run.stderr).toContain(`${path}: agent.session_dir is ignored`)
    expect(existsSync(join(space.home, "kept"))).toBe(true)
    expect(existsSync(join(space.work, "here"))).toBe(false)
    const broken = await space.file(".nimlet/config.json", `{"agent":{"max_tokens":"many"}}`)
    const failed = await space.nimlet(["--approve", ...offline, "list the files"])
    expect(failed.code).toBe(1)
    expect(failed.stderr).toContain(`${broken}: agent.max_tokens`)
    expect(readFileSync(broken, "utf8")).toContain("many")
  })

  it("cannot switch off or open a guard of the person's own, alone or with its family; each attempt is told with file and key", async () => {
    await using space = await makeWorkspace()
    await space.extension("guard", { manifest: { name: "guard", command: ["./missing"], on_failure: "block" }, files: {} })
    const path = await space.file(".nimlet/config.json", JSON.stringify({ extensions: { guard: { disabled: true, on_failure: "open" }, families: { nimlet: false }, required: [] } }))
    const run = await space.nimlet(["--approve", "--mode", "json", ...offline, "run `touch ran`"])
    expect(existsSync(join(space.work, "ran"))).toBe(false)
    expect(run.stdout).toContain("approval_denied: extension 'guard' guards this call")
    expect(run.stderr).toContain(`${path}: extensions.families is ignored`)
    for (const key of ["disabled", "on_failure"]) expect(run.stdout).toContain(`${path}: extensions.guard.${key} is ignored`)
  })
})
