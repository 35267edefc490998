/** What a file of the workspace holds, and how it is brought back to what it held, for whoever undoes what tools did. */
import { Effect } from "effect"
import { FileFailed } from "./OperationError.ts"
import type { Files, Located } from "./Operations.ts"
import { MAX_WHOLE_BYTES } from "./ReadTool.ts"
import { versionOf } from "./Version.ts"
import { readWhole } from "./WholeFile.ts"

/** The contents of a file and their version, both null where there is no file. */
export interface FileState {
  readonly version: string | null
  readonly bytes: Uint8Array | null
}

const stateOf = Effect.fnUntraced(function*(files: Files, file: Located) {
  if (!file.exists) return { version: null, bytes: null } satisfies FileState
  const bytes = yield* readWhole(files, file, MAX_WHOLE_BYTES)
  const state: FileState = { version: versionOf(bytes), bytes }
  return state
})

/** What the file at a path, from the workspace on, holds now. Fails where that is no regular file of at most 10 MB. */
export const fileState = (files: Files, path: string) => Effect.flatMap(files.locate(path), (file) => stateOf(files, file))

/**
 * Gives the file at `path` the contents `bytes`, or takes it away where they are null. Fails, with nothing done, when its version
 * is not `expected`.
 */
export const restoreFile = Effect.fnUntraced(function*(files: Files, path: string, expected: string | null, bytes: Uint8Array | null) {
  yield* files.exclusively(yield* files.locate(path), Effect.gen(function*() {
    // What stands there is only known once nobody else writes it.
    const file = yield* files.locate(path)
    if ((yield* stateOf(files, file)).version !== expected) return yield* new FileFailed({ path: file.shown, reason: "was changed meanwhile" })
    if (bytes !== null) yield* files.replace(file, bytes, file.exists ? (yield* files.info(file)).mode : undefined)
    else if (file.exists) yield* files.remove(file)
  }))
})
