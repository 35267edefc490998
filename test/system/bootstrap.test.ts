import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import {
  chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync
} from "node:fs"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, delimiter, join } from "node:path"

/** Real first runs: each in a copy of this folder without `.tools`, `node_modules` and `dist`, under a path with blanks. */
const root = join(import.meta.dirname, "../..")
const temp = mkdtempSync(join(realpathSync(tmpdir()), "boot strap-"))
const { version }: { readonly version: string } = JSON.parse(readFileSync(join(root, "apps/cli/package.json"), "utf8"))

/** The oldest and newest Nodes a person may have, each with the npm of its time. */
const nodes = [
  { name: "18", node: "18.20.8", npm: "10.9.9" },
  { name: "20", node: "20.20.2", npm: "10.9.9" },
  { name: "22", node: "22.23.5", npm: "10.9.9" },
  { name: "24", node: "24.22.3", npm: "11.19.1" },
  { name: "26", node: "26.12.1", npm: "11.19.1" }
]
afterAll(() => rm(temp, { recursive: true, force: true }), 240_000)
const nowhere = "http://127.0.0.1:9/"

let copies = 0
const copy = (): string => {
  const folder = join(temp, `work tree ${++copies}`)
  cpSync(root, folder, { recursive: true, filter: (path) => !["node_modules", ".tools", "dist", ".git"].includes(basename(path)) })
  return folder
}

/** What npm told the process that runs the tests is no part of a fresh machine, but for the way to its registry. */
const fresh = Object.fromEntries(Object.entries(process.env).filter(([name]) =>
  !/^(npm_|INIT_CWD$|VITEST|NODE_ENV$|PNPM_|CI$)/i.test(name) || name === "npm_config_userconfig" || name === "npm_config_registry"))

interface Run {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}
interface Started {
  readonly child: ChildProcess
  readonly end: Promise<Run>
  /** Resolves with standard output so far when it or standard error has this text; fails when the process ends first. */
  readonly says: (text: string) => Promise<string>
}

