/** What the offline model understands: requests joined by `then` or `and`, as steps. Pure. */
import { readClause, type Step } from "./Clause.ts"

export type { Follow, Step } from "./Clause.ts"

/** A prompt, understood or not. */
export type Reading =
  | { readonly _tag: "Steps"; readonly steps: ReadonlyArray<Step> }
  /** `clause` is the part that no rule fits. */
  | { readonly _tag: "Unknown"; readonly clause: string }

/** What is longer, has wider gaps or more joints is no plain request; the patterns would take long over it. */
const LIMIT = 4_000
const GAP = /\s{33}/
const JOINTS = 8
const CHAIN = 32

/** The same text with what stands in quotes or braces blanked out, so that words in it join nothing. */
const masked = (text: string): string =>
  text.replace(/"[^"]*"|`[^`]*`|(?<=^|\s)'[^']*'(?=\s|$)|\{[^]*\}/g, (quoted) => "\0".repeat(quoted.length))

const THEN = /(?:\s*[,;.]\s*|\s+)(?:and\s+)?(?:then|after that|afterwards),?\s+/gi
const AND = /\s*,?\s+and\s+/gi

interface Joint {
  readonly start: number
  readonly end: number
}

const joints = (text: string, pattern: RegExp): ReadonlyArray<Joint> =>
  [...masked(text).matchAll(pattern)].map((match) => ({ start: match.index, end: match.index + match[0].length }))

/** A clause that may hold several steps joined by `and`; the first joint where both sides make sense is taken. */
const readJoined = (clause: string): ReadonlyArray<Step> | undefined => {
  const whole = readClause(clause)
  if (whole !== undefined && whole.loose !== true && whole.follow?._tag !== "Beyond") return [whole]
  const ands = joints(clause, AND)
  if (ands.length <= JOINTS) {
    for (const { end, start } of ands) {
      const left = readClause(clause.slice(0, start))
      const right = left === undefined ? undefined : readJoined(clause.slice(end))
      if (left !== undefined && right !== undefined) return [left, ...right]
    }
  }
  return whole === undefined ? undefined : [whole]
}

/**
 * Reads a prompt. `then` joins two requests only where a request follows it, so that it may stand in a text to write or
 * search for. A prompt is understood as a whole or not at all.
 */
export const readPrompt = (text: string): Reading => {
  if (text.length > LIMIT || GAP.test(text)) return { _tag: "Unknown", clause: `${text.slice(0, 60)}…` }
  const clauses: Array<string> = []
  const thens = joints(text, THEN)
  let from = 0
  if (thens.length > CHAIN) return { _tag: "Unknown", clause: `${text.slice(0, 60)}…` }
  for (const [index, { end, start }] of thens.entries()) {
    if (readJoined(text.slice(end, thens[index + 1]?.start)) === undefined) continue
    clauses.push(text.slice(from, start))
    from = end
  }
  clauses.push(text.slice(from))
  const steps: Array<Step> = []
  for (const clause of clauses) {
    const read = readJoined(clause)
    if (read === undefined) return { _tag: "Unknown", clause: clause.trim() }
    steps.push(...read)
  }
  return { _tag: "Steps", steps }
}

/** What can be asked, one line each, for those who asked something else. */
export const understood: ReadonlyArray<string> = [
  "list the files here · list files in DIR · find files named *.ts",
  "read FILE · read FILE lines 10-20 · read FILE and tell me its first heading (or: how many lines it has, summarize it)",
  "find TEXT in FILE · grep PATTERN",
  "write FILE with TEXT · replace OLD with NEW in FILE",
  "run `COMMAND` · git status, git log, git diff",
  "call TOOL {\"argument\": \"value\"}",
  "several of these joined by “then”"
]
