/** Anthropic Messages. */
import { createAnthropic } from "@ai-sdk/anthropic"
import { Predicate, Redacted } from "effect"
import type { Connection, Said } from "../AiSdk.ts"
import type { AiProviderOptions } from "../AiSdk/Model.ts"
import { bodyOf } from "../AiSdk/Rehearsal.ts"
import { anthropicStrictness } from "../AiSdk/Strict.ts"
import type { Endpoint } from "./Endpoint.ts"

const EVENTS = new Set([
  "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop", "ping", "error"
])
const BLOCKS = new Set(["text", "thinking", "redacted_thinking", "tool_use"])
const DELTAS = new Set(["text_delta", "thinking_delta", "signature_delta", "input_json_delta"])

const typeOf = (value: unknown, key?: string): unknown => {
  const at = key === undefined ? value : Predicate.hasProperty(value, key) ? value[key] : undefined
  return Predicate.hasProperty(at, "type") ? at.type : undefined
}

/** The SDK reports an event it does not know as an error; the protocol says that such events are to be passed over. */
const isUnknownEvent = (error: unknown): boolean => {
  if (!Predicate.hasProperty(error, "name") || error.name !== "AI_TypeValidationError" || !Predicate.hasProperty(error, "value")) return false
  const type = typeOf(error.value)
  if (typeof type !== "string") return false
  if (!EVENTS.has(type)) return true
  const inner = typeOf(error.value, type === "content_block_start" ? "content_block" : "delta")
  return typeof inner === "string" &&
    ((type === "content_block_start" && !BLOCKS.has(inner)) || (type === "content_block_delta" && !DELTAS.has(inner)))
}

const ephemeral = { type: "ephemeral" } as const

const marked = <A extends { readonly providerOptions?: AiProviderOptions }>(part: A): A => ({
  ...part,
  providerOptions: { ...part.providerOptions, anthropic: { ...part.providerOptions?.["anthropic"], cacheControl: ephemeral } }
})

/**
 * Marks what the next request has in common with this one: the tools, the system text, and the conversation, both as long
 * as it is now and as it was in the request before. That one is where the cache ends; from a mark it is looked for only
 * twenty blocks back, and a step may have more. Four marks are all that a request may have.
 */
const markCache = ({ prompt, tools }: Said): Said => {
  const system = prompt.findLastIndex((message) => message.role === "system")
  const before = prompt.findLastIndex((message) => message.role === "assistant") - 1
  const marks = new Set([system, before, prompt.length - 1])
  return {
    prompt: prompt.map((message, index) => marks.has(index) ? marked(message) : message),
    tools: tools.map((tool, index) => index === tools.length - 1 && tool.type === "function" ? marked(tool) : tool)
  }
}

/** Anthropic's own service, or one that speaks its protocol. */
export const connect = (endpoint: Endpoint): Connection => ({
  decorate: markCache,
  ignore: isUnknownEvent,
  strictness: anthropicStrictness,
  model: (fetch) =>
    createAnthropic({
      baseURL: endpoint.baseURL,
      headers: endpoint.headers,
      // Never left out: the SDK would look for a key in the process environment.
      apiKey: endpoint.apiKey === undefined ? "" : Redacted.value(endpoint.apiKey),
      fetch
    })(endpoint.model)
})

/** The shortest answer it could send. */
export const sample = bodyOf([
  { type: "message_start", message: { type: "message", id: "m", role: "assistant", model: "m", content: [], stop_reason: null, usage: { input_tokens: 1, output_tokens: 1 } } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "." } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
  { type: "message_stop" }
])
