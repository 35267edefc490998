/**
 * Which model answers. What is named wins, most particular first: flag, resumed session, settings; then the provider
 * whose key is found; then the offline model, which a machine mode must name itself.
 */
import { Effect, Option, Redacted, Schema } from "effect"
import type { Settings } from "@nimlet/agent"
import { MissingCredential, type ModelError, Models, Offline, presets, type ResolvedModel } from "@nimlet/provider"
import type { Session } from "@nimlet/session"
import type { Invocation } from "./Argv.ts"

/** Nothing names a model and no key was found, where the offline model must be asked for by name. */
export class NoModel extends Schema.TaggedError<NoModel>()("NoModel", { variables: Schema.Array(Schema.String) }) {
  override get message(): string {
    return `no API key found. Set one of ${this.variables.join(", ")}, or put a key into ~/.nimlet/auth.json; --provider offline runs without a model`
  }
}

/** A model, and what the user should be told about the choice. */
export interface ChosenModel extends ResolvedModel {
  readonly notices: ReadonlyArray<string>
}

/** The variables that may hold a key: kept from tools and extensions, and named when none is set. */
export const keyVariables = (settings: Settings): ReadonlyArray<string> => [
  ...Object.values(presets).flatMap(({ variables }) => variables),
  ...Object.values(settings.providers ?? {}).flatMap(({ api_key_env }) => api_key_env ?? [])
]

const lastUsed = Effect.fnUntraced(function*(session: Session) {
  const entries = yield* session.entries
  const last = entries.findLast((entry) => entry.type === "assistant" || entry.type === "selection")
  if (last === undefined || !("provider" in last) || last.provider === undefined) return Option.none()
  const model = "requested_model" in last ? last.requested_model : last.model
  return Option.some({ provider: last.provider, ...(model === undefined ? {} : { model }) })
})

const remembered = new Set(["offline", "scripted"])

/** Resolves the model of a run. Fails with what is missing or wrong, before anything was started. */
export const chooseModel = Effect.fnUntraced(function*(
  invocation: Invocation,
  settings: Settings,
  session: Session
): Effect.fn.Return<ChosenModel, ModelError | NoModel, Models> {
  const models = yield* Models
  const earlier = Option.filter(yield* lastUsed(session), ({ provider }) => !remembered.has(provider) && models.known.includes(provider))
  const named = invocation.provider ?? Option.getOrUndefined(earlier)?.provider ?? settings.default_provider
  const provider = named ?? (yield* models.defaultProvider)
  const offlineByDefault = named === undefined && provider === "offline"
  if (offlineByDefault && invocation.apiKey !== undefined) return yield* new MissingCredential({ provider: "--provider NAME beside --api-key", variables: [] })
  if (offlineByDefault && invocation.mode === "json") return yield* new NoModel({ variables: keyVariables(settings) })
  const model = invocation.model ??
    (invocation.provider === undefined || Option.exists(earlier, (used) => used.provider === provider)
      ? Option.getOrUndefined(earlier)?.model
      : undefined) ??
    (provider === settings.default_provider ? settings.default_model : undefined)
  const resolved = yield* models.resolve({
    provider,
    ...(model === undefined ? {} : { model }),
    ...(invocation.apiKey === undefined ? {} : { apiKey: Redacted.make(invocation.apiKey) }),
    ...(invocation.script === undefined ? {} : { script: invocation.script }),
    ...(settings.agent?.max_tokens === undefined ? {} : { maxTokens: settings.agent.max_tokens })
  })
  return {
    ...resolved,
    notices: [
      ...(offlineByDefault ? [Offline.offlineNotice] : []),
      ...Option.match(resolved.exposed, { onNone: () => [], onSome: (file) => [`${file} can be read by other users; chmod 600 it`] })
    ]
  }
})
