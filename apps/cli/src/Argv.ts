/**
 * The command line as data. Flags stand before the first other word; everything from that word on is the prompt, so
 * that `nimlet fix --the bug` asks for just that. Pure.
 */
import { Result, Schema } from "effect"
import { type Draft, type Flag, type ForeignFlag, type Invocation, listFlags, type Operand, refusals, runFlags, type Subcommand, type SubcommandGroup, subcommandGroups, subcommands } from "./Flags.ts"
import { type NearCommand, nearCommand } from "./NearCommand.ts"

/** A command line that cannot be followed; `problem` names the word and the remedy. Exit code 2. */
export class UsageError extends Schema.TaggedError<UsageError>()("UsageError", { problem: Schema.String }) {
  override get message(): string {
    return this.problem
  }
}

/** Shells that can be taught our words. */
export const shells = ["bash", "zsh", "fish", "powershell"] as const

/** What to do: tell something and leave, or run. */
export type Command =
  | { readonly kind: "help"; readonly subcommand?: Subcommand["name"] | SubcommandGroup }
  | { readonly kind: "version" }
  | { readonly kind: "completions"; readonly shell: (typeof shells)[number] }
  | { readonly kind: "subcommand"; readonly name: Subcommand["name"]; readonly invocation: Invocation }
  // `near`: what its prompt was most likely meant for.
  | { readonly kind: "run"; readonly invocation: Invocation; readonly near?: NearCommand }

const initial: Invocation = {
  mode: "text",
  stay: false,
  screenReader: false,
  prompt: "",
  foreign: [],
  appended: [],
  noBuiltinTools: false,
  persist: true,
  session: { kind: "new" },
  approve: false,
  noApprove: false,
  yolo: false,
  extensions: [],
  noExtensions: false,
  required: [],
  stdinWait: 3,
  json: false,
  start: false,
  operands: [],
  everywhere: false,
  listModels: false
}

/** Types of the flags that extensions have registered, by name without dashes. */
export type Registered = ReadonlyMap<string, "boolean" | "string">

/** What stands behind a flag of another's, as far as that can be told before its type is known, and where reading goes on. */
const readForeign = (argv: ReadonlyArray<string>, at: number, registered: Registered | undefined) => {
  const [name = "", inline] = (argv[at] ?? "").slice(2).split(/=(.*)/s)
  const type = registered?.get(name)
  const [next, after] = [argv[at + 1], argv[at + 2]]
  if (inline !== undefined) return { flag: { name, value: inline }, next: at + 1 }
  const isWord = next !== undefined && !next.startsWith("-")
  const flag: ForeignFlag = isWord && type !== "boolean" ? { name, value: next } : { name }
  // A word behind it may be its value or begin the prompt. Before another flag it is a value.
  const takes = type === undefined ? isWord && after?.startsWith("-") === true : isWord && type === "string"
  return { flag, next: at + (takes ? 2 : 1) }
}

/** The values of flags for whoever registered them: a text, or true where none stands behind. */
export const foreignValues = (foreign: ReadonlyArray<ForeignFlag>): Readonly<Record<string, string | true>> =>
  Object.fromEntries(foreign.map(({ name, value }) => [name, value ?? true]))

const fail = (problem: string) => Result.fail(new UsageError({ problem }))

/** Flags from `from` on: which were read, and where the first other word stands. `--` is behind us when `closed`. */
interface Reading {
  readonly used: ReadonlyArray<Flag>
  readonly at: number
  readonly closed: boolean
  /** A flag that ends the reading at once. */
  readonly ending?: Exclude<Command, { readonly kind: "run" | "subcommand" }>
}

const readFlags = (
  argv: ReadonlyArray<string>,
  from: number,
  flags: ReadonlyArray<Flag>,
  draft: Draft,
  /** Whether flags that we do not know may be an extension's, and what is known of those. */
  others: { readonly registered?: Registered } | undefined
): Result.Result<Reading, UsageError> => {
  const used: Array<Flag> = []
  let at = from
  for (; at < argv.length; at++) {
    const word = argv[at] ?? ""
    if (word === "--") return Result.succeed({ used, at: at + 1, closed: true })
    if (!word.startsWith("-") || word === "-") break
    if (word === "--help" || word === "-h") return Result.succeed({ used, at: argv.length, closed: true, ending: { kind: "help" } })
    if (word === "--version") return Result.succeed({ used, at: argv.length, closed: true, ending: { kind: "version" } })
    const equals = word.startsWith("--") ? word.indexOf("=") : -1
    const name = equals < 0 ? word : word.slice(0, equals)
    const flag = name === "--completions" ? undefined : flags.find(({ names }) => names.includes(name))
    const refusal = refusals[name]
    if (refusal !== undefined) return fail(refusal)
    if (flag === undefined && name !== "--completions") {
      if (others === undefined || !word.startsWith("--")) return fail(`Unknown option: ${name}`)
      const foreign = readForeign(argv, at, others.registered)
      draft.foreign = [...draft.foreign, foreign.flag]
      at = foreign.next - 1
      continue
    }
    if (flag !== undefined && flag.value === undefined) {
      if (equals >= 0) return fail(`${name} takes no value`)
      flag.set(draft, "")
      used.push(flag)
      continue
    }
    const value = equals < 0 ? argv[++at] : word.slice(equals + 1)
    if (value === undefined || value === "") return fail(`${name} needs a value: ${name} ${flag?.value ?? "SHELL"}${flag === undefined ? "" : ` (${flag.about})`}`)
    if (flag === undefined) {
      const shell = shells.find((each) => each === value)
      if (shell === undefined) return fail(`--completions takes ${shells.join(", ")}, not '${value}'`)
      return Result.succeed({ used, at: argv.length, closed: true, ending: { kind: "completions", shell } })
    }
    const problem = flag.set(draft, value)
    if (typeof problem === "string") return fail(problem)
    used.push(flag)
  }
  return Result.succeed({ used, at, closed: false })
}

