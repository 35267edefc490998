/** A bounded file for what an extension says besides the protocol. */
import { Effect, FileSystem, Hash, Path, Stream } from "effect"

/** A life writes at most this much; a file that is larger is set aside as `NAME.log.1` first. */
export const maxLogBytes = 1024 * 1024

/** Bytes of a key that a file can be named by; file systems end at 255, and `.log.1` comes behind it. */
const mostOfAKey = 200

/**
 * The name of an extension's file in the folder of logs, by its key: `_` for what is no letter, digit or one of `._#@-`. Of a long
 * key the beginning, and a number made of all of it.
 */
export const logNameOf = (extension: string): string => {
  const name = extension.replaceAll(/[^\p{L}\p{M}\p{N}._#@-]/gu, "_")
  const bytes = new TextEncoder().encode(name)
  if (bytes.length <= mostOfAKey) return `${name}.log`
  const beginning = new TextDecoder().decode(bytes.subarray(0, mostOfAKey)).replace(/\uFFFD$/, "")
  return `${beginning}-${(Hash.string(extension) >>> 0).toString(16)}.log`
}

/**
 * Appends `bytes` to `<logs>/NAME.log` until the limit and drains the rest, so that the writer never blocks. The file is
 * touched only when there is something to write; if it cannot be written, everything is drained.
 */
export const writeLog = Effect.fnUntraced(function*<E, R>(
  logs: string,
  extension: string,
  bytes: Stream.Stream<Uint8Array, E, R>
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(logs, logNameOf(extension))
  const open = Effect.gen(function*() {
    yield* fs.makeDirectory(logs, { recursive: true })
    const size = yield* Effect.orElseSucceed(Effect.map(fs.stat(file), (info) => Number(info.size)), () => 0)
    if (size > maxLogBytes) yield* fs.rename(file, `${file}.1`)
    return yield* fs.open(file, { flag: "a", mode: 0o600 })
  })
  let target: FileSystem.File | undefined
  let left = maxLogBytes
  yield* Effect.scoped(Stream.runForEach(bytes, (chunk) =>
    Effect.gen(function*() {
      if (left <= 0) return
      target ??= yield* open
      yield* target.writeAll(chunk.subarray(0, left))
      left -= chunk.length
    }).pipe(Effect.catch(() => Effect.sync(() => {
      left = 0
    }))))).pipe(Effect.ignore)
})
