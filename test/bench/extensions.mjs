/**
 * What extensions cost, as ratios to bare pipes taken in one run. See README.md.
 *
 *     npm run bench -- extensions [--quick] [--case NAME]… [--check] [--json]
 */
import { execFileSync } from "node:child_process"
import { join } from "node:path"

const usage = "usage: bench extensions [--quick] [--case NAME]... [--check] [--json]"

const ms = (value) => `${value.toFixed(value < 10 ? 2 : 0)} ms`
const times = (value) => `${value.toFixed(2)} times`
const row = (what, figure, limit, holds) => ({ what, figure, limit, holds })

/** What is told of a case, and the limit it has to keep. */
const cases = {
  start: ({ ratio, stopMillis }) => [
    row("10 that register after 1 s: start, to the slowest on bare pipes", times(ratio), "< 1.30", ratio < 1.3),
    row("their stop", ms(stopMillis), "< 4500 ms", stopMillis < 4_500)
  ],
  fifty: ({ hostMillis, ratio, stopMillis }) => [
    row("50 at once: start, to as many on bare pipes", times(ratio), "< 1.30", ratio < 1.3),
    row("their start and stop", `${ms(hostMillis)}, ${ms(stopMillis)}`, "stop < 4500 ms", stopMillis < 4_500)
  ],
  trip: ({ addedMillis, bareMillis, ratio }) => [
    row("one hook through one program, to a bare pipe", times(ratio), "<= 2", ratio <= 2),
    row("a tool call's two hooks: bare, and what we add", `${ms(bareMillis)}, ${ms(addedMillis)}`, "", true)
  ],
  ten: ({ addedMillis, bareMillis, ratio }) => [
    row("a tool call's hooks through 10 programs, to bare pipes", times(ratio), "<= 2.25", ratio <= 2.25),
    row("a tool call's hooks through 10: bare, and what we add", `${ms(bareMillis)}, ${ms(addedMillis)}`, "", true)
  ],
  updates: ({ asideMillis, grownMiB, longestMillis, shown, tookMillis }) => [
    row("200,000 updates: another's longest call, and as many into the void", `${ms(longestMillis)}, ${ms(asideMillis)}`, "+ < 50 ms", longestMillis - asideMillis < 50),
    row("memory meanwhile", `+${grownMiB.toFixed(0)} MiB`, "< 64 MiB", grownMiB < 64),
    row("values that reached the frontend, of 400,000, and the time of it all", `${shown}, ${ms(tookMillis)}`, "", true)
  ],
  line: ({ asideMillis, grownMiB, longestMillis }) => [
    row("a line of 200 MiB: another's longest call, and as much into the void", `${ms(longestMillis)}, ${ms(asideMillis)}`, "+ < 50 ms", longestMillis - asideMillis < 50),
    row("memory meanwhile", `+${grownMiB.toFixed(0)} MiB`, "< 64 MiB", grownMiB < 64)
  ],
  floods: ({ all }) =>
    all.flatMap(({ asideMillis, grownMiB, kind, longestMillis }) => [
      row(`200,000 lines, ${kind}: another's longest call, and as many into the void`, `${ms(longestMillis)}, ${ms(asideMillis)}`, "+ < 50 ms", longestMillis - asideMillis < 50),
      row("memory meanwhile", `+${grownMiB.toFixed(0)} MiB`, "< 64 MiB", grownMiB < 64)
    ]),
  asks: ({ perSecond }) => [row("asks of an actor in memory", `${Math.round(perSecond)} a second`, ">= 30000", perSecond >= 30_000)]
}

const options = { quick: false, cases: [], check: false, json: false }
const rest = process.argv.slice(2)
while (rest.length > 0) {
  const flag = rest.shift()
  if (flag === "--quick" || flag === "--check" || flag === "--json") options[flag.slice(2)] = true
  else if (flag === "--case" && rest[0] in cases) options.cases.push(rest.shift())
  else {
    process.stderr.write(`${usage}\n`)
    process.exit(2)
  }
}

const figures = {}
for (const name of options.cases.length > 0 ? options.cases : Object.keys(cases)) {
  process.stderr.write(`bench: extensions, ${name}\n`)
  const args = ["--expose-gc", join(import.meta.dirname, "extension-cases.mjs"), name, ...(options.quick ? ["--quick"] : [])]
  figures[name] = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }))
}
const rows = Object.entries(figures).flatMap(([name, found]) => cases[name](found))
if (options.json) console.log(JSON.stringify({ node: process.version, figures, rows }))
else {
  const width = (key) => Math.max(...rows.map((one) => one[key].length))
  for (const { figure, holds, limit, what } of rows) {
    console.log(`${what.padEnd(width("what"))}  ${figure.padStart(width("figure"))}  ${limit.padEnd(width("limit"))}${holds ? "" : "  missed"}`.trimEnd())
  }
}
if (options.check && rows.some(({ holds }) => !holds)) process.exitCode = 1
