/**
 * The text of a session file and its entries, both ways. Pure. A damaged or torn line costs that line alone and is
 * reported with its number; kinds that this version does not know are kept as they are.
 */
import { Option, Result, Schema } from "effect"
import { SessionEntry, SessionHeader } from "@nimlet/protocol"

/** A line that could not be read: its number in the file, from 1, and why. */
export interface DamagedLine {
  readonly line: number
  readonly reason: string
}

/** An entry of a kind that is not in the seed's list. It is carried along and never sent to the model. */
export interface UnknownEntry {
  readonly type: string
  readonly entry_id?: string
  readonly at?: string
}

/** What a session file holds. `torn` says that the last line has no newline, so that one must come before the next entry. */
export interface SessionText {
  readonly header: Option.Option<SessionHeader>
  readonly entries: ReadonlyArray<SessionEntry | UnknownEntry>
  readonly damaged: ReadonlyArray<DamagedLine>
  readonly torn: boolean
}

const known = new Set<string>(["user", "assistant", "tool_result", "compaction", "extension", "name", "selection"])
const decodeEntry = Schema.decodeUnknownResult(SessionEntry)
const decodeHeader = Schema.decodeUnknownOption(SessionHeader)

const parseObject = (line: string): Result.Result<{ readonly type: string }, string> =>
  Result.try({ try: () => JSON.parse(line) as unknown, catch: () => "not valid JSON" }).pipe(
    Result.flatMap((value) =>
      typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"
        ? Result.succeed(value as { readonly type: string })
        : Result.fail("not an object with a type")
    )
  )

/** Reads the whole text of a session file. Lines end at LF alone; blank ones are passed over. */
export const parseSession = (text: string): SessionText => {
  const entries: Array<SessionEntry | UnknownEntry> = []
  const damaged: Array<DamagedLine> = []
  let header: Option.Option<SessionHeader> = Option.none()
  text.split("\n").forEach((line, index) => {
    if (line.trim() === "") return
    const object = parseObject(line)
    if (Result.isFailure(object)) {
      damaged.push({ line: index + 1, reason: object.failure })
    } else if (object.success.type === "session") {
      if (Option.isNone(header)) header = decodeHeader(object.success)
    } else if (!known.has(object.success.type)) {
      entries.push(object.success)
    } else {
      const entry = decodeEntry(object.success)
      if (Result.isSuccess(entry)) entries.push(entry.success)
      else damaged.push({ line: index + 1, reason: `not a valid ${object.success.type} entry` })
    }
  })
  return { header, entries, damaged, torn: text !== "" && !text.endsWith("\n") }
}

/** One line of a session file, newline included. */
export const encodeLine = (value: SessionHeader | SessionEntry | UnknownEntry): string => `${JSON.stringify(value)}\n`
