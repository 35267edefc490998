/** An Effect `Prompt`, said in the AI SDK's terms. Pure. */
import * as Prompt from "effect/ai/Prompt"
import type {
  AiAssistantPart, AiFilePart, AiMessage, AiPrompt, AiProviderOptions, AiTextPart, AiToolOutput, AiToolResult, AiUserPart
} from "./Model.ts"

/** How a provider wants the prompt. */
export interface PromptStyle {
  /** Whether the model sees images. If not, a line of text stands for each. Default true. */
  readonly images?: boolean
  /**
   * Where images of tool results go: in the result, or, for interfaces whose results are plain text (OpenAI Chat), in
   * a user message right after the results. Default `"result"`.
   */
  readonly toolImages?: "result" | "user"
  /** Whether system text may stand behind other messages. If not, it is said as a user's, marked. Default false. */
  readonly laterSystem?: boolean
}

const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Whether there is anything in it: most messages and parts have no options. */
const isEmpty = (options: Prompt.ProviderOptions): boolean => {
  for (const _ in options) return false
  return true
}

/** Options that are an object and belong to a provider; ours (`nimlet`) stay here. */
const optionsOf = (options: Prompt.ProviderOptions): { providerOptions?: AiProviderOptions } => {
  if (isEmpty(options)) return {}
  const entries = Object.entries(options).filter(([name, value]) => name !== "nimlet" && isObject(value))
  return entries.length === 0 ? {} : { providerOptions: Object.fromEntries(entries) as AiProviderOptions }
}

const fileData = (data: Prompt.FilePart["data"]): AiFilePart["data"] =>
  data instanceof URL
    ? { type: "url", url: data }
    : { type: "data", data: typeof data === "string" ? data.replace(/^data:[^,]*,/, "") : data }

const filePart = (part: Prompt.FilePart): AiFilePart => ({
  type: "file",
  data: fileData(part.data),
  mediaType: part.mediaType,
  ...(part.fileName === undefined ? {} : { filename: part.fileName }),
  ...optionsOf(part.options)
})

const unseen = (part: Prompt.FilePart): string =>
  `[${part.fileName ?? part.mediaType}: this model does not take ${part.mediaType.split("/")[0]}s]`

const isImage = (part: { readonly mediaType: string }): boolean => part.mediaType.startsWith("image/")

const hidden = (part: Prompt.FilePart, style: PromptStyle): boolean => style.images === false && isImage(part)

const textPart = (part: Prompt.TextPart): AiTextPart =>
  isEmpty(part.options) ? { type: "text", text: part.text } : { type: "text", text: part.text, ...optionsOf(part.options) }

const userPart = (part: Prompt.UserMessagePart, style: PromptStyle): AiUserPart | undefined => {
  if (part.type === "file") return hidden(part, style) ? { type: "text", text: unseen(part) } : filePart(part)
  // Providers refuse an empty text block.
  return part.text === "" ? undefined : textPart(part)
}

/** Ids made by one provider are sent to another after `set_model`; the strictest one takes these characters only. */
const toolId = (id: string): string => id.replace(/[^A-Za-z0-9_-]/g, "_")

const assistantPart = (part: Prompt.AssistantMessagePart): AiAssistantPart | undefined => {
  switch (part.type) {
    case "text":
      return part.text === "" ? undefined : textPart(part)
    case "reasoning":
      return { type: "reasoning", text: part.text, ...optionsOf(part.options) }
    case "tool-call":
      return {
        type: "tool-call",
        toolCallId: toolId(part.id),
        toolName: part.name,
        // Arguments that were no JSON object were never run; their error result tells the model what it had sent.
        input: isObject(part.params) ? part.params : {},
        ...optionsOf(part.options)
      }
    case "file":
      return filePart(part)
    default:
      return undefined
  }
}

/** Every part as `say` has it, without those of which it says nothing. */
const saidParts = <A, B extends object>(parts: ReadonlyArray<A>, say: (part: A) => B | undefined): Array<B> => {
  const all = parts.map(say)
  const isSaid = (part: B | undefined): part is B => part !== undefined
  return all.every(isSaid) ? all : all.filter(isSaid)
}

interface ToolAnswer {
  readonly result: AiToolResult
  readonly images: ReadonlyArray<AiFilePart>
}

