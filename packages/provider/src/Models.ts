/** From the name of a model to a model that can be asked. */
import { Context, Duration, Effect, FileSystem, Layer, Option, type Redacted } from "effect"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as AiSdk from "./AiSdk.ts"
import type { AiProviderOptions, Fetch } from "./AiSdk/Model.ts"
import { rehearse } from "./AiSdk/Rehearsal.ts"
import { type AuthFile, type CredentialSearch, type Environment, findCredential, readAuthFile } from "./Credentials.ts"
import { guessModel, makeModelCatalog } from "./ModelCatalog.ts"
import { type ModelEntry, type ModelInfo, withEntry } from "./ModelInfo.ts"
import * as Offline from "./Offline.ts"
import { type Api, apiNames, type Preset, presets, versionPath } from "./Presets.ts"
import {
  type AuthFileInvalid, type CatalogInvalid, InvalidEndpoint, MissingCredential, MissingModel, ScriptInvalid, UnknownApi, UnknownProvider
} from "./ProviderError.ts"
import type { Endpoint } from "./providers/Endpoint.ts"
import * as Scripted from "./Scripted.ts"

/** A model that is had in a way of its own, as an extension may offer one; files cannot say so. */
export interface OfferedModel extends ModelEntry {
  /** In place of its provider's. */
  readonly endpoint?: string
  readonly api?: string
  /** Beside its provider's. */
  readonly headers?: { readonly [name: string]: string }
}

/** Settings of one provider, as in `config.json` under `providers.NAME`, or as an extension offers it. */
export interface ProviderSettings {
  readonly endpoint?: string
  /** One of `apiNames`. */
  readonly api?: string
  /** The variable that holds its key, or several in order, in place of the preset's. */
  readonly api_key_env?: string | ReadonlyArray<string>
  /** Its key, where an extension brings it. */
  readonly api_key?: Redacted.Redacted
  /** Whether its key may stand in `auth.json`; default yes. */
  readonly auth_file?: boolean
  /** Sent with every request; a value `$NAME` is that of the variable, and left out where there is none. */
  readonly headers?: { readonly [name: string]: string }
  /** Whether the models of the catalogue are its own, too; default yes. */
  readonly catalogue?: boolean
  /** Whether it must have a key. Default: yes when a variable or an entry of `auth.json` is named for it. */
  readonly requires_api_key?: boolean
  /** Models it has, by id or with what is to be known of them; the first is its default. */
  readonly models?: ReadonlyArray<string | OfferedModel>
  readonly last_model?: string
  /** Options merged into each request, in the AI SDK's names for this provider. */
  readonly options?: { readonly [name: string]: unknown }
}

/** What is asked for. Without `provider`, the one whose key is found; without `model`, its last or default one. */
export interface ModelRef {
  readonly provider?: string
  readonly model?: string
  readonly endpoint?: string
  readonly api?: string
  readonly apiKey?: Redacted.Redacted
  readonly maxTokens?: number
  /** Path of the script, for provider `scripted`. */
  readonly script?: string
}

/** A model of a list. */
export interface ListedModel extends ModelInfo {
  /** Whether it could be asked: its provider has a key, or needs none. */
  readonly ready: boolean
}

/** A header that is not sent, since the variable that has its value is not set. */
export interface UnsetHeader {
  readonly header: string
  readonly variable: string
}

/** A model ready to be asked. */
export interface ResolvedModel {
  readonly info: ModelInfo
  readonly layer: Layer.Layer<LanguageModel.LanguageModel>
  /** Loads the provider's code; the first request does it anyway. Worth forking while something else starts. */
  readonly warm: Effect.Effect<void>
  /** `auth.json`, when its key was used and others than its owner may read it. */
  readonly exposed: Option.Option<string>
  /** What of a refreshed catalogue cannot be used, where it should say something of this model. */
  readonly faults: ReadonlyArray<CatalogInvalid>
  /** Headers of the settings that are left out. */
  readonly unset: ReadonlyArray<UnsetHeader>
  /** Where its key comes from: `flag`, `auth.json`, or the name of a variable. None where it has none. */
  readonly keySource: Option.Option<string>
  /** Base URL, where it is asked over HTTP. */
  readonly endpoint: Option.Option<string>
}

/** Why a model could not be resolved. */
export type ModelError =
  | MissingCredential | UnknownProvider | UnknownApi | InvalidEndpoint | MissingModel | AuthFileInvalid | ScriptInvalid

