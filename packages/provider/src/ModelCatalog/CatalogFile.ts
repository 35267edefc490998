/** The catalogue that a refresh has fetched, as it is kept in `~/.nimlet/models.json`. */
import { Effect, FileSystem, Option, Predicate, Result, Schema } from "effect"
import { ModelEntry } from "../ModelInfo.ts"

/** A catalogue as the file has it: where and when it was fetched, and its models by provider. */
export const CatalogContent = Schema.Struct({
  source: Schema.String,
  fetched_at: Schema.String,
  providers: Schema.Record(Schema.String, Schema.Array(ModelEntry))
})
/** A catalogue as the file has it. */
export type CatalogContent = typeof CatalogContent.Type

/** A catalogue that was read. An entry is looked at only when it is asked for: there are hundreds. */
export interface CatalogFile {
  readonly find: (provider: string, model: string) => Option.Option<ModelEntry>
  /** The ids of a provider's models. */
  readonly list: (provider: string) => ReadonlyArray<string>
}

/** Where it is kept, from the home folder on. */
export const catalogPath = (home: string): string => `${home}/.nimlet/models.json`

const decodeEntry = Schema.decodeUnknownOption(ModelEntry)

const idOf = (entry: unknown): ReadonlyArray<string> => Predicate.hasProperty(entry, "id") && typeof entry.id === "string" ? [entry.id] : []

const catalogIn = (content: unknown): CatalogFile => {
  const providers = Predicate.hasProperty(content, "providers") ? content.providers : undefined
  const entriesOf = (provider: string): ReadonlyArray<unknown> => {
    const entries = Predicate.isObject(providers) && Object.hasOwn(providers, provider) ? (providers as Readonly<Record<string, unknown>>)[provider] : undefined
    return Array.isArray(entries) ? entries : []
  }
  return {
    find: (provider, model) => Option.flatMap(Option.fromNullishOr(entriesOf(provider).find((entry) => idOf(entry)[0] === model)), decodeEntry),
    list: (provider) => entriesOf(provider).flatMap(idOf)
  }
}

/** Reads it; none when there is none, or when it cannot be read: then what comes along has to do. */
export const readCatalogFile = Effect.fnUntraced(function*(home: string): Effect.fn.Return<Option.Option<CatalogFile>, never, FileSystem.FileSystem> {
  const text = yield* Effect.option((yield* FileSystem.FileSystem).readFileString(catalogPath(home)))
  return Option.flatMap(text, (some) => Option.map(Result.getSuccess(Result.try(() => JSON.parse(some) as unknown)), catalogIn))
})
