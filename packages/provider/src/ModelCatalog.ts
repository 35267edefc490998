/**
 * What is known of models without asking a provider: what a refresh has fetched, the table that comes along, and, for the
 * rest, guesses by name. Both are read when a model is first looked up.
 */
import { Effect, type FileSystem, Option } from "effect"
import { type CatalogFile, readCatalogFile } from "./ModelCatalog/CatalogFile.ts"
import type { Refreshed, RefreshOptions } from "./ModelCatalog/Refresh.ts"
import type { Row } from "./ModelCatalog/Rows.ts"
import { type ModelInfo, withEntry } from "./ModelInfo.ts"
import type { CatalogInvalid, CatalogUnavailable } from "./ProviderError.ts"
import { type ThinkingLevel, thinkingLevels } from "./Thinking.ts"

export type { Refreshed } from "./ModelCatalog/Refresh.ts"

/** `Refresh.refresh`, whose code is loaded when it is asked for. */
export const refreshCatalog = (options: RefreshOptions): Effect.Effect<Refreshed, CatalogUnavailable, FileSystem.FileSystem> =>
  Effect.flatMap(Effect.promise(() => import("./ModelCatalog/Refresh.ts")), ({ refresh }) => refresh(options))

/** The catalogue of this machine. */
export interface ModelCatalog {
  /** A model, known or guessed. */
  readonly find: (provider: string, model: string) => Effect.Effect<ModelInfo>
  /** All models that are known of a provider. */
  readonly list: (provider: string) => Effect.Effect<ReadonlyArray<ModelInfo>>
  /** What cannot be used of a refreshed catalogue; with a name only what has to do with that model. */
  readonly faults: CatalogFaults
}

/** Looks a refreshed catalogue over. */
export type CatalogFaults = (of?: { readonly provider: string; readonly model: string }) => Effect.Effect<ReadonlyArray<CatalogInvalid>>

const sees = (contextWindow: number, maxOutput?: number) => ({ contextWindow, images: true, ...(maxOutput === undefined ? {} : { maxOutput }) })

/** Guesses by a part of the name; the first that fits. */
const guesses: ReadonlyArray<readonly [RegExp, Pick<ModelInfo, "contextWindow" | "maxOutput" | "images"> & Partial<ModelInfo>]> = [
  [/claude-(sonnet|opus|haiku|fable)-5/, sees(1_000_000, 128_000)],
  [/claude-opus-4/, sees(200_000, 32_000)],
  [/claude-(sonnet|haiku)-4/, sees(200_000, 64_000)],
  [/claude/, sees(200_000)],
  [/gpt-6|gpt-5[-.][4-9]/, sees(272_000, 128_000)],
  [/gpt-5/, sees(400_000, 128_000)],
  [/gpt-4[-.]1/, sees(1_047_576, 32_768)],
  [/gpt-4o/, sees(128_000, 16_384)],
  [/(^|\/)o[134](-|$)/, sees(200_000, 100_000)],
  [/gemini-(1|2[-.]0)/, { ...sees(1_048_576, 8_192), thinkingLevels: ["off"] }],
  [/gemini/, sees(1_048_576, 65_536)],
  [/vision|llava|pixtral|-vl\b|gemma-?3/, sees(128_000)]
]

/** What is taken to be so of a model nobody has heard of: 128,000 tokens, text only, and the levels that most have. */
export const guessModel = (provider: string, model: string): ModelInfo => {
  const id = model.toLowerCase()
  const guess = guesses.find(([pattern]) => pattern.test(id))?.[1] ?? { contextWindow: 128_000, images: false }
  return { provider, model, thinkingLevels: ["off", "low", "medium", "high"], ...guess, compat: {} }
}

