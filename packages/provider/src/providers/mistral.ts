/** Mistral's chat completions. */
import { createMistral } from "@ai-sdk/mistral"
import { Hash, Redacted } from "effect"
import type { Connection } from "../AiSdk.ts"
import type { AiMessage } from "../AiSdk/Model.ts"
import { bodyOf } from "../AiSdk/Rehearsal.ts"
import { openaiStrictness } from "../AiSdk/Strict.ts"
import type { Endpoint } from "./Endpoint.ts"

/** Mistral takes ids of nine letters and digits; what another provider made becomes one, always the same. */
const shortId = (id: string): string =>
  /^[A-Za-z0-9]{9}$/.test(id) ? id : [id, `${id}.`].map((text) => (Hash.string(text) >>> 0).toString(36).padStart(7, "0")).join("").slice(-9)

/** Thinking that another provider signed is not Mistral's to go on with. */
const isForeign = (part: { readonly type: string; readonly providerOptions?: object | undefined }): boolean =>
  part.type === "reasoning" && part.providerOptions !== undefined

const own = (message: AiMessage): ReadonlyArray<AiMessage> => {
  if (message.role === "tool") {
    return [{ ...message, content: message.content.map((part) => part.type === "tool-result" ? { ...part, toolCallId: shortId(part.toolCallId) } : part) }]
  }
  if (message.role !== "assistant") return [message]
  const content = message.content.filter((part) => !isForeign(part))
    .map((part) => part.type === "tool-call" ? { ...part, toolCallId: shortId(part.toolCallId) } : part)
  return content.length === 0 ? [] : [{ ...message, content }]
}

/** Mistral's own service, or one that speaks its protocol. Its tool results are plain text. */
export const connect = (endpoint: Endpoint): Connection => ({
  toolImages: "user",
  strictness: openaiStrictness,
  decorate: ({ prompt, tools }) => ({ prompt: prompt.flatMap(own), tools }),
  model: (fetch) =>
    createMistral({
      baseURL: endpoint.baseURL,
      headers: endpoint.headers,
      apiKey: endpoint.apiKey === undefined ? "" : Redacted.value(endpoint.apiKey),
      fetch
    })(endpoint.model)
})

/** The shortest answer it could send. */
export const sample = bodyOf([
  { id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { role: "assistant", content: "." }, finish_reason: null }] },
  { id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }
])
