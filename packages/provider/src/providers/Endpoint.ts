/** Where a provider is reached. */
import type { Redacted } from "effect"

/** What `providers/*.ts` need to make a connection. Nothing is read from the environment there. */
export interface Endpoint {
  /** The name it goes by: `anthropic`, `openai`, or that of a named endpoint. */
  readonly provider: string
  readonly model: string
  /** Whether the model thinks, so that it can be asked to show that. */
  readonly thinks: boolean
  /** Base URL with its version path, no slash at the end. */
  readonly baseURL: string
  /** Sent with every request, beside the provider's own. */
  readonly headers: { readonly [name: string]: string }
  /** Absent for a server that wants none. */
  readonly apiKey: Redacted.Redacted | undefined
}
