/** The words behind a program's name: its options, what they name, and what is left. Pure. */

/** Without what a program is told to pass over. */
export const heeded = (args: ReadonlyArray<string>): ReadonlyArray<string> =>
  args.filter((arg, index) => !/^--?(exclude|ignore|skip)/.test(arg) && !/^--?(exclude|ignore|skip)[\w-]*$/.test(args[index - 1] ?? ""))

/** Without patterns of what to leave out. */
export const included = (args: ReadonlyArray<string>): ReadonlyArray<string> => args.filter((arg) => !/^(!|:!|:\^|:\(exclude\))/.test(arg))

/** What is no option. The value of one may be among it. */
export const operands = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const end = args.indexOf("--")
  const before = end === -1 ? args : args.slice(0, end)
  return [...before.filter((arg) => !arg.startsWith("-")), ...(end === -1 ? [] : args.slice(end + 1))]
}

/** Whether one of the options is given, by the letters of its short forms and by its long ones. */
export const has = (args: ReadonlyArray<string>, letters: string, ...long: ReadonlyArray<string>): boolean =>
  args.some((arg) => new RegExp(`^-[a-zA-Z]*[${letters}]`).test(arg) || long.some((name) => arg === name || arg.startsWith(`${name}=`)))

/** What options such as `-o FILE`, `-oFILE` (where the pattern ends before it) and `--output=FILE` name. */
export const outputs = (args: ReadonlyArray<string>, options: RegExp): ReadonlyArray<string> =>
  args.flatMap((arg, index) => {
    const [, option, glued] = /^(--[\w-]+)=(.+)$/s.exec(arg) ?? /^(-[a-zA-Z])([./~$\0].*)$/s.exec(arg) ?? []
    if (option !== undefined && glued !== undefined) return options.test(option) ? [glued] : []
    const next = args[index + 1]
    return options.test(arg) && next !== undefined ? [next] : []
  })

/** Options that name an output, as most programs have them. */
export const isOutput = /^(-[a-zA-Z]*[oO]|--out(put)?(-?(file|dir))?)$/

/** Where copies go: what `-t` names, else the last word. Those before it count, too, as long as options without a value of their own may have taken it. */
export const targets = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const told = outputs(args, /^(-[a-zA-Z]*t|--target-directory)$/)
  if (told.length > 0) return told
  const found: Array<string> = []
  for (let at = args.length - 1; at >= 0; at--) {
    const arg = args[at] ?? ""
    if (arg.startsWith("-")) continue
    found.push(arg)
    if (!/^-[^=]*$/.test(args[at - 1] ?? "") || args[at - 1] === "--") break
  }
  return found
}

/** Whether a path can only mean a folder, by how it is written: where a home lies is told from others. */
const isFolder = (path: string): boolean => /(^|\/)(\.{0,2}|~)$|^~[^/]*$|^["$][^/]*$|^\/(root|(home|Users)\/[^/]+)$/.test(path)

/** The last name of each path. */
export const names = (paths: ReadonlyArray<string>): ReadonlyArray<string> => paths.flatMap((path) => /([^/]+)\/*$/.exec(path)?.[1] ?? [])

/** Stands in a folder for all that a tree brings there whose names no text says. */
export const anything = "\u0003"

/** What copies come to be: where they go, and their own names there where that is a folder. */
export const copies = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const to = targets(args)
  const from = operands(args).filter((word) => !to.includes(word))
  const folders = to.filter((path) => from.length > 1 || isFolder(path) || has(args, "t", "--target-directory"))
  const kept = args.some((arg) => /^--(parents|relative)$/.test(arg)) ? from : []
  const trees = from.some((word) => /(^|\/)\.$/.test(word)) ? to.map((path) => `${path}/${anything}`) : []
  return [...to, ...folders.flatMap((path) => [...names(from), ...kept].map((name) => `${path}/${name}`)), ...trees]
}
