/** What a person has said of projects, in `~/.nimlet/trust.json`. A file that cannot be understood trusts nothing and is not written over. */
import { Effect, FileSystem, type PlatformError, Result, Schema } from "effect"
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

/** What the file holds: what can be understood of it, and a sentence on what cannot, with the remedy. */
export interface TrustContent {
  readonly records: TrustRecords
  readonly faults: ReadonlyArray<string>
}

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Struct({ projects: Schema.Record(Schema.String, Schema.Unknown) })))
const decodeRecord = Schema.decodeUnknownResult(TrustRecord)

const unreadable = ({ reason }: PlatformError.PlatformError): string => `cannot be read (${reason._tag})`

/** All that is said of projects, of whatever shape; fails with what is wrong with the file as a whole. */
const readAll = Effect.fnUntraced(function*(file: string) {
  const fs = yield* FileSystem.FileSystem
  // A pipe would be waited for, and a device has no end.
  const text = yield* fs.stat(file).pipe(
    Effect.flatMap(({ type }) => type === "File" ? Effect.mapError(fs.readFileString(file), unreadable) : Effect.fail("is no regular file")),
    Effect.catch((fault) => typeof fault === "string" ? Effect.fail(fault) : fault.reason._tag === "NotFound" ? Effect.succeed(`{"projects":{}}`) : Effect.fail(unreadable(fault))),
    Effect.result
  )
  return Result.flatMap(text, (json) => Result.mapBoth(decode(json), { onSuccess: ({ projects }) => projects, onFailure: () => "is no JSON object with an object `projects`" }))
})

/** All records. */
export const readTrust = (file: string): Effect.Effect<TrustContent, never, FileSystem.FileSystem> =>
  Effect.map(readAll(file), Result.match({
    onFailure: (fault): TrustContent => ({ records: {}, faults: [`${file} ${fault}, and no project is trusted by it; mend it or take it away`] }),
    onSuccess: (all): TrustContent => {
      const records: { [project: string]: TrustRecord } = {}
      const faults: Array<string> = []
      for (const [project, given] of Object.entries(all)) {
        const record = decodeRecord(given)
        if (Result.isSuccess(record)) records[project] = record.success
        else faults.push(`${file}: projects[${JSON.stringify(project)}] is passed over: ${record.failure.message.replaceAll(/\s*\n\s*/g, " ")}; mend it or take it out`)
      }
      return { records, faults }
    }
  }))

/** Saves what was said of one project beside what is there. Fails with `FileUnwritable`. */
export const writeTrust = Effect.fnUntraced(function*(file: string, project: string, record: TrustRecord) {
  const present = yield* readAll(file)
  if (Result.isFailure(present)) return yield* new FileUnwritable({ file, why: `what stands there is not understood: it ${present.failure}; mend it or take it away` })
  yield* replaceFile(file, `${JSON.stringify({ projects: { ...present.success, [project]: record } }, undefined, 2)}\n`)
})

/** A record of these files. */
export const recordOf = (trusted: boolean, files: ReadonlyArray<ProjectFile>, place: Place | undefined): TrustRecord => ({
  trusted,
  ...place,
  files: Object.fromEntries(files.map(({ path, sha256 }) => [path, sha256]))
})
