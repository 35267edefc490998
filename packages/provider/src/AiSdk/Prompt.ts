/** An Effect `Prompt`, said in the AI SDK's terms. Pure. */
import * as Prompt from "effect/ai/Prompt"
import type {
  AiAssistantPart, AiFilePart, AiMessage, AiPrompt, AiProviderOptions, AiToolOutput, AiToolResult, AiUserPart
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

/** Options that are an object and belong to a provider; ours (`nimlet`) stay here. */
const optionsOf = (options: Prompt.ProviderOptions): { providerOptions?: AiProviderOptions } => {
  // Most parts have none.
  if (Object.keys(options).length === 0) return {}
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

const userPart = (part: Prompt.UserMessagePart, style: PromptStyle): ReadonlyArray<AiUserPart> => {
  if (part.type === "file") return hidden(part, style) ? [{ type: "text", text: unseen(part) }] : [filePart(part)]
  // Providers refuse an empty text block.
  return part.text === "" ? [] : [{ type: "text", text: part.text, ...optionsOf(part.options) }]
}

/** Ids made by one provider are sent to another after `set_model`; the strictest one takes these characters only. */
const toolId = (id: string): string => id.replace(/[^A-Za-z0-9_-]/g, "_")

const assistantPart = (part: Prompt.AssistantMessagePart): ReadonlyArray<AiAssistantPart> => {
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [{ type: "text", text: part.text, ...optionsOf(part.options) }]
    case "reasoning":
      return [{ type: "reasoning", text: part.text, ...optionsOf(part.options) }]
    case "tool-call":
      return [{
        type: "tool-call",
        toolCallId: toolId(part.id),
        toolName: part.name,
        // Arguments that were no JSON object were never run; their error result tells the model what it had sent.
        input: isObject(part.params) ? part.params : {},
        ...optionsOf(part.options)
      }]
    case "file":
      return [filePart(part)]
    default:
      return []
  }
}

interface ToolAnswer {
  readonly result: AiToolResult
  readonly images: ReadonlyArray<AiFilePart>
}

const toolAnswer = (part: Prompt.ToolResultPart, style: PromptStyle): ToolAnswer => {
  const content = part.modelOutput ?? []
  const files = content.flatMap((item) => item.type === "file" && !hidden(item, style) ? [filePart(item)] : [])
  const texts = content.flatMap((item) =>
    item.type === "text" ? [item.text] : hidden(item, style) ? [unseen(item)] : [])
  const text = part.modelOutput !== undefined
    ? texts.join("\n")
    : typeof part.result === "string" ? part.result : JSON.stringify(part.result ?? null)
  const inside = part.isFailure || style.toolImages === "user" ? [] : files
  const output: AiToolOutput = part.isFailure
    ? { type: "error-text", value: text }
    : inside.length === 0
    ? { type: "text", value: text }
    : { type: "content", value: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...inside] }
  return {
    result: { type: "tool-result", toolCallId: toolId(part.id), toolName: part.name, output, ...optionsOf(part.options) },
    images: inside.length === 0 ? files : []
  }
}

/** System text where a provider takes it from users alone. */
const marked = (text: string): string => text === "" ? "" : `<system>\n${text}\n</system>`

const message = (source: Prompt.Message, style: PromptStyle): ReadonlyArray<AiMessage> => {
  const options = optionsOf(source.options)
  switch (source.role) {
    case "system":
      return source.content === "" ? [] : [{ role: "system", content: source.content, ...options }]
    case "user": {
      const content = source.content.flatMap((part) => userPart(part, style))
      return content.length === 0 ? [] : [{ role: "user", content, ...options }]
    }
    case "assistant": {
      const content = source.content.flatMap(assistantPart)
      return content.length === 0 ? [] : [{ role: "assistant", content, ...options }]
    }
    case "tool": {
      const answers = source.content.flatMap((part) => part.type === "tool-result" ? [toolAnswer(part, style)] : [])
      const images = answers.flatMap((answer) => answer.images)
      return [
        ...(answers.length === 0 ? [] : [{ role: "tool" as const, content: answers.map((answer) => answer.result), ...options }]),
        ...(images.length === 0 ? [] : [{ role: "user" as const, content: images }])
      ]
    }
  }
}

/**
 * Says prompts in the AI SDK's form. Empty texts and messages are left out; a failed result is `error-text` (images of it
 * go into a user message); options of other providers travel along and are ignored by them. It remembers: a message met
 * before, the same object, is not said anew, so a step pays for what is new in it.
 */
export const makeAiPrompt = (style: PromptStyle): (prompt: Prompt.Prompt) => AiPrompt => {
  const known = new WeakMap<Prompt.Message, ReadonlyArray<AiMessage>>()
  return (prompt) => {
    let begun = false
    return prompt.content.flatMap((item) => {
      begun ||= item.role !== "system"
      const before = known.get(item)
      if (before !== undefined) return before
      const said = begun && item.role === "system" && style.laterSystem !== true
        ? message(Prompt.userMessage({ content: [Prompt.textPart({ text: marked(item.content) })] }), style)
        : message(item, style)
      known.set(item, said)
      return said
    })
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
