/** Figures of all rounds as rows: medians, ratios within a round, limits; as a table, and against an earlier run. */
import { median } from "./measure.mjs"

const titles = {
  wall: "wall", cpu: "CPU", rss: "peak memory", read: "one read", call: "cost of a call", longest: "longest delay", middle: "median delay", ready: "ready", first: "first turn or request",
  turn: "later turn", now: "memory at the end", grown: "memory grown", ratio: "time", hostMillis: "host", stopMillis: "stop", addedMillis: "added", heldMillis: "longest call, more than beside", grownMiB: "memory grown",
  perSecond: "", javascript: "a JavaScript module ready", typescript: "a TypeScript module ready", ten: "ten ready", megabytes: "memory", perCall: "ten with two hooks, a call", sdk: "a module of the SDK with Effect ready", sdkMegabytes: "memory of each of ten of the SDK", ms: "time", frame: "first frame",
  echo: "key to echo", echo95: "key to echo, 95th percentile", loudEcho: "echo while it streams", loudEcho95: "the same, 95th percentile", idle: "while nothing happens", streaming: "while 500 deltas a second stream", memory: "memory", activeWall: "all run at once", besideSpinner95: "echo beside a module that never rests, 95th percentile",
  loudSpinner95: "the same while it streams", heapGrown: "heap grown", killed: "killed in the middle", problems: "what went wrong"
}
const number = (value) => value === undefined || Number.isNaN(value) ? "" : Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2)

/** How far the middle half of the ratios lies apart, as a share of their median. */
const spreadOf = (values) => {
  const sorted = values.toSorted((a, b) => a - b)
  return (sorted[Math.floor(sorted.length * 0.75)] - sorted[Math.floor(sorted.length * 0.25)]) / Math.abs(median(values)) || 0
}

/** The rows of a case: per figure each subject's median, nimlet's ratio to each other, and which limit was missed. */
export const rowsOf = (one, found) =>
  Object.entries(one.units).map(([figure, unit]) => {
    const values = Object.fromEntries(Object.entries(found).map(([subject, rounds]) => [subject, median(rounds.map((round) => round[figure]))]))
    const ours = found.nimlet ?? []
    const ratios = {}
    const spreads = {}
    for (const other of Object.keys(found).filter((name) => name !== "nimlet" && ours.length > 0)) {
      const list = ours.map((round, k) => round[figure] / found[other][k][figure])
      if (!list.every(Number.isFinite)) continue
      ratios[other] = median(list)
      spreads[other] = spreadOf(list)
    }
    const missed = Object.entries(one.limits ?? {}).flatMap(([kind, limits]) => {
      const limit = limits[figure]
      const value = kind === "most" || kind === "least" ? values.nimlet : ratios[kind]
      if (limit === undefined || value === undefined) return []
      return [{ said: kind === "most" ? `≤ ${limit}` : kind === "least" ? `≥ ${limit}` : `≤ ${limit} of ${kind}`, missed: kind === "least" ? value < limit : value > limit }]
    })
    return { case: one.name, title: one.title, figure, unit, values, ratios, spreads, limit: missed.map(({ said }) => said).join(", "), missed: missed.some((limit) => limit.missed) }
  })

/** What a figure of a case is called. */
export const titleOf = ({ figure, unit }) => [titles[figure] ?? figure, unit].filter((part) => part !== "").join(", ")

const cellsOf = (rows) => {
  const subjects = [...new Set(rows.flatMap(({ values }) => Object.keys(values)))]
  const others = subjects.filter((name) => name !== "nimlet")
  const limits = rows.some(({ limit }) => limit !== "")
  const head = ["", "", ...subjects, ...others.map((name) => `to ${name}`), ...(limits ? ["limit", ""] : [])]
  let last
  return [head, ...rows.map((row) => {
    const first = row.title === last ? "" : row.title
    last = row.title
    return [
      first, titleOf(row), ...subjects.map((name) => number(row.values[name])), ...others.map((name) => number(row.ratios[name])),
      ...(limits ? [row.limit, row.missed ? "missed" : ""] : [])
    ]
  })]
}

/** A table for people. */
export const table = (rows) => {
  const lines = cellsOf(rows)
  const widths = lines[0].map((_, k) => Math.max(...lines.map((line) => line[k].length)))
  const left = (k) => k < 2 || lines[0][k] === "limit" || k > 2 && lines[0][k] === ""
  return lines.map((line) => line.map((cell, k) => left(k) ? cell.padEnd(widths[k]) : cell.padStart(widths[k])).join("  ").trimEnd()).join("\n")
}

/** The same for a page. */
export const markdown = (rows) => {
  const [head, ...lines] = cellsOf(rows)
  return [head, head.map((_, k) => k < 2 ? "---" : "---:"), ...lines].map((line) => `| ${line.join(" | ")} |`).join("\n")
}

/** By how much a figure may differ without meaning anything: of a ratio, and of an absolute figure, which tells of the machine too. */
const noise = { ratio: 0.1, absolute: 0.5 }
/** Figures of which more is better. */
const gains = new Set(["perSecond"])

/** What is kept of a run to compare later ones with. */
export const baselineOf = (rows) => ({
  node: process.version,
  rows: rows.map(({ case: name, figure, ratios, spreads, values }) => ({ case: name, figure, nimlet: values.nimlet, ratios, spreads }))
})

/** What got slower or larger since the baseline, a line each. Ratios are compared where both runs have them, figures elsewhere. */
export const slower = (rows, baseline) => {
  const before = new Map(baseline.rows.map((row) => [`${row.case} ${row.figure}`, row]))
  return rows.flatMap((row) => {
    const then = before.get(`${row.case} ${row.figure}`)
    if (then === undefined || row.values.nimlet === undefined || row.figure === "grown") return []
    const other = ["floor", "pi"].find((name) => row.ratios[name] !== undefined && then.ratios[name] !== undefined)
    const [now, old] = other === undefined ? [row.values.nimlet, then.nimlet] : [row.ratios[other], then.ratios[other]]
    const allowed = other === undefined ? noise.absolute : Math.max(noise.ratio, row.spreads[other], then.spreads[other])
    const more = gains.has(row.figure) ? old / now - 1 : now / old - 1
    return more > allowed
      ? [`${row.title}: ${titleOf(row)}: ${number(old)} → ${number(now)}${other === undefined ? "" : ` of ${other}`} (+${(more * 100).toFixed(0)} %)`]
      : []
  })
}
