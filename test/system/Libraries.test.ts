/** The packages as another program gets them: packed, installed by npm into an empty folder, with types, and no source of ours. */
import { execFileSync, spawnSync } from "node:child_process"
import { copyFileSync, existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { project } from "../kit/Workspace.ts"

const folder = mkdtempSync(join(tmpdir(), "nimlet-libraries-"))
const packages = readdirSync(join(project, "packages")).filter((name) => existsSync(join(project, "packages", name, "package.json")))
const catalog = readFileSync(join(project, "pnpm-workspace.yaml"), "utf8")
const versionOf = (name: string): string => new RegExp(`^  "?${name}"?: (\\S+)$`, "m").exec(catalog)![1]!
const ours = (name: string) => join(folder, "node_modules/@nimlet", name)
const examples = ["agent/examples/embed.ts", "sdk/examples/drive.ts", "session/examples", "tools/examples"]
  .flatMap((path) => path.endsWith(".ts") ? [path] : readdirSync(join(project, "packages", path)).filter((file) => file.endsWith(".ts")).map((file) => join(path, file)))

beforeAll(() => {
  execFileSync(process.execPath, [join(project, "packages/build.ts")], { stdio: ["ignore", "inherit", "inherit"] })
  const pnpm = join(project, `.tools/toolchain/node_modules/@pnpm/exe.${process.platform}-${process.arch}/pnpm`)
  for (const name of packages) {
    execFileSync(pnpm, ["pack", "--pack-destination", folder, "--config.ignore-scripts=true"], {
      cwd: join(project, "packages", name),
      env: { ...process.env, PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter) },
      stdio: ["ignore", "ignore", "inherit"]
    })
  }
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }))
  const others = ["effect", "@effect/platform-node", "@types/node"].map((name) => `${name}@${versionOf(name)}`)
  execFileSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", ...readdirSync(folder).filter((name) => name.endsWith(".tgz")).map((name) => `./${name}`), ...others], { cwd: folder })
  for (const path of examples) copyFileSync(join(project, "packages", path), join(folder, path.replaceAll("/", "-")))
}, 400_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }), 60_000)

describe("the packages, installed", () => {
  it.each(packages)("@nimlet/%s exports JavaScript with its types, and nothing else", (name) => {
    const { exports } = JSON.parse(readFileSync(join(ours(name), "package.json"), "utf8"))
    const door = (file: string) => ({ types: `./dist/${file}.d.ts`, default: `./dist/${file}.js` })
    // What workers use of it is had without the rest.
    expect(exports).toEqual({ ".": door("index"), ...(name === "protocol" ? { "./image": door("Image") } : {}) })
    for (const { default: code, types } of Object.values<ReturnType<typeof door>>(exports)) {
      for (const file of [code, types]) expect(existsSync(join(ours(name), file))).toBe(true)
    }
    expect(globSync("**/*.ts", { cwd: ours(name), exclude: (path) => String(path).includes("node_modules") }).filter((file) => !file.endsWith(".d.ts"))).toEqual([])
  })

  it("give an editor the types that the examples are written against", () => {
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({
      compilerOptions: { target: "es2024", lib: ["es2024", "esnext", "dom"], module: "nodenext", strict: true, exactOptionalPropertyTypes: true, noEmit: true, skipLibCheck: false, types: ["node"], allowImportingTsExtensions: true },
      include: ["*.ts"]
    }))
    const { stdout } = spawnSync(process.execPath, [join(project, "node_modules/typescript/bin/tsc"), "-p", folder, "--pretty", "false"], { cwd: folder, encoding: "utf8" })
    // Others' types have errors of their own; what a program that uses ours sees of them is nothing.
    const errors = stdout.split("\n").filter((line) => line.includes("error TS"))
    expect(errors.filter((line) => line.includes("node_modules/@nimlet/") || !line.includes("node_modules/"))).toEqual([])
  })

  it("run an agent inside another program", () => {
    const told = execFileSync(process.execPath, ["agent-examples-embed.ts"], { cwd: folder, encoding: "utf8", env: { ...process.env, HOME: folder } })
    expect(told).toContain("package.json")
  })
})
