/** `extension.json` as text → manifest, or the reason it is skipped (seed 000, "The manifest"). */
import { Effect, FileSystem, PlatformError, Result, Schema } from "effect"
import { Manifest, PositiveSeconds } from "@nimlet/protocol"
import { isJsonObject, parseJson } from "./Json.ts"
import { firstBroken, type Rule, rule } from "./Rules.ts"

const has = (field: string, shape: Schema.Schema<unknown>) => Schema.Struct({ [field]: shape })
const may = (field: string, shape: Schema.Schema<unknown>) => Schema.Struct({ [field]: Schema.optionalKey(shape) })
const strings = Schema.Array(Schema.String)

const rules: ReadonlyArray<Rule> = [
  { holds: isJsonObject, reason: "manifest must be an object" },
  rule(has("name", Schema.String.check(Schema.isPattern(/\S/))), "missing name"),
  rule(has("command", Schema.Array(Schema.Unknown)), "command must be an array"),
  rule(has("command", Schema.Array(Schema.NonEmptyString)), "command entries must be strings"),
  rule(has("command", Schema.NonEmptyArray(Schema.NonEmptyString)), "command must not be empty"),
  rule(
    may("response_timeout_seconds", Schema.NullOr(PositiveSeconds)),
    "response_timeout_seconds must be a positive integer or null"
  ),
  rule(may("on_failure", Schema.Literals(["open", "block"])), "on_failure must be \"open\" or \"block\""),
  rule(may("env", strings), "env must be an array of strings"),
  rule(may("restart", Schema.Boolean), "restart must be true or false"),
  rule(may("background", Schema.Boolean), "background must be true or false"),
  rule(may("max_line_bytes", PositiveSeconds), "max_line_bytes must be a positive integer")
]

const decode = Schema.decodeUnknownResult(Manifest)

/** Decodes a manifest; the failure is the reason in `skipping <folder>: <reason>`. */
export const decodeManifest = (text: string): Result.Result<Manifest, string> =>
  Result.flatMap(Result.mapError(parseJson(text), (problem) => `invalid JSON in extension.json: ${problem.replaceAll(/\s+/g, " ")}`), (value) => {
    const reason = firstBroken(rules, value)
    return reason === undefined ? Result.mapError(decode(value), (error) => error.message) : Result.fail(reason)
  })

/** The text of a manifest's file, read as the file system reads it, but for what is neither file nor folder: opening a pipe would wait for its writer. */
export const manifestText = Effect.fnUntraced(function*(file: string): Effect.fn.Return<string, PlatformError.PlatformError, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const { type } = yield* fs.stat(file)
  if (type !== "File" && type !== "Directory") {
    return yield* PlatformError.systemError({ _tag: "InvalidData", module: "FileSystem", method: "readFileString", description: "no regular file", pathOrDescriptor: file })
  }
  return yield* fs.readFileString(file)
})

/** A budget above an hour is most likely meant in milliseconds. */
export const looksLikeMilliseconds = (manifest: Manifest): boolean => (manifest.response_timeout_seconds ?? 0) > 3_600
