/**
 * Which model answers. What is named wins, most particular first: flag, resumed session, settings; then the provider
 * whose key is found; then the offline model, which a machine mode must name itself.
 */
import { Duration, Effect, type FileSystem, Option, Redacted, Result, Schema } from "effect"
import type { Settings } from "@nimlet/agent"
import { Extensions } from "@nimlet/extension"
import { clampThinking, MissingCredential, type ModelError, Models, type ModelsOptions, Offline, presets, type ProviderSettings, type ResolvedModel, type ThinkingLevel, thinkingLevelOf, thinkingLevels, UnknownProvider } from "@nimlet/provider"
import type { Session } from "@nimlet/session"
import type { Invocation } from "./Flags.ts"
import type { Host } from "./Host.ts"
import { offeredProviders } from "./OfferedProviders.ts"

/** Nothing names a model and no key was found, where the offline model must be asked for by name. */
export class NoModel extends Schema.TaggedError<NoModel>()("NoModel", { variables: Schema.Array(Schema.String) }) {
  override get message(): string {
    return `no API key found. Set one of ${this.variables.join(", ")}, or put a key into ~/.nimlet/auth.json; --provider offline runs without a model`
  }
}

/** `NIMLET_THINKING` names no level. */
export class ThinkingUnknown extends Schema.TaggedError<ThinkingUnknown>()("ThinkingUnknown", { level: Schema.String }) {
  override get message(): string {
    return `NIMLET_THINKING is '${this.level}'; it takes one of ${thinkingLevels.join(", ")}`
  }
}

/** A model, how much it is to think, and what the user should be told about the choice. */
export interface ChosenModel extends ResolvedModel {
  readonly thinking: ThinkingLevel | undefined
  /** Whether it is the offline model for want of another. */
  readonly byDefault: boolean
  readonly notices: ReadonlyArray<string>
}

/** The variables that may hold a key: kept from tools and extensions, and named when none is set. */
export const keyVariables = (settings: Settings): ReadonlyArray<string> => [
  ...Object.values(presets).flatMap(({ variables }) => variables),
  ...Object.values(settings.providers ?? {}).flatMap(({ api_key_env }) => api_key_env ?? [])
]

/** What `Models` needs to know of this machine and its settings; `offered` providers come after those of the settings. */
const modelsOptions = (host: Host, settings: Settings, offered: Readonly<Record<string, ProviderSettings>> = {}): ModelsOptions => ({
  environment: host.environment,
  home: host.home,
  fetch: host.fetch,
  providers: { ...settings.providers, ...offered },
  ...(settings.agent?.request_timeout === undefined ? {} : { requestTimeout: Duration.seconds(settings.agent.request_timeout) })
})

/** `Models` with what the running extensions offer now. */
export const withOffered = Effect.fnUntraced(function*<A, E>(host: Host, settings: Settings, use: (models: Models["Service"]) => Effect.Effect<A, E>) {
  const offered = yield* offeredProviders({ settings, withheld: keyVariables(settings) })
  return yield* Effect.flatMap(Models, use).pipe(Effect.provide(Models.layer(modelsOptions(host, settings, offered))))
})

const lastUsed = Effect.fnUntraced(function*(session: Session) {
  const entries = yield* session.entries
  const last = entries.findLast((entry) => entry.type === "assistant" || entry.type === "selection")
  if (last === undefined || !("provider" in last) || last.provider === undefined) return Option.none()
  const model = "requested_model" in last ? last.requested_model : last.model
  return Option.some({ provider: last.provider, ...(model === undefined ? {} : { model }) })
})

/** How much to think: as the flag says, the session, the environment, the settings; else as much as the model does by itself. */
const thinkingWish = Effect.fnUntraced(function*({ host, invocation, session, settings }: Wishes) {
  if (invocation.thinking !== undefined) return invocation.thinking
  const last = (yield* session.entries).findLast((entry) => entry.type === "selection" && "thinking" in entry && typeof entry.thinking === "string")
  const chosen = last !== undefined && "thinking" in last && typeof last.thinking === "string" ? thinkingLevelOf(last.thinking) : undefined
  if (chosen !== undefined) return chosen
  const named = host.environment["NIMLET_THINKING"] ?? ""
  const level = thinkingLevelOf(named === "" ? settings.agent?.thinking ?? "" : named)
  return named !== "" && level === undefined ? yield* new ThinkingUnknown({ level: named }) : level
})

const remembered = new Set(["offline", "scripted"])

/** What the choice is made from. */
interface Wishes {
  readonly host: Host
  readonly invocation: Invocation
  readonly settings: Settings
  /** The file that says `default_provider`; default the person's own. */
  readonly defaultsFile?: string | undefined
  readonly session: Session
}

/** What names the provider. */
const sourceOf = ({ defaultsFile = "~/.nimlet/config.json", invocation }: Wishes, resumed: boolean): string =>
  invocation.provider !== undefined ? "--provider" : resumed ? "the session" : `default_provider in ${defaultsFile}`

