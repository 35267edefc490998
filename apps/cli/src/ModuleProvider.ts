/** A provider as a TypeScript extension registers it (`pi.registerProvider`, seed 004), as the settings of a provider. Pure. */
import { Redacted, Result, Schema } from "effect"
import * as SchemaIssue from "effect/SchemaIssue"
import { type OfferedModel, type ProviderSettings, type ThinkingLevel, thinkingLevels } from "@nimlet/provider"

const Dollars = Schema.Number.check(Schema.isGreaterThanOrEqualTo(0))
const Tokens = Schema.Int.check(Schema.isGreaterThan(0))

const rates = { input: Dollars, output: Dollars, cacheRead: Schema.optionalKey(Dollars), cacheWrite: Schema.optionalKey(Dollars) }
const Rates = Schema.Struct(rates)

const ModuleModel = Schema.Struct({
  id: Schema.NonEmptyString,
  api: Schema.optionalKey(Schema.String),
  baseUrl: Schema.optionalKey(Schema.String),
  headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  name: Schema.optionalKey(Schema.String),
  reasoning: Schema.optionalKey(Schema.Boolean),
  thinkingLevelMap: Schema.optionalKey(Schema.Record(Schema.String, Schema.NullOr(Schema.String))),
  input: Schema.optionalKey(Schema.Array(Schema.String)),
  cost: Schema.optionalKey(Schema.Struct({ ...rates, tiers: Schema.optionalKey(Schema.Array(Schema.Struct({ ...rates, inputTokensAbove: Tokens }))) })),
  contextWindow: Schema.optionalKey(Tokens),
  maxTokens: Schema.optionalKey(Tokens),
  compat: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
})

/** What is understood of a configuration; the rest of it is left alone. */
const ModuleConfig = Schema.Struct({
  baseUrl: Schema.optionalKey(Schema.String),
  apiKey: Schema.optionalKey(Schema.String),
  api: Schema.optionalKey(Schema.String),
  headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  models: Schema.optionalKey(Schema.Array(ModuleModel))
})

/** The variable that a text stands for: `$NAME` or `${NAME}`. */
const variableIn = (text: string): string | undefined => /^\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})$/.exec(text)?.slice(1).find((name) => name !== undefined)

/** The levels of a model: the usual ones but those that are mapped to nothing, and further ones that are mapped. */
const levelsOf = ({ reasoning, thinkingLevelMap = {} }: typeof ModuleModel.Type): ReadonlyArray<ThinkingLevel> =>
  reasoning === true
    ? thinkingLevels.filter((level) => Object.hasOwn(thinkingLevelMap, level) ? thinkingLevelMap[level] !== null : level !== "xhigh" && level !== "max")
    : ["off"]

const ratesOf = ({ cacheRead, cacheWrite, input, output }: typeof Rates.Type) => ({
  input,
  output,
  ...(cacheRead === undefined ? {} : { cache_read: cacheRead }),
  ...(cacheWrite === undefined ? {} : { cache_write: cacheWrite })
})

const entryOf = (model: typeof ModuleModel.Type): OfferedModel => {
  const { api, baseUrl, compat = {}, contextWindow, cost, headers, id, input, maxTokens, name } = model
  return {
    id,
    ...(api === undefined ? {} : { api }),
    ...(baseUrl === undefined ? {} : { endpoint: baseUrl }),
    ...(headers === undefined ? {} : { headers }),
    ...(name === undefined ? {} : { name }),
    ...(contextWindow === undefined ? {} : { context_window: contextWindow }),
    ...(maxTokens === undefined ? {} : { max_output: maxTokens }),
    ...(input === undefined ? {} : { images: input.includes("image") }),
    ...(model.reasoning === undefined ? {} : { thinking: levelsOf(model) }),
    ...(cost === undefined ? {} : {
      cost: {
        ...ratesOf(cost),
        ...(cost.tiers === undefined ? {} : { tiers: cost.tiers.map((tier) => ({ above: tier.inputTokensAbove, ...ratesOf(tier) })) })
      }
    }),
    strict_tools: compat["supportsStrictMode"] === true || compat["supportsStrictTools"] === true,
    grammar_tools: compat["supportsOpenAIGrammarTools"] === true || compat["supportsGrammarTools"] === true
  }
}

const decode = Schema.decodeUnknownResult(ModuleConfig)
const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()

/** A provider of a module: its settings, and the variables that it asks to be sent. */
export interface ModuleProvider {
  readonly settings: ProviderSettings
  readonly variables: ReadonlyArray<string>
}

/** Reads a configuration, or says what is wrong in it. A key that a command would have to print is not to be had here. */
export const moduleProvider = (config: unknown): Result.Result<ModuleProvider, string> => {
  const decoded = decode(config)
  if (Result.isFailure(decoded)) {
    const [issue] = issuesOf(decoded.failure.issue).issues
    return Result.fail(`${(issue?.path ?? []).map((key) => typeof key === "object" ? key.key : key).join(".")}: ${issue?.message ?? "is wrong"}`)
  }
  const { api, apiKey, baseUrl, headers = {}, models } = decoded.success
  if (apiKey?.startsWith("!") === true) return Result.fail("apiKey: a key that a command prints cannot be had; name a variable, as \"$NAME\"")
  const variable = apiKey === undefined ? undefined : variableIn(apiKey)
  const inHeaders = [headers, ...(models ?? []).map((model) => model.headers ?? {})].flatMap((one) => Object.values(one)).flatMap((value) => variableIn(value) ?? [])
  return Result.succeed({
    variables: [...new Set([...(variable === undefined ? [] : [variable]), ...inHeaders])],
    settings: {
      ...(baseUrl === undefined ? {} : { endpoint: baseUrl }),
      ...(api === undefined ? {} : { api }),
      ...(variable !== undefined ? { api_key_env: variable } : apiKey === undefined ? {} : { api_key: Redacted.make(apiKey) }),
      ...(Object.keys(headers).length === 0 ? {} : { headers }),
      ...(models === undefined ? {} : { models: models.map(entryOf), catalogue: false })
    }
  })
}
