/** OpenAI Chat Completions, at OpenAI. */
import { createOpenAI } from "@ai-sdk/openai"
import { Redacted } from "effect"
import type { Connection } from "../AiSdk.ts"
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
