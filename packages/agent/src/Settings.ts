/**
 * Settings of a person, from `~/.nimlet/config.json`. A file that cannot be read is an error that names it and the
 * remedy, never quietly the defaults.
 */
import { Effect, FileSystem, Result, Schema } from "effect"
import { JsonObject } from "@nimlet/protocol"

/** Where a named endpoint is and how it speaks (`providers.NAME`). */
export const ProviderSettings = Schema.Struct({
  endpoint: Schema.optionalKey(Schema.String),
  api: Schema.optionalKey(Schema.String),
  api_key_env: Schema.optionalKey(Schema.String),
  models: Schema.optionalKey(Schema.Array(Schema.Union([
    Schema.String,
    Schema.Struct({
      id: Schema.String,
      context_window: Schema.optionalKey(Schema.Int),
      max_output: Schema.optionalKey(Schema.Int),
      images: Schema.optionalKey(Schema.Boolean)
    })
  ]))),
  last_model: Schema.optionalKey(Schema.String),
  options: Schema.optionalKey(JsonObject)
})

const QueueMode = Schema.Literals(["one-at-a-time", "all"])
const Tokens = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** The keys that are understood so far; others are left alone. */
export const Settings = Schema.Struct({
  default_provider: Schema.optionalKey(Schema.String),
  default_model: Schema.optionalKey(Schema.String),
  providers: Schema.optionalKey(Schema.Record(Schema.String, ProviderSettings)),
  agent: Schema.optionalKey(Schema.Struct({
    max_tokens: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0))),
    context_window: Schema.optionalKey(Tokens),
    compaction_enabled: Schema.optionalKey(Schema.Boolean),
    reserve_tokens: Schema.optionalKey(Tokens),
    keep_recent_tokens: Schema.optionalKey(Tokens),
    steering_mode: Schema.optionalKey(QueueMode),
    follow_up_mode: Schema.optionalKey(QueueMode),
    request_timeout: Schema.optionalKey(Schema.Number.check(Schema.isGreaterThan(0))),
    session_dir: Schema.optionalKey(Schema.String)
  })),
  tools: Schema.optionalKey(Schema.Struct({
    bash: Schema.optionalKey(Schema.Struct({ max_output_bytes: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0))) }))
  }))
})
/** The keys that are understood so far. Times are seconds, sizes bytes. */
export type Settings = typeof Settings.Type

/** A settings file that cannot be used; `problem` names the key. */
export class SettingsInvalid extends Schema.TaggedError<SettingsInvalid>()("SettingsInvalid", {
  file: Schema.String,
  problem: Schema.String
}) {
  override get message(): string {
    return `${this.file}: ${this.problem}`
  }
}

const decode = Schema.decodeUnknownEffect(Settings)

/** Reads the settings in `file`; none when there is no such file. Fails with `SettingsInvalid`. */
export const loadSettings = Effect.fnUntraced(function*(
  file: string
): Effect.fn.Return<Settings, SettingsInvalid, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const text = yield* fs.readFileString(file).pipe(
    Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed("{}")),
    Effect.mapError((error) => new SettingsInvalid({ file, problem: error.message }))
  )
  const parsed = Result.try(() => JSON.parse(text) as unknown)
  if (Result.isFailure(parsed)) {
    return yield* new SettingsInvalid({ file, problem: `is not valid JSON (${parsed.failure instanceof Error ? parsed.failure.message : "unreadable"})` })
  }
  return yield* decode(parsed.success).pipe(Effect.mapError((error) => new SettingsInvalid({ file, problem: error.message })))
})
