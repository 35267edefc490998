/**
 * What may stand on the command line, as one table: parsing, usage text, help of subcommands and shell completions read
 * it. Pure.
 */
import { type ThinkingLevel, thinkingLevelOf, thinkingLevels } from "@nimlet/provider"

/** A flag that is none of ours, and what stands behind it: `value` after a `=` or as the next word. */
export interface ForeignFlag {
  readonly name: string
  readonly value?: string
}

/** What the flags and words of a command line ask for. */
export interface Invocation {
  readonly mode: "text" | "print" | "json" | "rpc"
  readonly prompt: string
  /** Flags that are none of ours: an extension's, once it has registered them. */
  readonly foreign: ReadonlyArray<ForeignFlag>
  /** The terminal stays after the prompt of the command line. */
  readonly stay: boolean
  /** What is drawn is for a screen reader. */
  readonly screenReader: boolean
  readonly provider?: string
  readonly model?: string
  /** How much the model is to think. */
  readonly thinking?: ThinkingLevel
  readonly apiKey?: string
  /** The JSON script that the `scripted` provider plays. */
  readonly script?: string
  /** Names of the only tools to offer; empty for none, absent for all. */
  readonly tools?: ReadonlyArray<string>
  /** Texts that stand at the end of the system prompt. */
  readonly appended: ReadonlyArray<string>
  readonly noBuiltinTools: boolean
  /** The most model requests a run may make; absent for no limit. */
  readonly maxSteps?: number
  readonly persist: boolean
  /** The session to go on with: the latest of the workspace, or one by its id. */
  readonly session: { readonly kind: "new" } | { readonly kind: "latest" } | { readonly kind: "id"; readonly id: string }
  /** Project files that can act are loaded in this run. */
  readonly approve: boolean
  /** Nor are they asked about. */
  readonly noApprove: boolean
  /** Calls run without a question. */
  readonly yolo: boolean
  /** Extensions by path, started last. */
  readonly extensions: ReadonlyArray<string>
  readonly noExtensions: boolean
  /** Extensions by name without which nothing runs, beside those of the settings. */
  readonly required: ReadonlyArray<string>
  /** The file that takes what extensions and we say to each other. */
  readonly trace?: string
  /** Seconds to wait for the first byte of piped input when there is a prompt. */
  readonly stdinWait: number
  /** A subcommand answers with one JSON object. */
  readonly json: boolean
  /** `doctor` starts the extensions too. */
  readonly start: boolean
  /** The words behind a subcommand's own. */
  readonly operands: ReadonlyArray<string>
  /** `sessions list` tells those of all folders. */
  readonly everywhere: boolean
  /** Tells the models there are, in place of a run. */
  readonly listModels: boolean
  /** The message of the user before which `sessions fork` ends, as it was typed. */
  readonly message?: string
}

/** An invocation while its flags are read. */
export type Draft = { -readonly [K in keyof Invocation]: Invocation[K] }

/**
 * One flag, and how it changes the invocation. The first of `names` is the one it is known by. One with a `value` takes
 * the next word or what follows `=`; a text that `set` gives back is what is wrong with that.
 */
export interface Flag {
  readonly names: readonly [string, ...ReadonlyArray<string>]
  readonly value?: string
  readonly about: string
  readonly set: (draft: Draft, value: string) => string | void
}

const toolNames = (list: string): ReadonlyArray<string> | undefined => {
  const names = list.split(",").map((name) => name.trim())
  if (names.includes("")) return undefined
  return names.length === 1 && names[0]?.toLowerCase() === "none" ? [] : [...new Map(names.map((name) => [name.toLowerCase(), name])).values()]
}

