/** Messages of a conversation as text, and small parsers that `@bastani/atomic` exports. Pure. */
import { contentText, type Fields, fieldsOf, isFields, listOf, textOf } from "./Values.ts"

/** The messages a model would see: custom ones become the user's, others than known roles are left out. */
export const convertToLlm = (messages: unknown): ReadonlyArray<Fields> =>
  listOf(messages).filter(isFields).flatMap((message) => {
    switch (message["role"]) {
      case "user":
      case "assistant":
      case "toolResult":
        return [message]
      case "custom":
        return [{ role: "user", content: message["content"], timestamp: message["timestamp"] }]
      default:
        return []
    }
  })

const callText = (part: Fields): string => `${textOf(part["name"])}(${JSON.stringify(part["arguments"] ?? {})})`

/** A conversation as plain text, for a summary. */
export const serializeConversation = (messages: unknown): string =>
  listOf(messages).filter(isFields).map(({ content, role, toolName }) => {
    const text = contentText(content)
    const calls = listOf(content).map(fieldsOf).filter(({ type }) => type === "toolCall").map(callText)
    const who = role === "user" ? "User" : role === "toolResult" ? `Result of ${textOf(toolName)}` : "Assistant"
    return [`[${who}]: ${text}`, ...calls.map((call) => `[Assistant calls]: ${call}`)].filter((line) => !line.endsWith(": ")).join("\n")
  }).filter((text) => text !== "").join("\n\n")

const scalar = (text: string): unknown => {
  const bare = text.trim()
  if (/^(true|false|null|-?\d+(\.\d+)?)$/.test(bare)) return JSON.parse(bare)
  return bare.replace(/^(["'])(.*)\1$/, "$2")
}

/** The head of a Markdown file (`key: value` lines between `---`) and what follows it. */
export const parseFrontmatter = (content: unknown): { readonly frontmatter: Fields; readonly body: string } => {
  const text = textOf(content).replaceAll("\r\n", "\n")
  const [, head, body] = /^---\n([\s\S]*?)\n---(?:\n([\s\S]*))?$/.exec(text) ?? []
  if (head === undefined) return { frontmatter: {}, body: text }
  const lines = head.split("\n").flatMap((line) => {
    const [, key, value] = /^([\w-]+):\s*(.*)$/.exec(line) ?? []
    return key === undefined || value === undefined ? [] : [[key, scalar(value)] as const]
  })
  return { frontmatter: Object.fromEntries(lines), body: (body ?? "").trim() }
}

/** `lines 3-7` of a read, as it is shown. */
export const formatReadLineRange = (args: unknown): string => {
  const { limit, offset } = fieldsOf(args)
  if (typeof offset !== "number" && typeof limit !== "number") return ""
  const from = typeof offset === "number" ? offset : 1
  return typeof limit === "number" ? `:${from}-${from + limit - 1}` : `:${from}`
}
