/**
 * When the model, the tools and the hooks of a session were at work, as a picture (SVG). Pure. Time in which nobody worked is
 * left out. However long the session is, the picture stays as small: what is too short to be seen is drawn together.
 */
import { durationText, escapeHtml, grouped } from "./ExportText.ts"

/** A piece of work, in milliseconds of the epoch. `target` is the id of the element that tells of it. */
export interface Span {
  readonly kind: "model" | "tool" | "hook"
  readonly start: number
  readonly end: number
  readonly label: string
  readonly target: string
  readonly failed: boolean
}

/** Where the user spoke. */
export interface Mark {
  readonly at: number
  readonly label: string
  readonly target: string
}

/** The longest pause that is drawn as long as it was, and the width of one that is not, as a part of all work. */
const longestPause = 1000
const pauseShare = 0.012
const [left, right, top, row, bar] = [74, 10, 22, 24, 14]
const width = 1000
const plot = width - left - right
/** Tools that run at the same time stand in rows below each other, at most so many. */
const toolRows = 4
/** The narrowest bar, and how near bars are that are one, in units of the picture. */
const narrowest = 3
const nearest = 0.6

/** A time's place in the picture. */
interface Scale {
  readonly x: (at: number) => number
  readonly pauses: ReadonlyArray<number>
  readonly busy: number
  readonly ticks: ReadonlyArray<{ readonly x: number; readonly label: string }>
}

const steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 36_000].map((seconds) => seconds * 1000)
const tickText = (millis: number): string =>
  millis < 60_000 ? `${millis / 1000} s` : millis < 3_600_000 ? `${Math.round(millis / 6000) / 10} min` : `${grouped(millis / 3_600_000)} h`

/** Time without a long pause in it; `busy` is how long all before it were. */
interface Run {
  readonly start: number
  end: number
  readonly busy: number
}

/** The last of the runs, which are in order, that has begun; the first if none has. */
const lastBegun = (runs: ReadonlyArray<Run>, begun: (run: Run) => boolean): number => {
  let [low, high] = [0, runs.length]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    const run = runs[middle]
    if (run !== undefined && begun(run)) low = middle
    else high = middle
  }
  return low
}

const scaleOf = (spans: ReadonlyArray<Span>): Scale => {
  const runs: Array<Run> = []
  let busy = 0
  for (const { end, start } of spans.toSorted((a, b) => a.start - b.start)) {
    const last = runs.at(-1)
    if (last === undefined || start > last.end + longestPause) {
      busy += last === undefined ? 0 : last.end - last.start
      runs.push({ start, end, busy })
    } else last.end = Math.max(last.end, end)
  }
  const last = runs.at(-1)
  busy = Math.max(busy + (last === undefined ? 0 : last.end - last.start), 1)
  const pause = Math.min(pauseShare, 0.3 / runs.length) * plot
  const perMilli = (plot - pause * (runs.length - 1)) / busy
  const place = (index: number, offset: number) => left + index * pause + offset * perMilli
  const within = (begun: (run: Run) => boolean) => lastBegun(runs, begun)
  const step = steps.find((one) => busy / one <= 8) ?? busy
  return {
    busy,
    x: (at) => {
      const index = within((run) => run.start <= at)
      const run = runs[index]
      return run === undefined ? left : place(index, run.busy + Math.min(Math.max(at - run.start, 0), run.end - run.start))
    },
    pauses: runs.slice(1).map((run, index) => place(index + 1, run.busy) - pause / 2),
    ticks: Array.from({ length: Math.floor(busy / step) + 1 }, (_, at) => at * step).map((at) => ({
      x: place(within((run) => run.busy <= at), at),
      label: tickText(at)
    }))
  }
}

interface Bar {
  readonly kind: Span["kind"]
  readonly x: number
  width: number
  failed: boolean
  label: string
  readonly target: string
  count: number
}

