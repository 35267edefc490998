/**
 * Replacing exact texts in a file's text, all or nothing. Line ends are matched whatever they are and kept as the file
 * has them. Pure.
 */
import { Result } from "effect"
import { nearLines } from "./NearLines.ts"
import type { NearLine } from "./NearLines.ts"

/** One replacement; `oldText` must occur exactly once when its turn comes, at least once with `all`. */
export interface Replacement {
  readonly oldText: string
  readonly newText: string
  readonly all?: boolean
}

/** The replacement after which a text was there no more; how often it had been there, and on which lines at first. */
export interface Taken {
  readonly by: number
  readonly count: number
  readonly lines: ReadonlyArray<number>
}

/** Why nothing was changed; `index` counts replacements from 0. */
export type EditFailure =
  | { readonly reason: "empty" | "same"; readonly index: number }
  | { readonly reason: "missing"; readonly index: number; readonly near: ReadonlyArray<NearLine>; readonly taken?: Taken }
  | { readonly reason: "repeated"; readonly index: number; readonly count: number; readonly lines: ReadonlyArray<number> }

/** The new text, how many places changed, and the line spans of it that were touched, 1-based and inclusive, in file order. */
export interface Edited {
  readonly text: string
  readonly places: number
  readonly spans: ReadonlyArray<{ readonly first: number; readonly last: number }>
}

/** Occurrences are counted up to this many; beyond, the number is "at least". */
export const MAX_OCCURRENCES = 1000

const toLf = (text: string): string => text.replaceAll("\r\n", "\n")

/** 1-based number of the line that holds `offset`. */
const lineAt = (text: string, offset: number): number => {
  let line = 1
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line++
  return line
}

/** Where `wanted` begins, each `step` characters after the one before at the earliest. */
const occurrences = (text: string, wanted: string, step: number, max: number): Array<number> => {
  const found: Array<number> = []
  for (let at = text.indexOf(wanted); at !== -1 && found.length < max; at = text.indexOf(wanted, at + step)) found.push(at)
  return found
}

/** Gives offsets in `raw` for offsets in its LF form, which must come in order: every CRLF before one makes it one longer. */
const rawOffsets = (raw: string): (offset: number) => number => {
  let shift = 0
  let at = raw.indexOf("\r\n")
  return (offset) => {
    for (; at !== -1 && at - shift < offset; at = raw.indexOf("\r\n", at + 2)) shift++
    return offset + shift
  }
}

/** Whether most line ends of a text are CRLF; undefined when it has none. */
const mostlyCrlf = (text: string): boolean | undefined => {
  const all = text.split("\n").length - 1
  return all === 0 ? undefined : (text.split("\r\n").length - 1) * 2 > all
}

interface Span {
  readonly start: number
  readonly end: number
}

/** A span of the text before that becomes `length` long. */
interface Cut extends Span {
  readonly length: number
}

/** Sorted spans, those that meet joined. */
const joined = (spans: ReadonlyArray<Span>): Array<Span> => {
  const out: Array<{ start: number; end: number }> = []
  for (const { end, start } of [...spans].sort((a, b) => a.start - b.start)) {
    const previous = out.at(-1)
    if (previous !== undefined && start <= previous.end) previous.end = Math.max(previous.end, end)
    else out.push({ start, end })
  }
  return out
}

/** Sorted spans after sorted cuts, with what was put in place of the cuts. A span that meets a cut takes it in. */
const carried = (spans: ReadonlyArray<Span>, cuts: ReadonlyArray<Cut>): Array<Span> => {
  let next = 0
  let delta = 0
  // A place within a cut becomes its beginning: what was put there is a span of its own, and both meet.
  const place = (at: number): number => {
    let cut = cuts[next]
    for (; cut !== undefined && cut.end <= at; cut = cuts[++next]) delta += cut.length - (cut.end - cut.start)
    return (cut === undefined ? at : Math.min(at, cut.start)) + delta
  }
  const moved = spans.map(({ end, start }) => ({ start: place(start), end: place(end) }))
  let shift = 0
  for (const { end, length, start } of cuts) {
    moved.push({ start: start + shift, end: start + shift + length })
    shift += length - (end - start)
  }
  return joined(moved)
}

