/**
 * The models of the presets, as their makers publish them (November 2026). A row: context window and longest answer in
 * tokens; dollars for a million tokens of input, output, cache read and cache write (0 where there is no such price); what
 * it takes beside text, and its levels of thinking, `a-b` being all from a to b. A window ends where the prices do. Loaded
 * when a model is looked up.
 */

/** What is known of one model. */
export type Row = readonly [context: number, output: number, input: number, answer: number, cacheRead: number, cacheWrite: number, traits: string]

/** Provider → id → row; the models one would choose first come first. */
export const rows: { readonly [provider: string]: { readonly [id: string]: Row } } = {
  anthropic: {
    "claude-sonnet-5-5": [1_000_000, 128_000, 2, 10, 0.1, 2.5, "image strict low-max"],
    "claude-opus-5-5": [1_000_000, 128_000, 4, 20, 0.2, 5, "image strict low-max"],
    "claude-haiku-5-5": [1_000_000, 128_000, 0.1, 0.5, 0.01, 0.125, "image strict off low-max"],
    "claude-fable-5-2": [1_000_000, 128_000, 8, 40, 0.2, 10, "image strict low-max"],
    "claude-fable-5-1": [1_000_000, 128_000, 10, 50, 0.25, 12.5, "image strict low-max"],
    "claude-fable-5": [1_000_000, 128_000, 10, 50, 1, 12.5, "image strict low-max"],
    "claude-opus-5": [1_000_000, 128_000, 5, 25, 0.5, 6.25, "image strict off low-max"],
    "claude-sonnet-5": [1_000_000, 128_000, 2, 10, 0.2, 2.5, "image strict off low-max"],
    "claude-opus-4-8": [1_000_000, 128_000, 5, 25, 0.5, 6.25, "image strict off low-max"],
    "claude-opus-4-7": [1_000_000, 128_000, 5, 25, 0.5, 6.25, "image strict off low-max"],
    "claude-opus-4-6": [1_000_000, 128_000, 5, 25, 0.5, 6.25, "image strict off low-high max"],
    "claude-sonnet-4-6": [1_000_000, 128_000, 3, 15, 0.3, 3.75, "image strict off low-high max"],
    "claude-opus-4-5": [200_000, 64_000, 5, 25, 0.5, 6.25, "image strict off minimal-high"],
    "claude-sonnet-4-5": [200_000, 64_000, 3, 15, 0.3, 3.75, "image strict off minimal-high"],
    "claude-haiku-4-5": [200_000, 64_000, 1, 5, 0.1, 1.25, "image strict off minimal-high"]
  },
  openai: {
    "gpt-6.1-sol": [272_000, 128_000, 2, 10, 0.1, 2.5, "image strict grammar low-max"],
    "gpt-6.2-sol": [272_000, 128_000, 2, 10, 0.1, 2.5, "image strict grammar low-max"],
    "gpt-6.2-astra": [272_000, 128_000, 8, 40, 0.4, 10, "image strict grammar low-max"],
    "gpt-6.1-terra": [272_000, 128_000, 1, 5, 0.05, 1.25, "image strict grammar off low-max"],
    "gpt-6-astra": [272_000, 128_000, 10, 50, 1, 12.5, "image strict grammar low-max"],
    "gpt-6-sol": [272_000, 128_000, 2, 10, 0.2, 2.5, "image strict grammar off low-max"],
    "gpt-6-luna": [272_000, 128_000, 0.1, 0.5, 0.01, 0.125, "image strict grammar off low-max"],
    "gpt-5.6-sol": [272_000, 128_000, 4, 20, 0.4, 5, "image strict grammar off low-max"],
    "gpt-5.6-terra": [272_000, 128_000, 2, 12, 0.2, 2.5, "image strict grammar off low-max"],
    "gpt-5.6-luna": [272_000, 128_000, 0.2, 1.2, 0.02, 0.25, "image strict grammar off low-max"],
    "gpt-5.5": [272_000, 128_000, 5, 30, 0.5, 0, "image strict grammar off low-xhigh"],
    "gpt-5.4": [272_000, 128_000, 2.5, 15, 0.25, 0, "image strict grammar off low-xhigh"],
    "gpt-5.4-mini": [400_000, 128_000, 0.75, 4.5, 0.075, 0, "image strict grammar off low-xhigh"],
    "gpt-5.4-nano": [400_000, 128_000, 0.2, 1.25, 0.02, 0, "image strict grammar off low-xhigh"],
    "gpt-5.3-codex": [400_000, 128_000, 1.75, 14, 0.175, 0, "image strict grammar off low-xhigh"],
    "gpt-5.2": [400_000, 128_000, 1.75, 14, 0.175, 0, "image strict grammar off low-xhigh"],
    "gpt-5.1": [400_000, 128_000, 1.25, 10, 0.125, 0, "image strict grammar off low-high"],
    "gpt-5": [400_000, 128_000, 1.25, 10, 0.125, 0, "image strict grammar minimal-high"],
    "gpt-5-mini": [400_000, 128_000, 0.25, 2, 0.025, 0, "image strict grammar minimal-high"],
    "gpt-5-nano": [400_000, 128_000, 0.05, 0.4, 0.005, 0, "image strict grammar minimal-high"],
    "gpt-4.1": [1_047_576, 32_768, 2, 8, 0.5, 0, "image strict"],
    "gpt-4.1-mini": [1_047_576, 32_768, 0.4, 1.6, 0.1, 0, "image strict"],
    "gpt-4o": [128_000, 16_384, 2.5, 10, 1.25, 0, "image strict"],
    "gpt-4o-mini": [128_000, 16_384, 0.15, 0.6, 0.075, 0, "image strict"],
    "o3": [200_000, 100_000, 2, 8, 0.5, 0, "image strict low-high"],
    "o4-mini": [200_000, 100_000, 1.1, 4.4, 0.275, 0, "image strict low-high"],
    "o3-mini": [200_000, 100_000, 1.1, 4.4, 0.55, 0, "strict low-high"]
  },
  google: {
    "gemini-3.8-flash": [1_048_576, 65_536, 0.75, 3.75, 0.075, 0, "image low-high"],
    "gemini-4-neon": [1_048_576, 65_536, 3, 15, 0.15, 0, "image low-xhigh"],
    "gemini-4-hydrogen": [1_048_576, 65_536, 1.5, 7.5, 0.075, 0, "image low-xhigh"],
    "gemini-4-argon": [1_048_576, 32_768, 2, 10, 0.1, 0, "image low-high"],
    "gemini-4-carbon": [1_048_576, 32_768, 2, 10, 0.1, 0, "image low-high"],
    "gemini-3.7-flash": [1_048_576, 65_536, 0.75, 3.75, 0.075, 0, "image low-high"],
    "gemini-3.6-flash": [1_048_576, 65_536, 0.75, 3.75, 0.075, 0, "image minimal-high"],
    "gemini-3.5-flash": [1_048_576, 65_536, 1.5, 9, 0.15, 0, "image minimal-high"],
    "gemini-3.5-flash-lite": [1_048_576, 65_536, 0.3, 2.5, 0.03, 0, "image minimal-high"],
    "gemini-3.1-pro-preview": [1_048_576, 65_536, 2, 12, 0.2, 0, "image low-high"],
    "gemini-3-flash-preview": [1_048_576, 65_536, 0.5, 3, 0.05, 0, "image minimal-high"],
    "gemini-2.5-pro": [1_048_576, 65_536, 1.25, 10, 0.125, 0, "image minimal-high"],
    "gemini-2.5-flash": [1_048_576, 65_536, 0.3, 2.5, 0.03, 0, "image off minimal-high"],
    "gemini-2.5-flash-lite": [1_048_576, 65_536, 0.1, 0.4, 0.01, 0, "image off minimal-high"]
  },
  mistral: {
    "mistral-large-4": [1_048_576, 262_144, 0.7, 2.1, 0.07, 0, "image low-high"],
    "mistral-large-latest": [1_048_576, 262_144, 0.7, 2.1, 0.07, 0, "image low-high"],
    "mistral-medium-3.5": [262_144, 262_144, 1.5, 7.5, 0.15, 0, "image off high"],
    "mistral-medium-latest": [262_144, 262_144, 1.5, 7.5, 0.15, 0, "image off high"],
    "mistral-small-latest": [262_144, 256_000, 0.15, 0.6, 0.015, 0, "image off high"],
    "mistral-large-2512": [262_144, 262_144, 0.5, 1.5, 0.05, 0, "image"],
    "magistral-medium-latest": [262_144, 16_384, 2, 5, 0.2, 0, "image off high"],
    "devstral-latest": [262_144, 262_144, 0.4, 2, 0.04, 0, ""],
    "devstral-2512": [262_144, 262_144, 0.4, 2, 0.04, 0, ""],
    "codestral-latest": [256_000, 4_096, 0.3, 0.9, 0.03, 0, ""],
    "ministral-14b-latest": [262_144, 262_144, 0.2, 0.2, 0.02, 0, "image"],
    "ministral-8b-latest": [262_144, 128_000, 0.15, 0.15, 0.015, 0, "image"]
  }
}
