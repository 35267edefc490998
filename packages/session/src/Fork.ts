/** A session begun anew at an earlier place: the same lines up to there in a file of its own; the first is left as it is. */
import { Effect, FileSystem, Path, type PlatformError, Result } from "effect"
import type { SessionHeader } from "@nimlet/protocol"
import { saidIn } from "./ForkPoint.ts"
import { MessageNotFound, SessionUnwritable, systemWord } from "./SessionError.ts"
import { readLines } from "./SessionFile.ts"
import { encodeLine, parseLine } from "./SessionLines.ts"
import { isUser } from "./Transcript.ts"

/** How many lines are written at once. */
const batchLines = 1000

/** What stands before a message of the user, and what that message said. */
export interface Cut {
  readonly header: SessionHeader | undefined
  readonly lines: ReadonlyArray<string>
  readonly text: string
}

/**
 * The lines of the session file `path` that come before message `message` of the user, counted from 1; all of them when no
 * message is named. Damaged lines are left behind. Fails with `MessageNotFound` and `SessionUnreadable`.
 */
export const cutBefore = Effect.fnUntraced(function*(path: string, id: string, message: number | undefined) {
  const lines: Array<string> = []
  let header: SessionHeader | undefined
  let messages = 0
  let text: string | undefined
  yield* readLines(path, (raw) => {
    const line = Result.getOrUndefined(raw === undefined ? Result.fail("too long") : parseLine(raw))
    if (raw === undefined || line === undefined) return
    if ("header" in line) {
      header ??= line.header
      return
    }
    if (isUser(line.entry) && ++messages === message) text = saidIn(line.entry)
    if (text === undefined) lines.push(raw)
  })
  if (message !== undefined && text === undefined) return yield* new MessageNotFound({ id, message_number: message, messages })
  return { header, lines, text: text ?? "" } satisfies Cut
})

/** Writes a whole session file at once: it is there with all its lines, on the disk, or not at all. */
export const writeSession = Effect.fnUntraced(function*(path: string, header: SessionHeader, lines: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const part = `${path}.part`
  const encoder = new TextEncoder()
  yield* fs.makeDirectory((yield* Path.Path).dirname(path), { recursive: true }).pipe(
    Effect.andThen(Effect.scoped(Effect.gen(function*() {
      const file = yield* fs.open(part, { flag: "wx", mode: 0o600 })
      yield* file.writeAll(encoder.encode(encodeLine(header)))
      for (let at = 0; at < lines.length; at += batchLines) {
        yield* file.writeAll(encoder.encode(lines.slice(at, at + batchLines).map((line) => `${line}\n`).join("")))
      }
      yield* file.sync
    }))),
    Effect.andThen(fs.rename(part, path)),
    Effect.onError(() => Effect.ignore(fs.remove(part))),
    Effect.mapError((error: PlatformError.PlatformError) => new SessionUnwritable({ path, cause: systemWord(error), unsaved: lines.length }))
  )
})
