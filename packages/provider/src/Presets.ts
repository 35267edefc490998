/** The providers that need no settings, and the interfaces spoken here. Pure. */

/** The interfaces spoken here. */
export type Api = "anthropic" | "openai-responses" | "openai-chat" | "google" | "mistral"

/** The names of the interfaces, other programs' names for them included. */
export const apiNames: { readonly [name: string]: Api } = {
  "anthropic": "anthropic",
  "anthropic-messages": "anthropic",
  "openai-responses": "openai-responses",
  "openai-chat": "openai-chat",
  "openai-completions": "openai-chat",
  "openai-chat-completions": "openai-chat",
  "google": "google",
  "google-generative-ai": "google",
  "mistral": "mistral",
  "mistral-conversations": "mistral"
}

/** What stands behind an address that has no path. */
export const versionPath = (api: Api): string => api === "google" ? "/v1beta" : "/v1"

/** A provider that needs no settings. */
export interface Preset {
  readonly api: Api
  readonly endpoint: string
  /** Variables that may hold its key, in order; empty for a local server, which needs none. */
  readonly variables: ReadonlyArray<string>
  /** The variable that moves its endpoint. */
  readonly endpointVariable?: string
  readonly defaultModel?: string
}

/** The presets, in the order in which their keys are looked for when no provider is named. */
export const presets: { readonly [provider: string]: Preset } = {
  anthropic: {
    api: "anthropic",
    endpoint: "https://api.anthropic.com",
    variables: ["ANTHROPIC_API_KEY"],
    endpointVariable: "ANTHROPIC_BASE_URL",
    defaultModel: "claude-sonnet-5-5"
  },
  openai: {
    api: "openai-responses",
    endpoint: "https://api.openai.com",
    variables: ["OPENAI_API_KEY"],
    endpointVariable: "OPENAI_BASE_URL",
    defaultModel: "gpt-6.1-sol"
  },
  openrouter: {
    api: "openai-chat",
    endpoint: "https://openrouter.ai/api/v1",
    variables: ["OPENROUTER_API_KEY"],
    defaultModel: "anthropic/claude-sonnet-5.5"
  },
  google: {
    api: "google",
    endpoint: "https://generativelanguage.googleapis.com",
    variables: ["GEMINI_API_KEY", "GOOGLE_API_KEY", "AI_STUDIO_API_KEY"],
    endpointVariable: "GOOGLE_GEMINI_BASE_URL",
    defaultModel: "gemini-3.8-flash"
  },
  mistral: {
    api: "mistral",
    endpoint: "https://api.mistral.ai",
    variables: ["MISTRAL_API_KEY"],
    defaultModel: "mistral-large-4"
  },
  ollama: { api: "openai-chat", endpoint: "http://localhost:11434", variables: [] },
  lmstudio: { api: "openai-chat", endpoint: "http://localhost:1234", variables: [] },
  llamacpp: { api: "openai-chat", endpoint: "http://localhost:8080", variables: [] },
  vllm: { api: "openai-chat", endpoint: "http://localhost:8000", variables: [] }
}
