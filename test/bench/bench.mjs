/**
 * What nimlet costs, beside a bare Node script that makes the same turn and, if asked, beside pi. See README.md.
 *
 *     npm run bench -- [CASE]… [--quick] [-n ROUNDS] [--peer pi[=PATH]] [--wire anthropic|openai-chat] [--bin PATH] [--json]
 *                      [--check] [--profile CASE] [--save [FILE]] [--compare [FILE]] [--page FOLDER] [--list]
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { conversations } from "./cases/conversations.mjs"
import { deltas } from "./cases/deltas.mjs"
import { hosts } from "./cases/hosts.mjs"
import { fileText, turns } from "./cases/turns.mjs"
import { startStub } from "./measure.mjs"
import { writePage } from "./page.mjs"
import { profile } from "./profile.mjs"
import { baselineOf, rowsOf, slower, table } from "./report.mjs"
import { floor, nimlet, pi } from "./subjects.mjs"

const usage = `usage: npm run bench -- [CASE]... [--quick] [-n ROUNDS] [--peer pi[=PATH]] [--wire anthropic|openai-chat] [--bin PATH]
                         [--json] [--check] [--profile CASE] [--save [FILE]] [--compare [FILE]] [--page FOLDER] [--list]
CASE is a case's name, or the beginning of several`

const baselineFile = join(import.meta.dirname, "baseline.json")
const all = [...turns, ...deltas, ...conversations, ...hosts]
const named = (word) => all.filter(({ name }) => name === word || name.startsWith(`${word}-`))

const refuse = (problem) => {
  process.stderr.write(`bench: ${problem}\n${usage}\n`)
  process.exit(2)
}

const parse = (argv) => {
  const options = { rounds: undefined, cases: [], wire: "anthropic" }
  const rest = [...argv]
  const value = (otherwise) => rest.length > 0 && !rest[0].startsWith("-") ? rest.shift() : otherwise ?? refuse("a value is missing")
  while (rest.length > 0) {
    const word = rest.shift()
    if (word === "--quick") options.rounds ??= 3
    else if (word === "-n") options.rounds = Number(value()) || refuse("-n takes a number")
    else if (word === "--peer") {
      const [peer, path] = value().split("=")
      if (peer !== "pi") refuse(`there is no peer ${peer}`)
      options.peer = { path }
    } else if (word === "--wire") options.wire = value()
    else if (word === "--bin") options.bin = value()
    else if (word === "--json" || word === "--check" || word === "--list") options[word.slice(2)] = true
    else if (word === "--profile" || word === "--page") options[word.slice(2)] = value()
    else if (word === "--save" || word === "--compare") options[word.slice(2)] = value(baselineFile)
    else if (named(word).length > 0) options.cases.push(...named(word))
    else refuse(`there is no case ${word}`)
  }
  if (options.cases.length === 0) options.cases = all
  return options
}

/** Where a subject runs a case: a home of its own with its model, its extensions and, where the case wants one, a session. */
const settle = (one, subject, { folder, url, wire }) => {
  const home = join(folder, one.name, subject.name)
  mkdirSync(home, { recursive: true })
  const wanted = [one.extensions?.[subject.name] ?? []].flat()
  let env
  for (const extensions of wanted.length > 0 ? wanted : [undefined]) env = subject.prepare({ home, url, wire, compaction: one.compaction, ...(extensions === undefined ? {} : { extensions }) })
  const session = one.session === undefined ? undefined : subject.writeSession(home, join(folder, "work"), one.session)
  return { place: { env, home }, session }
}

/** Every subject in turn, `rounds` times after a run to warm up: per subject the list of its figures. */
const measure = async (one, subjects, rounds, world) => {
  const taking = subjects.filter(({ name }) => one.subjects.includes(name))
  const figures = Object.fromEntries(taking.map(({ name }) => [name, []]))
  const places = new Map(taking.map((subject) => [subject, settle(one, subject, world)]))
  for (let round = one.warm === false ? 1 : 0; round <= Math.min(rounds, one.rounds ?? Infinity); round++) {
    for (const subject of taking) {
      try {
        const found = await one.run({ ...places.get(subject), folder: world.folder, stub: world.stub, subject })
        if (round > 0) figures[subject.name].push(found)
      } catch (error) {
        throw new Error(`${one.name}: ${subject.name}: ${error.message}`, { cause: error })
      }
    }
  }
  return figures
}

const options = parse(process.argv.slice(2))
if (options.list) {
  const width = Math.max(...all.map(({ name }) => name.length))
  for (const { name, title } of all) console.log(`${name.padEnd(width)}  ${title}`)
  process.exit()
}

const folder = mkdtempSync(join(tmpdir(), "nimlet-bench-"))
const stub = await startStub()
try {
  mkdirSync(join(folder, "work"))
  for (let i = 1; i <= 200; i++) writeFileSync(join(folder, "work", `f${i}.txt`), fileText(i))
  const world = { folder, stub, url: stub.url, wire: options.wire }
  if (options.profile !== undefined) {
    const [one] = named(options.profile)
    if (one === undefined || one.warm === false) refuse(`there is no profile of ${options.profile}`)
    await profile(one, options, (subject) => measure({ ...one, rounds: 1 }, [subject], 1, world))
  } else {
    const subjects = [floor(), nimlet(options), ...(options.peer === undefined ? [] : [pi({ ...options.peer, wire: options.wire })])]
    const figures = {}
    for (const one of options.cases) {
      process.stderr.write(`bench: ${one.name}\n`)
      figures[one.name] = await measure(one, subjects, options.rounds ?? 7, world)
    }
    const rows = options.cases.flatMap((one) => rowsOf(one, figures[one.name]))
    console.log(options.json ? JSON.stringify({ ...baselineOf(rows), limits: rows.map(({ limit, missed }) => ({ limit, missed })), figures }) : table(rows))
    if (options.save !== undefined) writeFileSync(options.save, `${JSON.stringify(baselineOf(rows), null, 1)}\n`)
    if (options.page !== undefined) writePage(options.page, rows, process.argv.slice(2))
    const missed = rows.filter((row) => row.missed)
    for (const row of missed) process.stderr.write(`bench: over its limit: ${row.title}: ${row.figure}: ${row.limit}\n`)
    const worse = options.compare === undefined ? [] : !existsSync(options.compare) ? refuse(`there is no ${options.compare}; --save makes one`) : slower(rows, JSON.parse(readFileSync(options.compare, "utf8")))
    for (const line of worse) process.stderr.write(`bench: worse than before: ${line}\n`)
    if (options.compare !== undefined && worse.length === 0) process.stderr.write("bench: nothing is worse than before\n")
    if (options.check && missed.length + worse.length > 0) process.exitCode = 1
  }
} catch (error) {
  process.stderr.write(`bench: ${error.message}\n`)
  process.exitCode = 1
} finally {
  stub.stop()
  rmSync(folder, { recursive: true, force: true })
}
