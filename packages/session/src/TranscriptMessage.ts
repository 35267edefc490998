/**
 * One entry as the message a model is sent. Pure. A long session has tens of thousands of them before its first request, so
 * parts are made as they stand and not by the constructors of effect/ai, which take three objects to make one.
 */
import * as Prompt from "effect/ai/Prompt"
import { type AssistantEntry, type ContentPart, type CustomMessageEntry, imageFault, type ImagePart, textOf, type ThinkingPart, type ToolResultEntry, type ToolUsePart, unsentImage, type UserEntry } from "@nimlet/protocol"

type Options = Prompt.ProviderOptions

/** One for all that has none. */
const noOptions: Options = {}

// A part keeps what its provider sent with it as JSON; to effect/ai it is opaque provider options.
const optionsOf = (data: unknown): Options => data === undefined ? noOptions : data as Options

// By what effect/ai knows its own. As keys they are written out: a computed key makes an object slowly.
const brand = "~effect/ai/Prompt/Part"
const messageBrand = "~effect/ai/Prompt/Message"

/** Nobody typed it: the offline model takes nothing in it for a person's request. */
const untyped: Options = { nimlet: { typed: false } }

/** Half a character, which a cut may leave, would fail the request, and each later one. */
const textPart = (text: string, options: Options = noOptions): Prompt.TextPart => ({ "~effect/ai/Prompt/Part": brand, type: "text", text: text.toWellFormed(), options })

/** A message of the user's role. */
const asUser = (content: ReadonlyArray<Prompt.UserMessagePart>): Prompt.UserMessage => ({ "~effect/ai/Prompt/Message": messageBrand, role: "user", content, options: noOptions })

/** Every part as `make` has it, without those of which it makes nothing. */
const made = <A, B extends object>(parts: ReadonlyArray<A>, make: (part: A) => B | undefined): ReadonlyArray<B> => {
  const all = parts.map(make)
  const isMade = (part: B | undefined): part is B => part !== undefined
  return all.every(isMade) ? all : all.filter(isMade)
}

/** What the model reads of a summary. */
export const summaryText = (summary: string): string => `<summary>\n${summary}\n</summary>`

/** A summary in the model's words. */
export const summaryMessage = (summary: string): Prompt.Message => asUser([textPart(summaryText(summary), untyped)])

/** Providers want the user to begin; what the user said may be on a damaged line. */
export const lostBeginning: Prompt.Message = asUser([textPart("[The beginning of this session was lost.]", untyped)])

/** What thinking needs to be believed again; entries of other writers have Anthropic's signature alone. */
const thinkingData = (part: ThinkingPart): unknown =>
  part.provider_data ?? (part.signature === "" ? undefined : { anthropic: { signature: part.signature } })

const filePart = (part: { readonly mimeType: string; readonly data?: string; readonly filename?: string }) =>
  part.data === undefined
    ? textPart(`[${part.filename ?? part.mimeType} is no longer available]`)
    : Prompt.filePart({ mediaType: part.mimeType, data: part.data, fileName: part.filename })

/** An image, unless each request with it would fail. */
const imagePart = (part: ImagePart) => {
  const fault = part.data === undefined ? undefined : imageFault(part.mimeType, part.data)
  return fault === undefined ? filePart(part) : textPart(unsentImage(fault), untyped)
}

const userPart = (part: ContentPart): Prompt.UserMessagePart | undefined =>
  part.type === "text" ? textPart(part.text, optionsOf(part.provider_data)) : part.type === "image" ? imagePart(part) : part.type === "file" ? filePart(part) : undefined

/** An extension's words. */
const customPart = (part: ContentPart): Prompt.UserMessagePart | undefined => part.type === "text" ? textPart(part.text, untyped) : userPart(part)

const assistantPart = (part: ContentPart): Prompt.AssistantMessagePart | undefined => {
  switch (part.type) {
    case "text":
      return part.text === "" ? undefined : textPart(part.text, optionsOf(part.provider_data))
    case "thinking":
      return { "~effect/ai/Prompt/Part": brand, type: "reasoning", text: part.thinking, options: optionsOf(thinkingData(part)) }
    case "tool_use":
      return {
        "~effect/ai/Prompt/Part": brand,
        type: "tool-call",
        id: part.id,
        name: part.name,
        // Providers take objects only; what the model really sent stands in the session.
        params: typeof part.input === "object" && part.input !== null ? part.input : {},
        providerExecuted: part.hosted ?? false,
        options: optionsOf(part.provider_data)
      }
    default:
      return undefined
  }
}

/** What came of an answer that was cut: its text. Thinking lacks its signature then, and a call may be half of one. */
const cutParts = (content: ReadonlyArray<ContentPart>): ReadonlyArray<Prompt.AssistantMessagePart> => {
  const texts = made(content, (part) => part.type === "text" && part.text.trim() !== "" ? textPart(part.text) : undefined)
  return texts.length === 0 ? [] : [...texts, textPart("[This answer was cut off here.]")]
}

/** What the user said. */
export const userMessage = (entry: UserEntry): Prompt.Message => asUser(made(entry.content, userPart))

/** What an extension said. */
export const customMessage = (entry: CustomMessageEntry): Prompt.Message =>
  entry.role === "system" ? Prompt.systemMessage({ content: textOf(entry.content).toWellFormed() }) : asUser(made(entry.content, customPart))

/** What the model answered. */
export const assistantMessage = (entry: AssistantEntry): Prompt.Message => ({
  "~effect/ai/Prompt/Message": messageBrand,
  role: "assistant",
  content: entry.cut === true ? cutParts(entry.content) : made(entry.content, assistantPart),
  options: noOptions
})

const imageParts = (output: string, images: ReadonlyArray<ImagePart>) => [...(output === "" ? [] : [textPart(output)]), ...images.map(imagePart)]

/** The result of `call`; `entry` is undefined where it was lost. */
const resultPart = ({ id, name }: ToolUsePart, entry: ToolResultEntry | undefined): Prompt.ToolResultPart => ({
  "~effect/ai/Prompt/Part": brand,
  type: "tool-result",
  id,
  name,
  isFailure: entry?.is_error ?? true,
  result: entry?.output.toWellFormed() ?? "[The result of this call was lost.]",
  providerExecuted: false,
  options: noOptions,
  ...(entry?.images === undefined || entry.images.length === 0 ? {} : { modelOutput: imageParts(entry.output, entry.images) })
})

/** The results of one answer's calls, in the order of the calls. */
export const resultsMessage = (calls: ReadonlyArray<ToolUsePart>, results: ReadonlyArray<ToolResultEntry>): Prompt.Message => ({
  "~effect/ai/Prompt/Message": messageBrand,
  role: "tool",
  content: calls.map((call) => resultPart(call, results.find(({ id }) => id === call.id))),
  options: noOptions
})
