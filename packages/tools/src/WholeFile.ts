/** A regular file's bytes at once, for the tools that change it. */
import { Effect } from "effect"
import { FileFailed } from "./OperationError.ts"
import type { Files, Located } from "./Operations.ts"

/** Reads all of a file of at most `maxBytes`; a larger one is refused after its first chunk. */
export const readWhole = Effect.fnUntraced(function*(files: Files, file: Located, maxBytes: number) {
  const pieces: Array<Uint8Array> = []
  let size = 0
  yield* files.scan(file, (chunk, info) => {
    size += info.size > maxBytes ? info.size : chunk.length
    pieces.push(chunk.slice())
    return size <= maxBytes
  })
  if (size > maxBytes) return yield* new FileFailed({ path: file.shown, reason: `has more than ${maxBytes} bytes` })
  const bytes = new Uint8Array(size)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
})
