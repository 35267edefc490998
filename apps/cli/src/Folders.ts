/**
 * Node's files, but for folders made with their parents: where the system answers "not found" below a folder that is there
 * (`/proc`, some network mounts), Node's own way tries again for ever.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, FileSystem, Layer, Path, type PlatformError } from "effect"
import { quickFiles } from "./QuickFiles.ts"

const makeFolders = (fs: FileSystem.FileSystem, path: Path.Path, folder: string, mode?: number) => {
  const once = (at: string) => fs.makeDirectory(at, mode === undefined ? {} : { mode })
  const exists = (at: string) => Effect.match(fs.stat(at), { onFailure: () => false, onSuccess: () => true })
  const isFolder = (at: string) =>
    Effect.match(fs.stat(at), { onFailure: () => false, onSuccess: ({ type }) => type === "Directory" })
  const make = (at: string): Effect.Effect<void, PlatformError.PlatformError> =>
    Effect.catch(once(at), Effect.fnUntraced(function*(error) {
      const parent = path.dirname(at)
      if (error.reason._tag === "AlreadyExists" && (yield* isFolder(at))) return
      if (error.reason._tag !== "NotFound" || parent === at || (yield* exists(parent))) return yield* error
      yield* make(parent)
      yield* Effect.catch(once(at), (again) =>
        Effect.flatMap(isFolder(at), (there) => there ? Effect.void : Effect.fail(again)))
    }))
  return make(path.resolve(folder))
}

/** `NodeFileSystem.layer` with `makeDirectory({ recursive: true })` that always comes to an end. */
export const layerFiles: Layer.Layer<FileSystem.FileSystem, never, Path.Path> = Layer.effect(
  FileSystem.FileSystem,
  Effect.gen(function*() {
    const fs = quickFiles(yield* FileSystem.FileSystem)
    const path = yield* Path.Path
    const makeDirectory: typeof fs.makeDirectory = (folder, options) =>
      options?.recursive === true ? makeFolders(fs, path, folder, options.mode) : fs.makeDirectory(folder, options)
    return { ...fs, makeDirectory }
  })
).pipe(Layer.provide(NodeFileSystem.layer))
