/**
 * Replacing exact texts in a file's text, all or nothing. Line ends are matched whatever they are and kept as the file
 * has them. Pure.
 */
import { Result } from "effect"

/** One replacement; `oldText` must occur exactly once when its turn comes. */
export interface Replacement {
  readonly oldText: string
  readonly newText: string
}

/** A line of the file like the one looked for. */
export interface NearLine {
  readonly line: number
  readonly text: string
}

/** Why nothing was changed; `index` counts replacements from 0. */
export type EditFailure =
  | { readonly reason: "empty" | "same"; readonly index: number }
  | { readonly reason: "missing"; readonly index: number; readonly near: ReadonlyArray<NearLine> }
  | { readonly reason: "repeated"; readonly index: number; readonly count: number; readonly lines: ReadonlyArray<number> }

/** The new text and the line spans of it that were touched, 1-based and inclusive, in file order. */
export interface Edited {
  readonly text: string
  readonly spans: ReadonlyArray<{ readonly first: number; readonly last: number }>
}

/** Occurrences are counted up to this many; beyond, the number is "at least". */
export const MAX_OCCURRENCES = 1000
const MAX_NEAR = 3
const MAX_NEAR_SEARCH_LINES = 20_000

const toLf = (text: string): string => text.replaceAll("\r\n", "\n")

/** 1-based number of the line that holds `offset`. */
const lineAt = (text: string, offset: number): number => {
  let line = 1
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line++
  return line
}

const occurrences = (text: string, wanted: string): Array<number> => {
  const found: Array<number> = []
  for (let at = text.indexOf(wanted); at !== -1 && found.length < MAX_OCCURRENCES; at = text.indexOf(wanted, at + 1)) found.push(at)
  return found
}

/** Offset in `raw` of an offset in its LF form: every CRLF before it is one longer. */
const rawOffset = (raw: string, offset: number): number => {
  let shift = 0
  for (let at = raw.indexOf("\r\n"); at !== -1 && at - shift < offset; at = raw.indexOf("\r\n", at + 2)) shift++
  return offset + shift
}

/** The line end for a new text: that of the text it replaces, else the file's usual one. */
const endingFor = (replaced: string, raw: string): "\n" | "\r\n" => {
  const sample = replaced.includes("\n") ? replaced : raw
  const crlf = sample.split("\r\n").length - 1
  return crlf * 2 > sample.split("\n").length - 1 ? "\r\n" : "\n"
}

interface Span {
  readonly start: number
  readonly end: number
}

/** Where a span lies after `cut` became `length` long; spans that met become one. */
const moved = (span: Span, cut: Span, length: number): Span => {
  const delta = length - (cut.end - cut.start)
  if (span.end <= cut.start) return span
  if (span.start >= cut.end) return { start: span.start + delta, end: span.end + delta }
  return { start: Math.min(span.start, cut.start), end: Math.max(span.end + delta, cut.start + length) }
}

/** Spans as lines of `text`, in order, those that meet joined. */
const lineSpans = (text: string, spans: ReadonlyArray<Span>): Edited["spans"] => {
  const joined: Array<{ first: number; last: number }> = []
  for (const { end, start } of [...spans].sort((a, b) => a.start - b.start)) {
    const span = { first: lineAt(text, start), last: lineAt(text, Math.max(start, end - 1)) }
    const previous = joined.at(-1)
    if (previous !== undefined && span.first <= previous.last) previous.last = Math.max(previous.last, span.last)
    else joined.push(span)
  }
  return joined
}

const bigrams = (text: string): Map<string, number> => {
  const counts = new Map<string, number>()
  for (let i = 0; i + 1 < text.length && i < 200; i++) {
    const pair = text.slice(i, i + 2)
    counts.set(pair, (counts.get(pair) ?? 0) + 1)
  }
  return counts
}

const likeness = (a: Map<string, number>, b: Map<string, number>): number => {
  let common = 0
  let all = 0
  for (const [pair, count] of a) {
    common += Math.min(count, b.get(pair) ?? 0)
    all += count
  }
  for (const count of b.values()) all += count
  return all === 0 ? 0 : 2 * common / all
}

/** The lines of `text` most like the first line with content of `wanted`, best first. */
export const nearLines = (text: string, wanted: string): ReadonlyArray<NearLine> => {
  const sought = wanted.split("\n").map((line) => line.trim()).find((line) => line !== "")
  if (sought === undefined) return []
  const pairs = bigrams(sought)
  return text.split("\n", MAX_NEAR_SEARCH_LINES)
    .map((line, index) => {
      const bare = line.trim()
      return { line: index + 1, text: line, score: bare === sought ? 2 : likeness(pairs, bigrams(bare)) }
    })
    .filter(({ score }) => score >= 0.6)
    .sort((a, b) => b.score - a.score || a.line - b.line)
    .slice(0, MAX_NEAR)
    .map(({ line, text }) => ({ line, text: text.trimEnd() }))
}

/** Applies replacements one after the other to a text without BOM; on a failure the text stays as it is. */
export const applyReplacements = (text: string, replacements: ReadonlyArray<Replacement>): Result.Result<Edited, EditFailure> => {
  let raw = text
  let spans: Array<Span> = []
  for (const [index, { newText, oldText }] of replacements.entries()) {
    const wanted = toLf(oldText)
    const replacement = toLf(newText)
    if (wanted === "") return Result.fail({ reason: "empty", index })
    if (wanted === replacement) return Result.fail({ reason: "same", index })
    const plain = toLf(raw)
    const [at, ...others] = occurrences(plain, wanted)
    if (at === undefined) return Result.fail({ reason: "missing", index, near: nearLines(plain, wanted) })
    if (others.length > 0) {
      const lines = [at, ...others].slice(0, 10).map((offset) => lineAt(plain, offset))
      return Result.fail({ reason: "repeated", index, count: others.length + 1, lines })
    }
    const cut = { start: rawOffset(raw, at), end: rawOffset(raw, at + wanted.length) }
    const ending = endingFor(raw.slice(cut.start, cut.end), raw)
    const inserted = ending === "\n" ? replacement : replacement.replaceAll("\n", ending)
    raw = raw.slice(0, cut.start) + inserted + raw.slice(cut.end)
    spans = [...spans.map((span) => moved(span, cut, inserted.length)), { start: cut.start, end: cut.start + inserted.length }]
  }
  return Result.succeed({ text: raw, spans: lineSpans(raw, spans) })
}
