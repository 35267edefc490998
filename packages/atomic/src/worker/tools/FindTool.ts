/** `createFindTool`: files by a pattern for their paths. */
import { isAbsolute, relative } from "node:path"
import { type CreatedTool, definition, operationsIn, pathIn, textResult } from "./CreatedTool.ts"
import { globMatcher } from "./Glob.ts"
import { type FindOperations, localFiles } from "./Operations.ts"
import { search } from "./Search.ts"
import { fieldsOf, textOf } from "../Values.ts"
import { truncateHead, type TruncationResult } from "../Truncation.ts"

/** What a search for files has beside its text. */
export interface FindToolDetails {
  readonly truncation?: TruncationResult
  readonly resultLimitReached?: number
}

const usualResults = 1_000
const ignore = ["**/node_modules/**", "**/.git/**"]

/** This machine's files, without those that ignore files name. */
const localOperations = (signal: AbortSignal | undefined): FindOperations => ({
  exists: localFiles.exists,
  glob: async (pattern, cwd, { limit }) => {
    const matches = globMatcher(pattern)
    const found: Array<string> = []
    await search(["--files", "--sort=path"], {
      cwd,
      signal,
      take: (line) => {
        const path = line.replace(/^\.\//, "")
        if (matches(path)) found.push(path)
        return found.length < limit
      }
    })
    return found
  }
})

/** Makes the tool `find` for the folder `cwd`. */
export const createFindTool = (cwd: string, options?: unknown): CreatedTool =>
  definition(
    "find",
    `Finds files by a pattern such as *.ts or src/**/*.json; ignored files are left out. At most ${usualResults} of them.`,
    {
      pattern: { type: "string" },
      path: { type: "string", description: "default: the working folder" },
      limit: { type: "number" }
    },
    ["pattern"],
    async (_id, params, signal) => {
      const { limit, path, pattern } = fieldsOf(params)
      const operations = operationsIn<FindOperations>(options, localOperations(signal))
      const folder = pathIn(cwd, path ?? ".")
      if (!await operations.exists(folder)) throw new Error(`There is no ${folder}`)
      const most = typeof limit === "number" && limit >= 1 ? limit : usualResults
      const found = await operations.glob(textOf(pattern), folder, { ignore, limit: most + 1 })
      if (found.length === 0) return textResult("No files found matching pattern")
      const shown = found.slice(0, most).map((file) => isAbsolute(file) ? relative(folder, file) : file)
      const truncation = truncateHead(shown.join("\n"), { maxLines: Infinity })
      const details: FindToolDetails = {
        ...(truncation.truncated ? { truncation } : {}),
        ...(found.length > most ? { resultLimitReached: most } : {})
      }
      const notes = [
        ...(found.length > most ? [`the first ${most} files; narrow the pattern or raise limit`] : []),
        ...(truncation.truncated ? ["cut at 50KB"] : [])
      ]
      return textResult(truncation.content + (notes.length === 0 ? "" : `\n\n[${notes.join("; ")}]`), { ...details })
    }
  )
