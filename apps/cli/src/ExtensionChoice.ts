/** Which extensions a command line and the settings choose: the same for a run, for `extension list` and for `doctor`. Pure. */
import type { Path } from "effect"
import type { Settings } from "@nimlet/agent"
import { type ExtensionSettings, families, type FamilyPolicy, type ProjectExtensionSettings, type Root, rootsOf } from "@nimlet/extension"
import { presets } from "@nimlet/provider"
import type { Invocation } from "./Flags.ts"
import type { Host } from "./Host.ts"

/** What is searched, and what is said of what is found there. */
export interface ExtensionChoice {
  readonly roots: ReadonlyArray<Root>
  /** Of `-e`, absolute. */
  readonly paths: ReadonlyArray<string>
  readonly trusted: boolean
  readonly settings: Readonly<Record<string, ExtensionSettings>>
  readonly projectSettings?: ProjectExtensionSettings
  /** Where `settings` stand. */
  readonly settingsFile: string
  readonly required: ReadonlyArray<string>
  /** Names of providers that are taken. */
  readonly reservedProviders: ReadonlyArray<string>
}

const isOn = (settings: Settings) => ({ name }: FamilyPolicy): boolean => settings.extensions?.families?.[name] !== false

/** What is started. Nothing of the project unless it is trusted, no root with `--no-extensions`, no family that is switched off. */
export const chooseExtensions = (options: {
  readonly invocation: Invocation
  readonly settings: Settings
  readonly projectSettings?: ProjectExtensionSettings
  readonly host: Host
  readonly workspace: string
  readonly path: Path.Path
}): ExtensionChoice => {
  const { host, invocation, path, projectSettings, settings, workspace } = options
  const trusted = invocation.approve
  return {
    roots: invocation.noExtensions ? [] : rootsOf({ home: host.home, workspace, trusted, families: families.filter(isOn(settings)) }),
    paths: invocation.extensions.map((one) => path.resolve(host.cwd, one)),
    trusted,
    settings: settings.extensions?.named ?? {},
    settingsFile: path.join(host.home, ".nimlet", "config.json"),
    ...(trusted && projectSettings !== undefined ? { projectSettings } : {}),
    required: [...new Set([...settings.extensions?.required ?? [], ...invocation.required])],
    reservedProviders: [...Object.keys(presets), ...Object.keys(settings.providers ?? {}), "offline", "scripted"]
  }
}

/** A root, and why it is not searched. */
export interface UnsearchedRoot {
  readonly root: Root
  readonly reason: "no_extensions" | "family_off" | "untrusted"
}

/** The roots that `chooseExtensions` leaves out. */
export const unsearchedRoots = (options: Parameters<typeof chooseExtensions>[0]): ReadonlyArray<UnsearchedRoot> => {
  const { host, invocation, settings, workspace } = options
  return rootsOf({ home: host.home, workspace, trusted: true }).flatMap((root): ReadonlyArray<UnsearchedRoot> =>
    invocation.noExtensions ? [{ root, reason: "no_extensions" }]
    : !isOn(settings)(root.family) ? [{ root, reason: "family_off" }]
    : root.project && !invocation.approve ? [{ root, reason: "untrusted" }]
    : [])
}
