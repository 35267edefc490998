/** What the program of a command line does with the words behind it, as far as is commonly known. Data and pure. */
import { heeded, included, isOutput, operands, outputs } from "./Arguments.ts"
import { habits } from "./Habits.ts"

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "))

/** They look at files and change none. */
const readers = words(
  "[ ag basename cat cd cksum cmp comm cut date df diff dirname du echo egrep false fgrep file fold grep head hexdump jq ls md5sum more nl od paste popd printf " +
  "pushd pwd readlink realpath seq sha1sum sha256sum sha512sum stat strings tac tail test tr true type wc which"
)

/** They change the shell itself and no file. */
const settings = words(": break continue declare exit export getopts hash jobs let local mapfile read readarray readonly return set shift shopt sleep typeset ulimit umask unset wait")

/** They change, make or take away every file they are given. */
const writers = words("mkdir mkfifo mknod mktemp patch rmdir shred sponge tee touch truncate unlink")

/** They run what stands behind them: letters of their options that take a word of their own, and how many words come before the program. */
const wrappers: ReadonlyMap<string, readonly [valued: string, before: number]> = new Map([
  ["builtin", ["", 0]],
  ["busybox", ["", 0]],
  ["chroot", ["", 1]],
  ["command", ["", 0]],
  ["doas", ["uC", 0]],
  ["env", ["uCS", 0]],
  ["exec", ["a", 0]],
  ["ionice", ["cnp", 0]],
  ["nice", ["n", 0]],
  ["nohup", ["", 0]],
  ["parallel", ["jNI", 0]],
  ["setsid", ["", 0]],
  ["stdbuf", ["ioe", 0]],
  ["sudo", ["ughpCrtTUDR", 0]],
  ["time", ["fo", 0]],
  ["timeout", ["sk", 1]],
  ["xargs", ["InPLdEsa", 0]]
])

/** Long options of theirs that take a word of their own. */
const valuedOptions = words("--adjustment --arg-file --argv0 --chdir --class --classdata --delimiter --error --group --host --input --kill-after --max-args --max-lines --max-procs --output --signal --unset --user")

/** The options by which some go to a folder first. */
const goers: ReadonlyMap<string, RegExp> = new Map([["env", /^(-[a-zA-Z]*C|--chdir)$/], ["sudo", /^(-[a-zA-Z]*D|--chdir)$/]])

/** Of those, the ones that add words of others to it, so that nobody sees what it is given. */
const gatherers = words("parallel xargs")

const shells = words("ash bash dash fish ksh sh su zsh")

/** They do what they read, unless they are given something else to do. */
const interpreters = /^(python[\d.]*|node|deno|bun|ruby|php|lua)$/
/** They do what they read, whatever they are given. */
const lineEditors = words("ed ex")

/** Shell text that is run, with what it is given. */
export interface ShellText {
  readonly text: string
  readonly args: ReadonlyArray<string>
}

/** What a command line is seen to do with paths. */
export interface ProgramUse {
  /** Words that are files it surely changes. */
  readonly written: ReadonlyArray<string>
  /** Words that are folders it puts there whole, or takes away with all that is in them. */
  readonly placed: ReadonlyArray<string>
  /** Words that may be files it changes. */
  readonly named: ReadonlyArray<string>
  readonly scripts: ReadonlyArray<ShellText>
  /** Folders that it goes to before, one after the other. */
  readonly folders: ReadonlyArray<string>
  /** Variables that are set for what it runs, as `NAME=value`. */
  readonly set: ReadonlyArray<string>
  /** Words that others may be given by it. */
  readonly said: ReadonlyArray<string>
  /** It may change files that others name to it. */
  readonly isGiven: boolean
  /** Nothing is known of it, and what it does beside. */
  readonly isUnknown: boolean
}

/** A program's own name, whatever folder it is said to be in. */
export const nameOf = (word: string): string => word.slice(word.lastIndexOf("/") + 1)

const use = (said: ReadonlyArray<string>, known: Partial<ProgramUse> = {}): ProgramUse =>
  ({ written: [], placed: [], named: [], scripts: [], folders: [], set: [], isGiven: false, isUnknown: false, said: included(said), ...known })

/** Where the program stands that a wrapper runs; -1 for nowhere. */
const programAt = (args: ReadonlyArray<string>, [valued, before]: readonly [string, number]): number => {
  let left = before
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ""
    if (arg.startsWith("-")) {
      if (arg.startsWith("--") ? valuedOptions.has(arg) : valued.includes(arg.at(-1) ?? "")) at++
    } else if (!/^\w+=/.test(arg) && left-- === 0) return at
  }
  return -1
}

