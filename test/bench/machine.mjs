/**
 * What machine modes cost: a conversation in RPC mode, beside pi if asked, and many JSON runs at once. See README.md.
 *
 *     node test/bench/machine.mjs [-n ROUNDS] [--pi [PATH]] [--check] [rpc|many]
 */
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { clock, median, run, startStub } from "./measure.mjs"
import { nimlet, pi } from "./subjects.mjs"

const limits = { ready: 0.8, turn: 1, rss: 110 }
const turns = 60
const atOnce = 50

const options = { rounds: 7, pi: undefined, check: false, cases: [] }
const rest = process.argv.slice(2)
while (rest.length > 0) {
  const word = rest.shift()
  if (word === "-n" && Number(rest[0]) > 0) options.rounds = Number(rest.shift())
  else if (word === "--pi") options.pi = rest[0] === undefined || rest[0].startsWith("-") || rest[0] === "rpc" ? true : rest.shift()
  else if (word === "--check") options.check = true
  else if (word === "rpc" || word === "many") options.cases.push(word)
  else {
    process.stderr.write("usage: machine [-n ROUNDS] [--pi [PATH]] [--check] [rpc|many]\n")
    process.exit(2)
  }
}

/** How each subject is driven: its arguments, and which record is the end of a turn. */
const drivers = {
  nimlet: { args: (words) => [words[0], "--mode", "rpc", ...words.slice(2, -1)], ended: ({ type }) => type === "run_end" },
  pi: { args: (words) => [words[0], "--mode", "rpc", ...words.slice(1, -2)], ended: ({ type }) => type === "agent_end" }
}

/** One conversation: ms to the first reply, the first turn, the median of the later ones. */
const converse = async (subject, { env, folder, home }) => {
  const { args, ended } = drivers[subject.name]
  const start = clock()
  const child = spawn(process.execPath, args(subject.text("PROMPT")), {
    cwd: join(folder, "work"),
    stdio: ["pipe", "pipe", "inherit"],
    env: { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOME: home, LANG: "C.UTF-8", ...env }
  })
  const over = new Promise((resolve) => child.once("close", resolve))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const until = async (holds) => {
    for (;;) {
      const { done, value } = await lines.next()
      if (done) throw new Error(`${subject.name} ended before it answered`)
      const record = JSON.parse(value)
      if (holds(record)) return record
    }
  }
  const send = (command) => child.stdin.write(`${JSON.stringify(command)}\n`)
  send({ id: "1", type: "get_state" })
  const reply = await until(({ id, type }) => type === "response" && id === "1")
  if (reply.ok === false || reply.success === false) throw new Error(`${subject.name} refused get_state`)
  const ready = clock() - start
  const times = []
  for (let turn = 0; turn < turns; turn++) {
    const begun = clock()
    send({ id: `t${turn}`, type: "prompt", message: "Say done." })
    const end = await until(ended)
    if (end.success === false) throw new Error(`a turn of ${subject.name} failed: ${end.error}`)
    times.push(clock() - begun)
  }
  child.stdin.end()
  await over
  return { ready, first: times[0], turn: median(times.slice(1)) }
}

const show = (rows) => {
  for (const row of rows) console.log(row.map((cell, k) => typeof cell === "number" ? cell.toFixed(2).padStart(10) : String(cell).padEnd(k === 0 ? 34 : 10)).join(" "))
}
const problems = []

const rpc = async (stub, folder) => {
  const subjects = [nimlet({ wire: "anthropic" }), ...(options.pi === undefined ? [] : [pi({ path: options.pi, wire: "anthropic" })])]
  const places = subjects.map((subject) => {
    const home = join(folder, subject.name)
    mkdirSync(home)
    return { subject, found: [], place: { folder, home, env: subject.prepare({ home, url: stub.url, wire: "anthropic" }) } }
  })
  for (let round = 0; round <= options.rounds; round++) {
    for (const { found, place, subject } of places) {
      await stub.setScenario([{ text: "Done.", repeat: turns }])
      const figures = await converse(subject, place)
      if (round > 0) found.push(figures)
    }
  }
  const [ours, theirs] = places.map(({ found }) => found)
  const titles = { ready: "RPC ready, ms", first: "first turn, ms", turn: "later turn, ms" }
  show([["", ...places.map(({ subject }) => subject.name), ...(theirs === undefined ? [] : ["ratio"])]])
  for (const [metric, title] of Object.entries(titles)) {
    const ratio = theirs === undefined ? undefined : median(ours.map((one, k) => one[metric] / theirs[k][metric]))
    show([[title, ...places.map(({ found }) => median(found.map((one) => one[metric]))), ...(ratio === undefined ? [] : [ratio])]])
    if (ratio > (limits[metric] ?? Infinity)) problems.push(`${title}: ${ratio.toFixed(2)} of pi's, at most ${limits[metric]}`)
  }
}

/** Runs that start together; each reads a file and answers. */
const many = async (stub, folder) => {
  const subject = nimlet({ wire: "anthropic" })
  const home = join(folder, "many")
  mkdirSync(home)
  const env = subject.prepare({ home, url: stub.url, wire: "anthropic" })
  await stub.setScenario([{ text: "Done.", repeat: atOnce }])
  const start = clock()
  const runs = await Promise.all(Array.from({ length: atOnce }, (_, k) =>
    run({ args: subject.json("Say done."), cwd: join(folder, "work"), env, home, usage: join(folder, `usage-${k}`), limitMs: 120_000 })))
  const wall = clock() - start
  const failed = runs.filter(({ chunks, code }) => code !== 0 || !Buffer.concat(chunks.map(([, data]) => data)).toString().trimEnd().endsWith(`"success":true}`))
  const rss = Math.max(...runs.map((one) => one.rss))
  show([[`${atOnce} JSON runs at once: all, s`, wall / 1000], ["failed", failed.length], ["largest, MiB", rss]])
  if (failed.length > 0) problems.push(`${failed.length} of ${atOnce} runs failed: ${failed[0].stderr.slice(-500)}`)
  if (rss > limits.rss) problems.push(`${rss.toFixed(0)} MiB, at most ${limits.rss}`)
}

const folder = mkdtempSync(join(tmpdir(), "nimlet-bench-"))
const stub = await startStub()
try {
  mkdirSync(join(folder, "work"))
  const cases = options.cases.length > 0 ? options.cases : ["rpc", "many"]
  if (cases.includes("rpc")) await rpc(stub, folder)
  if (cases.includes("many")) await many(stub, folder)
  for (const problem of problems) process.stderr.write(`bench: ${problem}\n`)
  if (options.check && problems.length > 0) process.exitCode = 1
} catch (error) {
  process.stderr.write(`bench: ${error.message}\n`)
  process.exitCode = 1
} finally {
  stub.stop()
  rmSync(folder, { recursive: true, force: true })
}
