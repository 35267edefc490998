/** The host's own `Operations`: its file system, its processes, ripgrep beside it. */
import { Effect, FileSystem, Layer, Path } from "effect"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import { FileFailed } from "../OperationError.ts"
import { Operations } from "../Operations.ts"
import { makeLocalFiles, reasonOf } from "./LocalFiles.ts"
import { makeLocalProcesses } from "./LocalProcesses.ts"
import { importedRipgrep, makeLocalSearch } from "./LocalSearch.ts"

/** Where the tools work. */
export interface LocalOptions {
  /** The workspace; a link is followed once, here. */
  readonly workspace: string
  /** Finds ripgrep's program; by default the one of `@vscode/ripgrep`. When it fails, `rg` on the PATH is tried. */
  readonly ripgrep?: Effect.Effect<string, unknown>
}

/**
 * `Operations` on this machine. Fails when the workspace is not there. When its scope closes, what calls
 * left running in the background is ended and spill files are removed.
 */
export const layerLocal = (
  options: LocalOptions
): Layer.Layer<Operations, FileFailed, FileSystem.FileSystem | Path.Path | ChildProcessSpawner> =>
  Layer.effect(
    Operations,
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const root = yield* fs.realPath(path.resolve(options.workspace)).pipe(
        Effect.mapError((error) => new FileFailed({ path: options.workspace, reason: reasonOf(error) }))
      )
      const processes = yield* makeLocalProcesses(root)
      return Operations.of({
        files: yield* makeLocalFiles(root),
        processes,
        search: makeLocalSearch(processes, options.ripgrep ?? importedRipgrep)
      })
    })
  )
