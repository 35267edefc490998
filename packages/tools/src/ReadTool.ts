/** `read`: lines of a text file with numbers and a version, or an image. */
import { Effect } from "effect"
import * as Base64 from "effect/encoding/Base64"
import { brokenImage, imageTypeOf } from "@nimlet/protocol"
import { boundedArgument, numberArgument, textArgument } from "./Arguments.ts"
import { LineWindow } from "./LineWindow.ts"
import type { PickedLines } from "./LineWindow.ts"
import { Operations } from "./Operations.ts"
import type { FileInfo, Files, Located } from "./Operations.ts"
import { modelLimits } from "./Output.ts"
import type { Limits } from "./Output.ts"
import { makeTranscoder, makeUtf8Check, mayBeLatin, signatureOf } from "./TextEncoding.ts"
import type { EncodingName } from "./TextEncoding.ts"
import { errorResult, preferStrict, textResult } from "./Tool.ts"
import type { Tool, ToolResult } from "./Tool.ts"
import { makeVersionHash } from "./Version.ts"

const MAX_IMAGE_BYTES = 5 * 1024 * 1024
/** The largest file that is read to its end, for its version and its number of lines; `edit` takes nothing larger. */
export const MAX_WHOLE_BYTES = 10 * 1024 * 1024
const NUMBER_WIDTH = 9

/** Room is left for the header and the note at the end. */
const limits: Limits = { maxBytes: modelLimits.maxBytes - 1024, maxLines: modelLimits.maxLines - 8 }

const numbered = ({ first, lines }: PickedLines): string => {
  const width = String(first + lines.length - 1).length
  return lines.map((line, index) => `${String(first + index).padStart(width)} | ${line}`).join("\n")
}

const noteOf = ({ cutLine, first, lines, next }: PickedLines, whole: boolean): string => {
  const after = next ?? first + lines.length
  if (cutLine !== undefined) {
    return `\n\n[line ${first} has ${whole ? "" : "at least "}${cutLine} bytes, only its beginning is shown; next: start_line=${after}, or bash for the rest of the line]`
  }
  return next === undefined ? "" : `\n\n[cut at the limit; next: start_line=${next}]`
}

const encodingNote: Record<EncodingName, string> = {
  "UTF-8": "",
  "UTF-16LE": "\nencoding: UTF-16LE",
  "UTF-16BE": "\nencoding: UTF-16BE",
  "Latin-1": "\nencoding: shown as Latin-1, since it is not UTF-8"
}

const textReport = (shown: string, whole: boolean, version: string, encoding: EncodingName, picked: PickedLines): ToolResult => {
  const { first, lines, total } = picked
  const head = `path: ${shown}\nversion: ${whole ? version : "none, the file is too large to edit"}${encodingNote[encoding]}`
  if (whole && total === 0) return textResult(`${head}\nlines: 0\n\nThe file is empty.`)
  if (lines.length === 0) return errorResult(`start_line ${first} is past the end: ${shown} has ${total} lines`)
  const last = first + lines.length - 1
  return textResult(`${head}\nlines: ${first}-${last} of ${whole ? total : "more"}\n\n${numbered(picked)}${noteOf(picked, whole)}`)
}

const binaryReport = (shown: string, size: number): ToolResult => errorResult(`${shown} is a binary file of ${size} bytes; use bash to look into it`)

const imageReport = (shown: string, mimeType: string, size: number, data: Uint8Array): ToolResult => {
  if (size > MAX_IMAGE_BYTES) return errorResult(`${shown} is an image of ${size} bytes; at most 5 MB can be shown`)
  const fault = brokenImage(data)
  if (fault !== undefined) return errorResult(`${shown} begins like ${mimeType} but is no whole image: ${fault}; use bash to look into it`)
  return {
    content: [
      { type: "text", text: `path: ${shown}\n${mimeType}, ${size} bytes` },
      { type: "image", mimeType, data: Base64.encode(data) }
    ],
    isError: false
  }
}

