/**
 * The shapes of the AI SDK that this package uses, taken from the signatures of one of its providers: the package that
 * declares them (`@ai-sdk/provider`) is a dependency of theirs, not of ours, and no code of it is loaded here.
 */
import type { AnthropicProvider } from "@ai-sdk/anthropic"

/** A language model of the AI SDK, specification v4. */
export type AiSdkModel = ReturnType<AnthropicProvider["languageModel"]>
/** What one request to it takes. */
export type CallOptions = Parameters<AiSdkModel["doStream"]>[0]
/** Its prompt: a list of messages. */
export type AiPrompt = CallOptions["prompt"]
/** One message of its prompt. */
export type AiMessage = AiPrompt[number]
/** The message of one role. */
export type AiMessageOf<Role extends AiMessage["role"]> = Extract<AiMessage, { role: Role }>
/** A part of a user message. */
export type AiUserPart = AiMessageOf<"user">["content"][number]
/** Text in a message. */
export type AiTextPart = Extract<AiUserPart, { type: "text" }>
/** A part of an assistant message. */
export type AiAssistantPart = AiMessageOf<"assistant">["content"][number]
/** The result of a tool call. */
export type AiToolResult = Extract<AiMessageOf<"tool">["content"][number], { type: "tool-result" }>
/** What a tool result says to the model. */
export type AiToolOutput = AiToolResult["output"]
/** A file: an image or a document. */
export type AiFilePart = Extract<AiUserPart, { type: "file" }>
/** Options of one part or message for one provider, by the provider's name. */
export type AiProviderOptions = NonNullable<CallOptions["providerOptions"]>
/** A tool or a provider's own tool. */
export type AiTool = NonNullable<CallOptions["tools"]>[number]
/** Which tool the model may or must call. */
export type AiToolChoice = NonNullable<CallOptions["toolChoice"]>
/** The stream of one answer. */
export type AiStream = Awaited<ReturnType<AiSdkModel["doStream"]>>["stream"]
/** One part of that stream. */
export type AiStreamPart = AiStream extends ReadableStream<infer Part> ? Part : never
/** The `fetch` a provider of the AI SDK is given. */
export type Fetch = typeof globalThis.fetch