/** Sorted spans as lines of `text`, those that meet joined. */
const lineSpans = (text: string, spans: ReadonlyArray<Span>): Edited["spans"] => {
  let line = 1
  let at = text.indexOf("\n")
  const lineOf = (offset: number): number => {
    for (; at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line++
    return line
  }
  const out: Array<{ first: number; last: number }> = []
  for (const { end, start } of spans) {
    const span = { first: lineOf(start), last: lineOf(Math.max(start, end - 1)) }
    const previous = out.at(-1)
    if (previous !== undefined && span.first <= previous.last) previous.last = Math.max(previous.last, span.last)
    else out.push(span)
  }
  return out
}

/** How much of a match differs: its first `skip` characters stay, the next `length` become `text`. */
interface Core {
  readonly skip: number
  readonly length: number
  readonly text: string
}

/** What is left of a replacement without the whole lines both texts begin and end with: those keep their bytes. */
const coreOf = (wanted: string, replacement: string): Core => {
  const before = wanted.split("\n")
  const after = replacement.split("\n")
  const shared = Math.min(before.length, after.length) - 1
  let first = 0
  while (first < shared && before[first] === after[first]) first++
  let last = 0
  while (last < shared - first && before[before.length - 1 - last] === after[after.length - 1 - last]) last++
  const core = (lines: ReadonlyArray<string>) => lines.slice(first, lines.length - last).join("\n") + (last > 0 ? "\n" : "")
  const skip = before.slice(0, first).reduce((sum, line) => sum + line.length + 1, 0)
  return { skip, length: core(before).length, text: core(after) }
}

/** The same replacement at each place of `found`: sorted offsets in the LF form of `raw`. */
const replaceAt = (raw: string, found: ReadonlyArray<number>, wanted: string, replacement: string) => {
  const core = coreOf(wanted, replacement)
  const rawOffset = rawOffsets(raw)
  const crlf = core.text.replaceAll("\n", "\r\n")
  let usual: boolean | undefined
  const cuts: Array<Cut> = []
  const pieces: Array<string> = []
  let done = 0
  for (const at of found) {
    const [from, start, end, to] = [at, at + core.skip, at + core.skip + core.length, at + wanted.length].map(rawOffset)
    if (from === undefined || start === undefined || end === undefined || to === undefined) continue
    // The line ends of a new text are those of the text it replaces, else the file's usual ones.
    const here = mostlyCrlf(raw.slice(from, to)) ?? (usual ??= mostlyCrlf(raw) ?? false)
    const inserted = here ? crlf : core.text
    pieces.push(raw.slice(done, start), inserted)
    cuts.push({ start, end, length: inserted.length })
    done = end
  }
  return { text: pieces.join("") + raw.slice(done), cuts }
}

/** The places of `wanted` as a failure tells them. */
const toldPlaces = (plain: string, wanted: string) => {
  const found = occurrences(plain, wanted, 1, MAX_OCCURRENCES)
  return { count: found.length, lines: found.slice(0, 10).map((offset) => lineAt(plain, offset)) }
}

/** Which of the replacements done took a text away; undefined when it was never there. */
const takenBy = (text: string, done: ReadonlyArray<Replacement>, wanted: string): Taken | undefined => {
  let raw = text
  let taken: Taken | undefined
  for (const [by, { newText, oldText }] of done.entries()) {
    const plain = toLf(raw)
    if (plain.includes(wanted)) taken = { by, ...toldPlaces(plain, wanted) }
    const old = toLf(oldText)
    raw = replaceAt(raw, occurrences(plain, old, old.length, Infinity), old, toLf(newText)).text
  }
  return taken
}

/** Applies replacements one after the other to a text without BOM; on a failure the text stays as it is. */
export const applyReplacements = (text: string, replacements: ReadonlyArray<Replacement>): Result.Result<Edited, EditFailure> => {
  let raw = text
  let spans: Array<Span> = []
  let places = 0
  for (const [index, { all, newText, oldText }] of replacements.entries()) {
    const wanted = toLf(oldText)
    const replacement = toLf(newText)
    if (wanted === "") return Result.fail({ reason: "empty", index })
    if (wanted === replacement) return Result.fail({ reason: "same", index })
    const plain = toLf(raw)
    const found = all === true ? occurrences(plain, wanted, wanted.length, Infinity) : occurrences(plain, wanted, 1, MAX_OCCURRENCES)
    if (found.length === 0) {
      const taken = takenBy(text, replacements.slice(0, index), wanted)
      return Result.fail({ reason: "missing", index, near: nearLines(plain, wanted), ...(taken === undefined ? {} : { taken }) })
    }
    if (all !== true && found.length > 1) return Result.fail({ reason: "repeated", index, ...toldPlaces(plain, wanted) })
    const done = replaceAt(raw, found, wanted, replacement)
    raw = done.text
    places += found.length
    spans = carried(spans, done.cuts)
  }
  return Result.succeed({ text: raw, places, spans: lineSpans(raw, spans) })
}
