/** `--trace FILE`: what nimlet and its extensions say to each other, for whoever writes one. */
import { DateTime, Effect, FileSystem, type Scope } from "effect"
import type { Frame } from "@nimlet/extension"
import { UsageError } from "./Argv.ts"

const lineOf = ({ at, direction, extension, line }: Frame): string =>
  `${JSON.stringify({ at: DateTime.formatIso(DateTime.makeUnsafe(at)), extension, direction, line })}\n`

/**
 * A tap that adds every frame to `file`, one JSON object a line (`at`, `extension`, `direction`: out to it or in from it, and the
 * `line` as it was), readable by its owner only. Fails when the file cannot be opened; one that fills up later ends the trace alone.
 */
export const traceInto = Effect.fnUntraced(function*(file: string): Effect.fn.Return<(frame: Frame) => Effect.Effect<void>, UsageError, FileSystem.FileSystem | Scope.Scope> {
  const fs = yield* FileSystem.FileSystem
  const opened = yield* Effect.mapError(fs.open(file, { flag: "a", mode: 0o600 }), (error) =>
    new UsageError({ problem: `--trace: ${file} cannot be written (${error.reason._tag}); name a file in a folder that is yours` }))
  const encoder = new TextEncoder()
  return (frame) => Effect.ignore(opened.writeAll(encoder.encode(lineOf(frame))))
})