const toolText = (part: Prompt.ToolResultPart): string => typeof part.result === "string" ? part.result : JSON.stringify(part.result ?? null)

const toolAnswer = (part: Prompt.ToolResultPart, style: PromptStyle): ToolAnswer => {
  const said = (output: AiToolOutput): AiToolResult => ({ type: "tool-result", toolCallId: toolId(part.id), toolName: part.name, output, ...optionsOf(part.options) })
  const content = part.modelOutput
  if (content === undefined) return { result: said({ type: part.isFailure ? "error-text" : "text", value: toolText(part) }), images: [] }
  const files = content.flatMap((item) => item.type === "file" && !hidden(item, style) ? [filePart(item)] : [])
  const text = content.flatMap((item) => item.type === "text" ? [item.text] : hidden(item, style) ? [unseen(item)] : []).join("\n")
  const inside = part.isFailure || style.toolImages === "user" ? [] : files
  const output: AiToolOutput = part.isFailure
    ? { type: "error-text", value: text }
    : inside.length === 0
    ? { type: "text", value: text }
    : { type: "content", value: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...inside] }
  return { result: said(output), images: inside.length === 0 ? files : [] }
}

/** System text where a provider takes it from users alone. */
const marked = (text: string): string => text === "" ? "" : `<system>\n${text}\n</system>`

/** Puts what a message is behind `said`. */
const say = (said: Array<AiMessage>, source: Prompt.Message, style: PromptStyle): void => {
  const options = optionsOf(source.options)
  switch (source.role) {
    case "system":
      if (source.content !== "") said.push({ role: "system", content: source.content, ...options })
      return
    case "user": {
      const content = saidParts(source.content, (part) => userPart(part, style))
      if (content.length > 0) said.push({ role: "user", content, ...options })
      return
    }
    case "assistant": {
      const content = saidParts(source.content, assistantPart)
      if (content.length > 0) said.push({ role: "assistant", content, ...options })
      return
    }
    case "tool": {
      const answers = saidParts(source.content, (part) => part.type === "tool-result" ? toolAnswer(part, style) : undefined)
      if (answers.length > 0) said.push({ role: "tool", content: answers.map((answer) => answer.result), ...options })
      const images = answers.flatMap((answer) => answer.images)
      if (images.length > 0) said.push({ role: "user", content: images })
    }
  }
}

/**
 * Says prompts in the AI SDK's form. Empty texts and messages are left out; a failed result is `error-text` (images of it
 * go into a user message); options of other providers travel along and are ignored by them. It remembers the last prompt: the
 * messages that the next one begins with, by the same objects, are not said anew, so a step pays for what is new in it.
 */
export const makeAiPrompt = (style: PromptStyle): (prompt: Prompt.Prompt) => AiPrompt => {
  let before: ReadonlyArray<Prompt.Message> = []
  const said: Array<AiMessage> = []
  // How much had been said after each message.
  const ends: Array<number> = []
  return ({ content }) => {
    let at = 0
    while (at < ends.length && before[at] === content[at]) at++
    ends.length = at
    said.length = ends[at - 1] ?? 0
    let begun = content.slice(0, at).some(({ role }) => role !== "system")
    for (; at < content.length; at++) {
      const item = content[at]
      if (item === undefined) break
      begun ||= item.role !== "system"
      const later = begun && item.role === "system" && style.laterSystem !== true
      say(said, later ? Prompt.userMessage({ content: [Prompt.textPart({ text: marked(item.content) })] }) : item, style)
      ends.push(said.length)
    }
    before = content
    return said.slice()
  }
}

/** Calls of tools with a grammar carry the bare text that it wrote. */
export const withGrammars = (prompt: AiPrompt, grammars: ReadonlyMap<string, string>): AiPrompt =>
  grammars.size === 0 ? prompt : prompt.map((message): AiMessage =>
    message.role === "assistant"
      ? {
        ...message,
        content: message.content.map((part) => {
          const property = part.type === "tool-call" ? grammars.get(part.toolName) : undefined
          if (part.type !== "tool-call" || property === undefined) return part
          const text = isObject(part.input) ? part.input[property] : undefined
          return typeof text === "string" ? { ...part, input: text } : part
        })
      }
      : message)
