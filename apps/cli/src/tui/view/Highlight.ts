/** Colours for code. The library is large: it is loaded when the first code is on the screen, which is plain until then. */
import type { Palette, Style } from "../Palette.ts"
import type { HighlightLibrary } from "./HighlightLibrary.ts"

/** Code → lines with colours; undefined while it is not loaded, or for a language nobody knows. */
export type Highlighter = (code: string, language: string | undefined) => ReadonlyArray<string> | undefined

/** Longer code is left plain. */
const longest = 50_000

const entities: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": "\"", "&#x27;": "'" }

const styleOf = (name: string, palette: Palette): Style => {
  switch (name.split(/[ _.]/)[0]) {
    case "keyword":
    case "built":
    case "selector-tag":
    case "tag":
    case "name":
      return palette.accent
    case "string":
    case "regexp":
    case "addition":
    case "symbol":
      return palette.green
    case "number":
    case "literal":
    case "type":
    case "attr":
    case "attribute":
      return palette.yellow
    case "title":
    case "section":
      return palette.purple
    case "comment":
    case "meta":
    case "quote":
      return palette.dim
    case "deletion":
      return palette.red
    default:
      return (text) => text
  }
}

/** The library's markup → lines with colours; each line begins and ends without any. */
export const painted = (markup: string, palette: Palette): ReadonlyArray<string> => {
  const open: Array<Style> = []
  const lines: Array<string> = [""]
  for (const [, name, close, text] of markup.matchAll(/<span class="hljs-([^"]*)">|(<\/span>)|([^<]+|<)/g)) {
    if (name !== undefined) open.push(styleOf(name, palette))
    else if (close !== undefined) open.pop()
    else {
      const style = open.at(-1) ?? ((plain: string) => plain)
      const pieces = (text ?? "").replaceAll(/&(lt|gt|amp|quot|#x27);/g, (entity) => entities[entity] ?? entity).split("\n")
      lines[lines.length - 1] += style(pieces[0] ?? "")
      for (const piece of pieces.slice(1)) lines.push(style(piece))
    }
  }
  return lines
}

/** A highlighter; `loaded` is called once when it has become able to do its work. */
export const makeHighlighter = (palette: () => Palette, loaded: () => void): Highlighter => {
  let library: HighlightLibrary | undefined
  let asked = false
  return (code, language) => {
    if (language === undefined || language === "" || code.length > longest) return undefined
    if (library === undefined) {
      if (!asked) {
        asked = true
        void import("#highlight").then((module) => {
          library = module.default
          loaded()
        })
      }
      return undefined
    }
    return library.getLanguage(language) === undefined ? undefined : painted(library.highlight(code, { language, ignoreIllegals: true }).value, palette())
  }
}
