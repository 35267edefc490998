/**
 * A session as one HTML page that needs nothing else: no file, no network, no script to be read. Pure, and made piece by piece
 * in the order of the entries, so that a long session is never held as a whole. Only a step waits for its results.
 */
import type { AssistantEntry, SessionEntry, ToolResultEntry } from "@nimlet/protocol"
import { callsOf, type Entries } from "./Calls.ts"
import { article, callHtml, fold, jsonHtml, type Limits, partHtml, stepHtml, timeHtml } from "./ExportEntry.ts"
import { pageScript, scriptHash } from "./ExportScript.ts"
import { pageStyle, styleHash } from "./ExportStyle.ts"
import { durationText, escapeHtml, grouped, tokensText } from "./ExportText.ts"
import { busyTime, type Mark, type Span, timelineSvg } from "./ExportTimeline.ts"
import { isKnownEntry, type UnknownEntry } from "./SessionLines.ts"

/** What stands above a page. */
export interface PageAbout {
  readonly id: string
  /** Its title, or the first words of the user. */
  readonly title: string
  readonly workspace: string
  /** When it was started, ISO. */
  readonly at?: string
  /** The session it was forked from. */
  readonly parent?: string
}

/** A page while it is made: `begin`, then a piece for each entry (it may be empty), then `end`. */
export interface Page {
  readonly begin: string
  readonly entry: (entry: SessionEntry | UnknownEntry) => string
  readonly end: (damaged: number) => string
}

const usual: Limits = { prose: 200_000, output: 60_000, input: 20_000, diff: 2000, image: 2_000_000 }
/** What is left when the page has become so long that a browser would suffer. */
const meagre: Limits = { prose: 20_000, output: 2000, input: 500, diff: 50, image: 0 }
const longPage = 24_000_000

const policy = `default-src 'none'; script-src '${scriptHash}'; style-src '${styleHash}'; img-src data:; base-uri 'none'; form-action 'none'`

const beginOf = ({ at, id, parent, title, workspace }: PageAbout): string =>
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="nimlet session export">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title === "" ? `Session ${id}` : title)}</title>
<style>${pageStyle}</style>
</head>
<body>
<header class="bar"><div><b>${escapeHtml(title === "" ? "Session" : title)}</b><span class="tools" hidden><input type="search" placeholder="Search ( / )" aria-label="Search"><output></output><button type="button" class="all">Open all</button><button type="button" class="theme">Theme</button></span></div></header>
<main>
<section class="about"><h1>${escapeHtml(title === "" ? "Session" : title)}</h1>
<p>${
    [escapeHtml(workspace), timeHtml(at), `session ${escapeHtml(id)}`, ...(parent === undefined ? [] : [`forked from ${escapeHtml(parent)}`])]
      .filter((text) => text !== "").map((text) => `<span>${text}</span>`).join("")
  }</p></section>
