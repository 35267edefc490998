/**
 * What a provider attached to its reasoning, as the one string a session file has for it (seed 000, thinking parts):
 * Anthropic's signature stands there as it is, anything else as JSON. Pure.
 */
import { Predicate, Result } from "effect"
import type * as Prompt from "effect/ai/Prompt"

type Metadata = { readonly [provider: string]: unknown }

/** The `signature` of a session entry, from the metadata of a `reasoning-end` part. Empty when there is none. */
export const encodeSignature = (metadata: Metadata | undefined): string => {
  const names = Object.keys(metadata ?? {})
  if (metadata === undefined || names.length === 0) return ""
  const anthropic = metadata["anthropic"]
  return names.length === 1 && Predicate.hasProperty(anthropic, "signature") && typeof anthropic.signature === "string" &&
      Object.keys(anthropic).length === 1 && !anthropic.signature.startsWith("{")
    ? anthropic.signature
    : JSON.stringify(metadata)
}

/** The options of a prompt's reasoning part, from the `signature` of a session entry. */
export const decodeSignature = (signature: string): Prompt.ProviderOptions => {
  if (signature === "") return {}
  const parsed = signature.startsWith("{") ? Result.try(() => JSON.parse(signature) as unknown) : Result.fail(undefined)
  return Result.isSuccess(parsed) && Predicate.isObject(parsed.success)
    ? parsed.success as Prompt.ProviderOptions
    : { anthropic: { signature } }
}