const begin = (program: string, args: ReadonlyArray<string>, cwd: string, env: NodeJS.ProcessEnv = {}): Started => {
  const child = spawn(program, args, { cwd, env: { ...fresh, ...env }, stdio: ["ignore", "pipe", "pipe"] })
  let stdout = ""
  let stderr = ""
  const waiting = new Set<() => void>()
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text
    for (const look of waiting) look()
  })
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text
    for (const look of waiting) look()
  })
  const end = new Promise<Run>((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
  const says = (text: string): Promise<string> => new Promise((resolve, reject) => {
    const look = (): void => {
      if (!stdout.includes(text) && !stderr.includes(text)) return
      waiting.delete(look)
      resolve(stdout)
    }
    waiting.add(look)
    look()
    void end.then((run) => reject(new Error(`it never said "${text}":\n${run.stderr}`)), reject)
  })
  return { child, end, says }
}
const start = (cwd: string, args: ReadonlyArray<string>, env?: NodeJS.ProcessEnv): Started =>
  begin(process.execPath, ["bootstrap.mjs", "start", ...args], cwd, env)

/** A program in place of the product: it tells what it was given and ends when a signal tells it to. */
const probe = (folder: string, word: string): void =>
  writeFileSync(join(folder, "apps/cli/src/main.ts"), `
const [mode = "", code = "0"] = process.argv.slice(2)
if (mode === "wait") {
  const alive = setInterval(() => {}, 1000)
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => { console.log("got", signal); clearInterval(alive); process.exitCode = 9 })
  console.log("ready", process.pid)
} else {
  console.log(JSON.stringify({ word: ${JSON.stringify(word)}, args: process.argv.slice(2), cwd: process.cwd(), node: process.versions.node }))
  process.exitCode = Number(code)
}
`)

describe("a first run from nothing", () => {
  const kit = join(temp, "nodes")
  beforeAll(() => {
    mkdirSync(kit)
    const builds = nodes.map(({ name, node }) => `node-${name}@npm:node-linux-${process.arch}@${node}`)
    const npms = [...new Set(nodes.map(({ npm }) => npm))].map((npm) => `npm-${npm}@npm:npm@${npm}`)
    execFileSync("npm", ["install", "--prefix", kit, "--ignore-scripts", "--no-audit", "--no-fund", "--no-bin-links", ...builds, ...npms], { env: fresh })
    for (const { name, npm } of nodes) {
      const bin = join(kit, "bin", name)
      mkdirSync(bin, { recursive: true })
      symlinkSync(join(kit, "node_modules", `node-${name}`, "bin/node"), join(bin, "node"))
      writeFileSync(join(bin, "npm"), `#!/bin/sh\nexec "${bin}/node" "${kit}/node_modules/npm-${npm}/bin/npm-cli.js" "$@"\n`)
      chmodSync(join(bin, "npm"), 0o755)
    }
  }, 240_000)

  /** What only the pinned pnpm reads is downloaded by the first of them; the others get its store. */
  const store = join(temp, "store")
  it.each(nodes)("works with Node $node and its npm; the second run says nothing and needs no network", async ({ name, node }) => {
    const folder = copy()
    const own = join(folder, ".tools/pnpm-store")
    if (existsSync(store)) {
      mkdirSync(join(folder, ".tools"))
      renameSync(store, own)
    }
    const PATH = [join(kit, "bin", name), process.env["PATH"]].join(delimiter)
    assert.strictEqual(execFileSync("node", ["--version"], { env: { PATH }, encoding: "utf8" }).trim(), `v${node}`)
    const first = await begin("npm", ["start", "--silent", "--", "--version"], folder, { PATH }).end
    assert.strictEqual(first.code, 0, first.stderr)
    assert.include(first.stdout, version)
    assert.deepStrictEqual(first.stderr.trim().split("\n").map((line) => line.split(" ")[1]), ["fetching", "installing", "building"])
    const second = await begin("npm", ["start", "--silent", "--", "--version"], folder, { PATH, npm_config_registry: nowhere }).end
    assert.deepStrictEqual([second.code, second.stdout, second.stderr], [0, first.stdout, ""])
    renameSync(own, store)
    await rm(folder, { recursive: true, force: true })
  })
})

describe("a first run that goes wrong", () => {
  it("goes on after being killed while fetching and interrupted while installing, with a home that is no folder", async () => {
    const folder = copy()
    const env = { HOME: "/dev/null" }
    const killed = start(folder, ["--version"], env)
    await killed.says("fetching")
    killed.child.kill("SIGKILL")
    assert.strictEqual((await killed.end).signal, "SIGKILL")
    const interrupted = start(folder, ["--version"], env)
    await interrupted.says("installing")
    interrupted.child.kill("SIGTERM")
    assert.strictEqual((await interrupted.end).code, 143)
    const done = await start(folder, ["--version"], env).end
    assert.strictEqual(done.code, 0, done.stderr)
    assert.include(done.stdout, version)
    assert.deepStrictEqual(readdirSync(join(folder, ".tools")).filter((name) => /^(new-|lock)/.test(name)), [])
  })

  it("lets one of two set up; the other says that it waits, and both run", async () => {
    const folder = copy()
    const one = start(folder, ["--version"])
    await one.says("fetching")
    const two = start(folder, ["--version"])
    const [first, second] = await Promise.all([one.end, two.end])
    assert.deepStrictEqual([first.code, second.code], [0, 0], first.stderr + second.stderr)
    assert.match(second.stderr, /^nimlet: waiting for process \d+, which is setting up this folder\n$/)
    assert.strictEqual(first.stdout, second.stdout)
  })

  it("says plainly that the registry cannot be reached, and leaves nothing behind", async () => {
    const folder = copy()
    const run = await start(folder, ["--version"], { npm_config_registry: nowhere }).end
    assert.strictEqual(run.code, 1)
    assert.strictEqual(run.stdout, "")
    assert.match(run.stderr, /^nimlet: fetching .*\nnimlet: npm's registry cannot be reached \(ECONNREFUSED\).* run the same command again\.\n$/)
    assert.deepStrictEqual(readdirSync(join(folder, ".tools")), [])
  })

  it("refuses a Node that is not the pinned one", async () => {
    const folder = copy()
    const file = join(folder, "bootstrap.mjs")
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(/sha512-[^"]{6}/g, "sha512-AAAAAA"))
    const run = await start(folder, ["--version"]).end
    assert.strictEqual(run.code, 1)
    assert.include(run.stderr, "EINTEGRITY")
    assert.isFalse(existsSync(join(folder, ".tools/toolchain")))
  })
})

describe("once set up", () => {
  let folder = ""
  beforeAll(async () => {
    folder = copy()
    probe(folder, "first")
    const run = await start(folder, []).end
    assert.strictEqual(run.code, 0, run.stderr)
  }, 240_000)

  it("passes arguments, the folder npm was called in, and the exit code, on the pinned Node", async () => {
    const run = await begin("npm", ["--prefix", folder, "start", "--silent", "--", "a b", "3", "--c=*"], temp).end
    assert.strictEqual(run.code, 3)
    assert.deepStrictEqual(JSON.parse(run.stdout), { word: "first", args: ["a b", "3", "--c=*"], cwd: temp, node: "24.21.0" })
  })

  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("hands on %s and waits for the program's own end", async (signal) => {
    const run = start(folder, ["wait"])
    await run.says("ready")
    run.child.kill(signal)
    const { code, stdout } = await run.end
    assert.strictEqual(code, 9)
    assert.match(stdout, new RegExp(`^ready \\d+\\ngot ${signal}\\n$`))
  })

  it("ends with 128 and the number when the program is killed", async () => {
    const run = start(folder, ["wait"])
    const [, pid] = (await run.says("ready")).trim().split(" ")
    process.kill(Number(pid), "SIGKILL")
    assert.strictEqual((await run.end).code, 137)
  })

  it("installs again without a network when node_modules is gone, and takes over the lock of a dead process", async () => {
    rmSync(join(folder, "node_modules"), { recursive: true })
    writeFileSync(join(folder, ".tools/lock"), "4194304999")
    const run = await start(folder, [], { npm_config_registry: nowhere }).end
    assert.strictEqual(run.code, 0, run.stderr)
    assert.strictEqual(run.stderr, "nimlet: installing the packages of pnpm-lock.yaml\n")
  })

  it("builds what has changed, while a running program still finds its chunks", async () => {
    const old = readdirSync(join(folder, "apps/cli/dist"))
    probe(folder, "second")
    const run = await start(folder, []).end
    assert.strictEqual(run.stderr, "nimlet: building apps/cli/dist\n")
    assert.strictEqual(JSON.parse(run.stdout).word, "second")
    assert.includeMembers(readdirSync(join(folder, "apps/cli/dist")), old)
  })

  it("keeps the old bundle when the build fails, says why, and exits 1", async () => {
    const file = join(folder, "apps/cli/src/main.ts")
    const good = readFileSync(file, "utf8")
    const before = readFileSync(join(folder, "apps/cli/dist/nimlet.mjs"), "utf8")
    writeFileSync(file, `import "./absent.ts"\n`)
    const run = await start(folder, []).end
    writeFileSync(file, good)
    assert.strictEqual(run.code, 1)
    assert.include(run.stderr, "./absent.ts")
    assert.strictEqual(readFileSync(join(folder, "apps/cli/dist/nimlet.mjs"), "utf8"), before)
  })

  it("links a launcher that works anywhere, and again", async () => {
    const prefix = mkdtempSync(join(temp, "global "))
    mkdirSync(join(prefix, "bin"))
    for (const _ of ["new", "over its own"]) {
      const run = await begin(process.execPath, ["bootstrap.mjs", "link"], folder, { npm_config_prefix: prefix }).end
      assert.strictEqual(run.code, 0, run.stderr)
      assert.include(run.stderr, join(prefix, "bin", "nimlet"))
    }
    const run = await begin(join(prefix, "bin", "nimlet"), ["x y"], temp, { PATH: "/nowhere" }).end
    assert.deepInclude(JSON.parse(run.stdout), { args: ["x y"], cwd: temp, node: "24.21.0" })
  })

  it("does not link over another's file", async () => {
    const prefix = mkdtempSync(join(temp, "global "))
    mkdirSync(join(prefix, "bin"))
    writeFileSync(join(prefix, "bin", "nimlet"), "someone else's")
    const run = await begin(process.execPath, ["bootstrap.mjs", "link"], folder, { npm_config_prefix: prefix }).end
    assert.strictEqual(run.code, 1)
    assert.strictEqual(readFileSync(join(prefix, "bin", "nimlet"), "utf8"), "someone else's")
  })

  it("adds at most 0.3 s to the bundle by itself, or what starting Node four times takes where that is slow", async () => {
    const node = join(folder, `.tools/toolchain/node_modules/node-linux-${process.arch}/bin/node`)
    const runs = {
      node: () => begin(process.execPath, ["-e", "0"], folder),
      bundle: () => begin(node, ["apps/cli/dist/nimlet.mjs"], folder),
      bootstrap: () => start(folder, [])
    }
    const best = { node: Infinity, bundle: Infinity, bootstrap: Infinity }
    for (let round = 0; round < 8; round++) {
      for (const name of ["node", "bundle", "bootstrap"] as const) {
        const from = performance.now()
        await runs[name]().end
        best[name] = Math.min(best[name], performance.now() - from)
      }
    }
    assert.isBelow(best.bootstrap - best.bundle, Math.max(300, 4 * best.node))
  })
})

it("an unknown command is a usage error", async () => {
  const run = await begin(process.execPath, ["bootstrap.mjs", "toString"], root).end
  assert.strictEqual(run.code, 2)
  assert.match(run.stderr, /^nimlet: usage: node bootstrap\.mjs start\|test\|/)
})
