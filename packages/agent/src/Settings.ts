/**
 * Settings of a person, from `~/.nimlet/config.json`. A file that cannot be read is an error that names it and the
 * remedy, never quietly the defaults.
 */
import { Effect, FileSystem, Result, Schema } from "effect"
import * as SchemaIssue from "effect/SchemaIssue"
import { families } from "@nimlet/extension"
import { JsonObject, Manifest } from "@nimlet/protocol"
import { apiNames, ModelEntry, thinkingLevels } from "@nimlet/provider"

/** Where a named endpoint is and how it speaks (`providers.NAME`). */
export const ProviderSettings = Schema.Struct({
  endpoint: Schema.optionalKey(Schema.String),
  api: Schema.optionalKey(Schema.Literals(Object.keys(apiNames))),
  api_key_env: Schema.optionalKey(Schema.String),
  headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  models: Schema.optionalKey(Schema.Array(Schema.Union([Schema.String, ModelEntry]))),
  last_model: Schema.optionalKey(Schema.String),
  options: Schema.optionalKey(JsonObject)
})

const QueueMode = Schema.Literals(["one-at-a-time", "all"])
const Tokens = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

const { command: _command, name: _name, ...manifestKeys } = Manifest.fields

/** What a person may say of one extension (`extensions.NAME`): the manifest's own keys, which win over it, and `disabled`. */
export const ExtensionSettings = Schema.Struct({ ...manifestKeys, disabled: Schema.optionalKey(Schema.Boolean) })

/**
 * What a person says of extensions. In the file each of `named` stands beside the other two, under its name, so that no
 * extension called `required` or `families` can be named there. `families.NAME: false` leaves a family's folders alone.
 */
export const ExtensionsSettings = Schema.Struct({
  required: Schema.optionalKey(Schema.Array(Schema.NonEmptyString)),
  families: Schema.optionalKey(Schema.Record(Schema.String, Schema.Boolean)),
  named: Schema.Record(Schema.String, ExtensionSettings)
})

/** What a person says of runs (`agent`). */
export const AgentSettings = Schema.Struct({
  max_tokens: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0))),
  context_window: Schema.optionalKey(Tokens),
  compaction_enabled: Schema.optionalKey(Schema.Boolean),
  reserve_tokens: Schema.optionalKey(Tokens),
  keep_recent_tokens: Schema.optionalKey(Tokens),
  steering_mode: Schema.optionalKey(QueueMode),
  follow_up_mode: Schema.optionalKey(QueueMode),
  request_timeout: Schema.optionalKey(Schema.Number.check(Schema.isGreaterThan(0))),
  max_steps: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0))),
  session_dir: Schema.optionalKey(Schema.String),
  thinking: Schema.optionalKey(Schema.Literals([...thinkingLevels, "none"]))
})

/** What a person says of models (`models`). */
export const ModelsSettings = Schema.Struct({ catalogue_url: Schema.optionalKey(Schema.String) })

/** What a person says of `bash` (`tools.bash`). */
export const BashSettings = Schema.Struct({ max_output_bytes: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0))) })

/** What a person says of tools (`tools`). */
export const ToolsSettings = Schema.Struct({ bash: Schema.optionalKey(BashSettings) })

/** The keys that are understood so far; others are left alone, but under `extensions`. */
export const Settings = Schema.Struct({
  default_provider: Schema.optionalKey(Schema.String),
  default_model: Schema.optionalKey(Schema.String),
  providers: Schema.optionalKey(Schema.Record(Schema.String, ProviderSettings)),
  models: Schema.optionalKey(ModelsSettings),
  agent: Schema.optionalKey(AgentSettings),
  tools: Schema.optionalKey(ToolsSettings),
  extensions: Schema.optionalKey(ExtensionsSettings),
  theme: Schema.optionalKey(Schema.Literals(["auto", "dark", "light"])),
  /** Whether clicks on what extensions show are taken from the terminal while there is something to click. */
  mouse: Schema.optionalKey(Schema.Boolean),
  /** Words in place of marks, and nothing that moves. */
  screen_reader: Schema.optionalKey(Schema.Boolean),
  keybindings: Schema.optionalKey(Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Array(Schema.String)])))
})
/** The keys that are understood so far. Times are seconds, sizes bytes. */
export type Settings = typeof Settings.Type

