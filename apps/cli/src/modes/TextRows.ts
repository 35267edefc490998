/** What text mode writes beside the answer, as lines. Pure. */
import type { WidgetView } from "@nimlet/extension"
import type { Segment, TextStyle, WidgetElement } from "@nimlet/protocol"
import { evident } from "../Evident.ts"

/** Styles of the rows around the answer; identity without colour. */
export interface Palette {
  readonly dim: (text: string) => string
  readonly red: (text: string) => string
  readonly yellow: (text: string) => string
  /** The styles that extensions name. */
  readonly styled: { readonly [S in TextStyle]: (text: string) => string }
}

const paint = (code: number) => (text: string) => `\u001b[${code}m${text}\u001b[0m`
const plain = (text: string) => text

/** Colours, or none where the terminal or `NO_COLOR` does not want them. */
export const palette = (colours: boolean): Palette => {
  const of = (code: number) => colours ? paint(code) : plain
  const [bold, dim, red, green, yellow, cyan] = [of(1), of(2), of(31), of(32), of(33), of(36)]
  return { dim, red, yellow, styled: { normal: plain, muted: dim, accent: cyan, success: green, warning: yellow, error: red, emphasis: bold } }
}

/** Text from a model, a tool or an extension on one line, without control characters that would move the cursor. */
export const printable = (text: string): string => text.replaceAll(/\s+/g, " ").replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "")

/** Control characters out, lines kept. */
export const harmless = (text: string): string => text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "")

/** What a call is about in one short line: its command, pattern, path or question, else its arguments. */
export const callSummary = (name: string, input: unknown): string => {
  const args = typeof input === "object" && input !== null ? input as { readonly [key: string]: unknown } : {}
  const telling = ["command", "pattern", "path", "operation", "question"].flatMap((key) => typeof args[key] === "string" ? [args[key]] : [])
  const text = telling.length > 0 ? telling.join(" ") : JSON.stringify(input ?? {})
  const line = printable(evident(text))
  return `${name} ${line.length > 100 ? `${line.slice(0, 99)}…` : line}`
}

/** A footer entry as one line; empty when there is nothing in it. */
export const statusLine = (key: string, segments: ReadonlyArray<Segment>, { dim, styled }: Palette): string =>
  segments.length === 0
    ? ""
    : `${dim(`[${printable(key)}]`)} ${segments.map(({ style = "muted", text }) => styled[style](printable(text))).join("")}`

const boxes = { pending: "[ ]", active: "[>]", done: "[x]" } as const
const bar = 20
const usualHeight = 10

const elementLines = (element: WidgetElement, { styled }: Palette): ReadonlyArray<string> => {
  switch (element.type) {
    case "text":
      return element.text.split("\n").map((line) => styled[element.style ?? "normal"](printable(line)))
    case "list":
      return element.items.map(({ state = "pending", text }) => `${boxes[state]} ${printable(text)}`)
    case "progress": {
      const part = Math.min(Math.max(element.value / element.max, 0), 1)
      const done = Math.round(part * bar)
      return [`${element.label === undefined ? "" : `${printable(element.label)} `}[${"#".repeat(done)}${"-".repeat(bar - done)}] ${Math.round(part * 100)}%`]
    }
    case "markdown": {
      const height = Math.min(Math.max(element.height ?? usualHeight, 4), 24)
      const lines = element.text.split("\n").map(printable)
      return lines.length <= height ? lines : [...lines.slice(0, height), `… ${lines.length - height} more lines`]
    }
  }
}

/** A widget as lines, each under its key. Actions are left out: there is nothing to press them with. */
export const widgetLines = (key: string, { content, title }: WidgetView, colours: Palette): ReadonlyArray<string> => {
  const head = colours.dim(`[${printable(key)}]`)
  const lines = [...(title === "" ? [] : [colours.styled.emphasis(printable(title))]), ...content.flatMap((element) => elementLines(element, colours))]
  return lines.map((line) => `${head} ${line}`)
}
