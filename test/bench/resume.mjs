/**
 * What going on with a long session costs the whole program: from its start to the first request that reaches the model, and
 * to its end, beside pi if asked. See README.md.
 *
 *     node test/bench/resume.mjs [-n ROUNDS] [--pi [PATH]] [--check] [CASE]…
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { project, projectHeader } from "../../packages/session/src/index.ts"
import { clock, median, run, startStub } from "./measure.mjs"
import { entryOf, headerOf, linesOf, writeLines } from "./session-file.mjs"
import { nimlet, pi } from "./subjects.mjs"

/** No answer may make room: what is measured is the whole history. */
const window = 400_000_000

const cases = {
  "20,000 entries": { shape: { entries: 20_000, bytes: 850 }, beside: true, limits: { rss: 150, ratio: 0.5 } },
  "50,000 entries, 200 MB": { shape: { entries: 50_000, bytes: 13_700, longLine: 20_000_000 }, beside: false, limits: { request: 3000, rss: 600 } }
}

const options = { rounds: 5, pi: undefined, check: false, cases: [] }
const rest = process.argv.slice(2)
while (rest.length > 0) {
  const word = rest.shift()
  if (word === "-n" && Number(rest[0]) > 0) options.rounds = Number(rest.shift())
  else if (word === "--pi") options.pi = rest[0] === undefined || rest[0].startsWith("-") || rest[0] in cases ? true : rest.shift()
  else if (word === "--check") options.check = true
  else if (word in cases) options.cases.push(word)
  else {
    process.stderr.write(`usage: resume [-n ROUNDS] [--pi [PATH]] [--check] [${Object.keys(cases).join("|")}]\n`)
    process.exit(2)
  }
}

/** How each subject's session of a shape is written, and how it is told to go on with it. */
const resuming = {
  nimlet: {
    write: ({ home, shape, work }) => {
      mkdirSync(join(home, ".nimlet/sessions"), { recursive: true })
      writeFileSync(join(home, ".nimlet/config.json"), JSON.stringify({ agent: { context_window: window } }))
      const file = join(home, ".nimlet/sessions/1.jsonl")
      writeLines(file, linesOf("1", { ...shape, workspace: work }))
      return { file, flags: ["--session", "1"] }
    }
  },
  pi: {
    write: ({ home, shape, work }) => {
      const models = join(home, ".pi/agent/models.json")
      writeFileSync(models, readFileSync(models, "utf8").replace(/"contextWindow": \d+/, `"contextWindow": ${window}`))
      const id = "00000000-0000-4000-8000-000000000001"
      const entries = Array.from({ length: shape.entries }, (_, n) => entryOf(n, shape))
      const file = join(home, "session.jsonl")
      writeLines(file, [projectHeader(headerOf(id, work), { id, workspace: work }), ...project(entries)])
      return { file, flags: ["--session", file] }
    }
  }
}

const folder = mkdtempSync(join(tmpdir(), "nimlet-bench-"))
const stub = await startStub()
const problems = []

const once = async ({ env, file, flags, home, saved, subject, work }) => {
  writeFileSync(file, saved)
  await stub.setScenario([{ text: "Done." }])
  const [bin, ...args] = subject.text("Go on.")
  const start = clock()
  const result = await run({ args: [bin, ...flags, ...args], cwd: work, env, home, usage: join(folder, "usage") })
  const seen = await stub.requests()
  const fail = (what) => {
    throw new Error(`${subject.name}: ${what}\n${result.stderr.slice(-2000)}`)
  }
  if (result.code !== 0) fail(`ended with ${result.code}`)
  if (seen.length !== 1 || seen[0].problem !== undefined) fail(`the stub saw ${seen.length} requests, problem: ${seen[0]?.problem}`)
  return { request: seen[0].at - start, wall: result.wall, cpu: result.cpu, rss: result.rss, messages: seen[0].body.messages.length }
}

const measure = async (name) => {
  const { beside, limits, shape } = cases[name]
  const subjects = [nimlet({ wire: "anthropic" }), ...(beside && options.pi !== undefined ? [pi({ path: options.pi, wire: "anthropic" })] : [])]
  const places = subjects.map((subject) => {
    const home = join(folder, `${subject.name}-home`)
    const work = join(folder, `${subject.name}-work`)
    for (const one of [home, work]) {
      rmSync(one, { recursive: true, force: true })
      mkdirSync(one)
    }
    const env = subject.prepare({ home, url: stub.url, wire: "anthropic" })
    const written = resuming[subject.name].write({ home, shape, work })
    return { subject, home, work, env, ...written, saved: readFileSync(written.file), found: [] }
  })
  for (let round = 0; round <= options.rounds; round++) {
    for (const place of places) {
      const figures = await once(place)
      if (round > 0) place.found.push(figures)
    }
  }
  const [ours, theirs] = places.map(({ found }) => found)
  const units = { request: "first request, ms", wall: "wall, ms", cpu: "CPU, ms", rss: "peak memory, MiB", messages: "messages in it" }
  console.log(`\n${name}, ${(statSync(places[0].file).size / 1e6).toFixed(0)} MB`)
  for (const [key, title] of Object.entries(units)) {
    const ratio = theirs === undefined ? undefined : median(ours.map((one, k) => one[key] / theirs[k][key]))
    const cells = places.map(({ found, subject }) => `${subject.name} ${Math.round(median(found.map((one) => one[key])))}`.padStart(16))
    console.log(`${title.padEnd(20)}${cells.join("")}${ratio === undefined ? "" : `  ratio ${ratio.toFixed(2)}`}`)
    if (key === "request" && ratio > limits.ratio) problems.push(`${name}: ${ratio.toFixed(2)} of pi's time to the first request, at most ${limits.ratio}`)
    const figure = median(ours.map((one) => one[key]))
    if (figure > (limits[key] ?? Infinity)) problems.push(`${name}: ${title} ${Math.round(figure)}, at most ${limits[key]}`)
  }
}

try {
  for (const name of options.cases.length > 0 ? options.cases : Object.keys(cases)) await measure(name)
  for (const problem of problems) process.stderr.write(`bench: ${problem}\n`)
  if (options.check && problems.length > 0) process.exitCode = 1
} catch (error) {
  process.stderr.write(`bench: ${error.message}\n`)
  process.exitCode = 1
} finally {
  stub.stop()
  rmSync(folder, { recursive: true, force: true })
}
