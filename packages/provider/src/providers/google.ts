/** Google's Gemini API. */
import { createGoogle } from "@ai-sdk/google"
import { Redacted } from "effect"
import type { Connection } from "../AiSdk.ts"
import { bodyOf } from "../AiSdk/Rehearsal.ts"
import type { Endpoint } from "./Endpoint.ts"

/** Gemini, or a service that speaks its protocol. It thinks in silence unless it is asked to show that. */
export const connect = (endpoint: Endpoint): Connection => ({
  ...(endpoint.thinks ? { providerOptions: { google: { thinkingConfig: { includeThoughts: true } } } } : {}),
  model: (fetch) =>
    createGoogle({
      baseURL: endpoint.baseURL,
      headers: endpoint.headers,
      apiKey: endpoint.apiKey === undefined ? "" : Redacted.value(endpoint.apiKey),
      fetch
    })(endpoint.model)
})

/** The shortest answer it could send. */
export const sample = bodyOf([
  { candidates: [{ content: { role: "model", parts: [{ text: "." }] }, finishReason: "STOP" }], usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 } }
])
