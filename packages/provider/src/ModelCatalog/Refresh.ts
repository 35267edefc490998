/**
 * Fetches a public catalogue of models and keeps what is of use here in `~/.nimlet/models.json`. The catalogue is a JSON
 * object from provider to `{ "models": { ID: model } }`, as models.dev publishes it, or a file of our own. Nothing is
 * fetched but when this is run.
 */
import { Clock, DateTime, Effect, FileSystem, Option, Predicate, Result, Schema } from "effect"
import type { Fetch } from "../AiSdk/Model.ts"
import type { ModelEntry } from "../ModelInfo.ts"
import { CatalogUnavailable } from "../ProviderError.ts"
import { type ThinkingLevel } from "../Thinking.ts"
import { CatalogContent, catalogPath } from "./CatalogFile.ts"

/** Where it is fetched unless another place is named. */
const publicCatalog = "https://models.dev/api.json"

/** How long it may take, and how large it may be. */
const limit = "30 seconds"
const mostBytes = 64 * 1024 * 1024

const Dollars = Schema.Number.check(Schema.isGreaterThanOrEqualTo(0))
const Tokens = Schema.Number.check(Schema.isGreaterThan(0))

const rates = { input: Dollars, output: Dollars, cache_read: Schema.optionalKey(Dollars), cache_write: Schema.optionalKey(Dollars) }

/** A model as models.dev has it, as far as it is of use. */
const PublicModel = Schema.Struct({
  id: Schema.NonEmptyString,
  name: Schema.optionalKey(Schema.String),
  reasoning: Schema.optionalKey(Schema.Boolean),
  tool_call: Schema.optionalKey(Schema.Boolean),
  modalities: Schema.optionalKey(Schema.Struct({ input: Schema.Array(Schema.String) })),
  limit: Schema.optionalKey(Schema.Struct({ context: Schema.Number, output: Schema.optionalKey(Schema.Number) })),
  cost: Schema.optionalKey(Schema.Struct({
    ...rates,
    /** Prices of requests beyond a size; the second is how older files have the one at 200,000 tokens. */
    tiers: Schema.optionalKey(Schema.Array(Schema.Struct({ ...rates, tier: Schema.Struct({ type: Schema.String, size: Tokens }) }))),
    context_over_200k: Schema.optionalKey(Schema.Struct(rates))
  }))
})
type Cost = NonNullable<typeof PublicModel.Type["cost"]>

const isTokens = Schema.is(Tokens)

const ratesOf = ({ cache_read, cache_write, input, output }: Omit<Cost, "context_over_200k" | "tiers">) => ({
  input,
  output,
  ...(cache_read === undefined ? {} : { cache_read }),
  ...(cache_write === undefined ? {} : { cache_write })
})

const tiersOf = ({ context_over_200k, tiers }: Cost) =>
  tiers === undefined
    ? context_over_200k === undefined ? [] : [{ above: 200_000, ...ratesOf(context_over_200k) }]
    : tiers.flatMap(({ tier, ...one }) => tier.type === "context" ? [{ above: Math.floor(tier.size), ...ratesOf(one) }] : [])

const costOf = (cost: Cost) => {
  const tiers = tiersOf(cost)
  return { ...ratesOf(cost), ...(tiers.length === 0 ? {} : { tiers }) }
}

const entryOf = ({ cost, id, limit, modalities, name, reasoning }: typeof PublicModel.Type): ModelEntry => ({
  id,
  ...(name === undefined ? {} : { name }),
  ...(isTokens(limit?.context) ? { context_window: Math.floor(limit.context) } : {}),
  ...(isTokens(limit?.output) ? { max_output: Math.floor(limit.output) } : {}),
  ...(modalities === undefined ? {} : { images: modalities.input.includes("image") }),
  // Which levels a model has it does not say: only that it has none is news.
  ...(reasoning === false ? { thinking: ["off"] satisfies ReadonlyArray<ThinkingLevel> } : {}),
  ...(cost === undefined ? {} : { cost: costOf(cost) })
})

const decodeModel = Schema.decodeUnknownOption(PublicModel)
const decodeOwn = Schema.decodeUnknownOption(CatalogContent)

type Providers = CatalogContent["providers"]

