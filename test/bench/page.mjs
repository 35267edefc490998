/** The page about speed: a table of the rows and charts of them, as SVG that any browser or forge shows. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { cpus } from "node:os"
import { join } from "node:path"
import { markdown, titleOf } from "./report.mjs"

const colours = { floor: "#8c959f", nimlet: "#0969da", pi: "#d4a72c" }
const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
const bar = 16
const gap = 14
/** Where bars begin, beside the longest title, and how long the longest of them is. */
const left = 290
const longest = 300

/** Bars of one figure over several cases, one a subject. Pure. */
export const chart = (title, rows) => {
  const most = Math.max(...rows.flatMap(({ values }) => Object.values(values)))
  let y = 34
  const pieces = rows.flatMap((row) => {
    const lines = [`<text x="0" y="${y + 12}" class="case">${escape(row.title)}</text>`]
    for (const [name, value] of Object.entries(row.values)) {
      const width = Math.max(1, value / most * longest)
      lines.push(`<rect x="${left}" y="${y}" width="${width.toFixed(1)}" height="${bar - 3}" fill="${colours[name] ?? "#57606a"}"/>`)
      lines.push(`<text x="${(left + 6 + width).toFixed(1)}" y="${y + 11}">${name} ${value < 10 ? value.toFixed(1) : value.toFixed(0)} ${escape(row.unit)}</text>`)
      y += bar
    }
    y += gap
    return lines
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 ${y}" width="720" height="${y}" role="img" aria-label="${escape(title)}">`,
    "<style>text{font:12px system-ui,sans-serif;fill:#57606a}.title{font-size:14px;font-weight:600}.case{font-weight:500}</style>",
    `<text x="0" y="16" class="title">${escape(title)}</text>`,
    ...pieces,
    "</svg>"
  ].join("\n")
}

const charts = {
  "wall": ["Time of a run", ["text", "json", "reads20", "hooks-nimlet-10", "hooks-atomic-10", "deltas", "resume"], "wall"],
  "memory": ["Peak memory of the largest process", ["text", "reads200", "hooks-atomic-10", "deltas", "rpc", "memory", "resume"], "rss"],
  "turns": ["A later turn in RPC mode", ["rpc", "memory"], "turn"]
}

const marks = ["<!-- bench -->", "<!-- /bench -->"]

/** Writes the charts into `folder`, and the table into its `performance.md`, between the two marks. */
export const writePage = (folder, rows, words) => {
  mkdirSync(join(folder, "charts"), { recursive: true })
  const drawn = Object.entries(charts).flatMap(([name, [title, cases, figure]]) => {
    const found = rows.filter((row) => cases.includes(row.case) && row.figure === figure)
    if (found.length === 0) return []
    writeFileSync(join(folder, "charts", `${name}.svg`), `${chart(title, found)}\n`)
    return [`![${title}](charts/${name}.svg)`]
  })
  const file = join(folder, "performance.md")
  const [before, rest] = readFileSync(file, "utf8").split(marks[0])
  const after = rest.split(marks[1])[1]
  const { length, 0: cpu } = cpus()
  const about = `\`npm run bench -- ${words.filter((word, k) => word !== "--page" && words[k - 1] !== "--page").map((word) => word.replace(/=.*/, "")).join(" ")}\`, Node ${process.versions.node}, ${length} × ${cpu?.model.trim() ?? "?"}.`
  writeFileSync(file, [before, marks[0], `\n${about}\n\n`, ...drawn.map((line) => `${line}\n\n`), markdown(rows), "\n", marks[1], after].join(""))
  process.stderr.write(`bench: wrote ${file} with ${rows.length} rows, of ${titleOf(rows[0])} and more\n`)
}
