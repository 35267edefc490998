/** A search through the conversation: the places found, and what stands around one of them. Pure. */
import { clean, cleanLine } from "../Clean.ts"
import { hitsOf, readable } from "../reduce/Searching.ts"
import type { Search } from "../State.ts"
import { fieldLines } from "./Dialogs.ts"
import type { Look } from "./Items.ts"
import { fit, windowOf, wrap } from "./Lines.ts"

const rows = 10
/** How much of a text is read at once. */
const readRows = 16

/** A line with the words that were searched made to stand out. */
const marked = (line: string, wanted: string, style: (text: string) => string): string => {
  const at = wanted === "" ? -1 : line.toLowerCase().indexOf(wanted.toLowerCase())
  return at < 0 ? line : `${line.slice(0, at)}${style(line.slice(at, at + wanted.length))}${line.slice(at + wanted.length)}`
}

const readingLines = ({ filter, reading }: Search, { palette, width }: Look): ReadonlyArray<string> => {
  if (reading === undefined) return []
  const { text, who } = readable(reading.item)
  const all = text.split("\n")
  const { from, items } = windowOf(all, reading.line, readRows)
  return [
    palette.bold(fit(`${cleanLine(who, 60)}, lines ${from + 1} to ${from + items.length} of ${all.length}`, width)),
    ...items.map((line, index) => {
      const shown = fit(clean(line.slice(0, 2_000)).replaceAll("\n", " "), width)
      return from + index === reading.line ? marked(shown, filter.text.trim(), palette.inverse) : palette.dim(shown)
    }),
    ...wrap("esc back · ↑↓ pgup pgdn · c copies it", width).map(palette.dim)
  ]
}

/** The search as it lies over the composer. */
export const searchLines = (search: Search, look: Look): ReadonlyArray<string> => {
  if (search.reading !== undefined) return readingLines(search, look)
  const { palette, plain, width } = look
  const wanted = search.filter.text.trim()
  const hits = hitsOf(search)
  const shown = windowOf(hits, search.selected, rows)
  const list = search.items === undefined
    ? [palette.dim("…")]
    : hits.length === 0
    ? [palette.dim(wanted === "" ? "type what to look for" : "it was not said")]
    : shown.items.map(({ item, text }, index) => {
      const chosen = shown.from + index === search.selected
      const line = `${palette.dim(`${cleanLine(readable(item).who, 20)}: `)}${marked(cleanLine(text), wanted, palette.yellow)}`
      return fit(chosen ? `${plain ? "* " : palette.accent("❯ ")}${line}` : `  ${line}`, width)
    })
  return [
    palette.bold(fit("Search the conversation", width)),
    ...fieldLines(search.filter, { palette, secret: false, width }),
    ...list,
    ...wrap(`${hits.length === 0 ? 0 : search.selected + 1} of ${hits.length} · the latest first · enter reads there · esc closes`, width).map(palette.dim)
  ]
}