/** What the layer needs to know of the world. */
export interface ModelsOptions {
  readonly environment: Environment
  /** The user's home folder; `auth.json` is in its `.nimlet`. */
  readonly home: string
  readonly providers?: { readonly [name: string]: ProviderSettings }
  readonly requestTimeout?: Duration.Input
  /** What sends requests; default the platform's `fetch`. */
  readonly fetch?: Fetch
}

/** A wire format's module: the way to a provider, and the shortest answer such a one could send. */
interface Wire {
  readonly connect: (endpoint: Endpoint) => AiSdk.Connection
  readonly sample: string
}

const load: { readonly [A in Api | "openai-compatible"]: Effect.Effect<Wire> } = {
  "anthropic": Effect.promise(() => import("./providers/anthropic.ts")),
  "openai-responses": Effect.promise(() => import("./providers/openai-responses.ts")),
  "openai-chat": Effect.promise(() => import("./providers/openai-chat.ts")),
  "openai-compatible": Effect.promise(() => import("./providers/openai-compatible.ts")),
  "google": Effect.promise(() => import("./providers/google.ts")),
  "mistral": Effect.promise(() => import("./providers/mistral.ts"))
}

const own = <A>(record: { readonly [name: string]: A }, name: string): A | undefined => Object.hasOwn(record, name) ? record[name] : undefined

/** A base URL without a slash at its end; the interface's version is added when it has no path. `undefined` when it is no `http` URL. */
export const baseUrl = (endpoint: string, api: Api = "openai-chat"): string | undefined => {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined
  const path = url.pathname.replace(/\/+$/, "")
  return `${url.origin}${path === "" ? versionPath(api) : path}${url.search}`
}

const idOf = (entry: string | OfferedModel): string => typeof entry === "string" ? entry : entry.id

/** What the settings of a provider say of one of its models. */
const entryIn = (settings: ProviderSettings | undefined, model: string): OfferedModel | undefined =>
  settings?.models?.filter((entry) => typeof entry === "object").find(({ id }) => id === model)

/** What the settings say of a model, over what the catalogue does. */
const settled = (info: ModelInfo, settings: ProviderSettings | undefined): ModelInfo => {
  const given = entryIn(settings, info.model)
  return given === undefined ? info : withEntry(info, given)
}

const offline: ModelInfo = { provider: "offline", model: "offline", contextWindow: 128_000, images: false, thinkingLevels: ["off"], compat: {} }

const without = { warm: Effect.void, exposed: Option.none<string>(), faults: [], unset: [], keySource: Option.none<string>(), endpoint: Option.none<string>() }

/** The models that can be asked. */
export class Models extends Context.Service<Models, {
  /** Resolves a name. Nothing is sent; the key is looked up, but not tried. */
  readonly resolve: (ref: ModelRef) => Effect.Effect<ResolvedModel, ModelError>
  /** The provider used when none is named: the first preset, then the first provider of the settings, that has a key; else `offline`. */
  readonly defaultProvider: Effect.Effect<string, AuthFileInvalid>
  /** All names `resolve` knows. */
  readonly known: ReadonlyArray<string>
  /** What is known of a model, its provider being known or not. */
  readonly about: (provider: string, model: string) => Effect.Effect<ModelInfo>
  /** Every model that is known by name: of the settings, of the catalogue, and `offline`. */
  readonly list: Effect.Effect<ReadonlyArray<ListedModel>>
  /** All that cannot be used of a refreshed catalogue. */
  readonly catalogFaults: Effect.Effect<ReadonlyArray<CatalogInvalid>>
}>()("@nimlet/provider/Models") {
  /** The models of this machine. `auth.json` is read anew at each call, so a key may be added while a session runs. */
  static layer(options: ModelsOptions): Layer.Layer<Models, never, FileSystem.FileSystem> {
    return Layer.effect(Models, make(options))
  }
}

