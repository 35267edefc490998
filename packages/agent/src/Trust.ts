/**
 * Whether the files of a project that can act are loaded. A person says yes or no to a set of them; any file that is new
 * or has other bytes is a new question. What was said holds in every worktree of the repository that has the same files.
 */
import { Effect, type FileSystem, type Path } from "effect"
import * as Digest from "effect/crypto/Digest"
import { FileUnwritable } from "./PrivateFile.ts"
import { findProjectFiles, type ProjectFile, type ProjectFolders } from "./Trust/ProjectFiles.ts"
import { type Place, placeOf } from "./Trust/Repository.ts"
import { readTrust, recordOf, type TrustRecord, type TrustRecords, writeTrust } from "./Trust/TrustStore.ts"

/** A file that the last yes did not cover. */
export interface ProjectChange {
  readonly path: string
  readonly change: "new" | "changed"
}

/** How a project stands. */
export interface TrustState {
  /** Its files are loaded. */
  readonly trusted: boolean
  /** Yes or no was said to these very files, for this run on the command line or for good. */
  readonly decided: boolean
  /** The files that can act, sorted. */
  readonly files: ReadonlyArray<ProjectFile>
  /** Those that no yes covers. */
  readonly changes: ReadonlyArray<ProjectChange>
  /** What of `trust.json` is not understood, where it was asked: a sentence each. */
  readonly faults: ReadonlyArray<string>
}

/** What somebody said of files that no yes covers. */
export interface TrustAnswer {
  readonly trusted: boolean
  /** It holds for later runs, too; otherwise for this one alone. */
  readonly remember: boolean
}

/** What trust works with. */
export interface TrustOptions extends ProjectFolders {
  /** `trust.json`. */
  readonly file: string
  /** The person's home and the workspace, real paths. */
  readonly home: string
  readonly workspace: string
  /** Says yes or no for this run, whatever was said before; nothing is saved. */
  readonly answer?: boolean
  /** Asks about what no yes covers; undefined for neither yes nor no. Absent where nobody can be asked. */
  readonly ask?: (state: TrustState) => Effect.Effect<TrustAnswer | undefined>
}

/** Trust in the project of a run. */
export interface Trust {
  /** How it stood when it was last looked at. */
  readonly current: () => TrustState
  /** Looks at the files again; asks, where that is possible and needed. An answer that cannot be saved holds all the same. */
  readonly resolve: Effect.Effect<TrustState>
  /** Saves a yes or a no to what is there now; it holds from the next `resolve` on. Fails with `FileUnwritable`. */
  readonly set: (trusted: boolean) => Effect.Effect<TrustState, FileUnwritable>
  /** A trusted file was written for the person: what stands there now is covered. */
  readonly wrote: (path: string) => Effect.Effect<void, FileUnwritable>
}

const covers = (record: TrustRecord, { path, sha256 }: ProjectFile): boolean =>
  sha256 !== "" && Object.hasOwn(record.files, path) && record.files[path] === sha256

/** The records that speak of this project: its own, and those of the same place in other worktrees. */
const about = (records: TrustRecords, workspace: string, place: Place | undefined): ReadonlyArray<TrustRecord> =>
  Object.entries(records).flatMap(([project, record]) =>
    project === workspace || (place !== undefined && record.repository === place.repository && record.within === place.within) ? [record] : [])

/** What the records say of the files; `said` is undefined where they say nothing. Pure. */
export const judge = (
  files: ReadonlyArray<ProjectFile>,
  records: TrustRecords,
  workspace: string,
  place: Place | undefined
): { readonly said: boolean | undefined; readonly changes: ReadonlyArray<ProjectChange> } => {
  const relevant = about(records, workspace, place)
  const own = Object.hasOwn(records, workspace) ? records[workspace] : undefined
  const yes = relevant.filter(({ trusted }) => trusted)
  // Nothing to load is no question, but no yes either: extensions are told of trust and may have files of their own in mind.
  if (files.length === 0) return { said: own?.trusted ?? relevant.some(({ trusted }) => trusted), changes: [] }
  if (own?.trusted === false && files.every((file) => covers(own, file))) {
    return { said: false, changes: files.map(({ path }) => ({ path, change: "new" })) }
  }
  if (yes.some((record) => files.every((file) => covers(record, file)))) return { said: true, changes: [] }
  const last = own?.trusted === true ? own : yes[0]
  return {
    said: undefined,
    changes: files.filter((file) => last === undefined || !covers(last, file))
      .map(({ path }) => ({ path, change: last !== undefined && Object.hasOwn(last.files, path) ? "changed" : "new" }))
  }
}

/** Trust in the project of a run; nothing is looked at yet. The person's own home is no project: its files are theirs anyway. */
export const makeTrust = (options: TrustOptions): Effect.Effect<Trust, never, FileSystem.FileSystem | Path.Path> =>
  Effect.map(Effect.context<FileSystem.FileSystem | Path.Path>(), (context) => {
    const { ask, file, home, workspace } = options
    let { answer } = options
    let state: TrustState = { trusted: false, decided: false, files: [], changes: [], faults: [] }
    // A yes or no of this run that could not be saved, or is not to be.
    let unsaved: TrustRecords = {}
    let lasts = true

    const find = workspace === home ? Effect.succeed([]) : Effect.provide(findProjectFiles(workspace, options), Digest.layerWebCrypto)
    const save = Effect.fnUntraced(function*(trusted: boolean, files: ReadonlyArray<ProjectFile>) {
      const record = recordOf(trusted, files, yield* placeOf(workspace))
      unsaved = { ...unsaved, [workspace]: record }
      if (!lasts) return
      yield* writeTrust(file, workspace, record)
      unsaved = {}
    })

    const resolve = Effect.gen(function*() {
      const files = yield* find
      if (answer !== undefined || workspace === home) return (state = { trusted: answer ?? false, decided: answer !== undefined, files, changes: [], faults: [] })
      const { faults, records: saved } = yield* readTrust(file)
      const records = { ...saved, ...unsaved }
      const { changes, said } = judge(files, records, workspace, yield* placeOf(workspace))
      state = { trusted: said ?? false, decided: said !== undefined && files.length > 0, files, changes, faults }
      if (said !== undefined || ask === undefined) return state
      const answered = yield* ask(state)
      if (answered === undefined) return state
      const { remember, trusted } = answered
      lasts = remember
      yield* Effect.ignore(save(trusted, files))
      return (state = { ...state, trusted, decided: remember, changes: trusted ? [] : changes })
    })

    return {
      current: () => state,
      resolve: Effect.provideContext(resolve, context),
      set: (trusted) =>
        Effect.flatMap(find, (files) => {
          if (workspace === home) return Effect.fail(new FileUnwritable({ file, why: "your home folder is no project; what is in it is yours" }))
          answer = undefined
          lasts = true
          return Effect.map(save(trusted, files), () => (state = { trusted, decided: true, files, changes: [], faults: [] }))
        }).pipe(Effect.provideContext(context)),
      wrote: (path) =>
        Effect.gen(function*() {
          if (!state.trusted) return
          const written = (yield* find).filter((one) => one.path === path)
          const files = [...state.files.filter((one) => one.path !== path), ...written]
          state = { ...state, files }
          if (answer === undefined) yield* save(true, files)
        }).pipe(Effect.provideContext(context))
    }
  })