<section class="talk">
`

const figure = (value: string, name: string): string => `<div><b>${value}</b><span>${name}</span></div>`

/** The time of an entry, in milliseconds. */
const timeOf = (entry: { readonly at?: string }): number | undefined => {
  const time = entry.at === undefined ? NaN : Date.parse(entry.at)
  return Number.isNaN(time) ? undefined : time
}

/** An answer whose calls are still to be answered, and what came meanwhile. */
interface OpenStep {
  readonly entry: AssistantEntry
  readonly id: string
  readonly results: Map<string, ToolResultEntry>
  readonly open: Set<string>
  readonly between: Array<string>
}

/** Begins a page. */
export const makePage = (about: PageAbout): Page => {
  const spans: Array<Span> = []
  const marks: Array<Mark> = []
  const sums = { messages: 0, steps: 0, calls: 0, failed: 0, input: 0, output: 0, cached: 0 }
  let number = 0
  let written = 0
  let before: number | undefined
  let step: OpenStep | undefined
  const limits = () => written > longPage ? meagre : usual

  /** Results of one group are saved together when the last is there; those that cannot have begun after the one before ran beside it. */
  const drawCalls = ({ entry, id, results }: OpenStep, answered: number) => {
    let end = answered
    let start = answered
    for (const part of callsOf(entry)) {
      const result = results.get(part.id)
      const at = result === undefined ? undefined : timeOf(result)
      if (result === undefined || at === undefined) continue
      const took = result.duration_ms ?? Math.max(at - end, 0)
      if (result.duration_ms === undefined || at - took >= end) start = Math.max(at - took, answered)
      end = Math.max(end, at)
      spans.push({ kind: "tool", start, end: start + took, label: part.name, target: id, failed: result.is_error })
      const hooks = result.hooks_ms ?? 0
      if (hooks > 0) spans.push({ kind: "hook", start, end: start + hooks, label: `Hooks of ${part.name}`, target: id, failed: false })
    }
  }

  const closeStep = (): string => {
    if (step === undefined) return ""
    const { between, entry, id, results } = step
    const calls = callsOf(entry).map((part) => ({ part, result: results.get(part.id) }))
    const answered = timeOf(entry)
    if (answered !== undefined) drawCalls(step, answered)
    const html = `${stepHtml(entry, calls, id, sums.steps, limits())}${between.join("")}`
    step = undefined
    return html
  }

  const openStep = (entry: AssistantEntry, id: string) => {
    const calls = callsOf(entry)
    sums.steps++
    sums.calls += calls.length
    sums.input += entry.usage?.input_tokens ?? 0
    sums.output += entry.usage?.output_tokens ?? 0
    sums.cached += entry.usage?.cache_read_tokens ?? 0
    const at = timeOf(entry)
    if (at !== undefined) {
      const start = entry.duration_ms === undefined ? Math.min(before ?? at, at) : at - entry.duration_ms
      spans.push({ kind: "model", start, end: at, label: `Step ${sums.steps}, ${entry.model ?? "model"}`, target: id, failed: entry.cut === true })
    }
    step = { entry, id, results: new Map(), open: new Set(calls.map((call) => call.id)), between: [] }
  }

  const resultHtml = (entry: ToolResultEntry, id: string): string =>
    article("row", id, "A result without its call", callHtml({
      part: { type: "tool_use", id: entry.id, name: entry.tool ?? "tool", input: {} },
      result: entry
    }, limits()))

  const userHtml = (entry: Extract<SessionEntry, { type: "user" }>, id: string): string => {
    sums.messages++
    const at = timeOf(entry)
    if (at !== undefined) marks.push({ at, label: `#${sums.messages}`, target: id })
    return article("user", id, `<b>You</b> <a href="#${id}">#${sums.messages}</a><span class="figures">${timeHtml(entry.at)}</span>`,
      entry.content.map((part) => partHtml(part, limits())).join(""))
  }

  /** An entry that is neither said nor done: a line, with what it holds folded. */
  const row = (id: string, title: string, at: string | undefined, body: string): string =>
    body === ""
      ? article("row", id, `${title}<span class="figures">${timeHtml(at, true)}</span>`, "")
      : article("row", id, "", fold(`${title}<span class="figures">${timeHtml(at, true)}</span>`, body, "more"))

  const otherHtml = (entry: SessionEntry | UnknownEntry, id: string): string => {
    if (!isKnownEntry(entry)) return row(id, `Entry <code>${escapeHtml(entry.type)}</code>`, entry.at, jsonHtml(entry, limits()))
    switch (entry.type) {
      case "compaction":
        return row(id, `Earlier messages were summed up (${tokensText(entry.tokens_before)} tokens before)`, entry.at,
          partHtml({ type: "text", text: entry.summary }, limits()))
      case "custom_message": {
        const html = entry.content.map((part) => partHtml(part, limits())).join("")
        const title = `<b>${escapeHtml(entry.custom_type)}</b>${entry.extension === undefined ? "" : ` from ${escapeHtml(entry.extension)}`}`
        return entry.display ? article("custom", id, `${title}<span class="figures">${timeHtml(entry.at)}</span>`, html) : row(id, title, entry.at, html)
      }
      case "extension":
        return row(id, `State of extension <b>${escapeHtml(entry.extension)}</b>`, entry.at, jsonHtml(entry.data, limits()))
      case "name":
        return row(id, `Title: ${escapeHtml(entry.name)}`, entry.at, "")
      case "selection":
        return row(id, `Model: ${escapeHtml(entry.provider)} ${escapeHtml(entry.model)}`, entry.at, "")
      case "label":
        return row(id, entry.label === undefined ? "A bookmark was taken away" : `Bookmark: ${escapeHtml(entry.label)}`, entry.at, "")
      default:
        return ""
    }
  }

  const take = (entry: SessionEntry | UnknownEntry, id: string): string => {
    if (!isKnownEntry(entry)) return beside(otherHtml(entry, id))
    switch (entry.type) {
      case "user":
        return closeStep() + userHtml(entry, id)
      case "assistant": {
        const closed = closeStep()
        openStep(entry, id)
        return closed
      }
      case "tool_result":
        if (entry.is_error) sums.failed++
        if (step?.open.delete(entry.id) !== true) return closeStep() + resultHtml(entry, id)
        step.results.set(entry.id, entry)
        return ""
      case "compaction":
        return closeStep() + otherHtml(entry, id)
      default:
        return beside(otherHtml(entry, id))
    }
  }

  /** What stands between a call and its result comes after both. */
  const beside = (html: string): string => {
    if (step === undefined || step.open.size === 0) return closeStep() + html
    step.between.push(html)
    return ""
  }

  return {
    begin: beginOf(about),
    entry: (entry) => {
      const html = take(entry, `e${number++}`)
      before = timeOf(entry) ?? before
      written += html.length
      return html
    },
    end: (damaged) => {
      const rest = closeStep()
      const { cached, calls, failed, input, messages, output, steps } = sums
      const picture = timelineSvg(spans, marks)
      const figures = [
        figure(grouped(messages), messages === 1 ? "message" : "messages"),
        figure(grouped(steps), steps === 1 ? "step" : "steps"),
        figure(grouped(calls), `tool call${calls === 1 ? "" : "s"}${failed === 0 ? "" : `, ${grouped(failed)} failed`}`),
        ...(input + output === 0 ? [] : [
          figure(tokensText(input), `tokens in${cached === 0 ? "" : `, ${tokensText(cached)} cached`}`),
          figure(tokensText(output), "tokens out")
        ]),
        ...(spans.length === 0 ? [] : [figure(durationText(busyTime(spans)), "at work")])
      ].join("")
      const notes = [
        ...(number === 0 ? ["Nothing was said in this session."] : []),
        ...(damaged === 0 ? [] : [`${grouped(damaged)} damaged line${damaged === 1 ? " of the session is" : "s of the session are"} left out.`]),
        ...(written > longPage ? ["The session is long: later outputs are shown in short."] : [])
      ].map((note) => `<p class="note">${note}</p>`).join("")
      return `${rest}</section>
<section class="overview"><div class="sums">${figures}</div>${picture === "" ? "" : `<figure>${picture}</figure>`}${notes}</section>
<footer>Written by nimlet. Times are UTC.</footer>
</main>
<script>${pageScript}</script>
</body>
</html>
`
    }
  }
}

/** The whole page of a session. `damaged` is how many lines of its file could not be read. */
export const pageOf = (about: PageAbout, entries: Entries, damaged = 0): string => {
  const { begin, end, entry } = makePage(about)
  return [begin, ...entries.map(entry), end(damaged)].join("")
}
