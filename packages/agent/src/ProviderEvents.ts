/** The events around a request to a provider. Each is looked for when a request is made; nobody subscribed, nothing is done. */
import { Effect } from "effect"
import type { Hooks } from "@nimlet/extension"
import type { HookPayload, JsonObject } from "@nimlet/protocol"
import type { ProviderHooks } from "@nimlet/provider"

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value)

/** The hooks of a session's requests; `about` tells the session and who answers in it at that moment. */
export const providerEvents = (hooks: Hooks["Service"], about: () => HookPayload<"session_start">): ProviderHooks => {
  const request: NonNullable<ProviderHooks["request"]> = (payload) =>
    isObject(payload)
      ? Effect.map(hooks.run("before_provider_request", { ...about(), payload }), (outcome) => outcome.payload.payload)
      : Effect.succeed(payload)
  const headers: NonNullable<ProviderHooks["headers"]> = (sent) =>
    Effect.map(hooks.run("before_provider_headers", { ...about(), headers: sent }), ({ payload }) => {
      const left = new Set(Object.keys(payload.headers).map((name) => name.toLowerCase()))
      const removed = Object.keys(sent).filter((name) => !left.has(name.toLowerCase()))
      return { ...payload.headers, ...Object.fromEntries(removed.map((name) => [name, null])) }
    })
  const response: NonNullable<ProviderHooks["response"]> = ({ durationMillis, errorBody, headers, status }) =>
    Effect.asVoid(hooks.run("after_provider_response", {
      ...about(),
      status,
      headers,
      duration_ms: durationMillis,
      error_body: errorBody
    }))
  return {
    get request() {
      return hooks.subscribed("before_provider_request") ? request : undefined
    },
    get headers() {
      return hooks.subscribed("before_provider_headers") ? headers : undefined
    },
    get response() {
      return hooks.subscribed("after_provider_response") ? response : undefined
    }
  }
}
