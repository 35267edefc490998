/** `createGrepTool`: lines of files that match a pattern, by ripgrep. */
import { stat } from "node:fs/promises"
import { basename, relative } from "node:path"
import { type CreatedTool, definition, operationsIn, pathIn, textResult } from "./CreatedTool.ts"
import { type GrepOperations, localFiles } from "./Operations.ts"
import { search } from "./Search.ts"
import { fieldsOf, textOf } from "../Values.ts"
import { truncateHead, truncateLine, type TruncationResult } from "../Truncation.ts"

/** What a search has beside its text. */
export interface GrepToolDetails {
  readonly truncation?: TruncationResult
  readonly matchLimitReached?: number
  readonly linesTruncated?: boolean
}

const usualMatches = 100
/** Of longer lines only so many characters are given. */
const lineLength = 500

interface Match {
  readonly path: string
  readonly line: number
  readonly text: string
}

/** A match in a line of `rg --json`; undefined for what else it says. */
const matchIn = (line: string): Match | undefined => {
  const { data, type } = fieldsOf(JSON.parse(line))
  const { line_number, lines, path } = fieldsOf(data)
  if (type !== "match" || typeof line_number !== "number") return undefined
  return { path: textOf(fieldsOf(path)["text"]), line: line_number, text: textOf(fieldsOf(lines)["text"]).replace(/\r?\n$/, "") }
}

const local: GrepOperations = {
  isDirectory: async (path) => (await stat(path)).isDirectory(),
  readFile: async (path) => Buffer.from(await localFiles.readFile(path)).toString("utf8")
}

/** A pattern for names is said as a file type: a `--glob` that includes would bring ignored files back. */
const filterOf = (glob: string): ReadonlyArray<string> =>
  glob === "" ? [] : glob.includes("/") || glob.startsWith("!") ? [`--glob=${glob}`] : [`--type-add=chosen:${glob}`, "--type=chosen"]

/** Makes the tool `grep` for the folder `cwd`. Operations of the options say what is a folder and give what surrounds a match. */
export const createGrepTool = (cwd: string, options?: unknown): CreatedTool => {
  const operations = operationsIn<GrepOperations>(options, local)
  return definition(
    "grep",
    `Searches files by regular expression; ignored files are left out. At most ${usualMatches} matches, lines cut at ${lineLength} characters.`,
    {
      pattern: { type: "string" },
      path: { type: "string", description: "default: the working folder" },
      glob: { type: "string", description: "e.g. *.ts" },
      ignoreCase: { type: "boolean" },
      literal: { type: "boolean", description: "the pattern is a text" },
      context: { type: "number", description: "lines before and after a match" },
      limit: { type: "number" }
    },
    ["pattern"],
    async (_id, params, signal) => {
      const { context, glob, ignoreCase, limit, literal, path, pattern } = fieldsOf(params)
      const place = pathIn(cwd, path ?? ".")
      const isFolder = await operations.isDirectory(place).catch(() => {
        throw new Error(`There is no ${place}`)
      })
      const most = typeof limit === "number" && limit >= 1 ? limit : usualMatches
      const around = typeof context === "number" ? Math.max(0, context) : 0
      const found: Array<Match> = []
      await search([
        "--json", "--sort=path", ...filterOf(textOf(glob)), ...(ignoreCase === true ? ["--ignore-case"] : []), ...(literal === true ? ["--fixed-strings"] : []),
        `--regexp=${textOf(pattern)}`, "--", place
      ], {
        cwd,
        signal,
        take: (line) => {
          const match = matchIn(line)
          if (match !== undefined) found.push(match)
          return found.length <= most
        }
      })
      const shown = found.slice(0, most)
      if (shown.length === 0) return textResult("No matches found")
      let linesTruncated = false
      const cut = (text: string): string => {
        const { text: kept, wasTruncated } = truncateLine(text, lineLength)
        linesTruncated ||= wasTruncated
        return kept
      }
      const files = new Map<string, ReadonlyArray<string>>()
      const linesOf = async (file: string): Promise<ReadonlyArray<string>> => {
        const known = files.get(file) ?? (await operations.readFile(file)).split(/\r?\n/)
        files.set(file, known)
        return known
      }
      const blocks = await Promise.all(shown.map(async ({ line, path: file, text }) => {
        const name = isFolder ? relative(place, file) : basename(file)
        const own = `${name}:${line}: ${cut(text)}`
        if (around === 0) return own
        const all = await linesOf(file)
        const from = Math.max(1, line - around)
        const near = Array.from({ length: Math.min(all.length, line + around) - from + 1 }, (_, index) => from + index)
        return near.map((at) => at === line ? own : `${name}-${at}- ${cut(all[at - 1] ?? "")}`).join("\n")
      }))
      const truncation = truncateHead(blocks.join(around === 0 ? "\n" : "\n--\n"), { maxLines: Infinity })
      const notes = [
        ...(found.length > most ? [`the first ${most} matches; narrow the pattern or raise limit`] : []),
        ...(truncation.truncated ? ["cut at 50KB"] : []),
        ...(linesTruncated ? [`long lines are cut at ${lineLength} characters`] : [])
      ]
      const details: GrepToolDetails = {
        ...(truncation.truncated ? { truncation } : {}),
        ...(found.length > most ? { matchLimitReached: most } : {}),
        ...(linesTruncated ? { linesTruncated } : {})
      }
      return textResult(truncation.content + (notes.length === 0 ? "" : `\n\n[${notes.join("; ")}]`), { ...details })
    }
  )
}
