/** Bounding of tool output, as `@bastani/atomic` exports it (seed 004, "Output Truncation"). Pure. */
import { fieldsOf, textOf } from "./Values.ts"

/** 50 KB. */
export const DEFAULT_MAX_BYTES = 51_200
/** Lines. */
export const DEFAULT_MAX_LINES = 2_000

/** What became of a text. `lastLinePartial` and `firstLineExceedsLimit` say which line was too long by itself. */
export interface TruncationResult {
  readonly content: string
  readonly truncated: boolean
  readonly truncatedBy: "lines" | "bytes" | null
  readonly totalLines: number
  readonly totalBytes: number
  readonly outputLines: number
  readonly outputBytes: number
  readonly lastLinePartial: boolean
  readonly firstLineExceedsLimit: boolean
  readonly maxLines: number
  readonly maxBytes: number
}

/** A size for people. */
export const formatSize = (bytes: number): string =>
  bytes < 1024 ? `${bytes}B` : bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)}KB` : `${(bytes / (1024 * 1024)).toFixed(1)}MB`

const bytesOf = (text: string): number => Buffer.byteLength(text, "utf8")

/** A newline at the end begins no line. */
const linesOf = (text: string): ReadonlyArray<string> => {
  if (text === "") return []
  const lines = text.split("\n")
  return text.endsWith("\n") ? lines.slice(0, -1) : lines
}

const limitsOf = (options: unknown): { readonly maxLines: number; readonly maxBytes: number } => {
  const { maxBytes, maxLines } = fieldsOf(options)
  return {
    maxLines: typeof maxLines === "number" ? maxLines : DEFAULT_MAX_LINES,
    maxBytes: typeof maxBytes === "number" ? maxBytes : DEFAULT_MAX_BYTES
  }
}

/** The lines, taken one by one in the order given, that fit. */
const fitting = (lines: Iterable<string>, maxLines: number, maxBytes: number) => {
  const kept: Array<string> = []
  let size = 0
  for (const line of lines) {
    if (kept.length >= maxLines) return { kept, by: "lines" as const }
    const more = bytesOf(line) + (kept.length === 0 ? 0 : 1)
    if (size + more > maxBytes) return { kept, by: "bytes" as const }
    kept.push(line)
    size += more
  }
  return { kept, by: null }
}

const truncate = (text: string, options: unknown, end: "head" | "tail"): TruncationResult => {
  const { maxBytes, maxLines } = limitsOf(options)
  const lines = linesOf(text)
  const total = { totalLines: lines.length, totalBytes: bytesOf(text), maxLines, maxBytes }
  if (lines.length <= maxLines && total.totalBytes <= maxBytes) {
    const whole = { outputLines: lines.length, outputBytes: total.totalBytes }
    return { content: text, truncated: false, truncatedBy: null, ...total, ...whole, lastLinePartial: false, firstLineExceedsLimit: false }
  }
  const { by, kept } = fitting(end === "head" ? lines : lines.toReversed(), maxLines, maxBytes)
  const first = kept.length === 0 ? (end === "head" ? lines[0] : lines.at(-1)) : undefined
  const tail = end === "tail" && first !== undefined ? endOf(first, maxBytes) : undefined
  const content = tail ?? (end === "head" ? kept : kept.toReversed()).join("\n")
  return {
    content,
    truncated: true,
    truncatedBy: by ?? "bytes",
    ...total,
    outputLines: tail === undefined ? kept.length : 1,
    outputBytes: bytesOf(content),
    lastLinePartial: tail !== undefined,
    firstLineExceedsLimit: end === "head" && first !== undefined
  }
}

/** The last bytes of a line that make whole characters. */
const endOf = (line: string, maxBytes: number): string => {
  const bytes = Buffer.from(line, "utf8")
  let from = Math.max(0, bytes.length - maxBytes)
  while (from < bytes.length && ((bytes[from] ?? 0) & 0xc0) === 0x80) from++
  return bytes.subarray(from).toString("utf8")
}

/** Keeps the first whole lines that fit; nothing at all when the first line alone does not. */
export const truncateHead = (text: string, options?: unknown): TruncationResult => truncate(text, options, "head")

/** Keeps the last whole lines that fit; the end of the last line when that alone does not. */
export const truncateTail = (text: string, options?: unknown): TruncationResult => truncate(text, options, "tail")

/** Cuts one line to a number of characters. */
export const truncateLine = (line: unknown, maxChars = 500): { readonly text: string; readonly wasTruncated: boolean } => {
  const text = textOf(line)
  return text.length <= maxChars ? { text, wasTruncated: false } : { text: `${text.slice(0, maxChars)}... [truncated]`, wasTruncated: true }
}
