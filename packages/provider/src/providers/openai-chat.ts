/** OpenAI Chat Completions, at OpenAI. */
import { createOpenAI } from "@ai-sdk/openai"
import { Redacted } from "effect"
import type { Connection } from "../AiSdk.ts"
import { bodyOf } from "../AiSdk/Rehearsal.ts"
import { openaiStrictness } from "../AiSdk/Strict.ts"
import type { Endpoint } from "./Endpoint.ts"

/** OpenAI's own Chat Completions, with its rules for reasoning models. */
export const connect = (endpoint: Endpoint): Connection => ({
  toolImages: "user",
  strictness: openaiStrictness,
  model: (fetch) =>
    createOpenAI({
      baseURL: endpoint.baseURL,
      headers: endpoint.headers,
      apiKey: endpoint.apiKey === undefined ? "" : Redacted.value(endpoint.apiKey),
      fetch
    }).chat(endpoint.model)
})

/** The shortest answer it could send. */
export const sample = bodyOf([
  { id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { role: "assistant", content: "." }, finish_reason: null }] },
  { id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }
])