const provider: Flag = {
  names: ["--provider"],
  value: "NAME",
  about: "anthropic, openai, openrouter, google, mistral, ollama, lmstudio, llamacpp, vllm, offline, scripted, one from ~/.nimlet/config.json, or one that an extension offers",
  set: (draft, value) => void (draft.provider = value)
}
const model: Flag = { names: ["--model"], value: "ID", about: "a model of that provider", set: (draft, value) => void (draft.model = value) }
const thinking: Flag = {
  names: ["--thinking"],
  value: "LEVEL",
  about: `how much it thinks: ${thinkingLevels.join(", ")}; one it does not have becomes the nearest below`,
  set: (draft, value) => {
    const level = thinkingLevelOf(value)
    if (level === undefined) return `--thinking takes one of ${thinkingLevels.join(", ")}, not '${value}'`
    draft.thinking = level
  }
}
const apiKey: Flag = { names: ["--api-key"], value: "KEY", about: "its key, for this run only", set: (draft, value) => void (draft.apiKey = value) }
const approve: Flag = { names: ["--approve"], about: "load this project's own settings, extensions, skills and prompts in this run", set: (draft) => void (draft.approve = true) }
const noApprove: Flag = { names: ["--no-approve"], about: "leave them out, without a question", set: (draft) => void (draft.noApprove = true) }
const extension: Flag = {
  names: ["-e", "--extension"],
  value: "PATH",
  about: "start the extension in that folder too",
  set: (draft, value) => void (draft.extensions = [...draft.extensions, value])
}
const noExtensions: Flag = {
  names: ["--no-extensions"],
  about: "start no extension but those of -e",
  set: (draft) => void (draft.noExtensions = true)
}
const requireExtension: Flag = {
  names: ["--require-extension"],
  value: "NAME",
  about: "do nothing unless that extension runs",
  set: (draft, value) => void (draft.required = draft.required.includes(value) ? draft.required : [...draft.required, value])
}
const json: Flag = { names: ["--json"], about: "one JSON object on stdout", set: (draft) => void (draft.json = true) }
const everywhere: Flag = { names: ["--everywhere"], about: "those of all folders, not of this one alone", set: (draft) => void (draft.everywhere = true) }
const message: Flag = {
  names: ["--message"],
  value: "N",
  about: "up to before your message N (`nimlet sessions show ID` numbers them), not all of it",
  set: (draft, value) => void (draft.message = value)
}
const start: Flag = { names: ["--start"], about: "start the extensions too, and stop them again", set: (draft) => void (draft.start = true) }

/** Flags of others that people bring along, and why there is nothing behind them here. */
export const refusals: Readonly<Record<string, string>> = {
  "--fullscreen": "--fullscreen: nimlet draws into the terminal's own scrollback, as --regular says; there is no full screen"
}

