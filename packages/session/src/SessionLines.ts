/**
 * The text of a session file and its entries, both ways. Pure. A damaged or torn line costs that line alone and is
 * reported with its number; kinds and fields that this version does not know are kept as they are.
 */
import { Option, Result, Schema } from "effect"
import { type JsonObject, SessionEntry, SessionHeader } from "@nimlet/protocol"
import { isCommonEntry } from "./CommonEntry.ts"
import { mendEntry } from "./MendEntry.ts"

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

/** What one line is; a failure says why it is nothing. `undefined` is a blank line. */
export type Line = { readonly header: SessionHeader } | { readonly entry: SessionEntry | UnknownEntry } | undefined

const known = new Set<string>([
  "user",
  "assistant",
  "tool_result",
  "compaction",
  "extension",
  "name",
  "selection",
  "custom_message",
  "label"
] satisfies ReadonlyArray<SessionEntry["type"]>)
/** Whether an entry is of a kind that this version knows; its fields are right then. */
export const isKnownEntry = (entry: SessionEntry | UnknownEntry): entry is SessionEntry => known.has(entry.type)
const matchesSchema = Schema.is(SessionEntry)
const isEntry = (value: Typed): value is Typed & SessionEntry => isCommonEntry(value) || matchesSchema(value)
const isHeader = Schema.is(SessionHeader)

type Typed = JsonObject & { readonly type: string }
const isTyped = (value: unknown): value is Typed =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"

/** Undefined for what is no JSON. */
const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** What a line is whose text has been parsed to `value`. */
const lineOf = (value: unknown, text: string): Result.Result<Line, string> => {
  if (value === undefined) return text.trim() === "" ? Result.succeed(undefined) : Result.fail("not valid JSON")
  if (!isTyped(value)) return Result.fail("not an object with a type")
  if (value.type === "session") return isHeader(value) ? Result.succeed({ header: value }) : Result.fail("not a valid header")
  if (isEntry(value) || !known.has(value.type)) return Result.succeed({ entry: value })
  const mended = mendEntry(value)
  return isEntry(mended) ? Result.succeed({ entry: mended }) : Result.fail(`not a valid ${value.type} entry`)
}

/** Reads one line, with or without its CR. The entry is the parsed object itself: no field of it is lost. */
export const parseLine = (line: string): Result.Result<Line, string> => lineOf(parsed(line), line)

/** A compaction that names the entry it keeps from is held to it, also when a line before that entry was lost since. */
const anchored = (
  entry: SessionEntry | UnknownEntry,
  before: ReadonlyArray<SessionEntry | UnknownEntry>
): SessionEntry | UnknownEntry => {
  if (entry.type !== "compaction" || !("first_kept_id" in entry) || entry.first_kept_id === undefined) return entry
  const id = entry.first_kept_id
  if (before[entry.first_kept_index]?.entry_id === id) return entry
  const at = before.findLastIndex((other) => other.entry_id === id)
  return at === -1 ? entry : { ...entry, first_kept_index: at }
}

/** Collects lines, in order, to what a session file holds. `text` undefined: a line too long to be held. */
export const collectLines = (): {
  readonly add: (text: string | undefined, line: number) => void
  /** Whether there was a header or an entry of a kind we know. */
  readonly isSession: () => boolean
  readonly done: (torn: boolean) => SessionText
} => {
  const entries: Array<SessionEntry | UnknownEntry> = []
  const damaged: Array<DamagedLine> = []
  let header: Option.Option<SessionHeader> = Option.none()
  let met = false
  return {
    add: (text, line) => {
      const value = text === undefined ? undefined : parsed(text)
      // Nearly every line of a long session.
      if (isCommonEntry(value)) {
        met = true
        entries.push(value)
        return
      }
      const read = text === undefined ? Result.fail("too long") : lineOf(value, text)
      if (Result.isFailure(read)) damaged.push({ line, reason: read.failure })
      else if (read.success === undefined) return
      else if ("entry" in read.success) {
        entries.push(anchored(read.success.entry, entries))
        met ||= known.has(read.success.entry.type)
      } else if (Option.isNone(header)) header = Option.some(read.success.header)
      else damaged.push({ line, reason: "a second header" })
    },
    isSession: () => met || Option.isSome(header),
    done: (torn) => ({ header, entries, damaged, torn })
  }
}

/** Reads the whole text of a session file. Lines end at LF alone; blank ones are passed over. */
export const parseSession = (text: string): SessionText => {
  const { add, done } = collectLines()
  text.split("\n").forEach((line, index) => add(line, index + 1))
  return done(text !== "" && !text.endsWith("\n"))
}

/** One line of a session file, newline included. Throws what `JSON.stringify` throws, for a value that is no JSON. */
export const encodeLine = (value: SessionHeader | SessionEntry | UnknownEntry): string => `${JSON.stringify(value)}\n`
