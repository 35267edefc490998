/**
 * What nimlet costs, as ratios to a bare Node script that makes the same turn, and to pi if asked. See README.md.
 *
 *     npm run bench -- [--quick] [-n ROUNDS] [--case NAME]… [--wire anthropic|openai-chat] [--pi [PATH]] [--check] [--json]
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { delays, median, run, startStub } from "./measure.mjs"
import { floor, nimlet, pi } from "./subjects.mjs"

const usage = "usage: bench [--quick] [-n ROUNDS] [--case NAME]... [--wire anthropic|openai-chat] [--pi [PATH]] [--bin PATH] [--check] [--json]"

const fileText = (i) => `file ${i}: the quick brown fox jumps over the lazy dog\n`
/** `count` reads one after the other, and an answer. */
const readCase = (count) => ({
  title: `${count} reads`,
  mode: "text",
  steps: [{ tools: [{ name: "read", args: { path: "f{i}.txt" } }], repeat: count }, { text: "Done." }],
  requests: count + 1,
  metrics: ["wall", "cpu", "rss", "turnaround"]
})
const deltas = (count) => ({ count, chunk: "tok{i} " })

/** A case: what the model answers, the mode, how many requests a right run makes, and what to measure. */
const cases = {
  text: { title: "text turn", mode: "text", steps: [{ text: "Done." }], requests: 1, metrics: ["wall", "cpu", "rss"] },
  reads: readCase(20),
  reads100: readCase(100),
  reads200: readCase(200),
  deltas: { title: "20,000 deltas at once", mode: "json", steps: [{ deltas: deltas(20_000), stamp: true }], requests: 1, metrics: ["wall", "cpu", "rss", "longest", "middle"] },
  paced: {
    title: "5,000 deltas, 5 a ms",
    mode: "json",
    steps: [{ deltas: deltas(5_000), stamp: true, burst: 5, pauseMs: 1 }],
    requests: 1,
    metrics: ["cpu", "rss", "longest", "middle"]
  }
}

const units = { wall: "ms", cpu: "ms", rss: "MiB", turnaround: "ms", longest: "ms", middle: "ms" }
const titles = { wall: "wall", cpu: "CPU", rss: "peak memory", turnaround: "one read", longest: "longest delay", middle: "median delay" }

const parse = (argv) => {
  const options = { rounds: 7, cases: [], wire: "anthropic", pi: undefined, bin: undefined, check: false, json: false }
  const rest = [...argv]
  while (rest.length > 0) {
    const flag = rest.shift()
    if (flag === "--quick") options.rounds = 3
    else if (flag === "-n" && Number(rest[0]) > 0) options.rounds = Number(rest.shift())
    else if (flag === "--case" && rest[0] in cases) options.cases.push(rest.shift())
    else if (flag === "--wire" && ["anthropic", "openai-chat"].includes(rest[0])) options.wire = rest.shift()
    else if (flag === "--bin" && rest.length > 0) options.bin = rest.shift()
    else if (flag === "--pi") options.pi = rest[0] === undefined || rest[0].startsWith("-") ? true : rest.shift()
    else if (flag === "--check") options.check = true
    else if (flag === "--json") options.json = true
    else {
      process.stderr.write(`${usage}\n`)
      process.exit(2)
    }
  }
  return options
}

/** The subject's own time for one read: from the end of an answer to the next request, as the model sees it; the median. */
const turnaround = (seen) => median(seen.slice(1).map(({ at }, k) => at - seen[k].endedAt))

/** One run of a subject through a case: its figures, or an error when it was not a right one. */
const once = async (subject, { mode, requests, steps }, { env, folder, home, stub }) => {
  await stub.setScenario(steps)
  const args = subject[mode]("Read the files, then say done.")
  const result = await run({ args, cwd: join(folder, "work"), env, home, usage: join(folder, "usage") })
  const fail = (what) => {
    throw new Error(`${subject.name}: ${what}\n${result.stderr.slice(-2000)}`)
  }
  if (result.code !== 0) fail(`ended with ${result.code}`)
  const seen = await stub.requests()
  const problem = seen.find((request) => request.problem !== undefined)
  if (problem !== undefined) fail(`the stub refused a request: ${problem.problem}`)
  if (seen.length !== requests) fail(`${seen.length} requests instead of ${requests}`)
  if (requests > 1 && !JSON.stringify(seen.at(-1).body.messages.slice(-1)).includes(fileText(requests - 1).trim())) fail("the last tool result does not hold the file")
  const { cpu, rss, wall } = result
  return {
    wall,
    cpu,
    rss,
    ...(mode === "json" ? delays(seen[0].stamps, result.chunks, subject.delta) : {}),
    ...(requests > 1 ? { turnaround: turnaround(seen) } : {})
  }
}

