/** Providers of models that extensions offer, as the settings of a provider. */
import { Effect } from "effect"
import type { Settings } from "@nimlet/agent"
import { type Diagnostic, Diagnostics, type ExtensionFigures, type ExtensionProvider, Extensions } from "@nimlet/extension"
import type { ProviderSettings } from "@nimlet/provider"

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

/**
 * Offers → settings by name. A key that is withheld from the extension is not sent to its provider either: else a program
 * that may not read the key of a provider would only have to offer an address of its own for it. Pure.
 */
export const settingsOfOffers = (
  offers: ReadonlyArray<ExtensionProvider>,
  figures: ReadonlyArray<ExtensionFigures>,
  rules: OfferRules
): { readonly providers: Readonly<Record<string, ProviderSettings>>; readonly warnings: ReadonlyArray<Diagnostic> } => {
  const warnings: Array<Diagnostic> = []
  const providers = offers.map((offer): readonly [string, ProviderSettings] => {
    const { api, api_key_env, api_url, default_model, extension, models, name, requires_api_key } = offer
    const figure = figures.find(({ key }) => key === extension)
    const refused = api_key_env.filter((variable) => !maySee(variable, figure, rules))
    if (refused.length > 0) {
      const message = `extension '${extension}': provider '${name}' is not sent ${refused.join(", ")}, a key of another provider; ` +
        `to allow it, put the name into extensions.${figure?.manifest.name ?? extension}.env in ~/.nimlet/config.json`
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
  return { providers: Object.fromEntries(providers), warnings }
}

/** What the running extensions offer now. What is refused is said through `Diagnostics`. */
export const offeredProviders = Effect.fnUntraced(function*(rules: OfferRules) {
  const extensions = yield* Extensions
  const diagnose = yield* Diagnostics
  const { providers, warnings } = settingsOfOffers(yield* extensions.providers, yield* extensions.figures, rules)
  yield* Effect.forEach(warnings, diagnose, { discard: true })
  return providers
})
