/** Things in the transcript as lines. What is settled is drawn once for a width and kept. */
import type { MarkdownTheme } from "@earendil-works/pi-tui"
import { clean, cleanLine, evidentRow } from "../Clean.ts"
import type { CallItem, Item, SpokenItem } from "../Item.ts"
import { type Action, type Keymap, keyOf, type SessionKey } from "../Keymap.ts"
import type { Palette } from "../Palette.ts"
import { callSummary } from "../../modes/TextRows.ts"
import { AnswerLines, plainLines } from "./Answer.ts"
import { diffLines } from "./Diff.ts"
import type { Highlighter } from "./Highlight.ts"
import { clamp, firstLines, fit, hang, lastLines, wrap, wrapColumns } from "./Lines.ts"
import type { makeMarkdown } from "./MarkdownLibrary.ts"

/** How things look. */
export interface Look {
  readonly palette: Palette
  readonly highlight: Highlighter
  /** What draws markdown; undefined, and markdown as it was written, until it is loaded. */
  readonly markdown: typeof makeMarkdown | undefined
  /** Calls and thinking at length. */
  readonly open: boolean
  /** Words in place of marks, and nothing that moves: for a screen reader. */
  readonly plain: boolean
  readonly keymap: Keymap
  /** What a module wants folded thinking called. */
  readonly thinkingLabel: string | undefined
  readonly width: number
}

/** What a hint says of an action's key; nothing where no key does it. */
export const hint = ({ keymap }: Look, action: Action | SessionKey, about: string): string => {
  const key = keyOf(keymap, action)
  return key === undefined ? "" : `${key} ${about}`
}

/** Longer answers are shown up to here: the whole stands in the session's file. */
const longest = 100_000

/** How markdown looks. */
export const markdownTheme = ({ highlight, palette }: Look): MarkdownTheme => ({
  heading: (text) => palette.bold(palette.accent(text)),
  link: palette.underline,
  linkUrl: palette.dim,
  code: palette.accent,
  codeBlock: (text) => text,
  codeBlockBorder: palette.dim,
  quote: palette.italic,
  quoteBorder: palette.dim,
  hr: palette.dim,
  listBullet: palette.accent,
  bold: palette.bold,
  italic: palette.italic,
  strikethrough: palette.struck,
  underline: palette.underline,
  highlightCode: (code, language) => [...highlight(code, language) ?? code.split("\n")]
})

const levels = { info: "Note: ", warning: "Warning: ", error: "Error: " } as const

const noticeLines = (item: Extract<Item, { readonly kind: "notice" }>, { palette, plain, width }: Look): ReadonlyArray<string> => {
  const style = item.level === "error" ? palette.red : item.level === "warning" ? palette.yellow : palette.dim
  const who = item.from === undefined ? "" : `${cleanLine(item.from, 60)}: `
  const { lines, more } = firstLines(`${plain ? levels[item.level] : ""}${who}${item.text}`, 400)
  const wrapped = lines.flatMap((line) => wrapColumns(line, width - 2))
  return hang(plain ? "" : style(item.level === "info" ? "  " : "! "), [...wrapped, ...(more > 0 ? [`… ${more} more lines`] : [])].map(style))
}

const userLines = (text: string, { open, palette, plain, width }: Look): ReadonlyArray<string> => {
  const { lines, more } = firstLines(`${plain ? "You: " : ""}${text}`, open ? 2_000 : 20)
  const wrapped = lines.flatMap((line) => wrap(line, width - 2))
  return hang(plain ? "" : palette.accent("> "), [...wrapped.map(palette.bold), ...(more > 0 ? [palette.dim(`… ${more} more lines`)] : [])])
}

