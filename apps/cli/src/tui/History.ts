/** Prompts of earlier sessions, one JSON text a line in `~/.nimlet/history`, the latest last. */
import { Effect, FileSystem, Path, Result, Schema } from "effect"
import { replaceFile } from "@nimlet/agent"

/** So many are remembered, and the file is cut to them when it has so many more. */
const kept = 500
const slack = 200
/** A longer prompt is a file that was pasted. */
const longest = 10_000

/** The history in a file. */
export interface History {
  /** The prompts of earlier, the oldest first. A line that is none is left out. */
  readonly read: Effect.Effect<ReadonlyArray<string>>
  /** Remembers a prompt; commands are not. Nothing is said when that is not possible: it is a convenience. */
  readonly add: (text: string) => Effect.Effect<void>
}

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.String))

/** Opens the history in `file`, which need not exist. */
export const makeHistory = (file: string): Effect.Effect<History, never, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const services = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
    return {
      read: Effect.gen(function*() {
        const lines = (yield* Effect.orElseSucceed(fs.readFileString(file), () => "")).split("\n").filter((line) => line !== "")
        const latest = lines.slice(-kept)
        if (lines.length > kept + slack) yield* Effect.ignore(replaceFile(file, `${latest.join("\n")}\n`))
        return latest.flatMap((line) => Result.match(decode(line), { onFailure: () => [], onSuccess: (text) => [text] }))
      }).pipe(Effect.provideContext(services)),
      add: (text) =>
        text.trim() === "" || text.startsWith("/") || text.length > longest
          ? Effect.void
          : Effect.ignore(Effect.andThen(fs.makeDirectory(path.dirname(file), { recursive: true }), fs.writeFileString(file, `${JSON.stringify(text)}\n`, { flag: "a", mode: 0o600 })))
    }
  })