/** The flags of a run, in the order in which they are told. */
export const runFlags: ReadonlyArray<Flag> = [
  {
    names: ["-p", "--print"],
    about: "only the final answer on stdout",
    set: (draft) => void (draft.mode = draft.mode === "text" ? "print" : draft.mode)
  },
  {
    names: ["--mode"],
    value: "json|rpc",
    about: "json: the records of one turn on stdout; rpc: a program drives nimlet by lines of JSON",
    set: (draft, value) => {
      const mode = value.toLowerCase()
      if (mode !== "json" && mode !== "rpc") return `--mode takes json or rpc, not '${value}'`
      draft.mode = mode
    }
  },
  provider,
  model,
  thinking,
  { names: ["--list-models"], about: "tell the models that are known, those with the words behind it; as `nimlet models list`", set: (draft) => void (draft.listModels = true) },
  apiKey,
  {
    names: ["--script"],
    value: "FILE",
    about: "the JSON script that --provider scripted plays",
    set: (draft, value) => void (draft.script = value)
  },
  {
    names: ["--tools"],
    value: "LIST",
    about: "offer only these tools (a,b,c), or none",
    set: (draft, value) => {
      const names = toolNames(value)
      if (names === undefined) return "--tools has an empty name; write names with commas between, or none"
      draft.tools = names
    }
  },
  { names: ["--no-builtin-tools"], about: "offer none of the built-in tools, but read_skill where there are skills", set: (draft) => void (draft.noBuiltinTools = true) },
  {
    names: ["--append-system-prompt"],
    value: "TEXT",
    about: "put this at the end of the system prompt",
    set: (draft, value) => void (draft.appended = [...draft.appended, value])
  },
  {
    names: ["--max-steps"],
    value: "N",
    about: "make at most so many requests to the model",
    set: (draft, value) => {
      const steps = Number(value)
      if (!Number.isInteger(steps) || steps < 1) return `--max-steps takes a whole number from 1 on, not '${value}'`
      draft.maxSteps = steps
    }
  },
  {
    names: ["-i", "--interactive"],
    about: "stay and talk after the prompt, at a terminal",
    set: (draft) => void (draft.stay = true)
  },
  {
    names: ["--screen-reader"],
    about: "say in words what marks say, and move nothing (also NIMLET_SCREEN_READER=1)",
    set: (draft) => void (draft.screenReader = true)
  },
  { names: ["--regular", "--no-fullscreen"], about: "draw into the terminal's own scrollback, as is always done", set: () => undefined },
  { names: ["--no-session"], about: "keep nothing on disk", set: (draft) => void (draft.persist = false) },
  {
    names: ["--resume", "-c", "--continue"],
    about: "go on with the latest session of this folder",
    set: (draft) => void (draft.session = draft.session.kind === "id" ? draft.session : { kind: "latest" })
  },
  { names: ["--session"], value: "ID", about: "go on with that session", set: (draft, id) => void (draft.session = { kind: "id", id }) },
  approve,
  noApprove,
  { names: ["--yolo"], about: "run every call without a question", set: (draft) => void (draft.yolo = true) },
  extension,
  noExtensions,
  requireExtension,
  {
    names: ["--trace"],
    value: "FILE",
    about: "add to FILE every line between nimlet and its extensions",
    set: (draft, value) => void (draft.trace = value)
  },
  {
    names: ["--stdin-wait"],
    value: "SECONDS",
    about: "how long to wait for piped input beside a prompt (3)",
    set: (draft, value) => {
      const seconds = Number(value)
      if (!Number.isFinite(seconds) || seconds < 0) return `--stdin-wait takes a number of seconds, not '${value}'`
      draft.stdinWait = seconds
    }
  }
]

/** Beside `--list-models` stands what a list is told in, too. */
export const listFlags: ReadonlyArray<Flag> = [...runFlags, json]

/** A word that stands behind those of a subcommand; with `rest` as many as there are. */
export interface Operand {
  readonly name: string
  readonly about: string
  readonly shape?: RegExp
  readonly optional?: boolean
  readonly rest?: boolean
}

/** Something other than a run: its words, what stands behind them, and the only flags it takes, before or behind them. */
export interface Subcommand {
  readonly name: "extension list" | "doctor" | "models list" | "models refresh" | "replay" | SessionCommand
  readonly about: string
  readonly flags: ReadonlyArray<Flag>
  readonly operands?: ReadonlyArray<Operand>
}

/** What is done with sessions that are not run. */
export type SessionCommand = `sessions ${"list" | "show" | "name" | "delete" | "restore" | "fork" | "export"}`

/** The first words of subcommands that have two. */
export const subcommandGroups = ["extension", "models", "sessions"] as const
/** The first word of subcommands that have two. */
export type SubcommandGroup = (typeof subcommandGroups)[number]

const id: Operand = { name: "ID", about: "the id of a session", shape: /^[A-Za-z0-9_-]+$/ }
const sessionsOf = (name: SessionCommand, about: string, flags: ReadonlyArray<Flag>, ...operands: ReadonlyArray<Operand>): Subcommand =>
  ({ name, about, flags, operands })

