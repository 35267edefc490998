/**
 * A session as one HTML page that can be sent to somebody: read from its file piece by piece, or from entries at hand, and
 * written whole or not at all. What makes the page is loaded when it is first used.
 */
import { Effect, FileSystem, type PlatformError, Random, Result, Stream } from "effect"
import { beginningOf, type SessionHeader } from "@nimlet/protocol"
import { type Entries } from "./Calls.ts"
import type { PageAbout } from "./ExportPage.ts"
import { saidIn } from "./ForkPoint.ts"
import type { Session } from "./Session.ts"
import { ExportRefused, SessionUnreadable, SessionUnwritable, systemWord } from "./SessionError.ts"
import { splitLines } from "./SessionFile.ts"
import { isKnownEntry, parseLine } from "./SessionLines.ts"
import { readSummary } from "./SessionSummary.ts"
import { titleOf } from "./Title.ts"
import { isUser } from "./Transcript.ts"

export type { Page, PageAbout } from "./ExportPage.ts"

/** The pure half: `makePage` makes a page entry by entry, `pageOf` as a whole. */
export const loadPage = Effect.promise(() => import("./ExportPage.ts"))

const chunkSize = 1024 * 1024
const titleLength = 120
/** Stands in every page near its beginning. */
const ours = "nimlet session export"
const headBytes = 4096

/** What a page is called when nobody says. */
export const defaultPageName = (id: string): string => `nimlet-session-${id}.html`

const firstLine = (text: string): string => {
  const [line = ""] = text.trimStart().split("\n")
  return line.length > titleLength ? `${beginningOf(line, titleLength - 1)}…` : line
}

/** What stands above the page of an open session. */
export const aboutSession = ({ header: { at, parent }, id, workspace }: Pick<Session, "header" | "id" | "workspace">, entries: Entries): PageAbout => {
  const first = entries.find(isUser)
  const title = titleOf(entries)
  return {
    id,
    workspace,
    title: title !== "" ? title : first === undefined ? "" : firstLine(saidIn(first)),
    ...(at === undefined ? {} : { at }),
    ...(parent === undefined ? {} : { parent })
  }
}

/** What stands above the page of the session file `path`. Fails with `SessionUnreadable`. */
export const aboutFile = Effect.fnUntraced(function*(id: string, path: string) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* fs.stat(path)
  const { at, firstText, name, parent, workspace } = yield* readSummary(id, path, { bytes: Number(info.size), modified: 0 })
  const about: PageAbout = { id, workspace, title: name ?? firstLine(firstText), ...(at === undefined ? {} : { at }), ...(parent === undefined ? {} : { parent }) }
  return about
}, (effect, _id, path) => Effect.mapError(effect, (error) => new SessionUnreadable({ path, cause: systemWord(error) })))

/** A page of entries, in pieces. `damaged` is how many lines of the file could not be read. */
export const exportEntries = (about: PageAbout, entries: Entries, damaged = 0): Stream.Stream<string> =>
  Stream.unwrap(Effect.map(loadPage, ({ makePage }) => {
    const { begin, end, entry } = makePage(about)
    return Stream.make(begin).pipe(
      Stream.concat(Stream.map(Stream.fromIterable(entries), entry)),
      Stream.concat(Stream.suspend(() => Stream.make(end(damaged))))
    )
  }))

/** The page of the session file `path`, in pieces as it is read. Fails with `SessionUnreadable`, at the end where no line was a session's. */
export const exportFile = (path: string, about: PageAbout): Stream.Stream<string, SessionUnreadable, FileSystem.FileSystem> =>
  Stream.unwrap(Effect.gen(function*() {
    const { makePage } = yield* loadPage
    const fs = yield* FileSystem.FileSystem
    const { begin, end, entry } = makePage(about)
    let damaged = 0
    let header: SessionHeader | undefined
    let met = false
    let pieces: Array<string> = []
    const lines = splitLines((text) => {
      const read = text === undefined ? Result.fail("too long") : parseLine(text)
      if (Result.isFailure(read)) damaged++
      else if (read.success === undefined) return
      else if ("entry" in read.success) {
        met ||= isKnownEntry(read.success.entry)
        pieces.push(entry(read.success.entry))
      } else if (header === undefined) header = read.success.header
      else damaged++
    })
    const taken = () => {
      const html = pieces.join("")
      pieces = []
      return html
    }
    return Stream.make(begin).pipe(
      Stream.concat(fs.stream(path, { chunkSize }).pipe(
        Stream.map((bytes) => {
          lines.push(bytes)
          return taken()
        }),
        Stream.mapError((error) => new SessionUnreadable({ path, cause: systemWord(error) }))
      )),
      Stream.concat(Stream.suspend(() => {
        lines.end()
        return met || header !== undefined
          ? Stream.make(`${taken()}${end(damaged)}`)
          : Stream.fail(new SessionUnreadable({ path, cause: "it is no session: there is neither a header nor an entry in it" }))
      }))
    )
  }))

/** Whether a page may take the place of what stands at `file`: nothing, or an earlier page. */
const isFree = Effect.fnUntraced(function*(file: string) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* fs.stat(file).pipe(Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed(undefined)))
  if (info === undefined) return true
  if (info.type !== "File") return false
  const bytes = new Uint8Array(headBytes)
  const count = yield* Effect.scoped(Effect.flatMap(fs.open(file, { flag: "r" }), (opened) => opened.read(bytes)))
  return new TextDecoder().decode(bytes.subarray(0, Number(count))).includes(ours)
})

/**
 * Writes a page to the absolute path `file`: it is there as a whole, or what stood there still is. Only its owner can read it.
 * Fails with `ExportRefused` where another file stands, with `SessionUnwritable`, and as the page does.
 */
export const writePage = Effect.fnUntraced(function*<E>(
  file: string,
  page: Stream.Stream<string, E, FileSystem.FileSystem>
): Effect.fn.Return<void, E | ExportRefused | SessionUnwritable, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const unwritable = (error: PlatformError.PlatformError) => new SessionUnwritable({ path: file, cause: systemWord(error), unsaved: 0 })
  if (!(yield* Effect.mapError(isFree(file), unwritable))) return yield* new ExportRefused({ path: file })
  const draft = `${file}.${(yield* Random.nextIntBetween(0, 0xffffffff)).toString(16)}`
  yield* Effect.scoped(Effect.gen(function*() {
    const opened = yield* Effect.mapError(fs.open(draft, { flag: "wx", mode: 0o600 }), unwritable)
    const encoder = new TextEncoder()
    yield* Stream.runForEach(Stream.mapArray(page, (pieces) => [pieces.join("")] as const), (piece) => Effect.mapError(opened.writeAll(encoder.encode(piece)), unwritable))
  })).pipe(
    Effect.andThen(Effect.mapError(fs.rename(draft, file), unwritable)),
    Effect.onError(() => Effect.ignore(fs.remove(draft)))
  )
})
