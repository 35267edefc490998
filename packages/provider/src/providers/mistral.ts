/** Mistral's chat completions. */
import { createMistral } from "@ai-sdk/mistral"
import { Redacted } from "effect"
import type { Connection } from "../AiSdk.ts"
import type { Endpoint } from "./Endpoint.ts"

/** Mistral's own service, or one that speaks its protocol. Its tool results are plain text. */
export const connect = (endpoint: Endpoint): Connection => ({
  toolImages: "user",
  model: (fetch) =>
    createMistral({
      baseURL: endpoint.baseURL,
      apiKey: endpoint.apiKey === undefined ? "" : Redacted.value(endpoint.apiKey),
      fetch
    })(endpoint.model)
})
