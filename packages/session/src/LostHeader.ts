/** A session file that has lost its header is given one again, before all that it holds. */
import { Effect, FileSystem, type PlatformError, Stream } from "effect"

/** Puts the line `header` before everything in the file `path`: there is the old file or the whole new one, never half of it. */
export const restoreHeader = Effect.fnUntraced(function*(
  path: string,
  header: string
): Effect.fn.Return<void, PlatformError.PlatformError, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  // A link stays one.
  const real = yield* fs.realPath(path)
  const part = `${real}.part`
  yield* Effect.scoped(Effect.gen(function*() {
    const file = yield* fs.open(part, { flag: "w", mode: 0o600 })
    yield* file.writeAll(new TextEncoder().encode(header))
    yield* Stream.runForEach(fs.stream(real), (bytes) => file.writeAll(bytes))
    yield* file.sync
  })).pipe(Effect.andThen(fs.rename(part, real)), Effect.onError(() => Effect.ignore(fs.remove(part))))
})
