/** A session as another process writes it. Only whole lines are taken: half of one may still be cut off by its writer. */
import { Duration, Effect, FileSystem, Option, type PlatformError, Result, Stream } from "effect"
import type { SessionEntry } from "@nimlet/protocol"
import { SessionUnreadable, systemWord } from "./SessionError.ts"
import { parseLine, type UnknownEntry } from "./SessionLines.ts"

const chunkBytes = 256 * 1024
/** How long nothing new is waited for before the file is looked at again. */
const defaultPause = Duration.millis(200)

const entriesOf = (text: string): ReadonlyArray<SessionEntry | UnknownEntry> =>
  text.split("\n").flatMap((line) => {
    const read = Result.getOrUndefined(parseLine(line))
    return read !== undefined && "entry" in read ? [read.entry] : []
  })

/**
 * The entries of the session file `path`, those it has and then those that come, as they stand in it. Damaged lines are
 * passed over. The stream ends when the file is removed or moved away, and fails with `SessionUnreadable`.
 */
export const followSession = (
  path: string,
  pause: Duration.Input = defaultPause
): Stream.Stream<SessionEntry | UnknownEntry, SessionUnreadable, FileSystem.FileSystem> =>
  Stream.unwrap(Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const file = yield* fs.open(path, { flag: "r" })
    return Stream.paginate({ from: 0, size: chunkBytes }, Effect.fnUntraced(function*({ from, size }) {
      const bytes = Option.getOrElse(yield* file.readAlloc(size, { position: BigInt(from) }), () => new Uint8Array())
      const whole = bytes.lastIndexOf(10) + 1
      if (whole > 0) return [entriesOf(new TextDecoder().decode(bytes.subarray(0, whole))), Option.some({ from: from + whole, size: chunkBytes })]
      // A line longer than what was read.
      if (bytes.length === size) return [[], Option.some({ from, size: size * 2 })]
      if (!(yield* fs.exists(path))) return [[], Option.none()]
      yield* Effect.sleep(pause)
      return [[], Option.some({ from, size })]
    }))
  })).pipe(Stream.mapError((error: PlatformError.PlatformError) => new SessionUnreadable({ path, cause: systemWord(error) })))
