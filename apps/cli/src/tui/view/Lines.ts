/** Lines of a given width, whatever is in them. Pure. */
import { truncateToWidth, visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui"
import { evident } from "../../Evident.ts"
import { clean } from "../Clean.ts"

/** A line cut to a width, with a mark where something is missing. */
export const fit = (line: string, width: number): string => visibleWidth(line) <= width ? line : truncateToWidth(line, width, width > 1 ? "…" : "")

/** Lines that are no wider than `width`, for certain. */
export const clamp = (lines: ReadonlyArray<string>, width: number): ReadonlyArray<string> =>
  lines.every((line) => visibleWidth(line) <= width) ? lines : lines.map((line) => visibleWidth(line) <= width ? line : truncateToWidth(line, width, ""))

/** Clean text, wrapped at words. */
export const wrap = (text: string, width: number): ReadonlyArray<string> => clamp(wrapTextWithAnsi(text, Math.max(1, width)), width)

/** The same with something before its first line and room of that width before the others. */
export const hang = (lead: string, lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const room = " ".repeat(visibleWidth(lead))
  return lines.map((line, index) => `${index === 0 ? lead : room}${line}`)
}

/** How far into a line its last column is looked for. */
const farthest = 80

/**
 * A clean line of a table, or one that is set in, wrapped: what does not fit goes on below its last column. Where that
 * leaves too little room, the last column stands below the others.
 */
export const wrapColumns = (line: string, width: number): ReadonlyArray<string> => {
  const lead = /^(?:.*\S {3,}| +)(?=\S)/.exec(line.slice(0, farthest))?.[0] ?? ""
  const rest = line.slice(lead.length)
  if (lead === "" || visibleWidth(line) <= width) return wrap(line, width)
  if (visibleWidth(lead) <= width / 2) return hang(lead, wrap(rest, width - visibleWidth(lead)))
  const head = lead.trimEnd()
  const indent = " ".repeat(Math.max(0, Math.min(4, Math.floor(width / 4))))
  return [...(head === "" ? [] : wrap(head, width)), ...hang(indent, wrap(rest, width - indent.length))]
}

/** A line across, where marks are wanted. */
export const rule = (width: number, style: (text: string) => string, plain: boolean): ReadonlyArray<string> => plain ? [] : [style("─".repeat(width))]

/** Enough of a line for any terminal; what is longer is not looked at. */
const longest = 2_000
/** The same where somebody says yes to all of it. */
export const longestAsked = 20_000

/** The part of a list that has the selected one in it. */
export const windowOf = <A>(items: ReadonlyArray<A>, selected: number, count: number): { readonly from: number; readonly items: ReadonlyArray<A> } => {
  const from = Math.max(0, Math.min(selected - Math.floor(count / 2), items.length - count))
  return { from, items: items.slice(from, from + count) }
}

/** Some lines of a text, clean, and how many there are beyond them. */
export interface Excerpt {
  readonly lines: ReadonlyArray<string>
  readonly more: number
}

const linesOf = (text: string): ReadonlyArray<string> => (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n")
const beginning = (line: string, most: number): string => line.length > most ? `${line.slice(0, most)}… ${line.length - most} more characters` : line

/** The first lines of a text, however long it is, and of each so many characters, with all that is in them to be seen. */
export const firstLines = (text: string, count: number, most = longest): Excerpt => {
  if (text === "") return { lines: [], more: 0 }
  const all = linesOf(text)
  return { lines: all.slice(0, count).map((line, index) => evident(beginning(index < all.length - 1 ? line.replace(/\r$/, "") : line, most))), more: Math.max(0, all.length - count) }
}

/** The last lines of a text that was printed, however long it is: of one written over, what stood there last. */
export const lastLines = (text: string, count: number): Excerpt => {
  if (text === "") return { lines: [], more: 0 }
  const all = linesOf(text)
  return { lines: all.slice(-count).map((line) => clean(beginning(line, longest)).replaceAll("\n", " ")), more: Math.max(0, all.length - count) }
}
