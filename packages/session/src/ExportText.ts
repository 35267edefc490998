/**
 * Text of a session as HTML that can do nothing: whatever stands in it is shown and never obeyed. Pure. A little Markdown
 * is given its looks; links show where they lead and lead nowhere, images and markup of it stay words.
 */

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;" }

/** Colours and cursor moves of terminals, and titles set there. */
const terminal = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?)/g
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g
/** What turns the direction of the text around it, so that it reads as what it is not. */
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

const visible = (character: string): string => {
  const code = character.charCodeAt(0)
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\ufffd"
}
const named = (character: string): string => `[U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`

/** Text as it may stand in an element or a quoted attribute. Control characters are shown as signs, terminal colours left out. */
export const escapeHtml = (text: string): string =>
  text.toWellFormed().replaceAll(terminal, "").replaceAll(controls, visible).replaceAll(directions, named).replaceAll(/[&<>"']/g, (one) => entities[one] ?? "")

/** `12345` as `12,345`. */
export const grouped = (count: number): string => String(Math.round(count)).replaceAll(/\B(?=(?:\d{3})+$)/g, ",")

/** Text of which at most `limit` characters are shown, the first of them and a last quarter, with a note between. */
export const clipHtml = (text: string, limit: number): string => {
  if (text.length <= limit) return escapeHtml(text)
  const tail = Math.floor(limit / 4)
  const head = limit - tail
  return `${escapeHtml(text.slice(0, head))}<span class="left">… ${grouped(text.length - limit)} characters are left out here …</span>${
    escapeHtml(text.slice(text.length - tail))}`
}

/** A block whose lines and blanks stand as they are. */
export const preformatted = (html: string, kind = ""): string => `<pre${kind === "" ? "" : ` class="${kind}"`}>\n${html}</pre>`

/** What stands out within a line: code, bold, emphasis, a link with where it leads. */
const marked = /(`[^`\n]+`|\*\*(?=\S)(?:`[^`\n]+`|[^*`\n])+\*\*|(?<![\w*])\*(?=[^\s*])(?:`[^`\n]+`|[^*`\n])*[^\s*]\*(?![\w*])|(?<!!)\[[^\]\n]+\]\([^()\s]+\))/

/** A line with what stands out in it. */
const inline = (text: string): string =>
  text.split(marked).map((piece, at) => {
    if (at % 2 === 0) return escapeHtml(piece)
    if (piece.startsWith("`")) return `<code>${escapeHtml(piece.slice(1, -1))}</code>`
    if (piece.startsWith("**")) return `<strong>${inline(piece.slice(2, -2))}</strong>`
    if (piece.startsWith("*")) return `<em>${inline(piece.slice(1, -1))}</em>`
    const [, words = "", place = ""] = /^\[(.*)\]\((.*)\)$/.exec(piece) ?? []
    return `${escapeHtml(words)} <span class="place">${escapeHtml(place)}</span>`
  }).join("")

type Block = { readonly kind: "text" | "code" | "list" | "numbers" | "table" | "heading" | "quote"; readonly lines: Array<string> }

const fence = /^\s*(?:```|~~~)/
const kinds: ReadonlyArray<readonly [Block["kind"], RegExp]> = [
  ["heading", /^#{1,6}\s+(.*)$/],
  ["list", /^\s*[-*+]\s+(.*)$/],
  ["numbers", /^\s*\d{1,9}[.)]\s+(.*)$/],
  ["table", /^(\s*\|.*)$/],
  ["quote", /^\s*>\s?(.*)$/]
]

const cellsOf = (line: string): ReadonlyArray<string> => line.trim().replace(/^\|/, "").replace(/\|$/, "").split("|").map((cell) => cell.trim())

/** A table with its head; lines with bars that are none as they stand. */
const tableHtml = (lines: ReadonlyArray<string>): string => {
  const [head = "", rule = "", ...rows] = lines
  if (!/^[\s|:-]*-[\s|:-]*$/.test(rule)) return preformatted(escapeHtml(lines.join("\n")))
  const row = (line: string, cell: "td" | "th") => `<tr>${cellsOf(line).map((text) => `<${cell}>${inline(text)}</${cell}>`).join("")}</tr>`
  return `<div class="table"><table><thead>${row(head, "th")}</thead><tbody>${rows.map((line) => row(line, "td")).join("")}</tbody></table></div>`
}

const blocksOf = (text: string): ReadonlyArray<Block> => {
  const blocks: Array<Block> = []
  let open: Block | undefined
  let fenced = false
  const put = (kind: Block["kind"], line: string) => {
    if (open?.kind !== kind || kind === "heading") {
      open = { kind, lines: [] }
      blocks.push(open)
    }
    open.lines.push(line)
  }
  for (const line of text.split("\n")) {
    if (fence.test(line)) {
      fenced = !fenced
      open = undefined
      if (fenced) {
        open = { kind: "code", lines: [] }
        blocks.push(open)
      }
    } else if (fenced) open?.lines.push(line)
    else if (line.trim() === "") open = undefined
    else {
      const [kind, shape] = kinds.find(([, shape]) => shape.test(line)) ?? []
      // An indented line goes on with the item above it.
      if (shape === undefined && /^\s{2,}/.test(line) && (open?.kind === "list" || open?.kind === "numbers")) {
        open.lines.push(`${open.lines.pop() ?? ""} ${line.trim()}`)
      } else put(kind ?? "text", shape === undefined ? line : shape.exec(line)?.[1] ?? line)
    }
  }
  return blocks
}

const blockHtml = ({ kind, lines }: Block): string => {
  const items = () => lines.map((line) => `<li>${inline(line)}</li>`).join("")
  switch (kind) {
    case "code":
      return preformatted(escapeHtml(lines.join("\n")), "code")
    case "table":
      return tableHtml(lines)
    case "quote":
      return `<blockquote>${lines.map(inline).join("<br>")}</blockquote>`
    case "heading":
      return `<p class="heading">${inline(lines.join(" "))}</p>`
    case "list":
      return `<ul>${items()}</ul>`
    case "numbers":
      return `<ol>${items()}</ol>`
    case "text":
      return `<p>${lines.map(inline).join("<br>")}</p>`
  }
}

/** What somebody wrote, in paragraphs, lists and blocks of code; beyond `limit` characters as it stands, cut. */
export const proseHtml = (text: string, limit: number): string =>
  text.length > limit ? preformatted(clipHtml(text, limit)) : blocksOf(text.replaceAll("\r\n", "\n")).map(blockHtml).join("")

/** What each line of a unified diff is; only before the first hunk are there lines that name files. */
const lineKinds = (lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  let inHunk = false
  return lines.map((line) => {
    if (line.startsWith("diff ")) inHunk = false
    if (line.startsWith("@@")) {
      inHunk = true
      return "at"
    }
    if (!inHunk && /^(?:\+\+\+|---) /.test(line)) return "file"
    return line.startsWith("+") ? "add" : line.startsWith("-") ? "del" : ""
  })
}

/** A unified diff with its lines coloured; of more than `limit` lines the first. */
export const diffHtml = (diff: string, limit: number): string => {
  const lines = diff.replace(/\n$/, "").split("\n")
  const kinds = lineKinds(lines)
  const shown = lines.slice(0, limit).map((line, at) => {
    const kind = kinds[at] ?? ""
    return kind === "" ? `${escapeHtml(line)}\n` : `<span class="${kind}">${escapeHtml(line)}\n</span>`
  })
  const rest = lines.length > limit ? `<span class="left">… ${grouped(lines.length - limit)} more lines …</span>` : ""
  return preformatted(`${shown.join("")}${rest}`, "diff")
}

/** How many lines a unified diff adds and takes away. */
export const diffCounts = (diff: string): { readonly added: number; readonly removed: number } => {
  const kinds = lineKinds(diff.split("\n"))
  return { added: kinds.filter((kind) => kind === "add").length, removed: kinds.filter((kind) => kind === "del").length }
}

/** Milliseconds as people say them: `340 ms`, `2.4 s`, `3 min 20 s`, `2 h 5 min`. */
export const durationText = (millis: number): string => {
  if (millis < 1000) return `${Math.round(millis)} ms`
  if (millis < 59_950) return `${(millis / 1000).toFixed(1)} s`
  const seconds = Math.round(millis / 1000)
  return seconds < 3600 ? `${Math.floor(seconds / 60)} min ${seconds % 60} s` : `${grouped(Math.floor(seconds / 3600))} h ${Math.floor(seconds / 60) % 60} min`
}

/** Tokens as people say them: `950`, `12.3k`, `1.2M`. */
export const tokensText = (count: number): string =>
  count < 1000 ? String(count) : count < 999_950 ? `${(count / 1000).toFixed(1).replace(/\.0$/, "")}k` : `${(count / 1_000_000).toFixed(1).replace(/\.0$/, "")}M`
