/** `grep`: lines that match a pattern, by ripgrep. */
import { Effect, Result } from "effect"
import * as Glob from "effect/Glob"
import { boundedArgument, isSet, textArgument } from "./Arguments.ts"
import { gather, makeRecords, searchFault } from "./Gather.ts"
import { FEW_RESULTS, ignoredNote, plainPath } from "./IgnoredFiles.ts"
import { Operations } from "./Operations.ts"
import type { ProcessRequest } from "./Operations.ts"
import { modelLimits } from "./Output.ts"
import { errorResult, textResult } from "./Tool.ts"
import type { Tool } from "./Tool.ts"

const DEFAULT_MATCHES = 80
const MAX_MATCHES = 200
const MAX_COLUMNS = 500
const NEWLINE = 10
/** Room for the note at the end. */
const MAX_BYTES = modelLimits.maxBytes - 256

/** Flags of every ripgrep run: hidden files are searched, `.git` is not, ignore files hold outside a repository too. */
export const ripgrepFlags: ReadonlyArray<string> =
  ["--no-config", "--color=never", "--hidden", "--no-require-git", "--glob=!.git", "--path-separator=/"]

interface FileFilter {
  readonly flags: ReadonlyArray<string>
  readonly accepts: (path: string) => boolean
}

const everything = (): boolean => true

/**
 * The file filter of a call. A `--glob` that includes would bring ignored files back, so a pattern for names becomes a
 * file type, and one for paths is applied to what ripgrep found.
 */
const fileFilter = (glob: string | undefined): Result.Result<FileFilter, unknown> => {
  if (glob === undefined) return Result.succeed({ flags: [], accepts: everything })
  if (glob.startsWith("!")) return Result.succeed({ flags: [`--glob=${glob}`], accepts: everything })
  if (!glob.includes("/")) return Result.succeed({ flags: [`--type-add=chosen:${glob}`, "--type=chosen"], accepts: everything })
  return Result.try(() => Glob.make(glob.replace(/^\.?\//, ""), { dot: true })).pipe(
    Result.map((compiled) => ({ flags: [], accepts: (path: string) => Glob.match(compiled, path) }))
  )
}

/** Collects `path NUL line:text` records until there are enough. */
const makeMatches = (max: number, accepts: (path: string) => boolean) => {
  const lines: Array<string> = []
  const paths = new Set<string>()
  let bytes = 0
  let more = false
  const records = makeRecords(NEWLINE, (record) => {
    const at = record.indexOf("\0")
    // Notes, such as the one on a binary file, have no NUL.
    if (at === -1) return true
    const path = plainPath(record.slice(0, at))
    if (!accepts(path)) return true
    paths.add(path)
    const line = `${path}:${record.slice(at + 1)}`
    bytes += Buffer.byteLength(line) + 1
    more = lines.length >= max || bytes > MAX_BYTES
    if (!more) lines.push(line)
    return !more
  })
  return { take: records.push, lines, paths, isMore: () => more }
}

/** The `grep` tool. */
export const grepTool: Tool<Operations> = {
  name: "grep",
  description: "Search file contents by regular expression (ripgrep, PCRE). Hidden files too, ignored ones only on request. Gives path:line:text, long lines cut; max_matches is 80, at most 200 and 50 KB.",
  inputSchema: {
    type: "object",
    properties: {
      pattern: { type: "string" },
      glob: { type: "string", description: "e.g. *.ts" },
      path: { type: "string" },
      case_insensitive: { type: "boolean" },
      include_ignored: { type: "boolean" },
      max_matches: { type: "integer", minimum: 1 }
    },
    required: ["pattern"],
    additionalProperties: false
  },
  capabilities: ["read"],
  run: Effect.fnUntraced(function*(args) {
    const { files, search } = yield* Operations
    const place = yield* files.locate(textArgument(args, "path") ?? ".")
    const { kind } = yield* files.info(place)
    // ripgrep would wait for a pipe's writer.
    if (kind !== "file" && kind !== "directory") return errorResult(`${place.shown} is neither a file nor a folder`)
    const filter = fileFilter(textArgument(args, "glob"))
    if (Result.isFailure(filter)) return errorResult("glob: the pattern is too complex")
    const { accepts, flags } = filter.success
    const matches = makeMatches(boundedArgument(args, "max_matches", DEFAULT_MATCHES, MAX_MATCHES), accepts)
    const run = (more: ReadonlyArray<string>) => (onOutput: ProcessRequest["onOutput"]) =>
      search.ripgrep({
        args: [
          ...ripgrepFlags, ...flags, ...more, ...(isSet(args, "case_insensitive") ? ["--ignore-case"] : []),
          "--engine=auto", "--null", `--regexp=${textArgument(args, "pattern") ?? ""}`, "--", place.shown
        ],
        onOutput
      })
    const past = isSet(args, "include_ignored")
    const { exit, stderr } = yield* gather("ripgrep", run([
      ...(past ? ["--no-ignore"] : []), "--sort=path", "--with-filename", "--line-number", "--no-heading",
      `--max-columns=${MAX_COLUMNS}`, "--max-columns-preview"
    ]), matches.take)
    const { lines, paths } = matches
    if (lines.length === 0 && exit !== undefined && exit.code > 1) return errorResult(searchFault(exit.code, stderr))
    if (matches.isMore()) return textResult(`${lines.join("\n")}\n[cut: there are more matches; narrow pattern, glob or path]`)
    const note = past || kind === "file" || lines.length >= FEW_RESULTS ? "" : yield* ignoredNote({
      run: run(["--no-ignore", "--files-with-matches"]),
      wanted: accepts,
      known: paths
    })
    if (lines.length === 0) return textResult(note === "" ? "No matches." : `No matches. ${note}`)
    return textResult(lines.join("\n") + (note === "" ? "" : `\n[${note}]`))
  }, Effect.catch((error) => Effect.succeed(errorResult(error.message))))
}
