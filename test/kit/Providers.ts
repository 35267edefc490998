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

/** The config file of a provider that speaks OpenAI Chat at a named endpoint. */
export const chatConfig = (url: string): string =>
  JSON.stringify({
    default_provider: "house",
    default_model: "local-model",
    providers: { house: { endpoint: url, api: "openai-chat", api_key_env: "HOUSE_KEY" } }
  })

/** OpenAI Chat at the endpoint of `chatConfig`. */
export const chat: ProviderSetup = { name: "openai chat", args: [], env: () => ({ HOUSE_KEY: "test-key" }) }
