/**
 * Text of models, tools, files and extensions, made harmless for a screen: it can change nothing outside its place, nor
 * say it in another order than it stands. Pure.
 */
import { stripTerminalSequences, visibleWidth } from "@earendil-works/pi-tui"
import { evident } from "../Evident.ts"

/** What is not simply a character on a line: controls but the line feed, marks that turn the direction of text, halves of characters. */
const suspect = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/
const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Lines kept, everything else that moves, colours or turns taken out. What a carriage return would overwrite is gone. */
export const clean = (text: string): string =>
  !suspect.test(text)
    ? text
    : stripTerminalSequences(text.toWellFormed())
      .replaceAll("\t", "  ")
      .replaceAll(/\r+\n/g, "\n")
      .replaceAll(/[^\n]*\r(?=[^\n])/g, "")
      .replaceAll(/[\u2028\u2029]/g, "\n")
      .replaceAll(controls, "")

/** How many columns a character may take. Those of no script take more. */
export const widest = 8
/** Where characters grow by marks or are joined. */
const growing = /(?:\p{M}|\p{L}\p{M}){8}/u
const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/** A text without characters that are wider than `widest`: they are broken by spaces. A line of the composer could not hold them. */
export const breakWide = (text: string): string =>
  !growing.test(text)
    ? text
    : Array.from(segmenter.segment(text), ({ segment }) => visibleWidth(segment) <= widest ? segment : segment.replaceAll(/(?:.){4}(?=.)/gsu, "$& ")).join("")

const oneLine = (text: string, limit: number, make: (text: string) => string): string =>
  make(text.length > limit * 4 ? text.slice(0, limit * 4) : text).replaceAll(/\s+/g, " ").trim()

/** A clean text on one line, of at most `limit` characters. */
export const cleanLine = (text: string, limit = 1_000): string => oneLine(text, limit, clean).slice(0, limit)

/** The same of what somebody is to judge: what in it does not show is made to, and where it is cut there is a mark. */
export const evidentRow = (text: string, limit = 10_000): string => {
  const line = oneLine(text, limit, evident)
  return line.length > limit ? `${line.slice(0, limit - 1).toWellFormed()}…` : line
}
