/** Searching all that was said, and reading on where something was found. Pure. */
import { fieldKey } from "../Field.ts"
import type { Item } from "../Item.ts"
import type { Search, State } from "../State.ts"
import { step, type Step } from "../Step.ts"

/** So many places are found at most, the latest first. */
const most = 200
/** A page of what is read. */
const page = 10
/** Nobody reads a line at more length. */
const longest = 400

/** A line that holds what is searched. */
export interface Hit {
  readonly item: Item
  /** The number of the line in `readable`, from 0. */
  readonly line: number
  readonly text: string
}

const json = (value: unknown): string => JSON.stringify(value, null, 2) ?? ""

/** Who says it, and the whole of it as text. */
export const readable = (item: Item): { readonly who: string; readonly text: string } => {
  switch (item.kind) {
    case "user":
      return { who: "you", text: item.text }
    case "answer":
      return { who: "answer", text: item.text }
    case "thinking":
      return { who: "thinking", text: item.text }
    case "call":
      return { who: item.name, text: `${json(item.input)}\n${item.diff ?? item.output}` }
    case "notice":
      return { who: item.from ?? "notice", text: item.text }
    case "welcome":
      return { who: "nimlet", text: "" }
  }
}

/** The lines that hold the words, in any case. Of a long line what stands around them. */
export const hitsOf = ({ filter, items }: Search): ReadonlyArray<Hit> => {
  const wanted = filter.text.trim().toLowerCase()
  if (wanted === "" || items === undefined) return []
  const hits: Array<Hit> = []
  for (let at = items.length - 1; at >= 0 && hits.length < most; at--) {
    const item = items[at]
    if (item === undefined) continue
    const { text } = readable(item)
    // Most of what was said does not hold it: then no line of it is looked at.
    if (!text.toLowerCase().includes(wanted)) continue
    for (const [line, words] of text.split("\n").entries()) {
      const place = words.toLowerCase().indexOf(wanted)
      if (place < 0 || hits.length >= most) continue
      const from = Math.max(0, place - 40)
      hits.push({ item, line, text: `${from > 0 ? "…" : ""}${words.slice(from, from + longest)}` })
    }
  }
  return hits
}

const reading = (state: State, search: Search, key: string): Step => {
  const { reading: at } = search
  if (at === undefined) return step(state)
  const last = readable(at.item).text.split("\n").length - 1
  const to = (line: number): Step => step({ ...state, overlay: { ...search, reading: { ...at, line: Math.max(0, Math.min(last, line)) } } })
  switch (key) {
    case "escape":
    case "q":
    case "enter":
      return step({ ...state, overlay: { ...search, reading: undefined } })
    case "up":
      return to(at.line - 1)
    case "down":
      return to(at.line + 1)
    case "pageUp":
      return to(at.line - page)
    case "pageDown":
    case "space":
      return to(at.line + page)
    case "home":
      return to(0)
    case "end":
      return to(last)
    case "c":
      return step(state, { type: "copy", text: readable(at.item).text })
    default:
      return step(state)
  }
}

/** The state after a key in the search. */
export const onSearch = (state: State, search: Search, key: string, typed: string): Step => {
  if (search.reading !== undefined) return reading(state, search, key)
  const stay = (change: Partial<Search>): Step => step({ ...state, overlay: { ...search, ...change } })
  switch (key) {
    case "escape":
      return step({ ...state, overlay: undefined })
    case "up":
      return stay({ selected: Math.max(0, search.selected - 1) })
    case "down":
      return stay({ selected: Math.max(0, Math.min(hitsOf(search).length - 1, search.selected + 1)) })
    case "enter": {
      const hit = hitsOf(search)[search.selected]
      return hit === undefined ? stay({}) : stay({ reading: { item: hit.item, line: hit.line } })
    }
    default: {
      const filter = fieldKey(search.filter, key, typed)
      return filter === undefined ? stay({}) : stay({ filter, selected: 0 })
    }
  }
}
