/**
 * What the interactive terminal costs: from the start to the first frame, from a key to its echo (quiet, while an answer
 * streams, while a module spins on its thread), the processor's time while nothing happens, and memory over many turns.
 *
 *     node test/bench/terminal.mjs [--rounds N] [--entries N] [--turns N]
 *
 * The program runs on a pty of `script`; a key's echo is the first output after it that holds the key. A line that ends with
 * a limit says whether it was kept; the machine has to be quiet for that to mean anything.
 */
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { clock, median, startStub } from "./measure.mjs"

const value = (name, otherwise) => {
  const at = process.argv.indexOf(name)
  return at < 0 ? otherwise : Number(process.argv[at + 1])
}
const rounds = value("--rounds", 9)
const entries = value("--entries", 20_000)
const turns = value("--turns", 1_000)

const bin = join(import.meta.dirname, "../../apps/cli/dist/nimlet.mjs")
const folder = mkdtempSync(join(tmpdir(), "nimlet-terminal-"))
const home = join(folder, "home")
mkdirSync(join(home, ".nimlet/sessions"), { recursive: true })
writeFileSync(join(home, ".nimlet/config.json"), JSON.stringify({ agent: { compaction_enabled: false } }))

/** Starts words on a pty of 100 columns and 30 rows. */
const onPty = (words, env = {}) => {
  const chunks = []
  let wake = () => undefined
  let over = false
  const start = clock()
  const child = spawn("script", ["-qefc", `stty cols 100 rows 30; exec ${words.map((word) => `'${word}'`).join(" ")}`, "/dev/null"], {
    cwd: folder,
    detached: true,
    stdio: ["pipe", "pipe", "ignore"],
    env: { PATH: process.env.PATH, HOME: home, TERM: "xterm-256color", LANG: "C.UTF-8", ...env }
  })
  child.stdout.on("data", (data) => {
    chunks.push([clock(), data.toString("latin1")])
    wake()
  })
  // `script` gives it a session of its own: it is named itself, and waited for.
  const pid = () => Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim().split(" ")[0])
  const closed = new Promise((done) => child.once("close", done))
  const end = () => {
    if (!over) process.kill(pid(), "SIGKILL")
    return closed
  }
  const limit = setTimeout(end, 300_000)
  child.once("close", () => {
    over = true
    clearTimeout(limit)
    wake()
  })
  const until = async (text, from = 0) => {
    for (let at = from;; ) {
      for (; at < chunks.length; at++) if (chunks[at][1].includes(text)) return chunks[at][0]
      if (over) throw new Error(`it ended before "${text}":\n${chunks.slice(-20).map(([, data]) => data).join("")}`)
      await new Promise((done) => (wake = done))
    }
  }
  const echoes = async (count) => {
    const times = []
    for (let n = 0; n < count; n++) {
      const key = "qzjx"[n % 4]
      const from = chunks.length
      const at = clock()
      child.stdin.write(key)
      times.push(await until(key, from) - at)
      await wait(20)
    }
    return times.sort((a, b) => a - b)
  }
  return { child, chunks, start, until, echoes, pid, end }
}

const ticks = (pid) => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ").slice(11, 13).reduce((sum, n) => sum + Number(n), 0)
const megabytes = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024
const told = (name, figure, unit, limit) =>
  console.log(`${name.padEnd(58)} ${figure.toFixed(1).padStart(8)} ${unit}${limit === undefined ? "" : `  ${figure <= limit ? "kept" : "BROKEN"}: at most ${limit} ${unit}`}`)
const p95 = (sorted) => sorted[Math.floor(sorted.length * 0.95)]

