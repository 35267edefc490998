/** Colours for texts of an extension, and the way back from coloured texts to styles that any frontend can draw. */
import type { Fields } from "./Values.ts"

type Pair = readonly [open: number | string, close: number]
const foreground = (code: number | string): Pair => [code, 39]

const colours: Readonly<Record<string, Pair>> = {
  accent: foreground(36), border: foreground(34), borderAccent: foreground(36), borderMuted: foreground(90),
  success: foreground(32), error: foreground(31), warning: foreground(33), muted: foreground(37), dim: foreground(90), text: foreground(39),
  toolTitle: foreground(39), toolOutput: foreground(37), toolDiffAdded: foreground(32), toolDiffRemoved: foreground(31), toolDiffContext: foreground(90),
  mdHeading: foreground(33), mdLink: foreground(34), mdCode: foreground(36), bashMode: foreground(32), customMessageLabel: foreground(35)
}
const styles: Readonly<Record<string, string>> = { 36: "accent", 32: "success", 33: "warning", 31: "error", 37: "muted", 90: "muted", 1: "emphasis" }

const wrap = ([open, close]: Pair, text: string): string => `\u001b[${open}m${text}\u001b[${close}m`

/** What `ctx.ui.theme` is. An unknown colour leaves the text as it is. */
export const theme = {
  name: "default",
  fg: (colour: string, text: string): string => wrap(colours[colour] ?? foreground(39), text),
  bg: (_colour: string, text: string): string => text,
  bold: (text: string): string => wrap([1, 22], text),
  italic: (text: string): string => wrap([3, 23], text),
  underline: (text: string): string => wrap([4, 24], text),
  inverse: (text: string): string => wrap([7, 27], text),
  strikethrough: (text: string): string => wrap([9, 29], text),
  getFgAnsi: (colour: string): string => `\u001b[${(colours[colour] ?? foreground(39))[0]}m`,
  getBgAnsi: (): string => "",
  getColorMode: (): string => "256color",
  getThinkingBorderColor: () => (text: string): string => theme.fg("border", text),
  getBashModeBorderColor: () => (text: string): string => theme.fg("bashMode", text)
}

const escape = /\u001b(?:\[([0-9;]*)m|\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|.)/g

/** A coloured text as pieces with a style; other escapes are dropped. */
export const segmentsOf = (text: string): ReadonlyArray<Fields> => {
  const segments: Array<Fields> = []
  let style: string | undefined
  let from = 0
  const push = (to: number): void => {
    if (to > from) segments.push(style === undefined ? { text: text.slice(from, to) } : { text: text.slice(from, to), style })
  }
  for (const match of text.matchAll(escape)) {
    push(match.index)
    from = match.index + match[0].length
    for (const code of match[1]?.split(";") ?? []) style = styles[code] ?? (/^(|0|39|22)$/.test(code) ? undefined : style)
  }
  push(text.length)
  return segments
}

/** A text without its escapes. */
export const uncoloured = (text: string): string => text.replaceAll(escape, "")
