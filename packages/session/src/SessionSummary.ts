/** A session in a list: what the head and the tail of its file say, the rest unread however long it is. */
import { Effect, FileSystem, Option, Result } from "effect"
import { type SessionHeader, textOf } from "@nimlet/protocol"
import { parseLine } from "./SessionLines.ts"

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

const readEnd = (file: FileSystem.File, size: number, position: number) =>
  Effect.map(
    file.readAlloc(size, { position: BigInt(position) }),
    Option.match({ onNone: () => "", onSome: (bytes) => new TextDecoder().decode(bytes) })
  )

/** The head of a file, and its tail from the first whole line on where the head is not all of it. */
const readEnds = Effect.fnUntraced(function*(path: string, bytes: number) {
  const fs = yield* FileSystem.FileSystem
  const file = yield* fs.open(path, { flag: "r" })
  const short = yield* readEnd(file, Math.min(bytes, headBytes), 0)
  if (bytes <= headBytes) return { head: short, tail: "" }
  const head = aUser.test(short) ? short : yield* readEnd(file, Math.min(bytes, longHeadBytes), 0)
  const from = Math.max(headBytes, bytes - tailBytes)
  const tail = yield* readEnd(file, bytes - from, from)
  return { head, tail: tail.slice(tail.indexOf("\n") + 1) }
}, Effect.scoped)

const aUser = /"type"\s*:\s*"user"/
const aName = /"type"\s*:\s*"name"/

const entriesOf = (text: string, kind: RegExp) =>
  text.split("\n").flatMap((line) => {
    // Most lines are of no interest, and long.
    if (!kind.test(line)) return []
    const read = parseLine(line)
    return Result.isSuccess(read) && read.success !== undefined && "entry" in read.success ? [read.success.entry] : []
  })

const lastName = (text: string): string | undefined => {
  const last = entriesOf(text, aName).findLast((entry) => entry.type === "name")
  return last !== undefined && "name" in last ? last.name : undefined
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
  const first = entriesOf(head, aUser).find((entry) => entry.type === "user")
  const text = first !== undefined && "content" in first ? textOf(first.content) : begunText(head.slice(head.lastIndexOf("\n") + 1))
  return text.slice(0, firstTextLength)
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