/** What a pass does with chunks, and what it makes of them. */
interface Reading {
  /** Takes the next chunk; false when no more is needed. */
  readonly take: (chunk: Uint8Array) => boolean
  /** The result; `again` when the file must be read once more, as Latin-1. */
  readonly report: (shown: string) => ToolResult | "again"
}

const readImage = (mimeType: string, size: number): Reading => {
  const pieces: Array<Uint8Array> = []
  return {
    take: (chunk) => {
      pieces.push(chunk.slice())
      return size <= MAX_IMAGE_BYTES
    },
    report: (shown) => imageReport(shown, mimeType, size, Buffer.concat(pieces))
  }
}

const readText = (start: number, end: number, size: number, head: Uint8Array, encoding: EncodingName, mark: number): Reading => {
  const window = new LineWindow(start, end, limits, NUMBER_WIDTH)
  const hash = makeVersionHash()
  const check = makeUtf8Check()
  const transcode = makeTranscoder(encoding)
  const latin = mayBeLatin(head)
  const whole = size <= MAX_WHOLE_BYTES
  let skip = mark
  let seen = 0
  return {
    take: (chunk) => {
      seen += chunk.length
      if (encoding === "UTF-8") check.push(chunk)
      window.push(transcode(chunk.subarray(skip)))
      skip = 0
      if (whole) hash.update(chunk)
      return whole || !window.full
    },
    report: (shown) => {
      if (encoding === "UTF-8" && !check.holds(seen >= size)) return latin ? "again" : binaryReport(shown, size)
      return textReport(shown, whole, hash.token(), encoding, window.finish())
    }
  }
}

/** Gathers a file in one pass; its first chunk decides what it is. */
const makePass = (start: number, end: number, latin: boolean) => {
  let reading: Reading | undefined
  const begin = (head: Uint8Array, size: number): Reading => {
    const image = imageTypeOf(head)
    if (image !== undefined) return readImage(image, size)
    const signature = signatureOf(head)
    if (signature === undefined) return { take: () => false, report: (shown) => binaryReport(shown, size) }
    return latin
      ? readText(start, end, size, head, "Latin-1", 0)
      : readText(start, end, size, head, signature.encoding, signature.mark)
  }
  return {
    step: (chunk: Uint8Array, { size }: FileInfo): boolean => (reading ??= begin(chunk, size)).take(chunk),
    // An empty file has no chunk.
    report: (shown: string) => (reading ?? begin(new Uint8Array(0), 0)).report(shown)
  }
}

const readAs = Effect.fnUntraced(function*(files: Files, file: Located, start: number, end: number, latin: boolean) {
  const pass = makePass(start, end, latin)
  yield* files.scan(file, pass.step)
  return pass.report(file.shown)
})

/** The `read` tool. */
export const readTool: Tool<Operations> = {
  name: "read",
  description: "Read a text file with line numbers, or a PNG, JPEG, GIF or WEBP image up to 5 MB. At most 50 KB and 2000 lines a call; read on with start_line.",
  inputSchema: {
    type: "object",
    properties: {
      path: { type: "string" },
      start_line: { type: "integer", minimum: 1 },
      end_line: { type: "integer", minimum: 1, description: "inclusive" }
    },
    required: ["path"],
    additionalProperties: false
  },
  constrainedSampling: preferStrict,
  capabilities: ["read"],
  run: Effect.fnUntraced(function*(args) {
    const { files } = yield* Operations
    const start = boundedArgument(args, "start_line", 1, Number.MAX_SAFE_INTEGER)
    const end = numberArgument(args, "end_line") ?? Number.MAX_SAFE_INTEGER
    if (end < start) return errorResult(`end_line ${end} is before start_line ${start}`)
    const file = yield* files.locate(textArgument(args, "path") ?? "")
    const result = yield* readAs(files, file, start, end, false)
    if (result !== "again") return result
    const latin = yield* readAs(files, file, start, end, true)
    return latin === "again" ? errorResult(`${file.shown} is no text`) : latin
  }, Effect.catch((error) => Effect.succeed(errorResult(error.message))))
}
