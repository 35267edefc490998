/**
 * What the interactive terminal costs: from the start to the first frame, from a key to its echo (quiet, and while an
 * answer streams), the processor's time while nothing happens, and memory.
 *
 *     node test/bench/programs/terminal.mjs [--rounds N] [--entries N]
 *
 * Prints its figures as JSON. A key's echo is the first output after it that holds the key.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
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

const bin = join(import.meta.dirname, "../../../apps/cli/dist/nimlet.mjs")
const folder = mkdtempSync(join(tmpdir(), "nimlet-terminal-"))
const home = join(folder, "home")
mkdirSync(join(home, ".nimlet/sessions"), { recursive: true })
writeFileSync(join(home, ".nimlet/config.json"), JSON.stringify({ agent: { compaction_enabled: false } }))

const p95 = (sorted) => sorted[Math.floor(sorted.length * 0.95)]

try {
  const script = join(folder, "script.json")
  writeFileSync(script, JSON.stringify({ steps: [{ deltas: Array.from({ length: 5_000 }, (_, n) => `w${n} in **here** `) }] }))
  const start = (args, env = {}) => onPty({ args, cwd: folder, home, env })
  const scripted = (...args) => start([bin, "--script", script, ...args])
  const found = {}

  const later = []
  for (let round = 0; round <= rounds; round++) {
    const node = start(["-e", "console.log(\"here\")"])
    const bareAt = await node.until("here")
    const run = scripted("--no-session")
    const firstAt = await run.until("/help")
    await run.end("SIGKILL")
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

  const stub = await startStub()
  await stub.setScenario([{ deltas: { count: 10_000, chunk: "w{i} in **here**, some `more` of it.\n\n" }, pauseMs: 10, burst: 5 }])
  const streaming = start([bin, "--session", "long", "--provider", "anthropic", "--model", "m"], { ANTHROPIC_BASE_URL: stub.url, ANTHROPIC_API_KEY: "x" })
  await streaming.until("anthropic/m")
  await wait(1_000)
  await streaming.type("go", "\r")
  await streaming.until("w2")
  const busy = streaming.figures().cpu
  const began = clock()
  const loud = await streaming.echoes(200)
  found.loudEcho = median(loud)
  found.loudEcho95 = p95(loud)
  found.streaming = (streaming.figures().cpu - busy) / (clock() - began) * 100
  await streaming.end("SIGKILL")
  stub.stop()
  console.log(JSON.stringify(found))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exit()