/** The subcommands. */
export const subcommands: ReadonlyArray<Subcommand> = [
  {
    name: "extension list",
    about: "starts the extensions that a run would start, says of each what it offers and of the others why not",
    flags: [json, approve, extension, noExtensions, requireExtension]
  },
  {
    name: "doctor",
    about: "says how nimlet is set up here, and what to do about what is wrong",
    flags: [json, start, provider, model, apiKey, approve, extension, noExtensions, requireExtension]
  },
  {
    name: "models list",
    about: "lists the models that are known: of the settings, the catalogue and extensions; * before those that could be asked now",
    flags: [json, approve, extension, noExtensions],
    operands: [{ name: "WORD", about: "only those that have all these words in their provider, id or name", optional: true, rest: true }]
  },
  {
    name: "models refresh",
    about: "fetches the public catalogue of models (models.dev, or models.catalogue_url in ~/.nimlet/config.json) into ~/.nimlet/models.json",
    flags: []
  },
  sessionsOf("sessions list", "lists the sessions of this folder, the one written last first", [json, everywhere], {
    name: "WORD",
    about: "only those that have all these words in their id, title or first message",
    optional: true,
    rest: true
  }),
  sessionsOf("sessions show", "tells what a session holds, and numbers your messages in it", [json], id),
  sessionsOf("sessions name", "gives a session a title", [], id, { name: "TITLE", about: "the title", rest: true }),
  sessionsOf("sessions delete", "moves a session to the trash", [], id),
  sessionsOf("sessions restore", "brings back a session that was deleted", [], id),
  sessionsOf("sessions fork", "makes a session of its own from another, which is left as it is", [json, message], id),
  sessionsOf("sessions export", "writes a session as one HTML page", [], id, { name: "FILE", about: "where to, - for standard output (nimlet-session-ID.html)", optional: true }),
  {
    name: "replay",
    about: "checks what a machine mode wrote, or a session file, and says what is out of order or missing",
    flags: [],
    operands: [{ name: "FILE", about: "the file" }]
  }
]

const column = 25
const row = ({ about, names, value }: Flag): string => {
  const head = `  ${names.join(", ")}${value === undefined ? "" : ` ${value}`}`
  const lines = about.split(" ").reduce<ReadonlyArray<string>>((done, word) => {
    const last = done.at(-1)
    return last === undefined || last.length + word.length >= 100 ? [...done, word] : [...done.slice(0, -1), `${last} ${word}`]
  }, [])
  const [first = "", ...rest] = lines
  const gap = head.length < column ? head.padEnd(column) : `${head}\n${" ".repeat(column)}`
  return [`${gap}${first}`, ...rest.map((line) => `${" ".repeat(column)}${line}`)].join("\n")
}

/** The usage text of `--help`. */
export const usage = `nimlet [FLAGS] [PROMPT...]
nimlet SUBCOMMAND [FLAGS]

  nimlet                                  stay and talk, at a terminal
  nimlet "fix the failing test"           one prompt in this folder
  git diff | nimlet -p "review this"      the answer alone on stdout
  nimlet --mode json "..."                one JSON record a line
  nimlet --mode rpc                       commands in, records out, until the input ends
  nimlet extension list                   what every extension offers, and why others do not start
  nimlet sessions list                    the sessions of this folder (also show, name, fork, export, delete, restore)
  nimlet models list                      the models that are known (models refresh: fetch what is new)
  nimlet doctor                           how nimlet is set up here, and what is wrong
  nimlet replay FILE                      what is wrong in a recorded stream or session

Flags stand before the prompt; everything from its first word on is the prompt. A subcommand has nothing behind it but
what it takes: \`nimlet doctor\` is one, \`nimlet doctor my code\` and \`nimlet -- doctor\` are prompts. Where a prompt looks
like one mistyped, standard error says so.

${runFlags.map(row).join("\n")}
  --completions SHELL    a script that completes these words in bash, zsh, fish or powershell
  --help, --version      (\`nimlet SUBCOMMAND --help\` has its flags)

Exit codes: 0 done, 1 the turn failed or could not start, 2 wrong usage.
Keys: ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENROUTER_API_KEY, GEMINI_API_KEY, MISTRAL_API_KEY, or ~/.nimlet/auth.json.
`