try {
  const script = join(folder, "script.json")
  writeFileSync(script, JSON.stringify({ steps: [{ deltas: Array.from({ length: 5_000 }, (_, n) => `w${n} in **here** `) }] }))
  const nimlet = (...args) => onPty([process.execPath, bin, "--script", script, ...args])

  const [bare, first] = [[], []]
  for (let round = 0; round <= rounds; round++) {
    const node = onPty([process.execPath, "-e", "console.log(\"here\")"])
    const bareAt = await node.until("here")
    const run = nimlet("--no-session")
    const firstAt = await run.until("/help")
    await run.end()
    if (round > 0) {
      bare.push(bareAt - node.start)
      first.push(firstAt - run.start)
    }
  }
  told("bare Node on the pty", median(bare), "ms")
  told("first frame", median(first), "ms")
  told("first frame after a bare Node", median(first.map((one, k) => one - bare[k])), "ms", 150)

  const lines = [{ type: "session", version: 1, id: "long", workspace: folder, at: "2026-01-01T00:00:00.000Z" }]
  for (let n = 0; n < entries / 2; n++) {
    lines.push({ type: "user", role: "user", content: [{ type: "text", text: `question ${n}` }] })
    lines.push({ type: "assistant", role: "assistant", content: [{ type: "text", text: `The **answer** number ${n} has \`code\` and some more words in it.` }] })
  }
  writeFileSync(join(home, ".nimlet/sessions/long.jsonl"), lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
  const run = nimlet("--session", "long")
  await run.until("scripted/script")
  await wait(1_000)
  const pid = run.pid()
  const quiet = await run.echoes(100)
  told(`key to echo, ${entries} entries, median`, median(quiet), "ms")
  told(`key to echo, ${entries} entries, 95th percentile`, p95(quiet), "ms", 16)
  const before = ticks(pid)
  await wait(5_000)
  told("processor while nothing happens", (ticks(pid) - before) / 5, "%", 1)
  told("memory", megabytes(pid), "MB")
  await run.end()

  mkdirSync(join(home, ".pi/agent/extensions"), { recursive: true })
  const spinner = join(home, ".pi/agent/extensions/spinner.js")
  writeFileSync(spinner, "export default () => { setInterval(() => { const end = performance.now() + 1000; while (performance.now() < end); }, 0) }\n")
  const beside = nimlet("--session", "long")
  await beside.until("scripted/script")
  await wait(1_000)
  const spun = await beside.echoes(200)
  told("key to echo while a module spins on its thread, median", median(spun), "ms")
  told("key to echo while a module spins, 95th percentile", p95(spun), "ms", 16)
  await beside.end()

  const stub = await startStub()
  await stub.setScenario([{ deltas: { count: 10_000, chunk: "w{i} in **here**, some `more` of it.\n\n" }, pauseMs: 10, burst: 5 }])
  const streaming = onPty([process.execPath, bin, "--session", "long", "--provider", "anthropic", "--model", "m"], { ANTHROPIC_BASE_URL: stub.url, ANTHROPIC_API_KEY: "x" })
  await streaming.until("anthropic/m")
  await wait(1_000)
  streaming.child.stdin.write("go")
  await wait(100)
  streaming.child.stdin.write("\r")
  await streaming.until("w2")
  const busy = ticks(streaming.pid())
  const began = clock()
  const loud = await streaming.echoes(200)
  const used = (ticks(streaming.pid()) - busy) * 10 / (clock() - began) * 100
  told("key to echo, 500 deltas a second, median", median(loud), "ms")
  told("key to echo, 500 deltas a second, 95th percentile", p95(loud), "ms", 16)
  told("processor while 500 deltas a second stream", used, "%")
  await streaming.end()

  const both = onPty([process.execPath, bin, "--session", "long", "--provider", "anthropic", "--model", "m"], { ANTHROPIC_BASE_URL: stub.url, ANTHROPIC_API_KEY: "x" })
  await both.until("anthropic/m")
  await wait(1_000)
  await stub.setScenario([{ deltas: { count: 10_000, chunk: "w{i} in **here**, some `more` of it.\n\n" }, pauseMs: 10, burst: 5 }])
  both.child.stdin.write("go")
  await wait(100)
  both.child.stdin.write("\r")
  await both.until("w2")
  const all = await both.echoes(200)
  told("key to echo, both, 95th percentile", p95(all), "ms", 16)
  await both.end()
  rmSync(spinner)
  stub.stop()

  const many = join(folder, "many.json")
  writeFileSync(many, JSON.stringify({ steps: [{ text: "Here is **an answer** of some words, with `code`.\n\n```js\nconst a = 1\n```\n\nThat was turn.", usage: { input: 10, output: 10 }, repeat: turns + 10 }] }))
  // What lives is counted after a collection: what the process takes besides comes and goes.
  const probe = join(folder, "probe.mjs")
  const heapFile = join(folder, "heap")
  writeFileSync(probe, `import { writeFileSync } from "node:fs"\nprocess.on("SIGUSR2", () => { gc(); gc(); writeFileSync(${JSON.stringify(heapFile)}, String(process.memoryUsage().heapUsed)) })\n`)
  const long = onPty([process.execPath, "--expose-gc", "--import", probe, bin, "--no-session", "--script", many])
  await long.until("scripted/script")
  const heap = async () => {
    rmSync(heapFile, { force: true })
    process.kill(long.pid(), "SIGUSR2")
    while (!existsSync(heapFile) || readFileSync(heapFile, "utf8") === "") await wait(20)
    return Number(readFileSync(heapFile, "utf8")) / 1024 / 1024
  }
  const sizes = []
  for (let turn = 0; turn < turns; turn++) {
    const from = long.chunks.length
    long.child.stdin.write(`t${turn}\r`)
    await long.until("That was turn.", from)
    if ((turn + 1) % (turns / 4) === 0) sizes.push(await heap())
  }
  for (const [quarter, size] of sizes.entries()) told(`live heap after ${(quarter + 1) * turns / 4} turns`, size, "MB")
  told("live heap grown by the second half of them", sizes[3] - sizes[1], "MB", 8)
  told("memory after all of them", megabytes(long.pid()), "MB")
  await long.end()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exit()
