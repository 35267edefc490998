/** What the words of a shell command may stand for, as far as its text says: variables and what functions are given counted in. Pure. */
import type { ParameterExpansionPart, Word, WordPart } from "unbash"

/** Stands in a word for what no text says: the output of a command, lines that are read. */
export const unseen = "\0"

/** What is known of names at a place in a command. */
export interface Scope {
  readonly variables: Map<string, Set<string>>
  /** What the script or function at hand was given; absent where nobody can say. */
  params: ReadonlyArray<string> | undefined
}

/** What a word is made of may come to so many others. */
const mostWords = 64

/** Words with braces as the words they stand for. */
export const unbraced = (text: string): ReadonlyArray<string> => {
  const all = [text]
  for (let at = 0; at < all.length && all.length < mostWords; at++) {
    const word = all[at] ?? ""
    const found = /\{([^{}]*,[^{}]*)\}/.exec(word)
    if (found === null) continue
    const [whole, inner = ""] = found
    all.push(...inner.split(",").map((one) => word.slice(0, found.index) + one + word.slice(found.index + whole.length)))
  }
  return all
}

/** Remembers what a name may stand for, beside what it may already. */
export const assign = ({ variables }: Scope, name: string, texts: ReadonlyArray<string>): void => {
  const known = variables.get(name) ?? new Set()
  for (const text of texts) if (known.size < mostWords) known.add(text)
  variables.set(name, known)
}

/** Values of a name; undefined for one that the command does not set. */
const valuesOf = ({ params, variables }: Scope, name: string): ReadonlyArray<string> | undefined => {
  if (name === "PWD") return ["."]
  // Which of them it is may be moved by `shift`: any.
  if (/^(\d+|[@*])$/.test(name)) return name === "0" ? undefined : params
  const known = variables.get(name)
  return known === undefined ? undefined : [...known]
}

const joined = (some: ReadonlyArray<string>, others: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [first] = others
  if (others.length === 1 && first !== undefined) return some.map((text) => text + first)
  const all = some.flatMap((text) => others.map((other) => text + other))
  return all.length <= mostWords ? all : [...all.slice(0, mostWords), unseen]
}

/** What a word may stand for. `outputOf` says what a substitution may give. */
export const meanings = (word: Word, scope: Scope, outputOf: (part: WordPart) => ReadonlyArray<string>): ReadonlyArray<string> => {
  const ofExpansion = (part: ParameterExpansionPart): ReadonlyArray<string> => {
    const { operation, parameter, prefix } = part
    if (prefix === "#") return ["0"]
    if (prefix === "!") return [unseen]
    const values = valuesOf(scope, parameter)
    if (operation?.type === "Default") return [...values ?? [part.text], ...meanings(operation.operand, scope, outputOf)]
    // A piece of a value, or a value with something changed in it.
    return values === undefined ? [part.text] : operation === undefined ? values : values.map((value) => value + unseen)
  }
  const ofPart = (part: WordPart): ReadonlyArray<string> => {
    switch (part.type) {
      case "Literal":
      case "SingleQuoted":
      case "AnsiCQuoted":
        return [part.value]
      case "DoubleQuoted":
      case "LocaleString":
        return all(part.parts)
      case "SimpleExpansion":
        return valuesOf(scope, part.text.slice(1)) ?? [part.text]
      case "ParameterExpansion":
        return ofExpansion(part)
      case "CommandExpansion":
        return outputOf(part)
      case "ArithmeticExpansion":
        return ["0"]
      case "BraceExpansion":
        return [part.text.replace(/['"\\]/g, "")]
      default:
        return [part.text]
    }
  }
  const all = (parts: ReadonlyArray<WordPart>) => parts.map(ofPart).reduce(joined, [""])
  return word.parts === undefined ? [word.value] : all(word.parts)
}

/** The words that one stands for whose value is given on as a list: `"$@"`, `${names[@]}`; undefined for any other. */
export const spread = (word: Word, scope: Scope): ReadonlyArray<string> | undefined => {
  const [, at, name] = /^"?\$(?:([@*])|\{(\w+|[@*])(?:\[[@*]\])?\})"?$/.exec(word.text) ?? []
  const list = at ?? (name !== undefined && /^[@*]$|\[[@*]\]/.test(word.text.replace(/["${}]/g, "")) ? name : undefined)
  return list === undefined ? undefined : valuesOf(scope, list)
}

const isAbsolute = (path: string): boolean => /^([/~$\\\0]|[A-Za-z]:)/.test(path)

/** A path without `.` and, where a name stands before it, without `..`. */
const normal = (path: string): string => {
  const kept: Array<string> = []
  for (const name of path.split("/")) {
    const last = kept.at(-1)
    if (name === ".." && last !== undefined && last !== "" && last !== ".." && !last.startsWith("$")) kept.pop()
    else if (name !== "." && (name !== "" || kept.length === 0)) kept.push(name)
  }
  return kept.join("/")
}

/** The paths that a word may mean in a folder. */
export const placed = (folder: string, word: string): ReadonlyArray<string> =>
  unbraced(word).map((path) => normal(folder === "" || isAbsolute(path) ? path : `${folder}/${path}`))

/** The pieces of a word that may be paths: of `key=value`, of a program's text. */
export const pieces = (text: string): ReadonlyArray<string> => [text, ...text.split(/[\s'"`;|&<>(){}=,:]+/)].filter((piece) => piece !== "")
