/** What programs do with the files that a command line gives them, as far as is commonly known. Data and pure. */

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "))

/** They look at files and change none. */
const readers = words(
  "[ ag awk basename cat cd cksum cmp comm cut date df diff dirname du echo egrep false fgrep file fold gawk grep head hexdump jq less ls md5sum more nl od paste popd printf " +
  "pushd pwd readlink realpath rg seq sha1sum sha256sum sha512sum sort stat strings tac tail test tr tree true type uniq wc which xxd"
)

/** They change, make or take away every file they are given. */
const writers = words("chattr chgrp chmod chown mkdir mkfifo mknod mktemp mv patch rm rmdir setfacl shred sponge tee touch truncate unlink")

/** They write to the last file they are given, or to that of `-t`. */
const copiers = words("cp install ln rsync scp")

/** They run what stands behind them. */
const wrappers = words("builtin busybox chroot command doas env exec ionice nice nohup parallel setsid stdbuf sudo time timeout watch xargs")

const shells = words("ash bash dash fish ksh sh zsh")

const gitReaders = words("add blame cat-file check-ignore commit describe diff grep log ls-files ls-tree rev-list rev-parse shortlog show status")

/** What a command line is seen to do with paths. */
export interface ProgramUse {
  /** Words that are files it surely changes. */
  readonly written: ReadonlyArray<string>
  /** Words that may be files it changes. */
  readonly named: ReadonlyArray<string>
  /** Words that are shell text it runs. */
  readonly scripts: ReadonlyArray<string>
}

const none: ProgramUse = { written: [], named: [], scripts: [] }
const known = (name: string) => readers.has(name) || writers.has(name) || copiers.has(name) || shells.has(name) || wrappers.has(name) || own.has(name)

/** The program's own name, whatever folder it is said to be in. */
const nameOf = (word: string): string => word.slice(word.lastIndexOf("/") + 1)

/** Without what a program is told to pass over. */
const heeded = (args: ReadonlyArray<string>): ReadonlyArray<string> =>
  args.filter((arg, index) => !/^--?(exclude|ignore|skip)/.test(arg) && !/^--?(exclude|ignore|skip)[\w-]*$/.test(args[index - 1] ?? ""))

const operands = (args: ReadonlyArray<string>) => args.filter((arg) => !arg.startsWith("-"))

/** Files that options name as outputs, such as `-o FILE` and `--target-directory=FILE`. */
const outputs = (args: ReadonlyArray<string>, options: RegExp): ReadonlyArray<string> =>
  args.flatMap((arg, index) => {
    const glued = /^(--[\w-]+)=(.+)$/s.exec(arg)
    if (glued !== null) return options.test(glued[1] ?? "") ? [glued[2] ?? ""] : []
    const next = args[index + 1]
    return options.test(arg) && next !== undefined ? [next] : []
  })

const isOutput = /^(-[a-zA-Z]*[oO]|--out(put)?(-?(file|dir))?)$/
const isTarget = /^(-t|--target-directory)$/

/** What stands behind each `-exec` of `find` and its like, up to its end. */
const commandsOfFind = (args: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> =>
  args.flatMap((arg, index) => {
    if (!/^-(exec|ok)(dir)?$/.test(arg)) return []
    const behind = args.slice(index + 1)
    const end = behind.findIndex((word) => word === ";" || word === "+")
    return [end === -1 ? behind : behind.slice(0, end)]
  })

/** Programs that change files only when told to, in ways of their own. */
const own: ReadonlyMap<string, (args: ReadonlyArray<string>) => ProgramUse> = new Map([
  ["find", (args: ReadonlyArray<string>) => {
    const acts = args.some((arg) => /^-(delete|exec|execdir|ok|okdir|fprint\w*|fls)$/.test(arg))
    const first = args.findIndex((arg) => /^[-!(]/.test(arg))
    const found = acts ? args.slice(0, first === -1 ? args.length : first) : []
    const uses = commandsOfFind(args).map(([program = "", ...given]) => useOf(program, given))
    return {
      written: [...found, ...outputs(args, /^-(fprint\w*|fls)$/), ...uses.flatMap(({ written }) => written)],
      named: uses.flatMap(({ named }) => named),
      scripts: uses.flatMap(({ scripts }) => scripts)
    }
  }],
  ["sed", (args: ReadonlyArray<string>) => args.some((arg) => /^(-\w*i|--in-place)/.test(arg)) ? { ...none, written: operands(args) } : none],
  ["perl", (args: ReadonlyArray<string>) => args.some((arg) => /^-\w*i/.test(arg)) ? { ...none, written: operands(args) } : { ...none, named: args }],
  ["dd", (args: ReadonlyArray<string>) => ({ ...none, written: args.flatMap((arg) => arg.startsWith("of=") ? [arg.slice(3)] : []) })],
  ["git", (args: ReadonlyArray<string>) => {
    const verb = args.find((arg, index) => !arg.startsWith("-") && !/^-[cC]$/.test(args[index - 1] ?? ""))
    return verb !== undefined && gitReaders.has(verb) ? { ...none, written: outputs(args, /^--output$/) } : { ...none, named: args }
  }],
  ["eval", (args: ReadonlyArray<string>) => ({ ...none, scripts: [args.join(" ")] })],
  ["trap", (args: ReadonlyArray<string>) => ({ ...none, scripts: args.slice(0, 1) })]
])

/** What the program of a command line does with the words behind it. */
export const useOf = (program: string, given: ReadonlyArray<string>): ProgramUse => {
  const name = nameOf(program)
  const args = heeded(given)
  const special = own.get(name)
  if (special !== undefined) return special(args)
  if (wrappers.has(name)) {
    const at = args.findIndex((arg) => known(nameOf(arg)))
    return at === -1 ? { ...none, named: args } : useOf(args[at] ?? "", args.slice(at + 1))
  }
  if (shells.has(name)) {
    const at = args.findIndex((arg) => /^-\w*c$/.test(arg))
    return at === -1 ? { ...none, named: args } : { ...none, scripts: args.slice(at + 1, at + 2), named: args.slice(at + 2) }
  }
  if (readers.has(name)) return { ...none, written: name === "sort" ? outputs(args, isOutput) : [] }
  if (writers.has(name)) return { ...none, written: operands(args) }
  if (copiers.has(name)) {
    const told = outputs(args, isTarget)
    const last = operands(args).at(-1)
    return { ...none, written: told.length > 0 || last === undefined ? told : [last], named: args }
  }
  return { ...none, written: outputs(args, isOutput), named: args }
}

/** Whether it takes the words of others for its own, so that nobody sees what it is given. */
export const takesWords = (program: string): boolean => nameOf(program) === "xargs" || nameOf(program) === "parallel"

/** Whether what it reads from a here-document is a program. */
export const readsProgram = (program: string): boolean => shells.has(nameOf(program))

/** Whether it only looks, whatever it is given. */
export const isReader = (program: string): boolean => readers.has(nameOf(program))