/** Every subject in turn, `rounds` times after a run to warm up: per subject the list of its figures. */
const measure = async (one, subjects, rounds, places) => {
  const figures = Object.fromEntries(subjects.map(({ name }) => [name, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const subject of subjects) {
      const found = await once(subject, one, places[subject.name])
      if (round > 0) figures[subject.name].push(found)
    }
  }
  return figures
}

const middleOf = (figures, metric) => median(figures.map((one) => one[metric]))
const ratioOf = (a, b, metric) => median(a.map((one, round) => one[metric] / b[round][metric]))
const number = (value) => value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)

/** The figures of a case as rows: the metric, each subject's median, the ratios. */
const rowsOf = (name, figures, pairs) =>
  cases[name].metrics.map((metric) => ({
    case: cases[name].title,
    metric: `${titles[metric]}, ${units[metric]}`,
    ...Object.fromEntries(Object.entries(figures).map(([subject, list]) => [subject, middleOf(list, metric)])),
    ...Object.fromEntries(pairs.map(([a, b]) => [`${a}/${b}`, ratioOf(figures[a], figures[b], metric)]))
  }))

const printTable = (rows) => {
  const heads = Object.keys(rows[0])
  const lines = [heads, ...rows.map((row) => heads.map((head) => typeof row[head] === "number" ? number(row[head]) : row[head]))]
  const widths = heads.map((_, k) => Math.max(...lines.map((line) => line[k].length)))
  for (const line of lines) console.log(line.map((cell, k) => k < 2 ? cell.padEnd(widths[k]) : cell.padStart(widths[k])).join("  ").trimEnd())
}

const options = parse(process.argv.slice(2))
const subjects = [floor(), nimlet(options), options.pi === undefined ? undefined : pi({ path: options.pi, wire: options.wire })].filter((one) => one !== undefined)
if (!subjects.some(({ name }) => name === "nimlet")) process.stderr.write("bench: nimlet is not built, so it is left out\n")
const names = subjects.map(({ name }) => name)
const pairs = [["nimlet", "floor"], ["pi", "floor"], ["nimlet", "pi"]].filter((pair) => pair.every((name) => names.includes(name)))

const folder = mkdtempSync(join(tmpdir(), "nimlet-bench-"))
const stub = await startStub()
try {
  mkdirSync(join(folder, "work"))
  for (let i = 1; i <= 200; i++) writeFileSync(join(folder, "work", `f${i}.txt`), fileText(i))
  const places = Object.fromEntries(subjects.map((subject) => {
    const home = join(folder, subject.name)
    mkdirSync(home)
    return [subject.name, { folder, home, stub, env: subject.prepare({ home, url: stub.url, wire: options.wire }) }]
  }))
  const figures = {}
  for (const name of options.cases.length > 0 ? options.cases : Object.keys(cases)) {
    process.stderr.write(`bench: ${cases[name].title}\n`)
    figures[name] = await measure(cases[name], subjects, options.rounds, places)
  }
  const rows = Object.entries(figures).flatMap(([name, list]) => rowsOf(name, list, pairs))
  if (options.json) console.log(JSON.stringify({ node: process.version, rounds: options.rounds, wire: options.wire, rows, figures }))
  else printTable(rows)
  const slower = rows.filter((row) => row["nimlet/pi"] > 1)
  if (options.check && slower.length > 0) {
    for (const row of slower) process.stderr.write(`bench: slower than pi: ${row.case}, ${row.metric}: ${number(row["nimlet/pi"])}\n`)
    process.exitCode = 1
  }
} catch (error) {
  process.stderr.write(`bench: ${error.message}\n`)
  process.exitCode = 1
} finally {
  stub.stop()
  rmSync(folder, { recursive: true, force: true })
}