const thinkingLines = ({ done, text }: SpokenItem, look: Look): ReadonlyArray<string> => {
  const { open, palette, plain, thinkingLabel, width } = look
  const mark = plain ? "" : "∴ "
  if (!open) {
    if (!done && thinkingLabel === undefined && !plain) return [palette.dim(fit(`${mark}${cleanLine(text.slice(-400))}`, width))]
    const shows = hint(look, "details", "shows it")
    const label = thinkingLabel === undefined ? plain && !done ? "Thinking" : "thought for a while" : cleanLine(thinkingLabel, 80)
    return [palette.dim(fit(`${mark}${label}${shows === "" ? "" : ` (${shows})`}`, width))]
  }
  return hang(palette.dim(mark), clean(text.slice(-longest)).trim().split("\n").flatMap((line) => wrap(line, width - 2)).map((line) => palette.dim(palette.italic(line))))
}

const marks = { running: "◌", done: "✓", failed: "✗" } as const
const plainMarks = { running: "Running:", done: "Done:", failed: "Failed:" } as const

const seconds = (millis: number): string => millis < 1_000 ? "" : ` ${(millis / 1_000).toFixed(1)}s`

const argumentLines = (input: unknown, { palette, width }: Look): ReadonlyArray<string> =>
  firstLines(JSON.stringify(input ?? {}, null, 2), 60).lines.flatMap((line) => wrap(line, width)).map(palette.dim)

/** What a call is about in one line; of long arguments the beginning is enough. */
const summaryOf = ({ input, name }: CallItem): string => {
  const short = typeof input === "object" && input !== null
    ? Object.fromEntries(Object.entries(input).map(([key, value]: [string, unknown]) => [key, typeof value === "string" ? evidentRow(value, 200) : value]))
    : input
  return evidentRow(callSummary(name, short), 1_000)
}

const callLines = (call: CallItem, look: Look): ReadonlyArray<string> => {
  const { open, palette, plain, width } = look
  const style = call.state === "failed" ? palette.red : call.state === "done" ? palette.green : palette.yellow
  const row = `${style((plain ? plainMarks : marks)[call.state])} ${fit(summaryOf(call), Math.max(1, width - 10))}${palette.dim(seconds(commandOf(call)?.millis ?? call.millis ?? 0))}`
  const inner: Look = { ...look, width: Math.max(1, width - 4) }
  const body: ReadonlyArray<string> = call.diff !== undefined
    ? diffLines(call.diff, { count: open ? 400 : 12, whole: open, palette, width: inner.width })
    : outputLines(call, inner)
  return [row, ...hang("    ", [...(open ? argumentLines(call.input, inner) : []), ...body])]
}

/** What the tool says before a command's output. */
const preamble = /^(?:exit_code: (\d+)\nduration_ms: (\d+)|(?:INTERRUPTED|TIMEOUT after (\d+)s) \((\d+) ms\))\n\n(?:stdout:\n)?/

/** What came of a command: what it printed, how it ended, and how long it ran, without the wait for a yes. */
const commandOf = ({ output, state }: CallItem): { readonly printed: string; readonly ending: string; readonly millis: number } | undefined => {
  const [head, code, millis, limit, cut] = (state === "running" ? null : preamble.exec(output)) ?? []
  if (head === undefined) return undefined
  const ending = code !== undefined ? `exit code ${code}` : limit !== undefined ? `ended after ${limit}s` : "interrupted"
  return { printed: output.slice(head.length), ending, millis: Number(millis ?? cut) }
}

