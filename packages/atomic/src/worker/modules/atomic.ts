/**
 * What stands behind `@bastani/atomic`, `@earendil-works/pi-coding-agent` and `@mariozechner/pi-coding-agent`: one module, so
 * that a class from one name is the class from the others. Nothing heavy is loaded by it.
 */
import { homedir } from "node:os"
import { join } from "node:path"
import { absent, absentClass, absentTool } from "../Absent.ts"
import { theme } from "../Theme.ts"
import { fieldsOf, messageOf, textOf } from "../Values.ts"

export { withFileMutationQueue } from "../FileQueue.ts"
export { convertToLlm, formatReadLineRange, parseFrontmatter, serializeConversation } from "../Messages.ts"
export { sessionScopedExtensionState } from "../ScopedState.ts"
export { createStructuredOutputCapture, createStructuredOutputTool, StringEnum } from "../StructuredOutput.ts"
export { DEFAULT_MAX_BYTES, DEFAULT_MAX_LINES, formatSize, truncateHead, truncateLine, truncateTail } from "../Truncation.ts"

/** The version of the extension API that is provided. */
export const VERSION = "1.6.0"
/** The host's name. */
export const APP_NAME = "nimlet"
/** The folder of a project's own configuration. */
export const CONFIG_DIR_NAME = ".nimlet"
/** The user's configuration. */
export const getAgentDir = (): string => join(homedir(), CONFIG_DIR_NAME)
/** Gives the definition back; it is there for its types. */
export const defineTool = <A>(definition: A): A => definition

/** Whether a `tool_call` event is of the tool `name`. */
export const isToolCallEventType = (name: unknown, event: unknown): boolean => fieldsOf(event)["toolName"] === name
const isResultOf = (name: string) => (event: unknown): boolean => fieldsOf(event)["toolName"] === name
/** Whether a `tool_result` event is of bash. */
export const isBashToolResult = isResultOf("bash")
/** Whether a `tool_result` event is of read. */
export const isReadToolResult = isResultOf("read")
/** Whether a `tool_result` event is of edit. */
export const isEditToolResult = isResultOf("edit")
/** Whether a `tool_result` event is of write. */
export const isWriteToolResult = isResultOf("write")
/** Whether a `tool_result` event is of grep. */
export const isGrepToolResult = isResultOf("grep")
/** Whether a `tool_result` event is of find. */
export const isFindToolResult = isResultOf("find")
/** Whether a `tool_result` event is of ls. */
export const isLsToolResult = isResultOf("ls")
/** Whether something was thrown because a session was over. */
export const isStaleExtensionContextError = (error: unknown): boolean => messageOf(error).includes("extension ctx is stale")

/** A key for people. */
export const keyText = (key: unknown): string => textOf(key)
/** A key and what it does. */
export const rawKeyHint = (key: unknown, description: unknown): string => `${textOf(key)} ${textOf(description)}`
/** The same of a configured binding. */
export const keyHint = rawKeyHint
/** The same; nothing where the binding has no key. */
export const keyHintIfBound = (): string | undefined => undefined

const plainTheme = {
  heading: (text: string) => theme.bold(text), text: (text: string) => text, link: (text: string) => text, linkUrl: (text: string) => text,
  code: (text: string) => text, codeBlock: (text: string) => text, codeBlockBorder: (text: string) => text, quote: (text: string) => text,
  quoteBorder: (text: string) => text, hr: (text: string) => text, listBullet: (text: string) => text, bold: theme.bold,
  italic: theme.italic, underline: theme.underline, strikethrough: theme.strikethrough, label: (text: string) => text,
  value: (text: string) => text, description: (text: string) => text, cursor: "> ", hint: (text: string) => text,
  selectedPrefix: (text: string) => text, selectedText: (text: string) => text, scrollInfo: (text: string) => text, noMatch: (text: string) => text
}
/** Colours of Markdown. */
export const getMarkdownTheme = () => plainTheme
/** Colours of a list of settings. */
export const getSettingsListTheme = () => plainTheme
/** Colours of a list to choose from. */
export const getSelectListTheme = () => plainTheme
/** Code in lines; without colours. */
export const highlightCode = (code: unknown): ReadonlyArray<string> => textOf(code).split("\n")
/** The language of a file, by its ending. */
export const getLanguageFromPath = (path: unknown): string | undefined => /\.(\w+)$/.exec(textOf(path))?.[1]
/** The conversation of a branch. */
export const buildSessionContext = (entries: unknown) => ({
  messages: (Array.isArray(entries) ? entries : []).flatMap((entry: unknown) => fieldsOf(entry)["message"] ?? [])
})

// Built-in tools as parts for others: they can be made and spread; running them here is not there yet.
/** The tool read. */
export const createReadTool = absentTool("createReadTool", "read")
/** The tool bash. */
export const createBashTool = absentTool("createBashTool", "bash")
/** The tool edit. */
export const createEditTool = absentTool("createEditTool", "edit")
/** The tool write. */
export const createWriteTool = absentTool("createWriteTool", "write")
/** The tool grep. */
export const createGrepTool = absentTool("createGrepTool", "grep")
/** The tool find. */
export const createFindTool = absentTool("createFindTool", "find")
/** The tool ls. */
export const createLsTool = absentTool("createLsTool", "ls")
/** The tool read, as a definition. */
export const createReadToolDefinition = createReadTool
/** The tool bash, as a definition. */
export const createBashToolDefinition = createBashTool
/** The tool edit, as a definition. */
export const createEditToolDefinition = createEditTool
/** The tool write, as a definition. */
export const createWriteToolDefinition = createWriteTool
/** The tool grep, as a definition. */
export const createGrepToolDefinition = createGrepTool
/** The tool find, as a definition. */
export const createFindToolDefinition = createFindTool
/** The tool ls, as a definition. */
export const createLsToolDefinition = createLsTool
/** Commands of this machine, for `user_bash`. */
export const createLocalBashOperations = absent("createLocalBashOperations")

// Components are drawn by the next step of this family.
/** The input editor. */
export const CustomEditor = absentClass("CustomEditor")
/** A line across. */
export const DynamicBorder = absentClass("DynamicBorder")
/** A spinner in a frame. */
export const BorderedLoader = absentClass("BorderedLoader")
