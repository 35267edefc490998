/**
 * The files that a shell command is seen to change, and those it may change: names it hands to programs nobody knows, and
 * all that it says where a file is changed whose name is not in its text. What a script holds that is run, and values from
 * elsewhere, are not seen. Pure.
 */
import type { Assignment, Command, forEachChild, HereDoc, HereString, parse, Redirection, SyntaxNode, Word, WordPart } from "unbash"
import { isReader, makesUp, nameOf, readsProgram, type ShellText, tellsOthers, useOf } from "./Programs.ts"
import { anything } from "./Arguments.ts"
import { printed, unescaped } from "./Expansions.ts"
import { assign, elsewhere, filled, isSplit, madeUp, meanings, pieces, placed, type Scope, spread, told, unseen } from "./Words.ts"

/** The shell's grammar: reads text, and goes over what was read. */
export interface ShellGrammar {
  readonly parse: typeof parse
  readonly forEachChild: typeof forEachChild
}

/** Paths as written: quotes gone, wildcards not, `cd` counted in. */
export interface ShellPaths {
  /** Surely changed. */
  readonly written: ReadonlySet<string>
  /** Folders that are put there whole, or taken away with all that is in them. */
  readonly placed: ReadonlySet<string>
  /** Perhaps changed. */
  readonly named: ReadonlySet<string>
}

/** Scripts within scripts, and functions within functions, are read this deep. */
const deepest = 4
/** So many words that are read are remembered. */
const mostRead = 16
/** And so many things in one another, which is more than people write and less than a stack holds. */
const mostNested = 100
/** A command may be in one of so many folders. */
const mostFolders = 8
/** So many paths are made of its words in all: more than people write, and little enough to wait for. */
const mostPaths = 10_000

const isWriting = (redirect: Redirection): boolean =>
  redirect.type === "Redirect" && redirect.operator.includes(">") && !(redirect.operator === ">&" && /^(\d+|-)$/.test(redirect.target?.value ?? ""))

