/**
 * What the interactive terminal costs: from the start to the first frame, from a key to its echo (quiet, while an answer
 * streams, while a module spins on its thread), the processor's time while nothing happens, and memory over many turns.
 *
 *     node test/bench/programs/terminal.mjs [--rounds N] [--entries N] [--turns N]
 *
 * Prints its figures as JSON. A key's echo is the first output after it that holds the key.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { clock, median, startStub } from "../measure.mjs"
import { onPty } from "../pty.mjs"
import { nimlet } from "../subjects.mjs"

const value = (name, otherwise) => {
  const at = process.argv.indexOf(name)
  return at < 0 ? otherwise : Number(process.argv[at + 1])
}
const rounds = value("--rounds", 9)
const entries = value("--entries", 20_000)
const turns = value("--turns", 1_000)

const bin = join(import.meta.dirname, "../../../apps/cli/dist/nimlet.mjs")
const folder = mkdtempSync(join(tmpdir(), "nimlet-terminal-"))
const home = join(folder, "home")
mkdirSync(join(home, ".nimlet/sessions"), { recursive: true })
writeFileSync(join(home, ".nimlet/config.json"), JSON.stringify({ agent: { compaction_enabled: false } }))

const p95 = (sorted) => sorted[Math.floor(sorted.length * 0.95)]

try {
  const script = join(folder, "script.json")
  writeFileSync(script, JSON.stringify({ steps: [{ deltas: Array.from({ length: 5_000 }, (_, n) => `w${n} in **here** `) }] }))
  const start = (args, env = {}) => onPty({ args, cwd: folder, home, env, limitMs: 300_000 })
  const scripted = (...args) => start([bin, "--script", script, ...args])
  const found = {}

  const later = []
  for (let round = 0; round <= rounds; round++) {
    const node = start(["-e", "console.log(\"here\")"])
    const bareAt = await node.until("here")
    const run = scripted("--no-session")
    const firstAt = await run.until("/help")
    // The first one ends in order: what Node has compiled for it is kept for the others.
    await run.end(round === 0 ? "SIGTERM" : "SIGKILL")
    if (round > 0) later.push(firstAt - run.start - (bareAt - node.start))
  }
  found.frame = median(later)

  nimlet({ wire: "anthropic" }).writeSession(home, folder, entries)
  const run = scripted("--session", "long")
  await run.until("scripted/script")
  await wait(1_000)
  const quiet = await run.echoes(100)
  found.echo = median(quiet)
  found.echo95 = p95(quiet)
  const before = run.figures()
  await wait(5_000)
  found.idle = (run.figures().cpu - before.cpu) / 5_000 * 100
  found.memory = run.figures().now
  await run.end("SIGKILL")

  const spinner = join(home, ".pi/agent/extensions/spinner.js")
  const spins = (on) => {
    if (!on) return rmSync(spinner)
    mkdirSync(join(home, ".pi/agent/extensions"), { recursive: true })
    writeFileSync(spinner, "export default () => { setInterval(() => { const end = performance.now() + 1000; while (performance.now() < end); }, 0) }\n")
  }
  spins(true)
  const beside = scripted("--session", "long")
  await beside.until("scripted/script")
  await wait(1_000)
  found.besideSpinner95 = p95(await beside.echoes(200))
  await beside.end("SIGKILL")
  spins(false)

  const stub = await startStub()
  const streaming = async () => {
    await stub.setScenario([{ deltas: { count: 10_000, chunk: "w{i} in **here**, some `more` of it.\n\n" }, pauseMs: 10, burst: 5 }])
    const run = start([bin, "--session", "long", "--provider", "anthropic", "--model", "m"], { ANTHROPIC_BASE_URL: stub.url, ANTHROPIC_API_KEY: "x" })
    await run.until("anthropic/m")
    await wait(1_000)
    await run.type("go", "\r")
    await run.until("w2")
    const busy = run.figures().cpu
    const began = clock()
    const echoes = await run.echoes(200)
    const used = (run.figures().cpu - busy) / (clock() - began) * 100
    await run.end("SIGKILL")
    return { echoes, used }
  }
  const loud = await streaming()
  found.loudEcho = median(loud.echoes)
  found.loudEcho95 = p95(loud.echoes)
  found.streaming = loud.used
  spins(true)
  found.loudSpinner95 = p95((await streaming()).echoes)
  spins(false)
  stub.stop()

  const many = join(folder, "many.json")
  writeFileSync(many, JSON.stringify({ steps: [{ text: "Here is **an answer** of some words, with `code`.\n\n```js\nconst a = 1\n```\n\nThat was turn.", usage: { input: 10, output: 10 }, repeat: turns + 10 }] }))
  // What lives is counted after a collection: what the process takes besides comes and goes.
  const probe = join(folder, "probe.mjs")
  const heapFile = join(folder, "heap")
  writeFileSync(probe, `import { writeFileSync } from "node:fs"\nprocess.on("SIGUSR2", () => { gc(); gc(); writeFileSync(${JSON.stringify(heapFile)}, String(process.memoryUsage().heapUsed)) })\n`)
  const long = start(["--expose-gc", "--import", probe, bin, "--no-session", "--script", many])
  await long.until("scripted/script")
  const heap = async () => {
    rmSync(heapFile, { force: true })
    process.kill(long.pid(), "SIGUSR2")
    while (!existsSync(heapFile) || readFileSync(heapFile, "utf8") === "") await wait(20)
    return Number(readFileSync(heapFile, "utf8")) / 1024 / 1024
  }
  const sizes = []
  for (let turn = 0; turn < turns; turn++) {
    const from = long.shown()
    long.write(`t${turn}\r`)
    await long.until("That was turn.", from)
    if ((turn + 1) % (turns / 2) === 0) sizes.push(await heap())
  }
  found.heapGrown = sizes[1] - sizes[0]
  await long.end("SIGKILL")
  console.log(JSON.stringify(found))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exit()