const outputLines = (given: CallItem, { open, palette, width }: Look): ReadonlyArray<string> => {
  const command = commandOf(given)
  if (command !== undefined && !open) {
    const { lines, more } = lastLines(command.printed.replace(/(?:^|\n+)stderr:\n/, "\n").trim(), 4)
    const ending = given.state === "failed" ? [palette.red(fit(command.ending, width))] : []
    return [...(more > 0 ? [palette.dim(fit(`… ${more} lines before`, width))] : []), ...lines.map((line) => palette.dim(fit(line, width))), ...ending]
  }
  const call = command !== undefined && given.state === "done" ? { ...given, output: command.printed } : given
  if (call.output === "") return []
  if (open) {
    const { lines, more } = lastLines(call.output, 200)
    return [...(more > 0 ? [palette.dim(`… ${more} lines before`)] : []), ...lines.flatMap((line) => wrap(line, width))]
  }
  if (call.state === "failed") return firstLines(call.output, 3).lines.map((line) => palette.red(fit(line, width)))
  const shell = call.name === "bash" || call.name.startsWith("!")
  const { lines, more } = lastLines(call.output, shell ? 4 : 1)
  if (!shell && call.state === "done") {
    const count = lines.length + more
    const part = call.name === "read" ? /^lines: (\d+-\d+ of \d+)$/m.exec(call.output.slice(0, 2_000))?.[1] : undefined
    const text = part !== undefined ? `lines ${part}` : count > 1 || lines[0] === undefined ? `${count} lines` : lines[0]
    return [palette.dim(fit(text, width))]
  }
  return [...(more > 0 ? [palette.dim(fit(`… ${more} lines before`, width))] : []), ...lines.map((line) => palette.dim(fit(line, width)))]
}

const welcomeLines = ({ folder, version }: Extract<Item, { readonly kind: "welcome" }>, look: Look): ReadonlyArray<string> => {
  const { palette, width } = look
  const leaves = hint(look, "clear", "twice leaves")
  return [
    fit(`${palette.bold("nimlet")} ${version}  ${palette.dim(cleanLine(folder))}`, width),
    ...wrap(`/help lists commands, /keys the keys${leaves === "" ? "" : `; ${leaves}`}`, width).map(palette.dim)
  ]
}

/** Draws what stands in the transcript, and remembers what cannot change. */
export class ItemLines {
  #kept = new WeakMap<Item, { readonly width: number; readonly open: boolean; readonly lines: ReadonlyArray<string> }>()
  #growing = new Map<number, { readonly width: number; readonly lines: AnswerLines }>()

  /** Forgets all: the colours have changed. */
  forget(): void {
    this.#kept = new WeakMap()
    this.#growing.clear()
  }

  /** The lines of an item, with an empty one before it. */
  of(item: Item, look: Look): ReadonlyArray<string> {
    const kept = this.#kept.get(item)
    if (kept !== undefined && kept.width === look.width && kept.open === look.open) return kept.lines
    const lines = ["", ...clamp(this.#draw(item, look), look.width)]
    this.#kept.set(item, { width: look.width, open: look.open, lines })
    return lines
  }

  #draw(item: Item, look: Look): ReadonlyArray<string> {
    switch (item.kind) {
      case "user":
        return userLines(item.text, look)
      case "answer":
        return look.plain ? ["Answer:", ...this.#answer(item, look)] : this.#answer(item, look)
      case "thinking":
        return thinkingLines(item, look)
      case "call":
        return callLines(item, look)
      case "notice":
        return noticeLines(item, look)
      case "welcome":
        return welcomeLines(item, look)
    }
  }

  #answer(item: SpokenItem, look: Look): ReadonlyArray<string> {
    // Read aloud, a paragraph is said once: when it is whole.
    const said = look.plain && !item.done ? item.text.slice(0, item.text.lastIndexOf("\n\n") + 1) : item.text
    const over = said.length - longest
    const lines = this.#words(item, clean(over > 0 ? said.slice(0, longest) : said), look)
    // Not drawn with the words: those are drawn once, however much more comes.
    return over > 0 ? [...lines, "", `… ${over} more characters`] : lines
  }

  #words({ done, id }: SpokenItem, words: string, look: Look): ReadonlyArray<string> {
    const { markdown, width } = look
    if (markdown === undefined) return plainLines(words, width)
    const kept = this.#growing.get(id)
    const make = () => new AnswerLines(() => markdown(markdownTheme(look)), width)
    let growing = kept?.width === width ? kept.lines : make()
    let lines = growing.of(words)
    if (lines === undefined) {
      growing = make()
      lines = growing.of(words) ?? []
    }
    if (done) this.#growing.delete(id)
    else this.#growing.set(id, { width, lines: growing })
    return lines
  }
}