/** Whether words are what a subcommand takes behind its own. */
const fits = (operands: ReadonlyArray<Operand>, words: ReadonlyArray<string>): boolean =>
  operands.every(({ optional, shape }, at) => {
    const word = words[at]
    return word === undefined ? optional === true : shape === undefined || shape.test(word)
  }) && (words.length <= operands.length || operands.at(-1)?.rest === true)

/** A subcommand, when its words stand here and nothing stands around them but what it takes. */
const subcommandAt = (argv: ReadonlyArray<string>, before: Reading, draft: Draft): Command | undefined => {
  const [word, flag, ...more] = argv.slice(before.at)
  const group = subcommandGroups.find((name) => name === word)
  if (group !== undefined && !before.closed && before.at === 0 && (flag === "--help" || flag === "-h") && more.length === 0) return { kind: "help", subcommand: group }
  const here = subcommands.find(({ name }) => name.split(" ").every((word, index) => argv[before.at + index] === word))
  if (here === undefined || before.closed || !before.used.every((flag) => here.flags.includes(flag))) return undefined
  const invocation: Draft = { ...draft }
  const operands: Array<string> = []
  for (let at = before.at + here.name.split(" ").length;; at++) {
    const read = readFlags(argv, at, here.flags, invocation, undefined)
    if (Result.isFailure(read)) return undefined
    const { closed, ending } = read.success
    if (ending?.kind === "help") return { kind: "help", subcommand: here.name }
    if (closed) return undefined
    at = read.success.at
    const word = argv[at]
    if (word === undefined) break
    operands.push(word)
  }
  return fits(here.operands ?? [], operands) ? { kind: "subcommand", name: here.name, invocation: { ...invocation, operands } } : undefined
}

/**
 * Reads a command line (without the program's own words). `--help` and `--version` end the reading at once. Flags that are not
 * ours are read as far as that can be done before extensions have registered theirs; with them, for good.
 */
export const parseArgv = (argv: ReadonlyArray<string>, registered?: Registered): Result.Result<Command, UsageError> => {
  const draft: Draft = { ...initial }
  const others = registered === undefined ? {} : { registered }
  const read = argv.includes("--list-models") ? readFlags(argv, 0, listFlags, draft, undefined) : readFlags(argv, 0, runFlags, draft, others)
  if (Result.isFailure(read)) return Result.fail(read.failure)
  const { at, closed, ending } = read.success
  if (ending !== undefined) return Result.succeed(ending)
  if (draft.listModels) {
    return Result.succeed({ kind: "subcommand", name: "models list", invocation: { ...draft, json: draft.json || draft.mode === "json", operands: argv.slice(at) } })
  }
  const subcommand = draft.foreign.length > 0 ? undefined : subcommandAt(argv, read.success, draft)
  if (subcommand !== undefined) return Result.succeed(subcommand)
  if (!draft.persist && draft.session.kind !== "new") return fail("--no-session cannot be combined with --resume or --session")
  if (draft.approve && draft.noApprove) return fail("--approve and --no-approve contradict each other")
  if (draft.script !== undefined && draft.provider === undefined) draft.provider = "scripted"
  if (draft.provider === "scripted" && draft.script === undefined) return fail("--provider scripted needs --script FILE")
  const words = argv.slice(at)
  const [first = ""] = words
  // Nobody begins a prompt so; other programs take an id there.
  if (!closed && draft.session.kind === "latest" && /^\d{17,}$/.test(first)) return fail(`--resume goes on with the latest session and takes no id; for that one: --session ${first}`)
  draft.prompt = words.join(" ").trim()
  const near = closed ? undefined : nearCommand(words)
  return Result.succeed({ kind: "run", invocation: draft, ...(near === undefined ? {} : { near }) })
}
