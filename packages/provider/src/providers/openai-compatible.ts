/** Chat Completions as other services and local servers speak it. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { Redacted } from "effect"
import type { Connection } from "../AiSdk.ts"
import { bodyOf } from "../AiSdk/Rehearsal.ts"
import { openaiStrictness } from "../AiSdk/Strict.ts"
import type { Endpoint } from "./Endpoint.ts"

/** A named endpoint; without a key no `authorization` header is sent. */
export const connect = (endpoint: Endpoint): Connection => ({
  toolImages: "user",
  strictness: openaiStrictness,
  model: (fetch) =>
    createOpenAICompatible({
      name: endpoint.provider,
      baseURL: endpoint.baseURL,
      headers: endpoint.headers,
      includeUsage: true,
      fetch,
      ...(endpoint.apiKey === undefined ? {} : { apiKey: Redacted.value(endpoint.apiKey) })
    })(endpoint.model)
})

/** The shortest answer it could send. */
export const sample = bodyOf([
  { id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { role: "assistant", content: "." }, finish_reason: null }] },
  { id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }
])