/** A settings file that cannot be used; each of `problems` names the key, what stands there and what should. */
export class SettingsInvalid extends Schema.TaggedError<SettingsInvalid>()("SettingsInvalid", {
  file: Schema.String,
  problems: Schema.NonEmptyArray(Schema.String)
}) {
  override get message(): string {
    return `${this.file}: ${this.problems.join("; ")}`
  }
}

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** The file's shape → the schema's: extensions by name in a record of their own. */
const sorted = (value: unknown): unknown => {
  if (!isObject(value) || !isObject(value["extensions"])) return value
  const { families, required, ...named } = value["extensions"]
  const extensions = { named, ...(families === undefined ? {} : { families }), ...(required === undefined ? {} : { required }) }
  return { ...value, extensions }
}

/** A slip in a guard's settings must not go by in silence: keys nobody knows, and families nobody knows. */
const unknownKeys = (value: unknown): ReadonlyArray<string> => {
  const extensions = isObject(value) && isObject(value["extensions"]) ? value["extensions"] : {}
  const { families: chosen, required: _, ...named } = extensions
  const known = Object.keys(ExtensionSettings.fields)
  const names = families.map(({ name }) => name)
  return [
    ...Object.entries(named).flatMap(([name, settings]) =>
      Object.keys(isObject(settings) ? settings : {}).filter((key) => !known.includes(key))
        .map((key) => `extensions.${name}.${key} is no setting of an extension; there are ${known.join(", ")}`)),
    ...Object.keys(isObject(chosen) ? chosen : {}).filter((name) => !names.includes(name))
      .map((name) => `extensions.families.${name} is no family; there are ${names.join(", ")}`)
  ]
}

const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()
const decode = Schema.decodeUnknownResult(Settings)

const at = (value: unknown, path: ReadonlyArray<PropertyKey>): unknown =>
  path.reduce<unknown>((inner, key) => isObject(inner) || Array.isArray(inner) ? (inner as Json)[String(key)] : undefined, value)

/** What stands there, in a few letters; of providers nothing, for it may be a key. */
const quoted = (value: unknown, path: ReadonlyArray<PropertyKey>): string => {
  const text = JSON.stringify(at(value, path)) ?? ""
  return path[0] === "providers" || text === "" || text.length > 60 ? "" : `, not ${text}`
}

/** Decodes the content of a settings file, or says everything that is wrong in it, a sentence a key. Pure. */
export const decodeSettings = (content: unknown): Result.Result<Settings, readonly [string, ...ReadonlyArray<string>]> => {
  if (!isObject(content)) return Result.fail(["must be a JSON object"])
  const value = sorted(content)
  const decoded = decode(value, { errors: "all" })
  const wrong = Result.isSuccess(decoded) ? [] : issuesOf(decoded.failure.issue).issues.map(({ message, path = [] }) => {
    const keys = path.map((key) => typeof key === "object" ? key.key : key)
    const written = keys[0] === "extensions" ? keys.filter((key, index) => index !== 1 || key !== "named") : keys
    return `${written.join(".")}: ${message.charAt(0).toLowerCase()}${message.slice(1)}${quoted(value, keys)}`
  })
  const [first, ...rest] = [...wrong, ...unknownKeys(content)]
  if (first !== undefined) return Result.fail([first, ...rest])
  return Result.mapError(decoded, ({ message }) => [message] as const)
}

/** The settings file `file` as JSON that decodes; `{}` when there is no such file. Fails with `SettingsInvalid`. */
export const readSettings = Effect.fnUntraced(function*(
  file: string
): Effect.fn.Return<{ readonly content: unknown; readonly settings: Settings }, SettingsInvalid, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const unusable = (problem: string) => new SettingsInvalid({ file, problems: [problem] })
  const text = yield* fs.stat(file).pipe(
    // Opening a pipe would wait for its writer.
    Effect.filterOrFail(({ type }) => type === "File", () => unusable("is no regular file")),
    Effect.andThen(fs.readFileString(file)),
    Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed("{}")),
    Effect.mapError((error) => error._tag === "SettingsInvalid" ? error : unusable(error.message))
  )
  const parsed = Result.try(() => JSON.parse(text) as unknown)
  if (Result.isFailure(parsed)) {
    const problem = `is not valid JSON (${parsed.failure instanceof Error ? parsed.failure.message : "unreadable"})`
    return yield* new SettingsInvalid({ file, problems: [problem] })
  }
  const content = parsed.success
  const settings = yield* Effect.fromResult(decodeSettings(content)).pipe(
    Effect.mapError((problems) => new SettingsInvalid({ file, problems }))
  )
  return { content, settings }
})

/** Reads the settings in `file`; none when there is no such file. Fails with `SettingsInvalid`. Nothing is ever written. */
export const loadSettings = (file: string): Effect.Effect<Settings, SettingsInvalid, FileSystem.FileSystem> =>
  Effect.map(readSettings(file), ({ settings }) => settings)
