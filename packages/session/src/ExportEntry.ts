/** Entries of a session as pieces of a page. Pure. */
import { type AssistantEntry, beginningOf, type ContentPart, type ImagePart, type JsonObject, type ToolResultEntry, type ToolUsePart, type Usage } from "@nimlet/protocol"
import { clipHtml, diffCounts, diffHtml, durationText, escapeHtml, grouped, preformatted, proseHtml, tokensText } from "./ExportText.ts"

/** How much of one text is shown, in characters, and of a diff, in lines. */
export interface Limits {
  readonly prose: number
  readonly output: number
  readonly input: number
  readonly diff: number
  /** Characters of an image's base64. */
  readonly image: number
}

/** A call with its result, once that is there. */
export interface Call {
  readonly part: ToolUsePart
  readonly result: ToolResultEntry | undefined
}

/** A part that can be opened, without a script too. */
export const fold = (summary: string, body: string, kind: string): string =>
  `<details class="${kind}"><summary>${summary}</summary>${body}</details>`

const moment = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)/

/** A moment as an ISO text says it, seconds and no more; the time of the day alone where the day is clear. */
export const timeHtml = (at: string | undefined, daily = false): string => {
  if (at === undefined) return ""
  const [, day, time] = moment.exec(at) ?? []
  return day === undefined ? `<time>${escapeHtml(at.slice(0, 40))}</time>` : `<time title="${day} ${time}">${daily ? time : `${day} ${time}`}</time>`
}

const jsonText = (value: unknown): string => typeof value === "string" ? value : JSON.stringify(value, null, 2) ?? ""

/** A value as JSON, folded into a page as text. */
export const jsonHtml = (value: unknown, limits: Limits): string => preformatted(clipHtml(jsonText(value), limits.input))

const pictures = /^image\/(?:png|jpeg|gif|webp)$/
const base64 = /^[A-Za-z0-9+/]+={0,2}$/

const imageHtml = ({ data, mimeType, path }: ImagePart, limits: Limits): string => {
  const name = escapeHtml(path ?? mimeType)
  if (data === undefined) return `<p class="aside">image ${name}</p>`
  if (!pictures.test(mimeType) || !base64.test(data)) return `<p class="aside">image ${name}, of a kind that is not shown</p>`
  if (data.length > limits.image) return `<p class="aside">image ${name}, too large to be shown (${grouped(data.length * 0.75)} bytes)</p>`
  return `<img alt="${name}" src="data:${mimeType};base64,${data}">`
}

/** What extensions and users wrote, and parts that come with it. */
export const partHtml = (part: ContentPart, limits: Limits): string => {
  switch (part.type) {
    case "text":
      return `<div class="prose">${proseHtml(part.text, limits.prose)}</div>`
    case "thinking":
      return part.thinking === "" ? "" : fold("Thinking", `<div class="prose">${proseHtml(part.thinking, limits.output)}</div>`, "thinking")
    case "image":
      return imageHtml(part, limits)
    case "file":
      return `<p class="aside">file ${escapeHtml(part.filename ?? part.path ?? part.mimeType)}</p>`
    case "source":
      return `<p class="aside">source: ${escapeHtml(part.title)} <span class="url">${escapeHtml(part.url)}</span></p>`
    case "tool_use":
      return callHtml({ part, result: undefined }, limits)
    case "tool_result":
      return fold(`Result <code>${escapeHtml(part.tool_use_id)}</code>`, outputHtml(part.content, part.images ?? [], limits), `call ${part.is_error ? "failed" : "done"}`)
  }
}

const outputHtml = (output: string, images: ReadonlyArray<ImagePart>, limits: Limits): string =>
  `${output === "" ? `<p class="aside">no output</p>` : preformatted(clipHtml(output, limits.output), "output")}${
    images.map((image) => imageHtml(image, limits)).join("")}`

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value)

const telling = ["command", "path", "pattern", "operation", "query", "url", "name"]

/** What a call is about, on one line. */
const aboutCall = (input: unknown): string => {
  const words = isObject(input) ? telling.flatMap((key) => typeof input[key] === "string" ? [input[key]] : []) : []
  const text = (words.length > 0 ? words.join(" ") : jsonText(input)).replaceAll(/\s+/g, " ")
  return text.length > 140 ? `${beginningOf(text, 139)}…` : text
}

