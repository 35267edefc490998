/** A session file read: its lines piece by piece, so that neither a long file nor a long line is held twice. */
import { Effect, FileSystem, Option, type PlatformError } from "effect"
import { SessionUnreadable, systemWord } from "./SessionError.ts"
import { collectLines, type SessionText } from "./SessionLines.ts"

const chunkBytes = 1024 * 1024
/** The longest line that is read, in characters: what fits into one string, so that whatever was written is read. */
const longestLine = 512 * 1024 * 1024 - 24
/** A file with nothing of a session in its first bytes is none, however long it is. */
const hopelessBytes = 32 * 1024 * 1024

/** Hands on one line, its LF cut off, and its number from 1; `undefined` for a line beyond the limit. */
export type OnLine = (text: string | undefined, line: number) => void

/** Cuts bytes into lines at LF alone. `end` hands on what has no LF and says whether there was such a rest. */
export const splitLines = (onLine: OnLine, limit = longestLine): { readonly push: (bytes: Uint8Array) => void; readonly end: () => boolean } => {
  const decoder = new TextDecoder()
  let pieces: Array<string> = []
  let length = 0
  let line = 1
  const hold = (text: string) => {
    length += text.length
    if (length > limit) pieces = []
    else if (text !== "") pieces.push(text)
  }
  const finish = () => {
    onLine(length > limit ? undefined : pieces.join(""), line)
    pieces = []
    length = 0
    line++
  }
  const take = (text: string) => {
    let from = 0
    for (let to = text.indexOf("\n"); to !== -1; to = text.indexOf("\n", from)) {
      const one = text.slice(from, to)
      from = to + 1
      if (length === 0 && one.length <= limit) onLine(one, line++)
      else {
        hold(one)
        finish()
      }
    }
    hold(text.slice(from))
  }
  return {
    push: (bytes) => take(decoder.decode(bytes, { stream: true })),
    end: () => {
      hold(decoder.decode())
      const torn = length > 0
      if (torn) finish()
      return torn
    }
  }
}

/** Reads a file from byte `from` on, at most `chunkBytes` at a time; `onBytes` says whether to go on. The bytes are overwritten by the next. */
export const readBytes = Effect.fnUntraced(function*(
  file: FileSystem.File,
  onBytes: (bytes: Uint8Array) => boolean,
  from = 0,
  chunk = chunkBytes
): Effect.fn.Return<void, PlatformError.PlatformError> {
  const buffer = new Uint8Array(chunk)
  for (let position = from;;) {
    const count = yield* file.read(buffer, { position: BigInt(position) })
    if (count === 0 || !onBytes(buffer.subarray(0, count))) return
    position += count
  }
})

/**
 * Hands on every line of the file `path`, as long as `goOn` says so of the bytes read; true says that the last line has no
 * LF. Fails with `SessionUnreadable`.
 */
export const readLines = (path: string, onLine: OnLine, goOn: (bytes: number) => boolean = () => true) =>
  Effect.scoped(Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const info = yield* fs.stat(path)
    // Opening a pipe would wait for a writer.
    if (info.type !== "File") return yield* new SessionUnreadable({ path, cause: "it is no regular file" })
    const file = yield* fs.open(path, { flag: "r" })
    const lines = splitLines(onLine)
    let bytes = 0
    const size = Number(info.size)
    yield* readBytes(file, (some) => {
      lines.push(some)
      bytes += some.length
      return goOn(bytes)
    }, 0, Math.min(size + 1, chunkBytes))
    return lines.end()
  })).pipe(Effect.catchTag("PlatformError", (error) => Effect.fail(new SessionUnreadable({ path, cause: systemWord(error) }))))

/**
 * All that the session file `path` holds; nothing is locked. Fails with `SessionUnreadable` when it cannot be read or has
 * neither a header nor any entry of a kind we know; an empty file is a session that lost all and is reported as damaged.
 */
export const readSession = Effect.fnUntraced(function*(
  path: string
): Effect.fn.Return<SessionText, SessionUnreadable, FileSystem.FileSystem> {
  const { add, done, isSession } = collectLines()
  let empty = true
  const torn = yield* readLines(path, (text, line) => {
    empty = false
    add(text, line)
  }, (bytes) => bytes < hopelessBytes || isSession())
  const text = done(torn)
  if (empty) return { ...text, damaged: [{ line: 1, reason: "the file is empty" }] }
  if (!isSession()) return yield* new SessionUnreadable({ path, cause: "it is no session: there is neither a header nor an entry in it" })
  const unheaded = Option.isNone(text.header) && !text.damaged.some(({ line }) => line === 1)
  return unheaded ? { ...text, damaged: [{ line: 1, reason: "the header that should come first is missing" }, ...text.damaged] } : text
})