const levelsIn = (traits: ReadonlyArray<string>): ReadonlyArray<ThinkingLevel> => {
  const named = traits.flatMap((trait) => {
    const [from = "", to = from] = trait.split("-")
    const [first, last] = [thinkingLevels.findIndex((level) => level === from), thinkingLevels.findIndex((level) => level === to)]
    return first < 0 || last < 0 ? [] : thinkingLevels.slice(first, last + 1)
  })
  return named.length === 0 ? ["off"] : named
}

const ofRow = (provider: string, model: string, [contextWindow, maxOutput, input, output, cacheRead, cacheWrite, traits]: Row): ModelInfo => {
  const words = traits.split(" ")
  return {
    provider,
    model,
    contextWindow,
    maxOutput,
    images: words.includes("image"),
    thinkingLevels: levelsIn(words),
    prices: { input, output, ...(cacheRead === 0 ? {} : { cacheRead }), ...(cacheWrite === 0 ? {} : { cacheWrite }) },
    compat: {
      ...(words.includes("strict") ? { strictTools: true } : {}),
      ...(words.includes("grammar") ? { grammarTools: true } : {})
    }
  }
}

/** An id as its maker writes it: without the vendor before it, a variant or a date behind it, dots and dashes alike. */
const bare = (model: string): string =>
  model.toLowerCase().replace(/^.*\//, "").replace(/:.*$/, "").replace(/-(\d{8}|\d{4}-\d\d-\d\d)$/, "").replaceAll(".", "-")

/** Gateways that charge what the maker does. */
const passesOn = new Set(["openrouter"])

type Table = Readonly<Record<string, Readonly<Record<string, Row>>>>

/** The model in the table: as its provider's own, or, at a gateway, as another's, of which it has the size but not all the rest. */
const inTable = (rows: Table, provider: string, model: string): ModelInfo | undefined => {
  const own = Object.hasOwn(rows, provider) ? rows[provider] : undefined
  const row = own !== undefined && Object.hasOwn(own, model) ? own[model] : undefined
  if (row !== undefined) return ofRow(provider, model, row)
  const id = bare(model)
  const tables = own === undefined ? Object.values(rows) : [own]
  const found = tables.flatMap((table) => Object.entries(table)).find(([known]) => bare(known) === id)
  if (found === undefined) return undefined
  const { compat, prices, ...info } = ofRow(provider, model, found[1])
  if (own !== undefined) return { ...info, compat, ...(prices === undefined ? {} : { prices }) }
  return { ...info, compat: {}, ...(passesOn.has(provider) && prices !== undefined ? { prices } : {}) }
}

/** Makes the catalogue; `home` is the user's home folder, in whose `.nimlet` a refreshed one is. */
export const makeModelCatalog = Effect.fnUntraced(function*(home: string): Effect.fn.Return<ModelCatalog, never, FileSystem.FileSystem> {
  const refreshed = yield* Effect.cached(Effect.provideContext(readCatalogFile(home), yield* Effect.context<FileSystem.FileSystem>()))
  const table = Effect.map(Effect.promise(() => import("./ModelCatalog/Rows.ts")), ({ rows }): Table => rows)
  const both: Effect.Effect<readonly [CatalogFile, Table]> = Effect.all([refreshed, table], { concurrency: 2 })

  const look = (file: CatalogFile, rows: Table, provider: string, model: string): ModelInfo => {
    const known = inTable(rows, provider, model) ?? guessModel(provider, model)
    return Option.match(file.find(provider, model), { onNone: () => known, onSome: (said) => withEntry(known, said) })
  }
  return {
    find: (provider, model) => Effect.map(both, ([file, rows]) => look(file, rows, provider, model)),
    list: (provider) =>
      Effect.map(both, ([file, rows]) => {
        const own = Object.hasOwn(rows, provider) ? Object.keys(rows[provider] ?? {}) : []
        return [...new Set([...own, ...file.list(provider)])].map((model) => look(file, rows, provider, model))
      }),
    faults: (of) => Effect.map(refreshed, ({ faults }) => faults(of))
  }
})
