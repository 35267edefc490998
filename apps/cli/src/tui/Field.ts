/** A short text that is being typed: an answer, a filter, the draft in a modal. Pure. */

/** The text and where the cursor stands in it, in UTF-16 units at the edge of a character. */
export interface Field {
  readonly text: string
  readonly cursor: number
}

/** A field that holds `text`, the cursor behind it. */
export const fieldOf = (text = ""): Field => ({ text, cursor: text.length })

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" })
const before = ({ cursor, text }: Field): number => {
  const last = [...segmenter.segment(text.slice(0, cursor))].at(-1)
  return last === undefined ? 0 : last.index
}
const after = ({ cursor, text }: Field): number => {
  const [first] = segmenter.segment(text.slice(cursor))
  return cursor + (first?.segment.length ?? 0)
}
const wordStart = ({ cursor, text }: Field): number => text.slice(0, cursor).search(/\S+\s*$/) < 0 ? 0 : text.slice(0, cursor).search(/\S+\s*$/)
const cut = ({ text }: Field, from: number, to: number): Field => ({ text: text.slice(0, from) + text.slice(to), cursor: from })

/** A field after a text was typed or pasted into it. */
export const insert = ({ cursor, text }: Field, more: string): Field => ({ text: text.slice(0, cursor) + more + text.slice(cursor), cursor: cursor + more.length })

/** A field after a key; undefined when the key means nothing to it. `typed` is what the key writes. */
export const fieldKey = (field: Field, key: string, typed: string): Field | undefined => {
  switch (key) {
    case "backspace":
    case "shift+backspace":
      return cut(field, before(field), field.cursor)
    case "delete":
    case "ctrl+d":
      return cut(field, field.cursor, after(field))
    case "ctrl+w":
    case "alt+backspace":
      return cut(field, wordStart(field), field.cursor)
    case "ctrl+u":
      return cut(field, 0, field.cursor)
    case "ctrl+k":
      return cut(field, field.cursor, field.text.length)
    case "left":
    case "ctrl+b":
      return { ...field, cursor: before(field) }
    case "right":
    case "ctrl+f":
      return { ...field, cursor: after(field) }
    case "home":
    case "ctrl+a":
      return { ...field, cursor: 0 }
    case "end":
    case "ctrl+e":
      return fieldOf(field.text)
    case "shift+enter":
    case "alt+enter":
    case "ctrl+j":
    case "alt+j":
      return insert(field, "\n")
    default:
      return typed === "" ? undefined : insert(field, typed)
  }
}
