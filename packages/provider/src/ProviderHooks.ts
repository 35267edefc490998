/** Where others look at, and change, what goes to a provider. */
import { Context } from "effect"
import type { Effect } from "effect"

/** The request a hook is asked about. A retry is a request of its own. */
export interface ProviderRequest {
  readonly provider: string
  readonly model: string
  readonly url: string
}

/**
 * Hooks around a model request (`before_provider_request`, `before_provider_headers`,
 * `after_provider_response`). A hook that is absent costs nothing. They run in the context of the fiber that asked for
 * the answer, in the order request, headers, response, and are interrupted with it.
 */
export interface ProviderHooks {
  /** Gets the JSON body and gives back the one to send. */
  readonly request?: ((payload: unknown, request: ProviderRequest) => Effect.Effect<unknown>) | undefined
  /**
   * Gets all headers, names in lower case, those that hold credentials as `"<redacted>"`. What comes back is laid over
   * them: a text sets, `null` removes, a name left out or still `"<redacted>"` keeps the real value.
   */
  readonly headers?: ((
    headers: { readonly [name: string]: string },
    request: ProviderRequest
  ) => Effect.Effect<{ readonly [name: string]: string | null }>) | undefined
  /** Sees what came back before an answer's body is read. */
  readonly response?: ((response: ProviderResponse, request: ProviderRequest) => Effect.Effect<void>) | undefined
}

/** What a provider answered. `set-cookie` is left out of the headers. */
export interface ProviderResponse {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  /** From the request's leaving to the head of the response. */
  readonly durationMillis: number
  /** The beginning of the body, at most 64 Ki characters, for status 400 and above; else empty. */
  readonly errorBody: string
}

/** The hooks in force. The default has none. */
export const ProviderHooks: Context.Reference<ProviderHooks> = Context.Reference("@nimlet/provider/ProviderHooks", {
  defaultValue: (): ProviderHooks => ({})
})
