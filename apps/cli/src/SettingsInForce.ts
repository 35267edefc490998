/** The settings of a run: the person's, and those of a project that is trusted over them. */
import { Effect, Path } from "effect"
import { loadProjectSettings, readSettings, type Settings, slipsTold, type Trust } from "@nimlet/agent"
import type { ProjectExtensionSettings } from "@nimlet/extension"

const name = ".nimlet/config.json"

/** What holds, and what was said that does not. */
export interface SettingsInForce {
  readonly settings: Settings
  /** What the project says of single extensions; absent where it has no say. */
  readonly projectSettings?: ProjectExtensionSettings
  /** The project's file, where it says which provider is the default. */
  readonly defaultsFile?: string
  /** A sentence for each key that is passed over. */
  readonly warnings: ReadonlyArray<string>
}

/** Reads them, once it is known how the project stands. Fails with `SettingsInvalid`. */
export const settingsInForce = Effect.fnUntraced(function*(home: string, workspace: string, trust: Trust) {
  const path = yield* Path.Path
  const own = path.join(home, ".nimlet", "config.json")
  const { files, trusted } = trust.current()
  if (!trusted || !files.some((file) => file.path === name)) {
    const { content, settings } = yield* readSettings(own)
    const alone: SettingsInForce = { settings, warnings: slipsTold(content, own) }
    return alone
  }
  const project = path.join(workspace, name)
  const { extensions, keys, settings, warnings } = yield* loadProjectSettings(own, project)
  const both: SettingsInForce = { settings, projectSettings: extensions, warnings, ...(keys.includes("default_provider") ? { defaultsFile: project } : {}) }
  return both
})
