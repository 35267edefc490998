/** What a person has said of projects, in `~/.nimlet/trust.json`. A file that cannot be understood trusts nothing and is not written over. */
import { Effect, FileSystem, Result, Schema } from "effect"
import { FileUnwritable, replaceFile } from "../PrivateFile.ts"
import type { ProjectFile } from "./ProjectFiles.ts"
import type { Place } from "./Repository.ts"

/** What was said of a project: yes or no, and to which files. */
export const TrustRecord = Schema.Struct({
  trusted: Schema.Boolean,
  repository: Schema.optionalKey(Schema.String),
  within: Schema.optionalKey(Schema.String),
  files: Schema.Record(Schema.String, Schema.String)
})
/** What was said of a project. */
export type TrustRecord = typeof TrustRecord.Type

/** Real path of a project → what was said of it. */
export type TrustRecords = { readonly [project: string]: TrustRecord }

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Struct({ projects: Schema.Record(Schema.String, Schema.Unknown) })))
const decodeRecord = Schema.decodeUnknownResult(TrustRecord)

/** What the file says; undefined for a file that is no such thing. Records of other shapes are left out. */
const parse = (text: string): { readonly [project: string]: unknown } | undefined => {
  const decoded = decode(text)
  return Result.isSuccess(decoded) ? decoded.success.projects : undefined
}

const readAll = Effect.fnUntraced(function*(file: string) {
  const fs = yield* FileSystem.FileSystem
  // A pipe would be waited for, and a device has no end.
  const text = yield* fs.stat(file).pipe(
    Effect.flatMap(({ type }) => type === "File" ? fs.readFileString(file) : Effect.succeed("")),
    Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed(`{"projects":{}}`)),
    Effect.orElseSucceed(() => "")
  )
  return parse(text)
})

/** All records. */
export const readTrust = (file: string): Effect.Effect<TrustRecords, never, FileSystem.FileSystem> =>
  Effect.map(readAll(file), (all) =>
    Object.fromEntries(Object.entries(all ?? {}).flatMap(([project, record]) => {
      const decoded = decodeRecord(record)
      return Result.isSuccess(decoded) ? [[project, decoded.success] as const] : []
    })))

/** Saves what was said of one project beside what is there. Fails with `FileUnwritable`. */
export const writeTrust = Effect.fnUntraced(function*(file: string, project: string, record: TrustRecord) {
  const present = yield* readAll(file)
  if (present === undefined) return yield* new FileUnwritable({ file, why: "what stands there is not understood; mend or remove it" })
  yield* replaceFile(file, `${JSON.stringify({ projects: { ...present, [project]: record } }, undefined, 2)}\n`)
})

/** A record of these files. */
export const recordOf = (trusted: boolean, files: ReadonlyArray<ProjectFile>, place: Place | undefined): TrustRecord => ({
  trusted,
  ...place,
  files: Object.fromEntries(files.map(({ path, sha256 }) => [path, sha256]))
})
