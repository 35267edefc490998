/** Google's Gemini API. */
import { createGoogle } from "@ai-sdk/google"
import { Redacted } from "effect"
import type { Connection } from "../AiSdk.ts"
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
