/** What the value of a parameter comes to once a shell has changed something in it. Pure. */
import type { ParameterOperation, Word } from "unbash"

/** So many pieces of a value are gone through. */
const mostPieces = 64

/** A pattern of a shell's as an expression; undefined where matching it could take long. */
const expression = (pattern: string): string | undefined => {
  if ((pattern.match(/\*+/g) ?? []).length > 2 || /[\\(]/.test(pattern)) return undefined
  const source = pattern.replace(/[.+^${}|\]]/g, (sign) => sign === "]" ? sign : `\\${sign}`).replace(/\*+/g, ".*").replaceAll("?", ".").replaceAll("[!", "[^")
  try {
    return new RegExp(source, "s").source
  } catch {
    return undefined
  }
}

const isPattern = (text: string): boolean => /[*?[\\(]/.test(text)

const removed = (value: string, pattern: string, fromStart: boolean): ReadonlyArray<string> | undefined => {
  if (!isPattern(pattern)) {
    const there = fromStart ? value.startsWith(pattern) : value.endsWith(pattern)
    return [!there ? value : fromStart ? value.slice(pattern.length) : value.slice(0, value.length - pattern.length)]
  }
  // Whatever it matches, a beginning or an end of the value is left.
  return value.length >= mostPieces ? undefined : Array.from({ length: value.length + 1 }, (_, at) => fromStart ? value.slice(at) : value.slice(0, at))
}

const replaced = (value: string, pattern: string, by: string, operator: string): ReadonlyArray<string> | undefined => {
  const source = expression(pattern)
  if (source === undefined || pattern === "") return pattern === "" ? [value] : undefined
  // Several stars are tried at each place of the value.
  if (value.length >= mostPieces && pattern.includes("*")) return undefined
  const anchored = operator === "/#" ? `^(?:${source})` : operator === "/%" ? `(?:${source})$` : source
  return [value.replace(new RegExp(anchored, operator === "//" ? "gs" : "s"), () => by)]
}

const sliced = (value: string, offset: string, length: string | undefined): ReadonlyArray<string> | undefined => {
  if (!/^\s*-?\d+$/.test(offset) || (length !== undefined && !/^\s*-?\d+$/.test(length))) return undefined
  const rest = value.slice(Number(offset))
  return [length === undefined ? rest : rest.slice(0, Number(length))]
}

/** The texts that a value may become; undefined where that cannot be told. `textsOf` says what a word of the operation stands for. */
export const changed = (value: string, operation: ParameterOperation, textsOf: (word: Word) => ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  const each = (word: Word, change: (text: string) => ReadonlyArray<string> | undefined) => {
    const all = textsOf(word).map(change)
    return all.every((texts) => texts !== undefined) ? all.flat() : undefined
  }
  switch (operation.type) {
    case "Remove":
      return each(operation.operand, (pattern) => removed(value, pattern, operation.operator.startsWith("#")))
    case "Replace":
      return each(operation.pattern, (pattern) => each(operation.replacement, (by) => replaced(value, pattern, by, operation.operator)))
    case "Slice":
      return each(operation.offset, (offset) => operation.length === undefined ? sliced(value, offset, undefined) : each(operation.length, (length) => sliced(value, offset, length)))
    // Case does not count in the names of protected files.
    case "CaseModification":
      return [value]
    default:
      return undefined
  }
}

/** Text with the signs that are written by their numbers. */
export const unescaped = (text: string): string =>
  text.replace(/\\(?:x([\da-fA-F]{1,2})|0?([0-7]{1,3}))/g, (_, hex?: string, octal?: string) =>
    String.fromCharCode(hex === undefined ? Number.parseInt(octal ?? "", 8) : Number.parseInt(hex, 16)))

/** What `printf` makes of its words: the first one says how, again and again while there are others. */
export const printed = ([format = "", ...values]: ReadonlyArray<string>): string => {
  let next = 0
  let text = ""
  do text += format.replace(/%[sbq]/g, () => values[next++] ?? "")
  while (next > 0 && next < values.length)
  return unescaped(text)
}
