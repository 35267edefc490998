/** Where a text stops to be JSON. The parser's own message may quote the text, or leave the place out. Pure. */

const blanks = /[ \t\r\n]*/y
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y
const plain = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/** Line and column, from 1, of the first character that cannot stand where it does. */
export const jsonFault = (text: string): { readonly line: number; readonly column: number } => {
  let at = 0
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    const length = pattern.exec(text)?.[0].length
    at += length ?? 0
    return length !== undefined
  }
  const mark = (wanted: string): boolean => {
    take(blanks)
    if (text[at] !== wanted) return false
    at++
    return true
  }
  const list = (end: string, item: () => boolean): boolean => {
    if (mark(end)) return true
    while (take(blanks) && item()) {
      if (mark(end)) return true
      if (!mark(",")) return false
    }
    return false
  }
  const value = (): boolean =>
    mark("{") ? list("}", () => take(string) && mark(":") && value()) : mark("[") ? list("]", value) : take(string) || take(plain)
  if (value()) take(blanks)
  const lines = text.slice(0, at).split("\n")
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 }
}
