/** Changes one key of the person's settings and leaves everything else in the file as it is. */
import { Effect, FileSystem, Result, Schema } from "effect"
import { replaceFile } from "@nimlet/agent"

/** The settings could not be changed; the file is as it was. */
class SettingsUnwritable extends Schema.TaggedError<SettingsUnwritable>()("SettingsUnwritable", { file: Schema.String, cause: Schema.String }) {
  override get message(): string {
    return `${this.file} was not changed: ${this.cause}`
  }
}

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** The content of a settings file with `keys` (outermost first) set; undefined takes the key out. Pure. */
export const withSetting = (object: Json, [key = "", ...rest]: ReadonlyArray<string>, value: unknown): Json => {
  const { [key]: inner, ...others } = object
  if (rest.length > 0) return { ...object, [key]: withSetting(isObject(inner) ? inner : {}, rest, value) }
  return value === undefined ? others : { ...object, [key]: value }
}

/** Sets `keys` (outermost first) in a settings file, which need not exist yet; undefined takes the key out. The file is replaced whole. */
export const saveSetting = Effect.fnUntraced(function*(file: string, keys: ReadonlyArray<string>, value: unknown) {
  const fs = yield* FileSystem.FileSystem
  const unwritable = (cause: string) => new SettingsUnwritable({ file, cause })
  const text = yield* fs.readFileString(file).pipe(
    Effect.catch((error) => error.reason._tag === "NotFound" ? Effect.succeed("{}") : Effect.fail(unwritable(error.message)))
  )
  const parsed = Result.try({ try: (): unknown => JSON.parse(text), catch: () => "it is no JSON" })
  if (Result.isFailure(parsed) || !isObject(parsed.success)) return yield* unwritable("it holds no JSON object")
  const content = `${JSON.stringify(withSetting(parsed.success, keys, value), null, 2)}\n`
  // A link stays one: what it leads to is replaced.
  const target = yield* Effect.orElseSucceed(fs.realPath(file), () => file)
  yield* Effect.mapError(replaceFile(target, content), ({ why }) => unwritable(why))
})
