/** What the words of a shell command may stand for, as far as its text says: variables and what functions are given counted in. Pure. */
import type { ParameterExpansionPart, Word, WordPart } from "unbash"
import { changed } from "./Expansions.ts"

/** Stands in a word for what no text says: the output of a command, lines that are read. */
export const unseen = "\0"

/** Stands behind the name of a variable that the command does not set: it may be empty, or anything, but nothing that the command says. */
export const elsewhere = "\u0001"

/** Stands before a text that programs make of what the command says: it may spell any name. */
export const madeUp = "\u0002"

const gaps = /\$[\w@*#?$!-]*[\0\u0001]|\0/g

/** A word with nothing and with anything where part of a name is not known; undefined where only whole names are not. */
export const filled = (word: string): ReadonlyArray<string> | undefined => {
  const names = word.split("/")
  const isPart = (name: string) => name.search(gaps) !== -1 && name.replace(gaps, "") !== ""
  return names.some(isPart) ? ["", "*"].map((text) => names.map((name) => isPart(name) ? name.replace(gaps, text) : name).join("/")) : undefined
}

/** A word as it is told, without what stands for others. */
export const told = (word: string): string => word.replaceAll(unseen, "").replaceAll(elsewhere, "").replaceAll(madeUp, "")

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
  // Which of them it is may be moved by `shift`: any. A script is given its own name, too.
  if (/^(\d+|[@*])$/.test(name)) return params
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
    const unknown = [`$${parameter}${elsewhere}`]
    if (operation?.type === "Default") {
      const others = meanings(operation.operand, scope, outputOf)
      if (operation.operator.endsWith("=")) assign(scope, parameter, others)
      return [...values ?? unknown, ...others]
    }
    if (values === undefined) return unknown
    // A piece of a list is a list of the same values.
    if (operation === undefined || (operation.type === "Slice" && /^[@*]$/.test(parameter))) return values
    return values.flatMap((value) => told(value) === value ? changed(value, operation, textsOf) ?? [value, unseen] : [value])
  }
  const textsOf = (operand: Word) => meanings(operand, scope, outputOf)
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
        return valuesOf(scope, part.text.slice(1)) ?? [part.text + elsewhere]
      case "ParameterExpansion":
        return ofExpansion(part)
      case "CommandExpansion":
        return outputOf(part)
      case "ArithmeticExpansion":
        return ["0"]
      case "ExtendedGlob":
        return ["*"]
      case "BraceExpansion":
        return [part.text.replace(/['"\\]/g, "")]
      default:
        return [part.text]
    }
  }
  const all = (parts: ReadonlyArray<WordPart>) => parts.map(ofPart).reduce(joined, [""])
  return word.parts === undefined ? [word.value] : all(word.parts)
}

/** Whether a shell makes several words of one where its values have blanks. */
export const isSplit = ({ parts = [] }: Word): boolean => parts.some(({ type }) => /^(Simple|Parameter|Command)Expansion$/.test(type))

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

/** What lies on another machine. */
const remote = /\b(https?|ssh|git|ftp):\/\/[^\s'"`;|&<>(){}]*|\b[\w.-]{1,64}@[\w.-]{1,255}:[^\s'"`;|&<>(){}]*/g

/** The pieces of a word that may be paths: of `key=value`, of a program's text. */
export const pieces = (text: string): ReadonlyArray<string> => {
  const local = text.replace(remote, "")
  return [local, ...local.split(/[\s'"`;|&<>(){}=,:]+/)].filter((piece) => piece !== "")
}
