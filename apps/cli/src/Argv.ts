/**
 * The command line as data. Flags stand before the first other word; everything from that word on is the prompt, so
 * that `nimlet fix --the bug` asks for just that. Pure.
 */
import { Result, Schema } from "effect"

/** A command line that cannot be followed; `problem` names the word and the remedy. Exit code 2. */
export class UsageError extends Schema.TaggedError<UsageError>()("UsageError", { problem: Schema.String }) {
  override get message(): string {
    return this.problem
  }
}

/** What the flags and words of a command line ask for. */
export interface Invocation {
  readonly mode: "text" | "print" | "json"
  readonly prompt: string
  readonly provider?: string
  readonly model?: string
  readonly apiKey?: string
  /** The JSON script that the `scripted` provider plays. */
  readonly script?: string
  /** Names of the only tools to offer; empty for none, absent for all. */
  readonly tools?: ReadonlyArray<string>
  readonly persist: boolean
  /** The session to go on with: the latest of the workspace, or one by its id. */
  readonly session: { readonly kind: "new" } | { readonly kind: "latest" } | { readonly kind: "id"; readonly id: string }
  /** Project files that can act are loaded in this run. */
  readonly approve: boolean
  /** Extensions by path, started last. */
  readonly extensions: ReadonlyArray<string>
  readonly noExtensions: boolean
  /** Seconds to wait for the first byte of piped input when there is a prompt. */
  readonly stdinWait: number
}

/** What to do: tell something and leave, or run. */
export type Command =
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | { readonly kind: "run"; readonly invocation: Invocation }

type Draft = { -readonly [K in keyof Invocation]: Invocation[K] }

/** How one flag changes the invocation. One with a `value` takes the next word or what follows `=`; a text it gives back is what is wrong with that. */
interface Flag {
  readonly value?: string
  readonly set: (draft: Draft, value: string) => string | void
}

const toolNames = (list: string): ReadonlyArray<string> | undefined => {
  const names = list.split(",").map((name) => name.trim())
  if (names.includes("")) return undefined
  return names.length === 1 && names[0]?.toLowerCase() === "none" ? [] : [...new Map(names.map((name) => [name.toLowerCase(), name])).values()]
}

const print: Flag = { set: (draft) => void (draft.mode = draft.mode === "json" ? "json" : "print") }

const flags: { readonly [flag: string]: Flag } = {
  "-p": print,
  "--print": print,
  "--mode": {
    value: "json",
    set: (draft, value) => {
      if (value.toLowerCase() !== "json") return `--mode takes json, not '${value}'`
      draft.mode = "json"
    }
  },
  "--provider": { value: "NAME", set: (draft, value) => void (draft.provider = value) },
  "--model": { value: "ID", set: (draft, value) => void (draft.model = value) },
  "--api-key": { value: "KEY", set: (draft, value) => void (draft.apiKey = value) },
  "--script": { value: "FILE", set: (draft, value) => void (draft.script = value) },
  "--tools": {
    value: "LIST",
    set: (draft, value) => {
      const names = toolNames(value)
      if (names === undefined) return "--tools has an empty name; write names with commas between, or none"
      draft.tools = names
    }
  },
  "--no-session": { set: (draft) => void (draft.persist = false) },
  "--resume": { set: (draft) => void (draft.session = draft.session.kind === "id" ? draft.session : { kind: "latest" }) },
  "--session": { value: "ID", set: (draft, id) => void (draft.session = { kind: "id", id }) },
  "--approve": { set: (draft) => void (draft.approve = true) },
  "-e": { value: "PATH", set: (draft, value) => void (draft.extensions = [...draft.extensions, value]) },
  "--no-extensions": { set: (draft) => void (draft.noExtensions = true) },
  "--stdin-wait": {
    value: "SECONDS",
    set: (draft, value) => {
      const seconds = Number(value)
      if (!Number.isFinite(seconds) || seconds < 0) return `--stdin-wait takes a number of seconds, not '${value}'`
      draft.stdinWait = seconds
    }
  }
}

const initial: Invocation = {
  mode: "text",
  prompt: "",
  persist: true,
  session: { kind: "new" },
  approve: false,
  extensions: [],
  noExtensions: false,
  stdinWait: 3
}

const fail = (problem: string) => Result.fail(new UsageError({ problem }))

/** Reads a command line (without the program's own words). `--help` and `--version` end the reading at once. */
export const parseArgv = (argv: ReadonlyArray<string>): Result.Result<Command, UsageError> => {
  const draft: Draft = { ...initial }
  let at = 0
  for (; at < argv.length; at++) {
    const word = argv[at] ?? ""
    if (word === "--") {
      at++
      break
    }
    if (!word.startsWith("-") || word === "-") break
    if (word === "--help" || word === "-h") return Result.succeed({ kind: "help" })
    if (word === "--version") return Result.succeed({ kind: "version" })
    const equals = word.startsWith("--") ? word.indexOf("=") : -1
    const name = equals < 0 ? word : word.slice(0, equals)
    const flag = flags[name]
    if (flag === undefined) return fail(`Unknown option: ${name}`)
    if (flag.value === undefined) {
      if (equals >= 0) return fail(`${name} takes no value`)
      flag.set(draft, "")
      continue
    }
    const value = equals < 0 ? argv[++at] : word.slice(equals + 1)
    if (value === undefined || value === "") return fail(`${name} needs a value: ${name} ${flag.value}`)
    const problem = flag.set(draft, value)
    if (typeof problem === "string") return fail(problem)
  }
  if (!draft.persist && draft.session.kind !== "new") return fail("--no-session cannot be combined with --resume or --session")
  if (draft.script !== undefined && draft.provider === undefined) draft.provider = "scripted"
  if (draft.provider === "scripted" && draft.script === undefined) return fail("--provider scripted needs --script FILE")
  draft.prompt = argv.slice(at).join(" ").trim()
  return Result.succeed({ kind: "run", invocation: draft })
}

/** The usage text of `--help`. */
export const usage = `nimlet [FLAGS] [PROMPT...]

  nimlet "fix the failing test"           one prompt in this folder
  git diff | nimlet -p "review this"      the answer alone on stdout
  nimlet --mode json "..."                one JSON record a line

Flags stand before the prompt; everything from its first word on is the prompt.

  -p, --print            only the final answer on stdout
  --mode json            machine-readable records on stdout
  --provider NAME        anthropic, openai, openrouter, ollama, lmstudio, llamacpp, vllm, offline, scripted,
                         or one from ~/.nimlet/config.json
  --model ID             a model of that provider
  --api-key KEY          its key, for this run only
  --script FILE          the JSON script that --provider scripted plays
  --tools LIST           offer only these tools (a,b,c), or none
  --no-session           keep nothing on disk
  --resume               go on with the latest session of this folder
  --session ID           go on with that session
  --approve              load this project's own extensions in this run
  -e PATH                start the extension in that folder too
  --no-extensions        start no extension but those of -e
  --stdin-wait SECONDS   how long to wait for piped input beside a prompt (3)
  --help, --version

Exit codes: 0 done, 1 the turn failed or could not start, 2 wrong usage.
Keys: ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENROUTER_API_KEY, or ~/.nimlet/auth.json.
`
