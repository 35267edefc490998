/** What is known of providers and models without asking anyone. Pure. */

/** The interfaces spoken here. */
export type Api = "anthropic" | "openai-responses" | "openai-chat"

/** The names of the interfaces, other programs' names for them included. */
export const apiNames: { readonly [name: string]: Api } = {
  "anthropic": "anthropic",
  "anthropic-messages": "anthropic",
  "openai-responses": "openai-responses",
  "openai-chat": "openai-chat",
  "openai-completions": "openai-chat",
  "openai-chat-completions": "openai-chat"
}

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
  ollama: { api: "openai-chat", endpoint: "http://localhost:11434", variables: [] },
  lmstudio: { api: "openai-chat", endpoint: "http://localhost:1234", variables: [] },
  llamacpp: { api: "openai-chat", endpoint: "http://localhost:8080", variables: [] },
  vllm: { api: "openai-chat", endpoint: "http://localhost:8000", variables: [] }
}

/** The limits of a model, in tokens. */
export interface ModelLimits {
  readonly contextWindow: number
  /** Absent when not known. */
  readonly maxOutput?: number
  /** Whether it takes images. */
  readonly images: boolean
}

const sees = (contextWindow: number, maxOutput?: number): ModelLimits =>
  ({ contextWindow, images: true, ...(maxOutput === undefined ? {} : { maxOutput }) })

/** First match wins: known models, then guesses by a part of the name. */
const rules: ReadonlyArray<readonly [RegExp, ModelLimits]> = [
  [/claude-(sonnet|opus|fable)-5/, sees(1_000_000, 128_000)],
  [/claude-(sonnet|opus)-4[-.][678]/, sees(200_000, 128_000)],
  [/claude-(sonnet|opus|haiku)-4[-.]5/, sees(200_000, 64_000)],
  [/claude-opus-4/, sees(200_000, 32_000)],
  [/claude-sonnet-4/, sees(200_000, 64_000)],
  [/claude/, sees(200_000)],
  [/gpt-6/, sees(1_050_000, 128_000)],
  [/gpt-5(\.[0-3])?(-|$)/, sees(400_000, 128_000)],
  [/gpt-5/, sees(1_048_576, 128_000)],
  [/gpt-4\.1/, sees(1_047_576, 32_768)],
  [/gpt-4o/, sees(128_000, 16_384)],
  [/(^|\/)o[134](-|$)/, sees(200_000, 100_000)],
  [/gemini/, sees(1_048_576, 65_536)],
  [/vision|llava|pixtral|-vl\b|gemma-?3/, sees(128_000)]
]

/** The limits of a model by its id, known or guessed; nothing known gives 128,000 tokens and no images. */
export const modelLimits = (model: string): ModelLimits => {
  const id = model.toLowerCase()
  return rules.find(([pattern]) => pattern.test(id))?.[1] ?? { contextWindow: 128_000, images: false }
}