const isHome = (path: string): boolean => /^(~|\$HOME)$/.test(path)
/** What `read` may take of a text: all of it, a line, a word, whatever parts the words. */
const readIn = (text: string): ReadonlyArray<string> => [text.trimEnd(), ...text.split(/[\s:;,|=_-]+/)].filter((one) => one !== "").slice(0, mostRead)
/** A name that begins with what is made up. */
const startsMadeUp = (word: string): boolean => word.startsWith(madeUp) || word.includes(`/${madeUp}`)
/** A text that a command says itself: neither a value from elsewhere nor what is found on a disk. */
const isSaid = (text: string): boolean => /[\w.]/.test(text) && !/[$*?[\0\u0001\u0002]/.test(text)

const union = (some: ReadonlyArray<string>, others: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set([...some, ...others])].slice(0, mostFolders)

/** The paths of a command. What cannot be read is taken apart into words, all of which it may change. */
export const pathsIn = (grammar: ShellGrammar, source: string): ShellPaths => {
  const written = new Set<string>()
  const put = new Set<string>()
  const named = new Set<string>()
  /** Words that others may be given unseen, looked at only where some are. */
  const said: Array<() => void> = []
  const functions = new Map<string, SyntaxNode>()
  const variables: Scope["variables"] = new Map()
  /** Names that stand for other names. */
  const aliases = new Set<string>()
  /** Something is changed whose name is not seen. */
  let hidden = false
  /** Not all of it was looked at. */
  let blurred = false
  let exported: ReadonlyArray<string> = []
  let folders: ReadonlyArray<string> = [""]
  let scope: Scope = { variables, params: undefined }
  let depth = 0
  let level = 0
  let paths = 0

  const everywhere = (word: string) => {
    blurred ||= paths > mostPaths
    if (blurred) return []
    const plain = word.replaceAll(madeUp, "")
    const found = folders.flatMap((folder) => (filled(plain) ?? [plain]).filter((one) => one !== "" || plain === "").flatMap((one) => placed(folder, one)))
    paths += found.length
    return found
  }
  const seen = (word: string): string => {
    if (word.includes(unseen)) hidden = true
    return told(word)
  }
  const add = (to: Set<string>, word: string) => {
    if (word.includes(unseen)) hidden = true
    if (word !== "") everywhere(word).forEach((path) => {
      const name = seen(path) || "."
      // Of all folders a home alone has names in it that are loaded from whatever is trusted.
      if (!name.endsWith(anything)) to.add(name)
      else if (isHome(name.slice(0, -anything.length - 1))) to.add("~/.*")
    })
  }
  const into = (to: Set<string>) => (given: string) => {
    const word = given.replaceAll(madeUp, "")
    if (startsMadeUp(given)) named.add(".git")
    // What its name is cannot be known.
    for (const one of [word, ...(/\s/.test(word) ? word.trim().split(/\s+/) : [])]) add(filled(one) === undefined ? to : named, one)
  }
  const write = into(written)
  const name = (word: string) => pieces(word).forEach((piece) => add(named, piece))
  const say = (word: string) => {
    const from = folders
    said.push(() => pieces(word).forEach((piece) => from.forEach((folder) => placed(folder, piece).forEach((path) => named.add(told(path))))))
  }

  /** A shell of its own: where it goes, nobody else does. */
  const apart = (act: () => void) => {
    const before = folders
    act()
    folders = before
  }
  /** Something that may be run or not. */
  const perhaps = (act: () => void) => {
    const before = folders
    act()
    folders = union(before, folders)
  }
  const within = (params: Scope["params"], act: () => void) => {
    if (depth >= deepest) return false
    const before = scope
    scope = { variables, params }
    depth++
    act()
    depth--
    scope = before
    return true
  }

  const programsOf = (node: SyntaxNode, found: Array<Command> = []): ReadonlyArray<Command> => {
    if (found.length > mostNested) return found
    if (node.type === "Command") found.push(node)
    else grammar.forEachChild(node, (child) => void programsOf(child, found))
    return found
  }
  const outputOf = (part: WordPart): ReadonlyArray<string> => {
    if (part.type !== "CommandExpansion" || part.script === undefined) return ["$" + unseen]
    const all = programsOf(part.script)
    const [only] = all.length === 1 ? all : []
    if (only?.name?.value === "pwd") return ["."]
    const words = lines((only?.args ?? []).filter((arg) => arg.type === "Word"))
    if (only?.name?.value === "echo") return words.map((texts) => texts.filter((text) => !/^-[neE]+$/.test(text)).join(" ")).flatMap((text) => [...new Set([text, unescaped(text)])])
    if (only?.name?.value === "printf") return [...words.map(printed), "$" + unseen]
    const says = (one: Command) =>
      (/^(echo|printf)$/.test(one.name?.value ?? "") && lines(one.args.filter((arg) => arg.type === "Word")).some((texts) => texts.some((text) => !text.startsWith("-") && isSaid(text)))) ||
      one.redirects.some((redirect) => redirect.type !== "Redirect" && body(redirect).some(isSaid))
    if (all.some(({ name: program }) => program !== undefined && makesUp(program.value)) && all.some(says)) return [`${madeUp}$${unseen}`]
    const tells = all.some(({ args, name: program }) => tellsOthers(program?.value ?? "", args.map(({ text }) => text)))
    return ["$" + (tells ? unseen : elsewhere)]
  }
  const mean = (word: Word) => meanings(word, scope, outputOf)

  const inner = ({ args, text }: ShellText): void => {
    if (!within(args, () => script(seen(text)))) name(text)
  }

  const give = (assignment: Assignment): ReadonlyArray<string> => {
    const { name: to, value } = assignment
    const texts = value.type === "Word" ? mean(value) : value.elements.flatMap(mean).map((text) => text.replace(/^\[[^\]]*\]\+?=/, ""))
    if (aliases.has(to)) for (const other of variables.get(to) ?? []) assign(scope, other, texts)
    assign(scope, to, assignment.append === true ? [...texts, ...(variables.get(to) ?? [])].flatMap((text) => [text, ...[...variables.get(to) ?? []].map((before) => before + text)]) : texts)
    texts.forEach(say)
    return texts
  }

  /** Words of a command line, each with one of the texts it may stand for; as often as there are others. */
  const lines = (args: ReadonlyArray<Word>): ReadonlyArray<ReadonlyArray<string>> => {
    const split = (text: string) => /\s/.test(text) ? text.trim().split(/\s+/) : [text]
    const all = args.flatMap((arg) => spread(arg, scope)?.map((text) => [[text]]) ?? [mean(arg).map((text) => isSplit(arg) ? split(text) : [text])])
    const most = Math.max(1, ...all.map((texts) => texts.length))
    return Array.from({ length: most }, (_, index) => all.flatMap((texts) => texts[Math.min(index, texts.length - 1)] ?? []))
  }

  const enter = (word: string) => {
    const from = /^\.{0,2}(\/|$)/.test(word) ? [] : [...variables.get("CDPATH") ?? []].flatMap((list) => list.split(":"))
    folders = union([word, ...from.map((folder) => `${folder}/${word}`)].flatMap(everywhere), [])
  }

  /** What the shell does itself. True when that is all. */
  const inShell = (verb: string, given: ReadonlyArray<string>, fed: ReadonlyArray<string>): boolean => {
    if (verb === "cd" || verb === "pushd") enter(given.find((arg) => !arg.startsWith("-")) ?? "")
    else if (verb === "set") scope.params = given.filter((arg, index) => index > 0 || !arg.startsWith("-"))
    else if (/^(read|mapfile|readarray|getopts)$/.test(verb)) given.filter((arg) => !arg.startsWith("-")).forEach((to) => assign(scope, to, [...fed.flatMap(readIn), unseen]))
    else if (verb === "printf" && given[0] === "-v" && given[1] !== undefined) assign(scope, given[1], [printed(given.slice(2)), unseen, ...given.slice(3)])
    else return false
    return true
  }

  const body = (redirect: HereDoc | HereString): ReadonlyArray<string> =>
    redirect.type === "HereDoc" ? [redirect.body.text] : redirect.target === undefined ? [] : mean(redirect.target)

  const line = (program: string, given: ReadonlyArray<string>, redirects: ReadonlyArray<Redirection>, prefix: ReadonlyArray<string>): void => {
    const fed = redirects.flatMap((redirect) => redirect.type === "Redirect" ? [] : body(redirect))
    fed.forEach(say)
    const [verb = "", ...behind] = program === "builtin" || program === "command" ? given : [program, ...given]
    inShell(verb, behind, fed)
    const called = functions.get(program)
    if (called !== undefined) {
      given.forEach(say)
      if (!within(given, () => visit(called))) given.forEach(name)
      return
    }
    const { folders: inside, isGiven, isUnknown, named: may, placed: whole, said: others, scripts, set, written: will } = useOf(program, given)
    if (nameOf(program).includes(unseen)) hidden = true
    for (const [, to = "", value = ""] of set.map((word) => /^(\w+)=(.*)$/s.exec(word) ?? [])) assign(scope, to, [value])
    const before = folders
    for (const folder of inside) folders = union(everywhere(folder), [])
    will.forEach(write)
    whole.forEach(into(put))
    may.forEach(name)
    others.forEach(say)
    scripts.forEach(inner)
    if (isGiven && fed.length === 0) hidden = true
    if (isUnknown) [...prefix, ...exported].forEach(name)
    for (const text of fed) {
      if (readsProgram(program)) inner({ text, args: given })
      else if (!isReader(program) || may.length > 0) name(text)
      if (isGiven && !readsProgram(program)) hidden = true
    }
    if (inside.length > 0) folders = before
  }

  const command = ({ args, name: program, prefix, redirects }: Command): void => {
    const before = prefix.flatMap((one) => one.type === "Assignment" ? give(one) : [])
    const declared = args.flatMap((arg) => arg.type === "Assignment" ? give(arg) : [])
    if (program === undefined) return
    if (/^(export|declare|typeset)$/.test(program.value)) exported = [...exported, ...declared]
    const given = args.filter((arg) => arg.type === "Word")
    if (/^(declare|typeset|local)$/.test(program.value) && given.some(({ value }) => /^-\w*n/.test(value))) {
      for (const { name: alias } of args.filter((arg) => arg.type === "Assignment")) {
        aliases.add(alias)
        assign(scope, alias, [unseen])
      }
    }
    for (const [first = "", ...rest] of lines([program, ...given])) line(first, rest, redirects, [...before, ...declared])
  }

  const children = (node: SyntaxNode) => grammar.forEachChild(node, visit)

  const parts: { readonly [type: string]: ((node: SyntaxNode) => void) | undefined } = {
    Subshell: (node) => apart(() => children(node)),
    Coproc: (node) => apart(() => children(node)),
    CommandExpansion: (node) => apart(() => children(node)),
    ProcessSubstitution: (node) => apart(() => children(node)),
    ArithmeticCommandExpansion: (node) => apart(() => children(node)),
    CaseItem: (node) => perhaps(() => children(node)),
    While: (node) => perhaps(() => children(node))
  }

  const visit = (node: SyntaxNode): void => {
    if (level >= mostNested || paths++ > mostPaths) return void (blurred = true)
    level++
    if (node.type === "Redirect" && isWriting(node) && node.target !== undefined) mean(node.target).forEach(write)
    if (node.type === "Command") {
      // A redirection of `cd` itself is opened where the shell still is.
      children(node)
      command(node)
    } else if (node.type === "Statement" && node.background === true) apart(() => children(node))
    else if (node.type === "Pipeline" && node.commands.length > 1) node.commands.forEach((one) => apart(() => visit(one)))
    else if (node.type === "AndOr") {
      let anywhere = folders
      node.commands.forEach((one, index) => {
        if (node.operators[index - 1] === "||") folders = union(folders, anywhere)
        visit(one)
        anywhere = index === 0 ? folders : union(anywhere, folders)
      })
      folders = anywhere
    } else if (node.type === "If") {
      visit(node.clause)
      for (const branch of [node.then, ...node.elif, node.else]) if (branch !== undefined) perhaps(() => visit(branch))
    } else if (node.type === "For" || node.type === "Select") {
      node.wordlist?.forEach(visit)
      const texts = node.wordlist === undefined ? scope.params ?? [] : node.wordlist.flatMap((word) => spread(word, scope) ?? mean(word))
      texts.forEach(say)
      assign(scope, node.name.value, texts)
      perhaps(() => visit(node.body))
    } else if (node.type === "Function") {
      functions.set(node.name.value, node.body)
      apart(() => void within(undefined, () => visit(node.body)))
    } else if (node.type === "Redirected") {
      for (const redirect of node.redirects) if (redirect.type !== "Redirect") body(redirect).forEach(say)
      children(node)
    } else (parts[node.type] ?? children)(node)
    level--
  }

  const script = (text: string): void => {
    const read = grammar.parse(text)
    visit(read)
    if (read.errors !== undefined && read.errors.length > 0) name(text)
  }

  // Twice: what is set later, or in a function that stands further down, may be used before, in a loop.
  for (const _ of [1, 2]) {
    folders = [""]
    written.clear()
    put.clear()
    named.clear()
    hidden = false
    blurred = false
    said.length = 0
    paths = 0
    scope = { variables, params: undefined }
    script(source)
  }
  if (hidden) said.forEach((look) => look())
  if (blurred) pieces(source).forEach((piece) => named.add(piece))
  return { written, placed: put, named }
}
