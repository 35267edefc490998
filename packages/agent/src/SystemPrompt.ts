/** The text that opens every model request. Pure, short on purpose: each byte is paid for in every step. */

/** The system text of a run: a base, which extensions may replace, and what stands after it whatever they do. */
export interface SystemText {
  readonly base: string
  readonly appended: ReadonlyArray<string>
}

/** All of it as one text. */
export const wholeText = ({ appended, base }: SystemText): string => [base, ...appended].filter((text) => text !== "").join("\n\n")

/** A tool as the system prompt tells of it (seed 004, `promptSnippet` and `promptGuidelines`). */
export interface PromptTool {
  readonly name: string
  /** It is no built-in tool: without a `snippet` the section on tools leaves it out. */
  readonly custom: boolean
  /** One line about it. */
  readonly snippet?: string
  /** What the model should heed while it is offered. */
  readonly guidelines?: ReadonlyArray<string>
}

/** What the system prompt is made of. */
export interface PromptFacts {
  /** Absolute path of the workspace. */
  readonly workspace: string
  /** `process.platform` of the host: linux, darwin, win32. */
  readonly platform: string
}

/** A base text that tells of the tools offered. */
export type SystemPrompt = (tools: ReadonlyArray<PromptTool>) => string

const guidelines = (names: ReadonlySet<string>): ReadonlyArray<string> => [
  ...(names.has("read") ? ["Look before you change: read a file before you edit it, and search rather than guess."] : []),
  ...(names.has("edit") && names.has("bash") ? ["Change files with edit and write; use bash for what no other tool does."] : []),
  ...(names.has("bash") ? ["After a change, check it: run the test or the command that shows it works."] : []),
  "A refused tool call is an answer: do not look for a way around it.",
  "Say briefly what you did and found, name files by path, and never claim what you did not see."
]

/** The system prompt of a run. */
export const systemPrompt = ({ platform, workspace }: PromptFacts): SystemPrompt => (tools) => {
  const snippets = tools.flatMap(({ name, snippet }) => snippet === undefined ? [] : [`- ${name}: ${snippet}`])
  const plain = tools.flatMap(({ custom, name, snippet }) => custom || snippet !== undefined ? [] : [name])
  const builtin = new Set(tools.flatMap(({ custom, name }) => custom ? [] : [name]))
  const heeded = [...guidelines(builtin), ...new Set(tools.flatMap((tool) => tool.guidelines ?? []))]
  return `You are nimlet, a coding agent in the user's terminal. You read, search, change and run things in the workspace with your tools.

Workspace: ${workspace} (${platform})

Available tools: ${[plain.join(", ") || (snippets.length === 0 ? "none" : ""), ...snippets].filter((line) => line !== "").join("\n")}

Guidelines:
${heeded.map((line) => `- ${line}`).join("\n")}`
}
