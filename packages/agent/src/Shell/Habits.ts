/** Programs that change some of the files they are given, or only when told to, in ways of their own. Data and pure. */
import { anything, copies, has, isOutput, names, operands, outputs } from "./Arguments.ts"

/** What is done with paths: surely changed, put there whole, perhaps changed, and text that a shell runs. */
export interface Habit {
  readonly written?: ReadonlyArray<string>
  /** Where whole folders are put, or taken away, with all that is in them. */
  readonly placed?: ReadonlyArray<string>
  readonly named?: ReadonlyArray<string>
  readonly scripts?: ReadonlyArray<string>
  /** It may change files that others name to it. */
  readonly isGiven?: boolean
}

type Words = ReadonlyArray<string>

const gitReaders = new Set(
  "add blame branch cat-file check-ignore commit describe diff fetch for-each-ref grep log ls-files ls-remote ls-tree merge-base push reflog remote rev-list rev-parse shortlog show status tag".split(" ")
)
/** Settings that have git run a program, or believe another place. */
const acts =
  /^(alias|filter|include|includeif|pager)\.|\.(askpass|attributesfile|clean|\w*cmd|\w*command|difffilter|driver|editor|external|fsmonitor|gitproxy|helper|hookspath|insteadof|pager|path|process|program|receivepack|smudge|templatedir|textconv|update|uploadpack|vcs|worktree)$/i

const gitConfig = (args: Words): Habit => {
  const files = outputs(args, /^(-f|--file)$/)
  const asks = args.some((arg) => /^(--(get|list|show)[\w-]*|-l|get|list)$/.test(arg))
  if (asks) return {}
  if (files.length > 0) return { written: files }
  const given = operands(args).filter((word) => !["set", "unset", "edit"].includes(word))
  const [key = ""] = given
  const value = args[args.indexOf(key) + 1]
  if ((key === "" || value === undefined) && !args.some((arg) => /^(--)?unset/.test(arg))) return {}
  // Another name for a plain command of git's.
  if (/^alias\./i.test(key) && value !== undefined && /^[a-z]/i.test(value) && !/\s-(c|x|-exec|-config)/.test(value)) return {}
  const file = args.includes("--global") ? "~/.gitconfig" : args.includes("--system") ? "/etc/gitconfig" : ".git/config"
  return { written: acts.test(key) ? [file] : [] }
}

const git = (args: Words): Habit => {
  const at = args.findIndex((arg, index) => !arg.startsWith("-") && !/^-[cC]$/.test(args[index - 1] ?? ""))
  const verb = args[at] ?? ""
  const behind = args.slice(at + 1)
  if (verb === "config") {
    const done = gitConfig(behind)
    return done.written === undefined ? done : { ...done, named: args }
  }
  if (gitReaders.has(verb)) return { written: outputs(args, /^--output$/) }
  // A copy is named for where it comes from.
  return { named: verb === "clone" ? [...args, ...names(behind).map((name) => name.replace(/\.git$/, ""))] : args }
}

/** Words in a stream editor's language that write a file or run a command; what they name goes to the end of the line. */
const actsInSed = /(?<=^|\W|[\dgpIMme])[wWe]/gm
const mostActs = 64

const namedInSed = (script: string): Words => {
  const acts = [...script.matchAll(actsInSed)].slice(0, mostActs)
  return acts.length === 0 ? [] : [script.replaceAll("\\/", "/"), ...acts.map(({ index }) => script.slice(index + 1).split("\n", 1)[0]?.trim() ?? "")]
}

const sed = (args: Words): Habit => {
  const given = operands(args)
  const scripts = [...outputs(args, /^(-[a-zA-Z]*[ef]|--expression|--file)$/), ...args.flatMap((arg) => /^-[a-zA-Z]*e(.+)$/s.exec(arg)?.[1] ?? [])]
  const text = scripts.length > 0 ? scripts : given.slice(0, 1)
  return {
    ...(args.some((arg) => /^(-\w*i|--in-place)/.test(arg)) ? { written: scripts.length > 0 ? given : given.slice(1) } : {}),
    named: text.flatMap(namedInSed)
  }
}

/** What of a text in awk's language can write, from the first place on. */
const outputInAwk = (text: string): string => text.slice(text.search(/\bprintf?\b|$(?![\s\S])/))
const actsInAwk = (text: string): boolean => /[>|]/.test(outputInAwk(text)) || /\|&?\s*getline|\bsystem\b/.test(text)

