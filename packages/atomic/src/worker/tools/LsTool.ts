/** `createLsTool`. */
import { join } from "node:path"
import { type CreatedTool, definition, operationsIn, pathIn, textResult } from "./CreatedTool.ts"
import { localFiles, type LsOperations } from "./Operations.ts"
import { fieldsOf } from "../Values.ts"
import { truncateHead, type TruncationResult } from "../Truncation.ts"

/** What a listing has beside its text. */
export interface LsToolDetails {
  readonly truncation?: TruncationResult
  readonly entryLimitReached?: number
}

const mostEntries = 500

/** Makes the tool `ls` for the folder `cwd`. */
export const createLsTool = (cwd: string, options?: unknown): CreatedTool => {
  const operations = operationsIn<LsOperations>(options, localFiles)
  return definition(
    "ls",
    "Lists a folder; names of folders end with a slash.",
    { path: { type: "string", description: "default: the working folder" }, limit: { type: "number" } },
    [],
    async (_id, params) => {
      const { limit, path } = fieldsOf(params)
      const folder = pathIn(cwd, path ?? ".")
      if (!await operations.exists(folder)) throw new Error(`There is no ${folder}`)
      if (!(await operations.stat(folder)).isDirectory()) throw new Error(`${folder} is no folder`)
      const names = [...await operations.readdir(folder)].sort()
      const most = typeof limit === "number" ? limit : mostEntries
      const shown = await Promise.all(names.slice(0, most).map(async (name) =>
        await operations.stat(join(folder, name)).then((info) => info.isDirectory(), () => false) ? `${name}/` : name))
      const truncation = truncateHead(shown.join("\n"), { maxLines: Infinity })
      return textResult(truncation.content || "(empty folder)", {
        ...(truncation.truncated ? { truncation } : {}),
        ...(names.length > most ? { entryLimitReached: most } : {})
      })
    }
  )
}
