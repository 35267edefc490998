/**
 * The files that a shell command is seen to change, and those it names to programs that may. Only what stands in its text
 * is seen: a variable's value, a script's content or the output of another command hides what it will. Pure.
 */
import type { Command, forEachChild, parse, Redirection, SyntaxNode, Word } from "unbash"
import { isReader, readsProgram, takesWords, useOf } from "./ShellPrograms.ts"

/** The shell's grammar: reads text, and goes over what was read. */
export interface ShellGrammar {
  readonly parse: typeof parse
  readonly forEachChild: typeof forEachChild
}

/** Paths as written: quotes gone, wildcards and variables not, `cd` counted in. */
export interface ShellPaths {
  /** Surely changed. */
  readonly written: ReadonlySet<string>
  /** Perhaps changed. */
  readonly named: ReadonlySet<string>
}

/** Scripts within scripts are read this deep. */
const deepest = 4
/** And so many things in one another, which is more than people write and less than a stack holds. */
const mostNested = 100
/** So many words may braces make of one. */
const mostWords = 64

/** A word with braces as the words it stands for. */
const unbraced = (text: string): ReadonlyArray<string> => {
  const all = [text]
  for (let at = 0; at < all.length && all.length < mostWords; at++) {
    const found = /\{([^{}]*,[^{}]*)\}/.exec(all[at] ?? "")
    if (found === null) continue
    const [whole, inner = ""] = found
    const word = all[at] ?? ""
    all.push(...inner.split(",").map((one) => word.slice(0, found.index) + one + word.slice(found.index + whole.length)))
  }
  return all
}

const isAbsolute = (path: string): boolean => /^([/~$\\]|[A-Za-z]:)/.test(path)

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

/** The pieces of a word that may be paths: of `key=value`, of a program's text. */
const pieces = (text: string): ReadonlyArray<string> => [text, ...text.split(/[\s'"`;|&<>(){}=,:]+/)].filter((piece) => piece !== "")

const isWriting = (redirect: Redirection): boolean =>
  redirect.type === "Redirect" && redirect.operator.includes(">") && !(redirect.operator === ">&" && /^(\d+|-)$/.test(redirect.target?.value ?? ""))

/** The paths of a command. What cannot be read is taken apart into words, all of which it may change. */
export const pathsIn = (grammar: ShellGrammar, source: string): ShellPaths => {
  const written = new Set<string>()
  const named = new Set<string>()
  /** Words that others may be given unseen. */
  const said: Array<string> = []
  let hidden = false

  const script = (text: string, depth: number): void => {
    let folder = ""
    const placed = (word: string) => unbraced(word).map((path) => normal(folder === "" || isAbsolute(path) ? path : `${folder}/${path}`))
    const write = (word: string) => placed(word).forEach((path) => written.add(path))
    const name = (word: string) => pieces(word).flatMap(placed).forEach((path) => named.add(path))

    const inner = (text: string): void => depth < deepest ? script(text, depth + 1) : name(text)

    const command = ({ args, name: program, redirects }: Command): void => {
      for (const arg of args) if (arg.type === "Assignment") name(arg.text)
      if (program === undefined) return
      const given = args.flatMap((arg) => arg.type === "Word" ? [arg.value] : [])
      const { named: may, scripts, written: will } = useOf(program.value, given)
      will.forEach(write)
      may.forEach(name)
      said.push(...given.flatMap(placed))
      if ([program.value, ...given].some(takesWords)) hidden = true
      scripts.forEach(inner)
      for (const redirect of redirects) {
        if (redirect.type !== "HereDoc") continue
        if (readsProgram(program.value)) inner(redirect.body.text)
        else if (!isReader(program.value)) name(redirect.body.text)
      }
      const [verb = "", ...where] = program.value === "builtin" || program.value === "command" ? given : [program.value, ...given]
      if (verb === "cd" || verb === "pushd") folder = placed(where.find((arg) => !arg.startsWith("-")) ?? "")[0] ?? ""
    }
    let level = 0
    const visit = (node: SyntaxNode): void => {
      if (level >= mostNested) return name(text)
      level++
      if (node.type === "Redirect" && isWriting(node) && node.target !== undefined) write(node.target.value)
      if (node.type === "For" || node.type === "Select") node.wordlist?.forEach((word: Word) => name(word.value))
      if (node.type === "Assignment") name(node.text)
      grammar.forEachChild(node, visit)
      level--
      // A redirection of `cd` itself is opened where the shell still is.
      if (node.type === "Command") command(node)
    }
    const read = grammar.parse(text)
    visit(read)
    if (read.errors !== undefined && read.errors.length > 0) name(text)
  }

  script(source, 0)
  if (hidden) said.forEach((word) => named.add(word))
  return { written, named }
}