const awk = (args: Words): Habit => {
  const given = operands(args)
  const isElsewhere = args.some((arg) => /^(-[fEil]|--(file|exec|include|load))/.test(arg))
  const acts = isElsewhere || args.some(actsInAwk)
  return {
    ...(args.some((arg, index) => arg === "inplace" && /^(-i|--include)$/.test(args[index - 1] ?? "")) ? { written: given.slice(1) } : {}),
    named: acts ? [...args, ...args.map((arg) => arg.replace(/"\s*"/g, ""))] : [],
    isGiven: args.some((arg) => /[>|]\s*[^\s"\d>|=]/.test(outputInAwk(arg)))
  }
}

/** The archive of a tar command line: what `-f` and its like name, also in a first word without a dash. */
const archiveOfTar = (args: Words): Words => {
  const [first = "", next] = args
  const old = /^[a-zA-Z]+$/.test(first) && first.includes("f") && next !== undefined ? [next] : []
  const glued = args.flatMap((arg) => /^-[a-eg-zA-Z]*f(.+)$/s.exec(arg)?.[1] ?? [])
  return [...old, ...glued, ...outputs(args, /^(-[a-zA-Z]*f|--file)$/)]
}

const tar = (args: Words): Habit => {
  const [first = ""] = args
  const cluster = /^[a-zA-Z]+$/.test(first) ? `-${first}` : first
  const given = [cluster, ...args.slice(1)]
  const scripts = args.flatMap((arg) => /^--(?:to-command|use-compress-program|checkpoint-action=exec|rsh-command|info-script|new-volume-script)=(.*)$/s.exec(arg)?.[1] ?? [])
  const changed = has(given, "cruA", "--create", "--append", "--update", "--concatenate", "--delete") ? archiveOfTar(args) : []
  // What it holds is not seen, but for members that are asked for.
  const folders = outputs(args, /^(-[a-zA-Z]*C|--directory)$/)
  const into = has(given, "x", "--extract", "--get") ? [...folders, ...folders.length === 0 ? ["."] : [], ...operands(args.slice(1)).filter((word) => !archiveOfTar(args).includes(word))] : []
  const moved = args.includes("--remove-files") ? operands(args) : []
  return { written: [...changed, ...into, ...moved], placed: [...into, ...into.map((folder) => `${folder}/${anything}`), ...moved], scripts }
}

const unzip = (args: Words): Habit => {
  if (has(args, "lptvzZ")) return {}
  const [, ...members] = operands(args)
  const folders = outputs(args, /^-[a-zA-Z]*d$/)
  const into = [...folders.length === 0 ? ["."] : folders, ...members]
  return { written: into, placed: [...into, ...into.map((folder) => `${folder}/${anything}`)] }
}

/** What stands behind `-x` is left out of the archive. */
const zip = (args: Words): Habit => {
  const out = args.findIndex((arg) => arg === "-x" || arg === "-i")
  const given = operands(out === -1 ? args : args.slice(0, out))
  return { written: has(args, "m", "--move") ? given : given.slice(0, 1) }
}

const whole = (paths: Words): Habit => ({ written: paths, placed: paths })

const changer = (args: Words): Habit => has(args, "R", "--recursive") ? whole(operands(args)) : { written: operands(args) }

/** What they change is told by the words behind them alone. */
export const habits: ReadonlyMap<string, (args: Words) => Habit> = new Map<string, (args: Words) => Habit>([
  ["git", git],
  ["sed", sed],
  ["awk", awk],
  ["gawk", awk],
  ["mawk", awk],
  ["nawk", awk],
  ["tar", tar],
  ["bsdtar", tar],
  ["unzip", unzip],
  ["zip", zip],
  ["perl", (args) => args.some((arg) => /^-\w*i/.test(arg)) ? { written: operands(args), named: args } : { named: args, isGiven: operands(args).length === 0 }],
  ["dd", (args) => ({ written: args.flatMap((arg) => arg.startsWith("of=") ? [arg.slice(3)] : []) })],
  ["mv", (args) => whole([...operands(args), ...copies(args)])],
  ["rm", (args) => whole(operands(args))],
  // Another name for a file is as good as the file: it can be changed by that name, unseen.
  ["ln", (args) => {
    const given = operands(args)
    return whole([...given, ...copies(args), ...given.length === 1 ? names(given) : []])
  }],
  ["cp", (args) => {
    const made = has(args, "ls", "--link", "--symbolic-link") ? [...operands(args), ...copies(args)] : copies(args)
    return has(args, "rRa", "--recursive", "--archive") ? whole(made) : { written: made }
  }],
  ["install", (args) => ({ written: has(args, "d", "--directory") ? operands(args) : copies(args) })],
  // A slash at the end means what is in a folder, without its name.
  ["rsync", (args) => ({ ...whole(copies(args.map((arg, index) => index < args.length - 1 ? arg.replace(/\/$/, "/.") : arg))), named: args })],
  ["scp", (args) => ({ ...whole(copies(args)), named: args })],
  ...["chattr", "chgrp", "chmod", "chown", "setfacl"].map((program) => [program, changer] as const),
  ["uniq", (args) => ({ written: operands(args).slice(1) })],
  ["xxd", (args) => ({ written: operands(args).slice(1) })],
  ["sort", (args) => ({ written: outputs(args, isOutput) })],
  ["tree", (args) => ({ written: outputs(args, /^-o$/) })],
  ["less", (args) => ({ written: outputs(args, /^(-[oO]|--(LOG|log)-(FILE|file))$/) })],
  ["rg", (args) => ({ scripts: outputs(args, /^--pre$/) })],
  ["trap", (args) => ({ scripts: args.slice(0, 1) })],
  ["eval", (args) => ({ scripts: [args.join(" ")] })],
  ["watch", (args) => ({ scripts: [args.filter((arg) => !arg.startsWith("-")).join(" ")] })]
])