/** Arguments a line each; texts of several lines as they stand. */
const argumentsHtml = (input: unknown, limits: Limits): string => {
  if (!isObject(input)) return jsonHtml(input, limits)
  const rows = Object.entries(input).map(([key, value]) => `<dt>${escapeHtml(key)}</dt><dd>${preformatted(clipHtml(jsonText(value), limits.input))}</dd>`)
  return rows.length === 0 ? "" : `<dl>${rows.join("")}</dl>`
}

const block = (title: string, html: string): string => html === "" ? "" : `<h4>${title}</h4>${html}`

/** A call of a tool: what it was asked, what it changed, what it gave. */
export const callHtml = ({ part, result }: Call, limits: Limits): string => {
  const diff = result?.details?.["diff"]
  const changes = typeof diff === "string" && diff !== "" ? diff : undefined
  const counts = changes === undefined ? undefined : diffCounts(changes)
  const state = result === undefined ? (part.hosted === true ? "done" : "lost") : result.is_error ? "failed" : "done"
  const figures = [
    ...(counts === undefined ? [] : [`<span class="added">+${counts.added}</span> <span class="removed">−${counts.removed}</span>`]),
    ...(result?.duration_ms === undefined ? [] : [durationText(result.duration_ms)]),
    ...(state === "failed" ? [`<span class="bad">failed</span>`] : state === "lost" ? [`<span class="bad">no result</span>`] : [])
  ]
  const summary = `<b>${escapeHtml(part.name)}</b> <span class="about">${escapeHtml(aboutCall(part.input))}</span>${
    figures.length === 0 ? "" : `<span class="figures">${figures.join(" · ")}</span>`}`
  const notes = [
    ...(part.parse_error === undefined ? [] : [`its arguments were not valid JSON: ${part.parse_error}`]),
    ...(result?.changed_by === undefined || result.changed_by.length === 0 ? [] : [`arguments changed by ${result.changed_by.join(", ")}`]),
    ...(result?.hooks_ms === undefined ? [] : [`hooks took ${durationText(result.hooks_ms)}`])
  ].map((note) => `<p class="aside">${escapeHtml(note)}</p>`).join("")
  const body = [
    notes,
    block("Arguments", argumentsHtml(part.input, limits)),
    changes === undefined ? "" : block("Changes", diffHtml(changes, limits.diff)),
    result === undefined ? "" : block("Output", outputHtml(result.output, result.images ?? [], limits))
  ].join("")
  return fold(summary, body, `call ${state}`)
}

/** Tokens of an answer. */
export const usageText = ({ cache_read_tokens: cached = 0, input_tokens, output_tokens }: Usage): string =>
  `${tokensText(input_tokens)} in${cached > 0 ? ` (${tokensText(cached)} cached)` : ""} · ${tokensText(output_tokens)} out`

/** An article of the page; `head` stands on one line above its body. */
export const article = (kind: string, id: string, head: string, body: string): string =>
  `<article class="${kind}" id="${id}"><header>${head}</header>${body}</article>\n`

/** A model's answer with its calls, the `step`th of the session. */
export const stepHtml = (entry: AssistantEntry, calls: ReadonlyArray<Call>, id: string, step: number, limits: Limits): string => {
  const known = new Map(calls.map((call) => [call.part, call]))
  const body = entry.content.map((part) => part.type === "tool_use" ? callHtml(known.get(part) ?? { part, result: undefined }, limits) : partHtml(part, limits))
  const usage = entry.usage === undefined ? "" : `<span class="usage">${usageText(entry.usage)} · </span>`
  const figures = [
    ...(entry.duration_ms === undefined ? [] : [durationText(entry.duration_ms)]),
    ...(entry.at === undefined ? [] : [timeHtml(entry.at, true)])
  ]
  const model = entry.model ?? entry.requested_model
  return article(
    "step",
    id,
    `<b>Step ${step}</b>${model === undefined ? "" : ` <span class="model">${escapeHtml(model)}</span>`}<span class="figures">${usage}${figures.join(" · ")}</span>`,
    `${body.join("")}${entry.cut === true ? `<p class="cut">This answer was cut off here.</p>` : ""}`
  )
}
