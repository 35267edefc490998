/**
 * What stands behind `@bastani/atomic`, `@earendil-works/pi-coding-agent` and `@mariozechner/pi-coding-agent`: one module, so
 * that a class from one name is the class from the others. Nothing heavy is loaded by it.
 */
import { userInfo } from "node:os"
import { join } from "node:path"
import { absentClass } from "../Absent.ts"
import { theme } from "../Theme.ts"
import { fieldsOf, messageOf, textOf } from "../Values.ts"

export { withFileMutationQueue } from "../FileQueue.ts"
export { convertToLlm, formatReadLineRange, parseFrontmatter, serializeConversation } from "../Messages.ts"
export { sessionScopedExtensionState } from "../ScopedState.ts"
export { createStructuredOutputCapture, createStructuredOutputTool, StringEnum } from "../StructuredOutput.ts"
export { createBashTool, createBashTool as createBashToolDefinition } from "../tools/BashTool.ts"
export { createEditTool, createEditTool as createEditToolDefinition } from "../tools/EditTool.ts"
export { createFindTool, createFindTool as createFindToolDefinition } from "../tools/FindTool.ts"
export { createGrepTool, createGrepTool as createGrepToolDefinition } from "../tools/GrepTool.ts"
export { createLsTool, createLsTool as createLsToolDefinition } from "../tools/LsTool.ts"
export { createLocalBashOperations } from "../tools/Operations.ts"
export { createReadTool, createReadTool as createReadToolDefinition } from "../tools/ReadTool.ts"
export { createWriteTool, createWriteTool as createWriteToolDefinition } from "../tools/WriteTool.ts"
export type * from "../ToolDetails.ts"
export { DEFAULT_MAX_BYTES, DEFAULT_MAX_LINES, formatSize, truncateHead, truncateLine, truncateTail } from "../Truncation.ts"

/** The version of the extension API that is provided. */
export const VERSION = "1.6.0"
/** The host's name. */
export const APP_NAME = "nimlet"
/** The folder of a project's own configuration. */
export const CONFIG_DIR_NAME = ".nimlet"
/** The user's configuration, in the home that the extension is given. */
export const getAgentDir = (): string => join(process.env["HOME"] || userInfo().homedir, CONFIG_DIR_NAME)
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

// Components are drawn by the next step of this family.
/** The input editor. */
export const CustomEditor = absentClass("CustomEditor")
/** A line across. */
export const DynamicBorder = absentClass("DynamicBorder")
/** A spinner in a frame. */
export const BorderedLoader = absentClass("BorderedLoader")
