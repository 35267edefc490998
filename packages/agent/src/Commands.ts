/** Slash commands as data: how one is told from other words, and those that are built in. Pure. */

/** A command that was typed: its name without the slash, and the text after it. */
export interface TypedCommand {
  readonly name: string
  readonly args: string
}

const shape = /^\/([^\s/]+)(?:\s+([\s\S]*))?$/

/** The command in what was typed; undefined for other words, a path (`/etc/hosts`) among them. */
export const commandIn = (typed: string): TypedCommand | undefined => {
  const [, name, args] = shape.exec(typed) ?? []
  return name === undefined ? undefined : { name, args: (args ?? "").trim() }
}

/** A command that is built in; `usage` is what stands after its name. */
export interface BuiltinCommand {
  readonly name: BuiltinName
  readonly usage: string
  readonly description: string
}

/** The names of built-in commands. */
export type BuiltinName = "new" | "resume" | "fork" | "rewind" | "name" | "session" | "export" | "compact" | "reload" | "extensions" | "plan" | "act" | "mode" | "trust" | "permissions" | "yolo" | "models" | "stats" | "init" | "help"

/** The built-in commands. No extension can take one of their names. */
export const builtinCommands: ReadonlyArray<BuiltinCommand> = [
  { name: "new", usage: "", description: "Start a new session" },
  { name: "resume", usage: "[ID]", description: "Go on with a session, the latest other one of this folder by default" },
  { name: "fork", usage: "N", description: "Start a session from what stands before your message N" },
  { name: "rewind", usage: "N [files [now]] | undo", description: "Go back to before your message N; with files: show which files go back too, with now: do it" },
  { name: "name", usage: "[TITLE]", description: "Give the session a title" },
  { name: "session", usage: "[list [WORDS] | rename ID TITLE | delete ID | restore ID]", description: "Tell of this session, or find, name, delete or bring back others of this folder" },
  { name: "export", usage: "[FILE]", description: "Write the session as one HTML page" },
  { name: "compact", usage: "[INSTRUCTION]", description: "Sum up the earlier part of the conversation" },
  { name: "reload", usage: "", description: "Start the extensions anew" },
  { name: "extensions", usage: "[restart NAME]", description: "Tell how the extensions do, or start one afresh" },
  { name: "plan", usage: "[PROMPT]", description: "Look around and plan, change nothing" },
  { name: "act", usage: "[PROMPT]", description: "Work with all tools again" },
  { name: "mode", usage: "[ID]", description: "Tell the ways of working there are, or choose one" },
  { name: "trust", usage: "[on|off]", description: "Tell whether this project's own files are loaded, or load them or leave them out from now on" },
  { name: "permissions", usage: "[clear]", description: "Tell what runs without a question here, or forget what was allowed in this session" },
  { name: "yolo", usage: "[on|off]", description: "Run every call without a question, or ask again" },
  { name: "models", usage: "[WORD... | refresh]", description: "Tell the models that are known, or fetch what is new of them" },
  { name: "stats", usage: "", description: "Tell what the session has used so far" },
  { name: "init", usage: "[WISH]", description: "Have the model look around here and write AGENTS.md for whoever works here next" },
  { name: "help", usage: "", description: "List the commands" }
]

/** What `/init` says to the model. */
export const initPrompt = (wish: string): string =>
  `Look around in this folder and write AGENTS.md at its top: what whoever works here next, person or model, must know and cannot see at once. ` +
  `Read the manifests, the build and test configuration, what documents there are and some of the code first. Tell how it is built, how all tests and one test are run, ` +
  `how it is laid out, and which conventions hold that the code alone does not show. At most 60 lines, nothing that any project does, nothing you have not seen. ` +
  `If there is an AGENTS.md already, keep what is right in it and change only what is wrong or missing.${wish === "" ? "" : ` ${wish}`}`

/** The built-in command of a name, in any case. */
export const builtinNamed = (name: string): BuiltinCommand | undefined =>
  builtinCommands.find((command) => command.name === name.toLowerCase())

/** How a built-in command is written. */
export const usageOf = ({ name, usage }: BuiltinCommand): string => `/${name}${usage === "" ? "" : ` ${usage}`}`

/** All commands, one a line; `templates` are those that are files. */
export const helpText = (others: ReadonlyArray<{ readonly name: string; readonly description: string; readonly extension: string }>, templates: ReadonlyArray<{ readonly name: string; readonly description: string }> = []): string =>
  [
    ...builtinCommands.map((command) => `${usageOf(command)}: ${command.description}`),
    ...others.filter(({ name }) => builtinNamed(name) === undefined).map(({ description, extension, name }) =>
      `/${name}: ${description === "" ? "" : `${description} `}(${extension})`),
    ...templates.filter(({ name }) => builtinNamed(name) === undefined).map(({ description, name }) => `/${name}${description === "" ? "" : `: ${description}`}`)
  ].join("\n")
