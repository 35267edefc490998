/** `createReadTool`. Pictures become images; a folder is listed where the operations can. */
import { brokenImage, imageTypeOf } from "@nimlet/protocol/image"
import { assertGoingOn, type CreatedTool, definition, operationsIn, pathIn, textResult } from "./CreatedTool.ts"
import { localFiles, type ReadOperations } from "./Operations.ts"
import { fieldsOf } from "../Values.ts"
import { DEFAULT_MAX_BYTES, formatSize, truncateHead, type TruncationResult } from "../Truncation.ts"

/** What a reading has beside its text. */
export interface ReadToolDetails {
  readonly truncation?: TruncationResult
}

const number = (value: unknown, other: number): number => typeof value === "number" && Number.isFinite(value) ? Math.max(1, Math.floor(value)) : other

const isFolder = async ({ listDir, stat }: ReadOperations, path: string): Promise<boolean> =>
  stat !== undefined && listDir !== undefined && (await stat(path)).isDirectory()

/** Makes the tool `read` for the folder `cwd`. */
export const createReadTool = (cwd: string, options?: unknown): CreatedTool => {
  const operations = operationsIn<ReadOperations>(options, localFiles)
  return definition(
    "read",
    `Reads a file, from line \`offset\` on and at most \`limit\` lines; at most 2000 lines or ${formatSize(DEFAULT_MAX_BYTES)}.`,
    { path: { type: "string" }, offset: { type: "number", description: "first line, from 1" }, limit: { type: "number", description: "lines" } },
    ["path"],
    async (_id, params, signal) => {
      const { limit, offset, path } = fieldsOf(params)
      assertGoingOn(signal)
      const file = pathIn(cwd, path)
      await operations.access(file)
      if (await isFolder(operations, file)) return textResult([...await operations.listDir?.(file) ?? []].sort().join("\n") || "(empty folder)")
      const content = await operations.readFile(file)
      assertGoingOn(signal)
      const bytes = Buffer.from(content)
      const mimeType = operations.detectImageMimeType === undefined ? imageTypeOf(bytes) : await operations.detectImageMimeType(file)
      if (typeof mimeType === "string") {
        const fault = brokenImage(bytes)
        if (fault !== undefined) throw new Error(`${file} begins like ${mimeType} but is no whole image: ${fault}`)
        return { content: [{ type: "image", data: bytes.toString("base64"), mimeType: imageTypeOf(bytes) ?? mimeType }], details: {} }
      }
      const lines = bytes.toString("utf8").split("\n")
      const from = number(offset, 1)
      if (from > lines.length) throw new Error(`Offset ${from} is beyond the end of the file (${lines.length} lines)`)
      const wanted = lines.slice(from - 1, limit === undefined ? undefined : from - 1 + number(limit, 1)).join("\n")
      const truncation = truncateHead(wanted)
      if (truncation.firstLineExceedsLimit) return textResult(`[Line ${from} is longer than ${formatSize(DEFAULT_MAX_BYTES)}; read it with bash]`, { truncation })
      if (!truncation.truncated) return textResult(wanted)
      const last = from + truncation.outputLines - 1
      return textResult(`${truncation.content}\n\n[Lines ${from}-${last} of ${lines.length}; go on with offset=${last + 1}]`, { truncation })
    }
  )
}
