/** The packed program, installed by npm into an empty folder: nothing of this project lies beside or above it. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { makeWorkspace, project, type RunOptions, type RunResult, startNimlet } from "../kit/Workspace.ts"

const platform = `${process.platform}-${process.arch}`
const folder = mkdtempSync(join(tmpdir(), "nimlet-installed-"))
const prefix = join(folder, "prefix")
const command = join(prefix, "bin/nimlet")
const npm = (args: ReadonlyArray<string>) => execFileSync("npm", [...args, "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"], { cwd: folder, encoding: "utf8" })

/** Another Node, as npm has it. */
const otherNode = (version: string): string => {
  const at = join(folder, `node-${version}`)
  npm(["install", "--prefix", at, "--ignore-scripts", `node-${platform}@${version}`])
  return join(at, `node_modules/node-${platform}/bin`)
}

beforeAll(() => {
  const pnpm = join(project, `.tools/toolchain/node_modules/@pnpm/exe.${platform}/pnpm`)
  execFileSync(pnpm, ["pack", "--pack-destination", folder], {
    cwd: join(project, "apps/cli"),
    env: { ...process.env, PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter) },
    stdio: ["ignore", "ignore", "inherit"]
  })
  npm(["install", "--global", "--prefix", prefix, join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz"))!)])
}, 180_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }), 60_000)

/** Runs the installed command as a shell would, with a Node of `bin` first on the PATH. */
const run = (space: { readonly work: string; readonly home: string }, args: ReadonlyArray<string>, bin = dirname(process.execPath), options: Partial<RunOptions> = {}): Promise<RunResult> =>
  startNimlet({ args, cwd: space.work, home: space.home, bin: command, ...options, env: { PATH: [bin, "/usr/bin", "/bin"].join(delimiter), ...options.env } }).ended

describe("the package", () => {
  it("is one command and one package below it, of less than 60 MB", () => {
    expect(readdirSync(join(prefix, "bin"))).toEqual(["nimlet"])
    const installed = join(prefix, "lib/node_modules/nimlet")
    const below = readdirSync(join(installed, "node_modules")).filter((name) => !name.startsWith("."))
    expect(below).toEqual(["@vscode"])
    expect(readdirSync(join(installed, "node_modules/@vscode")).every((name) => name.startsWith("ripgrep"))).toBe(true)
    expect(Number(execFileSync("du", ["-sk", prefix], { encoding: "utf8" }).split("\t")[0])).toBeLessThan(60 * 1024)
  })

  it("has its guides, and nothing of an earlier build", () => {
    const installed = join(prefix, "lib/node_modules/nimlet")
    expect(readdirSync(join(installed, "docs"))).toContain("machine-modes.md")
    const dist = readdirSync(join(installed, "dist"))
    expect(dist.filter((name) => /^nimlet-Rpc-/.test(name))).toHaveLength(1)
    expect(existsSync(join(installed, "dist/native"))).toBe(true)
  })

  it("has what its README and guides lead to", () => {
    const installed = join(prefix, "lib/node_modules/nimlet")
    const pages = ["README.md", ...readdirSync(join(installed, "docs")).filter((name) => name.endsWith(".md")).map((name) => join("docs", name))]
    const links = pages.flatMap((page) =>
      [...readFileSync(join(installed, page), "utf8").matchAll(/\]\((?!https?:)([^)#\s]+)/g)].map(([, to]) => ({ page, to: join(installed, dirname(page), to!) })))
    expect(links.length).toBeGreaterThan(10)
    expect(links.filter(({ to }) => !to.startsWith(`${installed}/`) || !existsSync(to))).toEqual([])
  })

  it("runs the README's first example", async () => {
    await using space = await makeWorkspace()
    await space.file("README.md", "# A heading of its own\n\ntext\n")
    const told = await run(space, ["read README.md and tell me its first heading"])
    expect(told.stdout).toContain("A heading of its own")
    expect(told.code).toBe(0)
  })

  it("searches with the ripgrep that came with it", async () => {
    await using space = await makeWorkspace()
    await space.file("notes.txt", "a needle here\n")
    const told = await run(space, ["grep needle"])
    expect(told.stdout).toContain("notes.txt")
  })

  it("runs an extension of each family", async () => {
    await using space = await makeWorkspace()
    const program = (name: string) => `#!/usr/bin/env node
process.stdout.write(JSON.stringify({ type: "register", commands: [], tools: [{ name: "${name}", description: "Says who it is.", input_schema: { type: "object" } }] }) + "\\n")
let rest = ""
process.stdin.on("data", (data) => {
  const lines = (rest + data).split("\\n")
  rest = lines.pop()
  for (const line of lines) {
    const { id, type } = JSON.parse(line)
    if (type === "tool") process.stdout.write(JSON.stringify({ type: "response", id, content: "I am ${name}" }) + "\\n")
    if (type === "shutdown") process.exit(0)
  }
})
process.stdin.on("end", () => process.exit(0))
`
    for (const [name, root] of [["ours", "~/.nimlet/extensions"], ["theirs", "~/.niminal/extensions"]] as const) {
      await space.extension(name, { root, manifest: { name, command: [`./${name}.mjs`] }, files: { [`${name}.mjs`]: program(name) } })
    }
    await space.file("~/.atomic/agent/extensions/typed.ts", `import { Type } from "typebox"
import type { ExtensionAPI } from "@bastani/atomic"
export default (pi: ExtensionAPI): void => {
  pi.registerTool({
    name: "typed", label: "Typed", description: "Says who it is.", parameters: Type.Object({}),
    execute: async () => ({ content: [{ type: "text", text: "I am typed" }], details: undefined })
  })
}
`)
    for (const name of ["ours", "theirs", "typed"]) {
      const told = await run(space, ["-p", `call ${name} {}`])
      expect(told.stderr.replace(/^offline:.*\n/, "")).toBe("")
      expect(told.stdout).toContain(`I am ${name}`)
    }
  })

  it.each(["bash", "zsh", "fish"])("teaches %s its words", async (shell) => {
    await using space = await makeWorkspace()
    const told = await run(space, ["--completions", shell])
    expect(told.code).toBe(0)
    for (const word of ["--mode", "sessions", "doctor"]) expect(told.stdout).toContain(word)
  })
})

describe("another Node", () => {
  it.each(["22.19.0", "26"])("%s runs it", async (version) => {
    await using space = await makeWorkspace()
    await space.file("a.txt", "# Hello\n")
    const bin = otherNode(version)
    const told = await run(space, ["--mode", "json", "--provider", "offline", "read a.txt and tell me its first heading"], bin)
    expect(told.stderr).toBe("")
    expect(told.stdout.trimEnd().split("\n").at(-1)).toContain("\"success\":true")
    expect(await run(space, ["--version"], bin)).toMatchObject({ code: 0 })
  }, 120_000)

  it("that is too old says what it needs", async () => {
    await using space = await makeWorkspace()
    const told = await run(space, ["hello"], otherNode("20.8.0"))
    expect(told).toMatchObject({ code: 1, stdout: "", stderr: "nimlet needs Node 22.19 or later; this is 20.8.0\n" })
  }, 120_000)
})
