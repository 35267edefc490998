/** `read`: lines of a text file with numbers and a version, or an image. */
import { Effect } from "effect"
import * as Base64 from "effect/encoding/Base64"
import { boundedArgument, numberArgument, textArgument } from "./Arguments.ts"
import { imageTypeOf } from "./ImageType.ts"
import { LineWindow } from "./LineWindow.ts"
import type { PickedLines } from "./LineWindow.ts"
import { Operations } from "./Operations.ts"
import type { FileInfo } from "./Operations.ts"
import { modelLimits } from "./Output.ts"
import type { Limits } from "./Output.ts"
import { errorResult, textResult } from "./Tool.ts"
import type { Tool, ToolResult } from "./Tool.ts"
import { makeVersionHash } from "./Version.ts"

const MAX_IMAGE_BYTES = 5 * 1024 * 1024
/** The largest file that is read to its end, for its version and its number of lines; `edit` takes nothing larger. */
export const MAX_WHOLE_BYTES = 10 * 1024 * 1024
/** A zero byte this near the beginning makes a file binary. */
const BINARY_PROBE_BYTES = 8192
const NUMBER_WIDTH = 9

/** Room is left for the header and the note at the end. */
const limits: Limits = { maxBytes: modelLimits.maxBytes - 1024, maxLines: modelLimits.maxLines - 8 }

const numbered = ({ first, lines }: PickedLines): string => {
  const width = String(first + lines.length - 1).length
  return lines.map((line, index) => `${String(first + index).padStart(width)} | ${line}`).join("\n")
}

const noteOf = ({ cutLine, first, lines, next }: PickedLines): string => {
  const after = next ?? first + lines.length
  if (cutLine !== undefined) return `\n\n[line ${first} has ${cutLine} bytes, only its beginning is shown; next: start_line=${after}, or bash for the rest of the line]`
  return next === undefined ? "" : `\n\n[cut at the limit; next: start_line=${next}]`
}

const textReport = (shown: string, whole: boolean, version: string, picked: PickedLines): ToolResult => {
  const { first, lines, total } = picked
  const head = `path: ${shown}\nversion: ${whole ? version : "none, the file is too large to edit"}`
  if (whole && total === 0) return textResult(`${head}\nlines: 0\n\nThe file is empty.`)
  if (lines.length === 0) return errorResult(`start_line ${first} is past the end: ${shown} has ${total} lines`)
  const last = first + lines.length - 1
  return textResult(`${head}\nlines: ${first}-${last} of ${whole ? total : "more"}\n\n${numbered(picked)}${noteOf(picked)}`)
}

/** Gathers a file in one pass: decides by its first chunk what it is, and stops when nothing more is needed. */
const makePass = (start: number, end: number) => {
  const window = new LineWindow(start, end, limits, NUMBER_WIDTH)
  const hash = makeVersionHash()
  const image: Array<Uint8Array> = []
  let begun = false
  let kind: "text" | "binary" | string = "text"
  const step = (chunk: Uint8Array, info: FileInfo): boolean => {
    if (!begun) {
      begun = true
      kind = imageTypeOf(chunk) ?? (chunk.subarray(0, BINARY_PROBE_BYTES).includes(0) ? "binary" : "text")
    }
    if (kind === "binary") return false
    if (kind !== "text") {
      image.push(chunk.slice())
      return info.size <= MAX_IMAGE_BYTES
    }
    window.push(chunk)
    if (info.size > MAX_WHOLE_BYTES) return !window.done
    hash.update(chunk)
    return true
  }
  const report = (shown: string, { size }: FileInfo): ToolResult => {
    if (kind === "binary") return errorResult(`${shown} is a binary file of ${size} bytes; use bash to look into it`)
    if (kind === "text") return textReport(shown, size <= MAX_WHOLE_BYTES, hash.token(), window.finish())
    if (size > MAX_IMAGE_BYTES) return errorResult(`${shown} is an image of ${size} bytes; at most 5 MB can be shown`)
    return {
      content: [
        { type: "text", text: `path: ${shown}\n${kind}, ${size} bytes` },
        { type: "image", mimeType: kind, data: Base64.encode(Buffer.concat(image)) }
      ],
      isError: false
    }
  }
  return { step, report }
}

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
    required: ["path"]
  },
  capabilities: ["read"],
  run: Effect.fnUntraced(function*(args) {
    const { files } = yield* Operations
    const start = boundedArgument(args, "start_line", 1, Number.MAX_SAFE_INTEGER)
    const end = numberArgument(args, "end_line") ?? Number.MAX_SAFE_INTEGER
    if (end < start) return errorResult(`end_line ${end} is before start_line ${start}`)
    const pass = makePass(start, end)
    const file = yield* files.locate(textArgument(args, "path") ?? "")
    return pass.report(file.shown, yield* files.scan(file, pass.step))
  }, Effect.catch((error) => Effect.succeed(errorResult(error.message))))
}