const make = Effect.fnUntraced(function*(options: ModelsOptions): Effect.fn.Return<Models["Service"], never, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const settingsOf = (name: string): ProviderSettings | undefined => own(options.providers ?? {}, name)
  const hosted = [...new Set([...Object.keys(presets), ...Object.keys(options.providers ?? {})])]
  const known = [...hosted, "offline", "scripted"]
  const catalog = yield* makeModelCatalog(options.home)
  const about = (provider: string, model: string) => Effect.map(catalog.find(provider, model), (info) => settled(info, settingsOf(provider)))
  const authFile = Effect.provideService(readAuthFile(options.home), FileSystem.FileSystem, fs)

  const variablesOf = (provider: string): ReadonlyArray<string> => {
    const named = settingsOf(provider)?.api_key_env
    return named === undefined ? own(presets, provider)?.variables ?? [] : typeof named === "string" ? [named] : named
  }
  const search = (provider: string, file: AuthFile, flag?: Redacted.Redacted): Effect.Effect<CredentialSearch, AuthFileInvalid> => {
    const { api_key, auth_file = true } = settingsOf(provider) ?? {}
    if (flag === undefined && api_key !== undefined) return Effect.succeed({ found: Option.some({ key: api_key, source: "extension" }), variables: [] })
    return findCredential({ provider, variables: variablesOf(provider), flag, file: auth_file ? file : { ...file, entries: {} }, environment: options.environment })
  }
  /** A server of one's own may want no key; one that is known to want one, or whose variable is named, must have it. */
  const needsKey = (provider: string, file: AuthFile): boolean =>
    settingsOf(provider)?.requires_api_key ?? (variablesOf(provider).length > 0 || own(file.entries, provider) !== undefined)
  const headersOf = (...all: ReadonlyArray<Pick<ProviderSettings, "headers"> | undefined>) => {
    const found = all.flatMap((one) => Object.entries(one?.headers ?? {})).map(([name, value]) => {
      const variable = value.startsWith("$") ? value.slice(1).replace(/^\{(.*)\}$/, "$1") : undefined
      return { name, variable: variable ?? "", said: variable === undefined ? value : options.environment[variable] }
    })
    return {
      headers: Object.fromEntries(found.flatMap(({ name, said }) => said === undefined ? [] : [[name, said]])),
      unset: found.filter(({ said }) => said === undefined).map(({ name, variable }): UnsetHeader => ({ header: name, variable }))
    }
  }

  const defaultProvider = Effect.gen(function*() {
    const file = yield* authFile
    for (const provider of hosted) {
      const { found } = yield* search(provider, file)
      if (Option.isSome(found)) return provider
    }
    return "offline"
  })

  const rehearsed = new Map<string, Promise<unknown>>()
  // Once a wire format. What a rehearsal does not like, the real answer may not have.
  const rehearsal = (name: keyof typeof load, { connect, sample }: Wire): Effect.Effect<void> =>
    Effect.promise(() => {
      const before = rehearsed.get(name)
      if (before !== undefined) return before
      const { model } = connect({ provider: name, model: "rehearsal", baseURL: "http://localhost", headers: {}, apiKey: undefined, thinks: false })
      const now = rehearse(model, sample).catch(() => undefined)
      rehearsed.set(name, now)
      return now
    }).pipe(Effect.asVoid)

  const endpointOf = (provider: string, api: Api, preset: Preset | undefined, ref: ModelRef, entry: OfferedModel | undefined): Effect.Effect<string, InvalidEndpoint> => {
    const moved = preset?.endpointVariable === undefined ? undefined : options.environment[preset.endpointVariable]
    const particular = ref.endpoint ?? entry?.endpoint
    const set = settingsOf(provider)?.endpoint
    const endpoint = particular ?? set ?? (moved === "" ? undefined : moved) ?? preset?.endpoint ?? ""
    const url = baseUrl(endpoint, api)
    if (url !== undefined) return Effect.succeed(url)
    const said = set !== undefined ? `providers.${provider}.endpoint` : preset?.endpointVariable
    return Effect.fail(new InvalidEndpoint({ provider, endpoint, ...(said === undefined || particular !== undefined ? {} : { said }) }))
  }
  const apiOf = (provider: string, preset: Preset | undefined, ref: ModelRef, entry: OfferedModel | undefined): Effect.Effect<Api, UnknownApi> => {
    const name = ref.api ?? entry?.api ?? settingsOf(provider)?.api ?? preset?.api ?? "openai-chat"
    const api = own(apiNames, name)
    return api === undefined ? Effect.fail(new UnknownApi({ provider, api: name, known: Object.keys(apiNames) })) : Effect.succeed(api)
  }

  const hostedModel = Effect.fnUntraced(function*(provider: string, ref: ModelRef): Effect.fn.Return<ResolvedModel, ModelError> {
    const preset = own(presets, provider)
    const settings = settingsOf(provider)
    if (preset === undefined && settings === undefined && ref.endpoint === undefined) {
      return yield* new UnknownProvider({ provider, known })
    }
    const model = ref.model ?? settings?.last_model ?? settings?.models?.map(idOf)[0] ?? preset?.defaultModel
    const entry = model === undefined ? undefined : entryIn(settings, model)
    const api = yield* apiOf(provider, preset, ref, entry)
    const baseURL = yield* endpointOf(provider, api, preset, ref, entry)
    if (model === undefined) return yield* new MissingModel({ provider })
    const [file, info, faults] = yield* Effect.all([authFile, about(provider, model), catalog.faults({ provider, model })], { concurrency: 2 })
    const { entryType, found, variables } = yield* search(provider, file, ref.apiKey)
    if (Option.isNone(found) && needsKey(provider, file)) return yield* new MissingCredential({ provider, variables, ...(entryType === undefined ? {} : { entryType }) })
    const wire = api === "openai-chat" && provider !== "openai" ? "openai-compatible" : api
    const loaded = Effect.tap(load[wire], (loaded) => rehearsal(wire, loaded))
    const thinks = info.thinkingLevels.some((level) => level !== "off")
    const { headers, unset } = headersOf(settings, entry)
    const endpoint: Endpoint = { provider, model, baseURL, apiKey: Option.getOrUndefined(found)?.key, headers, thinks }
    const optionsName = api === "openai-responses" ? "openai" : api === "openai-chat" ? provider : api
    return {
      info,
      faults,
      unset,
      warm: Effect.asVoid(loaded),
      exposed: file.exposed && Option.exists(found, ({ source }) => source === "auth.json") ? Option.some(file.path) : Option.none(),
      keySource: Option.map(found, ({ source }) => source),
      endpoint: Option.some(baseURL),
      layer: AiSdk.layer({
        provider,
        model,
        images: info.images,
        thinkingLevels: info.thinkingLevels,
        compat: info.compat,
        connect: Effect.map(loaded, ({ connect }) => connect(endpoint)),
        ...(ref.maxTokens === undefined ? {} : { maxOutputTokens: ref.maxTokens }),
        ...(options.requestTimeout === undefined ? {} : { requestTimeout: options.requestTimeout }),
        ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
        ...(settings?.options === undefined ? {} : { providerOptions: { [optionsName]: settings.options } as AiProviderOptions })
      })
    }
  })

  const scripted = Effect.fnUntraced(function*(ref: ModelRef): Effect.fn.Return<ResolvedModel, ScriptInvalid> {
    if (ref.script === undefined) return yield* new ScriptInvalid({ file: "--script", problem: "names no file" })
    const script = yield* Effect.provideService(Scripted.readScript(ref.script), FileSystem.FileSystem, fs)
    // Made once, not by the layer: however often that is built, the script goes on where it was.
    const model = yield* Scripted.make(script)
    const info: ModelInfo = { ...guessModel("scripted", ref.model ?? "script"), contextWindow: 128_000, images: true }
    return { ...without, info, layer: Layer.succeed(LanguageModel.LanguageModel, model) }
  })

  const resolve = Effect.fnUntraced(function*(ref: ModelRef): Effect.fn.Return<ResolvedModel, ModelError> {
    const provider = ref.provider ?? (yield* defaultProvider)
    if (provider === "scripted") return yield* scripted(ref)
    if (provider !== "offline") return yield* hostedModel(provider, ref)
    return { ...without, info: offline, layer: Offline.layer }
  })

  const ready = Effect.fnUntraced(function*(provider: string) {
    const file = yield* authFile
    return !needsKey(provider, file) || Option.isSome((yield* search(provider, file)).found)
  }, Effect.orElseSucceed(() => false))

  const list = Effect.map(
    Effect.forEach(hosted, (provider) => {
      const { catalogue = true, models = [] } = settingsOf(provider) ?? {}
      const named = models.map(idOf)
      const all = Effect.map(catalogue ? catalog.list(provider) : Effect.succeed([]), (known) => [...new Set([...named, ...known.map(({ model }) => model)])])
      return Effect.flatMap(Effect.all([all, ready(provider)]), ([ids, ready]) => Effect.forEach(ids, (model) => Effect.map(about(provider, model), (info): ListedModel => ({ ...info, ready }))))
    }),
    (lists) => [...lists.flat(), { ...offline, ready: true }]
  )

  return { resolve, defaultProvider, known, about, list, catalogFaults: catalog.faults() }
})
