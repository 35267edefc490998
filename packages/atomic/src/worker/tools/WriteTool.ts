/** `createWriteTool`. */
import { dirname } from "node:path"
import { assertGoingOn, type CreatedTool, definition, operationsIn, pathIn, textResult } from "./CreatedTool.ts"
import { localFiles, type WriteOperations } from "./Operations.ts"
import { withFileMutationQueue } from "../FileQueue.ts"
import { fieldsOf, textOf } from "../Values.ts"

/** Makes the tool `write` for the folder `cwd`. */
export const createWriteTool = (cwd: string, options?: unknown): CreatedTool => {
  const operations = operationsIn<WriteOperations>(options, localFiles)
  return definition(
    "write",
    "Writes a whole file, and the folders it needs.",
    { path: { type: "string" }, content: { type: "string" } },
    ["path", "content"],
    async (_id, params, signal) => {
      const file = pathIn(cwd, fieldsOf(params)["path"])
      const content = textOf(fieldsOf(params)["content"])
      await withFileMutationQueue(file, async () => {
        assertGoingOn(signal)
        await operations.mkdir(dirname(file))
        await operations.writeFile(file, content)
      })
      return textResult(`Wrote ${Buffer.byteLength(content)} bytes to ${textOf(fieldsOf(params)["path"])}`)
    }
  )
}
