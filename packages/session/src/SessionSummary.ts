/** A session in a list: what the head and the tail of its file say, the rest unread however long it is. */
import { Effect, FileSystem, Result } from "effect"
import { beginningOf, type SessionHeader } from "@nimlet/protocol"
import { saidIn } from "./ForkPoint.ts"
import { isKnownEntry, parseLine } from "./SessionLines.ts"

/** A session in a list. */
export interface SessionSummary {
  readonly id: string
  /** Empty when the header is missing or damaged. */
  readonly workspace: string
  /** The title given to it last, as far as it stands at an end of the file. */
  readonly name?: string
  /** The first words of the user, at most the first 4,000 characters. */
  readonly firstText: string
  /** When it was started, ISO, where it says so. */
  readonly at?: string
  /** The session it was forked from. */
  readonly parent?: string
  /** When it was written last, in milliseconds of the epoch. */
  readonly modified: number
  readonly bytes: number
}

/** How much of each end is read; of the head more where the user has not spoken in it yet. */
const headBytes = 16 * 1024
const tailBytes = 16 * 1024
const longHeadBytes = 512 * 1024
const firstTextLength = 4000

const readEnd = Effect.fnUntraced(function*(file: FileSystem.File, size: number, position: number) {
  const bytes = new Uint8Array(size)
  let got = 0
  while (got < size) {
    const some = yield* file.read(bytes.subarray(got), { position: BigInt(position + got) })
    if (some === 0) break
    got += some
  }
  return new TextDecoder().decode(bytes.subarray(0, got))
})

/** Hundreds are opened for one list, and a file that is no link may be opened at once. */
const openFile = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.catch(fs.open(path, { flag: "r", noFollow: true }), () => fs.open(path, { flag: "r" })))

/** The head of a file, and its tail from the first whole line on where the head is not all of it. */
const readEnds = Effect.fnUntraced(function*(path: string, bytes: number) {
  const file = yield* openFile(path)
  const short = yield* readEnd(file, Math.min(bytes, headBytes), 0)
  if (bytes <= headBytes) return { head: short, tail: "" }
  const head = aUser.test(short) ? short : yield* readEnd(file, Math.min(bytes, longHeadBytes), 0)
  const from = Math.max(headBytes, bytes - tailBytes)
  const tail = yield* readEnd(file, bytes - from, from)
  return { head, tail: tail.slice(tail.indexOf("\n") + 1) }
}, Effect.scoped)

const aUser = /"type"\s*:\s*"user"/
const aName = /"type"\s*:\s*"name"/

const entryOf = (line: string) => {
  const read = parseLine(line)
  const entry = Result.isSuccess(read) && read.success !== undefined && "entry" in read.success ? read.success.entry : undefined
  return entry !== undefined && isKnownEntry(entry) ? entry : undefined
}

const lastName = (text: string): string | undefined => {
  // Most lines are of no interest, and long.
  if (!aName.test(text)) return undefined
  for (const line of text.split("\n").toReversed()) {
    const entry = aName.test(line) ? entryOf(line) : undefined
    if (entry?.type === "name") return entry.name
  }
  return undefined
}

const headerOf = (head: string): SessionHeader | undefined => {
  const read = parseLine(head.split("\n", 1)[0] ?? "")
  return Result.isSuccess(read) && read.success !== undefined && "header" in read.success ? read.success.header : undefined
}

/** The text of a line that the head holds the beginning of only. */
const begunText = (line: string): string => {
  const [, text] = /^\{"type":"user".*?"text":"((?:[^"\\]|\\.)*)/su.exec(line) ?? []
  const whole = (text ?? "").replace(/\\u[0-9a-f]{0,3}$/iu, "")
  const parsed = Result.try((): unknown => JSON.parse(`"${whole}"`))
  return Result.isSuccess(parsed) && typeof parsed.success === "string" ? parsed.success : ""
}

const firstTextOf = (head: string): string => {
  for (const line of head.split("\n")) {
    const entry = aUser.test(line) ? entryOf(line) : undefined
    if (entry?.type === "user") return beginningOf(saidIn(entry), firstTextLength)
  }
  return beginningOf(begunText(head.slice(head.lastIndexOf("\n") + 1)).toWellFormed(), firstTextLength)
}

/** What the ends of a session file say. Pure. */
export const summarise = (id: string, ends: { readonly head: string; readonly tail: string }, file: Pick<SessionSummary, "bytes" | "modified">): SessionSummary => {
  const header = headerOf(ends.head)
  const name = lastName(ends.tail) ?? lastName(ends.head)
  return {
    id,
    workspace: header?.workspace ?? "",
    ...(name === undefined ? {} : { name }),
    firstText: firstTextOf(ends.head),
    ...(header?.at === undefined ? {} : { at: header.at }),
    ...(header?.parent === undefined ? {} : { parent: header.parent }),
    ...file
  }
}

/** The summary of the session file `path`. Fails with the system's error. */
export const readSummary = (id: string, path: string, file: Pick<SessionSummary, "bytes" | "modified">) =>
  Effect.map(readEnds(path, file.bytes), (ends) => summarise(id, ends, file))

/** Whether a list would find the name that the session file was given. */
export const isNameInReach = Effect.fnUntraced(function*(path: string) {
  const fs = yield* FileSystem.FileSystem
  const { tail } = yield* readEnds(path, Number((yield* fs.stat(path)).size))
  // Without a tail the head is all of it.
  return tail === "" || lastName(tail) !== undefined
})

/** Whether every word of `query` is in the id, the name or the first text, whatever its case. */
export const matches = (summary: SessionSummary, query: string): boolean => {
  const text = `${summary.id}\n${summary.name ?? ""}\n${summary.firstText}`.toLowerCase()
  return query.toLowerCase().split(/\s+/u).every((word) => text.includes(word))
}
