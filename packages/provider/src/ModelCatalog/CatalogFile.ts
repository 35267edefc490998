/** The catalogue that a refresh has fetched, as it is kept in `~/.nimlet/models.json`. */
import { Effect, FileSystem, Option, Predicate, Result, Schema } from "effect"
import * as SchemaIssue from "effect/SchemaIssue"
import { ModelEntry } from "../ModelInfo.ts"
import { CatalogInvalid } from "../ProviderError.ts"

/** A catalogue as the file has it: where and when it was fetched, and its models by provider. */
export const CatalogContent = Schema.Struct({
  source: Schema.String,
  fetched_at: Schema.String,
  providers: Schema.Record(Schema.String, Schema.Array(ModelEntry))
})
/** A catalogue as the file has it. */
export type CatalogContent = typeof CatalogContent.Type

/** One model of a provider. */
interface Named {
  readonly provider: string
  readonly model: string
}

/** A catalogue that was read. An entry is looked at only when it is asked for: there are hundreds. */
export interface CatalogFile {
  readonly find: (provider: string, model: string) => Option.Option<ModelEntry>
  /** The ids of a provider's models. */
  readonly list: (provider: string) => ReadonlyArray<string>
  /** What cannot be used in it, each with its key; with a name only what keeps that model from being found. */
  readonly faults: (of?: Named) => ReadonlyArray<CatalogInvalid>
}

/** Where it is kept, from the home folder on. */
export const catalogPath = (home: string): string => `${home}/.nimlet/models.json`

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json => Predicate.isObject(value) && !Array.isArray(value)

const decodeEntry = Schema.decodeUnknownResult(ModelEntry)
const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()

const idOf = (entry: unknown): ReadonlyArray<string> => Predicate.hasProperty(entry, "id") && typeof entry.id === "string" ? [entry.id] : []

/** What is wrong with an entry, at its key. */
const faultOf = (at: string, entry: unknown): ReadonlyArray<string> => {
  const decoded = decodeEntry(entry)
  if (Result.isSuccess(decoded)) return []
  const { message, path = [] } = issuesOf(decoded.failure.issue).issues[0] ?? { message: "is no model" }
  const key = path.map((step) => `.${String(typeof step === "object" ? step.key : step)}`).join("")
  return [`${at}${key}: ${message.charAt(0).toLowerCase()}${message.slice(1)}`]
}

const catalogIn = (file: string, content: unknown): CatalogFile => {
  const providers = isObject(content) ? content["providers"] : undefined
  const valueOf = (provider: string): unknown => isObject(providers) && Object.hasOwn(providers, provider) ? providers[provider] : undefined
  const entriesOf = (provider: string): ReadonlyArray<unknown> => {
    const entries = valueOf(provider)
    return Array.isArray(entries) ? entries : []
  }
  const faultsOf = (provider: string, model?: string): ReadonlyArray<string> => {
    const value = valueOf(provider)
    if (value !== undefined && !Array.isArray(value)) return [`providers.${provider}: must be a list of models`]
    return entriesOf(provider).flatMap((entry, index) => model !== undefined && idOf(entry)[0] !== model ? [] : faultOf(`providers.${provider}[${index}]`, entry))
  }
  return {
    find: (provider, model) =>
      Option.flatMap(Option.fromNullishOr(entriesOf(provider).find((entry) => idOf(entry)[0] === model)), (entry) => Result.getSuccess(decodeEntry(entry))),
    list: (provider) => entriesOf(provider).flatMap(idOf),
    faults: (of) => {
      const found = !isObject(providers)
        ? ["providers: must be an object from the name of a provider to a list of models"]
        : of === undefined
        ? Object.keys(providers).flatMap((provider) => faultsOf(provider))
        : faultsOf(of.provider, of.model)
      return found.map((problem) => new CatalogInvalid({ file, problem }))
    }
  }
}

const nothingIn = (faults: ReadonlyArray<CatalogInvalid>): CatalogFile => ({ find: () => Option.none(), list: () => [], faults: () => faults })

/** Reads it. Where there is none, or it cannot be read, nothing is found in it: then what comes along has to do. */
export const readCatalogFile = Effect.fnUntraced(function*(home: string): Effect.fn.Return<CatalogFile, never, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const file = catalogPath(home)
  const unusable = (problem: string) => nothingIn([new CatalogInvalid({ file, problem })])
  const read = yield* fs.stat(file).pipe(
    // Opening a pipe would wait for its writer.
    Effect.flatMap(({ type }) => type === "File" ? Effect.map(fs.readFileString(file), Option.some) : Effect.succeedNone),
    Effect.result
  )
  if (Result.isFailure(read)) return read.failure.reason._tag === "NotFound" ? nothingIn([]) : unusable(`cannot be read (${read.failure.reason._tag})`)
  if (Option.isNone(read.success)) return unusable("is no regular file")
  const text = read.success.value
  const parsed = Result.try(() => JSON.parse(text) as unknown)
  return Result.isSuccess(parsed) ? catalogIn(file, parsed.success) : unusable(`is not valid JSON (${parsed.failure instanceof Error ? parsed.failure.message : "unreadable"})`)
})
