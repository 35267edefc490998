/** How the CLI is pointed at a stub: the arguments and environment of each provider interface. */

/** A provider interface as the command line sees it. */
export interface ProviderSetup {
  readonly name: string
  readonly args: ReadonlyArray<string>
  readonly env: (url: string) => Readonly<Record<string, string>>
}

/** Anthropic Messages. */
export const anthropic: ProviderSetup = {
  name: "anthropic",
  args: ["--provider", "anthropic", "--model", "claude-sonnet-4-6"],
  env: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "test-key" })
}

/** OpenAI Responses. */
export const responses: ProviderSetup = {
  name: "openai responses",
  args: ["--provider", "openai", "--model", "gpt-5.2"],
  env: (url) => ({ OPENAI_BASE_URL: url, OPENAI_API_KEY: "test-key" })
}

/** Google's Gemini API. */
export const google: ProviderSetup = {
  name: "google",
  args: ["--provider", "google", "--model", "gemini-3.8-flash"],
  env: (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: "test-key" })
}

/** Mistral, at the endpoint of `chatConfig`. */
export const mistral: ProviderSetup = { name: "mistral", args: ["--provider", "mistral", "--model", "mistral-large-4"], env: () => ({ MISTRAL_API_KEY: "test-key" }) }

/** The config file of a provider that speaks OpenAI Chat at a named endpoint; Mistral's is moved there, too. */
export const chatConfig = (url: string): string =>
  JSON.stringify({
    default_provider: "house",
    default_model: "local-model",
    providers: { house: { endpoint: url, api: "openai-chat", api_key_env: "HOUSE_KEY" }, mistral: { endpoint: `${url}/mistral/v1` } }
  })

/** OpenAI Chat at the endpoint of `chatConfig`. */
export const chat: ProviderSetup = { name: "openai chat", args: [], env: () => ({ HOUSE_KEY: "test-key" }) }