/** Bars of one row, those that could not be told apart as one. */
const barsOf = (spans: ReadonlyArray<Span>, x: Scale["x"]): ReadonlyArray<Bar> => {
  const bars: Array<Bar> = []
  for (const { end, failed, kind, label, start, target } of spans.toSorted((a, b) => a.start - b.start)) {
    const from = x(start)
    const to = Math.max(x(end), from + narrowest)
    const last = bars.at(-1)
    if (last !== undefined && to - last.x <= narrowest * 2 && from <= last.x + last.width + nearest) {
      last.width = Math.max(last.width, to - last.x)
      last.count++
      last.failed ||= failed
    } else bars.push({ kind, x: from, width: to - from, failed, label: `${label}, ${durationText(end - start)}`, target, count: 1 })
  }
  return bars
}

/** Spans in rows, so that what happened at the same time stands apart; the last row takes what is left. */
const stacked = (spans: ReadonlyArray<Span>, most: number): ReadonlyArray<ReadonlyArray<Span>> => {
  const rows: Array<{ end: number; readonly spans: Array<Span> }> = []
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    const free = rows.find(({ end }) => end <= span.start) ?? (rows.length < most ? undefined : rows.at(-1))
    if (free === undefined) rows.push({ end: span.end, spans: [span] })
    else {
      free.end = Math.max(free.end, span.end)
      free.spans.push(span)
    }
  }
  return rows.map(({ spans }) => spans)
}

const fixed = (value: number): string => value.toFixed(2).replace(/\.?0+$/, "")

const barSvg = (y: number) => ({ count, failed, kind, label, target, width, x }: Bar): string =>
  `<a href="#${escapeHtml(target)}"><rect class="${kind}${failed ? " failed" : ""}" x="${fixed(x)}" y="${y}" width="${fixed(width)}" height="${bar}" rx="${
    width > 6 ? 3 : 0}"><title>${escapeHtml(count === 1 ? label : `${label}, and ${count - 1} more`)}</title></rect></a>`

/** Marks of the user that stand too near to one before them have no number. */
const markSvg = (marks: ReadonlyArray<Mark>, x: Scale["x"], bottom: number): string => {
  let last = -Infinity
  return marks.flatMap(({ at, label, target }) => {
    const here = x(at)
    if (here - last < nearest) return []
    const roomy = here - last > 26
    if (roomy) last = here
    return [`<path class="said" d="M${fixed(here)} ${top - 4}V${bottom}"/>${
      roomy ? `<a href="#${escapeHtml(target)}"><text class="said" x="${fixed(here)}" y="${top - 9}">${escapeHtml(label)}</text></a>` : ""}`]
  }).join("")
}

/** The picture of these spans, as SVG; nothing when there are none. */
export const timelineSvg = (spans: ReadonlyArray<Span>, marks: ReadonlyArray<Mark>): string => {
  if (spans.length === 0) return ""
  const { pauses, ticks, x } = scaleOf(spans)
  const of = (kind: Span["kind"]) => spans.filter((span) => span.kind === kind)
  const rows = [
    ...stacked(of("model"), 1).map((spans) => ({ name: "Model", spans })),
    ...stacked(of("tool"), toolRows).map((spans, at) => ({ name: at === 0 ? "Tools" : "", spans })),
    ...stacked(of("hook"), 1).map((spans) => ({ name: "Hooks", spans }))
  ]
  const bottom = top + rows.length * row
  const grid = ticks.map(({ label, x }) =>
    `<path class="grid" d="M${fixed(x)} ${top}V${bottom}"/><text class="tick" x="${fixed(x)}" y="${bottom + 14}">${label}</text>`).join("")
  const gaps = pauses.filter((at, index) => index === 0 || at - (pauses[index - 1] ?? 0) > nearest).map((at) =>
    `<path class="pause" d="M${fixed(at)} ${top}V${bottom}"><title>a pause</title></path>`).join("")
  const bars = rows.map(({ name, spans }, index) => {
    const y = top + index * row + (row - bar) / 2
    return `${name === "" ? "" : `<text class="row" x="${left - 12}" y="${y + bar - 3}">${name}</text>`}${barsOf(spans, x).map(barSvg(y)).join("")}`
  }).join("")
  return `<svg viewBox="0 0 ${width} ${bottom + 22}" role="img" aria-label="When the model, tools and hooks were at work">${grid}${gaps}${
    markSvg(marks, x, bottom)}${bars}</svg>`
}

/** How long anybody was at work, in milliseconds. */
export const busyTime = (spans: ReadonlyArray<Span>): number => spans.length === 0 ? 0 : scaleOf(spans).busy
