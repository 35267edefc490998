/** OpenAI Responses. */
import { createOpenAI } from "@ai-sdk/openai"
import { Redacted } from "effect"
import type { Connection } from "../AiSdk.ts"
import { bodyOf } from "../AiSdk/Rehearsal.ts"
import { openaiStrictness } from "../AiSdk/Strict.ts"
import type { Endpoint } from "./Endpoint.ts"

/**
 * Nothing is stored at the provider: the session is ours, and reasoning goes back to it encrypted inside the prompt, so
 * that a session can be resumed and forked anywhere.
 */
export const connect = (endpoint: Endpoint): Connection => ({
  providerOptions: { openai: { store: false } },
  laterSystem: true,
  strictness: openaiStrictness,
  grammarTool: (name, description, { definition, syntax }) =>
    ({ type: "provider", id: "openai.custom", name, args: { description, format: { type: "grammar", syntax, definition } } }),
  model: (fetch) =>
    createOpenAI({
      baseURL: endpoint.baseURL,
      headers: endpoint.headers,
      apiKey: endpoint.apiKey === undefined ? "" : Redacted.value(endpoint.apiKey),
      fetch
    }).responses(endpoint.model)
})

/** The shortest answer it could send. */
export const sample = bodyOf([
  { type: "response.created", response: { id: "r", created_at: 1, model: "m" } },
  { type: "response.output_item.added", output_index: 0, item: { type: "message", id: "i" } },
  { type: "response.output_text.delta", item_id: "i", delta: "." },
  { type: "response.output_item.done", output_index: 0, item: { type: "message", id: "i" } },
  { type: "response.completed", response: { usage: { input_tokens: 1, output_tokens: 1 } } }
])
