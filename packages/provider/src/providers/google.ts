/** Google's Gemini API. */
import { createGoogle } from "@ai-sdk/google"
import { Redacted } from "effect"
import type { Connection } from "../AiSdk.ts"
import { bodyOf } from "../AiSdk/Rehearsal.ts"
import type { Endpoint } from "./Endpoint.ts"

/** Gemini, or a service that speaks its protocol. */
export const connect = (endpoint: Endpoint): Connection => ({
  model: (fetch) =>
    createGoogle({
      baseURL: endpoint.baseURL,
      apiKey: endpoint.apiKey === undefined ? "" : Redacted.value(endpoint.apiKey),
      fetch
    })(endpoint.model)
})

/** The shortest answer it could send. */
export const sample = bodyOf([
  { candidates: [{ content: { role: "model", parts: [{ text: "." }] }, finishReason: "STOP" }], usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 } }
])