/** What stands behind each `-exec` of `find` and its like, up to its end. */
const commandsOfFind = (args: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> =>
  args.flatMap((arg, index) => {
    if (!/^-(exec|ok)(dir)?$/.test(arg)) return []
    const behind = args.slice(index + 1)
    const end = behind.findIndex((word) => word === ";" || word === "+")
    return [end === -1 ? behind : behind.slice(0, end)]
  })

/** What it finds has what it looks for in its name, unless it is told to leave that out. */
const findUse = (args: ReadonlyArray<string>): ProgramUse => {
  const first = args.findIndex((arg) => /^[-!(]/.test(arg))
  const places = args.slice(0, first === -1 ? args.length : first)
  const runs = commandsOfFind(args).map(([program = "", ...given]) => useOf(program, given))
  const changes = args.includes("-delete") || runs.some(({ written }) => written.length > 0)
  const may = runs.some(({ isUnknown, named, scripts }) => isUnknown || named.length + scripts.length > 0)
  const sought = args.filter((_, index) => /^-(i?name|i?path|i?wholename|i?regex)$/.test(args[index - 1] ?? "") && !/^(!|-not)$/.test(args[index - 2] ?? "") && args[index + 1] !== "-prune")
  return use([...places, ...sought], {
    written: [...(changes ? places : []), ...outputs(args, /^-(fprint\w*|fls)$/), ...runs.flatMap(({ written }) => written)],
    placed: [...(changes ? places : []), ...runs.flatMap(({ placed }) => placed)],
    named: [...(may ? places : []), ...runs.flatMap(({ named }) => named)],
    scripts: runs.flatMap(({ scripts }) => scripts),
    isGiven: runs.some(({ isGiven }) => isGiven)
  })
}

/** What the program of a command line does with the words behind it. */
export const useOf = (program: string, given: ReadonlyArray<string>): ProgramUse => {
  const name = nameOf(program)
  const args = heeded(given)
  const wrapper = wrappers.get(name)
  if (wrapper !== undefined) {
    const at = programAt(given, wrapper)
    const split = name === "env" ? outputs(given, /^(-[a-zA-Z]*S|--split-string)$/).map((text): ShellText => ({ text: `env ${text}`, args: [] })) : []
    const before = given.slice(0, at === -1 ? given.length : at)
    const goes = goers.get(name)
    const run = at === -1 ? use([]) : useOf(given[at] ?? "", given.slice(at + 1))
    const folders = [...goes === undefined ? [] : outputs(before, goes), ...run.folders]
    const set = [...before.filter((word) => /^\w+=/.test(word)), ...run.set]
    return { ...run, folders, set, scripts: [...run.scripts, ...split], said: args, isGiven: run.isGiven || (gatherers.has(name) && at !== -1 && !isReader(given[at] ?? "")) }
  }
  if (name === "find") return findUse(args)
  if (shells.has(name)) {
    const at = given.findIndex((arg) => /^-\w*c\w*$/.test(arg))
    const text = given.findIndex((arg, index) => index > at && !/^[-+]/.test(arg) && !/^[-+]\w*[oO]$/.test(given[index - 1] ?? ""))
    if (at !== -1) return use(given, { scripts: [{ text: given[text] ?? "", args: text === -1 ? [] : given.slice(text + 1) }] })
    return use(given, { named: given, isGiven: operands(given).length === 0, isUnknown: operands(given).length > 0 })
  }
  const habit = habits.get(name)
  if (habit !== undefined) {
    const { isGiven = false, named = [], placed = [], scripts = [], written = [] } = habit(args)
    return use(args, { isGiven, named, placed, written, scripts: scripts.map((text) => ({ text, args: [] })) })
  }
  // What is not to be found is not handed on.
  if (readers.has(name)) return use(/^[ef]?grep$/.test(name) && args.some((arg) => /^-\w*v/.test(arg)) ? [] : args)
  if (settings.has(name)) return use(args)
  if (writers.has(name)) return use(args, { written: operands(args) })
  const made = outputs(args, isOutput)
  const isGiven = lineEditors.has(name) || (interpreters.test(name) && operands(args).every((word) => word === "-"))
  return use(args, { isGiven, written: made, placed: made, named: included(args), isUnknown: true })
}

/** Whether what it reads is a program. */
export const readsProgram = (program: string): boolean => shells.has(nameOf(program))

/** Whether it only looks, whatever it is given. */
export const isReader = (program: string): boolean => readers.has(nameOf(program)) || /^([gmn]?awk|sort|uniq|rg|tree)$/.test(nameOf(program))

/** Programs whose output has nothing of what others say. */
const tellers = words("date hostname id mktemp nproc pwd seq uname which whoami")

/** Whether the words that the program of a substitution gives may be anything that others say. */
export const tellsOthers = (program: string, given: ReadonlyArray<string>): boolean =>
  !tellers.has(nameOf(program)) && !(nameOf(program) === "git" && given[0] === "rev-parse" && !given.some((arg) => /git-(dir|common-dir|path)$/.test(arg)))

/** Programs that give on what they are given, name by name, or tell something of it. */
const passers = words("[ : cat echo egrep false fgrep find grep head ls printf pwd rg sort tail tee test true uniq wc")

/** Whether the words that a program gives may be others than the words it is given. */
export const makesUp = (program: string): boolean => !passers.has(nameOf(program))
