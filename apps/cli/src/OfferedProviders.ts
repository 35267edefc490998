/** Providers of models that extensions offer, as the settings of a provider. */
import { Effect, Result } from "effect"
import type { Settings } from "@nimlet/agent"
import { type Diagnostic, Diagnostics, type ExtensionFigures, type ExtensionProvider, Extensions } from "@nimlet/extension"
import { presets, type ProviderSettings } from "@nimlet/provider"
import { moduleProvider } from "./ModuleProvider.ts"

/** What decides which keys an offered provider may be sent. */
export interface OfferRules {
  readonly settings: Settings
  /** The variables that hold keys of other providers. */
  readonly withheld: ReadonlyArray<string>
}

/** Whether the user, or the manifest of an extension that is the user's own, lets it see the variable. */
const maySee = (name: string, extension: ExtensionFigures | undefined, { settings, withheld }: OfferRules): boolean => {
  if (!withheld.includes(name)) return true
  if (extension === undefined) return false
  const said = settings.extensions?.named ?? {}
  const given = Object.hasOwn(said, extension.manifest.name) ? said[extension.manifest.name]?.env : undefined
  return given?.includes(name) ?? (!extension.project && extension.manifest.env?.includes(name) === true)
}

const allowing = (name: string, extension: string): string => `to allow it, put ${name} into extensions.${extension}.env in ~/.nimlet/config.json`

/** Where requests would go, as far as the settings say. */
const endpointsOf = ({ endpoint, models = [] }: ProviderSettings): ReadonlyArray<string> =>
  [endpoint, ...models.map((model) => typeof model === "object" ? model.endpoint : undefined)].filter((one) => one !== undefined)

/** What extensions offer, and what is refused of it. */
interface Offered {
  readonly providers: ReadonlyArray<readonly [name: string, settings: ProviderSettings]>
  readonly warnings: ReadonlyArray<Diagnostic>
}

const ofPrograms = (offers: ReadonlyArray<ExtensionProvider>, figures: ReadonlyArray<ExtensionFigures>, rules: OfferRules): Offered => {
  const warnings: Array<Diagnostic> = []
  const providers = offers.map((offer): readonly [string, ProviderSettings] => {
    const { api, api_key_env, api_url, default_model, extension, models, name, requires_api_key } = offer
    const figure = figures.find(({ key }) => key === extension)
    const refused = api_key_env.filter((variable) => !maySee(variable, figure, rules))
    if (refused.length > 0) {
      const message = `extension '${extension}': provider '${name}' is not sent ${refused.join(", ")}, a key of another provider; ` +
        allowing("the name", figure?.manifest.name ?? extension)
      warnings.push({ level: "warning", extension, message })
    }
    return [name, {
      api,
      // Some give the address of the one call, others its base.
      endpoint: api_url.replace(/\/chat\/completions\/*$/, ""),
      api_key_env: api_key_env.filter((variable) => !refused.includes(variable)),
      requires_api_key,
      last_model: default_model,
      models
    }]
  })
  return { providers, warnings }
}

/** The variables of a provider that is there without extensions; none where there is no such provider. */
const keysOf = (name: string, { providers = {} }: Settings): ReadonlyArray<string> | undefined => {
  const own = Object.hasOwn(providers, name) ? providers[name] : undefined
  const preset = Object.hasOwn(presets, name) ? presets[name] : undefined
  if (own?.api_key_env !== undefined) return [own.api_key_env]
  return preset?.variables ?? (own === undefined ? undefined : [])
}

const ofModules = (figures: ReadonlyArray<ExtensionFigures>, rules: OfferRules): Offered => {
  const warnings: Array<Diagnostic> = []
  const providers = figures.flatMap((figure) => (figure.registration?.extras?.model_providers ?? []).flatMap(({ config, name }): Offered["providers"] => {
    const warn = (problem: string) => {
      warnings.push({ level: "warning", extension: figure.key, message: `extension '${figure.key}': provider '${name}' ${problem}` })
      return []
    }
    const read = moduleProvider(config)
    if (Result.isFailure(read)) return warn(`is left out: ${read.failure}`)
    if (name === "offline" || name === "scripted") return warn("is left out: the name is ours")
    const { settings, variables } = read.success
    const refused = variables.filter((variable) => !maySee(variable, figure, rules))
    if (refused.length > 0) return warn(`is left out: it may not be sent ${refused.join(", ")}, a key of another provider; ${allowing("the name", figure.manifest.name)}`)
    const keys = keysOf(name, rules.settings)
    const endpoints = endpointsOf(settings)
    if (keys === undefined) return endpoints.length === 0 ? warn("is left out: it has no baseUrl") : [[name, settings]]
    const before = Object.hasOwn(rules.settings.providers ?? {}, name) ? rules.settings.providers?.[name] : undefined
    const brings = settings.api_key !== undefined || settings.api_key_env !== undefined
    const allowed = keys.length > 0 && keys.every((variable) => maySee(variable, figure, rules))
    if (endpoints.length > 0 && !brings && keys.length > 0 && !allowed) {
      return warn(`stays where it is: its key would be sent to ${[...new Set(endpoints)].join(", ")}; ${allowing(keys.join(", "), figure.manifest.name)}`)
    }
    return [[name, { ...before, ...settings, ...(endpoints.length === 0 || allowed ? {} : { auth_file: false }) }]]
  }))
  return { providers, warnings }
}

/**
 * Offers → settings by name. A key that is withheld from the extension is not sent to its provider either: else a program
 * that may not read the key of a provider would only have to offer an address of its own for it. Pure.
 */
export const settingsOfOffers = (
  offers: ReadonlyArray<ExtensionProvider>,
  figures: ReadonlyArray<ExtensionFigures>,
  rules: OfferRules
): { readonly providers: Readonly<Record<string, ProviderSettings>>; readonly warnings: ReadonlyArray<Diagnostic> } => {
  const [programs, modules] = [ofPrograms(offers, figures, rules), ofModules(figures, rules)]
  return { providers: Object.fromEntries([...programs.providers, ...modules.providers]), warnings: [...programs.warnings, ...modules.warnings] }
}

/** What the running extensions offer now. What is refused is said through `Diagnostics`. */
export const offeredProviders = Effect.fnUntraced(function*(rules: OfferRules) {
  const extensions = yield* Extensions
  const diagnose = yield* Diagnostics
  const { providers, warnings } = settingsOfOffers(yield* extensions.providers, yield* extensions.figures, rules)
  yield* Effect.forEach(warnings, diagnose, { discard: true })
  return providers
})