/** What a catalogue holds of the providers asked for, and how many of their models could not be read. None when it is no catalogue. */
export const catalogIn = (content: unknown, providers: ReadonlyArray<string>): Option.Option<{ readonly providers: Providers; readonly skipped: number }> => {
  const own = decodeOwn(content)
  if (Option.isSome(own)) {
    const kept = Object.entries(own.value.providers).filter(([name]) => providers.includes(name))
    return Option.some({ providers: Object.fromEntries(kept), skipped: 0 })
  }
  if (!Predicate.isObject(content) || Array.isArray(content)) return Option.none()
  const all: { readonly [name: string]: unknown } = { ...content }
  const modelsOf = (provider: string): ReadonlyArray<unknown> | undefined => {
    const entry = Object.hasOwn(all, provider) ? all[provider] : undefined
    return Predicate.hasProperty(entry, "models") && Predicate.isObject(entry.models) ? Object.values(entry.models) : undefined
  }
  if (!Object.keys(all).some((name) => modelsOf(name) !== undefined)) return Option.none()
  let skipped = 0
  const found = providers.flatMap((provider) => {
    const models = (modelsOf(provider) ?? []).map((model) => decodeModel(model))
    skipped += models.filter(Option.isNone).length
    // What calls no tools is of no use to an agent.
    const entries = models.flatMap((model) => Option.isSome(model) && model.value.tool_call !== false ? [entryOf(model.value)] : [])
    return entries.length === 0 ? [] : [[provider, entries] as const]
  })
  return Option.some({ providers: Object.fromEntries(found), skipped })
}

/** What a refresh works with. */
export interface RefreshOptions {
  /** Where the catalogue is; default models.dev. */
  readonly url?: string
  /** The user's home folder. */
  readonly home: string
  /** The providers whose models are of use here. */
  readonly providers: ReadonlyArray<string>
  readonly fetch: Fetch
}

/** What a refresh came to. */
export interface Refreshed {
  readonly source: string
  readonly file: string
  /** How many models there are now of each provider. */
  readonly models: Readonly<Record<string, number>>
  /** Models that could not be read and were left out. */
  readonly skipped: number
}

// Foreign edge: `fetch` speaks in promises.
const load = (fetch: Fetch, url: string) =>
  Effect.tryPromise({
    try: async (signal) => {
      const response = await fetch(url, { signal, headers: { accept: "application/json" } })
      if (!response.ok) return Result.fail(`it answered with HTTP ${response.status}`)
      const text = await response.text()
      return text.length > mostBytes ? Result.fail(`it has more than ${mostBytes / 1024 / 1024} MiB`) : Result.succeed(text)
    },
    catch: (error) => {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
      return cause instanceof Error ? cause.message : String(cause)
    }
  }).pipe(
    Effect.timeoutOrElse({ duration: limit, orElse: () => Effect.fail(`no answer within ${limit}`) }),
    Effect.flatMap(Effect.fromResult)
  )

/**
 * Fetches the catalogue at `url` and keeps what it has of `providers`. Fails with `CatalogUnavailable`, and then what was
 * known before stays.
 */
export const refresh = Effect.fnUntraced(function*(options: RefreshOptions): Effect.fn.Return<Refreshed, CatalogUnavailable, FileSystem.FileSystem> {
  const { fetch, home, providers, url = publicCatalog } = options
  const fs = yield* FileSystem.FileSystem
  const unavailable = (problem: string) => new CatalogUnavailable({ url, problem })
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) return yield* unavailable("it is no http address")
  const text = yield* Effect.mapError(load(fetch, url), unavailable)
  const parsed = Result.try(() => JSON.parse(text) as unknown)
  if (Result.isFailure(parsed)) return yield* unavailable("it is no JSON")
  const found = catalogIn(parsed.success, providers)
  if (Option.isNone(found)) return yield* unavailable("it is no catalogue of models: no provider with models is in it")
  const { providers: kept, skipped } = found.value
  if (Object.keys(kept).length === 0) return yield* unavailable(`it has no model of ${providers.join(", ")}`)
  const content: CatalogContent = { source: url, fetched_at: DateTime.formatIso(DateTime.makeUnsafe(yield* Clock.currentTimeMillis)), providers: kept }
  const file = catalogPath(home)
  const fresh = `${file}.new`
  yield* fs.makeDirectory(`${home}/.nimlet`, { recursive: true }).pipe(
    Effect.andThen(fs.writeFileString(fresh, `${JSON.stringify(content)}\n`)),
    Effect.andThen(fs.rename(fresh, file)),
    Effect.mapError((error) => unavailable(`${file} cannot be written: ${error.reason._tag}`))
  )
  return { source: url, file, models: Object.fromEntries(Object.entries(kept).map(([name, models]) => [name, models.length])), skipped }
})