/** Resolves the model with the providers that are known. A session's earlier provider must be among them only if `strict`. */
const resolveModel = Effect.fnUntraced(function*(
  wishes: Wishes,
  strict: boolean
): Effect.fn.Return<ChosenModel, ModelError | NoModel | ThinkingUnknown, Models> {
  const { invocation, session, settings } = wishes
  const models = yield* Models
  const used = Option.filter(yield* lastUsed(session), ({ provider }) => !remembered.has(provider))
  const earlier = Option.filter(used, ({ provider }) => strict || models.known.includes(provider))
  const named = invocation.provider ?? Option.getOrUndefined(earlier)?.provider ?? settings.default_provider
  const provider = named ?? (yield* models.defaultProvider)
  const offlineByDefault = named === undefined && provider === "offline"
  if (offlineByDefault && invocation.apiKey !== undefined) return yield* new MissingCredential({ provider: "--provider NAME beside --api-key", variables: [] })
  if (offlineByDefault && (invocation.mode === "json" || invocation.mode === "rpc")) return yield* new NoModel({ variables: keyVariables(settings) })
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
  }).pipe(Effect.mapError((error) => error._tag === "UnknownProvider" ? new UnknownProvider({ provider: error.provider, known: error.known, named: sourceOf(wishes, Option.isSome(earlier)) }) : error))
  const thinking = yield* thinkingWish(wishes)
  const { model: id, thinkingLevels: levels } = resolved.info
  const clamped = invocation.thinking === undefined ? undefined : clampThinking(invocation.thinking, levels)
  return {
    ...resolved,
    thinking,
    byDefault: offlineByDefault,
    notices: [
      ...(clamped === invocation.thinking ? [] : [`${id} has no thinking level ${invocation.thinking}; ${clamped} is used`]),
      ...resolved.faults.map(({ message }) => message),
      ...resolved.unset.map(({ header, variable }) =>
        `~/.nimlet/config.json: providers.${provider}.headers.${header} is left out, since the variable ${variable} is not set; set it, or take the header out`),
      ...(offlineByDefault ? [Offline.offlineNotice] : []),
      ...Option.match(resolved.exposed, { onNone: () => [], onSome: (file) => [`${file} can be read by other users; chmod 600 it`] })
    ]
  }
})

/** The model of a run: known from the start, or only when extensions have said which providers they offer. */
export interface ModelChoice {
  /** What is known before extensions start; empty texts for what is not. */
  readonly named: { readonly provider: string; readonly model: string }
  /** What was chosen, when it is known already. */
  readonly chosen: Option.Option<ChosenModel>
  /** For the time in which extensions start. */
  readonly warm: Effect.Effect<void>
  /** Base URL of the model, where that is known already and it is asked over HTTP. */
  readonly endpoint: Option.Option<string>
  /** To be asked for when extensions have registered. */
  readonly settled: Effect.Effect<ChosenModel, ModelError | NoModel | ThinkingUnknown, Extensions | FileSystem.FileSystem>
}

/**
 * Chooses the model of a run. Fails with what is missing or wrong, before anything was started; an unknown provider, or
 * none where one has to be named, only then, when `mayOffer` says that no extension might offer it.
 */
export const chooseModel = Effect.fnUntraced(function*<R>(
  wishes: Wishes,
  mayOffer: Effect.Effect<boolean, never, R>
): Effect.fn.Return<ModelChoice, ModelError | NoModel | ThinkingUnknown, R | FileSystem.FileSystem> {
  const { host, invocation, settings } = wishes
  const among = (offered: Readonly<Record<string, ProviderSettings>>, strict: boolean) =>
    Effect.provide(resolveModel(wishes, strict), Models.layer(modelsOptions(host, settings, offered)))
  const offers = offeredProviders({ settings, withheld: keyVariables(settings) })
  const known = (chosen: ChosenModel): ModelChoice => ({
    named: { provider: chosen.info.provider, model: chosen.info.model },
    chosen: Option.some(chosen),
    warm: chosen.warm,
    endpoint: chosen.endpoint,
    // An extension may move a provider elsewhere, or offer the only one there is a key for.
    settled: Effect.flatMap(offers, (offered) =>
      Object.hasOwn(offered, chosen.info.provider) || chosen.byDefault && Object.keys(offered).length > 0 ? among(offered, false) : Effect.succeed(chosen))
  })
  const first = yield* Effect.result(among({}, true))
  if (Result.isSuccess(first)) return known(first.success)
  const { failure } = first
  if (!(failure instanceof UnknownProvider || failure instanceof NoModel)) return yield* failure
  if (!(yield* mayOffer)) return known(yield* among({}, false))
  return {
    named: { provider: failure instanceof UnknownProvider ? failure.provider : "", model: invocation.model ?? "" },
    chosen: Option.none(),
    warm: Effect.void,
    endpoint: Option.none(),
    settled: Effect.flatMap(offers, (offered) => among(offered, false))
  }
})
